//! `reply.json`: what a call came to, stored under its key before its line is written.
//!
//! Resume and cache are one look-up: first among the run's own calls, where failures count too, then among the good
//! answers of all runs.

use std::io::ErrorKind;

use serde::{Deserialize, Serialize};
use skilltune_phases::event::{self, Failure, FailureKind, Outcome, Spent};
use skilltune_phases::id::CallKey;
use skilltune_phases::keys::Keys;
use skilltune_phases::loops::Loop;

use super::Workshop;
use crate::agent::Talk;
use crate::disk::{DiskError, SafePath, atomic::Durability};

/// A line of the journal has to hold it.
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
    /// What the agent told on the way, if it is one that does: for whoever wants to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) talk: Option<Talk>,
}

impl<L: Loop> Reply<L> {
    /// The same without keys in anything that was said.
    pub(super) fn without_keys(self, keys: &Keys) -> Self {
        let (key, spent) = (self.key, self.spent);
        keys.hide_in(self).unwrap_or_else(|_| {
            let outcome = Err(Failure::new(FailureKind::OffSchema, NOTHING_LEFT));
            Self { key, outcome, spent, talk: None }
        })
    }
}

impl Workshop {
    /// The stored reply to a call, if there is one; a cached one costs nothing again.
    pub(super) fn stored_reply<L: Loop>(&self, key: CallKey, is_shared: bool) -> Option<Reply<L>> {
        let read = |at| self.cache.read(&at).filter(|reply: &Reply<L>| reply.key == key);
        let own = read(self.own_reply(key));
        if own.as_ref().is_some_and(|reply| is_shared && reply.outcome.is_ok()) {
            // Whoever stored it may have been killed before it was shared.
            let _ = self.cache.share(key, &self.own_reply(key));
        }
        own.or_else(|| {
            let reply = read(self.cache.place_of(key)).filter(|_| is_shared)?;
            Some(Reply { spent: Spent { cached: true, ..Spent::default() }, ..reply })
        })
        .filter(|reply: &Reply<L>| {
            reply.outcome.as_ref().map_or(true, |answer| self.still_holds::<L>(answer))
        })
    }

    /// Stores a reply, and hands it back as it is stored: one that no journal takes is a failed call.
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
            // Both names are our own and neither is ever written again. Without the link the answer is paid for
            // once more in the next run, which is no reason to end this one. An answer that is there already and was
            // not used had lost its trees, or was not ours.
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

    /// Whether the trees that an answer names are still in the store, with all that they are made of.
    fn still_holds<L: Loop>(&self, answer: &L::Answer) -> bool {
        L::trees(answer).into_iter().all(|tree| self.objects.contains_tree(tree))
    }
}
