//! What is measured beside a result, and results that are looked at again without any agent.

use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::amendment::Amendment;
use skilltune_phases::loops::evolve::decision::Ending;
use skilltune_phases::loops::evolve::measuring::Strength;
use skilltune_phases::loops::evolve::oracle::Proposal;
use skilltune_phases::loops::evolve::receipt::Word;
use skilltune_phases::loops::evolve::task::{Apply, Verify};
use skilltune_phases::loops::evolve::{Ended, Evolve, Step};
use skilltune_phases::loops::shared::commands::Stage;
use skilltune_phases::runs::run::Fold as _;
use skilltune_phases::suites::checks::RunThem;

use super::world::{Judged, World, green, neither, oracle, prompt, red};
use super::{ending, evidence::word};
use crate::drive::{roles_of, tree};

const WHOLE: &str = "t1.1+t2.1+t3.1";

#[test]
fn strength_counts_the_wrong_versions_that_an_oracle_rejects() {
    let measured = |mut world: World| {
        world.plan.task.spec.criteria[2].check = Some(vec!["make".to_owned(), "run".to_owned()]);
        world.check = Box::new(|_, content| Some(content.has_task("t3")));
        world.probe = Box::new(|criterion, _, content| match (criterion, content.wrong()) {
            _ if content.name() == "base" => red(),
            ("A1", Some(3)) => neither(2),
            ("A1", Some(2)) | (_, None) => green(),
            (_, Some(_)) => red(),
        });
        world.judge = Box::new(|_, _| Judged::only(&[]));
        world
    };
    let world = measured(World::with_oracles().with_strength());
    let run = world.play().run;
    let of_a1 = Strength { rejected: 1, passed: vec!["mistake 2 about A1".into()], not_counted: 1 };
    let of_a2 = Strength { rejected: 3, ..Strength::default() };
    assert_eq!((of_a1.all(), of_a2.all()), (2, 3));
    let strength: Vec<_> = run.strength().into_iter().map(|(id, of)| (id.to_string(), of)).collect();
    assert_eq!(strength, [("A1".to_owned(), of_a1.clone()), ("A2".to_owned(), of_a2)], "none for a check");
    let receipts = run.receipts().unwrap();
    assert_eq!(receipts.criteria[0].oracle.as_ref().unwrap().strength, Some(of_a1));
    let asked = world.asked();
    let part = format!(
        "spoil A1 on {WHOLE} | spoil A2 on {WHOLE}\nprobe A1.0 on {WHOLE}!1 | probe A1.0 on {WHOLE}!2 | \
         probe A1.0 on {WHOLE}!3 | probe A2.0 on {WHOLE}!1"
    );
    assert!(asked.contains(&part), "{asked}");

    let plain = measured(World::with_oracles());
    let without = plain.play().run;
    assert!(!plain.asked().contains("spoil") && without.strength().is_empty());
    assert_eq!((ending(&run), run.result()), (ending(&without), without.result()));

    let (drive, step) = world.until(|step| matches!(step, Step::Spoil { .. }));
    let page = prompt(&drive.run, &step);
    assert!(page.contains("A1: text of A1") && !page.contains("oracle.py"), "{page}");
}

#[test]
fn strength_is_measured_of_a_success_alone() {
    let mut world = World::with_oracles().with_strength();
    world.judge = Box::new(|_, _| Judged { holds: false, ..Judged::all() });
    world.amend = Box::new(|_, _| Amendment::default());
    assert_eq!(ending(&world.play().run), Some(Ending::HumanEscalation));
    assert!(!world.asked().contains("spoil"));
}

