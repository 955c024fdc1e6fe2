//! How runs end, and how a result gets to a person.

use skilltune_phases::base::ending::Class;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::amendment::Amendment;
use skilltune_phases::loops::evolve::decision::Ending;
use skilltune_phases::loops::evolve::step::{Choice, Question};
use skilltune_phases::loops::evolve::task::Apply;
use skilltune_phases::loops::evolve::{Answer, Counted, Ended, Event, Evolve, Run, Step};
use skilltune_phases::loops::shared::commands::Stage;
use skilltune_phases::loops::shared::step::{Move, Propose, Shared};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::runs::proposal::Form;

use super::ending;
use super::world::{Drive, Judged, World, adding, counting, failing, passed, prompt, task, weakening};
use crate::drive::{failed, reread, tree};

/// The tree with the first work on each task.
const WHOLE: &str = "t1.1+t2.1+t3.1";

/// Has no criterion met, whatever is done.
fn hopeless() -> World {
    let mut world = World::new();
    world.judge = Box::new(|_, _| Judged::only(&[]));
    world.amend = Box::new(|_, _| Amendment::default());
    world
}

#[test]
fn each_ending_has_its_outcome() {
    let planned = {
        let mut world = World::new();
        world.plan.task.plan_only = true;
        world
    };
    let bare = {
        let mut world = World::new();
        world.has = Box::new(|_, _| false);
        world
    };
    let nothing = {
        let mut world = hopeless();
        world.fails = Box::new(|_| true);
        world
    };
    for (world, ending, outcome, class, has_result) in [
        (World::new(), Ending::Success, Ended::Reached, Class::Reached, true),
        (planned, Ending::Planned, Ended::Planned, Class::Reached, false),
        (bare, Ending::Incomplete, Ended::Incomplete, Class::Unjudged, true),
        (hopeless(), Ending::HumanEscalation, Ended::NotReached, Class::Short, true),
        (nothing, Ending::HumanEscalation, Ended::NotReached, Class::Short, false),
    ] {
        let drive = world.play();
        let run = &drive.run;
        assert_eq!((super::ending(run), run.outcome(), run.class()), (Some(ending), outcome, class));
        assert_eq!(run.result().is_some(), has_result, "{ending:?}");
        assert!(run.closed_at.is_some());
        let replayed = Run::replay(&drive.records.iter().map(reread).collect::<Vec<_>>());
        assert_eq!(replayed.as_ref(), Ok(run), "{ending:?}");
    }
}

#[test]
fn a_run_that_cannot_be_planned_has_failed() {
    for step in [Step::Split, Step::Classify, Step::Divide { round: 0 }, Step::Group] {
        let fails = |asked: &Step| (*asked == step).then(|| failed(FailureKind::OffSchema));
        let run = World::new().play_with(|_, asked| fails(asked)).run;
        assert_eq!((ending(&run), run.outcome()), (Some(Ending::Failed), Ended::Incomplete));
        assert_eq!((run.result(), run.verdict()), (None, "not judged: the world would not".to_owned()));
    }
}

/// Ends the run by a word at this step.
fn ended_at(world: &World, is_it: impl Fn(&Step) -> bool) -> Drive {
    let (mut drive, _) = world.until(is_it);
    assert_eq!(Evolve::ended_by(&drive.run, "accept"), None);
    let decision = Evolve::ended_by(&drive.run, "end").expect("a run at work can be ended");
    drive.record(Event::Decided(decision));
    assert_eq!(Evolve::ended_by(&drive.run, "end"), None, "it is ended once");
    drive.finish_alone(|run, step| world.answer(run, step));
    drive
}

