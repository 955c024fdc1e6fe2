//! Measures how well a suite can distinguish two versions of a skill, by repeated trials of one version, before
//! anything is spent on a search.

use super::{AimRules, measure_start, scores};
use crate::judging::proof::Weights;
use crate::judging::proof::power::{self, Needed, Noise, Samples, Size};
use crate::judging::score::Score;
use crate::loops::MostCalls;
use crate::loops::tune::compare::price::{self, Cost};
pub use crate::loops::tune::decision::{Comparison, Visible};
use crate::loops::tune::search::drafting;
use crate::loops::tune::trial::measure;
use crate::loops::tune::{Aim, Basis, Decision, Ending, Next, Plan, Round, Run, Search, calls};

pub(super) struct Calibrate;

impl AimRules for Calibrate {
    fn next<'a>(&self, run: &'a Run, round: Option<&'a Round>) -> Next<'a> {
        measure_start(run, round, Vec::new()).unwrap_or_else(|| {
            Next::Decide(match run.state.visible {
                None => Decision::Calibrate(Box::new(visible(run))),
                Some(_) => Decision::Close(Ending::Exercised),
            })
        })
    }

    fn is_judged(&self, run: &Run) -> bool {
        run.state.rounds.last().is_some_and(|round| round.score().is_some())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The scores of each scenario's trials, in the order of the scenarios.
    pub scores: Vec<Vec<Score>>,
    /// `None` before the end.
    pub visible: Option<Visible>,
    /// The estimated cost of a search: the most calls that it makes if none fails.
    pub search: Cost,
}

/// A smaller change is reported as below this.
pub const FINEST: f64 = 1.0;

/// Returns the results of a calibration so far, or `None` for another kind of run.
pub fn of(run: &Run) -> Option<Calibration> {
    let Aim::Calibrate { .. } = run.plan.task.aim else { return None };
    let search = price::cost(run, most_calls(&to_search(&run.plan)));
    Some(Calibration { scores: scores(run), visible: run.state.visible.clone(), search })
}

/// Returns the most calls of a search in which none fails, as its dry run says them.
fn most_calls(plan: &Plan) -> MostCalls {
    calls::expected(plan).map_or_else(|| calls::of_search(plan), |expected| expected.most)
}

/// Returns the plan of the search that may follow.
fn to_search(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.task.aim = Aim::Improve;
    if let Search::Draft { runs, drawn, .. } = plan.task.rules.search {
        plan.draft_with(runs, drawn);
    }
    plan
}

/// Summarizes all trials.
fn visible(run: &Run) -> Visible {
    let noise = power::noise(&points(run));
    let comparison = comparison(run, noise.as_ref());
    let better = noise.as_ref().and_then(|noise| better(run, noise, &comparison));
    Visible { noise, comparison, better }
}

/// Returns the points of each scenario's trials.
fn points(run: &Run) -> Vec<Vec<f64>> {
    scores(run).iter().map(|scores| scores.iter().map(|score| score.points()).collect()).collect()
}

fn comparison(run: &Run, noise: Option<&Noise>) -> Comparison {
    let plan = to_search(&run.plan);
    let rules = &plan.task.rules;
    let pairs = match plan.basis() {
        Basis::HeldOut => measure::planned(&plan).len(),
        Basis::Searched | Basis::All | Basis::Few | Basis::Structure => 0,
    };
    let headroom = noise.map_or(100.0, |noise| 100.0 - noise.mean);
    let control =
        plan.task.runs().filter(|(_, alone)| *alone && pairs > 0).map(|_| drafting::first(&plan).len());
    let smallest = noise.and_then(|noise| {
        if let Some(control) = control {
            let weights = if plan.task.tests() > 0 { Weights::Rising } else { Weights::Equal };
            let of = Samples { control, fresh: pairs, weights, alpha: rules.alpha() };
            return power::smallest_between(
                power::deviation(&points(run).concat())?,
                of,
                headroom,
                plan.seed,
            );
        }
        let size = Size { pairs, trials: rules.confirm, confidence: rules.confidence };
        power::smallest_visible(noise.scatter(), size, headroom, plan.seed)
    });
    Comparison { pairs, trials: rules.confirm, control, headroom, smallest }
}

/// Aims at half of the smallest visible change, or at half of the headroom.
fn better(run: &Run, noise: &Noise, now: &Comparison) -> Option<Needed> {
    let size = Size { pairs: now.pairs, trials: now.trials, confidence: run.plan.task.rules.confidence };
    let wanted = now.smallest.unwrap_or(now.headroom) / 2.0;
    (wanted >= FINEST).then(|| power::needed(wanted, noise.scatter(), size, run.plan.seed))
}
