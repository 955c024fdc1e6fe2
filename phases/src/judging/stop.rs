//! The stop rules: data, judged by pure functions over the run's series, in one order of precedence.
//!
//! The order is reached, failed, oscillating, stalled, exhausted; the loop itself detects refused and finished. A
//! success is never relabelled, and a stalled search is never called converged. A person's stop is not a rule: it
//! pauses or ends a run, depending on the loop; a ceiling only pauses a run.

use serde::{Deserialize, Serialize};

use crate::base::id::Digest;
use crate::judging::score::Score;

/// The reason why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Reached,
    Failed,
    /// The improver's newest edits are invalid, and there are no others.
    Refused,
    Oscillating,
    Stalled,
    Exhausted,
    /// The improver finds nothing more to change, and another round would not help.
    Finished,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    pub window: usize,
    pub gain: f64,
    /// Whether a rise of exactly the gain is enough; otherwise it takes more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaching: bool,
}

/// The limits of the rules.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub max_errors: u32,
    pub stall: Stall,
    pub max_iterations: u32,
}

/// The input of the rules, one value per round.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Whether the goal is met.
    pub reached: bool,
    /// The scores of the measured rounds, without incomplete rounds.
    pub scores: Vec<Score>,
    /// The measured content. A repeated measurement in a row is listed once.
    pub contents: Vec<Digest>,
    pub failed_in_a_row: u32,
    pub rounds: u32,
}

/// Returns the reason of the first rule that holds, if any.
pub fn judge(limits: &Limits, series: &Series) -> Option<Reason> {
    let verdicts = [
        (series.reached, Reason::Reached),
        (series.failed_in_a_row >= limits.max_errors, Reason::Failed),
        (oscillating(&series.contents), Reason::Oscillating),
        (stalled(limits.stall, &series.scores), Reason::Stalled),
        (series.rounds >= limits.max_iterations, Reason::Exhausted),
    ];
    verdicts.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

/// Returns whether the content went back to what it was two generations ago, twice: the improver undoes its own work.
fn oscillating(contents: &[Digest]) -> bool {
    contents.windows(3).filter(|three| three[0] == three[2]).count() >= 2
}

fn stalled(stall: Stall, scores: &[Score]) -> bool {
    !scores.is_empty() && standstill(stall, scores) >= stall.window
}

/// Returns for how many of the newest scores the best has not risen by the gain.
pub fn standstill(stall: Stall, scores: &[Score]) -> usize {
    let best = |scores: &[Score]| scores.iter().max().map_or(0.0, |score| score.points());
    let is_flat = |newest: &usize| {
        let rise = best(scores) - best(&scores[..scores.len() - newest]);
        if stall.reaching { rise < stall.gain } else { rise <= stall.gain }
    };
    // The rise grows with the number of scores left out.
    (1..scores.len()).take_while(is_flat).count()
}
