//! Runs as the original leaves them: a whole one with its fields in the original's order, and a damaged one.

use super::*;

const RUN: &[u8] = include_bytes!("../../../../../../fixtures/evolution/courses-api-ddd/run.json");
const HISTORY: &[u8] = include_bytes!("../../../../../../fixtures/evolution/courses-api-ddd/history.jsonl");
const ARTIFACT: &[u8] = include_bytes!("../../../../../../fixtures/evolution/courses-api-ddd/artifact.md");
const CUT_RUN: &[u8] = include_bytes!("../../../../../../fixtures/evolution/release-notes/run.json");
const TORN_HISTORY: &[u8] =
    include_bytes!("../../../../../../fixtures/evolution/release-notes/history.jsonl");

fn run() -> FoundRun {
    read_run(RUN).unwrap()
}

#[test]
fn the_state_of_a_whole_run_is_read_field_by_field() {
    let run = run();
    assert_eq!((run.unknown(), run.doubts), (vec![], vec![]));
    assert_eq!(run.run_id.as_deref(), Some("courses-api-ddd-20260218-120000"));
    assert_eq!(run.task_alias.as_deref(), Some("courses-api-ddd"));
    assert_eq!(run.status, Some(Status::Stopped.into()));
    assert_eq!((run.iteration, run.max_iterations), (Some(3), Some(4)));
    assert_eq!((run.phase, run.current_step), (Some(Phase::B), Some(Step::Evaluate.into())));
    assert_eq!(run.stop, Some(Stop { passed: false, reason: Some(StopReason::BudgetExceeded.into()) }));
    assert_eq!((run.last_score, run.stagnation_count), (Some(fraction(66.7)), Some(0)));
    assert_eq!(run.created_at, Some(at("2026-02-18T12:00:00Z")));
    assert_eq!(run.updated_at, Some(at("2026-02-18T12:31:44Z")));
    assert_eq!((run.max_completed_phase_seconds, run.completed_phase_seconds), (Some(600), Some(624)));
    assert_eq!(run.phase_started_epoch_seconds, None);
    assert_eq!(run.plan.unwrap()[0], "Add a security scheme (b.completeness.auth)");
    let task = run.task.unwrap();
    assert_eq!(task.prompt, "OpenAPI 3.1 spec + DDD notes for courses");
    assert!(task.ideal_result.starts_with("A spec that a client"));
}

