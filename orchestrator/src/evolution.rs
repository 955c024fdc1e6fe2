//! The folder of the original reflex loop in a project, `.ai-factory/evolution/`: our runs are written there for its tools.
//!
//! It may come from a repository that means us harm, so no link is followed on the way, and nothing but plain files
//! of a bounded size is read. It belongs to people too: what another run left there is neither read nor written over, and
//! an artifact that somebody has edited stays.
//!
//! Files are replaced as a whole and not synced: they tell what our journal holds, and can be written from it again.

mod artifact;
mod error;
mod site;
#[cfg(test)]
mod tests;
mod writer;

use std::ffi::OsStr;
use std::path::Path;

use skilltune_phases::loops::reflex::original::Alias;

pub use artifact::Placed;
pub use error::{EvolutionError, Kind};
pub use writer::Writer;

use artifact::ARTIFACT;
use site::{read, step_down, step_down_or_make};

use crate::disk::Folder;
use crate::snapshot::RelPath;

const CURRENT: &str = "current.json";
/// As many files as a task ever has.
const MOST_ENTRIES: usize = 20_000;
/// The largest file that is read.
const LARGEST: u64 = 8 << 20;

/// The folder, held open.
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
    /// Where it stands in a project, unless somebody says otherwise.
    pub const USUAL: &'static str = ".ai-factory/evolution";

    /// The folder at `below` in the project, if there is one.
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

    /// The folder at `below` in the project, made where it is missing.
    pub fn open_or_make(project: &Path, below: &RelPath) -> Result<Self, EvolutionError> {
        let mut root = Folder::open(project)?;
        for step in below.lineage() {
            root = step_down_or_make(&root, step.name())?;
        }
        Ok(Self { root })
    }

    /// What is in the artifact's file.
    pub fn artifact(&self, alias: &Alias) -> Result<Option<Vec<u8>>, EvolutionError> {
        match step_down(&self.root, OsStr::new(alias.as_str()))? {
            Some(folder) => read(&folder, OsStr::new(ARTIFACT)),
            None => Ok(None),
        }
    }

    /// To write as that run; the folder of the task is made with the first file.
    pub fn writer(&self, alias: &Alias, run_id: &str) -> Writer<'_> {
        Writer { evolution: self, alias: alias.clone(), run_id: run_id.to_owned() }
    }
}
