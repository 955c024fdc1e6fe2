//! The morning report, in the order of a person's questions: does anything need me, what got better, what got worse,
//! what is undecided, what did it cost, what could not run.

use std::collections::BTreeSet;

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::stuck::is_of;
use super::{Decided, Done, End, Halt, History, Left, Night, Over, Place, Shard, Spent, Stuck, Waiting};
use crate::base::name::Name;
use crate::nights::drift::DriftLevel;
use crate::nights::drift::change::{Change, ChangeKind};

/// The report of the last night.
#[derive(Clone, Debug, PartialEq)]
pub struct Morning<'a> {
    pub night: &'a Night,
    /// The jobs of the night, and those of the last scheduled one: a night of one job hides no trouble of the others.
    pub jobs: Vec<&'a Name>,
    pub better: Vec<Better<'a>>,
    /// Winners that wait for a person: of this night and of earlier ones, the oldest first.
    pub waiting: Vec<Waiting>,
    pub worse: Vec<Worse<'a>>,
    /// Falls that a person knows.
    pub acknowledged: Vec<Worse<'a>>,
    /// Skills that work better since their agents changed or a person edited them, and did not only recover.
    pub risen: Vec<(&'a Name, &'a Change)>,
    /// Skills whose agents changed since the night before, without a sure effect on their scores.
    pub unmoved: Vec<(&'a Name, &'a Change)>,
    /// Falls that ended in this night.
    pub recovered: Vec<(&'a Name, &'a Change)>,
    /// Falls that ended in this night or an earlier one: winners that were found during them have low scores.
    past_falls: Vec<(&'a Name, &'a Change)>,
    /// Verdicts that more trials could decide: of this night and of earlier ones, the oldest first.
    pub undecided: Vec<Waiting>,
    /// Jobs of which the journal has several verdicts that wait, also those that this machine found to wait no more: a
    /// dismissal must name its run.
    pub several: BTreeSet<&'a Name>,
    /// Verdicts that no better version was found.
    pub settled: Vec<(&'a Done, &'a Decided)>,
    /// Runs that continue in the next night without help.
    pub paused: Vec<(&'a Done, &'a str, Halt)>,
    /// Jobs that failed by an agent, a person's mistake or skilltune.
    pub failed: Vec<(&'a Done, &'a str)>,
    /// Jobs that the last nights could not judge, also if it was only this one.
    pub stuck: Vec<Stuck<'a>>,
    pub left: Vec<(&'a Name, &'a Left)>,
    /// If it is a scheduled night, the one before it that ran to its end.
    pub before: Option<&'a Night>,
    /// The evenings since that one on which no scheduled night ran to its end.
    pub missed: Vec<Date>,
    /// Jobs that were running when the night was killed.
    pub broken: Vec<&'a Name>,
    /// Jobs that a night which was killed, failed or is under way did not get to.
    pub unreached: Vec<&'a Name>,
    pub spent: Spent,
    /// In the nights of the seven evenings up to its own.
    pub week: Spent,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Better<'a> {
    pub done: &'a Done,
    pub decided: &'a Decided,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Worse<'a> {
    /// Its scores fall although nothing has changed.
    Drifts { job: &'a Name, drift_level: DriftLevel, days: usize, mean: Option<f64>, known: Option<f64> },
    /// Its scores fell when its agents or the skill changed, or before, and have not recovered.
    Fell { job: &'a Name, change: &'a Change },
}

impl<'a> Morning<'a> {
    /// Returns the report with all verdicts that wait as far as the journal says.
    pub fn of(history: &'a History) -> Option<Self> {
        Self::with(history, history.waiting().to_vec())
    }

    /// Returns the report with these verdicts that wait.
    pub fn with(history: &'a History, verdicts: Vec<Waiting>) -> Option<Self> {
        let night = history.last()?;
        let (waiting, undecided) = verdicts.into_iter().partition(Waiting::is_winner);
        // A night of shards is over even if one of them was killed.
        let is_ended = night.over.is_some() && night.killed_shards().is_empty();
        let jobs = jobs(history, night);
        let scheduled = scheduled_before(history, night);
        let before = scheduled.iter().filter(|one| one.over.is_some()).max_by_key(|one| one.date).copied();
        let falls = jobs.iter().flat_map(|&job| falls(history, night, job));
        let (known, new): (Vec<_>, Vec<_>) = falls.partition(|(is_known, _)| *is_known);
        let worse = |falls: Vec<(bool, Worse<'a>)>| falls.into_iter().map(|(_, fall)| fall).collect();
        let recovered: Vec<_> = night.jobs.iter().flat_map(|job| recovered(history, night, job)).collect();
        let risen = night.jobs.iter().filter_map(|job| risen(history, job));
        let risen = risen.filter(|(job, _)| recovered.iter().all(|(known, _)| known != job)).collect();
        let mut morning = Self {
            night,
            better: Vec::new(),
            waiting,
            worse: worse(new),
            acknowledged: worse(known),
            risen,
            unmoved: night.jobs.iter().filter_map(|job| unmoved(history, night, job)).collect(),
            recovered,
            past_falls: past_falls(history).collect(),
            undecided,
            several: several(history),
            settled: Vec::new(),
            paused: Vec::new(),
            failed: Vec::new(),
            stuck: jobs.iter().filter_map(|&job| history.stuck(job)).collect(),
            jobs,
            left: night.left.iter().map(|(job, left)| (job, left)).collect(),
            before,
            missed: missed(&scheduled, before, night.date),
            broken: if is_ended { Vec::new() } else { night.under_way.keys().collect() },
            unreached: unreached(night),
            spent: night.spent(),
            week: history.spent_in_week(night.date),
        };
        let news = night.done.iter().filter(|done| !history.was_known(done));
        news.for_each(|done| morning.sort(done));
        Some(morning)
    }

    fn sort(&mut self, done: &'a Done) {
        match &done.outcome.end {
            End::Decided(decided) if decided.is_win => self.better.push(Better { done, decided }),
            End::Decided(decided) if !decided.is_open => self.settled.push((done, decided)),
            // `undecided` has the open verdicts already, with those of earlier nights.
            End::Decided(_) | End::Measured { .. } => {}
            End::Paused { why, halt, .. } => self.paused.push((done, why, *halt)),
            End::Unjudged { why } | End::Refused { why } | End::Failed { why } => {
                self.failed.push((done, why));
            }
        }
    }

    /// Returns whether a person must do something.
    pub fn needs_you(&self) -> bool {
        let is_refused = |(_, left): &(&Name, &Left)| matches!(left, Left::Refused { .. });
        let is_ours =
            |(done, _): &(&Done, &str)| matches!(done.outcome.end, End::Refused { .. } | End::Failed { .. });
        !self.waiting.is_empty()
            || self.worse.iter().any(Worse::needs_you)
            || self.stuck.iter().any(Stuck::needs_you)
            || self.paused.iter().any(|(_, _, halt)| *halt == Halt::Person)
            || self.failed.iter().any(is_ours)
            || self.left.iter().any(is_refused)
    }

    /// Returns the open falls of a job that a change caused, or that were there before one.
    pub fn falls_of(&self, job: &Name) -> impl Iterator<Item = &'a Change> {
        self.worse.iter().chain(&self.acknowledged).filter_map(move |worse| match *worse {
            Worse::Fell { job: fallen, change } if fallen == job => Some(change),
            Worse::Fell { .. } | Worse::Drifts { .. } => None,
        })
    }

    /// Returns the fall during which a winner was found, if it has ended since.
    pub fn past_fall_of(&self, winner: &Waiting) -> Option<&'a Change> {
        let scored = winner.scored();
        let is_within = |fall: &Change| {
            fall.since <= scored && fall.recovered.is_some_and(|recovered| scored < recovered)
        };
        let mut falls = self.past_falls.iter().filter(|(job, _)| **job == winner.job).map(|(_, fall)| *fall);
        falls.find(|fall| is_within(fall))
    }

    /// Returns whether nights could not judge a job for so long that a person must look.
    pub fn is_stuck(&self, job: &Name) -> bool {
        self.stuck.iter().any(|stuck| stuck.job == job && stuck.needs_you())
    }

    /// Returns whether something failed that the next night tries again.
    pub fn has_failed(&self) -> bool {
        let has_all_shards = self.night.missing_shards().is_empty() && self.night.killed_shards().is_empty();
        let has_reached_all = self.broken.is_empty() && self.unreached.is_empty();
        !self.failed.is_empty() || !has_reached_all || !has_all_shards
    }

    /// Returns whether the next night continues something.
    pub fn goes_on(&self) -> bool {
        let is_put_off = |(_, left): &(&Name, &Left)| **left != Left::Unchanged;
        !self.paused.is_empty()
            || self.left.iter().any(is_put_off)
            || matches!(self.night.over, Some((_, Over::Time | Over::Interrupted)))
    }
}