#[test]
fn a_person_ends_a_run_at_any_step_with_the_best_tree_so_far() {
    let short = {
        let mut world = World::new();
        world.judge = Box::new(|_, _| Judged::only(&["A1"]));
        world
    };
    let at_patch = |step: &Step| matches!(step, Step::Work { go: 2, .. });
    let at_third = |step: &Step| matches!(step, Step::Work { task, .. } if &**task == "t3");
    for (drive, result, form) in [
        (ended_at(&short, |step| *step == Step::Group), None, None),
        (ended_at(&short, |step| matches!(step, Step::Work { .. })), None, None),
        (ended_at(&short, at_third), Some("t1.1+t2.1"), Some(Form::Patch)),
        (ended_at(&short, at_patch), Some(WHOLE), Some(Form::Branch)),
    ] {
        let run = &drive.run;
        assert_eq!((ending(run), run.outcome()), (Some(Ending::Caller), Ended::NotReached));
        assert_eq!(run.result(), result.map(tree));
        let committed = drive.records.iter().find_map(|record| match &record.event {
            Event::Done(done) => match done.step {
                Step::Commit { form, .. } => Some(form),
                _ => None,
            },
            _ => None,
        });
        assert_eq!(committed, form, "what was not judged is a patch");
    }
    assert_eq!(Evolve::ended_by(&World::new().play().run, "end"), None, "it has ended");
}

#[test]
fn a_result_that_touches_tests_waits_for_a_person_before_it_is_handed_over() {
    let mut world = World::new();
    world.weakened = vec![weakening()];
    for (choice, outcome, class) in [
        (Some(Choice::Approve), Ended::Reached, Class::Reached),
        (Some(Choice::Refuse), Ended::Kept, Class::Short),
        (None, Ended::Kept, Class::Short),
    ] {
        let mut committed = 0;
        let drive = world.play_with(|_, step| {
            committed += usize::from(matches!(step, Step::Commit { .. }));
            let is_asked = matches!(step, Step::Ask { question: Question::Weakened, .. });
            is_asked.then(|| match &choice {
                Some(choice) => Ok(Answer::Chosen(choice.clone())),
                None => failed(FailureKind::Empty),
            })
        });
        let run = &drive.run;
        assert_eq!((ending(run), run.outcome(), run.class()), (Some(Ending::Success), outcome, class));
        assert_eq!(committed == 1, outcome == Ended::Reached, "{choice:?}");
        assert_eq!(run.state.end.as_ref().unwrap().weakened, [weakening()]);
    }
    let tail = format!("audit {WHOLE}\nask Weakened 0\ncommit {WHOLE} as branch");
    assert!(world.asked().ends_with(&tail));
}

#[test]
fn a_result_that_runs_fewer_tests_waits_for_a_person() {
    let fewer = |now: u32, before: u32| Counted::Fewer { now, before };
    let leaking = || failing(&["leaks"]);
    for (before, now, counted, what) in [
        (counting(12), counting(10), fewer(10, 12), Some("runs 2 tests fewer than before (10, 12 before)")),
        (counting(1), counting(0), fewer(0, 1), Some("runs 1 test fewer than before (0, 1 before)")),
        (counting(10), counting(10), Counted::SameOrMore, None),
        (counting(10), counting(12), Counted::SameOrMore, None),
        (counting(2), passed(), Counted::NotCounted, None),
        (passed(), counting(2), Counted::NotCounted, None),
        // A run that fails may have stopped early.
        (leaking(), counting(0), Counted::NotCounted, None),
        (leaking(), leaking(), Counted::NotCounted, None),
    ] {
        let mut world = World::new();
        world.ends = Box::new(move |stage, content| match stage {
            Stage::Lint | Stage::Build => counting(0),
            Stage::Test if content.has_task("t3") => now.clone(),
            Stage::Test => before.clone(),
        });
        let run = world.play().run;
        assert_eq!((ending(&run), run.counted(tree(WHOLE))), (Some(Ending::Success), counted));
        let weakened = &run.state.end.as_ref().unwrap().weakened;
        let found: Vec<_> = weakened.iter().map(|one| (&*one.path, one.line, &*one.what)).collect();
        let wanted: Vec<_> = what.into_iter().map(|what| ("make test", None, what)).collect();
        assert_eq!(found, wanted, "{counted:?}");
        assert_eq!(world.asked().contains("ask Weakened 0"), what.is_some(), "{counted:?}");
    }
    let mut new = World::new();
    new.has = Box::new(|_, content| content.has_task("t1"));
    new.ends = Box::new(|_, _| counting(3));
    assert_eq!(new.play().run.counted(tree(WHOLE)), Counted::SameOrMore, "no test was there before");
}

