//! What `gan` is asked to do: a brief, what was given with it, what it is judged by, and the numbers that end it.

use serde::{Deserialize, Serialize};

use super::contract::Contract;
use super::inspect::{Given, Preview};
use super::rules::Rules;
use crate::checks::Commands;
use crate::id::TreeId;
use crate::proposal::Form;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// A short name that the brief's title gives.
    pub name: String,
    pub brief: Brief,
    pub level: Level,
    /// Both sides agree to a contract first. Otherwise it is what the profile asks.
    pub negotiated: bool,
    /// The name of the profile, and all that it asks.
    pub profile: Box<str>,
    pub asked: Contract,
    /// What was given with the brief, as data and as the files that it came in.
    pub given: Given,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materials: Option<TreeId>,
    /// What is there at first: an empty folder, if nothing is.
    pub start: TreeId,
    /// Symlinks that lead out of that folder, as text: agents do not get them, and no edit changes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_outside: Vec<String>,
    /// Where the result goes, if it goes anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    #[serde(default)]
    pub apply: Apply,
    pub rules: Rules,
    /// How often an answer that cannot be used is asked for again.
    pub retries: u32,
    /// What is done with the commands of test scenarios, and how long each may take.
    pub commands: Commands,
    pub command_seconds: u64,
    /// What looks at the artifact in a browser, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Browser>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The name of its file.
    pub file: String,
    pub text: Box<str>,
}

/// What becomes of a result that has passed, or that a person has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apply {
    /// It is put into its folder.
    #[default]
    Auto,
    /// It stays among the run's files.
    Never,
    /// A person takes it from a commit.
    Propose(Form),
}

/// How much is done to be sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// What the profile asks is the contract.
    Minimal,
    /// A contract is agreed to where that is asked for.
    Standard,
    /// A contract is always agreed to, and a pass is judged twice.
    Thorough,
}

impl Level {
    pub fn word(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Standard => "standard",
            Self::Thorough => "thorough",
        }
    }
}

/// The command that looks at an artifact in a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Browser {
    pub argv: Vec<String>,
    pub seconds: u64,
    /// The system confines it to its workspace.
    pub confined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}
