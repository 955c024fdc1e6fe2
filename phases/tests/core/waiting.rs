//! Waiting out temporary failures: the run waits for a usage limit, a step for a busy service.

use std::time::Duration;

use jiff::Timestamp;
use skilltune_phases::loops::tune::results::state_file;
use skilltune_phases::loops::tune::{Event, Outcome, Run, Step};
use skilltune_phases::runs::event::{Failure, FailureKind, Pause, Signal};
use skilltune_phases::runs::run::Waits;
use skilltune_phases::runs::waiting;

use crate::world::{Drive, failed, plan, ran};

const HOUR: Duration = Duration::from_secs(3600);
const MINUTE: Duration = Duration::from_secs(60);

fn limited(until: Option<Timestamp>) -> Outcome {
    Err(Failure { until, ..Failure::new(FailureKind::UsageLimit, "used up") })
}

/// Returns a run that a limit has stopped.
fn stopped(until: Option<Timestamp>) -> (Drive, Step) {
    let mut drive = Drive::start(plan(1, 1));
    let step = drive.due(1).remove(0);
    drive.done(step.clone(), limited(until));
    (drive, step)
}

/// For a limit, the base of the pauses after an outage makes no difference.
fn until(run: &Run, now: Timestamp, most: Duration) -> Option<Timestamp> {
    waiting::until(run, now, most, Duration::from_secs(2))
}

fn assert_about(until: Option<Timestamp>, from: Timestamp, wait: Duration) {
    let span = until.expect("there is a time to wait for").duration_since(from);
    let until_then = Duration::try_from(span).expect("it is not before");
    assert!((wait..=wait + (wait / 20).min(MINUTE)).contains(&until_then), "{until_then:?} for {wait:?}");
}

/// Waits like the engine, and meets the limit again.
fn wait_in_vain(drive: &mut Drive, step: &Step, until: Timestamp, given: Option<Timestamp>) {
    drive.record(Event::Noted(Signal::Waiting { until }));
    drive.record(Event::Noted(Signal::Waited));
    assert_eq!(drive.run.blocked, None);
    drive.done(step.clone(), limited(given));
}

#[test]
fn a_limit_is_waited_for_until_the_time_told_and_no_longer_than_allowed() {
    let now = Timestamp::from_second(1_700_000_100).unwrap();
    let (drive, _) = stopped(Some(now + 3 * HOUR));
    assert_about(until(&drive.run, now, 12 * HOUR), now, 3 * HOUR);
    assert_eq!(until(&drive.run, now, 2 * HOUR), None);
    assert_about(until(&drive.run, now + 4 * HOUR, HOUR), now + 4 * HOUR, Duration::ZERO);
    assert_eq!(until(&drive.run, now, 12 * HOUR), until(&drive.run, now, 12 * HOUR));
}

#[test]
fn where_no_time_is_told_it_is_asked_again_in_growing_steps_until_no_more_is_allowed() {
    let (mut drive, step) = stopped(None);
    let begun = drive.run.updated_at;
    let mut now = begun;
    for minutes in [15, 30, 60, 60] {
        let until = until(&drive.run, now, 3 * HOUR);
        assert_about(until, now, minutes * MINUTE);
        wait_in_vain(&mut drive, &step, until.unwrap(), None);
        now = begun + MINUTE;
    }
    assert_eq!(drive.run.waits.times, 4);
    assert_eq!(until(&drive.run, begun + 2 * HOUR + MINUTE, 3 * HOUR), None);
    drive.done(step, ran("at last"));
    assert_eq!(drive.run.waits, Waits::default(), "an answer ends the count");
}

#[test]
fn a_time_that_did_not_hold_is_not_believed_a_second_time() {
    let (mut drive, step) = stopped(Some(Timestamp::UNIX_EPOCH));
    let now = drive.run.updated_at;
    assert_eq!(until(&drive.run, now, HOUR), Some(now), "it may have been lifted meanwhile");
    wait_in_vain(&mut drive, &step, now, Some(Timestamp::UNIX_EPOCH));
    assert_about(until(&drive.run, now, HOUR), now, 15 * MINUTE);
    wait_in_vain(&mut drive, &step, now, Some(now + 5 * HOUR));
    assert_about(until(&drive.run, now, 12 * HOUR), now, 5 * HOUR);
}

