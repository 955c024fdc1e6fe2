//! A world that answers the steps of `gan` without doing anything.
//!
//! Artifacts are named `artifact N` in the order in which they are built. The test decides which criteria they meet.

use std::collections::BTreeMap;

use skilltune_phases::base::id::{Digest, TreeId};
use skilltune_phases::base::role::Role;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::gan::answers::{Notes, Verdicts};
use skilltune_phases::loops::gan::contract::{self, Check, Contract, Criterion, Dimension, Origin};
use skilltune_phases::loops::gan::course::{Choice, Item, Question, Who};
use skilltune_phases::loops::gan::evaluation::{By, Claim, Finding, Verdict};
use skilltune_phases::loops::gan::inspect::{Given, Inspection, MachineResult, Means, ScenarioResult};
use skilltune_phases::loops::gan::negotiation::{Draft, Proposal, Ruling};
use skilltune_phases::loops::gan::rules::Rules;
use skilltune_phases::loops::gan::{Answer, Apply, Brief, Browser, Event, Gan, Level, Plan, Run, Step, Task};
use skilltune_phases::runs::event::{self, FailureKind, Signal};
use skilltune_phases::suites::checks::{Commands, RunThem};

use crate::drive::{self, bare_prompt, failed, plan_of, roles_of, tree};

pub use crate::drive::points;

pub type Drive = drive::Drive<Gan>;
pub type Outcome = event::Outcome<Answer>;

impl drive::TestLoop for Gan {}

pub const ALL: [&str; 4] = ["a.runs", "a.quick", "b.clear", "b.quiet"];

/// Plans level minimal, without a browser and without a folder for the result.
pub fn plan() -> Plan {
    let task = Task {
        name: "pump".into(),
        brief: Brief { file: "brief.md".into(), text: "# The pump\n\nShow how it runs.\n".into() },
        level: Level::Minimal,
        negotiated: false,
        profile: "test".into(),
        asked: contract(),
        given: Given::default(),
        materials: None,
        start: TreeId::EMPTY,
        links_outside: Vec::new(),
        into: None,
        rules: Rules::default(),
        retries: 1,
        apply: Apply::Auto,
        commands: Commands { run: RunThem::Never, confined: true },
        command_seconds: 9,
        browser: None,
        artifact_dir: None,
        remarks: Vec::new(),
    };
    plan_of("/project", "pump-20261121-213000", task, roles_of([Role::BUILDER, Role::EVALUATOR]))
}

/// Plans this level, with the rules that follow from it.
pub fn at(level: Level, is_negotiated: bool) -> Plan {
    let mut plan = plan();
    (plan.task.level, plan.task.negotiated) = (level, is_negotiated);
    plan.task.rules.judge_twice = level == Level::Thorough;
    plan
}

pub fn with_browser(mut plan: Plan) -> Plan {
    let argv = vec!["/skilltune".into(), "look".into()];
    plan.task.browser = Some(Browser { argv, seconds: 9, confined: true, preview: None });
    plan
}

pub fn into_folder(mut plan: Plan) -> Plan {
    plan.task.into = Some("/project/site".into());
    plan
}

/// Returns two dimensions of two criteria each. The first criterion must pass, and a browser can check the last one.
fn contract() -> Contract {
    let mut criteria = ALL.map(criterion);
    (criteria[0].must_pass, criteria[3].check) = (true, Some(Check::Console));
    let dimension = |id: &str, weight| Dimension {
        id: id.into(),
        name: id.into(),
        weight,
        anchors: ["none", "some", "most", "all"].map(Into::into),
    };
    let contract = Contract {
        dimensions: vec![dimension("a", 30), dimension("b", 10)],
        criteria: criteria.into(),
        anti_patterns: Vec::new(),
        test_scenarios: Vec::new(),
        pass_conditions: BTreeMap::new(),
    };
    contract.checked().expect("it can be scored")
}

/// Returns a draft with one criterion and no test scenario.
pub fn draft(id: &str) -> Draft {
    Draft { criteria: vec![criterion(id)], ..Draft::default() }
}

pub fn criterion(id: &str) -> Criterion {
    let (dimension, _) = id.split_once('.').expect("an id has its dimension");
    Criterion {
        id: id.into(),
        dimension: dimension.into(),
        criterion: format!("{id} holds").into(),
        verification: "look".into(),
        must_pass: false,
        weight: 1,
        check: None,
        origin: Origin::Profile,
    }
}

pub fn artifact(nth: usize) -> TreeId {
    tree(&format!("artifact {nth}"))
}

/// Returns an artifact's number.
pub fn nth(of: TreeId) -> usize {
    (0..100).find(|nth| artifact(*nth) == of).expect("it is an artifact of the world")
}

/// Whether an artifact meets a criterion.
pub type Met<'a> = &'a dyn Fn(usize, &str) -> bool;

/// Every artifact meets everything.
pub fn everything(_: usize, _: &str) -> bool {
    true
}

