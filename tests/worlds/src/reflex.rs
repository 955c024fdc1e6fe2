//! A world that answers the steps of `reflex` without doing anything.
//!
//! Artifacts are named `draft N` in the order in which they are written. The test decides which rules they meet.

pub mod pages;

use skilltune_phases::base::id::{Digest, TreeId};
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::judging::stop::Stall;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::answers::{Issue, PlanStep};
use skilltune_phases::loops::reflex::checks::{self, Check, CheckKind, CheckResult, How, Times};
use skilltune_phases::loops::reflex::criteria::{Criteria, Level, Rule, Severity, Template, Weights};
use skilltune_phases::loops::reflex::verdict::{By, RuleResult, Verdict};
use skilltune_phases::loops::reflex::{
    Answer, Artifact, Bounds, Confirmed, Note, Outcome, Plan, Reflex, Rules, Run, Setup, Step, Task, Terms,
};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::{Commands, RunThem};

use crate::drive::{self, failed, plan_of, roles, tree};

pub type Drive = drive::Drive<Reflex>;

impl drive::TestLoop for Reflex {}

pub fn plan(template: Template) -> Plan {
    let task = Task {
        prompt: "Tell of the ports.".into(),
        ideal: "All of them, and no other.".into(),
        ..task("/project", "ports", template)
    };
    plan_of("/project", "ports-20261121-213000", task, roles())
}

/// Writes a text by the rules of a template, which a person has agreed to.
pub fn task(project: &str, alias: &str, template: Template) -> Task {
    Task {
        alias: alias.into(),
        project: project.into(),
        evolution: ".ai-factory/evolution".into(),
        prompt: String::new(),
        ideal: String::new(),
        criteria: Criteria::of(template, Weights::default(), template.thresholds()),
        confirmed: Some(Confirmed::Person),
        setup: Setup { proposals: None, major: String::new(), weights: Weights::default() },
        out: None,
        context: None,
        rules: rules(),
        commands: Commands { run: RunThem::Never, confined: true },
    }
}

/// Plans a run that is not agreed to yet, with at most this many proposed rules.
pub fn unagreed(most: usize) -> Plan {
    let mut plan = plan(Template::Docs);
    plan.task.confirmed = None;
    plan.task.setup.proposals = Some(Bounds { least: 0, most });
    plan
}

fn rules() -> Rules {
    Rules {
        max_iterations: 4,
        stall: Stall { window: 2, gain: 2.0, reaching: true },
        settle: 1,
        retries: 1,
        plan_steps: Bounds { least: 3, most: 5 },
        most_issues: 5,
        latest_events: 3,
        checks_per_rule: 2,
        check_seconds: 10,
        max_seconds: None,
    }
}

pub fn draft(name: &str) -> Artifact {
    let tree = tree(name);
    Artifact { tree, hash: tree.0.hex(), bytes: 100, changed: None }
}

pub fn written(name: &str) -> Outcome {
    Ok(Answer::Written(Box::new(draft(name))))
}

/// Returns the number of a draft.
pub fn nth(of: TreeId) -> usize {
    (0..100).find(|nth| tree(&format!("draft {nth}")) == of).expect("it is a draft of the world")
}

/// Returns how many times an artifact was written or refined.
fn writes(run: &Run) -> usize {
    let is_write = |note: &Note| matches!(note, Note::ArtifactCreated { .. } | Note::RefinementDone { .. });
    run.state.story.iter().filter(|line| is_write(&line.note)).count()
}

/// Whether a draft meets a rule: met, not met, or not evaluated.
pub type Met<'a, M = Option<bool>> = &'a dyn Fn(usize, &str) -> M;

