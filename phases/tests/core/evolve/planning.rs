//! Planning: four steps, each checked against the one before.

use serde_json::{Value, json};
use skilltune_phases::base::ending::Class;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::decision::Ending;
use skilltune_phases::loops::evolve::plan::{self, Classified, Item, Planned};
use skilltune_phases::loops::evolve::spec::Priority;
use skilltune_phases::loops::evolve::{Answer, Ended, Evolve, Run, Step};
use skilltune_phases::runs::event::FailureKind;

use super::world::{OUTPUT, World, broken, prompt, task};
use super::{ending, work_prompt};
use crate::drive::{failed, tree};

const DIVIDE: Step = Step::Divide { round: 0 };

#[test]
fn a_run_plans_in_four_steps_while_the_commands_run_on_the_unchanged_project() {
    insta::assert_snapshot!(World::new().asked(), @"
    split | look base
    classify | lint base | build base | test base
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
    judge t1.1+t2.1+t3.1
    audit t1.1+t2.1+t3.1
    commit t1.1+t2.1+t3.1 as branch
    ");
}

#[test]
fn a_setup_command_that_fails_ends_the_run_before_any_agent_is_asked() {
    let mut world = World::new();
    world.plan.task.setup = Some(vec!["make".to_owned(), "ready".to_owned()]);
    assert!(world.asked().starts_with("set up base\nsplit | look base\n"), "{}", world.asked());
    for (outcome, why) in
        [(Ok(Answer::Ran(Box::new(broken()))), OUTPUT), (failed(FailureKind::Crashed), "the world would not")]
    {
        let mut others = 0;
        let drive = world.play_with(|_, step| {
            let is_setup = matches!(step, Step::SetUp { .. });
            others += usize::from(!is_setup);
            is_setup.then(|| outcome.clone())
        });
        let verdict =
            format!("not judged: the setup command `make ready` failed on the unchanged project: {why}");
        assert_eq!((ending(&drive.run), drive.run.verdict(), others), (Some(Ending::Incomplete), verdict, 0));
    }
    world.plan.task.plan_only = true;
    assert_eq!(world.asked(), "split\nclassify\ndivide 0\ngroup", "a plan needs no copy");
}

#[test]
fn only_the_plan_is_made_where_nothing_else_was_asked_for() {
    let mut world = World::new();
    world.plan.task.plan_only = true;
    assert_eq!(world.asked(), "split\nclassify\ndivide 0\ngroup");
    let run = world.play().run;
    assert_eq!((run.outcome(), run.class()), (Ended::Planned, Class::Reached));
    let planned = Planned { tree: Some(tree("base")), ..world.planned() };
    assert_eq!((run.state.plan.clone(), run.result()), (Some(planned), None));
}

#[test]
fn a_given_plan_asks_only_for_the_statements_of_the_goal() {
    let mut world = World::new();
    world.plan.task.plan = Some(world.planned());
    let asked = world.asked();
    let begins = "split | look base\nlint base | build base | test base\nt1.1 from base | t2.1 from base\n";
    assert!(asked.starts_with(begins), "{asked}");
    assert_eq!(ending(&world.play().run), Some(Ending::Success));

    world.tasks[0].after = vec!["t3".into()];
    world.plan.task.plan = Some(world.planned());
    assert_eq!(ending(&world.play().run), Some(Ending::Failed), "it is checked anew");
}

#[test]
fn priorities_that_the_specification_lacks_are_filled_and_frozen_with_the_statements() {
    let run = World::new().play().run;
    let contract = run.state.contract.as_ref().unwrap();
    let priorities: Vec<Priority> = contract.criteria.iter().map(|one| one.priority).collect();
    assert_eq!(priorities, [Priority::Critical, Priority::High, Priority::Low]);
    assert_eq!(contract.statements, ["The pump runs.".into(), "It is quiet.".into()] as [Box<str>; 2]);
    assert!(contract.criteria.iter().all(|one| one.is_original) && contract.series == 0);
}

/// Returns the code that an answer to this prompt has to repeat.
fn code(prompt: &str) -> &str {
    let (_, code) = prompt.rsplit_once("\"answer_to\": \"").expect("a code is asked for");
    code.split_once('"').expect("it ends").0
}

fn answered(run: &Run, step: &Step, key: &str, value: &Value) -> String {
    json!({ "answer_to": code(&prompt(run, step)), key: value }).to_string()
}

/// Gives a wrong answer to a step of planning twice. Returns the reason why it is refused, with the run after it.
fn refused(asked: &Step, key: &str, wrong: &Value) -> (String, Run) {
    let (mut drive, step) = World::new().until(|step| step == asked);
    let mut why: Option<String> = None;
    for _ in 0..2 {
        assert!(drive.due(usize::MAX).contains(&step), "{step:?} is due");
        let page = prompt(&drive.run, &step);
        assert_eq!(page.contains("## Once more"), why.is_some());
        assert!(why.is_none_or(|why| page.contains(&why)), "{page}");
        let request = Evolve::request(&drive.run, &step).expect("an agent is asked");
        let failure = request.read(&answered(&drive.run, &step, key, wrong)).expect_err("it is wrong");
        assert_eq!(failure.kind, FailureKind::OffSchema);
        why = Some(failure.why.clone());
        drive.done(step.clone(), Err(failure));
    }
    assert!(drive.due(usize::MAX).is_empty(), "the run has ended");
    (why.expect("the run says why"), drive.run)
}

fn divided(tasks: &[Item]) -> Value {
    json!(tasks)
}

fn classified(change: impl Fn(&mut Vec<Classified>)) -> Value {
    let mut all = World::new().classified();
    change(&mut all);
    json!(all)
}

#[test]
fn a_wrong_answer_is_asked_again_once_with_the_reason_and_then_the_run_fails() {
    let classes = |change: fn(&mut Vec<Classified>)| (Step::Classify, "criteria", classified(change));
    let tasks = |tasks: &[Item]| (DIVIDE, "tasks", divided(tasks));
    let all = ["A1", "A2", "A3"];
    let group = |tasks: Value| json!([{ "name": "pump", "domain": "machines", "tasks": tasks }]);
    let two = task("t2", &["A2", "A3"], &["t1"]);
    let table = [
        ((Step::Split, "statements", json!(["The pump sings."])), "is not a quote of the goal"),
        ((Step::Split, "statements", json!([])), "0 statements were given"),
        (classes(|all| drop(all.pop())), "the criterion `A3` is not classified"),
        (
            classes(|all| all[1].priority = Priority::Low),
            "the specification says that the criterion `A2` is high, not low",
        ),
        (
            classes(|all| all[0].class = plan::Class::Supplementary),
            "the criterion `A1` is critical, but supplementary criteria never are",
        ),
        (tasks(&[task("t1", &["A1", "A2"], &[])]), "no task covers the criterion `A3`"),
        (
            tasks(&[task("t1", &["A1"], &["t2"]), two]),
            "tasks depend on each other in a circle: t1 -> t2 -> t1",
        ),
        (tasks(&[task("t1", &all, &["t1"])]), "the task `t1`: it depends on itself"),
        (tasks(&[task("t1", &all, &["t9"])]), "`after` has `t9`, which does not exist"),
        (tasks(&[task("t1", &["A9"], &[])]), "`covers` has `A9`, which does not exist"),
        (tasks(&[]), "the plan has 0 tasks"),
        ((Step::Group, "groups", group(json!(["t1", "t2"]))), "the task `t3` is in no group"),
        ((Step::Group, "groups", group(json!(["t1", "t1"]))), "is listed already"),
    ];
    for ((step, key, wrong), reason) in table {
        let (why, run) = refused(&step, key, &wrong);
        assert!(why.contains(reason), "{why}");
        let end = run.state.end.as_ref().unwrap();
        assert_eq!((end.ending, end.why.as_deref()), (Ending::Failed, Some(why.as_str())));
        assert_eq!((run.outcome(), run.class()), (Ended::Incomplete, Class::Unjudged));
    }
}

#[test]
fn a_second_answer_that_is_sound_is_taken() {
    for step in [Step::Split, Step::Classify, DIVIDE, Step::Group] {
        let world = World::new();
        let (mut drive, step) = world.until(|asked| *asked == step);
        drive.done(step, failed(FailureKind::OffSchema));
        drive.finish_alone(|run, step| world.answer(run, step));
        assert_eq!(ending(&drive.run), Some(Ending::Success));
    }
}

#[test]
fn the_readers_take_what_the_agents_of_this_world_answer() {
    let world = World::new();
    let mut read = 0;
    world.play_with(|run, step| {
        let (key, value) = match step {
            Step::Split => ("statements", json!(world.statements)),
            Step::Classify => ("criteria", json!(world.classified())),
            Step::Divide { .. } => ("tasks", json!(world.tasks)),
            Step::Group => ("groups", json!(world.groups())),
            _ => return None,
        };
        read += 1;
        let request = Evolve::request(run, step).expect("an agent is asked");
        let answer = request.read(&answered(run, step, key, &value));
        assert_eq!(answer, world.answer(run, step));
        Some(answer)
    });
    assert_eq!(read, 4);
}

#[test]
fn a_plan_that_was_read_elsewhere_is_checked_by_the_same_rules() {
    let world = World::new();
    for (asked, wrong) in [
        (Step::Classify, Answer::Classified(Vec::new())),
        (DIVIDE, Answer::Divided(Vec::new())),
        (Step::Group, Answer::Grouped(Vec::new())),
    ] {
        let (drive, step) = world.until(|step| *step == asked);
        let request = Evolve::request(&drive.run, &step).expect("an agent makes it");
        let right = world.answer(&drive.run, &step).expect("the world answers");
        assert_eq!(request.check(&right), Ok(()), "{step:?}");
        let refused = request.check(&wrong).map_err(|failure| failure.kind);
        assert_eq!(refused, Err(FailureKind::OffSchema), "{step:?}");
    }
}

#[test]
fn tasks_of_one_layer_that_expect_the_same_file_are_put_into_successive_layers() {
    let mut world = World::new();
    let same = world.tasks[0].touches.clone();
    world.tasks[1].touches = same;
    let run = world.play().run;
    let layers = &run.state.passes[0].layers;
    assert_eq!(*layers, [vec!["t1".into()], vec!["t2".into()], vec!["t3".into()]] as [Vec<Box<str>>; 3]);
    let apart = run.graph().expect("it has no circle").apart;
    assert_eq!(apart, [("t2".into(), "t1".into())] as [(Box<str>, Box<str>); 1]);
}

#[test]
fn experts_advise_on_their_tasks_before_the_first_one_begins() {
    let world = World::new().advised();
    let asked = world.asked();
    let part =
        "group\nmatch\nadvise t1 0 | advise t1 1 | advise t2 1\nagree t1\nt1.1 from base | t2.1 from base\n";
    assert!(asked.contains(part), "{asked}");
    for (work, advice) in
        [("t1.1", Some("agreed: advice of 0 on t1")), ("t2.1", Some("advice of 1 on t2")), ("t3.1", None)]
    {
        let page = work_prompt(&world, work);
        assert_eq!(page.contains("## What experts advise"), advice.is_some(), "{work}: {page}");
        assert!(advice.is_none_or(|advice| page.contains(advice)), "{work}: {page}");
    }
    let drive = world.play_with(|_, step| {
        let is_advice = matches!(step, Step::Match | Step::Advise { .. } | Step::Agree { .. });
        is_advice.then(|| failed(FailureKind::OffSchema))
    });
    assert_eq!(ending(&drive.run), Some(Ending::Success), "advice that fails stops nothing");
}
