//! Runs of `reflex` for tests of pages: their texts have sections. Each test says which rules they miss.
#![expect(clippy::unnecessary_wraps, reason = "answers and failures of a scripted world have one type")]

use skilltune_phases::loops::reflex::answers::{Issue, PlanStep};
use skilltune_phases::loops::reflex::checks::{Check, How};
use skilltune_phases::loops::reflex::criteria::{Level, Rule, Template};
use skilltune_phases::loops::reflex::original::artifact_hash;
use skilltune_phases::loops::reflex::verdict::{By, RuleResult, Verdict};
use skilltune_phases::loops::reflex::{Answer, Artifact, Outcome, Plan, Run, Step, Task, sections};

use crate::drive::{self, tree};
use crate::reflex::task;
use crate::tune::pages::roles;

/// Text that would drive a terminal, break a table, a list and a fence, and forge a line.
pub const HOSTILE: &str =
    "ev\u{1b}[2Jil | cell `tick` <img src=x>\n# heading\n```\n```` fence\r\u{202e}gnp\nstatus    completed";

pub fn plan() -> Plan {
    plan_of(Template::Api)
}

pub fn plan_of(template: Template) -> Plan {
    let mut task =
        Task { prompt: "Write the API of a course catalogue".into(), ..task("/p", "courses-api", template) };
    (task.rules.checks_per_rule, task.rules.check_seconds) = (3, 60);
    drive::plan_of("/p", "courses-api-20260218-120000", task, roles())
}

/// Returns this version of the artifact.
pub fn text(version: usize) -> String {
    let limits = if version > 2 { "\n## Limits\n\nA hundred an hour.\n" } else { "" };
    format!("# Courses\n\nA catalogue.\n\n## Endpoints\n\nVersion {version}.\n{limits}")
}

/// Returns what a store would return.
pub fn stored(artifact: &Artifact) -> Option<String> {
    (1..10).map(text).find(|text| tree(text) == artifact.tree)
}

/// Answers every step well: the versions of the artifact miss these rules.
pub fn missing<'a>(missed: &'a [&'a [&'a str]]) -> impl FnMut(&Run, &Step) -> Outcome + 'a {
    move |run, step| match step {
        Step::Propose | Step::Agree => panic!("this world was agreed to beforehand"),
        Step::Plan { .. } => Ok(Answer::Planned(steps(run))),
        Step::Produce { from, .. } => written(run, from.is_some()),
        Step::Refine { .. } => written(run, true),
        Step::Prepare { level } => Ok(Answer::Prepared(questions(run, *level))),
        Step::Allow { .. } => Ok(Answer::Allowed(true)),
        Step::Match { .. } | Step::Check { .. } => Ok(Answer::Checked(Vec::new())),
        Step::Judge { artifact, level, category, .. } => {
            let at = run
                .state
                .artifacts
                .iter()
                .position(|known| known.tree == *artifact)
                .expect("it is an artifact of the run");
            judged(run, *level, category, missed[at])
        }
        Step::Critique { .. } => Ok(Answer::Criticised(issues(run))),
    }
}

fn steps(run: &Run) -> Vec<PlanStep> {
    let rules = run.plan.task.criteria.rules.iter().take(3);
    rules.map(|rule| PlanStep { step: "Do it.".into(), rule: rule.id.clone() }).collect()
}

fn written(run: &Run, again: bool) -> Outcome {
    let page = text(run.state.artifacts.len() + 1);
    let before = run.state.artifact.as_ref().filter(|_| again).and_then(stored);
    let changed = before.map(|before| sections::changed(&before, &page, &run.state.issues));
    let (hash, bytes) = (artifact_hash(page.as_bytes()), page.len() as u64);
    Ok(Answer::Written(Box::new(Artifact { tree: tree(&page), hash, bytes, changed })))
}

fn questions(run: &Run, level: Level) -> Vec<Check> {
    let question = || How::Question { text: "Is it | there?".into() };
    run.plan.task.criteria.at(level).map(|rule| Check { rule: rule.id.clone(), how: question() }).collect()
}

fn judged(run: &Run, level: Level, category: &str, missed: &[&str]) -> Outcome {
    let rules = run.plan.task.criteria.at(level).filter(|rule| rule.category() == category);
    let result = |rule: &Rule| {
        let met = !missed.contains(&rule.id.as_str());
        RuleResult {
            rule: rule.id.clone(),
            verdict: Verdict::of(rule, Some(met)),
            details: if met { "It stands there." } else { "It is | missing." }.into(),
            by: By::Judge,
        }
    };
    Ok(Answer::Judged(rules.map(result).collect()))
}

fn issues(run: &Run) -> Vec<Issue> {
    let missed = run.state.judged.last().expect("an artifact was judged").evaluation.missed();
    let issue = |result: &RuleResult| Issue {
        rule: result.rule.clone(),
        section: "Endpoints".into(),
        problem: "It is missing.".into(),
        fix_instruction: "Add it.".into(),
        expected_effect: "It is there.".into(),
    };
    missed.map(issue).take(5).collect()
}

/// Reaches level A in two iterations, and level B in three.
pub const TO_THE_THRESHOLD: &[&[&str]] = &[
    &["a.completeness.examples", "a.correctness.schemas"],
    &["a.completeness.errors", "b.completeness.auth"],
    &[],
];

/// Reaches level A at once, then has the same two warnings.
pub const ONLY_WARNINGS: &[&[&str]] =
    &[&["b.style.naming", "b.quality.descriptions"], &["b.style.naming", "b.quality.descriptions"]];
