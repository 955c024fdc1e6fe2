//! The share of a usage window that stays free: which calls wait for its reset, and that nothing else changes.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::base::window::Window;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::{Event, Outcome, Plan, Run, Step, Tune};
use skilltune_phases::runs::event::{Done, FailureKind, Pause, Signal, Spent};
use skilltune_phases::runs::waiting;

use crate::drive::{TestLoop as _, recast, reread};
use crate::laws::any_plan;
use crate::world::{Drive, plan, ran, random_answer};

fn keeping(plan: Plan, free: &str) -> Plan {
    let keep_free = Some(free.parse().expect("a share"));
    Plan { ceilings: Ceilings { keep_free, ..plan.ceilings }, ..plan }
}

fn window(used: u8, resets_at: Timestamp) -> Window {
    Window { name: "five_hour".into(), used, resets_at }
}

/// Records the end of a step whose agent reported these windows.
fn done(drive: &mut Drive, step: &Step, outcome: Outcome, cached: bool, windows: Vec<Window>) {
    let attempt = drive.run.attempts(step);
    let spent = Spent { cached, ..Spent::default() };
    let done =
        Done { step: step.clone(), attempt, call: None, outcome, spent, model: None, windows, machine: None };
    drive.record(Event::Done(Box::new(done)));
}

/// Returns the signal that delays a call of this step now, if any.
fn kept_free(run: &Run, step: &Step) -> Option<Signal> {
    let role = Tune::role(step)?;
    let window = run.full_window(&role, run.updated_at)?.clone();
    Some(Signal::KeptFree { role, window })
}

/// Returns a run whose first call has reported this usage.
fn after(used: u8, free: Option<&str>) -> (Drive, Step) {
    let mut plan = plan(1, 3);
    if let Some(free) = free {
        plan = keeping(plan, free);
    }
    let mut drive = Drive::start(plan);
    let first = drive.due(1).remove(0);
    let resets_at = drive.run.updated_at + Duration::from_secs(3600);
    done(&mut drive, &first, ran("done"), false, vec![window(used, resets_at)]);
    let next = drive.due(1).remove(0);
    (drive, next)
}

#[test]
fn a_call_begins_while_the_share_is_left_and_no_later() {
    for (used, free, is_kept) in [
        (70, Some("30%"), false),
        (71, Some("30%"), true),
        (100, Some("1%"), true),
        (99, Some("1%"), false),
        (2, Some("99%"), true),
        (100, None, false),
    ] {
        let (drive, step) = after(used, free);
        assert_eq!(kept_free(&drive.run, &step).is_some(), is_kept, "{used}% used, {free:?} stays free");
    }
}

#[test]
fn the_run_stops_as_for_a_used_up_account_and_is_charged_nothing() {
    let (mut drive, step) = after(71, Some("30%"));
    let (before, now) = (drive.run.clone(), drive.run.updated_at);
    let kept = kept_free(&drive.run, &step).unwrap();
    let Signal::KeptFree { window, .. } = &kept else { unreachable!() };
    let resets_at = window.resets_at;
    drive.record(Event::Noted(kept));
    let blocked = drive.run.blocked.as_ref().unwrap();
    assert_eq!((blocked.failure.kind, blocked.failure.until), (FailureKind::UsageLimit, Some(resets_at)));
    assert_eq!(blocked.failure.why, "71% of its five-hour window is used, and 30% has to stay free");
    assert_eq!((&drive.run.ledger, &drive.run.errors), (&before.ledger, &before.errors));
    assert_eq!(drive.run.attempts(&step), 0, "no call was made");
    let (long, base) = (Duration::from_secs(12 * 3600), Duration::from_secs(2));
    let until = waiting::until(&drive.run, now, long, base).unwrap();
    assert!((resets_at..resets_at + Duration::from_secs(60 * 4)).contains(&until), "{until}");
    let records: Vec<_> = drive.records.iter().map(reread).collect();
    assert_eq!(Run::replay(&records).unwrap(), drive.run);
}

#[test]
fn a_run_that_is_resumed_makes_no_call_before_the_reset_and_one_after_it() {
    let (mut drive, step) = after(71, Some("30%"));
    for (seconds, is_kept) in [(3_000, true), (500, true), (200, false)] {
        if let Some(kept) = kept_free(&drive.run, &step) {
            drive.record(Event::Noted(kept));
            assert!(drive.run.blocked.is_some());
        }
        drive.record(Event::Noted(Signal::Paused(Pause::Blocked)));
        drive.record_after(seconds, Event::Noted(Signal::Resumed { program: "1".into() }));
        assert_eq!(drive.run.blocked, None);
        assert_eq!(kept_free(&drive.run, &step).is_some(), is_kept);
    }
}

