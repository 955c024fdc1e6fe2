//! Where things stand under `.skilltune/`.

use std::path::{Path, PathBuf};

use skilltune_phases::id::CallKey;
use skilltune_phases::plan::RunId;

use crate::atomic::{self, Durability, TEMP_PREFIX};
use crate::clear::clear;
use crate::disk::{DiskError, OnDisk};

/// The `.skilltune` folder of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

/// One run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    root: PathBuf,
}

impl Home {
    /// The state of the project at `project`; nothing is made yet.
    pub fn of(project: &Path) -> Self {
        Self { root: project.join(".skilltune") }
    }

    /// Makes the folder, which ignores itself in git.
    ///
    /// A repository may have put something else in its place; through a link we would write where it leads.
    pub fn create(&self) -> Result<(), DiskError> {
        check([self.root.clone(), self.objects(), self.cache(), self.runs()])?;
        for folder in [self.objects(), self.cache(), self.runs()] {
            std::fs::create_dir_all(&folder).on_disk("make the folder", &folder)?;
        }
        let ignore = self.root.join(".gitignore");
        if ignore.symlink_metadata().is_err() {
            atomic::replace(&ignore, b"*\n", Durability::Order)?;
        }
        Ok(())
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that `.skilltune` stands in.
    pub fn project(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    pub fn objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    pub fn run(&self, id: &RunId) -> RunFolder {
        RunFolder { root: self.runs().join(&id.0) }
    }
}

impl RunFolder {
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether everything that we write into is really a folder here.
    pub fn check(&self) -> Result<(), DiskError> {
        check([self.root.clone(), self.agents(), self.root.join("iterations")])
    }

    /// Removes what a killed program has left here under temporary names; only for whoever holds the run's locks.
    pub fn sweep(&self) -> Result<(), DiskError> {
        let is_left = |entry: &walkdir::DirEntry| {
            entry.file_name().as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes())
        };
        let mut entries = walkdir::WalkDir::new(&self.root).into_iter();
        while let Some(entry) = entries.next() {
            let Some(entry) = entry.ok().filter(is_left) else { continue };
            let path = entry.path();
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
                clear(path)?;
            } else {
                std::fs::remove_file(path).on_disk("remove", path)?;
            }
        }
        Ok(())
    }

    pub fn history(&self) -> PathBuf {
        self.root.join("history.jsonl")
    }

    pub fn state(&self) -> PathBuf {
        self.root.join("iteration-state.json")
    }

    pub fn call(&self, key: CallKey) -> PathBuf {
        self.root.join("agents").join(key.short())
    }

    pub fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    pub fn iteration(&self, number: u32) -> PathBuf {
        self.root.join("iterations").join(format!("iteration-{number}"))
    }

    pub fn report(&self) -> PathBuf {
        self.root.join("final-report.md")
    }

    pub fn report_json(&self) -> PathBuf {
        self.root.join("report.json")
    }
}

/// What is there must be a folder, and no link to one.
fn check(folders: impl IntoIterator<Item = PathBuf>) -> Result<(), DiskError> {
    for folder in folders {
        match folder.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => {
                Err(std::io::Error::from(std::io::ErrorKind::NotADirectory)).on_disk("write in", &folder)?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => Err(error).on_disk("look at", &folder)?,
        }
    }
    Ok(())
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
            assert!(home.create().is_err(), "{linked:?}");
            assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{linked:?}");
        }
    }

    #[test]
    fn the_state_folder_ignores_itself() {
        let project = tempfile::tempdir().unwrap();
        Home::of(project.path()).create().unwrap();
        assert_eq!(fs::read_to_string(project.path().join(".skilltune/.gitignore")).unwrap(), "*\n");
    }
}
