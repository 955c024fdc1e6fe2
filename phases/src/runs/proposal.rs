//! Proposes an improvement to a user of git: as a separate commit, which they merge or discard.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::id::TreeId;
use crate::base::json::is_hidden;
use crate::runs::plan::RunId;

/// The form of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A branch of the skill's repository.
    Branch,
    /// A file for `git am`.
    Patch,
    /// A pushed branch with a pull request.
    #[serde(rename = "pr")]
    PullRequest,
}

/// A commit and its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub commit: Box<str>,
    /// The parent commit.
    pub base: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Box<str>>,
    /// The name of the remote that also has the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Box<str>>,
    /// The address of the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<Box<str>>,
    /// The name of the patch file in the run's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Box<str>>,
    /// Why it differs from what was requested, if it does, and other notes for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Box<str>>,
}

/// The branch, the message and the time of the commit. They are always the same for the same input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub branch: String,
    /// Its last lines are trailers. One of them names the run.
    pub message: String,
    pub at: Timestamp,
}

/// A commit of a proposal that has several, below the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierCommit {
    /// The version of each folder after this commit, in the order of the proposal's moves.
    pub trees: Vec<TreeId>,
    /// Its last lines are trailers. One of them names the run.
    pub message: String,
}

/// The trailers of the message, for scripts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trailers<'a> {
    pub run: &'a RunId,
    /// The proposed version, whatever else the repository has.
    pub version: &'a str,
    pub verdict: &'a str,
}

/// git shows a subject of this width in full.
const SUBJECT: usize = 72;

/// `git am` reads a line that starts so as a header, as the next mail or as changes of files.
const READ_BY_AM: [&str; 9] =
    ["from ", "from:", ">from ", "subject:", "date:", "[patch]", "---", "diff -", "index: "];

impl Words {
    /// Creates the texts. The branch is named after the folders that change.
    pub(crate) fn new(names: &[String], text: (&str, &str), trailers: Trailers<'_>, at: Timestamp) -> Self {
        let branch = names.iter().map(|name| slug(name)).collect::<Vec<_>>().join("+");
        Self { branch: format!("skilltune/{branch}"), message: message(text, trailers, &[]), at }
    }
}

/// Returns the message of a commit. `more` are the names and values of trailers that only this loop writes. Agents may
/// have written any part of the text.
pub(crate) fn message(
    (subject, body): (&str, &str),
    Trailers { run, version, verdict }: Trailers<'_>,
    more: &[(&str, &str)],
) -> String {
    let subject = shortened(&plain(subject));
    let body = body.split('\n').map(body_line).collect::<Vec<_>>().join("\n");
    let more = more.iter().map(|(name, value)| format!("{}: {}\n", plain(name), plain(value)));
    let more = more.collect::<Vec<_>>().concat();
    let ours =
        format!("Skilltune-Run: {run}\nSkilltune-Candidate: {version}\nSkilltune-Verdict: {verdict}\n");
    format!("{subject}\n\n{body}\n\n{ours}{more}")
}

/// Indents a line that would end the message of a patch.
fn body_line(line: &str) -> String {
    let line = plain(line);
    let starts_with =
        |start: &str| line.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    if READ_BY_AM.into_iter().any(starts_with) { format!(" {line}") } else { line }
}

/// Replaces the characters that a branch name cannot have everywhere.
pub fn slug(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// Returns a text on one line, in which nothing drives a terminal or turns a line.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_hidden(c) { ' ' } else { c }).collect()
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

    #[test]
    fn a_message_has_only_our_lines_for_git_and_for_scripts() {
        let run: RunId = "c402-20261123-164437".parse().unwrap();
        let trailers = Trailers { run: &run, version: "c", verdict: "done" };
        let body =
            "It works.\u{202e}\n---\nFrom: x <x@y>\n>from 57 Mon\ndiff --git a/x b/x\n- from here\nüber";
        let more = [("Skilltune-Task", "a\nSkilltune-Tree: b"), ("Skilltune-Criteria", "A1, A2")];
        let message = message(("Add\n\na page", body), trailers, &more);
        let lines = [
            "Add  a page",
            "",
            "It works. ",
            " ---",
            " From: x <x@y>",
            " >from 57 Mon",
            " diff --git a/x b/x",
            "- from here",
            "über",
            "",
            "Skilltune-Run: c402-20261123-164437",
            "Skilltune-Candidate: c",
            "Skilltune-Verdict: done",
            "Skilltune-Task: a Skilltune-Tree: b",
            "Skilltune-Criteria: A1, A2",
            "",
        ];
        assert_eq!(message.split('\n').collect::<Vec<_>>(), lines);
    }
}
