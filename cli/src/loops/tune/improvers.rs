//! The improvers of a run in words, if there are several: what the edits of each have gained.

use serde_json::{Value, json};
use skilltune_phases::loops::tune::search::turns::{self, Earned};
use skilltune_phases::loops::tune::{Improver, Run};
use skilltune_phases::runs::plan::Cast;

use crate::loops::tune::words;
use crate::text::figures::{count, percent};

/// Returns the agent of an improver.
pub fn agent(run: &Run, by: Improver) -> String {
    run.plan.roles.get(&by.role()).map_or_else(|| by.role().to_string(), Cast::shown)
}

/// Returns nothing if there is only one improver.
fn several(run: &Run) -> Option<Vec<Earned>> {
    Some(turns::earned(run)).filter(|earned| earned.len() > 1)
}

/// Returns what each has gained, in one line.
pub fn text(run: &Run) -> Option<String> {
    let each = several(run)?.into_iter().map(|one| {
        let (agent, edits) = (agent(run, one.by), count(one.turns, "edit"));
        if one.tested == 0 {
            return format!("{agent}: {edits}, none tested");
        }
        let share = percent(one.sum / f64::from(u32::try_from(one.tested).unwrap_or(u32::MAX)));
        if words::is_by_single_trials(&run.plan) {
            format!("{agent}: {edits}, which made their target statements {share} likelier to be met")
        } else {
            format!("{agent}: {edits}, {share} of them kept")
        }
    });
    Some(each.collect::<Vec<_>>().join("; "))
}

/// Returns null if there is only one improver.
pub fn json(run: &Run) -> Value {
    let each = several(run).map(|earned| {
        let of = |one: Earned| {
            json!({
                "role": one.by.role(),
                "agent": agent(run, one.by),
                "edits": one.turns,
                // Edits whose trials have shown something, and their total gain, each between -1 and 1.
                "seen": one.tested,
                "earned": (one.sum * 1000.0).round() / 1000.0,
            })
        };
        earned.into_iter().map(of).collect::<Value>()
    });
    json!(each)
}
