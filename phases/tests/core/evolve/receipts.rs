//! Receipts: the word of each criterion, and what keeps it from being a better one.

use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::decision::Ending;
use skilltune_phases::loops::evolve::receipt::{Receipts, Word};
use skilltune_phases::loops::evolve::step::Choice;
use skilltune_phases::loops::evolve::task::Apply;
use skilltune_phases::loops::evolve::{Answer, Ended, Evolve, MergedWork, Run, Step};
use skilltune_phases::loops::shared::commands::Stage;
use skilltune_phases::loops::shared::step::{Propose, Shared};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::runs::proposal::Form;

use super::ending;
use super::evidence::word;
use super::world::{Judged, World, adding, changing, green, neither, red, task, weakening};
use crate::drive::{failed, tree};

const WHOLE: &str = "t1.1+t2.1+t3.1";
/// The same work on the last commit.
const OWN: &str = "head+t1.1+t2.1+t3.1";

fn words(run: &Run) -> Vec<Word> {
    run.receipts().expect("the result was judged").criteria.iter().map(|one| one.word).collect()
}

#[test]
fn each_situation_has_its_word() {
    let (is_red, is_green) = (red as fn() -> _, green as fn() -> _);
    let (silent, broken) = ((|| neither(0)) as fn() -> _, (|| neither(2)) as fn() -> _);
    // How the oracle ends before and after the work, and whether the judge finds the criterion met.
    for (before, after, says_yes, expected) in [
        (is_red, is_green, false, Word::Verified),
        (is_green, is_green, false, Word::AlreadyMet),
        (is_red, silent, true, Word::Judged),
        (is_red, silent, false, Word::NotMet),
        (is_green, silent, true, Word::Judged),
        (broken, is_green, true, Word::Judged),
        (broken, is_green, false, Word::NotMet),
        (is_red, is_red, true, Word::Disputed),
        (is_red, broken, true, Word::Disputed),
        (is_green, is_red, true, Word::Disputed),
        (is_red, is_red, false, Word::NotMet),
        (is_green, is_red, false, Word::NotMet),
    ] {
        let mut world = World::with_oracles();
        world.probe = Box::new(move |criterion, _, content| match content.name() == "base" {
            _ if criterion != "A3" && content.name() == "base" => red(),
            _ if criterion != "A3" => green(),
            true => before(),
            false => after(),
        });
        world.judge =
            Box::new(move |_, _| if says_yes { Judged::all() } else { Judged::only(&["A1", "A2"]) });
        let run = world.play().run;
        let what = format!("{:?} {:?} {says_yes}", before().light, after().light);
        assert_eq!((words(&run)[2], ending(&run)), (expected, Some(Ending::Success)), "{what}");
    }
}

#[test]
fn receipts_tell_what_was_seen_and_read_their_own_text() {
    let world = World::with_oracles();
    let run = world.play().run;
    let receipts = run.receipts().unwrap();
    assert_eq!((receipts.base, receipts.tree, receipts.commits), (tree("base"), tree(WHOLE), 3));
    assert_eq!((&*receipts.name, receipts.names.as_deref()), ("pump", Some("pump.py: def pump() -> int")));
    let oracle = receipts.criteria[0].oracle.as_ref().unwrap();
    assert_eq!((&oracle.before, &oracle.after), (&Some(red()), &Some(green())));
    assert!(!oracle.is_check && oracle.argv[..3] == ["python3", "oracle.py", "A1"], "{oracle:?}");
    let commands: Vec<_> = receipts.commands.iter().map(|one| (one.stage, one.before, one.after)).collect();
    assert_eq!(commands, Stage::ALL.map(|stage| (stage, Some(0), Some(0))));
    assert_eq!((&receipts.control, receipts.not_looked_at.len()), (&None, 0));
    let text = serde_json::to_string(&receipts).unwrap();
    assert_eq!(serde_json::from_str::<Receipts>(&text).unwrap(), receipts);
}

