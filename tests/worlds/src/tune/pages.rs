//! Runs for tests of pages: their agents have names, and their answers words and evidence. Each test makes up the scores.
#![expect(clippy::unnecessary_wraps, reason = "answers and failures of a scripted world have one type")]

use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::{Contract, Criterion, Dimension, Verdict};
use skilltune_phases::judging::judgement::{
    Assessment, Finding, Findings, Judgement, Kind, Priority, Suggestion,
};
use skilltune_phases::judging::score::{Score, Scored};
use skilltune_phases::loops::tune::search::drafting;
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{Answer, Choice, Outcome, Plan, Run, Search, Step, Tune};
use skilltune_phases::runs::plan::{Cast, Enforced, Roles};
use skilltune_phases::skills::edit::{Change, EditReport};
use skilltune_phases::suites::checks::{CheckResult, How};
use skilltune_phases::suites::demand::Demand;

use crate::drive::{self, cast, plan_of};
use crate::tune::{edited, member, nth, scenario, stating, task, well};

pub use crate::drive::{failed_as as failed, play, points, tree};
pub use crate::tune::ran;

/// A run of any loop for pages, and its journal.
pub type Play<L = Tune> = drive::Drive<L>;

pub fn plan(members: &[&str], scenarios: usize) -> Plan {
    let member = |name: &&str| member(name, &format!("/p/skills/{name}"), tree(name));
    let scenario = |nth| scenario(&format!("task-{nth}"), "Write a | haiku");
    let mut task = task(members.iter().map(member).collect(), (1..=scenarios).map(scenario).collect());
    task.contract = contract();
    task.rules.max_iterations = 3;
    plan_of("/p", "calm-otter", task, roles())
}

/// Returns a search by single trials of scenarios that all ask for the same three things; every third one is held out.
pub fn by_single_trials(scenarios: usize, runs: u32) -> Plan {
    let mut plan = plan(&["refunds"], scenarios);
    plan.task.rules.search = Search::Draft { runs, drawn: false, tests: 0 };
    let statements = ["The answer names the amount.", "It says when the money arrives.", "The tone is calm."];
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.held_out = nth % 3 == 2;
        let demands = statements.iter().zip(1..).map(|(text, nth)| {
            let how = How::Question { text: (*text).into() };
            Demand::new(format!("expectation-{nth}").parse().expect("a plain name"), how)
        });
        scenario.demands = demands.collect();
    }
    plan.task.rules.max_iterations = u32::try_from(drafting::rounds(&plan)).expect("few rounds");
    plan
}

/// Plays such a search: the first statement fails until it was edited twice; the second fails once, in round 4.
pub fn edited_twice() -> Play {
    let (mut others, mut edits) = (scored(&[], &[]), 0);
    play(by_single_trials(12, 24), move |run, step| match step {
        Step::Grade { trial, .. } if trial.ordinal == SEARCH => {
            let slips = run.round_number() == 4;
            stated(run, trial.scenario, |nth| [edits > 1, !slips, true][nth])
        }
        Step::Improve { .. } => {
            edits += 1;
            others(run, step)
        }
        _ => others(run, step),
    })
}

pub fn roles() -> Roles {
    let named = |agent: &str, model: Option<&str>| Cast {
        model: model.map(Into::into),
        rights: Enforced::SystemAndAgent,
        ..cast(agent)
    };
    Roles::from([
        (Role::EXECUTOR, named("claude", Some("small"))),
        (Role::EVALUATOR, named("gemini", None)),
        (Role::IMPROVER, named("claude", None)),
    ])
}

fn contract() -> Contract {
    let dimension = |id: &str, name: &str| Dimension { id: id.into(), name: name.into(), weight: 0.5 };
    let criterion = |id: &str, of: &str, text: &str| Criterion {
        id: id.into(),
        dimension: of.into(),
        text: text.into(),
        of_effect: of == "output",
        needs: None,
    };
    Contract {
        dimensions: vec![dimension("clarity", "Clarity"), dimension("output", "Output")],
        criteria: vec![
            criterion("clarity.steps", "clarity", "Are there steps?"),
            criterion("clarity.words", "clarity", "Is it plain?"),
            criterion("output.done", "output", "Is it done?"),
        ],
    }
}

