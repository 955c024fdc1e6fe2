//! The built-in agent: no model, it uses only what the files show.
//!
//! ```text
//! Order --> Task --> walk | a command        the executor: loads the skill as an agent would
//!               \--> judge(task, folders)    the evaluator: what diagnostics can answer, and nothing else
//!                \-> improve(files, tried)   the improver: one kind of repair that keeps every meaning
//! ```
//!
//! Its results are deterministic. What structure cannot show stays `unverified`, and every report names it structural.

mod improve;
mod judge;
mod walk;

use serde::{Deserialize, Serialize};

use crate::judging::contract::Contract;

pub use improve::{Improved, improve};
pub use judge::{Ran, judge};
pub use walk::walk;

/// A task of the built-in agent, which replaces a prompt. Its paths are relative to the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case", deny_unknown_fields)]
pub enum Task {
    Execute {
        skill: Folder,
        /// The output of the member before this one.
        input: Option<String>,
        /// The scenario's own command, if any.
        command: Option<Vec<String>>,
    },
    Evaluate {
        verdict_of: String,
        contract: Contract,
        /// The members in the order of the chain.
        members: Vec<Judged>,
    },
    Improve {
        skill: Folder,
        contract: Contract,
        /// The summaries of earlier changes that were not kept.
        tried: Vec<String>,
    },
}

/// A skill and its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    pub name: String,
    pub at: String,
}

/// A member that was executed, or would have been.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    pub skill: Folder,
    pub artifacts: Option<String>,
}

/// The agent's name in commands and settings.
pub const NAME: &str = "offline";

/// The agent's name in reports and state.
pub const SHOWN: &str = "offline (structural)";

/// Returns an agent's name for people.
pub fn shown(agent: &str) -> &str {
    if agent == NAME { SHOWN } else { agent }
}

#[cfg(test)]
mod tests;
