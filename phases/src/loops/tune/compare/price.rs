//! The cost of calls, based on those of the run, and the cost of an answer if the final comparison gave none.

use super::{control, panel};
use crate::base::role::Role;
use crate::judging::proof::Effect;
use crate::judging::proof::power::{self, Needed, Scatter, Size};
use crate::judging::score::Score;
use crate::loops::MostCalls;
use crate::loops::tune::trial::measure;
use crate::loops::tune::{Pair, Run, Verdict};
use crate::runs::ledger::Account;

#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    pub calls: MostCalls,
    /// Unknown if no call of this run reports it.
    pub usd: Option<f64>,
    pub ms: Option<u64>,
}

/// The price of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The measured difference, which is only an estimate.
    pub points: f64,
    /// The comparisons that would show it in four of five cases, the cheapest first. Empty if the versions are too
    /// close.
    pub ways: Vec<Way>,
}

/// A comparison on fresh trials. Adding to the known trials would let luck win more often.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    pub scenarios: usize,
    /// Trials of each version on each scenario.
    pub trials: u32,
    pub cost: Cost,
}

/// Returns the price of the final comparison. `None` if it gave an answer or could not be priced.
pub fn of(run: &Run) -> Option<Price> {
    let needed = run.state.shipment.as_ref()?.needed?;
    let now = (control::compared(run).len(), run.confirm());
    let sizes = [needed.pairs.map(|pairs| (pairs, now.1)), needed.trials.map(|trials| (now.0, trials))];
    let way = |(scenarios, trials)| Way { scenarios, trials, cost: cost(run, calls(run, scenarios, trials)) };
    let mut ways: Vec<Way> = sizes.into_iter().flatten().map(way).collect();
    ways.sort_by_key(|way| way.cost.calls.values().sum::<u64>());
    Some(Price { points: needed.points, ways })
}

/// Estimates the price of an open comparison of separate samples, which do not show what pairs would need: their whole
/// scatter counts, so it is rather too high.
pub fn of_samples(run: &Run) -> Option<Price> {
    let shipment = run.state.shipment.as_ref().filter(|shipment| shipment.verdict == Verdict::Indecisive)?;
    let (effect, [start, challenger]) = (shipment.effect?, shipment.unpaired.as_ref()?.points());
    let scatter = Scatter::of_samples(&start, &challenger)?;
    let size = Size { pairs: challenger.len(), trials: 1, confidence: run.plan.task.rules.confidence };
    let needed = power::needed(effect.points.abs(), scatter, size, run.plan.seed);
    let trials = run.confirm();
    let way = |scenarios| Way { scenarios, trials, cost: cost(run, calls(run, scenarios, trials)) };
    Some(Price { points: effect.points, ways: needed.pairs.map(way).into_iter().collect() })
}

/// Returns the number of trials needed to see the measured difference.
pub(crate) fn needed(run: &Run, effect: Effect, pairs: &[Pair]) -> Needed {
    let (measure, rules) = (&run.state.measure, &run.plan.task.rules);
    let points = |candidate, trial| panel::score_of(run, candidate, trial).map(Score::points);
    let trials = |(candidate, scenario)| {
        measure.trials_of(scenario).filter_map(|trial| points(candidate, trial)).collect()
    };
    let contestant_scenarios = measure
        .contestants
        .iter()
        .flat_map(|candidate| measure.scenarios().iter().map(|scenario| (*candidate, *scenario)));
    let noise = power::noise(&contestant_scenarios.map(trials).collect::<Vec<Vec<f64>>>());
    let differences: Vec<f64> = pairs.iter().map(Pair::difference).collect();
    let size = Size { pairs: measure.scenarios().len(), trials: run.confirm(), confidence: rules.confidence };
    let scatter = Scatter::of_pairs(&differences, effect.points, noise.as_ref(), run.confirm());
    let too_close = Needed { points: effect.points, pairs: None, trials: None };
    scatter.map_or(too_close, |scatter| {
        let needed = power::needed(effect.points.abs(), scatter, size, run.plan.seed);
        Needed { points: effect.points, ..needed }
    })
}

/// Counts the calls of a comparison of this size in which no call fails. The share of judged scenarios is the same as
/// now.
fn calls(run: &Run, scenarios: usize, trials: u32) -> MostCalls {
    let plan = &run.plan;
    let compared = measure::planned(plan);
    let judged = compared.iter().filter(|scenario| plan.task.is_judged(**scenario)).count();
    let judged = (scenarios * judged).div_ceil(compared.len().max(1));
    let calls = |count: usize| 2 * u64::from(trials) * u64::try_from(count).unwrap_or(u64::MAX);
    let members = plan.task.target.members.len();
    MostCalls::from([(Role::EXECUTOR, calls(scenarios * members)), (Role::EVALUATOR, calls(judged))])
}

/// Estimates the cost of these calls. A role without calls in this run is assumed to cost as much as an executor.
pub(crate) fn cost(run: &Run, calls: MostCalls) -> Cost {
    let of = |role: &Role| Some(run.ledger.of(role)).filter(|account| account.calls > 0);
    let account = |role: &Role| of(role).or_else(|| of(&Role::EXECUTOR));
    let sum = |mean: fn(&Account) -> Option<f64>| {
        let asked = calls.iter().filter(|(_, calls)| **calls > 0);
        asked.map(|(role, calls)| Some(mean(account(role)?)? * number(*calls))).sum::<Option<f64>>()
    };
    let usd = sum(|account| {
        let priced = account.calls - account.unpriced;
        (priced > 0).then(|| account.usd / f64::from(priced))
    });
    let ms = sum(|account| Some(number(account.ms) / f64::from(account.calls)));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time is not negative")]
    let ms = ms.map(|ms| ms as u64);
    Cost { calls, usd, ms }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of calls and milliseconds are far below 2^52")]
fn number(count: u64) -> f64 {
    count as f64
}
