//! Each round in short, and the dropped ideas.

use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::results::notes::Notes;
use skilltune_phases::loops::tune::search::explanation::{self, Explanation, Fault, LeftAlone};
use skilltune_phases::loops::tune::{Edit, Round, RoundResult, Run};
use skilltune_phases::skills::edit::EditReport;

use crate::loops::tune::words as phrases;
use crate::text::figures;
use crate::text::markdown::{MarkdownPage, code, words};

/// The most weaknesses shown; the round's own evaluation has all.
const TOP: usize = 3;

pub fn details(page: &mut MarkdownPage, run: &Run) {
    page.section("Iteration Details");
    if run.state.rounds.is_empty() {
        page.paragraph("No round has started.");
    }
    for (round, explanation) in run.state.rounds.iter().zip(explanation::of(run)) {
        page.subsection(&format!("Iteration {}", round.number));
        page.list(detail(run, round, &explanation));
    }
}

fn detail(run: &Run, round: &Round, explanation: &Explanation) -> Vec<String> {
    let judged = round.measured.as_ref().is_some_and(|measured| measured.judged > 0);
    let notes = if judged { Notes::of(run, round.candidate, round.era) } else { Notes::default() };
    let several = |texts: &[Box<str>]| {
        let texts: Vec<_> = texts.iter().take(TOP).map(|text| words(text)).collect();
        if texts.is_empty() { "none named".to_owned() } else { texts.join("; ") }
    };
    let mut items = vec![
        format!("**Score**: {}{}", figures::score(round.score()), standing(run, round)),
        format!("**Strengths**: {}", several(&notes.strengths)),
        format!("**Top Weaknesses**: {}", several(&notes.weaknesses)),
    ];
    if phrases::is_by_single_trials(&run.plan) {
        items.insert(0, format!("**Tried**: {}", words(&phrases::tried(run, &round.scenarios))));
        let at_fault = phrases::at_fault(&run.plan, explanation);
        items.extend(at_fault.map(|members| format!("**At Fault**: {}", words(&members))));
        items.push(targets(explanation));
        items.extend(left_alone(explanation));
    }
    items.push(format!("**Changes**: {}", changes(run, round)));
    items
}

/// Returns what the edit was for, and the result of its next trial.
fn targets(explanation: &Explanation) -> String {
    let targets: Vec<String> = explanation.targets.iter().map(|one| format!("\n- {}", fault(one))).collect();
    format!("**To Edit**: {}{}", targets.len(), targets.concat())
}

fn left_alone(explanation: &Explanation) -> Option<String> {
    let item = |(one, why): &(Fault, LeftAlone)| format!("\n- {}: {}", left_because(*why), fault(one));
    let items: Vec<String> = explanation.left_alone.iter().map(item).collect();
    (!items.is_empty()).then(|| format!("**Left Alone**: {}{}", items.len(), items.concat()))
}

fn left_because(why: LeftAlone) -> &'static str {
    match why {
        LeftAlone::ProbablyMet => "probably met",
        LeftAlone::OthersFirst => "others come first",
        LeftAlone::OtherMember => "another member is probably at fault",
        LeftAlone::SearchEnded => "the search ended",
    }
}

/// Returns how likely it is met, by the trials until then and by the next round that tested it.
fn fault(fault: &Fault) -> String {
    let after = fault.next.map(|next| {
        let came = if next.is_met { "passed" } else { "failed" };
        format!("; {} after it {came} in round {}", figures::percent(next.chance), next.round)
    });
    let (chance, trials) = (figures::percent(fault.chance), phrases::trials(fault));
    format!(
        "{} ({chance} likely met, {trials}{})",
        words(phrases::statement(fault)),
        after.unwrap_or_default()
    )
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

fn changes(run: &Run, round: &Round) -> String {
    match &round.edit {
        None => "0".to_owned(),
        Some(Edit::Nothing { failure, .. }) => {
            format!("0: the improver {}: {}", phrases::failure(failure.kind), words(&failure.why))
        }
        Some(Edit::Draft { origin, .. }) => {
            let member = words(phrases::member(run, origin.member));
            changes_text(&origin.report, &format!("{member}{}", phrases::kinds_after(&origin.kinds)))
        }
    }
}

fn changes_text(report: &EditReport, member: &str) -> String {
    let mut text = format!("{}, in {member}", report.changes.len());
    for change in &report.changes {
        text.push_str("\n- ");
        text.push_str(&words(&change.description));
    }
    text
}

pub fn dropped(page: &mut MarkdownPage, run: &Run) {
    page.section("Dropped Ideas");
    page.list(run.dropped().iter().map(|dropped| {
        let member = words(phrases::member(run, dropped.member));
        let idea = dropped.draft.map_or(String::new(), idea);
        format!("Round {}, {member}{idea}: {}", dropped.round, words(&dropped.why))
    }));
}

/// Returns which candidate it was, and its improver's description.
fn idea((candidate, report): (CandidateId, &EditReport)) -> String {
    let said = report.summary.as_deref().or(first_change(report));
    let said = said.map_or(String::new(), |said| format!(" ({})", words(said)));
    format!(", {}{said}", code(&candidate.short()))
}

fn first_change(report: &EditReport) -> Option<&str> {
    report.changes.first().map(|change| &*change.description)
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::tune::search::explanation::Recheck;

    use super::*;
    use crate::loops::tune::world::edited_twice;

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
        let texts = [Some(targets(&explanation)), left_alone(&explanation)];
        insta::assert_snapshot!(texts.into_iter().flatten().collect::<Vec<_>>().join("\n"), @r"
        **To Edit**: 2
        - It is \*short\*. (3% likely met, failed 4 of 5; 62% after it passed in round 3)
        - task-1/it (1% likely met, failed 4 of 4)
        **Left Alone**: 1
        - probably met: It is calm. (88% likely met, met in 9 of 13; 50% after it failed in round 3)
        ");
        assert_eq!(left_alone(&Explanation::default()), None);
    }

    #[test]
    fn each_round_of_a_search_by_single_trials_names_what_it_tried_and_edited() {
        let run = edited_twice().run;
        let mut page = MarkdownPage::part();
        details(&mut page, &run);
        let page = page.finish();
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
