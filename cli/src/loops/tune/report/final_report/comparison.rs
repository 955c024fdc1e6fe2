//! The final comparison: who met whom, on what, and how much that shows.

use skilltune_phases::id::CandidateId;
use skilltune_phases::loops::tune::{Run, Shipment};

use crate::loops::tune::report::troubles;
use crate::loops::tune::words as told;
use crate::text::figures;
use crate::text::markdown::{Page, code_cell, words};

pub fn comparison(page: &mut Page, run: &Run) {
    page.section("Final Comparison");
    let Some(shipment) = &run.state.shipment else {
        page.paragraph("No comparison yet.");
        return;
    };
    let rows = shipment.scores.iter().map(|&(id, fresh)| {
        vec![
            code_cell(&id.short()),
            part(run, shipment, id),
            // Without fresh trials the scores that decided are those of the search.
            if shipment.pairs == 0 { "-".to_owned() } else { figures::score(fresh) },
            figures::score(run.search_score(id)),
        ]
    });
    page.table(&["Contestant", "Part", "Fresh Score", "Claimed by the Search"], rows);
    page.paragraph(format!("**Verdict**: {}. {}", told::verdict(shipment.verdict), basis(shipment)));
    if let Some(caution) = told::caution(run) {
        page.paragraph(caution);
    }
    let failed = troubles::finishing(run);
    if !failed.is_empty() {
        page.paragraph("Failures:");
        page.list(failed.iter().map(|trouble| words(&trouble.told(run))));
    }
}

fn basis(shipment: &Shipment) -> String {
    match shipment.pairs {
        0 => "Based on no fresh trials.".to_owned(),
        pairs => format!("Based on {} of fresh trials.", figures::count(pairs as usize, "pair")),
    }
}

/// What a contestant is in the run: it may be several things at once.
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
