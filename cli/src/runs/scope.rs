//! The context of every command on runs.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::runs::plan::{LoopKind, RunId};

use crate::runs::Runs;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;

/// The runs of a project, of every loop or of only one.
#[derive(Debug)]
pub struct Scope<'a> {
    pub runs: Runs,
    pub only: Option<LoopKind>,
    pub env: &'a Environment,
    pub printer: Printer,
}

impl<'a> Scope<'a> {
    /// Returns the scope of the current folder.
    pub fn here(only: Option<LoopKind>, env: &'a Environment, printer: Printer) -> Result<Self, Complaint> {
        Ok(Self { runs: Runs::here(env)?, only, env, printer })
    }

    pub fn named(&self, name: Option<&str>) -> Result<RunId, Complaint> {
        self.runs.named(name, self.only)
    }

    pub fn objects(&self) -> Objects {
        Objects::at(self.runs.home.objects())
    }
}
