//! A request that is written as JSON and read again, as on another machine, must be the same request.
//!
//! Scripted and random runs of every loop make the requests. A list of the variants of each enum in them comes from
//! serde, so a new variant that no run makes fails a test here.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skilltune_phases::asking::order::Question as _;
use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::judgement::{Priority, Suggestion};
use skilltune_phases::loops::Loop;
use skilltune_phases::loops::evolve::course::Persona;
use skilltune_phases::loops::evolve::{self, Evolve};
use skilltune_phases::loops::expert::{self, Basis, Document, Draft, Expert, Inquiry};
use skilltune_phases::loops::gan::test_scenario::{TestScenario, Tool};
use skilltune_phases::loops::gan::{self, Gan};
use skilltune_phases::loops::reflex::criteria::Template;
use skilltune_phases::loops::reflex::{self, Reflex};
use skilltune_phases::loops::review::finding::Severity;
use skilltune_phases::loops::review::task::Machine;
use skilltune_phases::loops::review::{self, Review};
use skilltune_phases::loops::shared::request::AgentRequest;
use skilltune_phases::loops::tune::{self, Tune};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::runs::run::Run;
use skilltune_phases::suites::checks::RunThem;
use skilltune_phases::suites::scenario::Tools;
use skilltune_worlds::{evolve as evolve_world, expert as expert_world, review as review_world};

use crate::call_keys::{digest, fails, rich, variants};
use crate::drive::{failed, tree};
use crate::gan::world as gan_world;
use crate::reflex::world as reflex_world;
use crate::world;

/// The requests of runs, as JSON.
#[derive(Default)]
struct Exported(Vec<Value>);

impl Exported {
    fn add<L: Loop>(&mut self, run: &Run<L>, step: &L::Step) {
        let Some(request) = L::request(run, step) else { return };
        let text = serde_json::to_string(&request).expect("a request has a JSON text");
        let read: AgentRequest<L> = serde_json::from_str(&text).expect("a request reads its own text");
        assert_eq!(format!("{read:?}"), format!("{request:?}"));
        assert_eq!((digest(&read), read.schema()), (digest(&request), request.schema()));
        self.0.push(serde_json::from_str(&text).expect("it is JSON"));
    }

    /// Fails unless the value at this place had each variant of its type, `but` for these.
    fn assert_all_variants<L: Loop>(&self, place: &str, but: &[&str]) {
        let values = self.0.iter().filter_map(|request| Some((request, request.pointer(place)?)));
        let values: Vec<_> = values.filter(|(_, value)| !value.is_null()).collect();
        let found: BTreeSet<&str> = values.iter().map(|(_, value)| variant(value)).collect();
        let mut wrong = values.first().expect("there is one").0.clone();
        *wrong.pointer_mut(place).expect("it is there") = json!("?");
        // unknown variant `?`, expected one of `A`, `B`, `C`
        let error = serde_json::from_value::<AgentRequest<L>>(wrong).expect_err("there is none").to_string();
        let names = error.split('`').skip(1).step_by(2);
        let all: BTreeSet<&str> = names.filter(|name| *name != "?" && !but.contains(name)).collect();
        assert_eq!(found, all, "{place}");
    }

    /// Fails unless each of these places had a value, and a list an entry.
    fn assert_all_have(&self, places: &[&str]) {
        let is_full = |value: &Value| match value {
            Value::Null => false,
            Value::Array(list) => !list.is_empty(),
            _ => true,
        };
        let is_missing = |place: &&&str| !self.0.iter().any(|one| one.pointer(place).is_some_and(is_full));
        assert_eq!(places.iter().filter(is_missing).collect::<Vec<_>>(), [&""; 0]);
    }
}

/// Returns the name of a variant.
fn variant(value: &Value) -> &str {
    let name = value.as_object().and_then(|fields| fields.keys().next());
    name.map(String::as_str).or(value.as_str()).expect("a variant has a name")
}

fn suggestion() -> Suggestion {
    Suggestion {
        priority: Priority::High,
        member: None,
        target_file: "SKILL.md".into(),
        description: "Say what it is for.".into(),
        rationale: "It is not used.".into(),
        snippet: Some("It counts.".into()),
    }
}

