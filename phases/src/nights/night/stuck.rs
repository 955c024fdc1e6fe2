//! Jobs that nights could not judge: for how many nights in a row, and why.
//!
//! The fault may be with an agent, a service, a limit of the file, a person or skilltune: the job waits all the same.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::{Done, End, Halt, History, Left, Night, Shard};
use crate::base::name::Name;

/// A job whose last nights could not judge it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stuck<'a> {
    pub job: &'a Name,
    /// The number of nights. Several on one day are one.
    pub nights: usize,
    /// The first of them.
    pub since: Date,
    /// The cause in the last of them.
    pub cause: Cause<'a>,
    /// True if a person knows of it.
    pub acknowledged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause<'a> {
    /// As the run says.
    Run(&'a str),
    /// skilltune failed.
    Failed(&'a str),
    Left(&'a Left),
    /// skilltune was killed.
    Killed,
    /// The results of its shard are missing.
    Missing,
}

/// One night may fail for many reasons that pass. After so many a person should look.
const NIGHTS: usize = 3;

/// What a night did for a job.
enum Fate<'a> {
    Judged,
    /// The night is under way, or the job was not its concern.
    Unknown,
    NotJudged(Cause<'a>),
}

impl Stuck<'_> {
    /// Returns whether a person must look.
    pub fn needs_you(&self) -> bool {
        self.nights >= NIGHTS && !self.acknowledged
    }
}

impl History {
    /// Returns the nights that could not judge a job, up to the last one; None if that one judged it.
    pub fn stuck<'a>(&'a self, job: &'a Name) -> Option<Stuck<'a>> {
        let (mut dates, mut first, mut cause) = (BTreeSet::new(), None, None);
        for (nth, night) in self.nights.iter().enumerate().rev() {
            let is_last = nth + 1 == self.nights.len();
            match fate(night, job, is_last) {
                Fate::Judged => break,
                Fate::Unknown => {}
                Fate::NotJudged(why) => {
                    dates.insert(night.date);
                    first = Some(night.began);
                    cause = cause.or(Some(why));
                }
            }
        }
        let known = self.jobs.get(job).and_then(|job| job.acknowledged);
        Some(Stuck {
            job,
            nights: dates.len(),
            since: *dates.first()?,
            cause: cause?,
            acknowledged: known.is_some_and(|known| first.is_some_and(|first| first <= known)),
        })
    }
}

fn fate<'a>(night: &'a Night, job: &Name, is_last: bool) -> Fate<'a> {
    if !night.jobs.contains(job) {
        return Fate::Unknown;
    }
    let is_under_way = is_last && night.over.is_none();
    match night.works(job).last() {
        _ if !is_under_way && night.under_way.contains_key(job) => Fate::NotJudged(Cause::Killed),
        Some(last) => of_work(last, night.works(job)),
        None => match night.left.iter().find(|(left, _)| left == job) {
            Some((_, Left::Unchanged)) => Fate::Unknown,
            Some((_, left)) => Fate::NotJudged(of_left(night, left)),
            None if is_under_way => Fate::Unknown,
            None if night.over.is_none() || is_of(&night.killed_shards(), night, job) => {
                Fate::NotJudged(Cause::Killed)
            }
            None if is_of(&night.missing_shards(), night, job) => Fate::NotJudged(Cause::Missing),
            // There was nothing to do.
            None => Fate::Judged,
        },
    }
}

/// Returns the fate of a job with some work. A search that fails is trouble even if a measurement before it succeeded.
fn of_work<'a>(last: &'a Done, mut all: impl Iterator<Item = &'a Done>) -> Fate<'a> {
    let is_paused = matches!(last.outcome.end, End::Paused { .. });
    match trouble(last) {
        Some(cause) if !is_paused || all.all(|done| trouble(done).is_some()) => Fate::NotJudged(cause),
        Some(_) | None => Fate::Judged,
    }
}

/// Returns why a piece of work judged nothing. A run that is too long for its share of a night, and got further, is no
/// trouble.
fn trouble(done: &Done) -> Option<Cause<'_>> {
    match &done.outcome.end {
        End::Decided(_) | End::Measured { .. } => None,
        End::Paused { halt: Halt::Budget | Halt::Time, .. } if done.spent.calls > 0 => None,
        End::Failed { why } => Some(Cause::Failed(done.outcome.cause.as_deref().unwrap_or(why))),
        End::Unjudged { why } | End::Refused { why } | End::Paused { why, .. } => {
            Some(Cause::Run(done.outcome.cause.as_deref().unwrap_or(why)))
        }
    }
}

/// Returns why a job was left. If an agent is away, it is the one that another job found, unless there are several.
fn of_left<'a>(night: &'a Night, left: &'a Left) -> Cause<'a> {
    let is_away = |done: &&Done| matches!(done.outcome.end, End::Paused { halt: Halt::Away, .. });
    let mut away = night.done.iter().filter(is_away).filter_map(trouble);
    match (left, away.next()) {
        (Left::Away, Some(first)) if away.all(|other| other == first) => first,
        _ => Cause::Left(left),
    }
}

/// Returns whether a job of a merged night is of one of these shards.
pub(super) fn is_of(shards: &[Shard], night: &Night, job: &Name) -> bool {
    shards.iter().any(|shard| shard.share(night.jobs.iter().cloned()).contains(job))
}
