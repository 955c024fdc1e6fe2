//! The share of an agent's context that each skill takes, before and after the run.

use serde_json::{Value, json};
use skilltune_orchestrator::engine::context;
use skilltune_orchestrator::snapshot::{ObjectError, Objects};
use skilltune_phases::loops::tune::Run;
use skilltune_phases::skills::context::Context;

use crate::report::document::{Section, paragraph, table, words};
use crate::text::figures::grouped;

/// Returns start and champion of each skill. Nothing if there is no champion or the store has lost a version.
fn all(objects: &Objects, run: &Run) -> Option<Vec<(String, Context, Context)>> {
    let champion = run.candidate(run.state.shipment.as_ref()?.champion)?;
    let members = run.plan.task.target.members.iter().zip(&champion.trees);
    let each = members.map(|(member, &after)| {
        let of = |tree| context(objects, tree, &member.hidden);
        Ok((member.name.to_string(), of(member.start)?, of(after)?))
    });
    each.collect::<Result<_, ObjectError>>().ok()
}

/// Returns the section of a report.
pub fn section(objects: &Objects, run: &Run) -> Option<Section> {
    let row = |(skill, start, champion): (String, Context, Context)| {
        let change = |from: usize, to: usize| {
            let [from, to] = [from, to].map(|tokens| grouped(tokens as u64));
            if from == to { from } else { format!("{from} -> {to}") }
        };
        vec![
            words(&skill).into(),
            change(start.listing, champion.listing).into(),
            change(start.body, champion.body).into(),
            change(start.references, champion.references).into(),
        ]
    };
    let costs = table(&["Skill", "Listing", "Body", "References"], all(objects, run)?.into_iter().map(row));
    let text = "Tokens (characters / 4) of the start and the champion: the listing (name and description) is in every session, the body of SKILL.md is read when the skill is used, and other text files when an agent opens them.";
    Some(Section { title: "Context Cost", blocks: vec![costs, paragraph(text)] })
}

pub fn json(objects: &Objects, run: &Run) -> Value {
    let entry = |(skill, start, champion): (String, Context, Context)| json!({ "skill": skill, "start": start, "champion": champion });
    all(objects, run).into_iter().flatten().map(entry).collect()
}