#[test]
fn receipts_say_whose_executors_could_have_read_oracles() {
    let mut world = World::with_oracles();
    world.is_blind = false;
    world.probe = Box::new(|criterion, _, content| match criterion {
        "A2" if !content.has("t2.2") => red(),
        _ if content.name() == "base" => red(),
        _ => green(),
    });
    world.judge = Box::new(|_, _| Judged::only(&[]));
    let run = world.play().run;
    let said = &run.receipts().unwrap().not_looked_at;
    let expected = "oracle was readable: nothing hid it from the executors of t1, t2, t3";
    assert_eq!(said.iter().map(|one| &**one).collect::<Vec<_>>(), [expected]);
    world.plan.task.has_oracles = false;
    world.judge = Box::new(|_, _| Judged::all());
    assert!(world.play().run.receipts().unwrap().not_looked_at.is_empty(), "there was nothing to read");
}

#[test]
fn a_weakening_that_no_person_approved_leaves_a_criterion_judged() {
    let doubt =
        "the change touches tests or their settings (tests/test_pump.py), and no person approved that";
    let mut world = World::with_oracles();
    world.weakened = vec![weakening()];
    for (choice, apply, expected) in [
        (Choice::Approve, Apply::Propose(Form::Branch), (Word::Verified, None)),
        (Choice::Refuse, Apply::Propose(Form::Branch), (Word::Judged, Some(doubt.to_owned()))),
        (Choice::Approve, Apply::Never, (Word::Judged, Some(doubt.to_owned()))),
    ] {
        world.plan.task.apply = apply;
        let run = world.play_with(|_, step| {
            matches!(step, Step::Ask { .. }).then(|| Ok(Answer::Chosen(choice.clone())))
        });
        assert_eq!(word(&run.run, "A1"), expected, "{choice:?} {apply:?}");
    }
}

/// Gives the first criterion a check that is red without this work.
fn checked(argv: &[&str], work: &'static str) -> World {
    let mut world = World::new();
    world.plan.task.spec.criteria[0].check = Some(argv.iter().map(|&word| word.to_owned()).collect());
    world.check = Box::new(move |_, content| Some(content.has(work)));
    world
}

#[test]
fn a_check_that_names_a_file_of_the_change_leaves_its_criterion_judged() {
    let own = "its check runs t1.py, which the change wrote";
    for (argv, expected) in [
        (["make", "run"], (Word::Verified, None)),
        (["python3", "t1.py"], (Word::Judged, Some(own.to_owned()))),
    ] {
        assert_eq!(word(&checked(&argv, "t1.1").play().run, "A1"), expected, "{argv:?}");
    }
    let mut world = checked(&["make", "run"], "t1.1");
    world.check = Box::new(|_, content| content.has("t1.1").then_some(true));
    let unseen = "its check was not seen to fail before the work";
    assert_eq!(
        word(&world.play().run, "A1"),
        (Word::Judged, Some(unseen.to_owned())),
        "it could not start before"
    );
}

/// The file is in the first work on the task alone.
#[test]
fn the_files_of_a_change_are_those_of_all_its_work() {
    let world = checked(&["python3", "tests/check.py"], "t1.2");
    let drive = world.play_with(|run, step| {
        let Step::Merge { batch: 0, .. } = step else { return None };
        let Ok(Answer::Merged(mut merged)) = world.answer(run, step) else { return None };
        merged.works[0].files = vec!["tests/check.py".into()];
        Some(Ok(Answer::Merged(merged)))
    });
    let own = "its check runs tests/check.py, which the change wrote";
    assert_eq!(ending(&drive.run), Some(Ending::Success));
    assert_eq!(word(&drive.run, "A1"), (Word::Judged, Some(own.to_owned())));
}

#[test]
fn a_check_is_not_enough_where_an_earlier_run_did_some_of_the_work() {
    let mut world = checked(&["make", "run"], "t1.1");
    world.plan.task.plan = Some(world.planned());
    world.plan.task.only = vec!["t2".into(), "t3".into()];
    let (before, after) = (tree("base"), world.tree_of(&["t1.1"]));
    world.plan.task.built_on = vec![MergedWork { task: "t1".into(), batch: None, before, after }];
    let run = world.play().run;
    assert_eq!((ending(&run), run.result()), (Some(Ending::Success), Some(tree(WHOLE))));
    let why = "an earlier run did some of the work, and its files are not known";
    assert_eq!(word(&run, "A1"), (Word::Judged, Some(why.to_owned())));
}

