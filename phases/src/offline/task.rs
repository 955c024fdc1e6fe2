//! What the built-in agent is told, in place of a prompt.

use serde::{Deserialize, Serialize};

use crate::contract::Contract;

/// Paths are those within the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case", deny_unknown_fields)]
pub enum Task {
    Execute {
        skill: Folder,
        /// What the member before this one has left.
        input: Option<String>,
        /// The scenario's own, if it has one.
        command: Option<Vec<String>>,
    },
    Evaluate {
        verdict_of: String,
        contract: Contract,
        /// In the order of the chain.
        members: Vec<Judged>,
    },
    Improve {
        skill: Folder,
        contract: Contract,
        /// What was said of earlier changes that were not kept.
        tried: Vec<String>,
    },
}

/// A skill, and where it stands.
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
