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
    /// The first score that has to gain over the best before it, if each has to. Otherwise the newest together have to.
    pub each_from: Option<usize>,
    /// The measured content. A repetition in a row counts once.
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
        (stalled(limits.stall, series), Reason::Stalled),
        (series.rounds >= limits.max_iterations, Reason::Exhausted),
    ];
    verdicts.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

/// Returns whether the content went back to what it was two generations ago, twice: the improver undoes its own work.
fn oscillating(contents: &[Digest]) -> bool {
    let mut contents = contents.to_vec();
    contents.dedup();
    contents.windows(3).filter(|three| three[0] == three[2]).count() >= 2
}

fn stalled(stall: Stall, series: &Series) -> bool {
    let flat = match series.each_from {
        None => standstill(stall, &series.scores),
        Some(first) => small_gains(stall, &series.scores, first),
    };
    !series.scores.is_empty() && flat >= stall.window
}

/// Returns for how many of the newest scores the best has not risen by the gain.
pub fn standstill(stall: Stall, scores: &[Score]) -> usize {
    let is_flat = |newest: &usize| stall.is_flat(best(scores) - best(&scores[..scores.len() - newest]));
    // The rise grows with the number of scores left out.
    (1..scores.len()).take_while(is_flat).count()
}

/// Returns how many of the newest scores in a row each gained too little.
fn small_gains(stall: Stall, scores: &[Score], first: usize) -> usize {
    let is_small = |at: &usize| stall.is_flat(scores[*at].points() - best(&scores[..*at]));
    (first.max(1)..scores.len()).rev().take_while(is_small).count()
}

fn best(scores: &[Score]) -> f64 {
    scores.iter().max().map_or(0.0, |score| score.points())
}

impl Stall {
    fn is_flat(self, rise: f64) -> bool {
        if self.reaching { rise < self.gain } else { rise <= self.gain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_rise_stalls_a_search_only_if_each_gain_counts_alone() {
        let judged = |each_from, window, points: &[f64]| {
            let stall = Stall { window, gain: 5.0, reaching: true };
            let limits = Limits { max_errors: u32::MAX, stall, max_iterations: u32::MAX };
            let scores = points.iter().map(|points| Score::new(*points).unwrap()).collect();
            judge(&limits, &Series { scores, each_from, ..Series::default() })
        };
        let slow = [50.0, 53.0, 56.0];
        assert_eq!(judged(Some(0), 2, &slow), Some(Reason::Stalled));
        assert_eq!(judged(None, 2, &slow), None, "6 points together");
        assert_eq!(judged(Some(2), 2, &slow), None, "only one score after the answer");
        assert_eq!(judged(Some(2), 1, &slow), Some(Reason::Stalled), "still over the best before the answer");
        assert_eq!(judged(Some(0), 1, &[50.0, 53.0, 58.0]), None, "a gain of exactly 5 points");
        assert_eq!(judged(Some(0), 1, &[50.0]), None, "a first score gains nothing");
    }
}
