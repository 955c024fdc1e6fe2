//! Oracles: when they are written and tried, who sees them, and what they decide.

use skilltune_phases::base::role::Role;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::decision::Ending;
use skilltune_phases::loops::evolve::evaluation::Verdict;
use skilltune_phases::loops::evolve::oracle::{GREEN, Proposal, RED, Standing};
use skilltune_phases::loops::evolve::receipt::Word;
use skilltune_phases::loops::evolve::{Evolve, Run, Step};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::RunThem;

use super::world::{Judged, World, green, neither, prompt, red};
use super::{ending, is_work};
use crate::drive::{failed, tree};

/// The tree with the first work on each task.
const WHOLE: &str = "t1.1+t2.1+t3.1";
const NOTE: &str = "pump.py: def pump() -> int";

/// Returns what a criterion rests on, and why it is no better word.
pub(super) fn word(run: &Run, id: &str) -> (Word, Option<String>) {
    let receipts = run.receipts().expect("the result was judged");
    let receipt = receipts.criteria.iter().find(|one| &*one.id == id).expect("it has a receipt");
    (receipt.word, receipt.why.as_deref().map(str::to_owned))
}

pub(super) fn verdict<'a>(run: &'a Run, round: usize, id: &str) -> &'a Verdict {
    let evaluation = run.state.rounds[round].evaluation.as_ref().expect("its commands are green");
    evaluation.judgement.criteria.iter().find(|one| &*one.id == id).expect("it was judged")
}

