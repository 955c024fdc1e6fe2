//! A project that changes while a run is paused, and runs that build on an earlier one.

use jiff::Timestamp;

use super::*;
use crate::base::ceiling::Ceilings;
use crate::base::id::Digest;
use crate::base::role::Role;
use crate::judging::judgement::VerdictShape;
use crate::loops::Loop as _;
use crate::loops::evolve::briefs::DivideBrief;
use crate::loops::evolve::decision::{Batch, Due, Round, TaskEnd};
use crate::loops::evolve::evaluation::Contract;
use crate::loops::evolve::plan::{Class, Classified, Group};
use crate::loops::evolve::spec::{Criterion, Priority, Specification};
use crate::loops::evolve::task::{AdviceRules, Apply, MergedWork, Rules};
use crate::loops::evolve::{Event, Evolve, Plan, Task};
use crate::loops::shared::commands::Stage;
use crate::runs::event::{Done, Failure, FailureKind, Outcome, Record, Spent};
use crate::runs::plan::{Cast, Enforced, FORMAT, Fingerprint, Isolation, LoopKind};
use crate::suites::checks::{Commands, RunThem};

fn tree(name: &str) -> TreeId {
    TreeId(Digest::of(name.as_bytes()))
}

fn ids(list: &[&str]) -> Vec<Id> {
    list.iter().map(|&id| id.into()).collect()
}

fn item(id: &str, covers: &[&str], after: &[&str]) -> Item {
    Item {
        id: id.into(),
        title: format!("Do {id}").into(),
        description: "".into(),
        covers: ids(covers),
        after: ids(after),
        touches: vec![format!("{id}.txt").into()],
        replaces: Vec::new(),
    }
}

/// The tasks `a`, then `b`, then `c`.
fn planned() -> Planned {
    let why = "The goal says so.".into();
    let criterion = Classified { id: "A1".into(), class: Class::Essential, priority: Priority::High, why };
    Planned {
        criteria: vec![criterion],
        tasks: vec![item("a", &[], &[]), item("b", &["A1"], &["a"]), item("c", &[], &["b"])],
        groups: vec![Group { name: "all".into(), domain: "code".into(), tasks: ids(&["a", "b", "c"]) }],
        tree: Some(tree("start")),
    }
}

fn task() -> Task {
    let criterion =
        Criterion { id: "A1".into(), text: "It works.".into(), priority: None, check: None, source: None };
    Task {
        name: "spec".into(),
        file: "spec.md".into(),
        spec: Specification {
            goal: "It works.".into(),
            constraints: Vec::new(),
            criteria: vec![criterion],
            vocabulary: Vec::new(),
        },
        root: "/project".into(),
        start: tree("start"),
        committed: None,
        hidden: vec![".envrc".into()],
        apart: Vec::new(),
        plan: Some(planned()),
        outdated: Vec::new(),
        only: Vec::new(),
        built_on: Vec::new(),
        plan_only: false,
        set: Vec::new(),
        finds: false,
        checks: Commands { run: RunThem::Never, confined: true },
        has_oracles: false,
        has_strength: false,
        has_control: false,
        verify: None,
        command_seconds: 9,
        brought: None,
        setup: None,
        has_shell: false,
        apply: Apply::Never,
        rules: Rules::default(),
        experts: Vec::new(),
        advice: AdviceRules::default(),
        retries: 0,
        remarks: Vec::new(),
    }
}

fn cast() -> Cast {
    Cast {
        agent: "world".into(),
        model: None,
        fingerprint: Fingerprint::default(),
        timeout_seconds: 1,
        family: None,
        isolation: Isolation::Partial,
        via: None,
        wrap: None,
        rights: Enforced::Nobody,
        verdict: VerdictShape::Evidenced,
        lacks_shell: false,
        opens_files: true,
    }
}

