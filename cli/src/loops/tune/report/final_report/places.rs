//! The paths of all files, and the commands that restore the skill or apply another version.

use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::Run;

use crate::loops::tune::advice;
use crate::report::document::{Section, code, paragraph, table};

pub fn artifacts(run: &Run) -> Section {
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
        ("This report as data", "report.json"),
        ("Test cases", "junit.xml"),
    ];
    let row = |(what, path): (&str, &str)| vec![what.into(), code(&format!("{folder}/{path}")).into()];
    let places = table(&["What", "Path"], places.into_iter().chain(viewer).map(row));
    Section { title: "Artifact Locations", blocks: vec![places] }
}

pub fn restore(run: &Run) -> Section {
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
