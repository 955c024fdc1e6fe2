//! The stop rules: data, judged by pure functions over the run's series, in one order of precedence.
//!
//! reached, failed, oscillating, stalled, budget, exhausted. A success is never relabelled by a resource, and what
//! stands still is never called converged. A person's stop is no rule: it pauses the run, which can be taken up again.

use serde::{Deserialize, Serialize};

use crate::id::CandidateId;
use crate::plan::Rules;
use crate::score::Score;

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Reached,
    Failed,
    Oscillating,
    Stalled,
    Budget,
    Exhausted,
}

/// What the rules look at, one value a round.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The scores of the measured rounds; an incomplete round is not among them.
    pub scores: Vec<Score>,
    /// The score of the newest round, if that one was measured.
    pub latest: Option<Score>,
    /// The candidates of the rounds, each named once where it stands.
    pub candidates: Vec<CandidateId>,
    pub failed_in_a_row: u32,
    pub rounds: u32,
    pub usd: f64,
    pub seconds: u64,
}

/// The first rule that holds, if any.
pub fn judge(rules: &Rules, series: &Series) -> Option<Reason> {
    let verdicts = [
        (reached(rules, series), Reason::Reached),
        (series.failed_in_a_row >= rules.max_errors, Reason::Failed),
        (oscillating(&series.candidates), Reason::Oscillating),
        (stalled(rules, &series.scores), Reason::Stalled),
        (over_budget(rules, series), Reason::Budget),
        (series.rounds >= rules.max_iterations, Reason::Exhausted),
    ];
    verdicts.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

fn reached(rules: &Rules, series: &Series) -> bool {
    series.latest.is_some_and(|score| score >= rules.threshold)
}

/// The content came back to what it was two generations ago, twice: the improver undoes its own work.
fn oscillating(candidates: &[CandidateId]) -> bool {
    candidates.windows(3).filter(|three| three[0] == three[2]).count() >= 2
}

fn stalled(rules: &Rules, scores: &[Score]) -> bool {
    let Some(earlier) = scores.len().checked_sub(rules.stall.window).filter(|&count| count > 0) else {
        return false;
    };
    let best = |scores: &[Score]| scores.iter().max().map_or(0.0, |score| score.points());
    best(scores) - best(&scores[..earlier]) <= rules.stall.gain
}

fn over_budget(rules: &Rules, series: &Series) -> bool {
    let money = rules.budget.usd.is_some_and(|usd| series.usd >= usd);
    let time = rules.budget.seconds.is_some_and(|seconds| series.seconds >= seconds);
    money || time
}
