//! The files of the original loop, `.ai-factory/evolution/`, written from our run and never read back.
//!
//! ```text
//! current.json                which run is under way, while it is       current
//! <alias>/run.json            the state of a run                        run_file
//! <alias>/history.jsonl       what happened, one event a line           history
//! ```
//!
//! Pure functions of the run, so a damaged file is written again as it was. If the original has no word for something,
//! the nearest one is used: a question to the judge is not a check there, and an oscillation is a stagnation.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::checks::{Check, CheckKind};
use super::criteria::{Criteria, Level, Rule};
use super::decision::{Reason, Status, Stop};
use super::original::Alias;
use super::state::{Line, Note};
use super::verdict::{Evaluation, RuleResult, Verdict};
use super::{Judged, Run};
use crate::base::json;
use crate::judging::score::Score;
use crate::loops::shared::command_line::shell_line;

pub fn run_file(run: &Run) -> String {
    let (task, state) = (&run.plan.task, &run.state);
    let checks = || state.checks.iter().filter_map(check).collect::<Vec<_>>();
    let plan = state.plan.iter().map(|step| format!("{} ({})", step.step, step.rule));
    page(&json!({
        "run_id": run.plan.run,
        "task_alias": alias(run).as_str(),
        "status": run.status().word(),
        "iteration": state.iteration,
        "max_iterations": task.rules.max_iterations,
        "phase": letter(state.level),
        "current_step": state.current().word(),
        "task": { "prompt": task.prompt, "ideal_result": task.ideal },
        "criteria": criteria(&task.criteria),
        "plan": plan.collect::<Vec<_>>(),
        "prepared_checks": state.prepared.map(|_| json!({ "checks": checks() })),
        "evaluation": shown(run).map(|judged| evaluation(&task.criteria, judged)),
        "critique": (!state.issues.is_empty()).then(|| critique(run)),
        "stop": stop(state.stop.as_ref()),
        "last_score": fraction(last_score(run)),
        "stagnation_count": run.stagnation(),
        "created_at": seconds(run.started_at),
        "updated_at": seconds(run.updated_at),
        "max_completed_phase_seconds": task.rules.max_seconds,
        "completed_phase_seconds": state.clock.seconds(),
        "phase_started_epoch_seconds": state.clock.since.and_then(|at| u64::try_from(at.as_second()).ok()),
    }))
}

pub fn history(run: &Run) -> String {
    run.state.story.iter().map(|entry| line(run, entry).to_string() + "\n").collect()
}

pub fn current(run: &Run) -> Option<String> {
    (run.status() == Status::Running).then(|| {
        page(&json!({
            "active_run_id": run.plan.run,
            "task_alias": alias(run).as_str(),
            "status": Status::Running.word(),
            "updated_at": seconds(run.updated_at),
        }))
    })
}

pub fn alias(run: &Run) -> Alias {
    Alias::parse(&run.plan.task.alias).unwrap_or_else(|| Alias::of(&run.plan.task.prompt))
}

fn page(value: &Value) -> String {
    json::page(value)
}

/// Returns the evaluation of the text in the artifact's file. At the end that is the best; until then it is the current
/// artifact, or the last evaluation if that artifact has none yet.
fn shown(run: &Run) -> Option<&Judged> {
    let (best, last) = (run.best(), run.state.judged.last());
    if run.state.stop.is_some() { best } else { run.at_hand().or(last) }
}

/// Returns the last score. An evaluation without one has no place in the series.
fn last_score(run: &Run) -> Score {
    run.state.judged.iter().rev().find_map(|judged| judged.evaluation.score).unwrap_or(Score::ZERO)
}

/// Includes the message of the person who stopped the run, or the error of a phase, which the original does not keep.
fn stop(stop: Option<&Stop>) -> Value {
    let mut object = json!({
        "passed": stop.is_some_and(|stop| stop.reason == Reason::ThresholdReached),
        "reason": stop.map_or("", |stop| reason(stop.reason)),
    });
    if let Some(note) = stop.and_then(|stop| stop.note.as_ref()) {
        object["message"] = note.as_str().into();
    }
    object
}

/// Returns the original's word. It has none for an oscillation.
fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Oscillation => Reason::Stagnation.word(),
        reason => reason.word(),
    }
}

fn letter(level: Level) -> String {
    level.to_string()
}

/// Returns a score of 0 to 100 as a number from 0 to 1.
fn fraction(score: Score) -> Value {
    match score {
        Score::ZERO => json!(0),
        Score::FULL => json!(1),
        // Divides whole numbers once. Otherwise 57 % would be written as 0.5700000000000001.
        score => json!((score.points() * 1e6).round() / 1e8),
    }
}

/// Formats a time. These files use whole seconds.
fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn criteria(criteria: &Criteria) -> Value {
    let gate = |level, active_levels: &[&str]| json!({ "threshold": fraction(criteria.thresholds.at(level)), "active_levels": active_levels });
    json!({
        "name": criteria.name,
        "version": criteria.version,
        "phase": { "A": gate(Level::A, &["A"]), "B": gate(Level::B, &["A", "B"]) },
        "rules": criteria.rules.iter().map(rule).collect::<Vec<_>>(),
    })
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "description": rule.description,
        "severity": rule.severity,
        "weight": rule.weight,
        "phase": letter(rule.level),
        "check": rule.check,
    })
}

