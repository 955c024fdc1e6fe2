mod damage;
mod fixture;
mod names;
mod rebuilt;
mod written;

use jiff::Timestamp;

use super::*;
use crate::score::Score;

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

fn fraction(points: f64) -> Fraction {
    Fraction(Score::new(points).unwrap())
}

fn alias(name: &str) -> Alias {
    Alias::parse(name).unwrap()
}

/// A run in which every field holds something.
fn full() -> RunFile {
    let gate =
        |points, levels: &[Phase]| Gate { threshold: fraction(points), active_levels: levels.to_vec() };
    let rule = |id: &str, severity: Severity, phase| Rule {
        id: id.to_owned(),
        description: "all that was asked for is there".to_owned(),
        severity,
        weight: severity.weight(),
        phase,
        check: "compare with the task".to_owned(),
    };
    let fault =
        |id: &str, severity| Fault { id: id.to_owned(), severity, message: "none is there".to_owned() };
    let result = |id: &str, verdict: Verdict| RuleResult {
        id: id.to_owned(),
        verdict: verdict.into(),
        details: "looked for".to_owned(),
    };
    RunFile {
        run_id: "courses-api-20260218-120000".to_owned(),
        task_alias: alias("courses-api"),
        status: Status::Running,
        iteration: 2,
        max_iterations: 4,
        phase: Phase::A,
        current_step: Step::ProducePrepare,
        task: Task { prompt: "An API".to_owned(), ideal_result: "A whole one".to_owned() },
        criteria: Criteria {
            name: "api".to_owned(),
            version: 1,
            phase: Gates { a: gate(80.0, &[Phase::A]), b: gate(90.0, &[Phase::A, Phase::B]) },
            rules: vec![
                rule("a.correctness.endpoints", Severity::Fail, Phase::A),
                rule("b.style.naming", Severity::Warn, Phase::B),
            ],
        },
        plan: vec!["Add the missing endpoint".to_owned()],
        prepared_checks: Some(PreparedChecks {
            checks: vec![
                Check {
                    rule_id: "a.correctness.endpoints".to_owned(),
                    how: How::Executable {
                        command: ShellLine::of(["grep", "-q", "it's here", "artifact.md"]),
                        expected: "exit 0".to_owned(),
                    },
                },
                Check {
                    rule_id: "b.style.naming".to_owned(),
                    how: How::Content { search: "[a-z]+_id".to_owned(), expected: "absent".to_owned() },
                },
            ],
        }),
        evaluation: Some(Evaluation {
            score: Some(fraction(57.0)),
            passed: false,
            failed: vec![fault("a.correctness.endpoints", Severity::Fail)],
            warnings: vec![fault("b.style.naming", Severity::Warn)],
            rule_results: vec![
                result("a.correctness.endpoints", Verdict::Fail),
                result("b.style.naming", Verdict::NotApplicable),
            ],
            artifact_hash: Some(artifact_hash(b"# An API\n")),
        }),
        critique: Some(Critique {
            issues: vec![Issue {
                rule_id: "a.correctness.endpoints".to_owned(),
                problem: "DELETE is missing".to_owned(),
                fix_instruction: "add it".to_owned(),
                expected_effect: "the rule passes".to_owned(),
            }],
        }),
        stop: Stop { passed: false, reason: Some(Word::Other("had enough".to_owned())) },
        last_score: fraction(57.142_857),
        stagnation_count: 1,
        created_at: at("2026-02-18T12:00:00Z"),
        updated_at: at("2026-02-18T12:10:00.75Z"),
        max_completed_phase_seconds: Some(600),
        completed_phase_seconds: 124,
        phase_started_epoch_seconds: Some(1_771_416_600),
    }
}

fn line(event: Event, step: Step) -> HistoryLine {
    HistoryLine {
        ts: at("2026-02-18T12:01:10Z"),
        run_id: "courses-api-20260218-120000".to_owned(),
        iteration: 1,
        phase: Phase::A,
        step,
        event,
        status: LineStatus::Ok,
        payload: serde_json::Map::new(),
    }
}