#[test]
fn a_request_of_tune_is_the_same_on_another_machine() {
    let mut exported = Exported::default();
    world::Drive::start(rich()).finish_alone(|run, step| {
        for (step, _) in variants(step) {
            exported.add::<Tune>(run, &step);
        }
        if fails::<Tune>(run, step) { failed(FailureKind::OffSchema) } else { world::well(run, step, 60) }
    });
    for delivery in [Delivery::Installed { at: ".agent".into() }, Delivery::Slash { at: ".agent".into() }] {
        let mut plan = world::plan(1, 1);
        plan.task.delivery = delivery;
        plan.task.scenarios[0].tools = Some(Tools::Shell);
        let mut drive = world::Drive::start(plan);
        let step = drive.due(1).remove(0);
        exported.add::<Tune>(&drive.run, &step);
    }
    for seed in 0..12 {
        let plan = world::demanding(world::plan(1 + seed % 3, 4));
        world::Drive::start(plan).finish(
            3,
            |_| 0,
            |run: &tune::Run, step| {
                exported.add::<Tune>(run, step);
                let mut answer = world::random_answer(seed as u64, run, step);
                match &mut answer {
                    Ok(tune::Answer::Exercised { digest, .. }) => *digest = Some("It ran a script.".into()),
                    Ok(tune::Answer::Judged(judgement)) => judgement.suggestions.push(suggestion()),
                    _ => {}
                }
                answer
            },
        );
    }
    exported.assert_all_variants::<Tune>("/brief", &[]);
    exported.assert_all_variants::<Tune>("/order/placements/0/access", &[]);
    exported.assert_all_have(&[
        "/retry",
        "/order/installed",
        "/order/command",
        "/order/command/check",
        "/order/placements/0/hidden",
        "/brief/Evaluate/activity",
        "/brief/Improve/unmet",
        "/brief/Improve/met",
        "/brief/Improve/suggestions",
        "/brief/Improve/kept_changes",
        "/brief/Improve/failed_changes",
        "/brief/Improve/before",
        "/brief/Improve/after",
        "/brief/Improve/unfinished",
    ]);
}

#[test]
fn a_request_of_reflex_is_the_same_on_another_machine() {
    let mut exported = Exported::default();
    for seed in 0..40 {
        let mut plan = match seed % 4 {
            0 => reflex_world::unagreed(2),
            nth => reflex_world::plan(Template::ALL[nth % Template::ALL.len()]),
        };
        plan.task.context = Some(tree("context"));
        plan.task.commands.run = RunThem::Always;
        reflex_world::Drive::start(plan).finish(
            3,
            |_| 0,
            |run: &reflex::Run, step| {
                exported.add::<Reflex>(run, step);
                reflex_world::random_answer(seed as u64, run, step)
            },
        );
    }
    exported.assert_all_variants::<Reflex>("/brief/kind", &[]);
    exported.assert_all_variants::<Reflex>("/brief/level", &[]);
    exported.assert_all_have(&[
        "/retry",
        "/order/command/check",
        "/brief/kind/Plan/events",
        "/brief/kind/Plan/failures",
        "/brief/kind/Produce/from",
        "/brief/kind/Produce/steps",
        "/brief/kind/Prepare/steps",
        "/brief/kind/Judge/asked",
        "/brief/kind/Critique/missed",
        "/brief/kind/Refine/issues",
    ]);
}

#[test]
fn a_request_of_gan_is_the_same_on_another_machine() {
    let mut exported = Exported::default();
    for seed in 0..20 {
        let mut plan = gan_world::with_browser(gan_world::at(gan::Level::Thorough, true));
        plan.task.materials = Some(tree("materials"));
        plan.task.commands.run = RunThem::Always;
        plan.task.asked.test_scenarios = vec![TestScenario {
            id: "works".into(),
            criterion: "a.runs".into(),
            description: "Its tests pass.".into(),
            run: Tool::Command(vec!["npm".into(), "test".into()]),
        }];
        gan_world::Drive::start(plan).finish(
            3,
            |_| 0,
            |run: &gan::Run, step| {
                exported.add::<Gan>(run, step);
                gan_world::random_answer(seed, run, step)
            },
        );
    }
    exported.assert_all_variants::<Gan>("/brief", &[]);
    exported.assert_all_variants::<Gan>("/brief/Judge/reading", &[]);
    exported.assert_all_have(&[
        "/retry",
        "/order/command/input",
        "/brief/Rule/talk/rounds",
        "/brief/Build/found",
        "/brief/Build/guidance",
        "/brief/Judge/asked/criteria",
    ]);
}

#[test]
fn a_request_of_expert_is_the_same_on_another_machine() {
    let mut exported = Exported::default();
    let documents = vec![Document { path: "docs/a.md".into(), text: "one\n".into() }];
    let specification = Some(Basis { documents, asks: true, root: None });
    let mut plan = expert_world::plan();
    plan.task.files = Some(tree("project"));
    plan.task.drafts = Some(Draft { name: "count".into(), file: None, specification });
    plan.roles.of_mut(&Role::EXPERT).opens_files = true;
    expert_world::Drive::start(plan).finish_alone(|run: &expert::Run, step| {
        exported.add::<Expert>(run, step);
        let question = || Inquiry { question: "Of what?".into(), why: "It is open.".into() };
        match step {
            _ if run.attempts(step) == 0 => failed(FailureKind::OffSchema),
            expert::Step::Inquire => Ok(expert::Answer::Inquired(vec![question()])),
            expert::Step::Reply => Ok(expert::Answer::Replied(vec!["Of words.".into()])),
            expert::Step::Ask => Ok(expert::Answer::Answered("Yes.".into())),
        }
    });
    // A person answers the questions.
    exported.assert_all_variants::<Expert>("/brief/step", &["reply"]);
    exported.assert_all_have(&["/retry", "/brief/replies"]);
}