/// No artifact meets anything.
pub fn nothing(_: usize, _: &str) -> bool {
    false
}

/// Each artifact meets one more criterion, and none meets all.
pub fn rising(nth: usize, id: &str) -> bool {
    ALL[1..].iter().take(nth).any(|met| *met == id)
}

/// Answers a step. The builder asks to drop the draft, the evaluator declines, and there is no person to answer.
pub fn answer(run: &Run, step: &Step, met: Met<'_>) -> Outcome {
    let verdict = |of: TreeId, id: &str| if met(nth(of), id) { Verdict::Passed } else { Verdict::Failed };
    match step {
        Step::Draft => Ok(Answer::Drafted(draft("b.polite"))),
        Step::Propose { .. } => Ok(Answer::Proposed(vec![Proposal {
            change: contract::Change::Drop { criterion: "b.polite".into() },
            why: "nobody asked for it".into(),
        }])),
        Step::Rule { .. } => Ok(Answer::Ruled(vec![ruling(false)])),
        Step::Build { .. } => Ok(built(run.state.sprints.len() - 1)),
        Step::Inspect { .. } => Ok(inspected(Verdict::Unverified, Means::Source)),
        Step::Browse { artifact } => Ok(inspected(verdict(*artifact, "b.quiet"), Means::Browser)),
        Step::Judge { artifact, .. } => {
            let contract = run.state.contract().expect("it is agreed on before anything is judged");
            let finding = |one: &Criterion| finding(one.id.as_str(), verdict(*artifact, one.id.as_str()));
            let findings = contract.criteria.iter().map(finding).collect();
            let claims = contract.dimensions.iter().map(|one| claim(one.id.as_str())).collect();
            Ok(Answer::Judged(Box::new(Verdicts { findings, claims, ..Verdicts::default() })))
        }
        Step::Ask { hold, .. } => Ok(Answer::Chosen { choice: run.unattended(*hold), by: Who::Default }),
        Step::Promote { .. } => Ok(Answer::Promoted),
        Step::Allow => Ok(Answer::Allowed(true)),
        Step::Try { artifact, scenario } => {
            Ok(scenario_result(verdict(*artifact, scenario.as_str()), scenario.as_str()))
        }
        Step::Commit { .. } => Ok(Answer::NotCommitted { why: "nobody can".into() }),
    }
}

pub fn ruling(is_accepted: bool) -> Ruling {
    Ruling { is_accepted, cites: "Show how it runs".into(), why: "it decides".into() }
}

pub fn built(nth: usize) -> Answer {
    Answer::Built { artifact: artifact(nth), notes: Box::new(Notes::default()) }
}

pub fn inspected(verdict: Verdict, by: Means) -> Answer {
    let result = MachineResult { check: Check::Console, verdict, evidence: "index.html".into(), by };
    let screens = (by == Means::Browser).then(|| tree("screens"));
    let inspection = Inspection { checks: vec![result], ..Inspection::default() };
    Answer::Inspected { inspection: Box::new(inspection), screens }
}

pub fn scenario_result(verdict: Verdict, scenario: &str) -> Answer {
    let result = ScenarioResult { scenario: scenario.into(), verdict, evidence: "it ended".into() };
    let inspection = Inspection { scenarios: vec![result], ..Inspection::default() };
    Answer::Inspected { inspection: Box::new(inspection), screens: None }
}

fn finding(criterion: &str, verdict: Verdict) -> Finding {
    Finding {
        criterion: criterion.into(),
        verdict,
        evidence: "index.html: seen".into(),
        fix: None,
        by: By::Judge,
    }
}

/// The judge of this world cites the third level of each dimension, whatever it finds.
fn claim(dimension: &str) -> Claim {
    Claim { dimension: dimension.into(), level: points(75), why: "most of it is there".into() }
}

/// Plays a run to its end, one step at a time, with some answers replaced.
pub fn play_with(plan: Plan, met: Met<'_>, mut instead: impl FnMut(&Run, &Step) -> Option<Outcome>) -> Drive {
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| instead(run, step).unwrap_or_else(|| answer(run, step, met)));
    drive
}

/// Plays a run until it asks a person, who does not answer.
pub fn held(plan: Plan, met: Met<'_>) -> Drive {
    let mut drive = Drive::start(plan);
    loop {
        let step = drive.due(1).pop().expect("it asks before it ends");
        if matches!(step, Step::Ask { .. } | Step::Allow) {
            drive.record(Event::Noted(Signal::Held));
            return drive;
        }
        let outcome = answer(&drive.run, &step, met);
        drive.done(step, outcome);
    }
}

