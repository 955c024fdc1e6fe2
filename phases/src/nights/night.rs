//! Nights: jobs that tune skills without a person, their outcomes, and the next step of each.
//!
//! Each file of jobs has one journal for all its nights, and everything here follows from it. A night reads the next
//! step from the history, starts a run for it, and records its outcome in the same words as the run.

mod cutting;
mod history;
mod merging;
mod morning;
mod next;
mod purse;
mod shard;
mod stuck;
mod waiting;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Sum;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::base::id::Digest;
use crate::base::name::Name;
use crate::judging::proof::Effect;
use crate::judging::score::Score;
use crate::nights::drift::Trial;
use crate::runs::plan::{Fingerprint, RunId};

pub use cutting::kept;
pub use history::{Done, History, Job, Left, Night, Point};
pub use merging::{ShardNight, merged};
pub use morning::{Better, Morning, Worse};
pub use next::{Wish, next, outlook, searching};
pub use purse::{Share, shared};
pub use shard::{Part, Shard};
pub use stuck::{Cause, Stuck};
pub use waiting::Waiting;
pub use watch::Watch;

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Timestamp,
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A night began, with these jobs.
    Began {
        night: Name,
        date: Date,
        scheduled: bool,
        jobs: Vec<Name>,
        /// The part of this machine, if several machines share the night.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shard: Option<Shard>,
    },
    /// A job began. If no outcome follows, the night was killed.
    Asked {
        job: Name,
        work: Work,
    },
    Ended {
        job: Name,
        work: Work,
        outcome: Box<JobOutcome>,
    },
    /// A job was skipped or not continued, with the reason.
    Left {
        job: Name,
        left: Left,
    },
    /// Failed trials became drafts in the inbox.
    Drafted {
        job: Name,
        drafts: Vec<Draft>,
    },
    Over {
        why: Over,
    },
    /// A person acknowledged that this skill works worse: no more messages until something changes.
    Acknowledged {
        job: Name,
    },
    /// A person does not want this winner, or does not need this open verdict decided.
    Dismissed {
        job: Name,
        run: RunId,
    },
    /// Shards elsewhere made the night. The entries that follow are theirs.
    Merged {
        parts: Vec<Part>,
    },
    /// At the end of a shard's night: a verdict of an earlier night, if it still waits. The machine that merges the
    /// shards has neither the run nor the store to find that out.
    Waits {
        job: Name,
        run: RunId,
        waiting: Option<Box<Waiting>>,
    },
}

/// The work for a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Tries the unchanged skill on these scenarios, once each.
    Measure {
        only: Vec<Name>,
    },
    /// Tries the same once more, because the first trials were low.
    Again {
        only: Vec<Name>,
    },
    /// Resumes a paused run.
    Resume {
        run: RunId,
    },
    /// Makes as many trials again for the comparison of a run that stayed open.
    Extend {
        run: RunId,
    },
    Tune,
}

/// A draft of the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub id: Name,
    /// The scenario of its trial.
    pub scenario: Name,
    /// A version and a task, which become a draft only once: a draft that a person deleted does not come back.
    pub mark: Digest,
}

/// The reason why a night ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    Done,
    /// The night's time ended, or was too short to begin a job.
    Time,
    Interrupted,
}

/// The outcome of a job's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobOutcome {
    pub run: Option<RunId>,
    /// The skill and the agents of the trial.
    pub key: Option<Key>,
    pub end: End,
    /// For the whole run so far, including earlier nights.
    pub spent: Spent,
    /// The agents that report no usage window although a part of it must stay free.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_windows: BTreeSet<Box<str>>,
    /// What kept it from being judged, in a few words that are the same for every job with this cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Decided(Box<Decided>),
    Measured {
        trials: Vec<Trial>,
    },
    /// The run continues in another night.
    Paused {
        why: Box<str>,
        halt: Halt,
        /// The agent whose account or service paused it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Box<str>>,
    },
    /// An agent failed, or nothing could be evaluated.
    Unjudged {
        why: Box<str>,
    },
    /// The job cannot be done: a person must check it.
    Refused {
        why: Box<str>,
    },
    /// skilltune failed.
    Failed {
        why: Box<str>,
    },
}

