//! Writes the files of one run next to those of other runs.

use std::ffi::OsStr;

use serde::Deserialize;
use skilltune_phases::loops::reflex::original::Alias;

use super::artifact::{self, ARTIFACT, Placed, is_beside};
use super::site::{draft, is_there, kind, read, remove_draft, step_down, step_down_or_make};
use super::{CURRENT, EntryKind, Evolution, EvolutionError, MOST_ENTRIES, Part};
use crate::disk::{Folder, atomic::TEMP_PREFIX};

/// A run that writes. Each write requires that the run owns its task's folder.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) evolution: &'a Evolution,
    pub(super) alias: Alias,
    pub(super) run_id: String,
}

/// The run that the files in a folder name.
enum Owner {
    /// There are no files.
    Nobody,
    Run(String),
    /// There are files, and none names a run: some are damaged or lost.
    Unknown,
}

impl Writer<'_> {
    /// Fails if files of others are in the folder of this run, which has not started.
    pub fn check(&self) -> Result<(), EvolutionError> {
        let Some(folder) = step_down(&self.evolution.root, self.name())? else { return Ok(()) };
        match owner(&folder)? {
            Owner::Unknown => Err(EvolutionError::Taken { path: folder.path().to_owned(), run: None }),
            Owner::Nobody | Owner::Run(_) => self.owns(&folder),
        }
    }

    /// Whether everything that this run would write is there: these bytes, and an artifact if it has one. If the folder
    /// belongs to another run, there is nothing to write.
    pub fn is_written(&self, parts: [(Part, &[u8]); 2], has_artifact: bool) -> Result<bool, EvolutionError> {
        let Some(folder) = step_down(&self.evolution.root, self.name())? else { return Ok(false) };
        match self.owns(&folder) {
            Err(EvolutionError::Taken { .. }) => return Ok(true),
            owned => owned?,
        }
        for (part, bytes) in parts {
            if !is_that(&folder, part.name(), bytes)? {
                return Ok(false);
            }
        }
        Ok(!has_artifact || is_there(&folder, OsStr::new(ARTIFACT))?)
    }

    /// Replaces a file. It must name this run, which marks the folder as its own.
    pub fn write(&self, part: Part, bytes: &[u8]) -> Result<(), EvolutionError> {
        let folder = self.folder()?;
        if is_there(&folder, part.name())? && is_that(&folder, part.name(), bytes)? {
            return remove_draft(&folder, part.name());
        }
        let draft = draft(&folder, part.name(), bytes)?;
        Ok(folder.rename(&draft, part.name())?)
    }

    /// Writes `current.json`. If it names another run, it stays, and this returns false.
    pub fn point(&self, bytes: &[u8]) -> Result<bool, EvolutionError> {
        let (root, name) = (&self.evolution.root, OsStr::new(CURRENT));
        // The draft is written in the task's folder, where only this run writes.
        let folder = self.folder()?;
        match active(root)? {
            Owner::Nobody => {}
            Owner::Run(run) if run == self.run_id => {}
            Owner::Run(_) | Owner::Unknown => return Ok(false),
        }
        let draft = draft(&folder, name, bytes)?;
        folder.move_into(&draft, root, name)?;
        Ok(true)
    }

    /// Removes `current.json` if it names this run; otherwise it stays, and this returns false.
    pub fn remove_current(&self) -> Result<bool, EvolutionError> {
        let root = &self.evolution.root;
        let is_ours = matches!(active(root)?, Owner::Run(run) if run == self.run_id);
        if is_ours {
            root.remove_file(OsStr::new(CURRENT))?;
        }
        Ok(is_ours)
    }

    /// Makes `bytes` the artifact. If a person edited the previous one, their file stays, and ours gets another name
    /// next to it. `known` recognizes the versions that this run has written.
    pub fn place_artifact(
        &self,
        bytes: &[u8],
        known: impl Fn(&[u8]) -> bool,
    ) -> Result<Placed, EvolutionError> {
        artifact::place(&self.folder()?, bytes, &known)
    }

    /// Removes this run's files, the pointer that a run without an end has left, and the folder if it is then empty;
    /// `known` recognizes the versions of the artifact that the run has written. Returns false if something stays: a
    /// person's file, or another run's whole folder.
    pub fn remove(&self, known: impl Fn(&[u8]) -> bool) -> Result<bool, EvolutionError> {
        match self.remove_current() {
            // Something else with that name is not this run's.
            Ok(_) | Err(EvolutionError::NoFile { .. } | EvolutionError::TooLarge(_)) => {}
            Err(error) => return Err(error),
        }
        let Some(folder) = step_down(&self.evolution.root, self.name())? else { return Ok(true) };
        match self.owns(&folder) {
            Err(EvolutionError::Taken { .. }) => return Ok(false),
            owned => owned?,
        }
        let mut files = folder.names(MOST_ENTRIES)?;
        // The file that names the owner goes last: after a kill the rest can still be removed.
        files.sort_by_key(|file| file == Part::Run.name());
        for file in files {
            let goes = match file.to_str() {
                Some("run.json" | "history.jsonl") => true,
                Some(text) if text == ARTIFACT || is_beside(text) => {
                    read(&folder, &file)?.is_some_and(|bytes| known(&bytes))
                }
                Some(text) => text.starts_with(TEMP_PREFIX),
                None => false,
            };
            if goes && kind(&folder, &file)? == Some(EntryKind::File) {
                folder.remove_file(&file)?;
            }
        }
        let is_empty = folder.names(1)?.is_empty();
        if is_empty {
            self.evolution.root.remove_folder(self.name())?;
        }
        Ok(is_empty)
    }

    fn name(&self) -> &OsStr {
        OsStr::new(self.alias.as_str())
    }

    /// Opens the task's folder, and makes it if it is missing.
    fn folder(&self) -> Result<Folder, EvolutionError> {
        let folder = step_down_or_make(&self.evolution.root, self.name())?;
        self.owns(&folder)?;
        Ok(folder)
    }

    /// Fails if the folder's files name another run. Files that name no run are damaged ones of this run, which began
    /// in this folder: the journal has them whole. `place_artifact` keeps an artifact that this run did not write.
    fn owns(&self, folder: &Folder) -> Result<(), EvolutionError> {
        match owner(folder)? {
            Owner::Run(run) if run != self.run_id => {
                Err(EvolutionError::Taken { path: folder.path().to_owned(), run: Some(run) })
            }
            Owner::Nobody | Owner::Run(_) | Owner::Unknown => Ok(()),
        }
    }
}

