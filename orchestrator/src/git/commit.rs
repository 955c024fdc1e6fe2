//! Makes the commits: each has a tree from a temporary index, and is identical when it is made again.

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
    /// None if it has several or none, or is not made yet.
    parent: Option<String>,
    pub message: String,
    /// True if its two times differ; in our commits they never do.
    is_amended: bool,
}

/// The commits of a proposal, each on the one before. The first one is on HEAD.
#[derive(Debug)]
pub(super) struct Series {
    earlier: Vec<Content>,
    pub tip: Content,
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

/// Returns the commits that apply the changes to HEAD, one after the other; none if the last one would have the tree of
/// HEAD. A commit that would have the tree of its parent is omitted. The last lines of each message are trailers.
pub(super) fn series<'a>(
    repository: &Repository<'_>,
    commits: impl Iterator<Item = (&'a Changes, &'a str)>,
    target: &str,
) -> Result<Option<Series>, ProposeError> {
    let index = repository.git.room().join("index");
    let index = index.to_str().ok_or(GitError::Garbled)?;
    let indexed = |command: Command| repository.git.run(command.env("GIT_INDEX_FILE", index));
    indexed(Command::new(["read-tree", &repository.base]))?;
    let head = format!("{}^{{tree}}", repository.base);
    let head = repository.git.id(Command::new(["rev-parse", "--verify", &head]))?;
    let (mut below, mut contents) = (head.clone(), Vec::new());
    for (changes, message) in commits {
        let lines = index_lines(changes, repository.base.len());
        indexed(Command::new(["update-index", "-z", "--index-info"]).input(lines))?;
        // A clone may lack objects that are not needed here.
        let write = Command::new(["write-tree", "--missing-ok"]).env("GIT_INDEX_FILE", index);
        let tree = repository.git.id(write)?;
        if tree != below {
            let message = format!("{message}{TARGET}{target}\n{TREE}{tree}\n");
            contents.push(Content { tree: tree.clone(), parent: None, message, is_amended: false });
            below = tree;
        }
    }
    let tip = contents.pop().filter(|_| below != head);
    Ok(tip.map(|tip| Series { earlier: contents, tip }))
}

/// Returns the changes as input of `git update-index`. An id has this length.
fn index_lines(changes: &Changes, id_length: usize) -> Vec<u8> {
    let none = "0".repeat(id_length);
    let lines = changes.iter().flat_map(|(path, blob)| {
        let head = match blob {
            Some(blob) => format!("{} {}\t", blob.mode.number(), blob.id),
            None => format!("0 {none}\t"),
        };
        [head.as_bytes(), path, b"\0"].concat()
    });
    lines.collect()
}

/// Makes the commits with the given time, in the user's name, and returns the last one.
pub(super) fn make(
    repository: &Repository<'_>,
    series: &Series,
    at: Timestamp,
    is_signed: bool,
) -> Result<String, GitError> {
    let date = format!("{} +0000", at.as_second());
    let sign = is_signed.then_some("-S");
    let mut parent = repository.base.clone();
    for content in series.commits() {
        let arguments = ["commit-tree", &content.tree, "-p", &parent].into_iter().chain(sign);
        let commit = Command::new(arguments.chain(["-F", "-"])).input(content.message.as_bytes());
        let commit = if is_signed { commit.deadline(SIGNING) } else { commit };
        parent = repository.git.id(commit.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date))?;
    }
    Ok(parent)
}

/// Returns true if the commit is the last one of exactly these commits on HEAD.
pub(super) fn is_made(repository: &Repository<'_>, commit: &str, series: &Series) -> Result<bool, GitError> {
    let mut commit = commit.to_owned();
    for wanted in series.commits().rev() {
        let mut known = match read(repository, &commit) {
            // A shallow clone may lack it.
            Err(GitError::Failed { code: Some(_), .. }) => return Ok(false),
            known => known?,
        };
        match known.parent.take() {
            Some(parent) if known == *wanted => commit = parent,
            Some(_) | None => return Ok(false),
        }
    }
    Ok(commit == repository.base)
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
    let mut parents = lines("parent ");
    let parent = parents.next().filter(|_| parents.next().is_none()).map(str::to_owned);
    Ok(Content { tree, parent, message: message.to_owned(), is_amended })
}

impl Series {
    fn commits(&self) -> impl DoubleEndedIterator<Item = &Content> {
        self.earlier.iter().chain([&self.tip])
    }
}

impl Content {
    /// Returns true if skilltune made the commit and it was not amended.
    pub(super) fn is_ours(&self) -> bool {
        !self.is_amended
            && self.trailer(RUN).is_some()
            && self.trailer(TREE) == Some(&self.tree)
            && self.parent.is_some()
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
            parent: None,
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
            parent: Some("b2".to_owned()),
            message: "Improve writer\n\nSkilltune-Run: r\nSkilltune-Tree: a1\n".to_owned(),
            is_amended: false,
        };
        assert!(ours.is_ours());
        let amended = Content { tree: "c3".to_owned(), ..ours.clone() };
        assert!(!amended.is_ours(), "its files are others");
        assert!(!Content { is_amended: true, ..ours.clone() }.is_ours());
        let own = Content { message: "Improve writer\n".to_owned(), ..amended };
        assert!(!own.is_ours());
        let merge = Content { parent: None, ..ours };
        assert!(!merge.is_ours());
    }
}
