//! The folder of the original reflex loop in a project, `.ai-factory/evolution/`: runs are written there for its tools.
//!
//! It may come from a malicious repository, so no symlink is followed, and only plain files of limited size are read.
//! It also belongs to people: files of other runs are neither read nor overwritten, and an edited artifact stays.
//!
//! Files are replaced as a whole and not synced: they repeat what the journal holds, and can be written again.

mod artifact;
mod site;
#[cfg(test)]
mod tests;
mod writer;

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use skilltune_phases::loops::reflex::original::Alias;

pub use artifact::Placed;
pub use writer::Writer;

use artifact::ARTIFACT;
use site::{read, step_down, step_down_or_make};

use crate::disk::{DiskError, Folder};
use crate::snapshot::RelPath;

const CURRENT: &str = "current.json";
/// No task has more files.
const MOST_ENTRIES: usize = 20_000;
/// The largest file that is read.
const LARGEST: u64 = 8 << 20;

/// An error in the folder, and how a person can fix it.
#[derive(Debug, thiserror::Error)]
pub enum EvolutionError {
    #[error("{} is {kind}, but the loop needs a folder there; move it away, or choose another folder", path.display())]
    NoFolder { path: PathBuf, kind: EntryKind },
    #[error("{} is {kind}, but the loop needs a file there; move it away", path.display())]
    NoFile { path: PathBuf, kind: EntryKind },
    #[error("{} is larger than {LARGEST} bytes; move it away", .0.display())]
    TooLarge(PathBuf),
    #[error("{} belongs to {}; choose another alias, or move the folder away", path.display(), owner(run.as_deref()))]
    Taken { path: PathBuf, run: Option<String> },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    /// A pipe, a device, or a socket.
    Special,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symlink",
            Self::Special => "neither file nor folder",
        })
    }
}

/// Escapes an id, which comes from a file and could control a terminal.
fn owner(run: Option<&str>) -> String {
    run.map_or_else(|| "an unknown run".to_owned(), |run| format!("run {}", run.escape_debug()))
}

/// The folder, open.
#[derive(Debug)]
pub struct Evolution {
    root: Folder,
}

/// A file of a run that is replaced as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Run,
    History,
}

impl Part {
    fn name(self) -> &'static OsStr {
        OsStr::new(match self {
            Self::Run => "run.json",
            Self::History => "history.jsonl",
        })
    }
}

impl Evolution {
    /// The default path in a project.
    pub const USUAL: &'static str = ".ai-factory/evolution";

    /// Opens the folder at `below` in the project, if it exists.
    pub fn open(project: &Path, below: &RelPath) -> Result<Option<Self>, EvolutionError> {
        let mut root = Folder::open(project)?;
        for step in below.lineage() {
            match step_down(&root, step.name())? {
                Some(child) => root = child,
                None => return Ok(None),
            }
        }
        Ok(Some(Self { root }))
    }

    /// Opens the folder at `below` in the project, and makes it if it is missing.
    pub fn open_or_make(project: &Path, below: &RelPath) -> Result<Self, EvolutionError> {
        let mut root = Folder::open(project)?;
        for step in below.lineage() {
            root = step_down_or_make(&root, step.name())?;
        }
        Ok(Self { root })
    }

    /// Reads the artifact's file.
    pub fn artifact(&self, alias: &Alias) -> Result<Option<Vec<u8>>, EvolutionError> {
        match step_down(&self.root, OsStr::new(alias.as_str()))? {
            Some(folder) => read(&folder, OsStr::new(ARTIFACT)),
            None => Ok(None),
        }
    }

    /// Returns a writer for that run; the task's folder is made with the first file.
    pub fn writer(&self, alias: &Alias, run_id: &str) -> Writer<'_> {
        Writer { evolution: self, alias: alias.clone(), run_id: run_id.to_owned() }
    }
}
