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
}

impl WaitingList {
    pub(super) fn all(&self) -> &[Waiting] {
        &self.all
    }

    pub(super) fn dismissed(&self) -> impl Iterator<Item = (&Name, &RunId)> {
        self.dismissed.iter().map(|one| (&one.0, &one.1))
    }

    /// Adds a new verdict. It replaces an open one of its job.
    pub(super) fn decided(&mut self, new: Waiting) {
        self.all.retain(|known| known.job != new.job || (known.is_winner() && known.run != new.run));
        if new.is_winner() {
            // If this run was dismissed, its verdict was open then, and more trials decided it since.
            self.dismissed.remove(&(new.job.clone(), new.run.clone()));
        }
        if new.is_winner() || new.decided.is_open {
            self.add(new);
        }
    }

    pub(super) fn dismiss(&mut self, job: &Name, run: &RunId) {
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
        if !self.dismissed.contains(&(new.job.clone(), new.run.clone())) {
            self.all.push(new);
            self.all.sort_by_key(|known| known.since);
        }
    }
}

#[cfg(test)]
mod tests;
