//! Which run is meant: one of ours, by its task's alias or a beginning of its id, or one that the original has written.

use skilltune_phases::loops::reflex::Reflex;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::plan::RunId;

use crate::complaint::Complaint;
use crate::folders::Surroundings;
use crate::reflex::files::{self, Found};
use crate::runs::{Known, Runs};
use crate::settings::Settings;

/// A run, whoever wrote it.
#[derive(Debug)]
pub enum Either {
    Ours(Box<Known<Reflex>>),
    Theirs(Box<Found>),
}

/// One of our runs; the newest of its alias, or of all.
pub fn ours(runs: &Runs, name: Option<&str>) -> Result<Known<Reflex>, Complaint> {
    let of_alias =
        |id: &RunId| name.is_some() && Alias::of_run(id.as_str()).as_ref().map(Alias::as_str) == name;
    match runs.ids::<Reflex>().into_iter().find(of_alias) {
        Some(id) => runs.load(&id),
        None => runs.find(name),
    }
}

/// One of our runs, or else one that another program has written.
pub fn either(runs: &Runs, name: Option<&str>, around: &Surroundings) -> Result<Either, Complaint> {
    let complaint = match ours(runs, name) {
        Ok(known) => return Ok(Either::Ours(Box::new(known))),
        Err(complaint) => complaint,
    };
    let mut theirs = theirs(runs, around)?;
    let at = match name {
        Some(name) => theirs.iter().position(|found| found.alias.as_str() == name),
        // Without a name, the only one there is, when there is none of ours.
        None => (theirs.len() == 1 && runs.ids::<Reflex>().is_empty()).then_some(0),
    };
    at.map(|at| Either::Theirs(Box::new(theirs.swap_remove(at)))).ok_or(complaint)
}

/// The runs beside ours that another program has written.
pub fn theirs(runs: &Runs, around: &Surroundings) -> Result<Vec<Found>, Complaint> {
    let project = runs.home.project();
    let settings = Settings::load(project, around)?;
    let found = files::found(project, &settings.reflex.evolution.value)?;
    let ids = runs.ids::<Reflex>();
    let is_ours =
        |found: &Found| found.run.run_id.as_ref().is_some_and(|run| ids.iter().any(|id| id.as_str() == run));
    Ok(found.into_iter().filter(|found| !is_ours(found)).collect())
}
