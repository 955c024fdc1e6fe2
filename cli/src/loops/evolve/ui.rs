//! The facts about `evolve` that the program needs. The keys of its JSON are a public interface.

use std::path::PathBuf;

use serde_json::Value;
use skilltune_orchestrator::snapshot::{Objects, git_folders};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::task::Apply;
use skilltune_phases::loops::evolve::view::{Ended, TaskState, TaskView};
use skilltune_phases::loops::evolve::{Answer, Decision, EVIDENCE, Evolve, Plan, Run, Step};

use crate::loops::evolve::{bring, json, page, places, receipts, repeated, words};
use crate::report::document::Report;
use crate::report::summary::{Data, Head, Summary};
use crate::report::ui::Ui;
use crate::report::words::changes;
use crate::terminal::exit::Exit;
use crate::text::plain::one_line;
use crate::text::width::cut;

impl Ui for Evolve {
    const START: &'static str = "skilltune evolve SPEC";
    const TARGET: &'static str = "folder";

    /// A version of evolve is one tree, and is named by it.
    fn displaced(from: &[TreeId]) -> String {
        from.first().map_or_else(String::new, TreeId::short)
    }

    fn command_seconds(plan: &Plan) -> u64 {
        plan.task.command_seconds
    }

    fn targets(plan: &Plan) -> Vec<PathBuf> {
        let target = match plan.task.apply {
            Apply::Tree => &plan.task.root,
            // Any other run writes only its own folder.
            Apply::Never | Apply::Propose(_) => &plan.folder,
        };
        vec![PathBuf::from(target)]
    }

    fn secrets(plan: &Plan, objects: &Objects) -> Vec<String> {
        bring::secrets(objects, &plan.task)
    }

    /// Returns the folders of the project that may hold oracles of earlier runs.
    fn hidden(plan: &Plan) -> Vec<PathBuf> {
        let root = PathBuf::from(&plan.task.root);
        let git = git_folders(&root);
        std::iter::once(root.join(EVIDENCE)).chain(git).collect()
    }

    fn may_call(run: &Run) -> bool {
        run.state.end.is_none()
    }

    fn exit(run: &Run) -> Exit {
        run.class().into()
    }

    fn ended_as(run: &Run) -> &'static str {
        match run.outcome() {
            Ended::Reached | Ended::Planned => "completed",
            Ended::NotReached | Ended::Kept | Ended::Paused => "stopped",
            Ended::Incomplete => "failed",
        }
    }

    fn step(run: &Run, step: &Step) -> String {
        words::step(run, step)
    }

    fn answered(answer: &Answer) -> String {
        words::answered(answer)
    }

    fn decided(run: &Run, decision: &Decision) -> String {
        words::decided(run, decision)
    }

    fn place(run: &Run) -> String {
        words::place(run)
    }

    fn resumed_at(run: &Run) -> String {
        format!(" in {}", words::place(run))
    }

    fn summary(run: &Run, _: Option<&Objects>) -> Summary {
        let (plan, name) = (&run.plan, one_line(&run.plan.task.name));
        Summary {
            kind: plan.kind.word(),
            subject: name.clone(),
            head: Head::new("evolve ", name, words::aim(run)),
            sentence: places::sentence(run),
            progress: tasks(run).unwrap_or_else(|| words::place(run)),
            result: result(run),
            facts: facts(run),
            cast: plan.roles.clone(),
            notes: words::notes(plan),
            found: changes(run).collect(),
            next: places::next(run),
            data: Data { subject: json::subject(run), result: json::result(run), ..Data::default() },
        }
    }

    fn report(run: &Run, _: &Objects) -> Report {
        page::report(run)
    }

    fn details(run: &Run, _: &Objects) -> [Value; 2] {
        [Value::Null, json::details(run)]
    }
}

/// Returns the result so far, for a column of a table.
fn result(run: &Run) -> String {
    if run.plan.task.verify.is_some() {
        return repeated::counted(run);
    }
    criteria(run).unwrap_or_else(|| "-".to_owned())
}

/// Returns the state of the run in short, as named facts.
pub fn facts(run: &Run) -> Vec<(&'static str, String)> {
    if run.plan.task.verify.is_some() {
        return repeated::facts(run);
    }
    let numbers = run.evaluation().map(|evaluation| words::measured(run, evaluation));
    let plan = places::files(run).into_iter().map(|(_, path)| ("plan", one_line(&path)));
    let facts = [
        ("criteria", criteria(run)),
        ("evidence", receipts::counted(run)),
        ("measured", numbers),
        ("tasks", tasks(run)),
        ("result", places::destination(run)),
    ];
    let known = facts.into_iter().filter_map(|(name, text)| Some((name, text?)));
    known.chain(failed(run)).chain(plan).collect()
}

/// Returns why the first failed tasks failed, in a line each. All reasons are in the report.
fn failed(run: &Run) -> Vec<(&'static str, String)> {
    const MOST: usize = 5;
    const LONGEST: usize = 300;
    let failed = run.tasks().into_iter().filter(|task| task.state == TaskState::Failed);
    let line = |task: TaskView<'_>| {
        let why = task.why.and_then(|why| why.lines().next()).unwrap_or_default();
        let line = format!("{}: {}", task.id, why.trim_end_matches(':'));
        ("failed", cut(&one_line(&line), LONGEST))
    };
    failed.take(MOST).map(line).collect()
}

/// Returns how many criteria the result meets.
fn criteria(run: &Run) -> Option<String> {
    let all = &run.evaluation()?.judgement.criteria;
    Some(format!("{} of {} met", all.iter().filter(|one| one.is_met).count(), all.len()))
}

/// Returns how many tasks there are in each state that any has.
fn tasks(run: &Run) -> Option<String> {
    let tasks = run.tasks();
    let states = [
        TaskState::Merged,
        TaskState::Working,
        TaskState::Again,
        TaskState::Pending,
        TaskState::TakenBack,
        TaskState::Failed,
        TaskState::Skipped,
    ];
    let counts = states.map(|state| (tasks.iter().filter(|task| task.state == state).count(), state.word()));
    let some = counts.iter().filter(|(number, _)| *number > 0);
    let some: Vec<String> = some.map(|(number, word)| format!("{number} {word}")).collect();
    (!some.is_empty()).then(|| format!("{} of {}", some.join(", "), tasks.len()))
}
