//! Writing as one run, among the files of others.

use std::ffi::OsStr;

use jiff::Timestamp;
use skilltune_phases::loops::reflex::original::{
    Alias, Current, Status, read_current, read_history, read_run, rebuild,
};

use super::artifact::{self, ARTIFACT, Placed};
use super::error::EvolutionError;
use super::site::{draft, is_there, read, remove_draft, step_down, step_down_or_make};
use super::{CURRENT, Evolution, Part};
use crate::snapshot::Folder;

/// A run that writes: whatever it writes, the folder of its task is its own.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) evolution: &'a Evolution,
    pub(super) alias: Alias,
    pub(super) run_id: String,
}

/// Whose the files are that stand somewhere.
enum Owner {
    Nobody,
    Run(String),
    Unknown,
}

impl Writer<'_> {
    /// Whether files of another run stand where this one would write.
    pub fn check(&self) -> Result<(), EvolutionError> {
        match step_down(&self.evolution.root, OsStr::new(self.alias.as_str()))? {
            Some(folder) => self.owns(&folder),
            None => Ok(()),
        }
    }

    /// Replaces a file; it must name this run, by which the folder is known as its own the next time.
    pub fn write(&self, part: Part, bytes: &[u8]) -> Result<(), EvolutionError> {
        let folder = self.folder()?;
        if is_there(&folder, part.name())? && is_that(&folder, part.name(), bytes)? {
            return remove_draft(&folder, part.name());
        }
        let draft = draft(&folder, part.name(), bytes)?;
        Ok(folder.rename(&draft, part.name())?)
    }

    /// Writes `current.json`, unless it names a run that is neither this one nor, as `has_ended` tells, over.
    pub fn point(
        &self,
        updated_at: Timestamp,
        has_ended: impl Fn(&str) -> bool,
    ) -> Result<(), EvolutionError> {
        let (root, name) = (&self.evolution.root, OsStr::new(CURRENT));
        if let Some(run) = active(self.evolution)?.other_than(|run| run == self.run_id || has_ended(run)) {
            return Err(EvolutionError::Active { path: root.path_of(name), run: run.told() });
        }
        let (active_run_id, task_alias) = (self.run_id.clone(), self.alias.clone());
        let current = Current { active_run_id, task_alias, status: Status::Running, updated_at };
        // It is written in the folder of the task, where nobody else writes.
        let folder = self.folder()?;
        let draft = draft(&folder, name, current.text().as_bytes())?;
        Ok(folder.move_into(&draft, root, name)?)
    }

    /// Removes `current.json` if it names this run; else it stays, and the answer is false.
    pub fn remove_current(&self) -> Result<bool, EvolutionError> {
        let is_ours = matches!(active(self.evolution)?, Owner::Run(run) if run == self.run_id);
        if is_ours {
            self.evolution.root.remove_file(OsStr::new(CURRENT))?;
        }
        Ok(is_ours)
    }

    /// Makes `bytes` the artifact, and keeps what a person has made of the one before: their file stays, and ours
    /// gets a name of its own beside it. `known` tells the versions that this run has written.
    pub fn place_artifact(
        &self,
        bytes: &[u8],
        known: impl Fn(&[u8]) -> bool,
    ) -> Result<Placed, EvolutionError> {
        artifact::place(&self.folder()?, bytes, &known)
    }

    /// The folder of the task, made when it is missing.
    fn folder(&self) -> Result<Folder, EvolutionError> {
        let folder = step_down_or_make(&self.evolution.root, OsStr::new(self.alias.as_str()))?;
        self.owns(&folder)?;
        Ok(folder)
    }

    fn owns(&self, folder: &Folder) -> Result<(), EvolutionError> {
        match owner(folder)?.other_than(|run| run == self.run_id) {
            None => Ok(()),
            Some(run) => Err(EvolutionError::Taken { path: folder.path().to_owned(), run: run.told() }),
        }
    }
}

impl Owner {
    /// Itself, unless nobody would mind or `is_fine` says so of the run.
    fn other_than(self, is_fine: impl Fn(&str) -> bool) -> Option<Self> {
        match &self {
            Self::Nobody => None,
            Self::Run(run) if is_fine(run) => None,
            Self::Run(_) | Self::Unknown => Some(self),
        }
    }

    fn told(self) -> Option<String> {
        match self {
            Self::Run(run) => Some(run),
            Self::Nobody | Self::Unknown => None,
        }
    }
}

/// Whether a file holds these bytes already; one that is too large to be read does not.
fn is_that(folder: &Folder, name: &OsStr, bytes: &[u8]) -> Result<bool, EvolutionError> {
    match read(folder, name) {
        Err(EvolutionError::TooLarge(_)) => Ok(false),
        there => Ok(there?.as_deref() == Some(bytes)),
    }
}

/// A damaged `run.json` does not disown a run whose history tells its name.
fn owner(folder: &Folder) -> Result<Owner, EvolutionError> {
    let run = read(folder, Part::Run.name())?;
    if let Some(run_id) = run.as_deref().and_then(|bytes| read_run(bytes).ok()?.run_id) {
        return Ok(Owner::Run(run_id));
    }
    let history = read(folder, Part::History.name())?;
    if let Some(run_id) = history.as_deref().and_then(|bytes| rebuild(&read_history(bytes))?.run_id) {
        return Ok(Owner::Run(run_id));
    }
    let is_empty = run.is_none() && history.is_none() && !is_there(folder, OsStr::new(ARTIFACT))?;
    Ok(if is_empty { Owner::Nobody } else { Owner::Unknown })
}

/// The run that `current.json` names.
fn active(evolution: &Evolution) -> Result<Owner, EvolutionError> {
    let Some(bytes) = evolution.current()? else { return Ok(Owner::Nobody) };
    Ok(read_current(&bytes).map_or(Owner::Unknown, |current| Owner::Run(current.active_run_id)))
}