impl Better<'_> {
    /// Returns the shard whose machine has the winner, if this night was merged from shards and no other machine has it.
    pub fn shard(&self, night: &Night) -> Option<Shard> {
        match self.decided.place {
            Place::Nowhere | Place::Applied | Place::PullRequest(_) => None,
            Place::Branch(_) | Place::Patch(_) | Place::Kept | Place::Conflict => {
                night.shard_of(&self.done.job)
            }
        }
    }
}

impl<'a> Worse<'a> {
    /// Returns whether it needs a person. A single low night does not.
    pub fn needs_you(&self) -> bool {
        match self {
            Self::Drifts { drift_level, .. } => *drift_level == DriftLevel::Drift,
            Self::Fell { .. } => true,
        }
    }

    pub fn job(&self) -> &'a Name {
        match self {
            Self::Drifts { job, .. } | Self::Fell { job, .. } => job,
        }
    }
}

/// Returns the jobs that the night, or their shard of it, did not get to before its end. Some of them may have had
/// nothing to do.
fn unreached(night: &Night) -> Vec<&Name> {
    let killed = night.killed_shards();
    let is_cut_short = |job: &Name| night.over.is_none() || is_of(&killed, night, job);
    let is_reached = |job: &Name| {
        let is_left = night.left.iter().any(|(left, _)| left == job);
        is_left || night.under_way.contains_key(job) || night.works(job).next().is_some()
    };
    night.jobs.iter().filter(|job| is_cut_short(job) && !is_reached(job)).collect()
}

