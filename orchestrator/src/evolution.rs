//! The folder of the original reflex loop in a project, `.ai-factory/evolution/`, read and written.
//!
//! It may come from a repository that means us harm, so no link is followed on the way, and nothing but plain files
//! of a bounded size is read. It belongs to people too: what another run left there is not written over, and an
//! artifact that somebody has edited stays.
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

use artifact::{ARTIFACT, is_beside};
use site::{kind, read, step_down, step_down_or_make};

use crate::atomic::TEMP_PREFIX;
use crate::snapshot::{Folder, RelPath};

const CURRENT: &str = "current.json";
/// As many tasks as anybody has.
const MOST_ENTRIES: usize = 20_000;

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

    /// The tasks that have a folder here, by name. Links are none.
    pub fn aliases(&self) -> Result<Vec<Alias>, EvolutionError> {
        let mut aliases = Vec::new();
        for name in self.root.names(MOST_ENTRIES)? {
            let Some(alias) = name.to_str().and_then(Alias::parse) else { continue };
            if kind(&self.root, &name)? == Some(Kind::Folder) {
                aliases.push(alias);
            }
        }
        Ok(aliases)
    }

    pub fn read(&self, alias: &Alias, part: Part) -> Result<Option<Vec<u8>>, EvolutionError> {
        self.read_of(alias, part.name())
    }

    pub fn artifact(&self, alias: &Alias) -> Result<Option<Vec<u8>>, EvolutionError> {
        self.read_of(alias, OsStr::new(ARTIFACT))
    }

    pub fn current(&self) -> Result<Option<Vec<u8>>, EvolutionError> {
        read(&self.root, OsStr::new(CURRENT))
    }

    /// To write as that run; the folder of the task is made with the first file.
    pub fn writer(&self, alias: &Alias, run_id: &str) -> Writer<'_> {
        Writer { evolution: self, alias: alias.clone(), run_id: run_id.to_owned() }
    }

    /// Removes what runs have left for a task, and the folder if nothing else is in it; `is_ours` tells of an artifact
    /// whether a run has written it. False, when something of somebody else's stays.
    pub fn remove(&self, alias: &Alias, is_ours: impl Fn(&[u8]) -> bool) -> Result<bool, EvolutionError> {
        let name = OsStr::new(alias.as_str());
        let Some(folder) = step_down(&self.root, name)? else { return Ok(true) };
        for file in folder.names(MOST_ENTRIES)? {
            let goes = match file.to_str() {
                Some("run.json" | "history.jsonl") => true,
                Some(text) if text == ARTIFACT || is_beside(text) => {
                    read(&folder, &file)?.is_some_and(|bytes| is_ours(&bytes))
                }
                Some(text) => text.starts_with(TEMP_PREFIX),
                None => false,
            };
            if goes && kind(&folder, &file)? == Some(Kind::File) {
                folder.remove_file(&file)?;
            }
        }
        let is_empty = folder.names(1)?.is_empty();
        if is_empty {
            self.root.remove_folder(name)?;
        }
        Ok(is_empty)
    }

    fn read_of(&self, alias: &Alias, name: &OsStr) -> Result<Option<Vec<u8>>, EvolutionError> {
        match step_down(&self.root, OsStr::new(alias.as_str()))? {
            Some(folder) => read(&folder, name),
            None => Ok(None),
        }
    }
}
