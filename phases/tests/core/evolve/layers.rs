//! Layers: tasks side by side, merged in the order of the plan, built and tested, and what is taken back.

use skilltune_phases::loops::evolve::decision::{Ending, WorkEnd};
use skilltune_phases::loops::evolve::step::CommandEnd;
use skilltune_phases::loops::evolve::{Gate, Run, Step};
use skilltune_phases::loops::shared::commands::Stage;
use skilltune_phases::loops::shared::test_results::TestResults;

use super::world::{CONFLICT, Content, OUTPUT, World, broken, drift, failing, passed, task};
use super::{ending, evaluated, work_prompt};
use crate::drive::tree;

/// Returns what became of the tasks of each batch.
fn batches(run: &Run) -> Vec<Vec<String>> {
    let end = |end: &WorkEnd| match end {
        WorkEnd::Merged(_) => "merged",
        WorkEnd::Again(_) => "again",
        WorkEnd::Failed(_) => "failed",
        WorkEnd::Skipped => "skipped",
    };
    let batches = run.state.batches.iter().map(|begun| {
        let skipped = begun.batch.skipped.iter().map(|task| format!("{task} skipped"));
        let ended = begun.ends.iter().flatten().map(|one| format!("{} {}", one.task, end(&one.end)));
        skipped.chain(ended).collect()
    });
    batches.collect()
}

fn why(run: &Run, task: &str) -> String {
    match run.state.ends.get(task) {
        Some(WorkEnd::Failed(why) | WorkEnd::Again(why)) => why.to_string(),
        other => panic!("{task} has not failed: {other:?}"),
    }
}

fn count(steps: &[String], begins: &str) -> usize {
    steps.iter().filter(|step| step.starts_with(begins)).count()
}

#[test]
fn a_task_starts_from_the_tree_at_the_beginning_of_its_layer_and_knows_what_earlier_layers_did() {
    let world = World::new();
    for first in ["t1.1", "t2.1"] {
        let prompt = work_prompt(&world, first);
        assert!(!prompt.contains("summary of"), "{prompt}");
    }
    let prompt = work_prompt(&world, "t3.1");
    assert!(prompt.contains("1. t1: summary of t1.1\n2. t2: summary of t2.1\n"), "{prompt}");
    let (_, steps) = evaluated(&world);
    assert_eq!(count(&steps, "t1.1 from base") + count(&steps, "t2.1 from base"), 2);
    assert_eq!(count(&steps, "t3.1 from t1.1+t2.1"), 1);
}

#[test]
fn between_layers_the_project_is_built_and_tested_and_never_linted() {
    let (_, steps) = evaluated(&World::new());
    let on_layer = |step: &&String| step.ends_with(" t1.1+t2.1");
    let ran: Vec<&String> = steps.iter().filter(on_layer).collect();
    assert_eq!(ran, ["look t1.1+t2.1", "build t1.1+t2.1", "test t1.1+t2.1", "t3.1 from t1.1+t2.1"]);
}

#[test]
fn a_failed_task_skips_what_depends_on_it_and_nothing_else() {
    let mut world = World::new();
    world.tasks.push(task("t4", &[], &["t3"]));
    world.tasks.push(task("t5", &[], &["t2"]));
    world.fails = Box::new(|work| work == "t1.1");
    let (drive, _) = evaluated(&world);
    let expected: [&[&str]; 3] = [&["t1 failed", "t2 merged"], &["t3 skipped", "t5 merged"], &["t4 skipped"]];
    assert_eq!(batches(&drive.run), expected);
    assert_eq!(why(&drive.run, "t1"), "the world would not");
}

#[test]
fn a_conflict_runs_the_later_task_again_on_the_merged_tree() {
    let mut world = World::new();
    world.conflicts = Box::new(|work, whole| work == "t2.1" && whole.has("t1.1"));
    let (drive, steps) = evaluated(&world);
    let expected: [&[&str]; 3] = [&["t1 merged", "t2 again"], &["t2 merged"], &["t3 merged"]];
    assert_eq!(batches(&drive.run), expected);
    assert_eq!(count(&steps, "t2.2 from t1.1"), 1, "{steps:#?}");
    let prompt = work_prompt(&world, "t2.2");
    assert!(prompt.contains("## Why it is done again") && prompt.contains(CONFLICT), "{prompt}");
    assert!(!work_prompt(&world, "t2.1").contains("## Why it is done again"));
}