#[test]
fn a_request_of_review_is_the_same_on_another_machine() {
    let mut exported = Exported::default();
    let mut plan = review_world::plan();
    let (name, argv) = ("test".into(), vec!["make".to_owned(), "test".to_owned()]);
    plan.task.machines = vec![Machine { name, argv, severity: Severity::High, skipped: None }];
    let found = [vec![review_world::finding(Severity::High, "Divides by zero", 10)], Vec::new()];
    review_world::Drive::start(plan).finish_alone(|run: &review::Run, step| {
        exported.add::<Review>(run, step);
        if fails::<Review>(run, step) {
            return failed(FailureKind::OffSchema);
        }
        review_world::answer(run, *step, &found, |_| Ok(review_world::with_proof(&["pytest"])))
    });
    exported.assert_all_variants::<Review>("/brief", &[]);
    exported.assert_all_have(&[
        "/order/placements/1/picked",
        "/brief/Verify/finding/place",
        "/brief/Command/proposal",
    ]);
}

#[test]
fn a_request_of_evolve_is_the_same_on_another_machine() {
    let mut exported = Exported::default();
    let mut rich = evolve_world::World::with_oracles().with_strength().with_control().advised();
    rich.plan.task.hidden = vec!["CLAUDE.md".to_owned()];
    rich.plan.task.setup = Some(vec!["make".to_owned(), "deps".to_owned()]);
    rich.plan.task.brought = Some(tree("brought"));
    rich.probe = Box::new(|criterion, go, content| match criterion {
        "A1" if go == 0 => evolve_world::neither(2),
        _ if content.name() == "base" => evolve_world::red(),
        _ => evolve_world::green(),
    });
    let random = (0..30_u64).map(|seed| {
        let mut world = evolve_world::World::random(seed);
        world.plan.task.has_shell = seed.is_multiple_of(2);
        world.plan.task.has_oracles = seed % 3 > 0;
        world.plan.task.spec.criteria[0].check = Some(vec!["make".to_owned(), "run".to_owned()]);
        (seed, world)
    });
    for (seed, world) in [(0, rich)].into_iter().chain(random) {
        let mut drive = evolve_world::Drive::start(world.plan.clone());
        drive.finish(
            3,
            |_| 0,
            |run: &evolve::Run, step| {
                exported.add::<Evolve>(run, step);
                let others = match step {
                    evolve::Step::Amend { round, .. } => Persona::ALL
                        .map(|persona| evolve::Step::Amend { round: *round, persona: Some(persona) })
                        .into(),
                    evolve::Step::Work { task, from, .. } => {
                        vec![evolve::Step::Replan { tasks: vec![task.clone()], tree: *from }]
                    }
                    _ => Vec::new(),
                };
                for other in others {
                    exported.add::<Evolve>(run, &other);
                }
                world.answer_or_fail(seed, run, step, run.attempts(step))
            },
        );
    }
    exported.assert_all_variants::<Evolve>("/brief", &[]);
    exported.assert_all_variants::<Evolve>("/brief/Advice", &[]);
    exported.assert_all_variants::<Evolve>("/brief/Amend/persona", &[]);
    exported.assert_all_variants::<Evolve>("/order/rights", &["Work", "Shell"]);
    exported.assert_all_variants::<Evolve>("/order/caches", &[]);
    exported.assert_all_have(&[
        "/retry",
        "/order/planted/0/words",
        "/order/brought",
        "/order/setup",
        "/brief/Divide/known",
        "/brief/Divide/names",
        "/brief/Divide/met",
        "/brief/Divide/again",
        "/brief/Oracle/names",
        "/brief/Oracle/broken",
        "/brief/Probe/codes",
        "/brief/Advice/Agree/perspectives",
        "/brief/Work/done",
        "/brief/Work/gaps",
        "/brief/Work/names",
        "/brief/Work/advice",
        "/brief/Work/drift",
        "/brief/Work/again",
        "/brief/Work/notes",
        "/brief/Judge/asked",
        "/brief/Judge/failing",
        "/brief/Judge/outputs",
        "/brief/Amend/missed",
        "/brief/Amend/scores",
        "/brief/Amend/guidance",
    ]);
}