#[test]
fn what_a_person_must_put_right_is_not_waited_for_whichever_failed_first() {
    for kinds in [[0, 1], [1, 0]] {
        let mut drive = Drive::start(plan(1, 2));
        let steps = drive.due(2);
        for (step, kind) in steps.into_iter().zip(kinds) {
            let kind = [FailureKind::UsageLimit, FailureKind::Authentication][kind];
            drive.done(step, Err(Failure::new(kind, "no")));
        }
        assert_eq!(drive.run.blocked.as_ref().unwrap().failure.kind, FailureKind::Authentication);
        assert_eq!(until(&drive.run, drive.run.updated_at, HOUR), None);
    }
}

#[test]
fn an_outage_is_waited_for_in_pauses_that_grow_to_a_minute_and_no_longer_than_allowed() {
    let base = Duration::from_secs(2);
    let mut drive = Drive::start(plan(1, 1));
    let step = drive.due(1).remove(0);
    let mut pauses = Vec::new();
    for _ in 0..30 {
        for _ in 0..2 {
            drive.done(step.clone(), failed(FailureKind::Overloaded));
        }
        let now = drive.run.updated_at;
        let until = waiting::until(&drive.run, now, 12 * HOUR, base).unwrap();
        assert_eq!(
            until,
            waiting::until(&Run::replay(&drive.records).unwrap(), now, 12 * HOUR, base).unwrap()
        );
        pauses.push(Duration::try_from(until.duration_since(now)).unwrap());
        drive.record(Event::Noted(Signal::Waiting { until }));
        drive.record(Event::Noted(Signal::Waited));
    }
    let sum = |pauses: &[Duration]| pauses.iter().sum::<Duration>();
    assert!(pauses[0] <= Duration::from_secs(9), "{pauses:?}");
    assert!(sum(&pauses[..3]) < sum(&pauses[6..9]), "{pauses:?}");
    assert!(pauses.iter().all(|pause| *pause >= base / 2 && *pause <= MINUTE + MINUTE / 20), "{pauses:?}");
    let given = drive.run.updated_at + 3 * MINUTE;
    let refused = Failure { until: Some(given), ..Failure::new(FailureKind::RateLimited, "busy") };
    drive.done(step.clone(), Err(refused.clone()));
    drive.done(step, Err(refused));
    let now = drive.run.updated_at;
    assert!(waiting::until(&drive.run, now, 12 * HOUR, base) >= Some(given), "a told time is heeded");
    assert_eq!(waiting::until(&drive.run, now, Duration::from_secs(60), base), None, "that is too long");
    // Without a pause between two attempts it still does not retry endlessly.
    assert!(waiting::until(&drive.run, given, 12 * HOUR, Duration::ZERO) > Some(given));
}

#[test]
fn after_a_pause_of_the_run_a_step_is_not_held_back_but_for_a_told_time() {
    let base = Duration::from_secs(2);
    let mut drive = Drive::start(plan(1, 1));
    let step = drive.due(1).remove(0);
    for _ in 0..2 {
        drive.done(step.clone(), failed(FailureKind::Network));
    }
    let last = drive.run.updated_at;
    drive.record(Event::Noted(Signal::Paused(Pause::Blocked)));
    drive.record(Event::Noted(Signal::Resumed { program: "1".into() }));
    assert_eq!(drive.run.not_before(&step, base), Some(last));
}

#[test]
fn a_service_that_stays_away_is_not_asked_before_a_limit_is_lifted() {
    for kinds in [
        [FailureKind::UsageLimit, FailureKind::Overloaded],
        [FailureKind::Overloaded, FailureKind::UsageLimit],
    ] {
        let mut drive = Drive::start(plan(1, 2));
        for (step, kind) in drive.due(2).into_iter().zip(kinds) {
            drive.done(step.clone(), failed(kind));
            drive.done(step, failed(kind));
        }
        assert_eq!(drive.run.blocked.as_ref().unwrap().failure.kind, FailureKind::UsageLimit);
    }
}

