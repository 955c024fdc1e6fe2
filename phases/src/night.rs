//! Nights: jobs that tune skills by themselves, what they have come to, and what each of them wants next.
//!
//! One journal a file of jobs holds all its nights; everything here follows from it. A night asks the history what comes next, lets
//! it be done by a run of its own, and writes down what it came to: the same sentence as that of a run.

mod history;
mod merging;
mod morning;
mod next;
mod purse;
mod shard;

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Sum;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::drift::Trial;
use crate::id::Digest;
use crate::name::Name;
use crate::plan::{Fingerprint, RunId};
use crate::proof::Effect;
use crate::score::Score;

pub use history::{Change, Done, History, Job, Left, Night, Point, Watch, kept};
pub use merging::{ShardNight, merged};
pub use morning::{Better, Morning, Worse};
pub use next::{Wish, next, outlook, searching};
pub use purse::{Share, shared};
pub use shard::{Part, Shard};

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
        /// Which part of a night of several machines it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shard: Option<Shard>,
    },
    /// A job was begun: if nothing follows, the night was killed meanwhile.
    Asked {
        job: Name,
        work: Work,
    },
    Ended {
        job: Name,
        work: Work,
        outcome: Box<Outcome>,
    },
    /// A job was not begun, or not again, and why.
    Left {
        job: Name,
        left: Left,
    },
    /// Trials that fell short became drafts in the inbox.
    Drafted {
        job: Name,
        drafts: Vec<Draft>,
    },
    Over {
        why: Over,
    },
    /// A person knows that this skill works worse: silence, until something changes.
    Acknowledged {
        job: Name,
    },
    /// The night was made by shards elsewhere: what follows is theirs.
    Merged {
        parts: Vec<Part>,
    },
}

/// What is done for a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// To try the skill as it is on these scenarios, once each.
    Measure {
        only: Vec<Name>,
    },
    /// The same once more, because the first trials were low.
    Again {
        only: Vec<Name>,
    },
    /// To go on with a run that was left.
    Resume {
        run: RunId,
    },
    Tune,
}

/// A draft of the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub id: Name,
    /// What its trial was of.
    pub scenario: Name,
    /// A version and a task that become a draft once: what a person has deleted does not come back.
    pub mark: Digest,
}

/// Why a night was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    Done,
    /// It was time to stop, or too late to begin.
    Time,
    Interrupted,
}

/// What a job's run has come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub run: Option<RunId>,
    /// What was tried, and with what.
    pub key: Option<Key>,
    pub end: End,
    /// Of the whole run so far, also in earlier nights.
    pub spent: Spent,
    /// The agents that report no usage window, where a share of it has to stay free.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_windows: BTreeSet<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Decided(Box<Decided>),
    Measured {
        trials: Vec<Trial>,
    },
    /// It goes on in another night.
    Paused {
        why: Box<str>,
        halt: Halt,
        /// Whose account or service it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Box<str>>,
    },
    /// An agent failed, or nothing could be judged.
    Unjudged {
        why: Box<str>,
    },
    /// What was asked for cannot be done: a person has to look at it.
    Refused {
        why: Box<str>,
    },
    /// We failed.
    Failed {
        why: Box<str>,
    },
}

/// What a run was paused by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// Its share of the budget is used up.
    Budget,
    /// The night was over.
    Time,
    /// Its account is used up, or a service is down: it comes back by itself.
    Away,
    /// It waits for a person: a login, an answer.
    Person,
}

/// A verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// One word for scripts, as in `report.json`.
    pub verdict: Box<str>,
    pub words: Box<str>,
    pub is_win: bool,
    /// Whether it could have shown more with more trials.
    pub is_open: bool,
    pub effect: Option<Effect>,
    pub before: Option<Score>,
    pub after: Option<Score>,
    pub place: Place,
    /// The hash of the winner, if there is one: nothing is left to be found out of it either.
    pub champion: Option<Digest>,
    /// In words, each.
    pub dangers: Vec<Box<str>>,
    /// What deciding would cost, where it is open.
    pub price: Option<Box<str>>,
}

/// What became of a winner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// There is none.
    Nowhere,
    Applied,
    Branch(Box<str>),
    Patch(Box<str>),
    PullRequest(Box<str>),
    /// It is kept in the store, for `apply`.
    Kept,
    /// Somebody edited the skill meanwhile, and nothing was replaced.
    Conflict,
}

/// What trials depend on. With another key another series begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    pub skill: Digest,
    pub suite: Digest,
    /// Executor and judge, with what makes each answer as it does.
    pub agents: BTreeMap<String, Fingerprint>,
    /// By role, the model that answered most calls, as far as the agent reports it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, String>,
    /// The agents in words.
    pub shown: Box<str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub calls: u64,
    pub tokens: u64,
    pub usd: f64,
    pub seconds: f64,
    /// Calls whose cost nobody knows.
    pub unpriced: u64,
}

impl Key {
    /// Whether the same is tried on the same.
    pub fn has_content_of(&self, other: &Self) -> bool {
        (self.skill, self.suite) == (other.skill, other.suite)
    }

    /// Whether the same agents do it, by all that is known of them.
    pub fn has_agents_of(&self, other: &Self) -> bool {
        let is_same =
            |(role, model): (&String, &String)| other.models.get(role).is_none_or(|one| one == model);
        self.agents == other.agents && self.models.iter().all(is_same)
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.has_content_of(other) && self.has_agents_of(other)
    }

    /// In what the agents are others now.
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

    /// The agents with their models.
    pub fn told(&self) -> String {
        let models: Vec<String> = self.models.iter().map(|(role, model)| format!("{role} {model}")).collect();
        if models.is_empty() {
            self.shown.to_string()
        } else {
            format!("{} ({})", self.shown, models.join(", "))
        }
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
        }
    }

    /// What came on top of what was spent before.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            tokens: self.tokens.saturating_sub(before.tokens),
            usd: (self.usd - before.usd).max(0.0),
            seconds: (self.seconds - before.seconds).max(0.0),
            unpriced: self.unpriced.saturating_sub(before.unpriced),
        }
    }
}

impl Work {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Measure { .. } => "measured",
            Self::Again { .. } => "measured again",
            Self::Resume { .. } => "resumed",
            Self::Tune => "tuned",
        }
    }

    /// Whether it can change a skill.
    pub fn is_search(&self) -> bool {
        match self {
            Self::Measure { .. } | Self::Again { .. } => false,
            Self::Resume { .. } | Self::Tune => true,
        }
    }
}

#[cfg(test)]
mod tests;