#[test]
fn oracles_are_written_allowed_and_tried_before_the_work_is_divided() {
    let mut world = World::with_oracles();
    world.plan.task.checks.run = RunThem::Ask;
    insta::assert_snapshot!(world.asked(), @"
    split | names | look base
    classify | oracle A1.0 | oracle A2.0 | oracle A3.0 | lint base | build base | test base
    allow
    probe A1.0 on base | probe A2.0 on base | probe A3.0 on base
    divide 0
    group
    t1.1 from base | t2.1 from base
    merge 0
    look t1.1+t2.1
    build t1.1+t2.1
    test t1.1+t2.1
    drift 0
    t3.1 from t1.1+t2.1
    merge 1
    look t1.1+t2.1+t3.1
    build t1.1+t2.1+t3.1
    test t1.1+t2.1+t3.1
    drift 1
    lint t1.1+t2.1+t3.1
    probe A1.0 on t1.1+t2.1+t3.1 | probe A2.0 on t1.1+t2.1+t3.1 | probe A3.0 on t1.1+t2.1+t3.1
    judge t1.1+t2.1+t3.1
    audit t1.1+t2.1+t3.1
    file t1.1+t2.1+t3.1
    commit t1.1+t2.1+t3.1 as branch
    ");
    world.plan.task.plan = Some(world.planned());
    assert_eq!(world.asked().lines().nth(4), Some("t1.1 from base | t2.1 from base"), "its plan is given");
}

#[test]
fn a_check_is_tried_on_the_unchanged_project_too_and_plans_without_oracles_have_none_of_this() {
    let mut world = World::new();
    world.plan.task.spec.criteria[0].check = Some(vec!["make".to_owned(), "run".to_owned()]);
    world.plan.task.checks.run = RunThem::Ask;
    let asked = world.asked();
    assert!(asked.contains("\nallow\nprobe A1.0 on base\ndivide 0\n"), "{asked}");
    assert!(!asked.contains("names") && !asked.contains("oracle"), "{asked}");
    world.plan.task.has_oracles = true;
    assert!(world.asked().contains("classify | oracle A2.0 | oracle A3.0 |"), "{}", world.asked());
    world.plan.task.plan_only = true;
    assert_eq!(world.asked(), "split\nclassify\ndivide 0\ngroup");
}

/// The second criterion is met by the second work on its task alone.
fn short() -> World {
    let mut world = World::with_oracles();
    world.probe = Box::new(|criterion, _, content| match criterion {
        "A2" if !content.has("t2.2") => red(),
        _ if content.name() == "base" => red(),
        _ => green(),
    });
    world.judge =
        Box::new(|_, content| if content.has("t2.2") { Judged::all() } else { Judged::only(&["A1", "A3"]) });
    world
}

#[test]
fn those_who_write_oracles_see_no_plan_and_those_who_plan_and_work_see_no_oracle() {
    let mut world = short();
    world.plan.task.plan = Some(world.planned());
    let (mut writers, mut workers, mut judges) = (0, 0, 0);
    let look = |run: &Run, step: &Step| (prompt(run, step), Evolve::request(run, step).expect("it is asked"));
    let secrets = ["oracle.py", "A2 holds", "an assertion fails", "all assertions hold", RED, GREEN];
    let plan = ["What t1 has to do.", "Do t1", "t1.py"];
    let mut watch = |run: &Run, step: &Step| {
        match step {
            Step::Interface | Step::Oracle { .. } => {
                let page = look(run, step).0;
                assert!(plan.iter().all(|part| !page.contains(part)), "{page}");
                assert_eq!(page.contains(NOTE), matches!(step, Step::Oracle { .. }), "{page}");
                writers += 1;
            }
            Step::Divide { .. } | Step::Work { .. } => {
                let (page, request) = look(run, step);
                let part = secrets.into_iter().find(|part| page.contains(part));
                assert!(part.is_none(), "{part:?}: {page}");
                assert!(page.contains(NOTE), "{page}");
                let order = request.as_ref();
                assert_eq!((order.placements.len(), order.planted.len()), (1, 0));
                workers += 1;
            }
            Step::Judge { tree: of, .. } => {
                let (page, request) = look(run, step);
                let is_short = *of == tree(WHOLE);
                let parts = ["A2: text of A2", "$ python3 oracle.py A2", "an assertion fails"];
                assert_eq!(parts.map(|part| page.contains(part)), [is_short; 3], "{page}");
                assert!(!page.contains("A1: text of A1") && !page.contains("python3 oracle.py A1"), "{page}");
                let places = request.as_ref().placements.iter().map(|one| (one.at.as_str(), one.tree));
                let oracle = is_short.then(|| ("oracles/A2", tree("files of A2.0")));
                assert_eq!(places.skip(1).collect::<Vec<_>>(), Vec::from_iter(oracle));
                judges += 1;
            }
            _ => {}
        }
        None
    };
    let run = world.play_with(&mut watch).run;
    assert_eq!(ending(&run), Some(Ending::Success));
    world.plan.task.plan = None;
    world.play_with(&mut watch);
    assert_eq!((writers, workers, judges), (8, 11, 4));
}

#[test]
fn a_probe_gets_codes_of_its_own_and_the_stub_comes_only_over_the_unchanged_project() {
    let mut world = World::with_oracles();
    world.plan.task.spec.criteria[2].check = Some(vec!["make".to_owned(), RED.to_owned()]);
    world.proposes = Box::new(|criterion, go| match super::world::oracle(criterion, go) {
        Proposal::Oracle(mut oracle) => {
            oracle.uses_names = criterion == "A1";
            Proposal::Oracle(oracle)
        }
        judge @ Proposal::Judge { .. } => judge,
    });
    let (mut codes, mut planted) = (Vec::new(), Vec::new());
    world.play_with(|run, step| {
        let Step::Probe { criterion, tree: of, .. } = step else { return None };
        let request = Evolve::request(run, step).expect("it runs");
        let order = request.as_ref();
        let argv = &order.command.as_ref().expect("it is a command").argv;
        if &**criterion == "A3" {
            assert_eq!(
                (argv.as_slice(), order.planted.len()),
                (["make", RED].map(str::to_owned).as_slice(), 0)
            );
        } else {
            assert_eq!(argv[..3], ["python3", "oracle.py", criterion]);
            let words = [(RED.into(), argv[3].clone()), (GREEN.into(), argv[4].clone())];
            assert_eq!(order.planted.last().unwrap().words, words, "its files get the same codes");
            codes.extend(argv[3..].iter().cloned());
            let trees: Vec<_> = order.planted.iter().map(|one| one.tree).collect();
            planted.push((criterion.to_string(), *of == tree("base"), trees));
        }
        None
    });
    let different: std::collections::BTreeSet<&String> = codes.iter().collect();
    assert_eq!((codes.len(), different.len()), (8, 8), "{codes:?}");
    for (criterion, is_base, trees) in planted {
        let own = tree(&format!("files of {criterion}.0"));
        let stub = (criterion == "A1" && is_base).then(|| tree("stub"));
        assert_eq!(trees, stub.into_iter().chain([own]).collect::<Vec<_>>(), "{criterion} {is_base}");
    }
}

/// Describes what the oracle of the first criterion says about the unchanged project.
fn standing(run: &Run) -> String {
    match run.stands("A1") {
        Some(Standing::Without(why)) => format!("without: {why}"),
        Some(Standing::AlreadyMet(probe)) => format!("already met by {}", probe.go),
        Some(Standing::Ready(probe)) => format!("ready: {}", probe.go),
        None => "not known".to_owned(),
    }
}

type SetUp = fn(&mut World);

#[test]
fn the_end_of_an_oracle_on_the_unchanged_project_says_what_it_is_good_for() {
    let broken = "its oracle failed without an assertion of its own: it cannot be built";
    let table: [(SetUp, String, Word); 8] = [
        (|_| (), "ready: 0".to_owned(), Word::Verified),
        (|world| world.probe = Box::new(|_, _, _| green()), "already met by 0".to_owned(), Word::AlreadyMet),
        (
            |world| {
                world.probe = Box::new(|_, go, content| match go {
                    0 => neither(2),
                    _ if content.has_task("t1") => green(),
                    _ => red(),
                });
            },
            "ready: 1".to_owned(),
            Word::Verified,
        ),
        (|world| world.probe = Box::new(|_, _, _| neither(2)), format!("without: {broken}"), Word::Judged),
        (|world| world.probe = Box::new(|_, _, _| neither(0)), format!("without: {broken}"), Word::Judged),
        (
            |world| {
                world.proposes = Box::new(|_, _| Proposal::Judge { why: "it is a matter of taste".into() });
            },
            "without: it is a matter of taste".to_owned(),
            Word::Judged,
        ),
        (
            |world| (world.plan.task.checks.run, world.allows) = (RunThem::Ask, false),
            "without: its oracle may not run".to_owned(),
            Word::Judged,
        ),
        (
            |world| world.plan.task.checks.run = RunThem::Never,
            "without: no oracle was asked for".to_owned(),
            Word::Judged,
        ),
    ];
    for (set_up, expected, of_a1) in table {
        let mut world = World::with_oracles();
        set_up(&mut world);
        let run = world.play().run;
        assert_eq!((standing(&run), ending(&run)), (expected.clone(), Some(Ending::Success)));
        let why = expected.strip_prefix("without: ").map(str::to_owned);
        assert_eq!(word(&run, "A1"), (of_a1, why), "{expected}");
        let (drive, step) = world.until(is_work("t1.1"));
        let has_names = !expected.contains("may not run") && !expected.contains("asked for");
        assert_eq!(prompt(&drive.run, &step).contains(NOTE), has_names, "{expected}");
    }
}

#[test]
fn a_broken_oracle_is_mended_once_by_one_who_sees_how_it_ended() {
    let mut world = World::with_oracles();
    world.probe = Box::new(|_, _, _| neither(2));
    let asked = world.asked();
    let order = "oracle A1.1 | oracle A2.1 | oracle A3.1\nprobe A1.1 on base | probe A2.1 on base";
    assert!(asked.contains(order) && !asked.contains("A1.2"), "{asked}");
    assert!(!asked.contains(&format!("probe A1.1 on {WHOLE}")), "{asked}");
    let (drive, step) = world.until(|step| matches!(step, Step::Oracle { go: 1, .. }));
    let page = prompt(&drive.run, &step);
    assert!(page.contains("$ python3 oracle.py A1") && page.contains("it cannot be built"), "{page}");
    let request = Evolve::request(&drive.run, &step).unwrap();
    let places: Vec<_> = request.as_ref().placements.iter().map(|one| (one.at.as_str(), one.tree)).collect();
    assert_eq!(places, [("project", tree("base")), ("oracle", tree("files of A1.0"))]);
}

#[test]
fn an_agent_that_fails_leaves_its_criterion_to_the_judge() {
    let a1 = |step: &Step| matches!(step, Step::Oracle { criterion, .. } if &**criterion == "A1");
    let drive = World::with_oracles().play_with(|_, step| a1(step).then(|| failed(FailureKind::OffSchema)));
    let run = &drive.run;
    assert_eq!(
        word(run, "A1"),
        (Word::Judged, Some("no oracle could be written: the world would not".to_owned()))
    );
    assert_eq!(word(run, "A2").0, Word::Verified);

    let drive = World::with_oracles()
        .play_with(|_, step| (*step == Step::Interface).then(|| failed(FailureKind::OffSchema)));
    assert_eq!(
        (word(&drive.run, "A1").0, drive.run.interface()),
        (Word::Verified, None),
        "no names are needed"
    );
}

#[test]
fn what_the_project_meets_already_is_told_to_the_planner() {
    let mut world = World::with_oracles();
    world.probe = Box::new(
        |criterion, _, content| {
            if criterion == "A2" || content.has_task("t1") { green() } else { red() }
        },
    );
    let (drive, step) = world.until(|step| *step == Step::Divide { round: 0 });
    let page = prompt(&drive.run, &step);
    let (_, met) = page.split_once("## What the project meets already").expect("it is told");
    let (met, _) = met.split_once("\n## ").expect("more follows");
    assert!(met.contains("A2: text of A2") && !met.contains("A1"), "{met}");
    assert_eq!(word(&world.play().run, "A2"), (Word::AlreadyMet, None));
}

#[test]
fn a_green_oracle_decides_and_a_failing_one_leaves_gaps_in_the_words_of_the_judge() {
    let mut world = World::with_oracles();
    world.judge = Box::new(|_, _| Judged::only(&[]));
    let run = world.play().run;
    assert_eq!((ending(&run), run.state.rounds.len()), (Some(Ending::Success), 1));
    let evidence = verdict(&run, 0, "A1").evidence.as_ref().expect("it was seen");
    assert_eq!(&*evidence.quote, "all assertions hold");

    let world = short();
    let run = world.play().run;
    assert!(!world.asked().contains("settle"), "nobody disputes it");
    let unmet = verdict(&run, 0, "A2");
    let gaps: Vec<&str> = unmet.gaps.iter().map(|gap| &**gap).collect();
    assert_eq!((unmet.is_met, unmet.is_disputed, gaps), (false, false, vec!["A2 is missing"]));
    assert_eq!((ending(&run), word(&run, "A2")), (Some(Ending::Success), (Word::Verified, None)));
}

#[test]
fn an_oracle_that_ends_well_without_saying_so_leaves_its_criterion_to_the_judge() {
    let without_code = "its oracle ended without saying that it passed".to_owned();
    for (says_yes, expected) in [(true, Word::Judged), (false, Word::NotMet)] {
        let mut world = World::with_oracles();
        world.probe = Box::new(|criterion, _, content| match criterion {
            _ if content.name() == "base" => red(),
            "A3" => neither(0),
            _ => green(),
        });
        world.judge = Box::new(move |_, _| if says_yes { Judged::all() } else { Judged::only(&[]) });
        assert!(!world.asked().contains("settle"));
        let why = if says_yes { without_code.clone() } else { "A3 is missing".to_owned() };
        assert_eq!(word(&world.play().run, "A3"), (expected, Some(why)));
        let (drive, step) = world.until(|step| matches!(step, Step::Judge { .. }));
        let page = prompt(&drive.run, &step);
        assert!(page.contains("A3: text of A3") && !page.contains("## Commands that fail"), "{page}");
    }
}

#[test]
fn nobody_but_evaluators_and_executors_is_asked_for_evidence() {
    let mut world = World::with_oracles().with_strength().with_control();
    world.tasks[2].after = Vec::new();
    let mut roles = std::collections::BTreeSet::new();
    world.play_with(|_, step| {
        roles.extend(Evolve::role(step).map(|role| role.to_string()));
        None
    });
    assert_eq!(roles.into_iter().collect::<Vec<_>>(), ["control", "evaluator", "executor"]);
    assert_eq!(Evolve::role(&Step::Control), Some(Role::CONTROL));
}