#[test]
fn of_two_limits_the_one_that_is_lifted_last_is_waited_for() {
    let mut drive = Drive::start(plan(1, 3));
    let at = |hours: u32| drive_start() + hours * HOUR;
    for (step, until) in drive.due(3).into_iter().zip([Some(at(2)), None, Some(at(1))]) {
        drive.done(step, limited(until));
    }
    assert_eq!(drive.run.blocked.as_ref().unwrap().failure.until, Some(at(2)));
}

fn drive_start() -> Timestamp {
    Drive::start(plan(1, 1)).run.started_at
}

#[test]
fn a_wait_is_in_the_journal_and_every_end_of_it_leaves_a_run_that_goes_on() {
    let (mut drive, step) = stopped(None);
    let until = drive.run.updated_at + HOUR;
    drive.record(Event::Noted(Signal::Waiting { until }));
    assert_eq!((drive.run.waits.until, state_file::status(&drive.run)), (Some(until), "waiting"));
    assert!(state_file::text(&drive.run).contains(&format!("\"waiting_until\": \"{until}\"")));
    let mut interrupted = drive.clone();
    interrupted.record(Event::Noted(Signal::Paused(Pause::Interrupted)));
    assert_eq!((interrupted.run.waits.until, state_file::status(&interrupted.run)), (None, "paused"));
    drive.record(Event::Noted(Signal::Waited));
    let mut fold = Run::begin(&drive.records[0]).unwrap();
    for at in 1..drive.records.len() {
        fold.apply(&drive.records[at]);
        assert_eq!(Run::replay(&drive.records[..=at]).unwrap(), fold);
    }
    assert_eq!(fold, drive.run);
    for mut drive in [drive, interrupted] {
        drive.record(Event::Noted(Signal::Resumed { program: "1".into() }));
        assert_eq!((&drive.run.blocked, drive.run.waits), (&None, Waits::default()));
        assert_eq!(drive.due(1), std::slice::from_ref(&step));
        let text = drive.records.iter().map(|record| serde_json::to_string(record).unwrap());
        let read: Vec<_> = text.map(|line| serde_json::from_str(&line).unwrap()).collect();
        assert_eq!(Run::replay(&read).unwrap(), drive.run);
    }
}

#[test]
fn a_step_that_met_a_busy_service_waits_and_a_told_time_goes_before_our_own_if_it_is_later() {
    let base = Duration::from_secs(2);
    let busy = |until| Err(Failure { until, ..Failure::new(FailureKind::RateLimited, "busy") });
    let mut drive = Drive::start(plan(1, 1));
    let step = drive.due(1).remove(0);
    assert_eq!(drive.run.not_before(&step, base), None);
    drive.done(step.clone(), busy(Some(Timestamp::UNIX_EPOCH)));
    let now = drive.run.updated_at;
    let own = drive.run.not_before(&step, base).unwrap();
    assert!((now + base / 2..=now + 2 * base).contains(&own), "{own} after {now}");
    assert_eq!(drive.run.not_before(&step, Duration::ZERO), Some(now));
    assert_eq!(Run::replay(&drive.records).unwrap().not_before(&step, base), Some(own));
    let given = now + MINUTE;
    drive.done(step.clone(), busy(Some(given)));
    assert_eq!(drive.run.not_before(&step, base), Some(given));
}

#[test]
fn a_journal_of_before_tells_no_time_and_is_read() {
    let old = r#"{"kind":"usage_limit","why":"used up"}"#;
    let failure: Failure = serde_json::from_str(old).unwrap();
    assert_eq!(failure, Failure::new(FailureKind::UsageLimit, "used up"));
    assert_eq!(serde_json::to_string(&failure).unwrap(), old);
}