#[test]
fn the_result_goes_where_the_plan_says() {
    for (apply, success, short) in [
        (Apply::Never, None, None),
        (Apply::Tree, Some(format!("promote base to {WHOLE}")), None),
        (Apply::Propose(Form::Patch), Some(format!("commit {WHOLE} as patch")), Some("as patch")),
        (Apply::Propose(Form::PullRequest), Some(format!("commit {WHOLE} as pr")), Some("as pr")),
    ] {
        let last = |mut world: World| {
            world.plan.task.apply = apply;
            let asked = world.asked();
            let last = asked.lines().next_back().map(ToOwned::to_owned);
            last.filter(|line| line.starts_with("commit") || line.starts_with("promote"))
        };
        assert_eq!(last(World::new()), success, "{apply:?}");
        let ends = last(hopeless());
        assert_eq!(ends.is_some(), short.is_some(), "{apply:?}: {ends:?}");
        assert!(ends.is_none_or(|ends| short.is_some_and(|short| ends.ends_with(short))));
    }
}

#[test]
fn a_result_that_cannot_be_committed_is_kept() {
    let drive = World::new().play_with(|_, step| {
        matches!(step, Step::Commit { .. }).then(|| Ok(Answer::NotCommitted { why: "no git".into() }))
    });
    let run = &drive.run;
    assert_eq!((run.outcome(), run.proposed()), (Ended::Kept, Some(Err("no git"))));
    assert_eq!(
        run.verdict(),
        "the specification is met: 3 of 3 criteria met, and the result was not handed over"
    );
}

#[test]
fn a_folder_that_changed_meanwhile_gets_the_result_merged_with_what_was_found() {
    let mut world = World::new();
    world.plan.task.apply = Apply::Tree;
    let found = tree("head");
    let mut promoted = Vec::new();
    let drive = world.play_with(|_, step| match step {
        Step::Promote { from, to } => {
            promoted.push((*from, *to));
            let is_first = promoted.len() == 1;
            is_first.then(|| Ok(Answer::Conflict { found: vec![found] }))
        }
        _ => None,
    });
    assert_eq!(promoted, [(tree("base"), tree(WHOLE)), (found, tree(&format!("head+{WHOLE}")))]);
    assert_eq!(drive.run.outcome(), Ended::Reached);
}

/// The project has changes that are not committed.
fn dirty() -> World {
    let mut world = World::new();
    world.plan.task.committed = Some(tree("head"));
    world
}

#[test]
fn a_branch_is_judged_without_what_a_person_has_not_committed() {
    let own = format!("head+{WHOLE}");
    let expected = [
        format!("judge {WHOLE}"),
        format!("put {WHOLE} on head"),
        format!("look {own}"),
        format!("lint {own} | build {own} | test {own}"),
        format!("judge {own}"),
        format!("audit {WHOLE}"),
        format!("commit {WHOLE} as branch"),
    ];
    assert!(dirty().asked().ends_with(&expected.join("\n")), "{}", dirty().asked());
}

#[test]
fn a_result_that_does_not_stand_alone_is_a_patch() {
    let mut red = dirty();
    red.red(Stage::Build, |content| content.has("head"));
    let mut unmet = dirty();
    unmet.judge =
        Box::new(|_, content| if content.has("head") { Judged::only(&["A1"]) } else { Judged::all() });
    for world in [red, unmet] {
        assert!(world.asked().ends_with(&format!("commit {WHOLE} as patch")), "{}", world.asked());
    }
    let apart = dirty();
    let drive = apart.play_with(|_, step| {
        matches!(step, Step::Transplant { .. }).then_some(Ok(Answer::Transplanted(None)))
    });
    let end = drive.run.state.end.clone().unwrap();
    assert_eq!((end.stands, end.needs_uncommitted), (false, true));
    assert_eq!(ending(&drive.run), Some(Ending::Success), "it is met on the project as it is");
    let step = Step::Commit { tree: tree(WHOLE), form: Form::Patch };
    let Some(Shared::Propose(propose)) = Evolve::shared(&drive.run, &step) else { panic!("it is proposed") };
    assert_eq!(propose.committed, [tree("head")], "the patch is for the project as it is");
    let mut patch = dirty();
    patch.plan.task.apply = Apply::Propose(Form::Patch);
    let asked = patch.asked();
    assert!(asked.contains("put ") && !asked.contains("look head+"), "{asked}");
}

