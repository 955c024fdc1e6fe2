//! The paths under `.skilltune/`, and the check that skilltune created it.
//!
//! A repository can contain one. Every path here is a [`SafePath`], and a command begins with [`Home::require_ours`]:
//! if skilltune would not have made the layout, it reports it and writes or deletes nothing in it.

use std::path::Path;

use rustix::fs::FileType;
use skilltune_phases::base::id::{CallKey, Digest};
use skilltune_phases::runs::plan::RunId;

use crate::disk::atomic::{Durability, TEMP_PREFIX};
use crate::disk::{DiskError, Folder, SafePath};
use crate::snapshot::Objects;

/// Private to its owner: prompts, answers and copies of skills may be private.
const OWNERS: u32 = 0o700;

/// The maximum length of an argument.
const LONGEST_REASON: u64 = 128 << 10;

/// The `.skilltune` folder of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: SafePath,
}

/// The folder of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    root: SafePath,
}

#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("{path} was not created by skilltune: {why}")]
    Strange { path: String, why: String },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Home {
    /// Returns the state of the project at `project`; creates nothing yet.
    pub fn of(project: &Path) -> Self {
        Self { root: SafePath::below(project, ".skilltune") }
    }

    /// Creates the folder, with a rule that makes git ignore it.
    pub fn create(&self) -> Result<(), HomeError> {
        self.require_ours()?;
        let root = self.root.make_folder()?;
        if root.mode()? & 0o7777 != OWNERS {
            root.set_mode(OWNERS)?;
        }
        for folder in [self.objects(), self.cache(), self.runs()] {
            folder.make_folder()?;
        }
        let ignore = self.root.join(".gitignore");
        if !ignore.exists() {
            ignore.replace(b"*\n", Durability::Order)?;
        }
        Ok(())
    }

    /// Fails if the state folder has a symlink, or anything else that skilltune does not make, at one of its paths.
    ///
    /// Deeper paths are walked without following symlinks; this check rejects the whole command before it begins.
    pub fn require_ours(&self) -> Result<(), HomeError> {
        let folders = [self.root.clone(), self.objects(), self.cache(), self.runs(), self.nights()];
        for folder in &folders {
            require(folder, FileType::Directory)?;
        }
        require(&self.lock_file(), FileType::RegularFile)?;
        if let Some(strange) = Objects::at(self.objects()).strange_names()?.first() {
            return Err(strange_at(&self.objects().join(strange), "its name is not that of a stored object"));
        }
        Ok(())
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Returns the folder that contains `.skilltune`.
    pub fn project(&self) -> &Path {
        self.root().parent().unwrap_or(self.root())
    }

    pub fn objects(&self) -> SafePath {
        self.root.join("objects")
    }

    pub fn cache(&self) -> SafePath {
        self.root.join("cache")
    }

    pub fn runs(&self) -> SafePath {
        self.root.join("runs")
    }

    /// Returns the state of nightly jobs.
    pub fn nights(&self) -> SafePath {
        self.root.join("nights")
    }

    pub fn ignore_file(&self) -> SafePath {
        self.root.join(".gitignore")
    }

    pub(super) fn lock_file(&self) -> SafePath {
        self.root.join("lock")
    }

    pub fn run(&self, id: &RunId) -> RunFolder {
        RunFolder { root: self.runs().join(id.as_str()) }
    }
}

impl RunFolder {
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn place(&self) -> &SafePath {
        &self.root
    }

    /// Returns the value of the environment variable that marks this run's processes. It differs from every other
    /// run's, even of the same name elsewhere. It does not reveal the path of the folder.
    pub fn mark(&self) -> String {
        let path = self.root();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}-{}", Digest::of(path.as_os_str().as_encoded_bytes()).short())
    }

    /// Creates the folder and its folder of calls.
    pub fn create(&self) -> Result<(), DiskError> {
        self.agents().make_folder().map(|_| ())
    }

    /// Removes temporary files that a killed program left here. The caller must hold the run's locks.
    ///
    /// Our files are at most this deep; an agent's files are deeper and may have any name.
    pub fn sweep(&self) -> Result<(), DiskError> {
        const ITERATION_FILES: usize = 5;
        self.root.folder()?.map_or(Ok(()), |root| sweep(&root, ITERATION_FILES))
    }

    pub fn history(&self) -> SafePath {
        self.root.join("history.jsonl")
    }

    pub fn state(&self) -> SafePath {
        self.root.join("iteration-state.json")
    }

    pub fn call(&self, key: CallKey) -> SafePath {
        self.agents().join(key.short())
    }

    pub fn agents(&self) -> SafePath {
        self.root.join("agents")
    }

    pub fn iteration(&self, number: u32) -> SafePath {
        self.root.join("iterations").join(format!("iteration-{number}"))
    }

    pub fn report(&self) -> SafePath {
        self.root.join("final-report.md")
    }

    /// Stores the reason of a stop until the process that works on the run has written it into the journal.
    pub fn keep_stop_reason(&self, reason: Option<&str>) -> Result<(), DiskError> {
        match reason {
            Some(reason) => self.stop().replace(reason.as_bytes(), Durability::Order),
            None => self.stop().remove(),
        }
    }

    /// Reads the reason of a stop. If it cannot be read, the run stops without one.
    pub fn stop_reason(&self) -> Option<String> {
        self.stop().text(LONGEST_REASON).ok().filter(|reason| !reason.is_empty())
    }

    fn stop(&self) -> SafePath {
        self.root.join("stop-reason")
    }

    pub fn report_json(&self) -> SafePath {
        self.root.join("report.json")
    }

    /// The report for a browser.
    pub fn page(&self) -> SafePath {
        self.root.join("report.html")
    }

    /// The pages that it leads to.
    pub fn data(&self) -> SafePath {
        self.root.join("data")
    }

    /// The input of skill-creator's viewer.
    pub fn viewer(&self) -> SafePath {
        self.root.join("viewer")
    }

    pub fn junit(&self) -> SafePath {
        self.root.join("junit.xml")
    }
}

