//! Which run is meant, by its task's alias or a beginning of its id.

use skilltune_phases::loops::reflex::Reflex;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::plan::RunId;

use crate::complaint::Complaint;
use crate::runs::{Known, Runs};

/// The newest run of an alias, the one whose id begins so, or the newest of all.
pub fn find(runs: &Runs, name: Option<&str>) -> Result<Known<Reflex>, Complaint> {
    let of_alias =
        |id: &RunId| name.is_some() && Alias::of_run(id.as_str()).as_ref().map(Alias::as_str) == name;
    match runs.ids::<Reflex>().into_iter().find(of_alias) {
        Some(id) => runs.load(&id),
        None => runs.find(name),
    }
}
