//! The request of each kind of call must not change by a single character.
//!
//! A stored answer is found by the key of its call, and the key covers the request. If one character of a request
//! changes, the caches of all users miss: every replayed or resumed run pays for its calls again. Change these hashes
//! only for an improvement that is worth that, and note it in the changelog. `orchestrator/src/engine/call/tests.rs`
//! tests how a key is made from a request.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use skilltune_phases::asking::order::{Placement, Question as _};
use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::id::{Digest, TreeId};
use skilltune_phases::base::material::{Body, Folder, Material};
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop;
use skilltune_phases::loops::evolve::course::Persona;
use skilltune_phases::loops::evolve::{self, Evolve};
use skilltune_phases::loops::expert::{self, Expert};
use skilltune_phases::loops::gan::test_scenario::{TestScenario, Tool};
use skilltune_phases::loops::gan::{self, Gan, Level};
use skilltune_phases::loops::reflex::{self, Reflex};
use skilltune_phases::loops::review::finding::Severity;
use skilltune_phases::loops::review::task::Machine;
use skilltune_phases::loops::review::{self, Review};
use skilltune_phases::loops::shared::request::AgentRequest;
use skilltune_phases::loops::tune::{Asked, Improver, Plan, Run, Seat, Step, Tune};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::runs::run;
use skilltune_phases::suites::checks::{Check, How, RunThem};
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::SkillFile;
use skilltune_worlds::{evolve as evolve_world, expert as expert_world, review as review_world};

use crate::drive::{TestLoop, failed, tree};
use crate::gan::world as gan_world;
use crate::reflex::world as reflex_world;
use crate::world::{Drive, demanding, plan, well};

/// The hash of the first request of each kind.
#[derive(Default)]
struct Requests(BTreeMap<String, String>);

impl Requests {
    fn add<L: Loop>(&mut self, run: &run::Run<L>, step: &L::Step, note: &str) {
        let Some(request) = L::request(run, step) else { return };
        let asked = L::role(step).map_or("a command".to_owned(), |role| role.to_string());
        let again = if request.as_ref().attempt > 0 { " again" } else { "" };
        let name = format!("{}: {asked}{again}{note}", kind(step));
        self.0.entry(name).or_insert_with(|| digest(&request));
    }

