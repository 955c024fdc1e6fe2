//! Compares a series with the one before it: the agents changed, or the skill was edited.
//!
//! The comparison is with the trials just before the change, on the same scenarios. A fall that is sure stays
//! until the trials of the last nights show that the skill has recovered, and are not surely lower than those
//! before: a recovery in part ends no fall. A fall that was confirmed before the change is followed in the same
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
    /// How far the trials of the last nights are below those before it; None in its first night.
    pub now: Option<Fall>,
    /// The day on which the skill was as good as before again.
    pub recovered: Option<Date>,
    /// Whether a person knows.
    pub acknowledged: bool,
    /// The last run before the change.
    pub run_before: Option<RunId>,
    before: Series,
    /// The newest trials of each scenario.
    newest: Trials,
    /// The trials of the last nights with this version of the skill and its agents, the newest night last.
    recent: Vec<Trials>,
}

/// The natural logarithm of how much more likely the trials of the last nights must be at the old level than at
/// the fallen one: a factor of 20. `tests` measures how often this ends a fall too early, and how soon after a
/// recovery.
const RECOVERED: f64 = 3.0;
/// The number of nights whose trials count together. More nights show a smaller rest of a fall, but end it
/// later.
const LAST_NIGHTS: usize = 6;
/// One trial of each scenario ends a fall at once if they are surely above this share of it.
const REST: f64 = 0.25;

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
            now: None,
            recovered: None,
            acknowledged: false,
            run_before: None,
            before,
            recent: vec![newest.clone()],
            newest,
        })
    }

    /// Adds the second trials of its first night.
    pub fn confirm(&mut self, tried: &[Trial]) {
        self.join_last_night(&Trials::of(tried));
        if let Some(fall) = self.before.fall_to(&self.newest) {
            self.fall = fall;
        }
    }

    /// Takes the first trials of another version: those of the last nights were of the version before it.
    pub fn follow_next_version(&mut self, day: Date, tried: &[Trial]) {
        self.recent.clear();
        self.follow(day, tried, false);
    }

    /// Takes the trials of a later night. Returns whether they end the fall.
    pub fn follow(&mut self, day: Date, tried: &[Trial], is_again: bool) -> bool {
        if !self.is_open() {
            return false;
        }
        let tried = Trials::of(tried);
        if is_again {
            self.join_last_night(&tried);
        } else {
            self.add_night(tried);
        }
        let is_over = self.compare();
        if is_over {
            self.recovered = Some(day);
        }
        is_over
    }

    fn add_night(&mut self, tried: Trials) {
        self.newest.replace(tried.clone());
        self.recent.push(tried);
        let old = self.recent.len().saturating_sub(LAST_NIGHTS);
        self.recent.drain(..old);
    }

    fn join_last_night(&mut self, again: &Trials) {
        self.newest.join(again);
        if let Some(night) = self.recent.last_mut() {
            night.join(again);
        }
    }

    /// Finds out how far it is below the old level now. Returns whether it has recovered.
    fn compare(&mut self) -> bool {
        let newest = self.before.fall_to(&self.newest).filter(|newest| is_gone(self.fall, *newest));
        self.now = newest.or_else(|| self.before.fall_to(&self.last_trials()));
        newest.is_some() || self.now.is_some_and(|now| is_back(self.fall, now))
    }

    /// Returns the trials of the last nights, and the newest ones of the scenarios that these have not tried.
    fn last_trials(&self) -> Trials {
        let mut recent = Trials::default();
        self.recent.iter().for_each(|night| recent.join(night));
        let mut trials = self.newest.clone();
        trials.replace(recent);
        trials
    }

    /// Returns whether it made the skill worse, which has not recovered since.
    pub fn is_open(&self) -> bool {
        self.fall.is_sure() && self.recovered.is_none()
    }

    /// Returns the number of nights whose trials `now` counts together.
    pub fn last_nights(&self) -> usize {
        self.recent.len()
    }

    /// Returns the mean score of the version before.
    pub fn score_before(&self) -> Option<f64> {
        self.before.mean()
    }

    /// Returns the series of the level before the change, to go on with after a recovery. The trials of the
    /// recovery are not part of it: they may be a little lower.
    pub fn level(&self) -> Series {
        Series::at(self.before.known.clone(), self.before.deviation)
    }
}

/// Returns whether the trials are much more likely without the fall than with it, and not surely low.
fn is_back(fall: Fall, now: Fall) -> bool {
    let likelihood = fall.points * (fall.points / 2.0 - now.points);
    !now.is_sure() && likelihood > RECOVERED * now.error.powi(2)
}

/// Returns whether the trials surely leave little of the fall, and none for sure.
fn is_gone(fall: Fall, newest: Fall) -> bool {
    let (_, most) = newest.bounds();
    !newest.is_sure() && most < REST * fall.points
}

#[cfg(test)]
mod tests;
