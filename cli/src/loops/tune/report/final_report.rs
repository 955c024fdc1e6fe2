//! The report of a search: the sections of the original and our own, from the result to how to undo it.

mod comparison;
mod rounds;

use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::Run;
use skilltune_phases::loops::tune::results::notes::Notes;
use skilltune_phases::suites::scenario::Scenario;

use crate::loops::tune::advice;
use crate::loops::tune::dangers;
use crate::loops::tune::improvers;
use crate::loops::tune::report::uses;
use crate::loops::tune::verdicts;
use crate::loops::tune::words as phrases;
use crate::report::document::{
    Block, Report, Row, Section, Span, Text, code, joined, list, paragraph, plain, strong, table, words,
};
use crate::text::figures;

pub fn report(run: &Run) -> Report {
    let mut sections = vec![rounds::scores(run)];
    sections.extend(rounds::chain(run));
    sections.extend([
        comparison::comparison(run),
        rounds::details(run),
        rounds::dropped(run),
        remaining(run),
    ]);
    Report {
        title: [plain("Final Report: "), words(&phrases::target(run))].into(),
        warning: warning(run),
        lead: lead(run),
        about: about(run),
        more: more(run),
        remark: uses::text(uses::of_champion(run)),
        sections,
        unit: "round",
        tail: vec![artifacts(run), restore(run)],
    }
}

fn lead(run: &Run) -> Vec<Block> {
    let outcome_text = verdicts::outcome_text(run);
    // It includes output of git.
    let outcome_text = if run.proposed().is_some() { words(&outcome_text) } else { plain(outcome_text) };
    let mut blocks = comparison::verdict(run);
    blocks.push(paragraph([strong(phrases::label(run)), plain(". "), outcome_text]));
    blocks.extend(verdicts::fail_on(run).map(|fail_on| paragraph(words(&fail_on))));
    blocks
}

/// Returns what a person looks at before the champion is applied.
fn warning(run: &Run) -> Option<Section> {
    let all = dangers::of_champion(run);
    let text = "The champion's edits contain these changes. Review them before you apply or keep it:";
    let blocks = vec![paragraph(text), list(all.iter().map(|line| words(line).into()))];
    (!all.is_empty()).then_some(Section { title: "Dangerous Changes", blocks })
}

fn about(run: &Run) -> Vec<Row> {
    let plan = &run.plan;
    let members = plan.task.target.members.iter().map(|member| code(&member.path));
    let mut rows: Vec<Row> = vec![
        ("Target Skills", joined(members, ", ")),
        ("Execution Mode", if plan.is_chain() { "chain" } else { "single" }.into()),
    ];
    if plan.is_chain() {
        rows.push(("Chain Order", words(&phrases::target(run)).into()));
    }
    rows.push(("Test Scenarios", scenarios(run)));
    rows
}

fn more(run: &Run) -> Vec<Row> {
    let (plan, state) = (&run.plan, &run.state);
    let ended = state.stopped.map_or("not yet", |reason| phrases::reason(plan, reason));
    let improvers = improvers::text(run).map(|line| ("Improvers", words(&line).into()));
    let rest: [Row; 8] = [
        ("Delivery", delivery(&plan.task.delivery)),
        (
            "Iterations",
            format!("{} of at most {}", state.rounds.len(), plan.task.rules.max_iterations).into(),
        ),
        ("Accepted, Rejected", format!("{}, {}", run.accepted(), run.rejected()).into()),
        ("Initial Score", figures::score(run.initial_score()).into()),
        ("Final Score", final_score(run).into()),
        ("Threshold", plan.task.rules.threshold.typed().into()),
        ("Outcome", phrases::label(run).into()),
        ("Search Ended", ended.into()),
    ];
    improvers.into_iter().chain(rest).collect()
}

fn delivery(delivery: &Delivery) -> Text {
    match delivery {
        Delivery::Inline => "inline, in the prompt".into(),
        Delivery::Installed { at } => [plain("installed in "), code(at)].into(),
        Delivery::Slash { at } => [plain("installed in "), code(at), plain(", called by its name")].into(),
    }
}