fn several(history: &History) -> BTreeSet<&Name> {
    let all = history.waiting();
    let has_other = |one: &&Waiting| all.iter().any(|other| other.job == one.job && other.run != one.run);
    all.iter().filter(has_other).map(|one| &one.job).collect()
}

/// Returns the scheduled nights of the year before a scheduled night.
fn scheduled_before<'a>(history: &'a History, night: &Night) -> Vec<&'a Night> {
    let year = night.date.saturating_sub(366.days())..night.date;
    let is_one = |one: &&Night| night.scheduled && one.scheduled && year.contains(&one.date);
    history.nights.iter().filter(is_one).collect()
}

/// Returns the evenings up to this date on which none of these nights ran to its end, after the last one that did. The
/// schedule has no night on a day of the week that had none in the last week with nights.
fn missed(scheduled: &[&Night], ended: Option<&Night>, date: Date) -> Vec<Date> {
    let begun: BTreeSet<Date> = scheduled.iter().map(|one| one.date).collect();
    let Some(first) = begun.first() else { return Vec::new() };
    // If none has ended, all evenings count.
    let last = ended.map_or_else(|| first.saturating_sub(1.day()), |one| one.date);
    let is_usual = |day: Date| {
        let mut earlier = day;
        while earlier > last {
            earlier = earlier.saturating_sub(7.days());
        }
        !begun.contains(&day) && earlier >= *first && !begun.contains(&earlier)
    };
    let days = last.series(1.day()).skip(1).take_while(|day| *day < date);
    days.filter(|day| !is_usual(*day)).collect()
}

fn jobs<'a>(history: &'a History, night: &'a Night) -> Vec<&'a Name> {
    let scheduled = history.nights.iter().rev().find(|night| night.scheduled);
    let others = scheduled.into_iter().flat_map(|night| &night.jobs);
    night.jobs.iter().chain(others.filter(|job| !night.jobs.contains(job))).collect()
}

/// Returns the falls of a skill, and whether a person has acknowledged them: these do not come back each morning.
fn falls<'a>(history: &'a History, night: &Night, name: &'a Name) -> Vec<(bool, Worse<'a>)> {
    let Some(job) = history.jobs.get(name) else { return Vec::new() };
    let Some(watch) = &job.watch else { return Vec::new() };
    let falls = watch.open_falls().map(|change| (change.acknowledged, Worse::Fell { job: name, change }));
    let drift_level = job.drift_level();
    let drifts = (drift_level != DriftLevel::Steady).then(|| {
        let mean = job.points.last().filter(|point| point.date == night.date).and_then(|point| point.score);
        let (days, known) = (watch.series.days(), watch.series.mean());
        (watch.acknowledged, Worse::Drifts { job: name, drift_level, days, mean, known })
    });
    falls.chain(drifts).collect()
}

/// Reports a rise only once.
fn risen<'a>(history: &'a History, name: &'a Name) -> Option<(&'a Name, &'a Change)> {
    let watch = history.jobs.get(name)?.watch.as_ref().filter(|watch| watch.nights == 1)?;
    watch.change.as_ref().filter(|change| change.fall.is_rise()).map(|change| (name, change))
}

/// Reports an update without a sure effect in its first night: it is the reason why a job is tuned.
fn unmoved<'a>(history: &'a History, night: &Night, name: &'a Name) -> Option<(&'a Name, &'a Change)> {
    let change = history.jobs.get(name)?.watch.as_ref()?.change.as_ref()?;
    let is_new = change.kind == ChangeKind::Update && change.since == night.date;
    let is_seen = change.fall.is_sure() || change.fall.is_rise();
    (is_new && !is_seen).then_some((name, change))
}

fn past_falls(history: &History) -> impl Iterator<Item = (&Name, &Change)> {
    let watches = history.jobs.iter().filter_map(|(name, job)| Some((name, job.watch.as_ref()?)));
    watches.flat_map(|(name, watch)| watch.past_falls().map(move |fall| (name, fall)))
}

fn recovered<'a>(history: &'a History, night: &Night, name: &'a Name) -> Vec<(&'a Name, &'a Change)> {
    let watch = history.jobs.get(name).and_then(|job| job.watch.as_ref());
    watch.into_iter().flat_map(|watch| watch.ended_falls(night.date)).map(|change| (name, change)).collect()
}