/// Answers a step. All goes well except the rules that are not met; the checks are questions to the judge.
pub fn answer<M: Into<Option<bool>>>(run: &Run, step: &Step, met: Met<'_, M>) -> Outcome {
    let met = |of: TreeId, rule: &Rule| met(nth(of), rule.id.as_str()).into();
    let criteria = &run.plan.task.criteria;
    match step {
        Step::Propose => Ok(Answer::Proposed(vec![proposed("a.completeness.harbours")])),
        Step::Agree => Ok(Answer::Agreed(Box::new(terms(run)))),
        Step::Plan { .. } => Ok(Answer::Planned(planned(criteria))),
        Step::Produce { .. } | Step::Refine { .. } => written(&format!("draft {}", writes(run))),
        Step::Prepare { level } => Ok(Answer::Prepared(criteria.unchecked(*level).map(question).collect())),
        Step::Allow { .. } => Ok(Answer::Allowed(true)),
        Step::Match { .. } => Ok(Answer::Checked(Vec::new())),
        Step::Check { artifact, check } => {
            let rule = criteria.rule(&run.state.checks[*check].rule).expect("a check is of a rule");
            Ok(Answer::Checked(vec![check_result(*check, met(*artifact, rule))]))
        }
        Step::Judge { artifact, level, category, .. } => {
            let rules = criteria.at(*level).filter(|rule| rule.category() == category);
            Ok(Answer::Judged(rules.map(|rule| judged(rule, met(*artifact, rule))).collect()))
        }
        Step::Critique { .. } => Ok(Answer::Criticised(criticised(run))),
    }
}

pub fn proposed(id: &str) -> Rule {
    let rule = Rule::new(id, Severity::Fail, Weights::default(), "Every harbour is told of.");
    rule.expect("its id is of the form")
}

/// Returns the terms of a person who accepts everything.
pub fn terms(run: &Run) -> Terms {
    let Rules { max_iterations, max_seconds, .. } = run.plan.task.rules;
    Terms { criteria: run.proposed(), max_iterations, max_seconds, confirmed: Confirmed::Person }
}

pub fn planned(criteria: &Criteria) -> Vec<PlanStep> {
    let step = |rule: &Rule| PlanStep { step: "Write it.".into(), rule: rule.id.clone() };
    criteria.at(Level::A).take(3).map(step).collect()
}

pub fn question(rule: &Rule) -> Check {
    Check { rule: rule.id.clone(), how: How::Question { text: "Is it so?".into() } }
}

pub fn pattern(rule: &Rule) -> Check {
    Check { rule: rule.id.clone(), how: checks::pattern("port", Times::ONCE_OR_MORE) }
}

pub fn command(rule: &Rule) -> Check {
    Check { rule: rule.id.clone(), how: checks::command(vec!["grep".into(), "port".into()], 0, "") }
}

pub fn check_result(check: usize, met: Option<bool>) -> CheckResult {
    CheckResult { check, met, details: "seen".into() }
}

pub fn judged(rule: &Rule, met: Option<bool>) -> RuleResult {
    RuleResult {
        rule: rule.id.clone(),
        verdict: Verdict::of(rule, met),
        details: "as the judge saw it".into(),
        by: By::Judge,
    }
}

/// Returns an issue about the first rule that was not met.
pub fn criticised(run: &Run) -> Vec<Issue> {
    let results = &run.state.judged.last().expect("an artifact was judged").evaluation.results;
    let missed = results.iter().find(|result| result.verdict != Verdict::Pass).expect("something is missed");
    vec![Issue {
        rule: missed.rule.clone(),
        section: "".into(),
        problem: "it is not there".into(),
        fix_instruction: "write it".into(),
        expected_effect: "it is there".into(),
    }]
}

/// Plays a run to its end, one step at a time.
pub fn play<M: Into<Option<bool>>>(plan: Plan, met: Met<'_, M>) -> Drive {
    play_with(plan, met, |_, _| None)
}

/// Does the same with some answers replaced.
pub fn play_with<M: Into<Option<bool>>>(
    plan: Plan,
    met: Met<'_, M>,
    mut instead: impl FnMut(&Run, &Step) -> Option<Outcome>,
) -> Drive {
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| instead(run, step).unwrap_or_else(|| answer(run, step, met)));
    drive
}

/// Draws an answer, or a failure, from a seed and the step alone.
pub fn random_answer(seed: u64, run: &Run, step: &Step) -> Outcome {
    random_answer_at(seed, run, step, run.attempts(step))
}

