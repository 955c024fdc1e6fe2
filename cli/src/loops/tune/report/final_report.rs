//! `final-report.md`: the sections of the original and our own, from the result to how to undo it.

mod comparison;
mod places;
mod progression;
mod rounds;

use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::loops::tune::Run;
use skilltune_phases::loops::tune::results::notes::Notes;
use skilltune_phases::suites::scenario::Scenario;

use crate::loops::tune::dangers as danger_lines;
use crate::loops::tune::improvers;
use crate::loops::tune::report::uses;
use crate::loops::tune::verdicts;
use crate::loops::tune::words as phrases;
use crate::report::costs;
use crate::text::figures;
use crate::text::markdown::{MarkdownPage, code_cell, words};

pub fn final_report(run: &Run) -> String {
    let mut page = MarkdownPage::titled(&format!("Final Report: {}", words(&phrases::target(run))));
    dangers(&mut page, run);
    comparison::verdict(&mut page, run);
    let outcome_text = verdicts::outcome_text(run);
    // It includes output of git.
    let outcome_text = if run.proposed().is_some() { words(&outcome_text) } else { outcome_text };
    page.paragraph(format!("**{}**. {outcome_text}", phrases::label(run)));
    if let Some(fail_on) = verdicts::fail_on(run) {
        page.paragraph(words(&fail_on));
    }
    summary(&mut page, run);
    progression::scores(&mut page, run);
    progression::chain(&mut page, run);
    comparison::comparison(&mut page, run);
    rounds::details(&mut page, run);
    rounds::dropped(&mut page, run);
    remaining(&mut page, run);
    costs::costs(&mut page, run);
    costs::errors(&mut page, run, "round");
    places::artifacts(&mut page, run);
    places::restore(&mut page, run);
    page.finish()
}

/// Writes first what a person looks at before the champion is applied.
fn dangers(page: &mut MarkdownPage, run: &Run) {
    let all = danger_lines::of_champion(run);
    if !all.is_empty() {
        page.section("Dangerous Changes");
        page.paragraph(
            "The champion's edits contain these changes. Review them before you apply or keep it:",
        );
        page.list(all.iter().map(|line| words(line)));
    }
}

fn summary(page: &mut MarkdownPage, run: &Run) {
    let plan = &run.plan;
    let members = plan.task.target.members.iter().map(|member| code_cell(&member.path));
    let mut rows = vec![
        ("Run", format!("{} ({})", code_cell(plan.run.as_str()), plan.kind.word())),
        ("Target Skills", members.collect::<Vec<_>>().join(", ")),
        ("Execution Mode", if plan.is_chain() { "chain" } else { "single" }.to_owned()),
    ];
    if plan.is_chain() {
        rows.push(("Chain Order", words(&phrases::target(run))));
    }
    rows.extend([("Test Scenarios", scenarios(run)), ("Agents", words(&phrases::roles(&plan.roles)))]);
    let notes =
        phrases::notes(plan).into_iter().chain(phrases::changes(run)).chain(phrases::answers_found(run));
    rows.extend(phrases::models(run).map(|models| ("Models", words(&models))));
    rows.extend(notes.map(|note| ("Note", words(&note))));
    rows.push(("Rights of Roles", phrases::rights(&plan.roles)));
    rows.extend(improvers::text(run).map(|line| ("Improvers", words(&line))));
    rows.extend([
        ("Delivery", delivery(&plan.task.delivery)),
        ("Iterations", format!("{} of at most {}", run.state.rounds.len(), plan.task.rules.max_iterations)),
        ("Accepted, Rejected", format!("{}, {}", run.accepted(), run.rejected())),
        ("Initial Score", figures::score(run.initial_score())),
        ("Final Score", final_score(run)),
        ("Threshold", plan.task.rules.threshold.typed()),
        ("Outcome", phrases::label(run).to_owned()),
        (
            "Search Ended",
            run.state.stopped.map_or("not yet", |reason| phrases::reason(&run.plan, reason)).to_owned(),
        ),
        ("Started", format!("{:.0}", run.started_at)),
        ("Completed", run.closed_at.map_or("not yet".to_owned(), |at| format!("{at:.0}"))),
    ]);
    page.section("Summary");
    page.table(&["Field", "Value"], rows.into_iter().map(|(field, value)| vec![field.to_owned(), value]));
    if let Some(unused) = uses::text(uses::of_champion(run)) {
        page.paragraph(unused);
    }
}

fn delivery(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Inline => "inline, in the prompt".to_owned(),
        Delivery::Installed { at } => format!("installed in {}", code_cell(at)),
        Delivery::Slash { at } => format!("installed in {}, called by its name", code_cell(at)),
    }
}

/// Returns the task, or the ids if there are several.
fn scenarios(run: &Run) -> String {
    match run.plan.task.scenarios.as_slice() {
        [] => "none".to_owned(),
        [only] => words(&only.description),
        many => {
            let held_out = |scenario: &Scenario| if scenario.held_out { " (held out)" } else { "" };
            let ids: Vec<_> = many.iter().map(|one| format!("{}{}", words(&one.id), held_out(one))).collect();
            format!("{}: {}", words(&phrases::scenarios(&run.plan)), ids.join(", "))
        }
    }
}

fn final_score(run: &Run) -> String {
    let before = run.initial_score().filter(|_| run.state.shipment.is_some());
    run.final_score().map_or("-".to_owned(), |score| figures::score_since(score, before))
}

/// Writes the weaknesses of the champion or, before there is one, of the newest version that was kept.
fn remaining(page: &mut MarkdownPage, run: &Run) {
    let candidate = run.state.shipment.as_ref().map_or_else(|| run.head(), |shipment| shipment.champion);
    page.section("Remaining Weaknesses");
    let notes = Notes::of(run, candidate, run.era_of(candidate));
    page.list(notes.weaknesses.iter().map(|weakness| words(weakness)));
}

#[cfg(test)]
mod tests;