#[test]
fn a_task_that_conflicts_twice_has_failed() {
    let mut world = World::new();
    world.conflicts = Box::new(|work, _| work.starts_with("t2."));
    let (drive, _) = evaluated(&world);
    let expected: [&[&str]; 3] = [&["t1 merged", "t2 again"], &["t2 failed"], &["t3 skipped"]];
    assert_eq!(batches(&drive.run), expected);
    assert_eq!(why(&drive.run, "t2"), CONFLICT);
}

/// Plans eight tasks in one layer.
fn eight() -> World {
    let mut world = World::new();
    let covers: [&[&str]; 3] = [&["A1"], &["A2"], &["A3"]];
    let task = |nth: usize| task(&format!("t{nth}"), covers.get(nth - 1).copied().unwrap_or_default(), &[]);
    world.tasks = (1..=8).map(task).collect();
    world
}

#[test]
fn a_red_layer_is_bisected_with_the_failing_command_alone_and_the_found_task_is_done_again() {
    for nth in 1..=8 {
        let (mut world, bad) = (eight(), format!("t{nth}.1"));
        world.red(Stage::Test, {
            let bad = bad.clone();
            move |content: &Content| content.has(&bad)
        });
        let (drive, steps) = evaluated(&world);
        let run = &drive.run;
        // On the base, the layer, the layer without the task, and the layer with its second work.
        assert_eq!(count(&steps, "build "), 4, "{steps:#?}");
        let tests = count(&steps, "test ");
        assert!((4 + 2..=4 + 3).contains(&tests), "{tests} tests for {bad}");
        let taken_back: Vec<&str> = run.state.batches[0].taken_back.iter().map(|(id, _)| &**id).collect();
        assert_eq!(taken_back, [format!("t{nth}")]);
        assert_eq!(count(&steps, &format!("merge 0 without t{nth}")), 1);
        assert_eq!(batches(run)[1], [format!("t{nth} merged")]);
        assert_eq!(ending(&world.play().run), Some(Ending::Success));

        let prompt = work_prompt(&world, &format!("t{nth}.2"));
        assert!(prompt.contains("`make test` fails with this work") && prompt.contains(OUTPUT), "{prompt}");
        assert!(!prompt.contains(&format!("t{nth}: summary of")), "its first work is gone: {prompt}");
    }
}

#[test]
fn several_bad_works_of_a_layer_are_taken_back_one_by_one_and_a_second_time_they_have_failed() {
    let mut world = eight();
    world.red(Stage::Build, |content| content.has_task("t2") || content.has_task("t7"));
    let (drive, steps) = evaluated(&world);
    let run = &drive.run;
    let taken_back: Vec<&str> = run.state.batches[0].taken_back.iter().map(|(id, _)| &**id).collect();
    assert_eq!(taken_back, ["t2", "t7"]);
    assert_eq!(batches(run)[1], ["t2 failed", "t7 failed"]);
    assert!(why(run, "t2").contains("`make build` fails with this work"));
    assert_eq!(run.state.tree, tree("t1.1+t3.1+t4.1+t5.1+t6.1+t8.1"));
    assert_eq!(count(&steps, "test t1.1+t2.1"), 0, "what does not build is not tested");
}

/// Returns what the tests say of a layer, if they end so on the unchanged project and after its tasks, and whether any
/// work was taken back.
fn gate(base: fn() -> CommandEnd, now: fn() -> CommandEnd) -> (Option<Gate>, bool) {
    let mut world = World::new();
    world.ends = Box::new(move |stage, content| match stage {
        Stage::Test if *content == Content::default() => base(),
        Stage::Test => now(),
        Stage::Lint | Stage::Build => passed(),
    });
    let run = evaluated(&world).0.run;
    let is_taken_back = run.state.batches.iter().any(|begun| !begun.taken_back.is_empty());
    (run.gate(tree("t1.1+t2.1"), Stage::Test), is_taken_back)
}