/// The cause of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// The job's share of the budget is used up.
    Budget,
    /// The night ended.
    Time,
    /// The account is used up or a service is down, which passes without help.
    Away,
    /// The run waits for a person: a login, an answer.
    Person,
}

/// A verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// One word for scripts, as in `report.json`.
    pub verdict: Box<str>,
    pub words: Box<str>,
    pub is_win: bool,
    /// Whether more trials could have decided it.
    pub is_open: bool,
    /// Whether the comparison of an open verdict can be extended by later nights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_retry: bool,
    pub effect: Option<Effect>,
    pub before: Option<Score>,
    pub after: Option<Score>,
    pub place: Place,
    /// The commit of a winner that was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Box<str>>,
    /// Why the winner is not where the job wants it, such as in a pull request, and other notes on its commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Box<str>>,
    /// The hash of the winner, if any. The winner does not need another search either.
    pub champion: Option<Digest>,
    /// Each as a sentence.
    pub dangers: Vec<Box<str>>,
    /// The cost of deciding an open verdict.
    pub price: Option<Box<str>>,
}

/// The place of a winner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// There is no winner.
    Nowhere,
    Applied,
    Branch(Box<str>),
    Patch(Box<str>),
    PullRequest(Box<str>),
    /// The store keeps it for `apply`.
    Kept,
    /// Somebody edited the skill during the run, and nothing was replaced.
    Conflict,
}

/// The things that trials depend on. A new key begins a new series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    pub skill: Digest,
    pub suite: Digest,
    /// Executor and judge, with their fingerprints.
    pub agents: BTreeMap<String, Fingerprint>,
    /// By role, the model that answered most calls, if the agent reports it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, String>,
    /// The agents as text.
    pub shown: Box<str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub calls: u64,
    pub tokens: u64,
    pub usd: f64,
    pub seconds: f64,
    /// Calls of unknown cost.
    pub unpriced: u64,
    /// Calls whose cost is estimated from their tokens.
    #[serde(default)]
    pub estimated: u64,
}

impl Key {
    /// Returns whether both try the same content.
    pub fn has_content_of(&self, other: &Self) -> bool {
        (self.skill, self.suite) == (other.skill, other.suite)
    }

    /// Returns whether the agents are the same, as far as known.
    pub fn has_agents_of(&self, other: &Self) -> bool {
        let is_same =
            |(role, model): (&String, &String)| other.models.get(role).is_none_or(|one| one == model);
        self.agents == other.agents && self.models.iter().all(is_same)
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.has_content_of(other) && self.has_agents_of(other)
    }

    /// Returns the parts of the agents that have changed.
    pub fn changed(&self, now: &Self) -> Vec<String> {
        let prints = self.agents.iter().filter_map(|(role, old)| {
            let parts = old.changed(now.agents.get(role)?);
            (!parts.is_empty()).then(|| format!("{role}: {}", parts.join(", ")))
        });
        let models = self.models.iter().filter_map(|(role, old)| {
            let new = now.models.get(role).filter(|new| *new != old)?;
            Some(format!("model of the {role}: {old}, now {new}"))
        });
        prints.chain(models).collect()
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::plus)
    }
}

impl Spent {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            usd: self.usd + other.usd,
            seconds: self.seconds + other.seconds,
            unpriced: self.unpriced.saturating_add(other.unpriced),
            estimated: self.estimated.saturating_add(other.estimated),
        }
    }

    /// Returns the amount spent since an earlier point.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            tokens: self.tokens.saturating_sub(before.tokens),
            usd: (self.usd - before.usd).max(0.0),
            seconds: (self.seconds - before.seconds).max(0.0),
            unpriced: self.unpriced.saturating_sub(before.unpriced),
            estimated: self.estimated.saturating_sub(before.estimated),
        }
    }
}

impl Work {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Measure { .. } => "measured",
            Self::Again { .. } => "measured again",
            Self::Resume { .. } => "resumed",
            Self::Extend { .. } => "compared again",
            Self::Tune => "tuned",
        }
    }

    /// Returns whether the work can change a skill.
    pub fn is_search(&self) -> bool {
        match self {
            Self::Measure { .. } | Self::Again { .. } => false,
            Self::Resume { .. } | Self::Extend { .. } | Self::Tune => true,
        }
    }
}

#[cfg(test)]
mod tests;
