//! Our run as the original's files tell it: `run.json`, `history.jsonl`, `current.json`.
//!
//! Pure functions of the run, so that what is damaged is written again as it was. What the original has no word for takes
//! the nearest one: a question to the judge is no check there, and an oscillation is a stagnation.

use serde_json::{Map, Value, json};

use super::checks::{Check, How, Presence};
use super::course::{Line, Note};
use super::criteria::{Criteria, Level, Rule, Severity};
use super::decision::{Phase, Reason, Stop};
use super::original::{
    self as theirs, Alias, Current, Fraction, HistoryLine, Overrun, RunFile, ShellLine, payload,
};
use super::verdict::{Evaluation, RuleResult, Verdict};
use super::{Judged, Run};
use crate::score::Score;

pub fn run_file(run: &Run) -> RunFile {
    let (task, course) = (&run.plan.task, &run.course);
    RunFile {
        run_id: run.plan.run.to_string(),
        task_alias: alias(run),
        status: status(run),
        iteration: course.iteration,
        max_iterations: task.rules.max_iterations,
        phase: level(course.level),
        current_step: step(course.current()),
        task: theirs::Task { prompt: task.prompt.clone(), ideal_result: task.ideal.clone() },
        criteria: criteria(&task.criteria),
        plan: course.plan.iter().map(|step| format!("{} ({})", step.step, step.rule)).collect(),
        prepared_checks: course
            .prepared
            .map(|_| theirs::PreparedChecks { checks: course.checks.iter().filter_map(check).collect() }),
        evaluation: shown(run).map(|judged| evaluation(&task.criteria, judged)),
        critique: (!course.issues.is_empty()).then(|| critique(run)),
        stop: theirs::Stop {
            passed: course.stop.as_ref().is_some_and(|stop| stop.reason == Reason::ThresholdReached),
            reason: course.stop.as_ref().map(|stop| reason(stop.reason).into()),
        },
        last_score: Fraction(last_score(run)),
        stagnation_count: run.stagnation(),
        created_at: run.started_at,
        updated_at: run.updated_at,
        max_completed_phase_seconds: task.rules.max_seconds,
        completed_phase_seconds: course.clock.seconds(),
        phase_started_epoch_seconds: course.clock.since.and_then(|at| u64::try_from(at.as_second()).ok()),
    }
}

/// The evaluation of what stands in the artifact's file: at the end that is the best, until then what is worked on, of
/// which the last evaluation is told until it has one of its own.
fn shown(run: &Run) -> Option<&Judged> {
    let (best, last) = (run.best(), run.course.judged.last());
    if run.course.stop.is_some() { best } else { run.at_hand().or(last) }
}

/// The last that there was; an evaluation without one has no place in the series.
fn last_score(run: &Run) -> Score {
    run.course.judged.iter().rev().find_map(|judged| judged.evaluation.score).unwrap_or(Score::ZERO)
}

/// There while the run goes on.
pub fn current(run: &Run) -> Option<Current> {
    (status(run) == theirs::Status::Running).then(|| Current {
        active_run_id: run.plan.run.to_string(),
        task_alias: alias(run),
        status: theirs::Status::Running,
        updated_at: run.updated_at,
    })
}

pub fn history(run: &Run) -> Vec<HistoryLine> {
    run.course.story.iter().map(|told| line(run, told)).collect()
}

pub fn alias(run: &Run) -> Alias {
    Alias::parse(&run.plan.task.alias).unwrap_or_else(|| Alias::of(&run.plan.task.prompt))
}

fn status(run: &Run) -> theirs::Status {
    run.course.stop.as_ref().map_or(theirs::Status::Running, |stop| reason(stop.reason).status())
}