pub fn random_answer_at(seed: u64, run: &Run, step: &Step, attempt: u32) -> Outcome {
    let key = serde_json::to_vec(step).expect("a step has a JSON text");
    let roll = rolls(&[&seed.to_le_bytes(), &key, &attempt.to_le_bytes()]);
    if roll(0) < 20 {
        let kinds = [FailureKind::TimedOut, FailureKind::OffSchema, FailureKind::Gate];
        return failed(kinds[roll(1) % 3]);
    }
    // Later drafts are usually better, so that runs get far.
    let met = |artifact: TreeId, what: &str| {
        let roll = rolls(&[&seed.to_le_bytes(), artifact.0.as_bytes(), what.as_bytes()]);
        let luck = kindness(seed) / 4 + 10 * nth(artifact);
        [Some(true), Some(false), None][if roll(0) < 150 + luck { 0 } else { 1 + usize::from(roll(1) < 60) }]
    };
    match step {
        Step::Produce { .. } | Step::Refine { .. } => written(&format!("draft {}", roll(2) % 7)),
        Step::Prepare { level } => {
            let kinds = [question, question, pattern, command];
            let rules = run.plan.task.criteria.at(*level).enumerate();
            Ok(Answer::Prepared(rules.map(|(at, rule)| kinds[roll(3 + at) % 4](rule)).collect()))
        }
        Step::Allow { .. } => Ok(Answer::Allowed(roll(2) < 128)),
        Step::Match { artifact, .. } => {
            let patterns = run.state.checks.iter().enumerate();
            let patterns =
                patterns.filter(|(_, check)| matches!(check.kind(), Some(CheckKind::Pattern { .. })));
            Ok(Answer::Checked(
                patterns.map(|(at, check)| check_result(at, met(*artifact, check.rule.as_str()))).collect(),
            ))
        }
        Step::Propose
        | Step::Agree
        | Step::Plan { .. }
        | Step::Check { .. }
        | Step::Judge { .. }
        | Step::Critique { .. } => {
            answer(run, step, &|draft, rule| met(tree(&format!("draft {draft}")), rule))
        }
    }
}

/// Returns how kind a world is to its drafts.
fn kindness(seed: u64) -> usize {
    rolls(&[&seed.to_le_bytes()])(0)
}

fn rolls(parts: &[&[u8]]) -> impl Fn(usize) -> usize + use<> {
    let digest = Digest::of_parts(parts.iter().copied());
    move |nth| usize::from(digest.as_bytes()[nth])
}

/// Returns the prompt of a step, or nothing if no agent answers it.
pub fn prompt(run: &Run, step: &Step) -> String {
    use skilltune_phases::asking::order::Question as _;
    use skilltune_phases::base::material::{Body, Folder, Material};
    let Some(order) = Reflex::request(run, step) else { return String::new() };
    let folder = |at: &str, tree: TreeId| {
        let body = Body::Text(format!("# The text of {}\n", tree.0.short()));
        Folder { at: at.to_owned(), files: vec![Material { path: "artifact.md".into(), body }] }
    };
    let placements = order.as_ref().placements.iter();
    let folders = placements.map(|placement| folder(&placement.at, placement.tree)).collect();
    order.prompt(&folders).expect("its pages are ours")
}

/// Returns the code that an answer to a prompt must repeat.
pub fn code(prompt: &str) -> String {
    let key = if prompt.contains("\"verdict_of\": \"") { "\"verdict_of\": \"" } else { "\"answer_to\": \"" };
    let (_, rest) = prompt.rsplit_once(key).expect("the prompt asks for data");
    rest.split('"').next().expect("a text has a first part").to_owned()
}

/// Fails the first attempt of every agent step.
pub fn failed_once(run: &Run, step: &Step) -> Option<Outcome> {
    let is_asked = Reflex::role(step).is_some() && run.attempts(step) == 0;
    is_asked.then(|| failed(FailureKind::OffSchema))
}
