//! Tells deleted files from wrong paths: git's last commit still has a deleted file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::git::{Changed, Git, root};

use crate::casting::git;
use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// Returns those of some paths that are deleted files. All must be in the repository of the first one. Without git, a
/// repository or a commit, there are none.
pub fn deleted(paths: &[PathBuf], env: &Environment) -> Result<HashSet<PathBuf>, Complaint> {
    let missing: Vec<_> = paths.iter().filter_map(|path| Some((path, missing(path)?))).collect();
    let Some((_, (folder, _))) = missing.first() else { return Ok(HashSet::new()) };
    let Ok(git) = git(env) else { return Ok(HashSet::new()) };
    let changed = under_guard(1, Changed::default, |_, room| {
        let (git, folder) = (git.clone(), folder.clone());
        move |pool, cancel_token| {
            let git = Git::new(&git, &room, &room, &pool, &cancel_token);
            let changed = root(&git, &folder).and_then(|root| Changed::since(&git, &root, "HEAD"));
            changed.unwrap_or_default()
        }
    })?;
    let changed: HashSet<&Path> = changed.iter().flat_map(Changed::paths).collect();
    let is_deleted = |real: &PathBuf| changed.contains(real.as_path());
    let deleted = missing.iter().filter(|(_, (_, real))| is_deleted(real));
    Ok(deleted.map(|(path, _)| (*path).clone()).collect())
}

/// Returns the nearest folder above a missing path, and the path below its real one.
fn missing(path: &Path) -> Option<(PathBuf, PathBuf)> {
    path.symlink_metadata().is_err().then_some(())?;
    let folder = path.ancestors().find(|above| above.is_dir())?;
    let real = folder.canonicalize().ok()?;
    let below = path.strip_prefix(folder).ok()?;
    Some((real.clone(), real.join(below)))
}
