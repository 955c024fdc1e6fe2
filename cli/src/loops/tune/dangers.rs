//! The dangers of a version, in words: a person looks at them before the version replaces the skill.

use serde_json::{Value, json};
use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::Run;
use skilltune_phases::skills::edit::Danger;

use crate::text::plain;

/// Returns the dangers of the champion.
pub fn of_champion(run: &Run) -> Vec<String> {
    run.state.shipment.as_ref().map(|shipment| of(run, shipment.champion)).unwrap_or_default()
}

/// Returns one line per danger, with the member's name if there are several.
pub fn of(run: &Run, candidate: CandidateId) -> Vec<String> {
    let named = |(place, danger): (_, &Danger)| {
        let folder =
            if run.plan.is_chain() { format!("{}/", run.plan.member(place).name) } else { String::new() };
        line(&folder, danger)
    };
    run.dangers(candidate).into_iter().map(named).collect()
}

pub fn line(folder: &str, danger: &Danger) -> String {
    plain::one_line(&danger.text(folder))
}

pub fn json(run: &Run) -> Value {
    let dangers = run.state.shipment.as_ref().map(|shipment| run.dangers(shipment.champion));
    let one = |(place, danger): (_, &Danger)| {
        let Danger { path, line, class, shown } = danger;
        json!({ "member": run.plan.member(place).name, "path": path, "line": line, "class": class, "shown": shown })
    };
    dangers.unwrap_or_default().into_iter().map(one).collect()
}
