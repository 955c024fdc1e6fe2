//! Each round in short, and the ideas that were dropped.

use skilltune_phases::edit::EditReport;
use skilltune_phases::id::CandidateId;
use skilltune_phases::loops::tune::notes::Notes;
use skilltune_phases::loops::tune::{Edit, Round, Run, Standing};

use crate::loops::tune::words as told;
use crate::text::figures;
use crate::text::markdown::{Page, code, words};

/// More weaknesses than these are in the round's own evaluation.
const TOP: usize = 3;

pub fn details(page: &mut Page, run: &Run) {
    page.section("Iteration Details");
    if run.state.rounds.is_empty() {
        page.paragraph("No round has started.");
    }
    for round in &run.state.rounds {
        page.subsection(&format!("Iteration {}", round.number));
        page.list(detail(run, round));
    }
}

fn detail(run: &Run, round: &Round) -> Vec<String> {
    let judged = round.measured.as_ref().is_some_and(|measured| measured.judged > 0);
    let notes = if judged { Notes::of(run, round.candidate, round.era) } else { Notes::default() };
    let several = |texts: &[Box<str>]| {
        let texts: Vec<_> = texts.iter().take(TOP).map(|text| words(text)).collect();
        if texts.is_empty() { "none named".to_owned() } else { texts.join("; ") }
    };
    vec![
        format!("**Score**: {}{}", figures::score(round.score()), standing(run, round)),
        format!("**Strengths**: {}", several(&notes.strengths)),
        format!("**Top Weaknesses**: {}", several(&notes.weaknesses)),
        format!("**Changes**: {}", changes(run, round)),
    ]
}

fn standing(run: &Run, round: &Round) -> String {
    match (&round.standing, &round.measured) {
        (Some(Standing::Kept), _) => ", kept".to_owned(),
        (Some(Standing::Dropped(why)), _) => format!(", dropped: {why}"),
        (None, Some(measured)) => {
            format!(", incomplete: {} of {} scenarios judged", measured.judged, measured.of)
        }
        (None, None) if run.state.closed.is_none() => ", running".to_owned(),
        (None, None) => String::new(),
    }
}

fn changes(run: &Run, round: &Round) -> String {
    match &round.edit {
        None => "0".to_owned(),
        Some(Edit::Nothing { failure, .. }) => {
            format!("0: the improver {}: {}", told::failure(failure.kind), words(&failure.why))
        }
        Some(Edit::Draft { origin, .. }) => {
            told_changes(&origin.report, words(told::member(run, origin.member)).as_str())
        }
    }
}

fn told_changes(report: &EditReport, member: &str) -> String {
    let mut text = format!("{}, in {member}", report.changes.len());
    for change in &report.changes {
        text.push_str("\n- ");
        text.push_str(&words(&change.description));
    }
    text
}

pub fn dropped(page: &mut Page, run: &Run) {
    page.section("Dropped Ideas");
    page.list(run.dropped().iter().map(|dropped| {
        let member = words(told::member(run, dropped.member));
        let idea = dropped.draft.map_or(String::new(), idea);
        format!("Round {}, {member}{idea}: {}", dropped.round, words(&dropped.why))
    }));
}

/// Which candidate it was, and what its improver said of it.
fn idea((candidate, report): (CandidateId, &EditReport)) -> String {
    let said = report.summary.as_deref().or(first_change(report));
    let said = said.map_or(String::new(), |said| format!(" ({})", words(said)));
    format!(", {}{said}", code(&candidate.short()))
}

fn first_change(report: &EditReport) -> Option<&str> {
    report.changes.first().map(|change| &*change.description)
}
