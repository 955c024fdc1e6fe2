//! What is reviewed: uncommitted changes, what a revision lacks, a range of revisions, or a folder as it is.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::git::{
    ChangeSet, ChangedError, FileChange, Git, GitError, Range, RangeError, RevisionError, commit, on_disk,
    root,
};
use skilltune_orchestrator::snapshot::{CaptureError, IgnoreRules, Limits, RelPath, scan};

use crate::casting::git;
use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::{Complaint, ErrorKind, ours};
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

/// A larger folder is not reviewed in one piece.
const LIMITS: Limits = Limits { files: 3_000, bytes: 64 << 20 };

#[derive(Clone, Debug)]
pub struct Subject {
    /// The folder whose files are reviewed, as a real path.
    pub root: PathBuf,
    /// What is reviewed, such as `uncommitted changes of /project`.
    pub words: String,
    pub changes: ChangeSet,
    /// The commit whose files decide about the review; none outside of a repository.
    pub decides: Option<Commit>,
}

/// A commit of the repository with this root.
#[derive(Clone, Debug)]
pub struct Commit {
    pub repository: PathBuf,
    pub id: String,
}

/// What a person may name.
enum Named {
    Range(Range, String),
    Folder(PathBuf),
}

impl Subject {
    pub fn read(what: Option<&str>, env: &Environment) -> Result<Self, Complaint> {
        match named(what, env)? {
            Named::Range(range, words) => of_range(&range, &words, env),
            Named::Folder(path) => of_folder(&path, env),
        }
    }
}

fn named(what: Option<&str>, env: &Environment) -> Result<Named, Complaint> {
    let Some(what) = what else {
        return Ok(Named::Range(Range::Since("HEAD".to_owned()), "uncommitted changes".to_owned()));
    };
    if what.is_empty() {
        return Err(Complaint::input("the change to review has an empty name")
            .hint("leave it out to review uncommitted changes; pass . to review a whole folder"));
    }
    if env.cwd.join(what).symlink_metadata().is_ok() {
        return Ok(Named::Folder(env.named(Path::new(what))?));
    }
    let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
    Ok(match what.split_once("..") {
        Some((from, to)) => {
            let range = Range::Between(or_head(from), or_head(to.trim_start_matches('.')));
            Named::Range(range, format!("changes of {what}"))
        }
        None => Named::Range(Range::Since(what.to_owned()), format!("changes since {what}")),
    })
}

fn of_range(range: &Range, words: &str, env: &Environment) -> Result<Subject, Complaint> {
    let work = {
        let (range, cwd) = (range.clone(), env.cwd.clone());
        move |git: &Git<'_>| {
            let root = root(git, &cwd)?;
            let changes = range.read(git, &root)?;
            Ok((root, changes))
        }
    };
    let (root, changes) = with_git(env, work)?.map_err(|error| refused(words, &error))?;
    let root = root.canonicalize().unwrap_or(root);
    let decides = changes.base.clone().map(|id| Commit { repository: root.clone(), id });
    Ok(Subject { words: one_line(&format!("{words} of {}", called(&root))), root, changes, decides })
}

/// Reads a folder, or one file of it. Its last commit decides about the review, where there is one.
fn of_folder(path: &Path, env: &Environment) -> Result<Subject, Complaint> {
    let cannot = |why: &str| Complaint::input(format!("cannot review {}: {why}", path.display()));
    let real = path.canonicalize().map_err(|error| cannot("it cannot be opened").caused_by(error))?;
    if env.holds_everything(&real) {
        return Err(cannot("it holds all of your files").hint("pass a folder of one project"));
    }
    let (folder, only) = match (real.is_dir(), real.parent()) {
        (false, Some(parent)) => (parent.to_owned(), real.file_name()),
        _ => (real.clone(), None),
    };
    let paths = match only {
        Some(name) => vec![RelPath::below(None, name).map_err(ours)?],
        None => {
            files(&folder).map_err(|error| cannot("it is too large, or cannot be read").caused_by(error))?
        }
    };
    let mut changes = ChangeSet::default();
    for path in paths {
        let after = on_disk(&folder, &path).map_err(|error| cannot("it cannot be read").caused_by(error))?;
        changes.files.push(FileChange { path, before: None, after });
    }
    let work = {
        let folder = folder.clone();
        move |git: &Git<'_>| {
            let root = root(git, &folder)?;
            let id = commit(git, &root, "HEAD")?;
            Ok(Commit { repository: root.canonicalize().unwrap_or(root), id })
        }
    };
    // Without git, a repository or a commit, nothing decides.
    let decides = git(env).ok().and_then(|_| with_git(env, work).ok()?.ok());
    Ok(Subject { words: one_line(&format!("all of {}", called(&real))), root: folder, changes, decides })
}

/// Returns the name of a folder: a comment for others should not show where it is on this machine.
fn called(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn files(folder: &Path) -> Result<Vec<RelPath>, CaptureError> {
    let manifest = scan(folder, Some(IgnoreRules::of(folder)?), LIMITS)?;
    let files = manifest.entries().iter().filter(|entry| !entry.node.is_folder());
    Ok(files.map(|entry| entry.path.clone()).collect())
}

/// Runs git in the user's repository, under guard.
pub fn with_git<T: Send + 'static>(
    env: &Environment,
    work: impl FnOnce(&Git<'_>) -> Result<T, RangeError> + Clone + Send + 'static,
) -> Result<Result<T, RangeError>, Complaint> {
    let program = git(env).map_err(|_| {
        Complaint::input("cannot find the changes: `git` is not installed")
            .hint("pass a folder to review it as it is")
    })?;
    let lost = || {
        let said = "it was interrupted".to_owned();
        Err(RangeError::Changed(ChangedError::Git(GitError::Failed { code: None, said })))
    };
    let mut done = under_guard(1, lost, |_, room| {
        let (work, program) = (work.clone(), program.clone());
        move |pool, cancel_token| work(&Git::new(&program, &room, &room, &pool, &cancel_token))
    })?;
    Ok(done.remove(0))
}

pub fn refused(words: &str, error: &RangeError) -> Complaint {
    let hint = match error {
        RangeError::Changed(ChangedError::NoRepository(_)) => {
            "pass a folder to review it as it is: skilltune review DIR"
        }
        RangeError::Changed(ChangedError::NoRevision(name)) if name == "HEAD" => {
            "the repository has no commit yet; pass a folder to review it as it is"
        }
        RangeError::Changed(ChangedError::NoRevision(_)) => {
            "pass a folder, a revision such as main, or a range such as main..topic"
        }
        RangeError::TooLarge | RangeError::Changed(ChangedError::TooMany) => {
            "review a smaller range, or one folder: skilltune review DIR"
        }
        RangeError::Changed(ChangedError::Git(GitError::Failed { said, .. }))
        | RangeError::Revision(RevisionError::Git(GitError::Failed { said, .. }))
            if said.contains("dubious ownership") =>
        {
            "if you trust the repository, add it to safe.directory in your git configuration"
        }
        _ => "check that `git diff` works there",
    };
    let what = format!("cannot read the {}", one_line(words));
    let complaint = Complaint { what, ..Complaint::of(ErrorKind::Input, error) };
    Complaint { causes: [vec![one_line(&error.to_string())], complaint.causes].concat(), ..complaint }
        .hint(hint)
}