/// The project has changes that are not committed. Without them, the oracle of this criterion fails.
fn dirty(id: &'static str) -> World {
    let mut world = World::with_oracles();
    world.plan.task.committed = Some(tree("head"));
    world.probe = Box::new(move |criterion, _, content| match criterion {
        _ if content.name() == "base" => red(),
        _ if criterion == id && content.has("head") => red(),
        _ => green(),
    });
    world.judge = Box::new(|_, _| Judged::only(&["A1", "A2"]));
    world
}

#[test]
fn the_words_are_about_the_tree_that_the_branch_has() {
    let found = |world: World| {
        let run = world.play().run;
        let (stands, receipts) = (run.state.end.as_ref().unwrap().stands, run.receipts().unwrap());
        (stands, receipts.tree, receipts.criteria[2].word)
    };
    assert_eq!(found(dirty("A3")), (true, tree(OWN), Word::NotMet));
    assert_eq!(found(dirty("none")), (true, tree(OWN), Word::Verified));
    // The result needs what is not committed, so there is no branch.
    let mut world = dirty("A2");
    world.judge = Box::new(|_, _| Judged::only(&["A1"]));
    assert_eq!(found(world), (false, tree(WHOLE), Word::Verified));
    let mut world = dirty("A3");
    world.plan.task.apply = Apply::Propose(Form::Patch);
    assert_eq!(found(world), (true, tree(WHOLE), Word::Verified), "nobody judged the other tree");
}

#[test]
fn the_commit_has_the_receipts_and_what_was_not_judged_has_none() {
    let run = World::with_oracles().play().run;
    let step = Step::Commit { tree: tree(WHOLE), form: Form::Branch };
    let Some(Shared::Propose(Propose { moves, .. })) = Evolve::shared(&run, &step) else { panic!("it is") };
    assert_eq!(moves[0].to, tree(&format!("filed.1+{WHOLE}")));

    let world = World::with_oracles();
    let fails = |step: &Step| matches!(step, Step::Judge { .. });
    let mut filed = 0;
    let drive = world.play_with(|_, step| {
        filed += usize::from(matches!(step, Step::File { .. }));
        fails(step).then(|| failed(FailureKind::OffSchema))
    });
    assert_eq!((ending(&drive.run), drive.run.receipts(), filed), (Some(Ending::Incomplete), None, 0));
    assert!(drive.run.proposed().is_some_and(|proposed| proposed.is_ok()), "it is a patch all the same");
    assert!(!World::new().asked().contains("file "), "no machine can repeat anything");
}

#[test]
fn a_changed_criterion_loses_its_oracle_and_an_added_one_has_none() {
    let mut world = World::with_oracles();
    world.probe = Box::new(|criterion, _, content| match criterion {
        "A2" => red(),
        _ if content.name() == "base" => red(),
        _ => green(),
    });
    world.judge = Box::new(|_, content| if content.has("t2.2") { Judged::all() } else { Judged::only(&[]) });
    world.amend = Box::new(|_, _| {
        let mut amendment = changing("A2", Some("It is fast."));
        amendment.criteria = adding("It is small.").criteria;
        amendment
    });
    world.more = Box::new(|_, _| vec![task("t4", &["A4"], &[])]);
    let run = world.play().run;
    assert_eq!((ending(&run), run.outcome()), (Some(Ending::Success), Ended::Reached));
    let changed = "its text was changed during the run";
    assert_eq!(word(&run, "A2"), (Word::Judged, Some(changed.to_owned())));
    assert_eq!(word(&run, "A4"), (Word::Judged, Some("it was added during the run".to_owned())));
    assert_eq!((word(&run, "A1").0, word(&run, "A3").0), (Word::Verified, Word::Verified));
    let asked = world.asked();
    let last = asked.lines().rfind(|line| line.starts_with("probe")).unwrap();
    assert!(!last.contains("A2") && !last.contains("A4"), "{last}");
}