#[test]
fn its_criteria_are_read_with_the_weight_that_one_rule_leaves_out() {
    let criteria = run().criteria.unwrap();
    assert_eq!((criteria.name.as_str(), criteria.version), ("loop_default_v1", 1));
    let gate =
        |points, levels: &[Phase]| Gate { threshold: fraction(points), active_levels: levels.to_vec() };
    assert_eq!(criteria.phase.a, gate(80.0, &[Phase::A]));
    assert_eq!(criteria.phase.b, gate(90.0, &[Phase::A, Phase::B]));
    let told = |rule: &Rule| format!("{} {} {} {}", rule.phase, rule.id, rule.severity, rule.weight);
    let rules: Vec<_> = criteria.rules.iter().map(told).collect();
    insta::assert_snapshot!(rules.join("\n"), @r"
    A a.correctness.endpoints fail 2
    A a.correctness.schemas fail 2
    A a.completeness.examples fail 2
    A a.completeness.errors warn 1
    B b.style.naming warn 1
    B b.completeness.pagination warn 1
    B b.completeness.auth fail 2
    B b.quality.descriptions warn 1
    ");
    assert_eq!(criteria.rules[3].description, "Errors are described");
    assert_eq!(criteria.rules[3].check, "Look for 4xx answers");
}

#[test]
fn its_checks_are_lines_for_a_shell_that_can_only_be_shown() {
    let checks = run().prepared_checks.unwrap().checks;
    let told = checks.iter().map(|check| match &check.how {
        How::Executable { command, expected } => format!("{}: {command} -> {expected}", check.rule_id),
        How::Content { search, expected } => format!("{}: /{search}/ {expected}", check.rule_id),
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @r"
    a.correctness.endpoints: test $(grep -c '^  /courses' .ai-factory/evolution/courses-api-ddd/artifact.md) -ge 2 && echo ok -> ok
    a.correctness.schemas: npx --yes @redocly/cli lint .ai-factory/evolution/courses-api-ddd/artifact.md > /tmp/lint.txt 2>&1; tail -1 /tmp/lint.txt -> exit code 0
    b.completeness.auth: /securitySchemes/ present
    b.style.naming: /[a-z]+[A-Z]/ absent
    ");
}

#[test]
fn its_evaluation_is_of_the_artifact_that_stands_there() {
    let evaluation = run().evaluation.unwrap();
    assert_eq!((evaluation.score, evaluation.passed), (Some(fraction(75.0)), false));
    assert_eq!(evaluation.artifact_hash, Some(artifact_hash(ARTIFACT)));
    let fault = |id: &str, severity, message: &str| Fault {
        id: id.to_owned(),
        severity,
        message: message.to_owned(),
    };
    let failed = fault("b.completeness.auth", Severity::Fail, "There is no security scheme");
    assert_eq!(evaluation.failed, [failed]);
    assert_eq!(evaluation.warnings, [fault("a.completeness.errors", Severity::Warn, "No 4xx answers")]);
    let verdict = |place: usize| evaluation.rule_results[place].verdict.known();
    let verdicts = [Some(Verdict::Pass), Some(Verdict::Warn), Some(Verdict::Fail)];
    assert_eq!([verdict(0), verdict(3), verdict(6)], verdicts);
    assert_eq!(evaluation.rule_results.len(), 8);
    let issue = &run().critique.unwrap().issues[0];
    assert_eq!(
        (issue.rule_id.as_str(), issue.expected_effect.as_str()),
        ("b.completeness.auth", "The rule passes")
    );
    assert_eq!(issue.problem, "Nothing tells who may call");
    assert!(issue.fix_instruction.starts_with("Add components.securitySchemes"));
}

#[test]
fn its_history_is_read_to_the_last_line() {
    let history = read_history(HISTORY);
    assert_eq!((history.lines.len(), history.unreadable, history.torn), (24, 0, false));
    assert!(history.lines.iter().all(|line| line.event.known().is_some() && line.run_id == run().run_id));
    let error = &history.lines[9];
    assert_eq!((error.line, error.status.as_deref()), (10, Some("error")));
    assert_eq!((error.event.known(), error.iteration), (Some(Event::PhaseError), Some(2)));
    let switch = &history.lines[13];
    assert_eq!((switch.event.known(), switch.phase), (Some(Event::PhaseSwitched), Some(Phase::B)));
    assert_eq!(switch.step, Some(Step::Prepare.into()));
    let overrun = Overrun {
        completed_phase_seconds: 624,
        max_completed_phase_seconds: 600,
        last_completed_step: Step::Evaluate,
    };
    let stopped = payload::stopped(&StopReason::BudgetExceeded.into(), Some(overrun));
    assert_eq!(history.lines[23].payload, stopped);
}

#[test]
fn a_history_alone_tells_of_a_whole_run_what_its_state_does() {
    let (whole, rebuilt) = (run(), rebuild(&read_history(HISTORY)).unwrap());
    assert_eq!((&rebuilt.run_id, &rebuilt.task_alias), (&whole.run_id, &whole.task_alias));
    assert_eq!(
        (rebuilt.status, rebuilt.iteration, rebuilt.phase),
        (whole.status, whole.iteration, whole.phase)
    );
    assert_eq!((rebuilt.current_step, rebuilt.stop), (whole.current_step, whole.stop));
    assert_eq!((rebuilt.created_at, rebuilt.updated_at), (whole.created_at, whole.updated_at));
    assert_eq!(rebuilt.completed_phase_seconds, whole.completed_phase_seconds);
    assert_eq!(rebuilt.last_score, whole.evaluation.unwrap().score);
}

#[test]
fn a_damaged_run_is_rebuilt_as_far_as_its_torn_history_goes() {
    assert!(matches!(read_run(CUT_RUN), Err(Unreadable::NotJson(_))));
    let history = read_history(TORN_HISTORY);
    assert_eq!((history.lines.len(), history.unreadable, history.torn), (6, 1, true));
    assert_eq!(history.lines[3].event, Word::Other("context_cleared".to_owned()));
    let run = rebuild(&history).unwrap();
    assert_eq!(run.unknown(), ["max_iterations", "task", "criteria", "plan", "stagnation_count"]);
    assert_eq!(run.run_id.as_deref(), Some("release-notes-20260301-091500"));
    assert_eq!(run.task_alias.as_deref(), Some("release-notes"));
    assert_eq!((run.status, run.iteration), (Some(Status::Running.into()), Some(2)));
    assert_eq!((run.phase, run.current_step), (Some(Phase::A), Some(Step::Plan.into())));
    assert_eq!((run.last_score, run.stop.unwrap().reason), (Some(fraction(57.1)), None));
    assert_eq!(run.updated_at, Some(at("2026-03-01T09:23:01Z")));
}
