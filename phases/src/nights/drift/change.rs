//! Compares a series with the one before it: the agents changed, or the skill was edited.
//!
//! The comparison is with the trials just before the change, on the same scenarios. A fall that is sure stays until the
//! newest trials show that the skill has recovered. A fall that was confirmed before the change is followed in the same
//! way, so no change hides it.

use jiff::civil::Date;

use super::{Fall, Series, Trial, Trials};
use crate::runs::plan::RunId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The agents changed.
    Update,
    /// A person edited the skill.
    Edit,
    /// Nothing had changed when the skill fell.
    Drift,
}

/// The effect of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub kind: ChangeKind,
    /// The parts of the agents that changed.
    pub what: Vec<String>,
    /// The first day after the change.
    pub since: Date,
    /// How far the first trials after it were below those before it.
    pub fall: Fall,
    /// The day on which the skill was as good as before again.
    pub recovered: Option<Date>,
    /// Whether a person knows.
    pub acknowledged: bool,
    /// The last run before the change.
    pub run_before: Option<RunId>,
    before: Series,
    /// The newest trials of each scenario.
    newest: Trials,
}

/// The natural logarithm of how much more likely the newest trials must be at the old level than at the fallen one: a
/// factor of 20. `tests` measures how often this ends a fall too early, and how soon after a recovery.
const RECOVERED: f64 = 3.0;

impl Change {
    /// Compares the first trials after a change with a series; None if they have no scenario in common.
    pub fn new(kind: ChangeKind, since: Date, before: Series, tried: &[Trial]) -> Option<Self> {
        let newest = Trials::of(tried);
        let fall = before.fall_to(&newest)?;
        Some(Self {
            kind,
            what: Vec::new(),
            since,
            fall,
            recovered: None,
            acknowledged: false,
            run_before: None,
            before,
            newest,
        })
    }

    /// Adds the second trials of its first night.
    pub fn confirm(&mut self, tried: &[Trial]) {
        self.newest.join(&Trials::of(tried));
        if let Some(fall) = self.before.fall_to(&self.newest) {
            self.fall = fall;
        }
    }

    /// Takes the trials of a later night. Returns whether they end the fall.
    pub fn follow(&mut self, day: Date, tried: &[Trial], is_again: bool) -> bool {
        if !self.is_open() {
            return false;
        }
        let tried = Trials::of(tried);
        if is_again {
            self.newest.join(&tried);
        } else {
            self.newest.replace(tried);
        }
        let is_over = self.before.fall_to(&self.newest).is_some_and(|now| is_over(self.fall, now));
        if is_over {
            self.recovered = Some(day);
        }
        is_over
    }

    /// Returns whether it made the skill worse, which has not recovered since.
    pub fn is_open(&self) -> bool {
        self.fall.is_sure() && self.recovered.is_none()
    }

    /// Returns the mean score of the version before.
    pub fn score_before(&self) -> Option<f64> {
        self.before.mean()
    }

    /// Returns the series of the level before the change, to go on with after a recovery.
    pub fn level(&self) -> Series {
        let mut series = Series::at(self.before.known.clone(), self.before.deviation);
        series.known.join(&self.newest);
        series
    }
}

/// Returns whether a skill that fell is back: the newest trials are much more likely without the fall than with it.
fn is_over(fall: Fall, now: Fall) -> bool {
    fall.points * (fall.points / 2.0 - now.points) > RECOVERED * now.error.powi(2)
}

#[cfg(test)]
mod tests;
