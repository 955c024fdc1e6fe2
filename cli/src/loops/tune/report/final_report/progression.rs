//! The scores, round by round.

use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::{Round, Run};

use crate::loops::tune::words as phrases;
use crate::text::figures;
use crate::text::markdown::{MarkdownPage, code_cell, words};

pub fn scores(page: &mut MarkdownPage, run: &Run) {
    let names = run.plan.task.contract.dimensions.iter().map(|dimension| words(&dimension.name));
    let head: Vec<String> = ["Iter".to_owned(), "Composite".to_owned()]
        .into_iter()
        .chain(names)
        .chain(["Verdict".to_owned(), "Candidate".to_owned()])
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    page.section("Score Progression");
    page.table(&head, run.state.rounds.iter().map(|round| row(run, round)));
    page.paragraph(format!("**Trend**: {}", trend(run)));
}

fn row(run: &Run, round: &Round) -> Vec<String> {
    let width = run.plan.task.contract.dimensions.len();
    let mut row = vec![round.number.to_string(), figures::score(round.score())];
    row.extend(padded(round.measured.as_ref().map(|measured| measured.dimensions.as_slice()), width));
    row.extend([standing(run, round), code_cell(&round.candidate.short())]);
    row
}

fn padded(scores: Option<&[Option<Score>]>, width: usize) -> impl Iterator<Item = String> {
    (0..width).map(move |nth| figures::score(scores.and_then(|scores| scores.get(nth).copied().flatten())))
}

fn standing(run: &Run, round: &Round) -> String {
    let claimed = round.measured.as_ref().is_some_and(|measured| measured.claimed);
    let word = phrases::RoundStatus::of(run, round).map_or("running", phrases::RoundStatus::word);
    if claimed { format!("{word}, claimed") } else { word.to_owned() }
}

fn trend(run: &Run) -> String {
    let scores: Vec<_> =
        run.state.rounds.iter().filter_map(Round::score).map(|score| score.to_string()).collect();
    if scores.is_empty() { "no score yet".to_owned() } else { scores.join(" → ") }
}

pub fn chain(page: &mut MarkdownPage, run: &Run) {
    if !run.plan.is_chain() {
        return;
    }
    let members = &run.plan.task.target.members;
    let names: Vec<String> = members.iter().map(|member| words(&member.name)).collect();
    let head: Vec<&str> = std::iter::once("Iter").chain(names.iter().map(String::as_str)).collect();
    page.section("Chain Score Progression");
    page.table(
        &head,
        run.state.rounds.iter().map(|round| {
            let scores = round.measured.as_ref().map(|measured| measured.members.as_slice());
            std::iter::once(round.number.to_string()).chain(padded(scores, members.len())).collect()
        }),
    );
}