#[test]
fn the_work_of_one_executor_alone_is_judged_beside_the_result_and_nobody_is_asked_about_it() {
    let measured = |mut world: World| {
        world.probe = Box::new(|criterion, _, content| match criterion {
            _ if content.name() == "base" => red(),
            "A2" if content.has("control.1") => red(),
            _ => green(),
        });
        world
    };
    let world = measured(World::with_oracles().with_control());
    let run = world.play().run;
    let control = run.control().expect("it was measured");
    let evaluation = control.evaluation.as_ref().expect("its commands are green");
    assert_eq!((control.tree, evaluation.score, evaluation.is_done), (tree("control.1"), 0.625, false));
    let receipt = run.receipts().unwrap().control.unwrap();
    let verified: Vec<&str> = receipt.verified.iter().map(|id| &**id).collect();
    assert_eq!((receipt.score, receipt.is_done, verified), (Some(0.625), false, vec!["A1", "A3"]));
    let asked = world.asked();
    assert!(asked.contains("\ncontrol\nlook control.1\n") && !asked.contains("settle"), "{asked}");
    let without = measured(World::with_oracles()).play().run;
    assert_eq!((ending(&run), run.result()), (ending(&without), without.result()));
    assert_eq!((run.evaluation(), without.control()), (without.evaluation(), None));

    let (drive, step) = world.until(|step| *step == Step::Control);
    let page = prompt(&drive.run, &step);
    for part in ["A1: text of A1", "A3: text of A3", "K1: It needs no network.", "pump.py: def pump()"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Do t1") && !page.contains("summary of"), "{page}");

    let mut world = measured(World::with_oracles().with_control());
    world.red(Stage::Build, |content| content.has("control.1"));
    let control = world.play().run.control().unwrap();
    assert_eq!((control.red, control.evaluation), (vec![Stage::Build], None));
}

/// The tasks of the plan have failed, not the executor who does everything alone.
#[test]
fn what_failed_in_the_plan_says_nothing_about_the_control() {
    let mut world = World::new().with_control();
    world.fails = Box::new(|work| work.starts_with("t1."));
    let run = world.play().run;
    assert_eq!(ending(&run), Some(Ending::HumanEscalation));
    let evaluation = run.control().and_then(|control| control.evaluation).expect("it was judged");
    assert_eq!((evaluation.score, evaluation.is_done), (1.0, true));
}

/// Looks again at a result whose receipts say this of the three criteria. The third one has a check.
fn verified(words: [Word; 3]) -> World {
    let mut world = World::new();
    world.plan.task.spec.criteria[2].check = Some(vec!["make".to_owned(), "run".to_owned()]);
    world.check = Box::new(|_, content| Some(content.has_task("t3")));
    let of = |id: &str| match oracle(id, 0) {
        Proposal::Oracle(oracle) => (id.into(), oracle),
        Proposal::Judge { .. } => unreachable!("it is one"),
    };
    world.plan.task.verify = Some(Box::new(Verify {
        commands: Vec::new(),
        result: world.tree_of(&["t1.1", "t2.1", "t3.1"]),
        is_same: true,
        interface: Some(world.interface.clone()),
        oracles: ["A1", "A2"].map(of).into(),
        words: ["A1", "A2", "A3"].map(Into::into).into_iter().zip(words).collect(),
    }));
    world.plan.task.apply = Apply::Never;
    assert!(Evolve::roles(&world.plan).is_empty(), "it needs no agent");
    world.plan.roles = roles_of([]);
    world
}

const ALL: [Word; 3] = [Word::Verified; 3];

#[test]
fn a_result_is_verified_without_any_agent() {
    let world = verified(ALL);
    insta::assert_snapshot!(world.asked(), @"
    probe A1.0 on base | probe A2.0 on base | probe A3.0 on base | look base | look t1.1+t2.1+t3.1
    probe A1.0 on t1.1+t2.1+t3.1 | probe A2.0 on t1.1+t2.1+t3.1 | probe A3.0 on t1.1+t2.1+t3.1 | lint base | build base | test base | lint t1.1+t2.1+t3.1 | build t1.1+t2.1+t3.1 | test t1.1+t2.1+t3.1
    ");
    let drive = world.play_with(|_, step| {
        assert_eq!(Evolve::role(step), None, "{step:?}");
        None
    });
    let run = &drive.run;
    assert_eq!((ending(run), run.outcome()), (Some(Ending::Repeated), Ended::Reached));
    assert_eq!((run.verdict(), run.result()), ("every receipt was repeated".to_owned(), None));
    assert!(run.repeated().iter().all(|(_, before, now)| before == now));
    assert_eq!(Evolve::most_calls(&run.plan).iter().count(), 0);
}

type SetUp = fn(&mut World);
/// What is said, the words of the receipts, how the world differs, and what of it is not repeated.
type Row<'a> = (&'a str, [Word; 3], SetUp, Result<(), &'a str>);

#[test]
fn a_result_is_repeated_only_if_every_word_is_and_no_command_is_newly_red() {
    let a_command = "lint does not pass as it did";
    let of_a1 = "the receipts of A1 were not repeated";
    let table: [Row<'_>; 9] = [
        ("all", ALL, |_| (), Ok(())),
        ("other words", [Word::Verified, Word::Judged, Word::NotMet], |_| (), Ok(())),
        ("it was red", [Word::AlreadyMet, Word::Verified, Word::Verified], |_| (), Err(of_a1)),
        (
            "the base is green",
            ALL,
            |world| {
                world.probe = Box::new(
                    |id, _, content| {
                        if id == "A1" || content.has_task("t1") { green() } else { red() }
                    },
                );
            },
            Err(of_a1),
        ),
        (
            "the result is red",
            ALL,
            |world| {
                world.probe = Box::new(
                    |id, _, content| {
                        if id != "A1" && content.has_task("t1") { green() } else { red() }
                    },
                );
            },
            Err(of_a1),
        ),
        (
            "the oracle does not run",
            ALL,
            |world| {
                world.probe = Box::new(|id, _, content| match id {
                    "A1" => neither(127),
                    _ if content.has_task("t1") => green(),
                    _ => red(),
                });
            },
            Err(of_a1),
        ),
        (
            "the oracle is not there",
            ALL,
            |world| drop(world.plan.task.verify.as_mut().unwrap().oracles.remove(0)),
            Err(of_a1),
        ),
        (
            "a check",
            ALL,
            |world| world.check = Box::new(|_, _| Some(false)),
            Err("the receipts of A3 were not repeated"),
        ),
        ("a command", ALL, |world| world.red(Stage::Lint, |content| content.has_task("t1")), Err(a_command)),
    ];
    for (what, words, set_up, expected) in table {
        let mut world = verified(words);
        set_up(&mut world);
        let run = world.play().run;
        let (of_run, outcome) = match expected {
            Ok(()) => (Ending::Repeated, Ended::Reached),
            Err(_) => (Ending::NotRepeated, Ended::NotReached),
        };
        assert_eq!((ending(&run), run.outcome()), (Some(of_run), outcome), "{what}");
        match expected {
            Ok(()) => assert!(run.verdict().starts_with("every receipt was repeated"), "{what}"),
            Err(why) => assert_eq!(run.verdict(), why, "{what}"),
        }
    }
}

#[test]
fn a_result_whose_oracles_may_not_run_is_not_verified() {
    for (run, allows, expected) in [
        (RunThem::Ask, true, Ending::Repeated),
        (RunThem::Ask, false, Ending::Incomplete),
        (RunThem::Never, true, Ending::Incomplete),
    ] {
        let mut world = verified(ALL);
        world.plan.task.checks.run = run;
        world.allows = allows;
        let run_of_it = world.play().run;
        assert_eq!(ending(&run_of_it), Some(expected), "{run:?} {allows}");
        let asked = world.asked();
        assert_eq!(asked.contains("probe"), expected == Ending::Repeated, "{asked}");
        assert_eq!(asked.contains("allow"), run == RunThem::Ask, "{asked}");
    }
}

/// The setting alone changes nothing that is known of a run.
#[test]
fn measuring_changes_no_word() {
    let plain = World::with_oracles().play().run;
    let run = World::with_oracles().with_strength().with_control().play().run;
    for id in ["A1", "A2", "A3"] {
        assert_eq!(word(&run, id), word(&plain, id));
    }
}
