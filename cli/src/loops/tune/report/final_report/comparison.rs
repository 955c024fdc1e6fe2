//! The final comparison: its contestants, its trials, and how much it shows.

use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::{Run, Shipment, UnpairedSamples};

use crate::loops::tune::report::troubles;
use crate::loops::tune::{judges, price, verdicts};
use crate::text::figures;
use crate::text::markdown::{MarkdownPage, code_cell, words};

/// Writes the first words of the report: what was shown, on what, and a caution if that is little.
pub fn verdict(page: &mut MarkdownPage, run: &Run) {
    let Some(shipment) = &run.state.shipment else { return };
    let basis = verdicts::basis(run, shipment).unwrap_or_else(|| "no fresh trials".to_owned());
    let claimed = verdicts::claimed(run, shipment).map(verdicts::signed);
    let claimed = claimed.map(|claimed| format!("; the search claimed {claimed}")).unwrap_or_default();
    let verdict = words(&verdicts::verdict(run, shipment));
    page.paragraph(format!("**Verdict**: {verdict}. Based on {basis}{claimed}."));
    if let Some(price) = price::text(run) {
        page.paragraph(price);
    }
    if let Some(caution) = verdicts::caution(run) {
        page.paragraph(caution);
    }
}

pub fn comparison(page: &mut MarkdownPage, run: &Run) {
    page.section("Final Comparison");
    let Some(shipment) = &run.state.shipment else {
        page.paragraph("No comparison yet.");
        return;
    };
    let rows = shipment.scores.iter().map(|&(id, fresh)| {
        vec![
            code_cell(&id.short()),
            part(run, shipment, id),
            if shipment.is_compared() { figures::score(fresh) } else { "-".to_owned() },
            figures::score(run.search_score(id)),
        ]
    });
    page.table(&["Version", "Part", "Fresh Score", "Claimed by the Search"], rows);
    scenarios(page, run, shipment);
    if let Some(reuse) = verdicts::held_out_reuse(run) {
        page.paragraph(reuse);
    }
    if let Some(adjusted) = verdicts::adjusted(run, shipment) {
        page.paragraph(adjusted);
    }
    let lines = judges::lines(run);
    if !lines.is_empty() {
        page.list(lines.iter().map(|line| words(line)));
    }
    let failed = troubles::finishing(run);
    if !failed.is_empty() {
        page.paragraph("Failures:");
        page.list(failed.iter().map(|trouble| words(&trouble.line(run))));
    }
}

fn scenarios(page: &mut MarkdownPage, run: &Run, shipment: &Shipment) {
    let scenarios = &run.plan.task.scenarios;
    let rows = shipment.pairs.iter().filter_map(|pair| {
        let name = words(&scenarios.get(pair.scenario)?.id);
        let difference = format!("{} {}", verdicts::arrow(pair), verdicts::signed(pair.difference()));
        Some(vec![name, pair.start.to_string(), pair.challenger.to_string(), difference])
    });
    let mut rows: Vec<_> = rows.collect();
    if let Some(UnpairedSamples { start, challenger }) = &shipment.unpaired {
        let none = || "-".to_owned();
        let name = |nth: usize| scenarios.get(nth).map(|scenario| words(&scenario.id)).unwrap_or_default();
        rows.extend(start.iter().map(|(nth, score)| vec![name(*nth), score.to_string(), none(), none()]));
        rows.extend(
            challenger.iter().map(|(nth, score)| vec![name(*nth), none(), score.to_string(), none()]),
        );
    }
    if !rows.is_empty() {
        page.table(&["Scenario", "Start", "Candidate", "Difference"], rows);
    }
}

/// Returns the roles of a contestant in the run; it may have several.
fn part(run: &Run, shipment: &Shipment, id: CandidateId) -> String {
    let best = run.best().is_some_and(|(best, _)| best == id);
    let parts = [
        (id == run.start(), "start"),
        (best, "best of the search"),
        (id == run.head(), "newest kept"),
        (id == shipment.champion, "**champion**"),
    ];
    let held: Vec<_> = parts.into_iter().filter_map(|(is, name)| is.then_some(name)).collect();
    held.join(", ")
}