fn begin(task: Task) -> Run {
    let plan = Plan {
        format: FORMAT,
        program: "0.0.0".into(),
        run: "spec-1".parse().unwrap(),
        kind: LoopKind::Evolve,
        folder: "/project/.skilltune/runs/spec-1".into(),
        task,
        roles: [Role::EXECUTOR, Role::EVALUATOR].map(|role| (role, cast())).into(),
        ceilings: Ceilings::default(),
        seed: 7,
        epoch: 0,
        unattended: false,
        workers: Vec::new(),
    };
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    Run::begin(&Record { seq: 0, at, event: Event::Started(Box::new(plan)) }).unwrap()
}

fn apply(run: &mut Run, event: Event) {
    run.apply(&Record { seq: run.seq + 1, at: run.updated_at, event });
}

fn decide(run: &mut Run, decision: Decision) {
    apply(run, Event::Decided(decision));
}

fn done(run: &mut Run, step: Step, outcome: Outcome<Answer>) {
    let (attempt, spent) = (run.attempts(&step), Spent::default());
    let done =
        Done { step, attempt, call: None, outcome, spent, model: None, windows: Vec::new(), machine: None };
    apply(run, Event::Done(Box::new(done)));
}

/// Returns the steps that are due.
fn steps(run: &Run) -> Vec<Step> {
    match Evolve::next(run) {
        Next::Do(steps) => steps.collect(),
        Next::Decide(decision) => panic!("{decision:?}"),
        Next::End => Vec::new(),
    }
}

/// Makes the next decision.
fn decided(run: &mut Run) -> Decision {
    let Next::Decide(decision) = Evolve::next(run) else { panic!("no decision") };
    decide(run, decision.clone());
    decision
}

/// A run with a plan, in which nothing has begun.
fn with_plan() -> Run {
    let mut run = begin(task());
    let contract =
        Contract { statements: Vec::new(), constraints: Vec::new(), criteria: Vec::new(), series: 0 };
    decide(&mut run, Decision::Planned { plan: Box::new(planned()), contract: Box::new(contract) });
    run
}

/// A run in which `a` is merged, and a batch with `b` has begun.
fn under_way() -> Run {
    let mut run = with_plan();
    assert!(matches!(decided(&mut run), Decision::Pass(_)));
    assert!(matches!(decided(&mut run), Decision::Batch(_)));
    let ends = vec![TaskEnd { task: "a".into(), end: WorkEnd::Merged(tree("a")) }];
    decide(&mut run, Decision::Integrated { batch: 0, tree: tree("a"), ends });
    assert!(matches!(decided(&mut run), Decision::Batch(_)));
    run
}

fn find(run: &mut Run) {
    let base = Base { tree: tree("found"), committed: None, hidden: vec!["CLAUDE.md".into()] };
    decide(run, Decision::Found(Box::new(base)));
}

/// Answers what a person has changed, and where the merged work is now.
fn follow(run: &mut Run, named: &[&str], trees: &[&str], refused: Option<&str>) {
    let due = steps(run);
    assert!(matches!(due[..], [Step::Follow { .. }]), "{due:?}");
    let followed = Followed {
        changed: vec!["b.txt".into()],
        named: ids(named),
        trees: trees.iter().map(|name| tree(name)).collect(),
        refused: refused.map(Into::into),
    };
    done(run, due[0].clone(), Ok(Answer::Followed(Box::new(followed))));
}

#[test]
fn the_merged_work_moves_and_the_tasks_to_come_begin_there() {
    let mut run = under_way();
    find(&mut run);
    follow(&mut run, &[], &["a on found"], None);
    assert!(matches!(decided(&mut run), Decision::Moved(_)));
    assert_eq!((run.base(), run.state.tree), (tree("found"), tree("a on found")));
    let work =
        MergedWork { task: "a".into(), batch: Some(0), before: tree("found"), after: tree("a on found") };
    assert_eq!(run.state.merged, [work]);
    assert_eq!(run.state.hidden(), [".envrc", "CLAUDE.md"]);
    assert_eq!(run.state.plan.as_ref().unwrap().tree, Some(tree("found")));
    // The batch that had no work begins again, from the new tree, and `a` does not.
    let Decision::Batch(batch) = decided(&mut run) else { panic!("no batch") };
    assert_eq!((batch.from, &*batch.tasks[0].task, batch.tasks[0].go), (tree("a on found"), "b", 1));
    assert!(Evolve::run_trees(&run).contains(&tree("found")));
}

