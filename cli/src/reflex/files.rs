//! The original's files of a project: which tasks have a folder there, and what stands in it.

use std::path::Path;

use skilltune_orchestrator::evolution::{Evolution, EvolutionError, Part};
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::loops::reflex::original::{Alias, FoundRun, History, read_history, read_run, rebuild};

use crate::complaint::{Complaint, Kind};

/// A run that somebody else's program has written.
#[derive(Debug)]
pub struct Found {
    pub alias: Alias,
    pub run: FoundRun,
    pub history: History,
    pub artifact: Option<Vec<u8>>,
    /// Its `run.json` could not be read, and was made again from the history.
    pub is_rebuilt: bool,
}

/// The place of the files within the project, as the settings name it.
pub fn below(evolution: &str) -> Result<RelPath, Complaint> {
    RelPath::parse(evolution.as_bytes()).map_err(|_| {
        Complaint::input(format!("reflex.evolution is {evolution:?}, which is no path within the project"))
            .hint(format!("use a relative path such as {:?}", Evolution::USUAL))
    })
}

/// The tasks that have a folder, with what can be read of them.
pub fn found(project: &Path, evolution: &RelPath) -> Result<Vec<Found>, Complaint> {
    let Some(folder) = Evolution::open(project, evolution).map_err(refused)? else {
        return Ok(Vec::new());
    };
    let aliases = folder.aliases().map_err(refused)?;
    Ok(aliases.into_iter().filter_map(|alias| read(&folder, alias)).collect())
}

/// A folder that tells of no run is none.
fn read(folder: &Evolution, alias: Alias) -> Option<Found> {
    let part = |part| folder.read(&alias, part).ok().flatten();
    let history = part(Part::History).map(|bytes| read_history(&bytes)).unwrap_or_default();
    let told = part(Part::Run).and_then(|bytes| read_run(&bytes).ok());
    let is_rebuilt = told.is_none();
    let run = told.or_else(|| rebuild(&history))?;
    let artifact = folder.artifact(&alias).ok().flatten();
    Some(Found { alias, run, history, artifact, is_rebuilt })
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
pub fn refused(error: EvolutionError) -> Complaint {
    let kind = match &error {
        EvolutionError::Disk(_) => Kind::Ours,
        EvolutionError::NoFolder { .. }
        | EvolutionError::NoFile { .. }
        | EvolutionError::TooLarge(_)
        | EvolutionError::Taken { .. }
        | EvolutionError::Active { .. } => Kind::Input,
    };
    Complaint::of(kind, &error)
}
