//! A person can stop a run at any moment: it ends for good and keeps every text that was paid for.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::criteria::{Level, Template};
use skilltune_phases::loops::reflex::{Answer, ArtifactStatus, Phase, Reason, Record, Reflex, Run, Step};
use skilltune_phases::runs::event::{Event, FailureKind};

use super::world::{Drive, answer, plan, play_with};
use crate::drive::failed;

/// Returns the run as a stop after these records ends it.
fn stopped(records: &[Record]) -> Run {
    let mut drive = Drive::resume(records.to_vec());
    while let Some(decision) = Reflex::on_stop(&drive.run, Some("enough")) {
        drive.record(Event::Decided(decision));
        assert!(drive.records.len() < records.len() + 5, "a stop goes on for ever");
    }
    drive.run
}

/// Level A passes at once, and level B after a refinement.
fn rising() -> Drive {
    let met = |draft: usize, rule: &str| Some(draft > 0 || !rule.starts_with("b.completeness"));
    let mut drive = Drive::start(plan(Template::Api));
    drive.finish_alone(|run, step| answer(run, step, &met));
    drive
}

#[test]
fn a_stop_at_any_moment_ends_the_run_for_good_and_keeps_every_text() {
    let whole = rising();
    for cut in 1..whole.records.len() {
        let run = stopped(&whole.records[..cut]);
        let stop = run.state.stop.as_ref().unwrap();
        assert!(run.closed_at.is_some(), "{cut}");
        if stop.reason == Reason::UserStop {
            assert_eq!(stop.note.as_deref(), Some("enough"), "{cut}");
        }
        for record in &whole.records[..cut] {
            if let Event::Done(done) = &record.event
                && let Ok(Answer::Written(artifact)) = &done.outcome
            {
                assert!(run.state.artifacts.contains(artifact), "{cut}: {artifact:?} was paid for");
            }
        }
    }
}

#[test]
fn a_success_that_was_judged_when_the_stop_came_stays_a_success() {
    let whole = rising();
    let is_last_verdict = |at: &usize| matches!(&whole.records[*at].event, Event::Done(done) if matches!(done.outcome, Ok(Answer::Judged(_))));
    let last = (0..whole.records.len()).rev().find(is_last_verdict).unwrap();
    let run = stopped(&whole.records[..=last]);
    assert_eq!(run.state.stop.as_ref().unwrap().reason, Reason::ThresholdReached);
    let run = stopped(&whole.records[..last]);
    assert_eq!(run.state.stop.as_ref().unwrap().reason, Reason::UserStop, "one verdict is missing");
}

#[test]
fn a_text_without_checks_is_kept_and_its_phase_does_not_count_as_completed() {
    let whole = rising();
    let is_text = |at: &usize| matches!(&whole.records[*at].event, Event::Done(done) if matches!(done.outcome, Ok(Answer::Written(_))));
    let first = (0..whole.records.len()).find(is_text).unwrap();
    let run = stopped(&whole.records[..=first]);
    assert_eq!((run.state.completed, run.state.level), (Some(Phase::Plan), Level::A));
    assert_eq!((run.artifact_status(None), run.state.artifacts.len()), (ArtifactStatus::Unevaluated, 1));
}

#[test]
fn a_text_whose_checks_nobody_could_prepare_is_kept_by_the_run_that_fails() {
    let no_checks =
        |_: &Run, step: &_| matches!(step, Step::Prepare { .. }).then(|| failed(FailureKind::Empty));
    let drive = play_with(plan(Template::Api), &|_, _| Some(true), no_checks);
    let run = &drive.run;
    assert_eq!(run.state.stop.as_ref().unwrap().reason, Reason::PhaseError);
    assert_eq!(
        (run.artifact_status(None), run.state.completed),
        (ArtifactStatus::Unevaluated, Some(Phase::Plan))
    );
    assert_eq!(run.ledger.of(&Role::EXECUTOR).calls, 2, "a plan and a text, each paid for once");
}

#[test]
fn a_text_kept_by_a_stop_that_was_cut_off_is_not_written_again() {
    let whole = rising();
    let is_text = |at: &usize| matches!(&whole.records[*at].event, Event::Done(done) if matches!(done.outcome, Ok(Answer::Written(_))));
    let first = (0..whole.records.len()).find(is_text).unwrap();
    let records = whole.records[..=first].to_vec();
    let mut drive = Drive::resume(records);
    // The first decision of the stop is recorded, then the program is killed.
    let kept = Reflex::on_stop(&drive.run, None).unwrap();
    drive.record(Event::Decided(kept));
    drive.finish_alone(|run, step| {
        assert!(!matches!(step, Step::Produce { .. }), "written again: {step:?}");
        answer(run, step, &|_, _| Some(true))
    });
    assert_eq!(drive.run.state.stop.as_ref().unwrap().reason, Reason::ThresholdReached);
}