fn sweep(folder: &Folder, deep: usize) -> Result<(), DiskError> {
    for name in folder.names(usize::MAX)? {
        if name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes()) {
            folder.remove_tree(&name)?;
        } else if deep > 0
            && let Some(child) = folder.child(&name)?
        {
            sweep(&child, deep - 1)?;
        }
    }
    Ok(())
}

/// Fails if an existing entry has another type. Symlinks are not followed.
fn require(path: &SafePath, wanted: FileType) -> Result<(), HomeError> {
    match path.stat()?.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        None => Ok(()),
        Some(found) if found == wanted => Ok(()),
        Some(FileType::Symlink) => Err(strange_at(path, "it is a symlink")),
        Some(_) if wanted == FileType::Directory => Err(strange_at(path, "it is not a folder")),
        Some(_) => Err(strange_at(path, "it is not a regular file")),
    }
}

fn strange_at(path: &SafePath, why: &str) -> HomeError {
    HomeError::Strange { path: path.path().display().to_string(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_state_folder_that_is_a_link_is_not_written_through() {
        for linked in ["", "objects", "cache", "runs"] {
            let project = tempfile::tempdir().unwrap();
            let elsewhere = tempfile::tempdir().unwrap();
            let home = Home::of(project.path());
            let link = if linked.is_empty() { home.root().to_owned() } else { home.root().join(linked) };
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(elsewhere.path(), &link).unwrap();
            let refused = home.create().unwrap_err().to_string();
            assert!(refused.contains("it is a symlink"), "{refused}");
            assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{linked:?}");
        }
    }

    #[test]
    fn the_state_folder_ignores_itself() {
        let project = tempfile::tempdir().unwrap();
        Home::of(project.path()).create().unwrap();
        assert_eq!(fs::read_to_string(project.path().join(".skilltune/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn a_state_folder_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let project = tempfile::tempdir().unwrap();
        let root = project.path().join(".skilltune");
        fs::create_dir(&root).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        Home::of(project.path()).create().unwrap();
        for folder in ["", "objects", "cache", "runs"] {
            let mode = root.join(folder).metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o700, "{folder:?}");
        }
    }

    #[test]
    fn two_runs_of_one_name_bear_two_marks() {
        let run: RunId = "pump-20261122-115617".parse().unwrap();
        let mark = |project: &str| Home::of(Path::new(project)).run(&run).mark();
        assert_eq!(mark("/here"), mark("/here"));
        assert_ne!(mark("/here"), mark("/there"));
        assert!(!mark("/here").contains("here"), "it names no folder");
    }

    #[test]
    fn a_layout_that_is_not_ours_is_named() {
        for (strange, is_folder) in
            [("objects/photos", true), ("objects/ab", false), ("runs", false), ("lock", true)]
        {
            let project = tempfile::tempdir().unwrap();
            let path = project.path().join(".skilltune").join(strange);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if is_folder { fs::create_dir(&path) } else { fs::write(&path, "mine") }.unwrap();
            let refused = Home::of(project.path()).require_ours().unwrap_err().to_string();
            assert!(refused.starts_with(path.to_str().unwrap()), "{refused}");
        }
    }
}
