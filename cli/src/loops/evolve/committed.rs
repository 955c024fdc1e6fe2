//! The project as the last commit has it, where a person has changed it since.

use std::path::Path;

use skilltune_orchestrator::git::{ChangeSet, ChangedError, FileChange, Git, Range, RangeError, root};
use skilltune_orchestrator::snapshot::{Captured, Objects, RelPath};
use skilltune_phases::base::id::TreeId;

use crate::loops::review::subject::{refused, with_git};
use crate::terminal::complaint::{Complaint, ErrorKind, ours};
use crate::terminal::environment::Environment;

/// Returns the tree of the last commit: the captured project without its uncommitted changes.
pub fn committed(
    project: &Path,
    captured: &Captured,
    objects: &Objects,
    env: &Environment,
) -> Result<TreeId, Complaint> {
    let work = {
        let project = project.to_owned();
        move |git: &Git<'_>| {
            let root = root(git, &project)?;
            let changes = Range::Since("HEAD".to_owned()).read(git, &root)?;
            Ok((root.canonicalize().unwrap_or(root), changes))
        }
    };
    let failed = |error: RangeError| match error {
        RangeError::TooLarge | RangeError::Changed(ChangedError::TooMany) | RangeError::Disk(_) => {
            Complaint::of(ErrorKind::Input, &error).after("cannot read the uncommitted changes").hint(
                "commit large files or let git ignore them, or pass --apply patch, which needs no branch",
            )
        }
        error => refused("uncommitted changes", &error),
    };
    let (root, changes) = with_git(env, work)?.map_err(failed)?;
    let below = project.strip_prefix(&root).unwrap_or(Path::new(""));
    let undo = |FileChange { path, before, after }: FileChange| {
        let path = RelPath::parse(path.as_path().strip_prefix(below).ok()?.as_os_str().as_encoded_bytes());
        Some(FileChange { path: path.ok()?, before: after, after: before })
    };
    let files = changes.files.into_iter().filter_map(undo).collect();
    let undone = ChangeSet { files, ..ChangeSet::default() };
    let manifest = undone.store(&captured.manifest, objects).map_err(failed)?;
    objects.put_manifest(&manifest).map_err(ours)
}
