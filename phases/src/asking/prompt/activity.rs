//! The agent's activity in a trial, for a judge or an improver: a digest of the agent's own report, in a fence.

use serde::Serialize;

use super::fence::{fence, plain};

#[derive(Serialize)]
pub(super) struct Activity {
    /// A member of a chain, or a scenario.
    name: String,
    digest: String,
}

pub(super) fn activity(seed: &str, name: &str, digest: &str) -> Activity {
    Activity { name: plain(name), digest: fence(seed, &format!("what the agent did: {name}"), digest) }
}