#[test]
fn each_merged_task_is_a_commit_in_its_order_and_only_the_last_one_claims_anything() {
    let run = World::new().play().run;
    let whole = tree(WHOLE);
    let step = Step::Commit { tree: whole, form: Form::Branch };
    let Some(Shared::Propose(propose)) = Evolve::shared(&run, &step) else { panic!("it is proposed") };
    let Propose { moves, earlier, form, words, .. } = propose;
    assert_eq!(moves, [Move { path: "/project".into(), from: tree("base"), to: whole }]);
    assert_eq!((form, words.branch.as_str()), (Form::Branch, "skilltune/pump"));
    let trees: Vec<_> = earlier.iter().map(|one| one.trees.clone()).collect();
    assert_eq!(trees, [vec![tree("t1.1")], vec![tree("t1.1+t2.1")]]);
    let others = "Other commits follow; only the result of all tasks was judged.";
    let messages = [&earlier[0].message, &earlier[1].message, &words.message];
    let notes = [others, others, "Criteria met: A1, A2, A3."];
    for ((message, note), nth) in messages.into_iter().zip(notes).zip(1..) {
        let begins = format!("Do t{nth}\n\nsummary of t{nth}.1\n\n{note}\n\nSkilltune-Run: ");
        assert!(message.starts_with(&begins), "{message}");
        for trailer in [
            "Skilltune-Verdict: success".to_owned(),
            format!("Skilltune-Task: t{nth}"),
            format!("Skilltune-Criteria: A{nth}"),
        ] {
            assert!(message.contains(&format!("\n{trailer}\n")), "{trailer}: {message}");
        }
    }
}

#[test]
fn the_second_commit_of_a_task_says_so() {
    let mut world = World::new();
    world.judge =
        Box::new(|_, content| if content.has("t2.2") { Judged::all() } else { Judged::only(&["A1", "A3"]) });
    let run = world.play().run;
    let step = Step::Commit { tree: run.result().unwrap(), form: Form::Branch };
    let Some(Shared::Propose(propose)) = Evolve::shared(&run, &step) else { panic!("it is proposed") };
    let earlier = propose.earlier.iter().map(|one| &one.message);
    let messages = earlier.chain([&propose.words.message]);
    let titles: Vec<&str> = messages.filter_map(|message| message.lines().next()).collect();
    assert_eq!(titles, ["Do t1", "Do t2", "Do t3", "Do t2 (again)", "Do t3 (again)"]);
}

#[test]
fn the_last_commit_names_what_is_unmet() {
    let run = hopeless().play().run;
    let step = Step::Commit { tree: run.result().unwrap(), form: Form::Branch };
    let Some(Shared::Propose(Propose { words, .. })) = Evolve::shared(&run, &step) else { panic!("it is") };
    assert!(words.message.contains("Criteria met: none; unmet: A1, A2, A3."), "{}", words.message);
    assert!(words.message.contains("Skilltune-Verdict: human_escalation"));
}

#[test]
fn guidance_extends_the_limit_of_calls() {
    let mut world = hopeless();
    let guide = || Choice::Guide { text: "Turn it round.".into() };
    world.choose = Box::new(move |_, round| if round < 12 { guide() } else { Choice::End });
    let run = world.play().run;
    assert_eq!((run.state.guidance.len(), Evolve::extensions(&run)), (1, 1));
    assert_eq!(run.default_calls(), 2 * run.planned_calls());
}

#[test]
fn new_tasks_keep_to_the_most_of_a_plan() {
    let mut world = World::new();
    world.tasks = (1..=100).map(|nth| task(&format!("t{nth}"), &["A1", "A2", "A3"], &[])).collect();
    world.judge = Box::new(|_, _| Judged::only(&["A1"]));
    world.amend = Box::new(|_, _| adding("It is small."));
    let (drive, step) = world.until(|step| *step == Step::Divide { round: 1 });
    let page = prompt(&drive.run, &step);
    let (_, code) = page.rsplit_once("\"answer_to\": \"").unwrap();
    let tasks = [task("t101", &["A4"], &[])];
    let answer = serde_json::json!({ "answer_to": code.split('"').next(), "tasks": tasks });
    let request = Evolve::request(&drive.run, &step).unwrap();
    let failure = request.read(&answer.to_string()).expect_err("there are too many");
    assert_eq!(failure.why, "the plan would have 101 tasks, but at most 100 are possible");
}
