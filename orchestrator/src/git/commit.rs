//! Makes the commit: a tree from a temporary index, and a commit that is identical when it is made again.

use std::time::Duration;

use jiff::Timestamp;

use super::change::Changes;
use super::error::{ProposeError, refused};
use super::repository::Repository;
use super::runner::{Command, GitError};

/// The content of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub tree: String,
    pub parents: Vec<String>,
    pub message: String,
    /// True if its two times differ; in our commits they never do.
    is_amended: bool,
}

/// The trailers of a message that identify a commit as ours and unchanged.
const RUN: &str = "Skilltune-Run: ";
/// The skills, by their folders in the repository. Another target has its own branch.
const TARGET: &str = "Skilltune-Target: ";
const TREE: &str = "Skilltune-Tree: ";
/// The version of the skills, independent of the rest of the repository.
const CANDIDATE: &str = "Skilltune-Candidate: ";

/// An available key signs at once. A prompt would wait for a user who is away.
const SIGNING: Duration = Duration::from_secs(20);

/// Returns the content of the commit that applies the changes to HEAD. The last lines of `message` are trailers.
pub(super) fn content(
    repository: &Repository<'_>,
    changes: &Changes,
    target: &str,
    message: &str,
) -> Result<Content, ProposeError> {
    let index = repository.git.room().join("index");
    let index = index.to_str().ok_or(GitError::Garbled)?;
    let indexed = |command: Command| repository.git.run(command.env("GIT_INDEX_FILE", index));
    indexed(Command::new(["read-tree", &repository.base]))?;
    let none = "0".repeat(repository.base.len());
    let lines = changes.iter().flat_map(|(path, blob)| {
        let head = match blob {
            Some(blob) => format!("{} {}\t", blob.mode.number(), blob.id),
            None => format!("0 {none}\t"),
        };
        [head.as_bytes(), path, b"\0"].concat()
    });
    indexed(Command::new(["update-index", "-z", "--index-info"]).input(lines.collect::<Vec<u8>>()))?;
    // A clone may lack objects that are not needed here.
    let write = Command::new(["write-tree", "--missing-ok"]).env("GIT_INDEX_FILE", index);
    let tree = repository.git.id(write)?;
    let message = format!("{message}{TARGET}{target}\n{TREE}{tree}\n");
    Ok(Content { tree, parents: vec![repository.base.clone()], message, is_amended: false })
}

/// Makes the commit with the given time, in the user's name.
pub(super) fn make(
    repository: &Repository<'_>,
    content: &Content,
    at: Timestamp,
    is_signed: bool,
) -> Result<String, GitError> {
    let date = format!("{} +0000", at.as_second());
    let parents = content.parents.iter().flat_map(|parent| ["-p", parent]);
    let sign = is_signed.then_some("-S");
    let arguments = ["commit-tree", &content.tree].into_iter().chain(parents).chain(sign).chain(["-F", "-"]);
    let commit = Command::new(arguments).input(content.message.as_bytes());
    let commit = if is_signed { commit.deadline(SIGNING) } else { commit };
    repository.git.id(commit.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date))
}