/// Describes a step in a few words.
pub fn name(step: &Step) -> String {
    let number = |artifact: &TreeId| nth(*artifact);
    match step {
        Step::Draft => "draft".to_owned(),
        Step::Propose { round } => format!("propose {round}"),
        Step::Rule { round } => format!("rule {round}"),
        Step::Build { sprint, from } if *from == TreeId::EMPTY => format!("build {sprint} from nothing"),
        Step::Build { sprint, from } => format!("build {sprint} from {}", number(from)),
        Step::Inspect { artifact } => format!("inspect {}", number(artifact)),
        Step::Browse { artifact } => format!("look at {}", number(artifact)),
        Step::Judge { artifact, reading, era, .. } => {
            let era = if *era == 0 { String::new() } else { format!(", era {era}") };
            format!("judge {}, {reading:?}{era}", number(artifact))
        }
        Step::Ask { hold, after } => format!("ask about {hold:?} after {after}"),
        Step::Promote { artifact } => format!("promote {}", number(artifact)),
        Step::Allow => "allow".to_owned(),
        Step::Try { artifact, scenario } => format!("try {scenario} on {}", number(artifact)),
        Step::Commit { artifact, form } => format!("commit {} as {form:?}", number(artifact)),
    }
}

/// Returns the steps of a run until it ends. Steps on one line can run in parallel.
pub fn asked(drive: &mut Drive, answer: impl Fn(&Run, &Step) -> Outcome) -> String {
    let mut lines = Vec::new();
    loop {
        let steps = drive.due(9);
        if steps.is_empty() {
            return lines.join("\n");
        }
        lines.push(steps.iter().map(name).collect::<Vec<_>>().join(" + "));
        for step in steps {
            let outcome = answer(&drive.run, &step);
            drive.done(step, outcome);
        }
    }
}

/// Returns the prompt of a step whose folders are all empty.
pub fn prompt(run: &Run, step: &Step) -> String {
    bare_prompt(&Gan::request(run, step).expect("an agent is asked")).expect("its pages are ours")
}

/// Draws an answer, or a failure, from a seed and the step alone.
pub fn random_answer(seed: u64, run: &Run, step: &Step) -> Outcome {
    random_answer_at(seed, run, step, run.attempts(step))
}

pub fn random_answer_at(seed: u64, run: &Run, step: &Step, attempt: u32) -> Outcome {
    let key = serde_json::to_vec(step).expect("a step has a JSON text");
    let roll = rolls(&[&seed.to_le_bytes(), &key, &attempt.to_le_bytes()]);
    if roll(0) < 12 && Gan::role(step).is_some() {
        let kinds = [FailureKind::TimedOut, FailureKind::OffSchema, FailureKind::Gate];
        return failed(kinds[roll(1) % 3]);
    }
    // Later artifacts are usually better, so that some runs pass.
    let met = |nth: usize, id: &str| {
        let roll = rolls(&[&seed.to_le_bytes(), &nth.to_le_bytes(), id.as_bytes()]);
        roll(0) < 130 + 25 * nth
    };
    match step {
        Step::Propose { .. } if roll(2) < 64 => Ok(Answer::Proposed(Vec::new())),
        Step::Rule { .. } => Ok(Answer::Ruled(vec![ruling(roll(2) < 128)])),
        // Sometimes a builder changes nothing or returns to an earlier artifact.
        Step::Build { sprint, .. } if roll(2) < 32 => Ok(built(roll(3) % *sprint as usize)),
        Step::Browse { .. } if roll(2) < 64 => failed(FailureKind::Crashed),
        Step::Judge { .. } => {
            let Ok(Answer::Judged(mut verdicts)) = answer(run, step, &met) else {
                unreachable!("it is judged")
            };
            // Two judgements of the same artifact differ.
            if roll(2) < 64 {
                verdicts.findings[roll(3) % 4].verdict = Verdict::Failed;
            }
            let item =
                Item { id: "b.colour".into(), text: "It has colour.".into(), verification: "look".into() };
            verdicts.wanted = vec![item; roll(4) % 3];
            Ok(Answer::Judged(verdicts))
        }
        Step::Ask { hold, .. } => Ok(random_choice(run, *hold, roll(2))),
        _ => answer(run, step, &met),
    }
}

/// Returns one of the valid answers.
fn random_choice(run: &Run, hold: Question, roll: usize) -> Answer {
    let must = run.state.contract().expect("it was agreed on").criteria[1].must_pass;
    let choices = [
        Choice::Force,
        Choice::Accept,
        Choice::Abort,
        Choice::Stop,
        Choice::Guide { text: "mind the noise".into() },
        Choice::Refocus { dimension: "b".into() },
        Choice::Amend { changes: vec![contract::Change::MustPass { criterion: ALL[1].into(), must: !must }] },
    ];
    let mut fitting = choices.into_iter().filter(|choice| run.may_choose(hold, choice)).cycle();
    let choice = fitting.nth(roll).expect("some answer always fits");
    Answer::Chosen { choice, by: Who::Person }
}

fn rolls(parts: &[&[u8]]) -> impl Fn(usize) -> usize + use<> {
    let digest = Digest::of_parts(parts.iter().copied());
    move |nth| usize::from(digest.as_bytes()[nth])
}
