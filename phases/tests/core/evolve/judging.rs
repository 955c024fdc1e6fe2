//! Evaluations: the commands first, then checks, then a judge, and the numbers that follow.

use skilltune_phases::base::ending::Class;
use skilltune_phases::loops::evolve::Step;
use skilltune_phases::loops::evolve::decision::Ending;
use skilltune_phases::loops::evolve::evaluation::{Evaluation, Holds};
use skilltune_phases::loops::shared::commands::Stage;
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::RunThem;

use super::world::{Judged, World, broken, passed, prompt, task};
use super::{ending, evaluated};
use crate::drive::{failed, tree};

/// The tree with the first work on each task.
const WHOLE: &str = "t1.1+t2.1+t3.1";

fn first(world: &World) -> Evaluation {
    let run = evaluated(world).0.run;
    run.state.rounds[0].evaluation.clone().expect("the commands are green")
}

fn unmet(evaluation: &Evaluation) -> Vec<&str> {
    evaluation.unmet().map(|one| &*one.id).collect()
}

/// Gives the first criterion a check.
fn with_check() -> World {
    let mut world = World::new();
    world.plan.task.spec.criteria[0].check = Some(vec!["make".to_owned(), "run".to_owned()]);
    world
}

#[test]
fn all_commands_run_though_lint_is_red_and_nothing_else_is_judged_then() {
    let mut world = with_check();
    world.red(Stage::Lint, |content| content.has("t1.1"));
    let (drive, steps) = evaluated(&world);
    let (tree, is_whole) = (tree(WHOLE), |step: &&String| step.ends_with(&format!(" {WHOLE}")));
    let ran: Vec<&String> = steps.iter().filter(is_whole).collect();
    let expected = ["look", "build", "test", "lint"].map(|stage| format!("{stage} {WHOLE}"));
    assert_eq!(ran, expected.iter().collect::<Vec<_>>());
    assert!(
        !steps
            .iter()
            .any(|step| step.ends_with(&format!("probe A1.0 on {WHOLE}")) || step.starts_with("judge")),
        "{steps:#?}"
    );
    let round = &drive.run.state.rounds[0];
    assert_eq!((round.tree, &round.red[..], &round.evaluation), (tree, &[Stage::Lint][..], &None));
}

#[test]
fn a_command_that_fails_as_on_the_unchanged_project_gates_nothing() {
    let mut world = World::new();
    world.red(Stage::Test, |_| true);
    assert_eq!(ending(&world.play().run), Some(Ending::Success));
}

#[test]
fn a_result_without_any_command_is_not_judged() {
    let mut world = World::new();
    world.has = Box::new(|_, _| false);
    let run = world.play().run;
    assert_eq!((ending(&run), run.class()), (Some(Ending::Incomplete), Class::Unjudged));
    assert_eq!((run.result(), run.state.rounds.len()), (Some(tree(WHOLE)), 0));
    let why = "not judged: the project has no command that lints, builds or tests it";
    assert_eq!(run.verdict(), why);
    assert!(world.asked().ends_with(&format!("audit {WHOLE}\ncommit {WHOLE} as patch")));
}

#[test]
fn a_single_command_is_enough() {
    let mut world = World::new();
    world.has = Box::new(|stage, _| stage == Stage::Lint);
    assert_eq!(ending(&world.play().run), Some(Ending::Success));
}

#[test]
fn a_check_decides_its_criterion_and_the_judge_is_asked_about_the_others() {
    // Whether checks run, what a person says, the result, whether the judge says yes, and what follows: whether the
    // criterion is met, whether the judge was asked, and whether the check ran.
    let table = [
        (RunThem::Always, false, Some(true), false, (true, false, true)),
        (RunThem::Always, false, Some(false), true, (false, false, true)),
        (RunThem::Always, false, None, true, (false, false, true)),
        (RunThem::Never, true, Some(false), true, (true, true, false)),
        (RunThem::Never, true, Some(true), false, (false, true, false)),
        (RunThem::Ask, true, Some(true), false, (true, false, true)),
        (RunThem::Ask, false, Some(true), false, (false, true, false)),
    ];
    for (run, allows, result, says_yes, expected) in table {
        let mut world = with_check();
        world.plan.task.checks.run = run;
        world.allows = allows;
        world.check = Box::new(move |_, _| result);
        world.judge =
            Box::new(move |_, _| if says_yes { Judged::all() } else { Judged::only(&["A2", "A3"]) });
        let (drive, step) = world.until(|step| matches!(step, Step::Judge { .. }));
        let page = prompt(&drive.run, &step);
        assert!(page.contains("A2: text of A2") && page.contains("A3: text of A3"), "{page}");
        let (_, steps) = evaluated(&world);
        let is_met = !unmet(&first(&world)).contains(&"A1");
        let ran = steps.contains(&format!("probe A1.0 on {WHOLE}"));
        assert_eq!((is_met, page.contains("A1: text of A1"), ran), expected, "{run:?} {allows} {result:?}");
        assert_eq!(steps.contains(&"allow".to_owned()), run == RunThem::Ask);
    }
}

