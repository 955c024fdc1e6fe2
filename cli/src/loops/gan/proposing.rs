//! Checks whether the result can be proposed, before anything is paid for.

use skilltune_orchestrator::git::require_repository;
use skilltune_orchestrator::snapshot::{Limits, Manifest};
use skilltune_phases::loops::gan::Apply;

use crate::casting::git;
use crate::loops::gan::invocation::Invocation;
use crate::loops::gan::planning;
use crate::runs::commit;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

const OTHERWISE: &str = "pass --apply auto to put the result into the folder itself";

/// Fails if the result cannot be proposed, as far as that can be known. Nothing is written.
pub fn require(invocation: &Invocation, env: &Environment) -> Result<(), Complaint> {
    let (Some(into), Apply::Propose(_)) = (invocation.into.clone(), invocation.apply) else { return Ok(()) };
    let program = git(env).map_err(|_| commit::no_git().hint(OTHERWISE))?;
    let now = if into.is_dir() {
        planning::read(&into, |rules| env.indexes().scan(&into, rules, Limits::default()))?.manifest
    } else {
        Manifest::default()
    };
    let required = commit::with_git(&program, move |git| require_repository(git, &into, &now))?;
    required.map_err(|error| commit::refused(&error).hint(OTHERWISE))
}
