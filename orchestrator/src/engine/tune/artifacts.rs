//! The artifacts of the rounds, as the trials left them.

use skilltune_phases::loops::tune::trial::measure::{self, SEARCH};
use skilltune_phases::loops::tune::{Round, Run, Trial};

use super::super::files::place_tree;
use super::super::{EngineError, Extent};
use crate::disk::SafePath;
use crate::snapshot::Objects;
use crate::store::RunFolder;

/// The only trial of a round whose artifacts are shown.
const TRIAL: &str = "1";

/// Writes the artifacts of the rounds that were measured.
pub(super) fn write(
    objects: &Objects,
    folder: &RunFolder,
    run: &Run,
    extent: Extent,
) -> Result<(), EngineError> {
    for round in extent.of(&run.state.rounds).iter().filter(|round| round.measured.is_some()) {
        place_round(objects, &folder.iteration(round.number).join("artifacts"), run, round)?;
    }
    Ok(())
}

/// Writes `artifacts/<skill>/<scenario>/<trial>/`, as the trials left them.
fn place_round(objects: &Objects, place: &SafePath, run: &Run, round: &Round) -> Result<(), EngineError> {
    let Some(candidate) = run.candidate(round.candidate) else { return Ok(()) };
    for scenario in measure::searched(&run.plan) {
        let trial = Trial { scenario, ordinal: SEARCH, era: round.era };
        let left = measure::artifacts(run, candidate, trial);
        for (member, tree) in run.plan.task.target.members.iter().zip(left) {
            let into = place.join(&*member.name).join(&*run.plan.task.scenarios[scenario].id);
            place_tree(objects, tree, &into, TRIAL)?;
        }
    }
    Ok(())
}
