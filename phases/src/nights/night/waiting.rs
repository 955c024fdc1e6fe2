//! Verdicts that wait for a person over several nights: a winner that is not in the skill yet, and an open verdict that
//! more trials could decide.
//!
//! The journal says which verdicts there were. Whether one still waits depends on the skill and its repository, so the
//! machine that has them finds out each morning. Only a dismissal is recorded.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{Decided, Place, Shard};
use crate::base::id::Digest;
use crate::base::name::Name;
use crate::runs::plan::RunId;

/// One verdict that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    pub job: Name,
    pub run: RunId,
    /// The evening of the night that gave the verdict.
    pub since: Date,
    /// The evening of a later night that found the same winner again: its scores are of that night.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_again: Option<Date>,
    /// The version of the skill that the run began with.
    pub start: Digest,
    pub decided: Decided,
    /// The shard that has the run, if another machine made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Waiting {
    /// Returns whether a person has to decide about a winner. Otherwise the verdict is open.
    pub fn is_winner(&self) -> bool {
        self.decided.is_win && !matches!(self.decided.place, Place::Applied | Place::Nowhere)
    }

    /// Returns the evening of the night that its scores are of.
    pub fn scored(&self) -> Date {
        self.found_again.unwrap_or(self.since)
    }

    fn id(&self) -> (Name, RunId) {
        (self.job.clone(), self.run.clone())
    }

    /// Returns whether both are winners of a job with the same content.
    pub fn has_version_of(&self, other: &Self) -> bool {
        let (own, others) = (self.decided.champion, other.decided.champion);
        self.is_winner() && self.job == other.job && own.is_some() && own == others
    }

    /// Returns whether this run gave the verdict. Other machines may use the same ids for runs of other jobs.
    pub fn is_of(&self, job: &Name, run: &RunId) -> bool {
        self.job == *job && self.run == *run
    }
}

/// All verdicts that wait, as far as the journal says, the oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WaitingList {
    all: Vec<Waiting>,
    dismissed: BTreeSet<(Name, RunId)>,
    /// The versions that a person dismissed as winners.
    declined: BTreeSet<(Name, Digest)>,
    /// The runs that found a winner which an earlier one had found.
    known: BTreeSet<(Name, RunId)>,
}

impl WaitingList {
    pub(super) fn all(&self) -> &[Waiting] {
        &self.all
    }

    pub(super) fn dismissed(&self) -> impl Iterator<Item = (&Name, &RunId)> {
        self.dismissed.iter().map(|one| (&one.0, &one.1))
    }

    pub(super) fn is_dismissed(&self, job: &Name, run: &RunId) -> bool {
        self.dismissed.contains(&(job.clone(), run.clone()))
    }

    pub(super) fn is_known(&self, job: &Name, run: &RunId) -> bool {
        self.known.contains(&(job.clone(), run.clone()))
    }

    /// Adds a new verdict. It replaces an open one of its job, and a winner that is the same version.
    pub(super) fn decided(&mut self, mut new: Waiting) {
        if new.is_winner() {
            // If this run was dismissed, its verdict was open then, and more trials decided it since.
            self.dismissed.remove(&new.id());
            self.recognise(&mut new);
        }
        let is_other = |known: &Waiting| known.run != new.run && !known.has_version_of(&new);
        self.all.retain(|known| known.job != new.job || (known.is_winner() && is_other(known)));
        if new.is_winner() || new.decided.is_open {
            self.add(new);
        }
    }

    /// If an earlier search found the same winner, takes over the date of that one, or its dismissal.
    fn recognise(&mut self, new: &mut Waiting) {
        let first = self.all.iter().find(|known| known.run != new.run && known.has_version_of(new));
        let version = new.decided.champion.map(|champion| (new.job.clone(), champion));
        if let Some(first) = first {
            new.found_again = Some(new.since);
            new.since = first.since;
            self.known.insert(new.id());
        } else if version.is_some_and(|version| self.declined.contains(&version)) {
            self.dismissed.insert(new.id());
            self.known.insert(new.id());
        }
    }

    pub(super) fn dismiss(&mut self, job: &Name, run: &RunId) {
        let of_run = self.all.iter().filter(|known| known.is_of(job, run));
        self.declined.extend(of_run.filter_map(|known| Some((job.clone(), known.decided.champion?))));
        self.all.retain(|known| !known.is_of(job, run));
        self.dismissed.insert((job.clone(), run.clone()));
    }

    /// Takes over whether a verdict waits, as the machine that has its run found.
    pub(super) fn found(&mut self, job: &Name, run: &RunId, now: Option<&Waiting>) {
        self.all.retain(|known| !known.is_of(job, run));
        if let Some(now) = now.filter(|now| now.is_of(job, run)) {
            self.add(now.clone());
        }
    }

    fn add(&mut self, new: Waiting) {
        if !self.dismissed.contains(&new.id()) {
            self.all.push(new);
            self.all.sort_by_key(|known| known.since);
        }
    }
}

#[cfg(test)]
mod tests;