fn check(check: &Check) -> Option<Value> {
    let rule = &check.rule;
    Some(match check.kind()? {
        CheckKind::Command { argv, expected, exit } => {
            let expected =
                if expected.is_empty() { format!("exit code {exit}") } else { expected.to_owned() };
            let command = shell_line(argv);
            json!({ "rule_id": rule, "type": "executable", "command": command, "expected": expected })
        }
        CheckKind::Pattern { pattern, is_present } => {
            let expected = if is_present { "present" } else { "absent" };
            json!({ "rule_id": rule, "type": "content", "search": pattern, "expected": expected })
        }
        CheckKind::Question(text) => {
            json!({ "rule_id": rule, "type": "question", "question": text, "expected": "yes" })
        }
    })
}

fn evaluation(criteria: &Criteria, judged: &Judged) -> Value {
    let Evaluation { score, passed, results, .. } = &judged.evaluation;
    let faults = |verdict: Verdict| {
        let found = results.iter().filter(move |result| result.verdict == verdict);
        found.filter_map(|result| fault(criteria, result)).collect::<Vec<_>>()
    };
    json!({
        "score": score.map(fraction),
        "passed": passed,
        "failed": faults(Verdict::Fail),
        "warnings": faults(Verdict::Warn),
        "rule_results": results.iter().map(result).collect::<Vec<_>>(),
        "artifact_hash": judged.artifact.name(),
    })
}

fn fault(criteria: &Criteria, result: &RuleResult) -> Option<Value> {
    let severity = criteria.rule(&result.rule)?.severity;
    Some(json!({ "id": result.rule, "severity": severity, "message": result.details }))
}

fn result(result: &RuleResult) -> Value {
    let verdict = match result.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Warn => "warn",
        Verdict::Unverified => "na",
    };
    json!({ "id": result.rule, "verdict": verdict, "details": result.details })
}

fn critique(run: &Run) -> Value {
    let issue = |issue: &super::answers::Issue| {
        json!({
            "rule_id": issue.rule,
            "problem": issue.problem,
            "fix_instruction": issue.fix_instruction,
            "expected_effect": issue.expected_effect,
        })
    };
    json!({ "issues": run.state.issues.iter().map(issue).collect::<Vec<_>>() })
}

fn line(run: &Run, entry: &Line) -> Value {
    let (event, payload) = event(run, entry);
    let is_error = matches!(event, "phase_error" | "failed");
    json!({
        "ts": seconds(entry.at),
        "run_id": run.plan.run,
        "iteration": entry.iteration,
        "phase": letter(entry.level),
        "step": entry.phase.word(),
        "event": event,
        "status": if is_error { "error" } else { "ok" },
        "payload": payload,
    })
}

/// Returns the payload of an event. Those that the original has are as it writes them; the others describe their event.
fn event(run: &Run, entry: &Line) -> (&'static str, Value) {
    match &entry.note {
        Note::RunStarted => ("run_started", started(run)),
        Note::PlanCreated { steps } => ("plan_created", json!({ "steps": steps })),
        Note::ArtifactCreated { hash } => ("artifact_created", json!({ "artifact_hash": hash })),
        Note::ChecksPrepared { checks } => ("checks_prepared", json!({ "checks": checks })),
        Note::EvaluationDone { score, passed } => {
            ("evaluation_done", json!({ "score": score.map(fraction), "passed": passed }))
        }
        Note::CritiqueDone { issues } => ("critique_done", json!({ "issues": issues })),
        Note::RefinementDone { previous, .. } => {
            ("refinement_done", json!({ "previous_artifact_hash": previous }))
        }
        Note::PhaseSwitched { to } => ("phase_switched", json!({ "to": letter(*to) })),
        Note::IterationAdvanced => ("iteration_advanced", json!({})),
        Note::PhaseError { why } => ("phase_error", json!({ "message": why })),
        Note::Stopped(stop) => {
            let failed = stop.reason.status() == Status::Failed;
            (if failed { "failed" } else { "stopped" }, stopped(run, stop))
        }
    }
}

/// Returns enough to recreate a lost `run.json`.
fn started(run: &Run) -> Value {
    let task = &run.plan.task;
    json!({
        "task": { "prompt": task.prompt, "ideal_result": task.ideal },
        "criteria": criteria(&task.criteria),
        "max_iterations": task.rules.max_iterations,
        "max_completed_phase_seconds": task.rules.max_seconds,
    })
}

/// Returns why the run ended, how far beyond its budget if that is the reason, and the message.
fn stopped(run: &Run, stop: &Stop) -> Value {
    let mut payload = Map::new();
    payload.insert("reason".into(), reason(stop.reason).into());
    let seconds = run.state.clock.seconds();
    let is_over = |most: &u64| stop.reason == Reason::BudgetExceeded && seconds >= *most;
    let over = run.plan.task.rules.max_seconds.filter(is_over).zip(run.state.completed);
    if let Some((most, completed)) = over {
        payload.insert("completed_phase_seconds".into(), seconds.into());
        payload.insert("max_completed_phase_seconds".into(), most.into());
        payload.insert("overshoot_seconds".into(), seconds.saturating_sub(most).into());
        payload.insert("last_completed_step".into(), completed.word().into());
    }
    if let Some(note) = &stop.note {
        payload.insert("message".into(), note.as_str().into());
    }
    Value::Object(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_written_as_the_shortest_fraction_that_it_is() {
        let texts =
            [0.0, 57.0, 57.142_857, 100.0].map(|points| fraction(Score::new(points).unwrap()).to_string());
        assert_eq!(texts, ["0", "0.57", "0.57142857", "1"]);
    }
}
