//! What is known of a run from its history alone.

use super::*;

fn rebuilt(lines: &[HistoryLine]) -> FoundRun {
    let text: String = lines.iter().map(HistoryLine::text).collect();
    rebuild(&read_history(text.as_bytes())).unwrap()
}

fn judged(points: f64, passed: bool) -> HistoryLine {
    let payload = payload::evaluation_done(Some(fraction(points)), passed);
    HistoryLine { payload, ..line(Event::EvaluationDone, Step::Evaluate) }
}

fn stopped(reason: &str) -> HistoryLine {
    let payload = payload::stopped(&Word::of(reason), None);
    HistoryLine { payload, ..line(Event::Stopped, Step::Evaluate) }
}

#[test]
fn a_running_run_is_known_as_far_as_its_history_tells() {
    let found = rebuilt(&[
        line(Event::RunStarted, Step::Plan),
        judged(57.0, false),
        HistoryLine {
            iteration: 2,
            ts: at("2026-02-18T12:09:00Z"),
            ..line(Event::IterationAdvanced, Step::Refine)
        },
    ]);
    assert_eq!(found.run_id.as_deref(), Some("courses-api-20260218-120000"));
    assert_eq!(found.task_alias.as_deref(), Some("courses-api"));
    assert_eq!(found.status, Some(Status::Running.into()));
    assert_eq!((found.iteration, found.phase), (Some(2), Some(Phase::A)));
    assert_eq!(found.current_step, Some(Step::Refine.into()));
    assert_eq!(found.last_score, Some(fraction(57.0)));
    assert_eq!(found.created_at, Some(at("2026-02-18T12:01:10Z")));
    assert_eq!(found.updated_at, Some(at("2026-02-18T12:09:00Z")));
    assert_eq!(found.stop, Some(Stop { passed: false, reason: None }));
    assert_eq!(found.unknown(), ["max_iterations", "task", "criteria", "plan", "stagnation_count"]);
}

#[test]
fn an_ended_run_stands_as_its_reason_says() {
    let ended = |lines: &[HistoryLine]| {
        let found = rebuilt(lines);
        let stop = found.stop.unwrap();
        (found.status.unwrap(), stop.passed, stop.reason.map(|reason| reason.to_string()))
    };
    let told = |status: Status, passed, reason: &str| (status.into(), passed, Some(reason.to_owned()));
    let cases = [
        ("threshold_reached", Status::Completed),
        ("no_major_issues", Status::Completed),
        ("phase_error", Status::Failed),
        ("iteration_limit", Status::Stopped),
        ("had enough", Status::Stopped),
    ];
    for (reason, status) in cases {
        assert_eq!(ended(&[judged(70.0, false), stopped(reason)]), told(status, false, reason));
    }
    assert_eq!(ended(&[judged(95.0, true), stopped("user_stop")]), told(Status::Stopped, true, "user_stop"));
    assert_eq!(ended(&[stopped("threshold_reached")]), told(Status::Completed, true, "threshold_reached"));
    assert_eq!(ended(&[line(Event::Failed, Step::Plan)]), (Status::Failed.into(), false, None));
    assert_eq!(ended(&[stopped("user_stop"), judged(70.0, true)]), (Status::Running.into(), false, None));
}

#[test]
fn a_switch_to_b_is_kept_and_a_budget_told_by_the_end() {
    let overrun = Overrun {
        completed_phase_seconds: 624,
        max_completed_phase_seconds: 600,
        last_completed_step: Step::Evaluate,
    };
    let payload = payload::stopped(&StopReason::BudgetExceeded.into(), Some(overrun));
    let found = rebuilt(&[
        line(Event::PhaseSwitched, Step::Prepare),
        HistoryLine { payload, ..line(Event::Stopped, Step::Evaluate) },
    ]);
    assert_eq!(found.phase, Some(Phase::B));
    assert_eq!((found.max_completed_phase_seconds, found.completed_phase_seconds), (Some(600), Some(624)));
}

#[test]
fn only_the_last_run_of_a_history_is_told() {
    let other =
        |event, step| HistoryLine { run_id: "courses-api-20260101-000000".into(), ..line(event, step) };
    let mut unnamed = line(Event::PlanCreated, Step::Plan).text().replace("run_id", "run");
    unnamed = unnamed.replace("\"iteration\":1", "\"iteration\":3");
    let text = [
        other(Event::RunStarted, Step::Plan).text(),
        other(Event::Stopped, Step::Evaluate).text(),
        unnamed.clone(),
        line(Event::RunStarted, Step::Plan).text(),
        unnamed,
    ];
    let found = rebuild(&read_history(text.concat().as_bytes())).unwrap();
    assert_eq!(found.run_id.as_deref(), Some("courses-api-20260218-120000"));
    assert_eq!((found.status, found.iteration), (Some(Status::Running.into()), Some(3)));
    assert_eq!(found.created_at, Some(at("2026-02-18T12:01:10Z")));
}

#[test]
fn nothing_is_known_from_nothing() {
    assert_eq!(rebuild(&read_history(b"")), None);
    assert_eq!(rebuild(&read_history(b"no JSON\n")), None);
    let found = rebuild(&read_history(b"{\"event\": \"run_started\"}\n")).unwrap();
    assert_eq!(found.unknown().len(), 13);
}