fn reason(reason: Reason) -> theirs::StopReason {
    match reason {
        Reason::ThresholdReached => theirs::StopReason::ThresholdReached,
        Reason::NoMajorIssues => theirs::StopReason::NoMajorIssues,
        Reason::UserStop => theirs::StopReason::UserStop,
        Reason::PhaseError => theirs::StopReason::PhaseError,
        Reason::Oscillation | Reason::Stagnation => theirs::StopReason::Stagnation,
        Reason::BudgetExceeded => theirs::StopReason::BudgetExceeded,
        Reason::IterationLimit => theirs::StopReason::IterationLimit,
    }
}

fn level(level: Level) -> theirs::Phase {
    match level {
        Level::A => theirs::Phase::A,
        Level::B => theirs::Phase::B,
    }
}

fn step(phase: Phase) -> theirs::Step {
    match phase {
        Phase::Plan => theirs::Step::Plan,
        Phase::ProducePrepare => theirs::Step::ProducePrepare,
        Phase::Evaluate => theirs::Step::Evaluate,
        Phase::Critique => theirs::Step::Critique,
        Phase::Refine => theirs::Step::Refine,
        Phase::Prepare => theirs::Step::Prepare,
    }
}

fn severity(severity: Severity) -> theirs::Severity {
    match severity {
        Severity::Fail => theirs::Severity::Fail,
        Severity::Warn => theirs::Severity::Warn,
        Severity::Info => theirs::Severity::Info,
    }
}

fn criteria(criteria: &Criteria) -> theirs::Criteria {
    let gate = |at: Level, active_levels: &[theirs::Phase]| theirs::Gate {
        threshold: Fraction(criteria.thresholds.at(at)),
        active_levels: active_levels.to_vec(),
    };
    let (a, b) = (theirs::Phase::A, theirs::Phase::B);
    theirs::Criteria {
        name: criteria.name.to_string(),
        version: criteria.version,
        phase: theirs::Gates { a: gate(Level::A, &[a]), b: gate(Level::B, &[a, b]) },
        rules: criteria.rules.iter().map(rule).collect(),
    }
}

fn rule(rule: &Rule) -> theirs::Rule {
    theirs::Rule {
        id: rule.id.to_string(),
        description: rule.description.to_string(),
        severity: severity(rule.severity),
        weight: rule.weight,
        phase: level(rule.level),
        check: rule.check.to_string(),
    }
}

fn check(check: &Check) -> Option<theirs::Check> {
    let how = match &check.how {
        How::Command { argv, expected, exit } => theirs::How::Executable {
            command: ShellLine::of(argv.iter().map(String::as_str)),
            expected: if expected.is_empty() { format!("exit code {exit}") } else { expected.to_string() },
        },
        How::Pattern { pattern, expected } => theirs::How::Content {
            search: pattern.to_string(),
            expected: match expected {
                Presence::Present => "present".to_owned(),
                Presence::Absent => "absent".to_owned(),
            },
        },
        How::Question { .. } => return None,
    };
    Some(theirs::Check { rule_id: check.rule.to_string(), how })
}

fn evaluation(criteria: &Criteria, judged: &Judged) -> theirs::Evaluation {
    let Evaluation { score, passed, results, .. } = &judged.evaluation;
    let faults = |verdict: Verdict| {
        let found = results.iter().filter(move |result| result.verdict == verdict);
        found.filter_map(|result| fault(criteria, result)).collect()
    };
    theirs::Evaluation {
        score: score.map(Fraction),
        passed: *passed,
        failed: faults(Verdict::Fail),
        warnings: faults(Verdict::Warn),
        rule_results: results.iter().map(result).collect(),
        artifact_hash: Some(judged.artifact.hash.clone()),
    }
}

fn fault(criteria: &Criteria, result: &RuleResult) -> Option<theirs::Fault> {
    Some(theirs::Fault {
        id: result.rule.to_string(),
        severity: severity(criteria.rule(&result.rule)?.severity),
        message: result.details.to_string(),
    })
}

