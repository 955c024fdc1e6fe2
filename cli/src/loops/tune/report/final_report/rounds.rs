//! The scores round by round, each round in short, and the dropped ideas.

use skilltune_phases::base::id::CandidateId;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::results::notes::Notes;
use skilltune_phases::loops::tune::search::explanation::{self, Explanation, Fault, LeftAlone};
use skilltune_phases::loops::tune::{Edit, Round, RoundResult, Run};
use skilltune_phases::skills::edit::EditReport;

use crate::loops::tune::words as phrases;
use crate::report::document::{
    Block, Item, Section, Span, Text, code, joined, list, paragraph, plain, strong, table_of, words,
};
use crate::text::figures;

/// The most weaknesses shown; the round's own evaluation has all.
const TOP: usize = 3;

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
    row.extend([verdict(run, round).into(), code(&round.candidate.short()).into()]);
    row
}

fn padded(scores: Option<&[Option<Score>]>, width: usize) -> impl Iterator<Item = Text> {
    let score = move |nth: usize| scores.and_then(|scores| scores.get(nth).copied().flatten());
    (0..width).map(move |nth| figures::score(score(nth)).into())
}

fn verdict(run: &Run, round: &Round) -> String {
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

pub fn details(run: &Run) -> Section {
    let rounds = run.state.rounds.iter().zip(explanation::of(run));
    let mut blocks: Vec<Block> = rounds
        .flat_map(|(round, explanation)| {
            let heading = Block::Heading(format!("Iteration {}", round.number));
            [heading, Block::List(detail(run, round, &explanation))]
        })
        .collect();
    if blocks.is_empty() {
        blocks.push(paragraph("No round has started."));
    }
    Section { title: "Iteration Details", blocks }
}

/// Returns an item that begins with its name.
fn named(name: &str, text: impl Into<Text>, below: Vec<Text>) -> Item {
    let Text(spans) = text.into();
    Item { text: Text([strong(name), plain(": ")].into_iter().chain(spans).collect()), below }
}

fn detail(run: &Run, round: &Round, explanation: &Explanation) -> Vec<Item> {
    let judged = round.measured.as_ref().is_some_and(|measured| measured.judged > 0);
    let notes = if judged { Notes::of(run, round.candidate, round.era) } else { Notes::default() };
    let several = |texts: &[Box<str>]| {
        if texts.is_empty() {
            return "none named".into();
        }
        joined(texts.iter().take(TOP).map(|text| words(text)), "; ")
    };
    let mut items = Vec::new();
    let is_by_trials = phrases::is_by_single_trials(&run.plan);
    if is_by_trials {
        items.push(named("Tried", words(&phrases::tried(run, &round.scenarios)), Vec::new()));
    }
    let score = format!("{}{}", figures::score(round.score()), standing(run, round));
    items.extend([
        named("Score", score, Vec::new()),
        named("Strengths", several(&notes.strengths), Vec::new()),
        named("Top Weaknesses", several(&notes.weaknesses), Vec::new()),
    ]);
    if is_by_trials {
        let at_fault = phrases::at_fault(&run.plan, explanation);
        items.extend(at_fault.map(|members| named("At Fault", words(&members), Vec::new())));
        items.push(targets(explanation));
        items.extend(left_alone(explanation));
    }
    items.push(changes(run, round));
    items
}

/// Returns what the edit was for, and the result of its next trial.
fn targets(explanation: &Explanation) -> Item {
    let targets: Vec<Text> = explanation.targets.iter().map(|one| fault(one).into()).collect();
    named("To Edit", targets.len().to_string(), targets)
}

fn left_alone(explanation: &Explanation) -> Option<Item> {
    let item = |(one, why): &(Fault, LeftAlone)| {
        let [statement, chance] = fault(one);
        [plain(format!("{}: ", left_because(*why))), statement, chance].into()
    };
    let items: Vec<Text> = explanation.left_alone.iter().map(item).collect();
    (!items.is_empty()).then(|| named("Left Alone", items.len().to_string(), items))
}

fn left_because(why: LeftAlone) -> &'static str {
    match why {
        LeftAlone::ProbablyMet => "probably met",
        LeftAlone::OthersFirst => "others come first",
        LeftAlone::OtherMember => "another member is probably at fault",
        LeftAlone::SearchEnded => "the search ended",
    }
}

/// Returns a statement, and how likely it is met, by the trials until then and by the next round that tested it.
fn fault(fault: &Fault) -> [Span; 2] {
    let after = fault.next.map(|next| {
        let came = if next.is_met { "passed" } else { "failed" };
        format!("; {} after it {came} in round {}", figures::percent(next.chance), next.round)
    });
    let (chance, trials) = (figures::percent(fault.chance), phrases::trials(fault));
    let chance = format!(" ({chance} likely met, {trials}{})", after.unwrap_or_default());
    [words(phrases::statement(fault)), plain(chance)]
}

