//! The task of the built-in agent, which replaces a prompt.

use serde::{Deserialize, Serialize};

use crate::judging::contract::Contract;

/// A task. Its paths are relative to the workspace.
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