fn result(result: &RuleResult) -> theirs::RuleResult {
    let verdict = match result.verdict {
        Verdict::Pass => theirs::Verdict::Pass,
        Verdict::Fail => theirs::Verdict::Fail,
        Verdict::Warn => theirs::Verdict::Warn,
        Verdict::Unverified => theirs::Verdict::NotApplicable,
    };
    theirs::RuleResult {
        id: result.rule.to_string(),
        verdict: verdict.into(),
        details: result.details.to_string(),
    }
}

fn critique(run: &Run) -> theirs::Critique {
    let issue = |issue: &super::answers::Issue| theirs::Issue {
        rule_id: issue.rule.to_string(),
        problem: issue.problem.to_string(),
        fix_instruction: issue.fix_instruction.to_string(),
        expected_effect: issue.expected_effect.to_string(),
    };
    theirs::Critique { issues: run.course.issues.iter().map(issue).collect() }
}

fn line(run: &Run, told: &Line) -> HistoryLine {
    let (event, payload) = event(run, told);
    HistoryLine {
        ts: told.at,
        run_id: run.plan.run.to_string(),
        iteration: told.iteration,
        phase: level(told.level),
        step: step(told.phase),
        status: if matches!(event, theirs::Event::PhaseError | theirs::Event::Failed) {
            theirs::LineStatus::Error
        } else {
            theirs::LineStatus::Ok
        },
        event,
        payload,
    }
}

/// The payloads that the original tells of are as it tells them; the others say what their event is about.
fn event(run: &Run, told: &Line) -> (theirs::Event, Map<String, Value>) {
    use theirs::Event;
    match &told.note {
        Note::RunStarted => (Event::RunStarted, started(run)),
        Note::PlanCreated { steps } => (Event::PlanCreated, object(json!({ "steps": steps }))),
        Note::ArtifactCreated { hash } => (Event::ArtifactCreated, object(json!({ "artifact_hash": hash }))),
        Note::ChecksPrepared { checks } => (Event::ChecksPrepared, object(json!({ "checks": checks }))),
        Note::EvaluationDone { score, passed } => {
            (Event::EvaluationDone, payload::evaluation_done(score.map(Fraction), *passed))
        }
        Note::CritiqueDone { issues } => (Event::CritiqueDone, object(json!({ "issues": issues }))),
        Note::RefinementDone { previous } => (Event::RefinementDone, payload::refinement_done(previous)),
        Note::PhaseSwitched { to } => (Event::PhaseSwitched, object(json!({ "to": level(*to) }))),
        Note::IterationAdvanced => (Event::IterationAdvanced, Map::new()),
        Note::PhaseError { why } => (Event::PhaseError, object(json!({ "message": why }))),
        Note::Stopped(stop) => stopped(run, stop),
    }
}

/// Enough for a lost `run.json` to be made again.
fn started(run: &Run) -> Map<String, Value> {
    let task = &run.plan.task;
    object(json!({
        "task": { "prompt": task.prompt, "ideal_result": task.ideal },
        "criteria": criteria(&task.criteria),
        "max_iterations": task.rules.max_iterations,
        "max_completed_phase_seconds": task.rules.max_seconds,
    }))
}

fn stopped(run: &Run, stop: &Stop) -> (theirs::Event, Map<String, Value>) {
    let seconds = run.course.clock.seconds();
    let is_over = |most: &u64| stop.reason == Reason::BudgetExceeded && seconds >= *most;
    let over = run.plan.task.rules.max_seconds.filter(is_over).zip(run.course.completed);
    let overrun = over.map(|(most, completed)| Overrun {
        completed_phase_seconds: seconds,
        max_completed_phase_seconds: most,
        last_completed_step: step(completed),
    });
    let mut told = payload::stopped(&reason(stop.reason).into(), overrun);
    if let Some(note) = &stop.note {
        told.insert("message".into(), note.clone().into());
    }
    let failed = reason(stop.reason).status() == theirs::Status::Failed;
    (if failed { theirs::Event::Failed } else { theirs::Event::Stopped }, told)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
