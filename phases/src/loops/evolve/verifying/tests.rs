//! A verified result, from the question whether its commands may run to the words of its receipts.

use jiff::Timestamp;

use super::*;
use crate::base::ceiling::Ceilings;
use crate::base::id::Digest;
use crate::loops::Loop as _;
use crate::loops::evolve::oracle::{Light, Oracle, Probed};
use crate::loops::evolve::receipt::CommandReceipt;
use crate::loops::evolve::spec::{Criterion, Specification};
use crate::loops::evolve::step::{Answer, Command, CommandEnd};
use crate::loops::evolve::task::{AdviceRules, Apply, Rules};
use crate::loops::evolve::{Event, Evolve, Plan, Task};
use crate::runs::event::{Done, Record, Spent};
use crate::runs::plan::{FORMAT, LoopKind};
use crate::suites::checks::{Commands, RunThem};

fn tree(name: &str) -> TreeId {
    TreeId(Digest::of(name.as_bytes()))
}

fn words(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

/// An oracle for A1, a check for A2, and a judgement for A3.
fn claim() -> Verify {
    let oracle = Oracle { argv: words("oracle"), files: None, uses_names: false, shows: "".into() };
    let test = CommandReceipt { stage: Stage::Test, argv: words("test"), before: Some(1), after: Some(0) };
    Verify {
        result: tree("result"),
        is_same: true,
        interface: None,
        oracles: vec![("A1".into(), oracle)],
        words: vec![
            ("A1".into(), Word::Verified),
            ("A2".into(), Word::AlreadyMet),
            ("A3".into(), Word::Judged),
        ],
        commands: vec![test],
    }
}

fn task() -> Task {
    let criterion = |id: &str| Criterion {
        id: id.into(),
        text: "It works.".into(),
        priority: None,
        check: (id == "A2").then(|| words("check")),
        source: None,
    };
    Task {
        name: "spec".into(),
        file: "skilltune/spec:.evolve/spec/receipts.json".into(),
        spec: Specification {
            goal: "It works.".into(),
            constraints: Vec::new(),
            criteria: ["A1", "A2", "A3"].map(criterion).to_vec(),
            vocabulary: Vec::new(),
        },
        root: "/project".into(),
        start: tree("start"),
        committed: None,
        hidden: Vec::new(),
        apart: Vec::new(),
        plan: None,
        outdated: Vec::new(),
        only: Vec::new(),
        built_on: Vec::new(),
        plan_only: false,
        set: Vec::new(),
        finds: false,
        checks: Commands { run: RunThem::Ask, confined: true },
        has_oracles: false,
        has_strength: false,
        has_control: false,
        verify: Some(Box::new(claim())),
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

fn begin() -> Run {
    let plan = Plan {
        format: FORMAT,
        program: "0.0.0".into(),
        run: "spec-1".parse().unwrap(),
        kind: LoopKind::Evolve,
        folder: "/project/.skilltune/runs/spec-1".into(),
        task: task(),
        roles: [].into(),
        ceilings: Ceilings::default(),
        seed: 7,
        epoch: 0,
        unattended: false,
        workers: Vec::new(),
    };
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    Run::begin(&Record { seq: 0, at, event: Event::Started(Box::new(plan)) }).unwrap()
}

/// Plays a run to its end. An oracle ends in this light, and the test with this exit code, on the result or before it.
fn played(
    allows: bool,
    light: impl Fn(&str, bool) -> Light,
    exit: impl Fn(bool) -> Option<i32>,
) -> (Run, Vec<Step>) {
    let (mut run, mut all) = (begin(), Vec::new());
    loop {
        let events: Vec<Event> = match Evolve::next(&run) {
            Next::End => break,
            Next::Decide(decision) => vec![Event::Decided(decision)],
            Next::Do(steps) => {
                let steps: Vec<Step> = steps.collect();
                all.extend(steps.iter().cloned());
                let answer = |step: &Step| match step {
                    Step::Allow => Answer::Allowed(allows),
                    Step::Look { .. } => {
                        Answer::Found(vec![Command { stage: Stage::Test, argv: words("test") }])
                    }
                    Step::Run { tree: on, .. } => Answer::Ran(Box::new(CommandEnd {
                        exit: exit(*on == tree("result")),
                        said: "".into(),
                        tests: None,
                    })),
                    Step::Probe { criterion, tree: on, .. } => {
                        let light = light(criterion, *on == tree("result"));
                        let exit = Some(i32::from(light != Light::Green));
                        Answer::Probed(Box::new(Probed { light, exit, said: "".into() }))
                    }
                    step => panic!("{step:?}"),
                };
                let done = |step: Step| Done {
                    attempt: run.attempts(&step),
                    call: None,
                    outcome: Ok(answer(&step)),
                    step,
                    spent: Spent::default(),
                    model: None,
                    windows: Vec::new(),
                    machine: None,
                };
                steps.into_iter().map(|step| Event::Done(Box::new(done(step)))).collect()
            }
        };
        for event in events {
            run.apply(&Record { seq: run.seq + 1, at: run.updated_at, event });
        }
    }
    (run, all)
}

fn honest(criterion: &str, is_result: bool) -> Light {
    if criterion == "A2" || is_result { Light::Green } else { Light::Red }
}

fn ending(run: &Run) -> Option<Ending> {
    run.state.end.as_ref().map(|end| end.ending)
}

fn now(run: &Run) -> Vec<Word> {
    run.repeated().into_iter().map(|(_, _, now)| now).collect()
}

#[test]
fn nothing_runs_before_a_person_allows_it() {
    let passes = |is_result: bool| Some(i32::from(!is_result));
    let (run, steps) = played(false, honest, passes);
    assert_eq!((ending(&run), &steps[..]), (Some(Ending::Incomplete), &[Step::Allow][..]));
    assert_eq!(run.verdict(), "not repeated: the commands of the receipts may not run");
    let (run, steps) = played(true, honest, passes);
    assert_eq!((ending(&run), &steps[0]), (Some(Ending::Repeated), &Step::Allow));
    assert_eq!(run.verdict(), "every receipt was repeated");
    let has_agent =
        |step: &Step| Evolve::request(&run, step).is_some_and(|one| one.as_ref().command.is_none());
    assert!(!steps.iter().any(has_agent), "{steps:?}");
}

#[test]
fn a_word_counts_only_if_the_oracle_ends_so_again() {
    let passes = |is_result: bool| Some(i32::from(!is_result));
    let of = |light: fn(&str, bool) -> Light| {
        let (run, _) = played(true, light, passes);
        assert_eq!(ending(&run), Some(Ending::NotRepeated));
        assert_eq!(run.verdict(), "the receipts of A1 were not repeated");
        now(&run)[0]
    };
    assert_eq!(of(|id, _| if id == "A1" { Light::Red } else { Light::Green }), Word::NotMet);
    assert_eq!(of(|_, _| Light::Green), Word::AlreadyMet);
    // An oracle that does not fail by an assertion before the change shows nothing.
    let broken = |id: &str, is_result| match honest(id, is_result) {
        Light::Red => Light::Neither,
        light => light,
    };
    assert_eq!(of(broken), Word::Judged);
}

#[test]
fn a_command_that_passed_with_the_result_has_to_pass_again() {
    let (run, _) = played(true, honest, |_| Some(1));
    assert_eq!((ending(&run), run.lost_stages()), (Some(Ending::NotRepeated), vec![Stage::Test]));
    assert_eq!(run.verdict(), "test does not pass as it did");
}