#[test]
fn a_task_that_has_not_begun_is_planned_again_if_its_files_have_changed() {
    for mut run in [with_plan(), under_way()] {
        let is_under_way = !run.state.passes.is_empty();
        let at = if is_under_way { "a on found" } else { "found" };
        find(&mut run);
        // A task that was merged is not planned again.
        let (named, trees) = if is_under_way { (&["a", "b"][..], vec![at]) } else { (&["b"][..], vec![]) };
        follow(&mut run, named, &trees, None);
        let replan = Step::Replan { tasks: ids(&["b"]), tree: tree(at) };
        assert_eq!(steps(&run), std::slice::from_ref(&replan));
        let new = vec![item("b", &["A1"], &["a"]), item("b2", &[], &["b"])];
        done(&mut run, replan, Ok(Answer::Divided(new)));
        let Decision::Moved(moved) = decided(&mut run) else { panic!("not moved") };
        assert_eq!(moved.again, ids(&["b"]));
        let layers = &[ids(&["a"]), ids(&["b"]), ids(&["b2"]), ids(&["c"])][usize::from(is_under_way)..];
        // `c` and `b2` both wait for `b` alone.
        let layers = [&layers[..layers.len() - 2], &[ids(&["b2", "c"])]].concat();
        if !is_under_way {
            assert!(matches!(decided(&mut run), Decision::Pass(_)));
        }
        let pass = run.state.passes.last().unwrap();
        assert_eq!((&pass.layers, pass.from), (&layers, tree(at)));
        assert_eq!(run.state.merged.len(), usize::from(is_under_way));
        let plan = run.state.plan.as_ref().unwrap();
        assert_eq!(plan.groups[0].tasks, ids(&["a", "b", "c", "b2"]));
    }
}

#[test]
fn tasks_stay_as_they_are_if_they_cannot_be_planned_again() {
    let mut run = under_way();
    find(&mut run);
    follow(&mut run, &["b"], &["a on found"], None);
    let replan = steps(&run).remove(0);
    done(&mut run, replan, Err(Failure::new(FailureKind::OffSchema, "no JSON")));
    let Decision::Moved(moved) = decided(&mut run) else { panic!("not moved") };
    assert_eq!((moved.again.len(), moved.plan.tasks), (0, planned().tasks));
}

#[test]
fn a_run_stays_where_it_is_if_that_is_safer() {
    let conflict = Some("b.txt (both changed the same lines)");
    for (is_judged, refused, expected) in
        [(false, conflict, "b.txt (both changed the same lines)"), (true, None, "a result was judged before")]
    {
        let mut run = under_way();
        if is_judged {
            let round = Round { tree: tree("a"), red: vec![Stage::Test], evaluation: None };
            decide(&mut run, Decision::Evaluated(Box::new(round)));
        }
        find(&mut run);
        follow(&mut run, &["b"], &[], refused);
        let Decision::Stayed { why, changed } = decided(&mut run) else { panic!("moved") };
        assert_eq!((&*why, changed), (expected, vec!["b.txt".into()]));
        assert_eq!((run.base(), run.state.tree), (tree("start"), tree("a")));
        // It does not look at the same content again.
        assert_eq!((run.state.seen, run.state.found.is_none()), (tree("found"), true));
        assert!(matches!(steps(&run)[..], [Step::Work { .. }]));
    }
}

