//! A person stops a run at any moment: it ends for good, and every text that was paid for is kept.

use skilltune_phases::event::Event;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::criteria::{Level, Template};
use skilltune_phases::loops::reflex::{Answer, Phase, Reason, Record, Reflex, Run, Standing};

use super::world::{Drive, answer, plan};

/// The run as it is when a stop comes after these records, and ended by it.
fn stopped(records: &[Record]) -> Run {
    let mut drive =
        Drive { run: Run::replay(records).expect("it begins with a plan"), records: records.to_vec() };
    while let Some(decision) = Reflex::on_stop(&drive.run, Some("enough")) {
        drive.record(Event::Decided(decision));
        assert!(drive.records.len() < records.len() + 5, "a stop goes on for ever");
    }
    drive.run
}

/// Level A is passed at once and level B after a refinement.
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
    assert_eq!((run.standing(None), run.state.artifacts.len()), (Standing::Unevaluated, 1));
}
