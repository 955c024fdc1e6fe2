//! The task of `gan`: a brief, the files given with it, the profile that judges it, and the numbers that end it.

use serde::{Deserialize, Serialize};

use super::contract::Contract;
use super::inspect::{Given, Preview};
use super::rules::Rules;
use crate::base::id::TreeId;
use crate::runs::proposal::Form;
use crate::suites::checks::Commands;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// A short name, made from the brief's title.
    pub name: String,
    pub brief: Brief,
    pub level: Level,
    /// Whether both sides negotiate a contract first. Otherwise the profile is the contract.
    pub negotiated: bool,
    /// The name of the profile, and the contract that it asks for.
    pub profile: Box<str>,
    pub asked: Contract,
    /// The material given with the brief, as data and as the original files.
    pub given: Given,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materials: Option<TreeId>,
    /// The starting content; an empty folder if there is none.
    pub start: TreeId,
    /// Symlinks that lead out of that folder, as text. Agents do not get them, and no edit changes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_outside: Vec<String>,
    /// The folder for the result, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    #[serde(default)]
    pub apply: Apply,
    pub rules: Rules,
    /// The number of retries after an answer that cannot be used.
    pub retries: u32,
    /// The handling of the commands of test scenarios, and the time limit of each.
    pub commands: Commands,
    pub command_seconds: u64,
    /// The command that checks the artifact in a browser, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Browser>,
    /// The folder in the project that gets the sprints too, if the original's settings name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_dir: Option<ArtifactDir>,
    /// Which settings of the original the run follows, and which settings have no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A folder in a project, for the files of the original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactDir {
    pub project: String,
    /// Its path in the project.
    pub below: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The name of its file.
    pub file: String,
    pub text: Box<str>,
}

/// The destination of a result that has passed, or that a person has accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apply {
    /// The result goes into its folder.
    #[default]
    Auto,
    /// The result stays among the run's files.
    Never,
    /// The result is in a commit, from which a person takes it.
    Propose(Form),
}

/// The thoroughness of the verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The profile is the contract.
    Minimal,
    /// A contract is negotiated if requested.
    Standard,
    /// A contract is always negotiated, and a pass is judged twice.
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

/// The command that checks an artifact in a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Browser {
    pub argv: Vec<String>,
    pub seconds: u64,
    /// The system confines it to its workspace.
    pub confined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}