#[test]
fn a_criterion_whose_check_cannot_run_is_unmet_with_the_reason() {
    let world = with_check();
    let drive =
        world.play_with(|_, step| matches!(step, Step::Probe { .. }).then(|| failed(FailureKind::Crashed)));
    assert_eq!(ending(&drive.run), Some(Ending::HumanEscalation));
    let evaluation = drive.run.state.rounds[0].evaluation.as_ref().unwrap();
    let gaps: Vec<&str> = evaluation.unmet().flat_map(|one| &one.gaps).map(|gap| &**gap).collect();
    assert_eq!(unmet(evaluation), ["A1"]);
    assert_eq!(gaps, ["its check `make run` did not run to its end: the world would not"]);
}

#[test]
fn a_success_says_that_checks_did_not_run() {
    let met = "the specification is met: 3 of 3 criteria met";
    let (with, without) = (format!("{met} (1 already met, 2 judged)"), format!("{met}; 1 check did not run"));
    for (run, allows, verdict) in [
        (RunThem::Always, false, with.as_str()),
        (RunThem::Ask, true, with.as_str()),
        (RunThem::Ask, false, without.as_str()),
        (RunThem::Never, true, without.as_str()),
    ] {
        let mut world = with_check();
        world.plan.task.checks.run = run;
        world.allows = allows;
        assert_eq!(world.play().run.verdict(), verdict, "{run:?} {allows}");
    }
}

#[test]
fn a_criterion_whose_every_task_failed_or_was_skipped_is_unmet_whatever_the_judge_says() {
    let mut world = World::new();
    world.fails = Box::new(|work| work == "t1.1");
    let evaluation = first(&world);
    assert_eq!(unmet(&evaluation), ["A1", "A3"]);
    let gaps: Vec<&str> = evaluation.unmet().flat_map(|one| &one.gaps).map(|gap| &**gap).collect();
    let without = |task: &str| format!("nothing was done for it: {task} failed or was skipped");
    assert_eq!(gaps, [without("t1"), without("t3")]);

    world.tasks.push(task("t4", &["A1"], &[]));
    assert_eq!(unmet(&first(&world)), ["A3"], "another task is evidence");
}

#[test]
fn the_score_weighs_criteria_by_priority_and_the_alignment_is_the_share_of_the_goal_that_holds() {
    use Holds::{No, NotShown, Yes};
    let goal = |statements: [Holds; 2]| Judged { statements: statements.to_vec(), ..Judged::all() };
    for (judged, score, alignment, is_done) in [
        (Judged::all(), 1.0, 1.0, true),
        (Judged::only(&["A1", "A2"]), 0.875, 1.0, true),
        (Judged::only(&["A1", "A3"]), 0.625, 1.0, false),
        (Judged::only(&["A2", "A3"]), 0.5, 1.0, false),
        (Judged::only(&[]), 0.0, 1.0, false),
        (Judged { holds: false, ..Judged::all() }, 1.0, 1.0, false),
        (goal([Yes, NotShown]), 1.0, 0.5, false),
        (goal([Yes, No]), 1.0, 0.5, false),
        (goal([No, NotShown]), 1.0, 0.0, false),
    ] {
        let mut world = World::new();
        let what = format!("{judged:?}");
        world.judge = Box::new(move |_, _| judged.clone());
        let found = first(&world);
        let expected = (score, score, alignment, is_done);
        assert_eq!((found.score, found.score_of_all, found.alignment, found.is_done), expected, "{what}");
    }
}

#[test]
fn a_constraint_or_a_statement_that_does_not_hold_concerns_every_task() {
    for judged in
        [Judged { holds: false, ..Judged::all() }, Judged { statements: vec![Holds::No], ..Judged::all() }]
    {
        let mut world = World::new();
        world.judge =
            Box::new(move |_, content| if content.has("t1.2") { Judged::all() } else { judged.clone() });
        let run = world.play().run;
        assert_eq!(run.state.passes[1].tasks().count(), 3);
        assert_eq!(ending(&run), Some(Ending::Success));
    }
}

#[test]
fn a_result_that_the_judge_cannot_judge_is_incomplete_and_a_patch() {
    let drive = World::new()
        .play_with(|_, step| matches!(step, Step::Judge { .. }).then(|| failed(FailureKind::OffSchema)));
    let run = &drive.run;
    assert_eq!((ending(run), run.class()), (Some(Ending::Incomplete), Class::Unjudged));
    assert_eq!(run.verdict(), "not judged: the world would not");
    assert!(run.state.end.as_ref().is_some_and(|end| !end.stands));
}

#[test]
fn a_fresh_red_command_is_not_hidden_by_one_that_was_red_before() {
    let mut world = World::new();
    world.ends = Box::new(|stage, content| match stage {
        Stage::Test => broken(),
        Stage::Lint if content.has_task("t3") => broken(),
        Stage::Lint | Stage::Build => passed(),
    });
    let run = evaluated(&world).0.run;
    assert_eq!(run.state.rounds[0].red, [Stage::Lint]);
}
