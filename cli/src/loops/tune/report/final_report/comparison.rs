//! The final comparison: its contestants, its trials, and how much it shows.

use skilltune_phases::base::id::CandidateId;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::{Run, Shipment, UnpairedSamples};

use crate::loops::tune::report::troubles;
use crate::loops::tune::{judges, price, verdicts};
use crate::report::document::{
    Block, Section, Span, Text, code, joined, list, paragraph, plain, strong, table, words,
};
use crate::text::figures;

/// Returns the first words of the report: what was shown, on what, and a caution if that is little.
pub fn verdict(run: &Run) -> Vec<Block> {
    let Some(shipment) = &run.state.shipment else { return Vec::new() };
    let basis = verdicts::basis(run, shipment).unwrap_or_else(|| "no fresh trials".to_owned());
    let claimed = verdicts::claimed(run, shipment).map(figures::signed);
    let claimed = claimed.map(|claimed| format!("; the search claimed {claimed}")).unwrap_or_default();
    let verdict = words(&verdicts::verdict(run, shipment));
    let basis = plain(format!(". Based on {basis}{claimed}."));
    let cautions = price::text(run).into_iter().chain(verdicts::caution(run)).map(paragraph);
    [paragraph([strong("Verdict"), plain(": "), verdict, basis])].into_iter().chain(cautions).collect()
}

pub fn comparison(run: &Run) -> Section {
    let title = "Final Comparison";
    let Some(shipment) = &run.state.shipment else {
        return Section { title, blocks: vec![paragraph("No comparison yet.")] };
    };
    let rows = shipment.scores.iter().map(|&(id, fresh)| {
        let fresh = if shipment.is_compared() { figures::score(fresh) } else { "-".to_owned() };
        let claimed = figures::score(run.search_score(id));
        vec![code(&id.short()).into(), part(run, shipment, id), fresh.into(), claimed.into()]
    });
    let mut blocks = vec![table(&["Version", "Part", "Fresh Score", "Claimed by the Search"], rows)];
    blocks.extend(scenarios(run, shipment));
    blocks.extend(verdicts::held_out_reuse(run).map(paragraph));
    blocks.extend(verdicts::adjusted(run, shipment).map(paragraph));
    let lines = judges::lines(run);
    if !lines.is_empty() {
        blocks.push(list(lines.iter().map(|line| words(line).into())));
    }
    blocks.extend(troubles::blocks(run, &troubles::finishing(run)));
    Section { title, blocks }
}

fn scenarios(run: &Run, shipment: &Shipment) -> Option<Block> {
    let row = |nth: usize, scores: [Option<Score>; 2], difference: String| {
        let name = run.plan.task.scenarios.get(nth).map_or("", |scenario| scenario.id.as_str());
        let [start, challenger] = scores.map(|score| figures::score(score).into());
        vec![words(name).into(), start, challenger, difference.into()]
    };
    let known = |nth: usize| nth < run.plan.task.scenarios.len();
    let pairs = shipment.pairs.iter().filter(|pair| known(pair.scenario)).map(|pair| {
        let difference = format!("{} {}", verdicts::arrow(pair), figures::signed(pair.difference()));
        row(pair.scenario, [Some(pair.start), Some(pair.challenger)], difference)
    });
    let mut rows: Vec<Vec<Text>> = pairs.collect();
    if let Some(UnpairedSamples { start, challenger, .. }) = &shipment.unpaired {
        rows.extend(start.iter().map(|(nth, score)| row(*nth, [Some(*score), None], "-".to_owned())));
        rows.extend(challenger.iter().map(|(nth, score)| row(*nth, [None, Some(*score)], "-".to_owned())));
    }
    (!rows.is_empty()).then(|| table(&["Scenario", "Start", "Candidate", "Difference"], rows))
}

/// Returns the roles of a contestant in the run; it may have several.
fn part(run: &Run, shipment: &Shipment, id: CandidateId) -> Text {
    let best = run.best().is_some_and(|(best, _)| best == id);
    let parts: [(bool, Span); 4] = [
        (id == run.start(), plain("start")),
        (best, plain("best of the search")),
        (id == run.head(), plain("newest kept")),
        (id == shipment.champion, strong("champion")),
    ];
    joined(parts.into_iter().filter_map(|(is, name)| is.then_some(name)), ", ")
}