/// Fails, and counts the tests that do without naming them.
fn counted(failed: u32) -> CommandEnd {
    CommandEnd { tests: Some(TestResults { failed, ..TestResults::default() }), ..broken() }
}

#[test]
fn only_what_is_newly_red_counts() {
    let (one, two) = (|| failing(&["leaks"]), || failing(&["hums", "leaks"]));
    assert_eq!(gate(passed, passed), (Some(Gate::Passed), false));
    assert_eq!(gate(passed, broken), (Some(Gate::Red), true));
    assert_eq!(gate(broken, broken), (Some(Gate::NotLookedAt), false), "nothing tells what is new");
    assert_eq!(gate(broken, one), (Some(Gate::NotLookedAt), false));
    assert_eq!(gate(one, broken), (Some(Gate::NotLookedAt), false));
    assert_eq!(gate(one, one), (Some(Gate::Passed), false));
    assert_eq!(gate(two, one), (Some(Gate::Passed), false));
    assert_eq!(gate(one, two), (Some(Gate::Red), true));
    assert_eq!(gate(broken, passed), (Some(Gate::Passed), false));
    let (unnamed, more) = (|| counted(1), || counted(2));
    assert_eq!(gate(unnamed, unnamed), (Some(Gate::NotLookedAt), false), "another one may fail now");
    assert_eq!(gate(unnamed, one), (Some(Gate::NotLookedAt), false));
    assert_eq!(gate(one, unnamed), (Some(Gate::NotLookedAt), false));
    assert_eq!(gate(unnamed, more), (Some(Gate::Red), true), "more fail than before");
}

#[test]
fn a_project_without_commands_gets_them_by_a_task() {
    let mut world = World::new();
    world.has = Box::new(|_, content| content.has_task("t1"));
    let (_, steps) = evaluated(&world);
    let ran: Vec<&String> = steps.iter().filter(|step| step.starts_with("build ")).collect();
    assert_eq!(ran, ["build t1.1+t2.1", "build t1.1+t2.1+t3.1"]);
    assert_eq!(ending(&world.play().run), Some(Ending::Success));

    world.red(Stage::Build, |content| content.has("t1.1"));
    let run = evaluated(&world).0.run;
    assert_eq!(batches(&run)[0], ["t1 again", "t2 merged"], "a new command gates at once");
}

#[test]
fn drift_is_one_call_a_layer_and_reaches_the_next_one() {
    let mut world = World::new();
    world.drifts = Box::new(|batch| if batch == 0 { vec![drift("t1")] } else { Vec::new() });
    let prompt = work_prompt(&world, "t3.1");
    assert!(prompt.contains("t1: goes against K1 (t1.py: import socket)"), "{prompt}");
    assert_eq!(count(&evaluated(&world).1, "drift "), 2);
    let run = world.play().run;
    assert_eq!((ending(&run), run.drift()), (Some(Ending::Success), vec![&drift("t1")]), "it stops nothing");

    world.plan.task.rules.looks_for_drift = false;
    assert_eq!(count(&evaluated(&world).1, "drift "), 0);
}

#[test]
fn a_task_shows_the_files_that_it_changed_and_did_not_name() {
    let mut world = World::new();
    world.tasks[0].touches = vec!["src/".into(), "t1.py.md".into()];
    let run = world.play().run;
    let unnamed: Vec<Vec<&str>> = run.tasks().into_iter().map(|task| task.unnamed).collect();
    assert_eq!(unnamed, [vec!["t1.py"], Vec::new(), Vec::new()]);
}

#[test]
fn a_layer_whose_work_all_failed_leaves_the_tree_as_it_was() {
    let mut world = World::new();
    world.fails = Box::new(|work| work.ends_with(".1"));
    let (drive, steps) = evaluated(&world);
    assert_eq!((drive.run.state.tree, count(&steps, "merge ")), (tree("base"), 0));
    let (drive, _) = world.until(|step| matches!(step, Step::Merge { .. }));
    assert_eq!(drive.run.state.passes.len(), 2, "the tasks are done again after the evaluation");
}
