//! A skill that is measured every night: its series, and the falls that it has not recovered from.

use jiff::civil::Date;

use super::Key;
use crate::nights::drift::change::{Change, ChangeKind};
use crate::nights::drift::{DriftLevel, Series, Trial};
use crate::runs::plan::RunId;

#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    pub key: Key,
    pub series: Series,
    /// The number of nights on which it was measured.
    pub nights: usize,
    /// Whether the last trials were low and have not been repeated yet.
    pub is_doubted: bool,
    /// The comparison with the series before it.
    pub change: Option<Change>,
    /// Whether a person knows that this series falls.
    pub acknowledged: bool,
    /// The comparison with the level that the series before it had fallen from.
    drift: Option<Change>,
    /// The falls of older series, oldest first.
    falls: Vec<Change>,
    /// The last run that measured it.
    run: Option<RunId>,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement<'a> {
    pub(super) date: Date,
    pub(super) key: &'a Key,
    pub(super) run: Option<&'a RunId>,
    pub(super) trials: &'a [Trial],
    /// Whether it repeats the first one of the night.
    pub(super) is_again: bool,
}

impl Watch {
    /// Begins a series after another one, if any. `is_winner` says that a search made this version of the skill: it was
    /// compared with the one before it already.
    pub(super) fn new(before: Option<Self>, one: &Measurement<'_>, is_winner: bool) -> Self {
        let mut watch = Self {
            key: one.key.clone(),
            series: Series::new(one.trials, None),
            nights: 1,
            is_doubted: false,
            change: None,
            acknowledged: false,
            drift: None,
            falls: Vec::new(),
            run: one.run.cloned(),
        };
        if let Some(before) = before.filter(|before| before.key.suite == one.key.suite) {
            watch.succeed(before, one, is_winner);
        }
        watch
    }

    /// Compares it with the series before it, and takes over the falls of that one.
    fn succeed(&mut self, before: Self, one: &Measurement<'_>, is_winner: bool) {
        let kind = if before.key.skill == one.key.skill { ChangeKind::Update } else { ChangeKind::Edit };
        if kind == ChangeKind::Update || !is_winner {
            let change = Change::new(kind, one.date, before.series.just_before(), one.trials);
            self.change = change.map(|mut change| {
                change.what = before.key.changed(one.key);
                change.run_before.clone_from(&before.run);
                change
            });
        }
        if let Some((level, since)) = before.series.before_fall() {
            let drift = Change::new(ChangeKind::Drift, since, level, one.trials);
            self.drift = drift.map(|mut drift| {
                drift.acknowledged = before.acknowledged;
                drift
            });
        }
        let older = before.falls.into_iter().chain(before.drift).chain(before.change);
        self.falls = older.filter(Change::is_open).collect();
        for fall in &mut self.falls {
            fall.follow_next_version(one.date, one.trials);
        }
        self.is_doubted = self.drift.iter().chain(&self.change).any(|change| change.fall.is_doubtful());
    }

    /// Adds a measurement to the series.
    pub(super) fn go_on(&mut self, one: &Measurement<'_>) {
        let &Measurement { date, run, trials, is_again, .. } = one;
        self.run = run.cloned().or(self.run.take());
        if is_again && self.nights == 1 {
            self.confirm(date, trials);
            return;
        }
        if is_again {
            self.series.again(date, trials);
            self.is_doubted = false;
        } else {
            self.nights += 1;
            self.is_doubted = self.series.night(trials);
        }
        self.end_falls(date, trials, is_again);
        // Another fall of the same series is news.
        if self.series.drift_level() == DriftLevel::Steady {
            self.acknowledged = false;
        }
    }

    /// Adds the second trials of its first night.
    fn confirm(&mut self, date: Date, trials: &[Trial]) {
        for change in self.drift.iter_mut().chain(&mut self.change) {
            change.confirm(trials);
        }
        for fall in &mut self.falls {
            fall.follow(date, trials, true);
        }
        self.series.learn(trials);
        self.is_doubted = false;
    }

    /// Ends the falls that it has recovered from, and goes on at the level before the oldest of them.
    fn end_falls(&mut self, date: Date, trials: &[Trial], is_again: bool) {
        let all = self.changes_mut();
        let ended = all.filter_map(|one| one.follow(date, trials, is_again).then(|| one.level()));
        let ended: Vec<Series> = ended.collect();
        if let Some(level) = ended.into_iter().next() {
            self.series = level;
            self.is_doubted = false;
        }
    }

    /// Records that a person knows of all its falls.
    pub(super) fn acknowledge(&mut self) {
        self.acknowledged = true;
        self.changes_mut().for_each(|change| change.acknowledged = true);
    }

    /// Returns the falls that it has not recovered from.
    pub fn open_falls(&self) -> impl Iterator<Item = &Change> {
        self.changes().filter(|change| change.is_open())
    }

    /// Returns the falls that ended on this day.
    pub fn ended_falls(&self, day: Date) -> impl Iterator<Item = &Change> {
        self.changes().filter(move |change| change.recovered == Some(day))
    }

    /// Returns the falls that it has recovered from.
    pub fn past_falls(&self) -> impl Iterator<Item = &Change> {
        self.changes().filter(|change| change.recovered.is_some())
    }

    fn changes(&self) -> impl Iterator<Item = &Change> {
        self.falls.iter().chain(&self.drift).chain(&self.change)
    }

    fn changes_mut(&mut self) -> impl Iterator<Item = &mut Change> {
        self.falls.iter_mut().chain(&mut self.drift).chain(&mut self.change)
    }
}