/// Returns a judgement with evidence and this total score; each member of a chain has one less than the one before.
pub fn judged(run: &Run, score: u32) -> Outcome {
    let findings = [
        ("clarity.steps", Verdict::Pass, "1. Read the input.\n```\nquoted\n```"),
        ("clarity.words", Verdict::Fail, ""),
        ("output.done", Verdict::Partial, "haiku.md has | two lines\x1b[31m"),
    ];
    let findings = findings.map(|(id, verdict, evidence)| (id.into(), verdict, evidence));
    let finding = findings.iter().map(|(criterion, verdict, evidence)| Finding {
        criterion,
        verdict: *verdict,
        evidence,
    });
    judgement(run, score, Kind::Evidenced, &finding.collect())
}

/// Returns a judgement that meets some of a scenario's statements.
fn stated(run: &Run, scenario: usize, is_met: impl Fn(usize) -> bool) -> Outcome {
    let judged = judgement(run, 50, Kind::Evidenced, &Findings::none());
    stating(judged, run, scenario, |nth| if is_met(nth) { Verdict::Pass } else { Verdict::Fail })
}

/// Returns numbers without evidence.
pub fn claimed(run: &Run, score: u32) -> Outcome {
    judgement(run, score, Kind::Claimed, &Findings::none())
}

fn judgement(run: &Run, score: u32, kind: Kind, findings: &Findings) -> Outcome {
    let assess = |score: u32| {
        let dimensions = ["clarity", "output"].map(|id| (id.into(), Some(points(score))));
        let scored = Scored { composite: Some(points(score)), dimensions: dimensions.into() };
        Assessment { findings: findings.clone(), scored }
    };
    let members = if run.plan.is_chain() { run.plan.task.target.members.len() } else { 0 };
    let members = (0..).take(members).map(|nth| assess(score - nth));
    Ok(Answer::Judged(Box::new(Judgement {
        kind,
        strengths: vec!["It is short.".into()],
        weaknesses: vec!["SKILL.md:Steps | unclear".into(), "No <end>.".into()],
        suggestions: vec![Suggestion {
            priority: Priority::High,
            member: None,
            target_file: "SKILL.md".into(),
            description: "Name the `output` file.".into(),
            rationale: "Readers guess.".into(),
            snippet: Some("```sh\nwrite haiku.md\n```".into()),
        }],
        claim: Score::new(85.0),
        ..super::judgement(run, assess(score), members)
    })))
}

pub fn improved(name: &str) -> Outcome {
    let change = Change {
        priority: Some(Priority::High),
        description: "Named the file.".into(),
        file: Some("SKILL.md".into()),
    };
    let report = EditReport {
        summary: Some(format!("{name}: the output has a name.").into()),
        changes: vec![change],
        skipped: vec!["The rest: no such file.".into()],
    };
    edited(name, report)
}

/// Answers every step well: the candidates have these scores in the search, and those on fresh trials.
pub fn scored<'a>(search: &'a [u32], fresh: &'a [u32]) -> impl FnMut(&Run, &Step) -> Outcome + 'a {
    move |run, step| match step {
        Step::SetUp { .. } => panic!("no scenario of this world is set up"),
        Step::Inspect { trial, member, .. } => {
            let checks = run.plan.task.checks_of(trial.scenario, *member);
            let met = |(check, _)| CheckResult { check, met: Some(true), details: "out.md: 1 file".into() };
            Ok(Answer::Checked(checks.map(met).collect()))
        }
        Step::Check { demand, .. } => Ok(Answer::Checked(vec![CheckResult {
            check: *demand,
            met: Some(false),
            details: "exit code 1".into(),
        }])),
        Step::Grade { .. } | Step::JudgeText { .. } => judged(run, 80),
        Step::Exercise { skill, .. } => ran(&format!("artifacts of {skill}")),
        Step::Judge { candidate, trial, .. } => {
            let scores = if trial.ordinal == 0 { search } else { fresh };
            judged(run, scores[nth(run, *candidate)])
        }
        Step::Improve { round, .. } => improved(&format!("draft {round}")),
        Step::Ask(_) => Ok(Answer::Chosen(Choice::Apply)),
        Step::Promote { .. } => well(run, step, 80),
        Step::Propose { .. } => Ok(Answer::NotProposed { why: "git is not installed".into() }),
    }
}