#[test]
fn work_that_waits_to_be_merged_is_merged_first() {
    let mut run = under_way();
    let step = steps(&run).remove(0);
    done(&mut run, step, Ok(Answer::Worked { made: tree("b"), summary: "".into(), is_blind: false }));
    find(&mut run);
    assert!(matches!(steps(&run)[..], [Step::Merge { .. }]));
    let mut run = under_way();
    let ends = vec![TaskEnd { task: "b".into(), end: WorkEnd::Again("it conflicts".into()) }];
    decide(&mut run, Decision::Integrated { batch: 1, tree: tree("a"), ends });
    find(&mut run);
    let Decision::Batch(batch) = decided(&mut run) else { panic!("no batch") };
    let again = Due { task: "b".into(), go: 2, again: Some("it conflicts".into()) };
    assert_eq!(*batch, Batch { layer: 1, from: tree("a"), tasks: vec![again], skipped: Vec::new() });
}

#[test]
fn outdated_tasks_of_a_given_plan_are_planned_again_before_anything_is_done() {
    let mut run = begin(Task { outdated: ids(&["b", "c"]), ..task() });
    let replan = Step::Replan { tasks: ids(&["b", "c"]), tree: tree("start") };
    done(&mut run, Step::Split, Ok(Answer::Split(vec!["It works.".into()])));
    done(&mut run, Step::Look { tree: tree("start") }, Ok(Answer::Found(Vec::new())));
    assert_eq!(steps(&run), std::slice::from_ref(&replan));
    let brief = DivideBrief::again(&run, &ids(&["b", "c"])).unwrap();
    for (tasks, fault) in [
        (vec![item("b", &["A1"], &["a"])], None),
        (vec![item("b", &[], &["a"])], Some("no task covers the criterion `A1`")),
        (vec![item("a", &["A1"], &[])], Some("`a` is the id of two tasks")),
        (vec![item("b", &["A1"], &["c"])], Some("the task `b`: `after` has `c`, which does not exist")),
        (
            vec![item("b", &["A1"], &["d"]), item("d", &[], &["b"])],
            Some("tasks depend on each other in a circle: b -> d -> b"),
        ),
    ] {
        assert_eq!(brief.fault(&tasks).as_deref(), fault);
    }
    done(&mut run, replan, Ok(Answer::Divided(vec![item("new", &["A1"], &["a"])])));
    let Decision::Planned { plan, .. } = decided(&mut run) else { panic!("no plan") };
    let tasks: Vec<&str> = plan.tasks.iter().map(|item| &*item.id).collect();
    assert_eq!((tasks, plan.tree), (vec!["a", "new"], Some(tree("start"))));
}

#[test]
fn a_rerun_does_its_tasks_on_the_work_of_the_earlier_run() {
    let work = |task: &str, before: &str| MergedWork {
        task: task.into(),
        batch: None,
        before: tree(before),
        after: tree(task),
    };
    let built_on = vec![work("a", "start"), work("b", "a")];
    let mut run = begin(Task { only: ids(&["b", "c"]), built_on, ..task() });
    done(&mut run, Step::Split, Ok(Answer::Split(vec!["It works.".into()])));
    done(&mut run, Step::Look { tree: tree("start") }, Ok(Answer::Found(Vec::new())));
    assert!(matches!(decided(&mut run), Decision::Planned { .. }));
    let Decision::Pass(pass) = decided(&mut run) else { panic!("no pass") };
    assert_eq!((pass.from, pass.layers), (tree("b"), vec![ids(&["b"]), ids(&["c"])]));
    let works: Vec<&str> = run.works_of(run.state.tree).iter().map(|work| &*work.task).collect();
    assert_eq!(works, ["a", "b"]);
    // What is done again counts as not done.
    let ends: Vec<&str> = run.state.ends.keys().map(|id| &**id).collect();
    assert_eq!(ends, ["a"]);
    assert!(Evolve::run_trees(&run).contains(&tree("a")));
}