/// Returns the task, or the ids if there are several.
fn scenarios(run: &Run) -> Text {
    match run.plan.task.scenarios.as_slice() {
        [] => "none".into(),
        [only] => words(&only.description).into(),
        many => {
            let id = |(nth, scenario): (usize, &Scenario)| {
                let held_out = if scenario.held_out { " (held out)" } else { "" };
                [plain(if nth == 0 { ": " } else { ", " }), words(&scenario.id), plain(held_out)]
            };
            let ids = many.iter().enumerate().flat_map(id);
            Text([words(&phrases::scenarios(&run.plan))].into_iter().chain(ids).collect::<Vec<Span>>())
        }
    }
}

fn final_score(run: &Run) -> String {
    // Without a test, a difference would look like a gain.
    let before = run.initial_score().filter(|_| verdicts::is_tested(run));
    run.final_score().map_or("-".to_owned(), |score| figures::score_since(score, before))
}

/// Returns the weaknesses of the champion or, before there is one, of the newest version that was kept.
pub fn weaknesses(run: &Run) -> Vec<Box<str>> {
    let candidate = run.state.shipment.as_ref().map_or_else(|| run.head(), |shipment| shipment.champion);
    Notes::of(run, candidate, run.era_of(candidate)).weaknesses
}

fn remaining(run: &Run) -> Section {
    let weaknesses = list(weaknesses(run).iter().map(|weakness| words(weakness).into()));
    Section { title: "Remaining Weaknesses", blocks: vec![weaknesses] }
}

/// Returns the paths of all files.
fn artifacts(run: &Run) -> Section {
    let folder = &run.plan.folder;
    let viewer = run.plan.task.has_demands().then_some(("For skill-creator's viewer", "viewer/"));
    let places = [
        ("State", "iteration-state.json"),
        ("History", "history.jsonl"),
        ("Evaluations", "iterations/iteration-N/iteration-N-eval.md"),
        ("Changes", "iterations/iteration-N/iteration-N-changes.md"),
        ("Artifacts", "iterations/iteration-N/artifacts/"),
        ("Calls of agents", "agents/"),
        ("This report", "final-report.md"),
        ("This report for a browser", "report.html"),
        ("This report as data", "report.json"),
        ("Test cases", "junit.xml"),
    ];
    let row = |(what, path): (&str, &str)| vec![what.into(), code(&format!("{folder}/{path}")).into()];
    let places = table(&["What", "Path"], places.into_iter().chain(viewer).map(row));
    Section { title: "Artifact Locations", blocks: vec![places] }
}

/// Returns the commands that restore the skill or apply another version.
fn restore(run: &Run) -> Section {
    let id = &run.plan.run;
    let champion =
        run.state.shipment.as_ref().map(|shipment| shipment.champion).filter(|&one| one != run.start());
    let mut commands = Vec::new();
    if advice::was_replaced(run) {
        commands.push(("Restore the skill", format!("skilltune rollback {id}")));
    }
    if champion.is_some() {
        let apply = advice::apply(run);
        commands.push(("Show what the champion changes", format!("skilltune diff {id}")));
        commands.push(("Apply the champion", format!("skilltune {apply} {id}")));
    }
    commands.push(("Copy the original to a folder", format!("skilltune export {id} start DIR")));
    let mut others = run.state.candidates.iter().map(|candidate| candidate.id).skip(1);
    let other = others.find(|&one| champion != Some(one));
    commands.extend(other.map(|one| ("Copy another candidate to a folder", export(run, one))));
    let text = "The original skill is stored byte for byte. To restore it or another version:";
    let rows = commands.into_iter().map(|(what, command)| vec![what.into(), code(&command).into()]);
    Section { title: "Restore Original", blocks: vec![paragraph(text), table(&["To", "Run"], rows)] }
}

fn export(run: &Run, candidate: CandidateId) -> String {
    format!("skilltune export {} {} DIR", run.plan.run, candidate.short())
}

#[cfg(test)]
pub fn final_report(run: &Run) -> String {
    let none = skilltune_orchestrator::snapshot::Objects::at(std::path::Path::new("/p/.skilltune/objects"));
    crate::report::page::page(run, &none)
}

#[cfg(test)]
mod tests;
