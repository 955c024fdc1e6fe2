//! `reply.json`: the outcome of a call, stored under its key before its journal line is written.
//!
//! Resume and cache are one lookup: first among the run's own calls, including failures, then among the good answers of
//! all runs.

use std::io::ErrorKind;

use serde::{Deserialize, Serialize};
use skilltune_phases::base::id::CallKey;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::event::{self, Failure, FailureKind, Machine, Outcome, Spent};
use skilltune_phases::skills::keys::Keys;

use super::Services;
use crate::agent::Talk;
use crate::disk::{DiskError, SafePath, atomic::Durability};

/// It must fit into a line of the journal.
const LONGEST: usize = 12 << 20;
const TOO_LONG: &str = "its answer takes more than 12 MiB to write down";
const NOTHING_LEFT: &str = "its answer has keys in places where no text belongs";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct Reply<L: Loop> {
    pub(super) key: CallKey,
    #[serde(with = "event::outcome", bound = "")]
    pub(super) outcome: Outcome<L::Answer>,
    pub(super) spent: Spent,
    /// The agent's report besides its answer, if there is one: for information only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) talk: Option<Talk>,
    /// The machine of the worker that made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) machine: Option<Machine>,
}

impl<L: Loop> Reply<L> {
    /// Removes the keys from all texts.
    pub(super) fn without_keys(self, keys: &Keys) -> Self {
        let (key, spent, machine) = (self.key, self.spent, self.machine.clone());
        keys.hide_in(self).unwrap_or_else(|_| {
            let outcome = Err(Failure::new(FailureKind::OffSchema, NOTHING_LEFT));
            Self { key, outcome, spent, talk: None, machine }
        })
    }

    /// The reply of a call that began nothing, and cost nothing.
    pub(super) fn failed(key: CallKey, failure: Failure) -> Self {
        let spent = Spent { usd: Some(0.0), ..Spent::default() };
        Self { key, outcome: Err(failure), spent, talk: None, machine: None }
    }
}

impl Services {
    /// Returns the stored reply to a call, if there is one; a cached one costs nothing again.
    pub(super) fn stored_reply<L: Loop>(
        &self,
        key: CallKey,
        role: &Role,
        is_shared: bool,
    ) -> Option<Reply<L>> {
        let read = |at| self.cache.read(&at).filter(|reply: &Reply<L>| reply.key == key);
        let own = read(self.own_reply(key));
        if own.as_ref().is_some_and(|reply| is_shared && reply.outcome.is_ok()) {
            // The process that stored it may have been killed before sharing it.
            let _ = self.cache.share(key, &self.own_reply(key));
        }
        own.or_else(|| {
            let reply = read(self.cache.place_of(key)).filter(|_| is_shared)?;
            let model = reply.talk.as_ref().and_then(|talk| talk.model.as_ref());
            // A service may change the model behind the same name of an agent.
            let is_outdated = model.zip(self.models.get(role)).is_some_and(|(model, now)| model != now);
            let spent = Spent { cached: true, ..Spent::default() };
            (!is_outdated).then_some(Reply { spent, ..reply })
        })
        .filter(|reply: &Reply<L>| {
            reply.outcome.as_ref().map_or(true, |answer| self.still_holds::<L>(answer))
        })
    }

    /// Stores a reply, and returns it as stored: a reply that is too long for the journal is a failed call.
    pub(super) fn store_reply<L: Loop>(
        &self,
        mut reply: Reply<L>,
        is_shared: bool,
    ) -> Result<Reply<L>, DiskError> {
        let mut text = self.cache.seal(&reply);
        if text.len() > LONGEST {
            (reply.outcome, reply.talk) = (Err(Failure::new(FailureKind::TooLarge, TOO_LONG)), None);
            text = self.cache.seal(&reply);
        }
        let own = self.own_reply(reply.key);
        own.replace(&text, Durability::Order)?;
        if reply.outcome.is_ok() && is_shared {
            // Both names are ours and are never written again. If the hard link fails, the next run pays for the answer
            // once more, which is no reason to end this one. An answer that is already there but was not used has lost
            // its trees, is of an older model, or is not ours.
            let shared = self.cache.share(reply.key, &own);
            if shared.is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
                let cached = self.cache.place_of(reply.key);
                let _ = cached.remove().and_then(|()| self.cache.share(reply.key, &own));
            }
        }
        Ok(reply)
    }

    fn own_reply(&self, key: CallKey) -> SafePath {
        self.folder.call(key).join("reply.json")
    }

    /// Whether the trees that an answer names, and all their parts, are still in the store.
    fn still_holds<L: Loop>(&self, answer: &L::Answer) -> bool {
        L::trees(answer).into_iter().all(|tree| self.objects.contains_tree(tree))
    }
}
