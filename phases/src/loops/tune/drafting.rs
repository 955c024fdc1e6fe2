//! A search by trials of one scenario each: every fault that a trial names, and that is probably real, is edited at once.
//!
//! ```text
//! the start on a few scenarios -> its faults, up to six -> edit -> the next scenario -> its faults, up to three -> edit ...
//! ```
//!
//! No draft is tested for itself: that costs more trials than it saves. What is shown is shown once, at the end, by the final
//! comparison. The newest version goes there.

use super::beliefs::Beliefs;
use super::measure::{self, SEARCH};
use super::{Decision, Edit, Next, Plan, Round, Run, Search, Trial, panel};
use crate::contract::CriterionId;
use crate::id::CandidateId;
use crate::score::Score;
use crate::stop::Reason;

/// After a trial that came to so many points nothing is edited.
const GOOD: f64 = 85.0;
/// As many faults are edited at once, after the first trials and after each later one.
const AT_FIRST: usize = 6;
const LATER: usize = 3;
/// On so many scenarios the start is tried first.
const FEWEST_FIRST: usize = 2;
const MOST_FIRST: usize = 8;
/// Fewer trials than this do not tell whether anything was gained.
const FEWEST_TO_TELL: usize = 6;

/// The trials that a search has, without those of the final comparison.
pub fn trials(plan: &Plan) -> Option<usize> {
    let Search::Draft { runs } = plan.task.rules.search else { return None };
    let members = plan.task.target.members.len().max(1);
    let compared = 2 * plan.task.rules.confirm as usize * measure::compared(plan).len();
    Some((runs as usize / members).saturating_sub(compared))
}

/// As many rounds as those trials come to at most.
pub fn rounds(plan: &Plan) -> usize {
    (trials(plan).unwrap_or(0) + 1).saturating_sub(first(plan).len()).max(1)
}

/// With fewer trials nothing can be drafted.
pub const FEWEST: usize = FEWEST_FIRST + 2;

/// Fresh trials of each version on each scenario of the final comparison: about a quarter of the runs go into it.
pub fn confirm(plan: &Plan, runs: u32) -> u32 {
    let members = plan.task.target.members.len().max(1);
    let pairs = measure::compared(plan).len().max(1);
    u32::try_from(runs as usize / members / (SHARE_OF_COMPARISON * 2 * pairs))
        .unwrap_or(u32::MAX)
        .clamp(1, MOST_TRIALS)
}

const SHARE_OF_COMPARISON: usize = 4;
const MOST_TRIALS: u32 = 20;

/// The scenarios on which the start is tried at first.
pub(super) fn first(plan: &Plan) -> Vec<usize> {
    let searched = measure::searched(plan);
    let some = (trials(plan).unwrap_or(0) / 3).clamp(FEWEST_FIRST, MOST_FIRST);
    searched.into_iter().take(some).collect()
}

pub(super) fn search<'a>(run: &'a Run, round: &'a Round) -> Next<'a> {
    let Some(measured) = &round.measured else { return super::measure(run, round) };
    if measured.score.is_some() && round.standing.is_none() {
        return Next::Decide(Decision::Keep(round.candidate));
    }
    if let Some(reason) = over(run) {
        return Next::Decide(Decision::Stop(reason));
    }
    match (&round.edit, &round.targets) {
        (Some(Edit::Draft { candidate, .. }), _) => open(run, round, *candidate),
        (None, None) => Next::Decide(Decision::Target { criteria: targets(run, round) }),
        (None, Some(targets)) if !targets.is_empty() => super::improve(run, round),
        (None, Some(_)) | (Some(Edit::Nothing { .. }), _) => open(run, round, run.head()),
    }
}

fn over(run: &Run) -> Option<Reason> {
    let all = trials(&run.plan).unwrap_or(0);
    let used: usize = run.state.rounds.iter().map(|round| round.scenarios.len()).sum();
    if run.failed_in_a_row() >= run.plan.task.rules.max_errors {
        Some(Reason::Failed)
    } else if used >= all {
        Some(Reason::Exhausted)
    } else if has_gained_nothing(run, (all / 3).max(FEWEST_TO_TELL)) {
        Some(Reason::Stalled)
    } else {
        None
    }
}

/// Whether the newest trials, a third of all, came to no more than those of the start.
fn has_gained_nothing(run: &Run, window: usize) -> bool {
    let Some((first, later)) = run.state.rounds.split_first() else { return false };
    let newest: Vec<f64> = later.iter().rev().take(window).filter_map(points).collect();
    let Some(start) = points(first).filter(|_| newest.len() == window) else { return false };
    let count = u32::try_from(newest.len()).map_or(f64::INFINITY, f64::from);
    newest.iter().sum::<f64>() / count <= start
}

fn points(round: &Round) -> Option<f64> {
    round.score().map(Score::points)
}

fn targets(run: &Run, round: &Round) -> Vec<CriterionId> {
    let is_good = points(round).is_none_or(|points| points >= GOOD);
    let most = if round.number == 1 { AT_FIRST } else { LATER };
    if is_good { Vec::new() } else { Beliefs::of(run).weaknesses(run, round, most) }
}

/// The next scenario on which this version was not tried yet; there is nothing more to find, where it was tried on all.
fn open<'a>(run: &'a Run, round: &Round, candidate: CandidateId) -> Next<'a> {
    let searched = measure::searched(&run.plan);
    let last = round.scenarios.last().and_then(|last| searched.iter().position(|one| one == last));
    let from = last.map_or(0, |last| last + 1) % searched.len().max(1);
    let is_open = |scenario: &&usize| {
        let trial = Trial { scenario: **scenario, ordinal: SEARCH, era: run.state.era };
        !panel::is_settled(run, candidate, trial)
    };
    match searched[from..].iter().chain(&searched[..from]).find(is_open) {
        Some(&scenario) => {
            let number = round.number + 1;
            Next::Decide(Decision::Open { round: number, candidate, scenarios: vec![scenario] })
        }
        None => Next::Decide(Decision::Stop(Reason::Finished)),
    }
}