/// Whether a file already holds these bytes; a file that is too large to be read does not.
fn is_that(folder: &Folder, name: &OsStr, bytes: &[u8]) -> Result<bool, EvolutionError> {
    match read(folder, name) {
        Err(EvolutionError::TooLarge(_)) => Ok(false),
        there => Ok(there?.as_deref() == Some(bytes)),
    }
}

/// Returns the owner of a folder. If `run.json` is damaged, the history still names the run.
fn owner(folder: &Folder) -> Result<Owner, EvolutionError> {
    let run = read(folder, Part::Run.name())?;
    if let Some(run_id) = run.as_deref().and_then(named) {
        return Ok(Owner::Run(run_id));
    }
    let history = read(folder, Part::History.name())?;
    // If several runs wrote into one history, the last one owns the folder.
    if let Some(run_id) =
        history.as_deref().and_then(|lines| lines.rsplit(|&byte| byte == b'\n').find_map(named))
    {
        return Ok(Owner::Run(run_id));
    }
    let has_files = run.is_some() || history.is_some() || is_there(folder, OsStr::new(ARTIFACT))?;
    Ok(if has_files { Owner::Unknown } else { Owner::Nobody })
}

/// Returns the run that `current.json` names.
fn active(root: &Folder) -> Result<Owner, EvolutionError> {
    let Some(bytes) = read(root, OsStr::new(CURRENT))? else { return Ok(Owner::Nobody) };
    Ok(named(&bytes).map_or(Owner::Unknown, Owner::Run))
}

/// Returns the run that a file or a line names; nothing else of it is read.
fn named(json: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(alias = "active_run_id")]
        run_id: String,
    }
    serde_json::from_slice(json).ok().map(|Named { run_id }| run_id)
}
