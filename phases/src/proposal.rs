//! How an improvement is handed to a person who works with git: as a commit of its own, which they merge or discard.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::plan::RunId;

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

/// The branch, the message and the time of the commit. They are the same whenever they are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub branch: String,
    /// Its last lines are trailers, of which one names the run.
    pub message: String,
    pub at: Timestamp,
}

/// What the trailers tell scripts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trailers<'a> {
    pub run: &'a RunId,
    /// What is proposed, whatever else the repository has.
    pub version: &'a str,
    pub verdict: &'a str,
}

/// Of this width, git shows a subject whole.
const SUBJECT: usize = 72;

impl Words {
    /// The branch has the names of the folders that change.
    pub(crate) fn new(
        names: &[String],
        (subject, body): (&str, &str),
        Trailers { run, version, verdict }: Trailers<'_>,
        at: Timestamp,
    ) -> Self {
        let branch = names.iter().map(|name| slug(name)).collect::<Vec<_>>().join("+");
        let trailers =
            format!("Skilltune-Run: {run}\nSkilltune-Candidate: {version}\nSkilltune-Verdict: {verdict}\n");
        Self {
            branch: format!("skilltune/{branch}"),
            message: format!("{}\n\n{body}\n\n{trailers}", shortened(&plain(subject))),
            at,
        }
    }
}

/// What the name of a branch can hold everywhere.
fn slug(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// On one line, whatever a name holds.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn shortened(subject: &str) -> String {
    if subject.chars().count() <= SUBJECT {
        return subject.to_owned();
    }
    subject.chars().take(SUBJECT - 3).chain("...".chars()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_without_what_git_refuses() {
        assert_eq!(slug("writer-2"), "writer-2");
        assert_eq!(slug("a b..c~^:?*[\\\n.lock"), "a-b--c---------lock");
    }

    #[test]
    fn a_long_subject_is_cut_between_characters() {
        let cut = shortened(&"ü".repeat(100));
        assert_eq!(cut.chars().count(), SUBJECT);
        assert!(cut.ends_with("ü..."));
    }
}
