//! The scores, round by round.

use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::{Round, Run};

use crate::loops::tune::words as phrases;
use crate::report::document::{Section, Text, code, paragraph, plain, strong, table_of, words};
use crate::text::figures;

pub fn scores(run: &Run) -> Section {
    let names = run.plan.task.contract.dimensions.iter().map(|dimension| words(&dimension.name).into());
    let head = ["Iter".into(), "Composite".into()].into_iter().chain(names);
    let head = head.chain(["Verdict".into(), "Candidate".into()]).collect();
    let scores = table_of(head, run.state.rounds.iter().map(|round| row(run, round)));
    let trend = paragraph([strong("Trend"), plain(format!(": {}", trend(run)))]);
    Section { title: "Score Progression", blocks: vec![scores, trend] }
}

fn row(run: &Run, round: &Round) -> Vec<Text> {
    let width = run.plan.task.contract.dimensions.len();
    let mut row = vec![round.number.to_string().into(), figures::score(round.score()).into()];
    row.extend(padded(round.measured.as_ref().map(|measured| measured.dimensions.as_slice()), width));
    row.extend([standing(run, round).into(), code(&round.candidate.short()).into()]);
    row
}

fn padded(scores: Option<&[Option<Score>]>, width: usize) -> impl Iterator<Item = Text> {
    let score = move |nth: usize| scores.and_then(|scores| scores.get(nth).copied().flatten());
    (0..width).map(move |nth| figures::score(score(nth)).into())
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

pub fn chain(run: &Run) -> Option<Section> {
    let members = &run.plan.task.target.members;
    let names = members.iter().map(|member| words(&member.name).into());
    let rows = run.state.rounds.iter().map(|round| {
        let scores = round.measured.as_ref().map(|measured| measured.members.as_slice());
        std::iter::once(round.number.to_string().into()).chain(padded(scores, members.len())).collect()
    });
    let scores = table_of(std::iter::once("Iter".into()).chain(names).collect(), rows);
    run.plan.is_chain().then(|| Section { title: "Chain Score Progression", blocks: vec![scores] })
}