#[test]
fn a_person_who_keeps_less_free_goes_on_at_once() {
    let (mut drive, step) = after(71, Some("30%"));
    let keep_free = Some("29%".parse().unwrap());
    let ceilings = Ceilings { keep_free, ..drive.run.plan.ceilings };
    drive.record(Event::Noted(Signal::Ceilings(ceilings)));
    assert_eq!(kept_free(&drive.run, &step), None);
}

#[test]
fn a_stored_answer_says_nothing_of_today_and_another_agent_has_windows_of_its_own() {
    let mut drive = Drive::start(keeping(plan(1, 3), "30%"));
    let step = drive.due(1).remove(0);
    let resets_at = drive.run.updated_at + Duration::from_secs(3600);
    done(&mut drive, &step, ran("done"), true, vec![window(100, resets_at)]);
    let next = drive.due(1).remove(0);
    assert_eq!(kept_free(&drive.run, &next), None);
    let (mut drive, step) = after(100, Some("30%"));
    let role = Tune::role(&step).unwrap();
    recast(&mut drive, &role);
    assert!(kept_free(&drive.run, &step).is_some(), "the same account");
    let cast = skilltune_phases::runs::plan::Cast {
        agent: "other".into(),
        ..drive.run.plan.roles.of(&role).clone()
    };
    drive.record(Event::Noted(Signal::Recast { role, cast }));
    assert_eq!(kept_free(&drive.run, &step), None);
}

#[test]
fn an_agent_that_answers_without_a_window_is_named_where_one_has_to_stay_free() {
    let agents = |free: Option<&str>, windows: &[Window], outcome: Outcome| {
        let mut drive = Drive::start(free.map_or_else(|| plan(1, 1), |free| keeping(plan(1, 1), free)));
        let step = drive.due(1).remove(0);
        done(&mut drive, &step, outcome, false, windows.to_vec());
        drive.run.without_windows().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let reported = [window(1, Timestamp::MAX)];
    assert_eq!(agents(Some("30%"), &[], ran("done")), ["world"]);
    assert!(agents(Some("30%"), &reported, ran("done")).is_empty());
    assert!(agents(None, &[], ran("done")).is_empty());
    let failed = crate::world::failed(FailureKind::Crashed);
    assert!(agents(Some("30%"), &[], failed).is_empty(), "it may report one with its first answer");
}

#[test]
fn a_journal_of_somebody_else_blocks_nothing_that_no_agent_has_reported() {
    let mut drive = Drive::start(keeping(plan(1, 1), "30%"));
    let role = Tune::role(&drive.due(1)[0]).unwrap();
    let kept = Signal::KeptFree { role, window: window(255, Timestamp::MAX) };
    drive.record(Event::Noted(kept));
    assert_eq!(drive.run.blocked, None);
    let strange =
        r#"{"kept_free":{"role":"nobody","window":{"name":"","used":9,"resets_at":"2026-01-01T00:00:00Z"}}}"#;
    let line = format!(r#"{{"seq":9,"at":"2026-01-01T00:00:00Z","event":{{"noted":{strange}}}}}"#);
    drive.records.push(serde_json::from_str(&line).unwrap());
    assert!(Run::replay(&drive.records).is_err());
}

proptest! {
    #[test]
    fn a_run_that_keeps_windows_free_ends_as_it_would_have_without(
        plan in any_plan(), world: u64, uses in prop::collection::vec(0_u8..=100, 1..20), free in 1_u8..100,
    ) {
        let mut whole = Drive::start(plan.clone());
        whole.finish_alone(|run, step| random_answer(world, run, step));
        let mut kept = Drive::start(keeping(plan, &format!("{free}%")));
        let mut uses = uses.into_iter().cycle();
        while let Some(step) = kept.due(1).pop() {
            if let Some(signal) = kept_free(&kept.run, &step) {
                kept.record(Event::Noted(signal));
                prop_assert!(kept.run.blocked.is_some());
                kept.record(Event::Noted(Signal::Paused(Pause::Blocked)));
                kept.record_after(9, Event::Noted(Signal::Resumed { program: "1".into() }));
                continue;
            }
            let outcome = Tune::honestly(&step, random_answer(world, &kept.run, &step));
            let reported = window(uses.next().unwrap(), kept.run.updated_at + Duration::from_secs(20));
            done(&mut kept, &step, outcome, false, vec![reported]);
            if kept.run.blocked.is_some() {
                kept.record(Event::Noted(Signal::Resumed { program: "1".into() }));
            }
        }
        prop_assert!(matches!(Tune::next(&kept.run), skilltune_phases::loops::Next::End));
        prop_assert_eq!(whole.decisions(), kept.decisions());
        prop_assert_eq!(&Run::replay(&kept.records.iter().map(reread).collect::<Vec<_>>()).unwrap(), &kept.run);
    }
}
