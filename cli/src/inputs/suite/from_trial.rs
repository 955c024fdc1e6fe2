//! Builds the scenario that tests what a trial of a run missed.

use skilltune_phases::base::id::Digest;
use skilltune_phases::loops::tune::Run;
use skilltune_phases::loops::tune::results::trials::Short;
use skilltune_phases::suites::scenario::Scenario;

use super::append::derived_id;

/// Returns the scenario and its origin.
pub fn from_trial(run: &Run, Short { judged, demands }: &Short<'_>) -> (Scenario, String) {
    let (id, trial) = (&run.plan.run, judged.trial);
    let of = &run.plan.task.scenarios[trial.scenario];
    let parts = [
        id.as_str(),
        of.id.as_str(),
        &judged.candidate.to_string(),
        &trial.ordinal.to_string(),
        &trial.era.to_string(),
    ];
    let mark = Digest::of_parts(parts.map(str::as_bytes)).hex();
    let scenario = Scenario {
        id: derived_id(&of.id, &mark[..8]),
        demands: demands.clone(),
        held_out: false,
        ..of.clone()
    };
    let round = match judged.round {
        Some(round) => format!("round {round}"),
        None => "the final comparison".to_owned(),
    };
    (scenario, format!("From run {id}: `{}` in {round}, version {}.", of.id, judged.candidate.short()))
}
