//! The folder of the original's files in a project, and why a run must not write there.

use skilltune_orchestrator::evolution::{Evolution, EvolutionError};
use skilltune_orchestrator::snapshot::RelPath;

use crate::terminal::complaint::{Complaint, ErrorKind};

/// Returns the folder of the files within the project, as the settings name it.
pub fn below(evolution: &str) -> Result<RelPath, Complaint> {
    RelPath::parse(evolution.as_bytes()).map_err(|_| {
        Complaint::input(format!("reflex.evolution is {evolution:?}, which is not a path inside the project"))
            .hint(format!("use a relative path such as {:?}", Evolution::USUAL))
    })
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
pub fn refused(error: EvolutionError) -> Complaint {
    let kind = match &error {
        EvolutionError::Disk(_) => ErrorKind::Ours,
        EvolutionError::NoFolder { .. }
        | EvolutionError::NoFile { .. }
        | EvolutionError::TooLarge(_)
        | EvolutionError::Taken { .. } => ErrorKind::Input,
    };
    Complaint::of(kind, &error)
}