/// Fails if the user has no name or address configured; we do not invent one.
pub(super) fn require_identity(repository: &Repository<'_>) -> Result<(), ProposeError> {
    for name in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
        let ask = Command::new(["-c", "user.useConfigOnly=true", "var", name]);
        match repository.git.run(ask) {
            Ok(_) => {}
            Err(GitError::Failed { code: Some(_), .. }) => {
                return Err(refused(
                    "git does not know your name and email address",
                    "run `git config --global user.name NAME` and `git config --global user.email ADDRESS`",
                ));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns true if the user signs their commits.
pub(super) fn is_signed(repository: &Repository<'_>) -> Result<bool, GitError> {
    let set = repository.git.find(Command::new(["config", "--type=bool", "--get", "commit.gpgSign"]))?;
    Ok(set.is_some_and(|value| value.starts_with(b"true")))
}

/// Reads the content of a commit of the repository.
pub(super) fn read(repository: &Repository<'_>, commit: &str) -> Result<Content, GitError> {
    let text = repository.git.run(Command::new(["cat-file", "commit", commit]))?;
    let text = String::from_utf8_lossy(&text);
    let (head, message) = text.split_once("\n\n").ok_or(GitError::Garbled)?;
    let lines = |name: &'static str| head.lines().filter_map(move |line| line.strip_prefix(name));
    let tree = lines("tree ").next().ok_or(GitError::Garbled)?.to_owned();
    // `NAME <ADDRESS> SECONDS +0000`: amending a commit changes the second time.
    let time = |line: &str| line.rsplit_once('>').map(|(_, time)| time.to_owned());
    let is_amended = lines("author ").next().map(time) != lines("committer ").next().map(time);
    let parents = lines("parent ").map(str::to_owned).collect();
    Ok(Content { tree, parents, message: message.to_owned(), is_amended })
}

impl Content {
    /// Returns true if skilltune made the commit and it was not amended.
    pub(super) fn is_ours(&self) -> bool {
        !self.is_amended
            && self.trailer(RUN).is_some()
            && self.trailer(TREE) == Some(&self.tree)
            && self.parents.len() == 1
    }

    pub(super) fn has_target_of(&self, other: &Self) -> bool {
        self.trailer(TARGET) == other.trailer(TARGET)
    }

    /// Returns true if the trailers of the text name this commit's tree.
    pub(super) fn has_tree_of(&self, text: &str) -> bool {
        trailer(text, TREE) == Some(&self.tree)
    }

    /// Returns true if the commit proposes the same change, perhaps on another base.
    pub(super) fn is_same_change(&self, text: &str) -> bool {
        let has = |name| trailer(text, name).is_some() && self.trailer(name) == trailer(text, name);
        self.has_tree_of(text) || has(CANDIDATE) && has(TARGET)
    }

    fn trailer(&self, name: &str) -> Option<&str> {
        trailer(&self.message, name)
    }
}

fn trailer<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().rev().find_map(|line| line.strip_prefix(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_version_of_a_skill_is_the_same_change_on_any_commit() {
        let message = |tree: &str, candidate: &str, target: &str| {
            format!(
                "Improve\n\nSkilltune-Candidate: {candidate}\nSkilltune-Target: {target}\nSkilltune-Tree: {tree}\n"
            )
        };
        let ours = Content {
            tree: "a1".to_owned(),
            parents: Vec::new(),
            message: message("a1", "c", "writer"),
            is_amended: false,
        };
        let text = |tree, candidate, target| message(tree, candidate, target).replace('\n', "\r\n") + "More.";
        assert!(
            ours.has_tree_of(&text("a1", "d", "writer")) && ours.is_same_change(&text("a1", "d", "writer"))
        );
        assert!(
            !ours.has_tree_of(&text("b2", "c", "writer")) && ours.is_same_change(&text("b2", "c", "writer"))
        );
        for other in [text("b2", "d", "writer"), text("b2", "c", "other"), String::new()] {
            assert!(!ours.is_same_change(&other), "{other}");
        }
    }

    #[test]
    fn a_commit_that_a_person_made_or_amended_is_not_ours() {
        let ours = Content {
            tree: "a1".to_owned(),
            parents: vec!["b2".to_owned()],
            message: "Improve writer\n\nSkilltune-Run: r\nSkilltune-Tree: a1\n".to_owned(),
            is_amended: false,
        };
        assert!(ours.is_ours());
        let amended = Content { tree: "c3".to_owned(), ..ours.clone() };
        assert!(!amended.is_ours(), "its files are others");
        assert!(!Content { is_amended: true, ..ours.clone() }.is_ours());
        let own = Content { message: "Improve writer\n".to_owned(), ..amended };
        assert!(!own.is_ours());
        let merge = Content { parents: vec!["b2".to_owned(), "d4".to_owned()], ..ours };
        assert!(!merge.is_ours());
    }
}
