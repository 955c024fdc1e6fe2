//! `reply.json`: what a call came to, stored under its key before its line is written.
//!
//! Resume and cache are one look-up: first among the run's own calls, where failures count too, then among the good
//! answers of all runs.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skilltune_phases::event::{Outcome, Spent};
use skilltune_phases::id::CallKey;

use super::Workshop;
use crate::agent::Talk;
use crate::atomic::{self, Durability};
use crate::disk::DiskError;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) key: CallKey,
    pub(super) outcome: Outcome,
    pub(super) spent: Spent,
    /// What the agent told on the way, if it is one that does: for whoever wants to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) talk: Option<Talk>,
}

impl Workshop {
    /// The stored reply to a call, if there is one; a cached one costs nothing again.
    pub(super) fn stored_reply(&self, key: CallKey) -> Option<Reply> {
        let own = read(&self.own_reply(key), key);
        own.or_else(|| {
            let reply = read(&self.cached_reply(key), key)?;
            Some(Reply { spent: Spent { cached: true, ..Spent::default() }, ..reply })
        })
        .filter(|reply| self.still_holds(&reply.outcome))
    }

    pub(super) fn store_reply(&self, reply: &Reply) -> Result<(), DiskError> {
        let text = serde_json::to_vec(reply).expect("a reply has a JSON text");
        let own = self.own_reply(reply.key);
        atomic::replace(&own, &text, Durability::Order)?;
        if !matches!(reply.outcome, Outcome::Failed(_)) {
            // Both names are our own and neither is ever written again. Without the link the answer is paid for
            // once more in the next run, which is no reason to end this one.
            let _ = std::fs::hard_link(&own, self.cached_reply(reply.key));
        }
        Ok(())
    }

    fn own_reply(&self, key: CallKey) -> PathBuf {
        self.folder.call(key).join("reply.json")
    }

    fn cached_reply(&self, key: CallKey) -> PathBuf {
        self.cache.join(format!("{key}.json"))
    }

    /// Whether the trees that an answer names are still in the store.
    fn still_holds(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Exercised { artifacts: tree, .. } | Outcome::Improved { tree, .. } => {
                self.objects.contains_tree(*tree)
            }
            Outcome::Judged(_)
            | Outcome::Chosen(_)
            | Outcome::Promoted
            | Outcome::Conflict { .. }
            | Outcome::Failed(_) => true,
        }
    }
}

/// A reply that cannot be read, or is another call's, is none.
fn read(path: &Path, key: CallKey) -> Option<Reply> {
    let text = std::fs::read(path).ok()?;
    serde_json::from_slice(&text).ok().filter(|reply: &Reply| reply.key == key)
}