    fn lines(&self) -> String {
        let lines = self.0.iter().map(|(name, digest)| format!("{digest} {name}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Returns the name of a step's variant.
fn kind(step: &impl Serialize) -> String {
    match serde_json::to_value(step).expect("a step has a JSON text") {
        Value::Object(fields) => fields.keys().next().expect("a variant has a name").clone(),
        other => other.as_str().expect("a variant has a name").to_owned(),
    }
}

/// Hashes everything in a request that its key covers. Each folder of the workspace holds one page.
pub(crate) fn digest<L: Loop>(request: &AgentRequest<L>) -> String {
    let order = request.as_ref();
    let folder = |placement: &Placement| {
        let body = Body::Text(format!("# The page of {}\n", placement.tree.short()));
        Folder { at: placement.at.clone(), files: vec![Material { path: "SKILL.md".into(), body }] }
    };
    let input = if let Some(command) = &order.command {
        json(&(&command.argv, &command.input))
    } else {
        let prompt = request.prompt(&order.placements.iter().map(folder).collect());
        prompt.expect("its pages are ours") + &json(&request.task())
    };
    let picked: Vec<_> = order.picked().map(|file| (&file.path, &file.at)).collect();
    let hidden: Vec<_> = order.hidden().collect();
    let mut parts = vec![
        order.step.clone(),
        input,
        json(&(order.attempt, order.repository, order.rights.word(), hidden, picked)),
    ];
    parts.extend((!order.planted.is_empty()).then(|| json(&order.planted)));
    Digest::of_parts(parts.iter().map(String::as_bytes)).short()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("data has a JSON text")
}

/// Makes the first answer of each judge unusable.
pub(crate) fn fails<L: TestLoop>(run: &run::Run<L>, step: &L::Step) -> bool {
    kind(step) == "judge" && run.attempts(step) == 0
}

/// Plans a chain of two skills with everything that a scenario and a skill can have.
pub(crate) fn rich() -> Plan {
    let mut plan = demanding(plan(2, 4));
    plan.task.target.members[0].hidden = vec!["evals".into()];
    for scenario in &mut plan.task.scenarios[..2] {
        scenario.requirements = vec!["at most 100 words".into()];
        scenario.input_args = "--short".into();
        scenario.files = Some(tree("files"));
        scenario.setup = Some(vec!["sh".into(), "setup.sh".into()]);
        scenario.git = true;
        scenario.expected = Some("A short page.".into());
    }
    plan.task.scenarios[1].success_criteria = "It is understood.".into();
    plan.task.scenarios[1].of_skill = vec![SkillFile { path: "data.csv".into(), at: "in/data.csv".into() }];
    for demand in &mut plan.task.scenarios[0].demands {
        bring_grader(demand);
    }
    let cast = plan.roles.of(&Role::EVALUATOR).clone();
    let others = [Role::SECOND_EVALUATOR, Role::THIRD_EVALUATOR, Role::SECOND_IMPROVER];
    let others = others.map(|role| (role, cast.clone()));
    plan.roles = plan.roles.iter().map(|(role, cast)| (role.clone(), cast.clone())).chain(others).collect();
    plan
}

fn bring_grader(demand: &mut Demand) {
    if let How::Check(Check::Command { argv, grader, .. }) = &mut demand.how {
        *argv = vec!["sh".into(), "{grader}/check.sh".into()];
        *grader = Some(tree("grader"));
    }
}

/// Returns the step and its variants for other agents or purposes.
pub(crate) fn variants(step: &Step) -> Vec<(Step, &'static str)> {
    let mut all = vec![(step.clone(), "")];
    match step {
        Step::Exercise { .. } => {
            let mut bare = step.clone();
            if let Step::Exercise { skill, .. } = &mut bare {
                *skill = TreeId::EMPTY;
            }
            all.push((bare, ", without a skill"));
        }
        Step::Grade { .. } | Step::Judge { .. } => {
            let seats = [Seat::Second, Seat::Third].map(|seat| (Asked { seat, anchor: None }, ""));
            let anchor = (Asked { seat: Seat::First, anchor: Some(0) }, ", to be tested");
            for (other, note) in seats.into_iter().chain([anchor]) {
                let mut step = step.clone();
                if let Step::Grade { asked, .. } | Step::Judge { asked, .. } = &mut step {
                    *asked = other;
                }
                all.push((step, note));
            }
        }
        Step::Improve { .. } => {
            let mut second = step.clone();
            if let Step::Improve { by, .. } = &mut second {
                *by = Improver::Second;
            }
            all.push((second, ""));
        }
        _ => {}
    }
    all
}

#[test]
fn a_request_of_tune_has_the_key_that_it_had() {
    let mut requests = Requests::default();
    let mut drive = Drive::start(rich());
    drive.finish_alone(|run: &Run, step| {
        for (step, note) in variants(step) {
            requests.add::<Tune>(run, &step, note);
        }
        if fails::<Tune>(run, step) { failed(FailureKind::OffSchema) } else { well(run, step, 60) }
    });
    for delivery in [Delivery::Installed { at: ".agent".into() }, Delivery::Slash { at: ".agent".into() }] {
        let (mut plan, note) = (plan(1, 1), format!(", {}", delivery.word()));
        plan.task.delivery = delivery;
        let mut drive = Drive::start(plan);
        let step = drive.due(1).remove(0);
        requests.add::<Tune>(&drive.run, &step, &note);
    }
    insta::assert_snapshot!(requests.lines(), @"
    29be59376308 check: a command
    22a3ab8e6d07 exercise: executor
    f07a2c0d6bf7 exercise: executor, installed
    1f03402ac9d4 exercise: executor, slash
    363e20d8b554 exercise: executor, without a skill
    f90a4602e30e grade: evaluator
    a13c132a9b7d grade: evaluator, to be tested
    0e5c7f11c0c4 grade: evaluator-2
    ecb5612c7408 grade: evaluator-3
    54af5528d7d8 improve: improver
    daea405fbf17 improve: improver-2
    b3f86137ad5e judge: evaluator
    524608a81f1b judge: evaluator again
    0aba8281cb21 judge: evaluator, to be tested
    4ce9cee12a4e judge: evaluator-2
    55987ee3a849 judge: evaluator-3
    b139b7a15be4 review: evaluator
    360ebce7c487 set_up: a command
    ");
}

#[test]
fn a_request_of_reflex_has_the_key_that_it_had() {
    let mut plan = reflex_world::unagreed(2);
    plan.task.context = Some(tree("context"));
    plan.task.commands.run = RunThem::Always;
    let mut requests = Requests::default();
    let met = |nth: usize, rule: &str| nth >= 1 || rule != "a.correctness.accuracy";
    let drive = reflex_world::play_with(plan, &met, |run, step| {
        requests.add::<Reflex>(run, step, "");
        match step {
            reflex::Step::Prepare { level } => {
                let rules = run.plan.task.criteria.at(*level).enumerate();
                let check = |(nth, rule)| match nth {
                    1 => reflex_world::command(rule),
                    _ => reflex_world::question(rule),
                };
                Some(Ok(reflex::Answer::Prepared(rules.map(check).collect())))
            }
            _ => fails::<Reflex>(run, step).then(|| failed(FailureKind::OffSchema)),
        }
    });
    assert!(drive.run.state.judged.len() > 1, "there was something to refine");
    insta::assert_snapshot!(requests.lines(), @"
    a1c1c6fbeb73 check: a command
    d57b70ed5b96 critique: improver
    78f9416cdc34 judge: evaluator
    1aa7b6068d28 judge: evaluator again
    ed6d3931e98c plan: executor
    b55d78f90325 prepare: evaluator
    19310dd3d9d3 produce: executor
    f0a0c4970da0 propose: evaluator
    fe7ce3bff95b refine: improver
    ");
}

#[test]
fn a_request_of_gan_has_the_key_that_it_had() {
    let mut plan = gan_world::with_browser(gan_world::at(Level::Thorough, true));
    plan.task.materials = Some(tree("materials"));
    plan.task.commands.run = RunThem::Always;
    plan.task.asked.test_scenarios = vec![TestScenario {
        id: "works".into(),
        criterion: "a.runs".into(),
        description: "Its tests pass.".into(),
        run: Tool::Command(vec!["npm".into(), "test".into()]),
    }];
    let mut requests = Requests::default();
    gan_world::play_with(plan, &|nth, id| nth > 0 || id != "a.quick", |run, step| {
        let note = match step {
            gan::Step::Judge { reading, .. } => format!(", {} reading", kind(reading)),
            gan::Step::Build { sprint, .. } => format!(", sprint {sprint}"),
            _ => String::new(),
        };
        requests.add::<Gan>(run, step, &note);
        fails::<Gan>(run, step).then(|| failed(FailureKind::OffSchema))
    });
    insta::assert_snapshot!(requests.lines(), @"
    21eb9f62fabc build: builder, sprint 1
    afff5d046b24 build: builder, sprint 2
    d572b0274c64 draft: evaluator
    bd8dc09bdfa5 judge: evaluator again, first reading
    977eb29e89a6 judge: evaluator again, second reading
    24c871331f9e judge: evaluator, first reading
    a87f49451773 judge: evaluator, second reading
    b177ff1515bd look: a command
    41c965712645 propose: builder
    699fa3300a81 rule: evaluator
    579af4d6f6c9 try: a command
    ");
}

#[test]
fn a_request_of_expert_has_the_key_that_it_had() {
    let mut requests = Requests::default();
    for (opens_files, note) in [(true, ", opens files"), (false, "")] {
        let mut plan = expert_world::plan();
        plan.task.files = Some(tree("project"));
        plan.roles.of_mut(&Role::EXPERT).opens_files = opens_files;
        let mut drive = expert_world::Drive::start(plan);
        requests.add::<Expert>(&drive.run, &expert::Step::Ask, note);
        drive.done(expert::Step::Ask, failed(FailureKind::Empty));
        requests.add::<Expert>(&drive.run, &expert::Step::Ask, note);
    }
    insta::assert_snapshot!(requests.lines(), @"
    7fd1b5853a7e ask: expert
    dd0321703563 ask: expert again
    13ec66ed45b0 ask: expert again, opens files
    0ec7f93f7e70 ask: expert, opens files
    ");
}

#[test]
fn a_request_of_review_has_the_key_that_it_had() {
    let mut requests = Requests::default();
    let mut plan = review_world::plan();
    let (name, argv) = ("test".into(), vec!["make".to_owned(), "test".to_owned()]);
    plan.task.machines = vec![Machine { name, argv, severity: Severity::High, skipped: None }];
    let found = [vec![review_world::finding(Severity::High, "Divides by zero", 10)], Vec::new()];
    let mut drive = review_world::Drive::start(plan);
    drive.finish_alone(|run, step| {
        let note = match step {
            review::Step::Review { reviewer, .. } => format!(", reviewer {reviewer}"),
            review::Step::Scan { on, .. } | review::Step::Prove { on, .. } => format!(", {on:?}"),
            review::Step::Verify { .. } | review::Step::Allow => String::new(),
        };
        requests.add::<Review>(run, step, &note);
        review_world::answer(run, *step, &found, |_| Ok(review_world::with_proof(&["pytest"])))
    });
    insta::assert_snapshot!(requests.lines(), @"
    57498b562c57 prove: a command, After
    3ff5f5a05c71 prove: a command, Before
    ac95a15b030f review: reviewer, reviewer 0
    8d96d52a3be9 review: reviewer, reviewer 1
    73ec857af3fb scan: a command, After
    7927c2512d74 verify: verifier
    ");
}

#[test]
fn a_request_of_evolve_has_the_key_that_it_had() {
    let mut world = evolve_world::World::new().advised();
    world.plan.task.spec.criteria[0].check = Some(vec!["make".to_owned(), "run".to_owned()]);
    world.check = Box::new(|_, content| Some(content.has_task("t1")));
    world.plan.task.hidden = vec!["CLAUDE.md".to_owned()];
    world.judge = Box::new(|_, content| {
        let is_again = content.has("t2.2");
        if is_again { evolve_world::Judged::all() } else { evolve_world::Judged::only(&["A1", "A3"]) }
    });
    world.drifts = Box::new(|_| vec![evolve_world::drift("t1")]);
    world.amend = Box::new(|_, _| evolve_world::adding("It is small."));
    world.more = Box::new(|_, _| vec![evolve_world::task("t4", &["A4"], &[])]);
    let mut requests = Requests::default();
    world.play_with(|run, step| {
        let note = match step {
            evolve::Step::Divide { round } => format!(", round {round}"),
            evolve::Step::Advise { task, expert } => format!(", {task} {expert}"),
            evolve::Step::Run { stage, .. } => format!(", {}", stage.word()),
            evolve::Step::Work { task, go, .. } => format!(", {task}.{go}"),
            _ => String::new(),
        };
        requests.add::<Evolve>(run, step, &note);
        if let evolve::Step::Amend { round, .. } = step {
            for persona in Persona::ALL {
                let step = evolve::Step::Amend { round: *round, persona: Some(persona) };
                requests.add::<Evolve>(run, &step, &format!(", {}", persona.word()));
            }
        }
        fails::<Evolve>(run, step).then(|| failed(FailureKind::OffSchema))
    });
    insta::assert_snapshot!(requests.lines(), @"
    27cd815655d6 advise: expert, t1 0
    c5663513f0fe advise: expert, t1 1
    112adf3d27e8 advise: expert, t2 1
    7278453bc551 agree: evaluator
    27417929b56d amend: evaluator
    990b4df823ae amend: evaluator, invariance
    31c54ed23ba1 amend: evaluator, multistability
    9a3bcd3b832f amend: evaluator, reification
    4ffa86b0e38f amend: evaluator, simplicity
    e6de2781d8f5 classify: evaluator
    6d0178eefe30 divide: evaluator, round 0
    ff9a8d86ae63 divide: evaluator, round 1
    140432aea48a drift: evaluator
    d0b3b2c1bb51 group: evaluator
    dba796a74a5c judge: evaluator
    2519191944b0 judge: evaluator again
    e82333f5f8b5 match: evaluator
    6c84324b64ce probe: a command
    5766ad5859b2 run: a command, build
    b23197e4e5d1 run: a command, lint
    3f83a5b822af run: a command, test
    757dbd9460e3 split: evaluator
    a0db9f20562f work: executor, t1.1
    098990fa7e7c work: executor, t2.1
    1749968f936c work: executor, t2.2
    ba9236fbb9f6 work: executor, t3.1
    d24f1d92d6c4 work: executor, t3.2
    deca779a9a5c work: executor, t4.1
    ");
}

#[test]
fn a_request_about_evidence_has_the_key_that_it_had() {
    let mut world = evolve_world::World::with_oracles().with_strength().with_control();
    world.probe = Box::new(|criterion, go, content| match criterion {
        "A1" if go == 0 => evolve_world::neither(2),
        "A2" if !content.has("t2.2") => evolve_world::red(),
        "A3" => evolve_world::green(),
        _ if content.name() == "base" => evolve_world::red(),
        _ => evolve_world::green(),
    });
    world.judge = Box::new(|_, _| evolve_world::Judged::only(&[]));
    let mut requests = Requests::default();
    world.play_with(|run, step| {
        let note = match step {
            evolve::Step::Oracle { go: 0, .. } => "",
            evolve::Step::Oracle { .. } => ", mended",
            evolve::Step::Probe { tree: of, .. } if *of == tree("base") => ", before",
            evolve::Step::Probe { .. } => ", after",
            evolve::Step::Work { task, .. } if **task != *"t1" => return None,
            evolve::Step::Interface
            | evolve::Step::Spoil { .. }
            | evolve::Step::Control
            | evolve::Step::Divide { .. }
            | evolve::Step::Judge { .. }
            | evolve::Step::Work { .. } => "",
            _ => return None,
        };
        requests.add::<Evolve>(run, step, note);
        None
    });
    insta::assert_snapshot!(requests.lines(), @"
    7bf680e01217 control: control
    c1d7ba727549 divide: evaluator
    b8a3065b9a05 interface: evaluator
    757d4f941684 judge: evaluator
    3f75bf7e4e6f oracle: evaluator
    a953225f4c5c oracle: evaluator, mended
    970790153225 probe: a command, after
    b66dad1cd24f probe: a command, before
    baebbb9b64cf spoil: evaluator
    b78e6d917d04 work: executor
    ");
}
