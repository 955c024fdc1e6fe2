//! The plan of the world, and the parts that its scripts are made of.

use skilltune_phases::base::id::Digest;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::evolve::Plan;
use skilltune_phases::loops::evolve::amendment::{Amendment, Change, NewConstraint, NewCriterion};
use skilltune_phases::loops::evolve::evaluation::{Evidence, Verdict};
use skilltune_phases::loops::evolve::plan::Item;
use skilltune_phases::loops::evolve::spec::{Constraint, Criterion, Id, Priority, Specification};
use skilltune_phases::loops::evolve::step::{CommandEnd, Drift, Relevant};
use skilltune_phases::loops::evolve::task::{AdviceRules, Adviser, Apply, Rules, Task};
use skilltune_phases::loops::evolve::weakened::Weakening;
use skilltune_phases::loops::expert::{Origin, Persona};
use skilltune_phases::loops::shared::test_results::TestResults;
use skilltune_phases::runs::proposal::{Form, Proposal};
use skilltune_phases::suites::checks::{Commands, RunThem};

use super::{GOAL, OUTPUT};
use crate::drive::{plan_of, roles_of, tree};

pub(super) fn plan() -> Plan {
    let task = Task {
        name: "pump".into(),
        file: "pump.md".into(),
        spec: spec(),
        root: "/project".into(),
        start: tree("base"),
        committed: None,
        hidden: Vec::new(),
        apart: Vec::new(),
        plan: None,
        outdated: Vec::new(),
        built_on: Vec::new(),
        only: Vec::new(),
        plan_only: false,
        set: Vec::new(),
        finds: true,
        checks: Commands { run: RunThem::Always, confined: true },
        has_oracles: false,
        has_strength: false,
        has_control: false,
        verify: None,
        command_seconds: 60,
        brought: None,
        setup: None,
        has_shell: true,
        apply: Apply::Propose(Form::Branch),
        rules: Rules::default(),
        experts: Vec::new(),
        advice: AdviceRules::default(),
        retries: 1,
        remarks: Vec::new(),
    };
    plan_of("/project", "pump-20261121-213000", task, roles_of([Role::EXECUTOR, Role::EVALUATOR]))
}

fn spec() -> Specification {
    Specification {
        goal: GOAL.into(),
        constraints: vec![Constraint { id: "K1".into(), text: "It needs no network.".into() }],
        criteria: vec![
            criterion("A1", Some(Priority::Critical)),
            criterion("A2", Some(Priority::High)),
            criterion("A3", None),
        ],
        vocabulary: Vec::new(),
    }
}

pub fn criterion(id: &str, priority: Option<Priority>) -> Criterion {
    Criterion { id: id.into(), text: format!("text of {id}").into(), priority, check: None, source: None }
}

pub fn task(id: &str, covers: &[&str], after: &[&str]) -> Item {
    let ids = |all: &[&str]| all.iter().map(|id| Id::from(*id)).collect();
    Item {
        id: id.into(),
        title: format!("Do {id}").into(),
        description: format!("What {id} has to do.").into(),
        covers: ids(covers),
        after: ids(after),
        touches: vec![format!("{id}.py").into()],
        replaces: Vec::new(),
    }
}

pub(super) fn adviser(name: &str) -> Adviser {
    let text = format!("You are the {name}.\n");
    let digest = Digest::of(text.as_bytes());
    let persona = Persona { name: name.into(), persona: text, origin: Origin::BuiltIn, digest };
    Adviser {
        persona,
        domains: vec!["pumps".into()],
        description: format!("Knows what a {name} knows.").into(),
    }
}

pub(super) fn relevant((task, expert, relevance): (&str, &str, f64)) -> Relevant {
    let (domains, why) = (vec!["pumps".into()], "it knows them".into());
    Relevant { task: task.into(), expert: expert.into(), domains, relevance, why }
}

pub fn passed() -> CommandEnd {
    CommandEnd { exit: Some(0), said: "all is well".into(), tests: None }
}

/// Passes, and tells how many tests ran.
pub fn counting(number: u32) -> CommandEnd {
    CommandEnd { tests: Some(TestResults { passed: number, ..TestResults::default() }), ..passed() }
}

pub fn broken() -> CommandEnd {
    CommandEnd { exit: Some(1), said: OUTPUT.into(), tests: None }
}

/// Fails, and tells which tests do.
pub fn failing(tests: &[&str]) -> CommandEnd {
    let failing: Vec<Box<str>> = tests.iter().map(|name| (*name).into()).collect();
    let failed = u32::try_from(failing.len()).expect("these are few");
    CommandEnd { tests: Some(TestResults { failed, failing, ..TestResults::default() }), ..broken() }
}

pub(super) fn verdict(id: &str, is_met: bool) -> Verdict {
    let evidence = Evidence { path: "pump.py".into(), line: Some(1), quote: "def pump():".into() };
    let gaps = if is_met { Vec::new() } else { vec![format!("{id} is missing").into()] };
    Verdict { id: id.into(), is_met, is_disputed: false, evidence: is_met.then_some(evidence), gaps }
}

pub fn drift(task: &str) -> Drift {
    Drift { task: task.into(), what: "goes against K1".into(), evidence: "t1.py: import socket".into() }
}

pub fn weakening() -> Weakening {
    Weakening { path: "tests/test_pump.py".into(), line: Some(3), what: "a test is skipped".into() }
}

pub fn described(description: &str) -> Amendment {
    Amendment { description: description.into(), ..Amendment::default() }
}

pub fn adding(text: &str) -> Amendment {
    let criteria = vec![NewCriterion { text: text.into(), priority: Priority::Medium }];
    Amendment { criteria, ..Amendment::default() }
}

pub fn constraining(text: &str, tasks: &[&str]) -> Amendment {
    let tasks = tasks.iter().map(|id| Id::from(*id)).collect();
    Amendment { constraints: vec![NewConstraint { text: text.into(), tasks }], ..Amendment::default() }
}

pub fn changing(id: &str, text: Option<&str>) -> Amendment {
    let change = Change { id: id.into(), text: text.map(Into::into), why: "it cannot be met".into() };
    Amendment { changes: vec![change], ..Amendment::default() }
}

pub(super) fn proposal(form: Form) -> Proposal {
    Proposal {
        commit: "c0ffee".into(),
        base: "ba5e".into(),
        branch: (form != Form::Patch).then(|| "skilltune/pump".into()),
        remote: None,
        pull_request: None,
        patch: (form == Form::Patch).then(|| "result.patch".into()),
        notes: Vec::new(),
    }
}