fn standing(run: &Run, round: &Round) -> String {
    match (&round.result, &round.measured) {
        (Some(RoundResult::Kept), _) => ", kept".to_owned(),
        (Some(RoundResult::Dropped(why)), _) => format!(", dropped: {why}"),
        (None, Some(measured)) => {
            format!(", incomplete: {} of {} scenarios judged", measured.judged, measured.of)
        }
        (None, None) if run.state.closed.is_none() => ", running".to_owned(),
        (None, None) => String::new(),
    }
}

fn changes(run: &Run, round: &Round) -> Item {
    match &round.edit {
        None => named("Changes", "0", Vec::new()),
        Some(Edit::Nothing { failure, .. }) => {
            let kind = plain(format!("0: the improver {}: ", phrases::failure(failure.kind)));
            named("Changes", [kind, words(&failure.why)], Vec::new())
        }
        Some(Edit::Draft { origin, .. }) => {
            let changes = &origin.report.changes;
            let number = plain(format!("{}, in ", changes.len()));
            let member = words(phrases::member(run, origin.member));
            let kinds = plain(phrases::kinds_after(&origin.kinds));
            let below = changes.iter().map(|change| words(&change.description).into()).collect();
            named("Changes", [number, member, kinds], below)
        }
    }
}

pub fn dropped(run: &Run) -> Section {
    let ideas = run.dropped().into_iter().map(|dropped| {
        let round = plain(format!("Round {}, ", dropped.round));
        let member = words(phrases::member(run, dropped.member));
        let idea = dropped.draft.map(idea).unwrap_or_default();
        let why = [plain(": "), words(&dropped.why)];
        Text([round, member].into_iter().chain(idea).chain(why).collect())
    });
    Section { title: "Dropped Ideas", blocks: vec![list(ideas)] }
}

/// Returns which candidate it was, and its improver's description.
fn idea((candidate, report): (CandidateId, &EditReport)) -> Vec<Span> {
    let text = phrases::idea(report).map(|text| [plain(" ("), words(text), plain(")")]);
    [plain(", "), code(&candidate.short())].into_iter().chain(text.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::tune::search::explanation::Recheck;

    use super::*;
    use crate::loops::tune::world::edited_twice;
    use crate::report::page::add;
    use crate::text::markdown::MarkdownPage;

    fn shown(section: &Section) -> String {
        let mut page = MarkdownPage::titled("Report");
        add(&mut page, section);
        page.finish()
    }

    #[test]
    fn what_an_edit_was_for_is_told_with_what_the_next_trial_showed() {
        let fault = |statement: &str, passed, chance, next| {
            let (criterion, statement) = ("task-1/it".into(), statement.into());
            Fault { criterion, statement, times: 1, passed, failed: 4, chance, at_fault: Vec::new(), next }
        };
        let next = |is_met, chance| Some(Recheck { round: 3, is_met, chance });
        let explanation = Explanation {
            targets: vec![fault("It is *short*.", 1, 0.03, next(true, 0.62)), fault("", 0, 0.01, None)],
            left_alone: vec![(fault("It is calm.", 9, 0.88, next(false, 0.5)), LeftAlone::ProbablyMet)],
        };
        let items = [Some(targets(&explanation)), left_alone(&explanation)];
        let list = Block::List(items.into_iter().flatten().collect());
        insta::assert_snapshot!(shown(&Section { title: "Why", blocks: vec![list] }), @r"
        # Report

        ## Why

        - **To Edit**: 2
          - It is \*short\*. (3% likely met, failed 4 of 5; 62% after it passed in round 3)
          - task-1/it (1% likely met, failed 4 of 4)
        - **Left Alone**: 1
          - probably met: It is calm. (88% likely met, met in 9 of 13; 50% after it failed in round 3)
        ");
        assert!(left_alone(&Explanation::default()).is_none());
    }

    #[test]
    fn each_round_of_a_search_by_single_trials_names_what_it_tried_and_edited() {
        let page = shown(&details(&edited_twice().run));
        let named = |line: &&str| line.starts_with("- **T") && !line.starts_with("- **Top");
        let lines: Vec<&str> = page.lines().filter(named).take(6).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        - **Tried**: 5 scenarios
        - **To Edit**: 1
        - **Tried**: task-4
        - **To Edit**: 1
        - **Tried**: task-7
        - **To Edit**: 0
        ");
    }
}
