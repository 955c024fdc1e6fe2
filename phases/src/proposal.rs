//! How an improvement is handed to a person who works with git: as a commit of its own, which they merge or discard.

use serde::{Deserialize, Serialize};

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A branch of the repository that holds the skill.
    Branch,
    /// A file that `git am` takes.
    Patch,
    /// A branch that is pushed, and asked to be merged.
    #[serde(rename = "pr")]
    PullRequest,
}

/// A commit that was made, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub commit: Box<str>,
    /// The commit that it changes.
    pub base: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Box<str>>,
    /// The name of the remote that has the branch too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Box<str>>,
    /// The address of the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<Box<str>>,
    /// The name of the file in the folder of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Box<str>>,
    /// Why it is not what was asked for, if it is not, and what else a person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Box<str>>,
}

impl Form {
    pub fn word(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Patch => "patch",
            Self::PullRequest => "pr",
        }
    }
}
