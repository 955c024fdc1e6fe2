//! Tests that reach each ending of `reflex` and find its right name.

use skilltune_phases::loops::reflex::criteria::{Level, Template};
use skilltune_phases::loops::reflex::{Decision, Event, Note, Phase, Reason, Rules, Run, Status, Step, Stop};
use skilltune_phases::runs::event::{FailureKind, Pause, Signal};

use super::world::{Drive, answer, draft, plan, play, play_with, written};
use crate::drive::failed;

fn ended(drive: &Drive) -> (Reason, usize) {
    let state = &drive.run.state;
    assert!(drive.run.closed_at.is_some());
    (state.stop.as_ref().expect("the run has ended").reason, state.judged.len())
}

fn warnings_at_b(_: usize, rule: &str) -> bool {
    !["b.style.naming", "b.completeness.pagination", "b.quality.descriptions"].contains(&rule)
}

#[test]
fn what_is_met_everywhere_passes_a_and_then_b_and_there_the_threshold_is_reached() {
    let drive = play(plan(Template::Api), &|_, _| Some(true));
    assert_eq!(ended(&drive), (Reason::ThresholdReached, 2));
    assert_eq!(Reason::ThresholdReached.status(), Status::Completed);
    let levels: Vec<_> = drive.run.state.judged.iter().map(|judged| judged.evaluation.level).collect();
    assert_eq!((levels, drive.run.state.iteration), (vec![Level::A, Level::B], 1));
}

#[test]
fn at_b_warnings_alone_are_settled_for_once_the_threshold_had_its_chances() {
    for (settle, judged) in [(0, 2), (1, 3), (2, 4)] {
        let mut plan = plan(Template::Api);
        (plan.task.rules.settle, plan.task.rules.stall.window) = (settle, 9);
        assert_eq!(ended(&play(plan, &warnings_at_b)), (Reason::NoMajorIssues, judged));
    }
    assert_eq!(Reason::NoMajorIssues.status(), Status::Completed);
}

#[test]
fn at_b_warnings_alone_are_settled_for_where_there_is_no_room_for_another_chance() {
    type Limit = fn(&mut Rules);
    let limits: [(Limit, usize); 4] = [
        (|rules| rules.max_iterations = 1, 2),
        (|rules| rules.stall.window = 1, 3),
        // B is judged after nine calls; the eighth used up the time.
        (|rules| rules.max_seconds = Some(13), 2),
        // The critique is the tenth call, and no time is left for the refinement.
        (|rules| rules.max_seconds = Some(15), 2),
    ];
    for (limit, judged) in limits {
        let mut plan = plan(Template::Api);
        plan.task.rules.settle = 9;
        limit(&mut plan.task.rules);
        assert_eq!(ended(&play(plan, &warnings_at_b)), (Reason::NoMajorIssues, judged));
    }
}

#[test]
fn every_template_goes_on_at_b_below_the_threshold_though_only_warnings_speak_against_it() {
    for template in Template::ALL.into_iter().filter(|template| *template != Template::Other) {
        let warns: Vec<_> = plan(template).task.criteria.rules;
        let is_warning = |id: &str| {
            let rule = warns.iter().find(|rule| rule.id.as_str() == id).unwrap();
            rule.level == Level::B && rule.weight == 1
        };
        let drive = play(plan(template), &|nth, rule| Some(nth == 1 || !is_warning(rule)));
        assert_eq!(ended(&drive), (Reason::ThresholdReached, 3), "{template}");
    }
}

#[test]
fn warnings_alone_end_nothing_at_level_a() {
    let clarity = ["a.completeness.examples", "a.quality.clarity"];
    let mut plan = plan(Template::Docs);
    (plan.task.rules.settle, plan.task.rules.max_iterations) = (0, 2);
    let drive = play(plan, &|_, rule| Some(!clarity.contains(&rule)));
    assert_eq!((ended(&drive), drive.run.state.level), ((Reason::IterationLimit, 2), Level::A));
}

#[test]
fn a_best_that_does_not_rise_is_a_stagnation_with_blockers_and_without() {
    for missed in [&["a.correctness.accuracy"][..], &["a.completeness.examples", "a.quality.clarity"]] {
        let drive = play(plan(Template::Docs), &|_, rule| Some(!missed.contains(&rule)));
        assert_eq!((ended(&drive), drive.run.stagnation()), ((Reason::Stagnation, 3), 2));
    }
    assert_eq!(Reason::Stagnation.status(), Status::Stopped);
}

#[test]
fn an_artifact_that_comes_back_twice_oscillates_and_that_goes_before_the_stall_and_the_limit() {
    let drive = play_with(
        plan(Template::Docs),
        &|nth, rule| {
            Some(rule != "a.correctness.accuracy" && (nth == 1 || rule != "a.completeness.sections"))
        },
        |_, step| match step {
            Step::Refine { artifact, .. } if *artifact == draft("draft 1").tree => Some(written("draft 0")),
            Step::Produce { from: Some(_), .. } => Some(written("draft 1")),
            _ => None,
        },
    );
    assert_eq!((ended(&drive), drive.run.state.iteration), ((Reason::Oscillation, 4), 4));
    assert_eq!(drive.run.result(), Some(&draft("draft 1")));
}

/// Each draft is better, and none is good enough.
fn rising(nth: usize, rule: &str) -> bool {
    let order = ["a.correctness.accuracy", "a.completeness.sections", "a.completeness.examples"];
    order.iter().rev().skip(nth).all(|missed| *missed != rule)
}

#[test]
fn iterations_run_out_after_as_many_evaluations() {
    let mut plan = plan(Template::Docs);
    plan.task.rules.max_iterations = 2;
    let drive = play(plan, &rising);
    assert_eq!((ended(&drive), drive.run.state.iteration), ((Reason::IterationLimit, 2), 2));
    assert_eq!(Reason::IterationLimit.status(), Status::Stopped);
}

/// Returns a run with this limit on the seconds of completed phases, at the end of its plan.
fn planned(max_seconds: Option<u64>, steps: impl FnOnce(&mut Drive)) -> Run {
    let mut plan = plan(Template::Docs);
    plan.task.rules.max_seconds = max_seconds;
    let mut drive = Drive::start(plan);
    assert_eq!(drive.due(1), [Step::Plan { iteration: 1 }]);
    steps(&mut drive);
    drive.due(1);
    drive.run
}

fn plan_after(drive: &mut Drive, seconds: i64) {
    let step = Step::Plan { iteration: 1 };
    let outcome = answer(&drive.run, &step, &rising);
    drive.done_after(seconds, step, outcome);
}

#[test]
fn time_is_that_of_completed_phases_and_a_second_try_is_a_part_of_its_phase() {
    // The decision that ends the phase takes one more second.
    assert_eq!(planned(None, |drive| plan_after(drive, 9)).state.clock.seconds(), 10);
    let tried_twice = planned(None, |drive| {
        drive.done_after(20, Step::Plan { iteration: 1 }, failed(FailureKind::OffSchema));
        drive.due(1);
        plan_after(drive, 9);
    });
    assert_eq!(tried_twice.state.clock.seconds(), 30);
    let stopped = planned(None, |drive| drive.record_after(50, user_stop(None)));
    assert_eq!(stopped.state.clock.seconds(), 0);
}

#[test]
fn a_phase_that_was_broken_off_counts_nothing_of_what_it_took_before() {
    let resumed = || Event::Noted(Signal::Resumed { program: "1".into() });
    let interrupted = planned(None, |drive| {
        drive.record_after(100, Event::Noted(Signal::Paused(Pause::Interrupted)));
        drive.record_after(1000, resumed());
        plan_after(drive, 9);
    });
    assert_eq!(interrupted.state.clock.seconds(), 10);
    let killed = planned(None, |drive| {
        drive.record_after(1000, resumed());
        plan_after(drive, 9);
    });
    assert_eq!(killed.state.clock.seconds(), 10);
}

#[test]
fn time_used_up_ends_the_run_between_two_phases_and_not_in_one() {
    let reason = |run: &Run| run.state.stop.as_ref().map(|stop| stop.reason);
    let over = planned(Some(10), |drive| plan_after(drive, 9));
    assert_eq!((reason(&over), over.closed_at.is_some()), (Some(Reason::BudgetExceeded), true));
    assert_eq!(Reason::BudgetExceeded.status(), Status::Stopped);
    let below = planned(Some(10), |drive| plan_after(drive, 8));
    assert_eq!((reason(&below), below.state.phase), (None, Some(Phase::ProducePrepare)));
}

#[test]
fn produce_and_prepare_are_one_phase_whose_time_is_not_added_up() {
    let run = planned(None, |drive| {
        plan_after(drive, 9);
        let both = drive.due(2);
        assert_eq!(both.len(), 2);
        for (step, seconds) in both.into_iter().zip([20, 30]) {
            let outcome = answer(&drive.run, &step, &rising);
            drive.done_after(seconds, step, outcome);
        }
    });
    // Entering and ending took a second each; both answers arrived within fifty.
    assert_eq!(run.state.clock.seconds(), 10 + 51);
}

#[test]
fn an_answer_that_keeps_no_contract_is_asked_for_once_more_and_then_the_run_has_failed() {
    let errors = |drive: &Drive| {
        let is_error = |note: &Note| matches!(note, Note::PhaseError { .. });
        drive.run.state.story.iter().filter(|line| is_error(&line.note)).count()
    };
    let off = |run: &Run, step: &Step, tries: u32| {
        (matches!(step, Step::Critique { .. }) && run.attempts(step) < tries)
            .then(|| failed(FailureKind::OffSchema))
    };
    let twice = play_with(plan(Template::Docs), &rising, |run, step| off(run, step, 2));
    assert_eq!((ended(&twice), errors(&twice)), ((Reason::PhaseError, 1), 2));
    assert_eq!(twice.run.state.stop.as_ref().unwrap().note.as_deref(), Some("the world would not"));
    assert_eq!(Reason::PhaseError.status(), Status::Failed);
    let once = play_with(plan(Template::Docs), &rising, |run, step| off(run, step, 1));
    let error_line = once.run.state.story.iter().find(|line| matches!(line.note, Note::PhaseError { .. }));
    assert_eq!((error_line.unwrap().phase, error_line.unwrap().iteration), (Phase::Critique, 1));
    assert_ne!(ended(&once).0, Reason::PhaseError);
}

#[test]
fn a_text_that_was_not_judged_is_delivered_unless_the_run_failed() {
    for reason in Reason::ALL {
        let mut drive = Drive::start(plan(Template::Docs));
        while drive.run.state.artifact.is_none() {
            let step = drive.due(1).remove(0);
            let outcome = answer(&drive.run, &step, &rising);
            drive.done(step, outcome);
            drive.due(1);
        }
        drive.record(Event::Decided(Decision::Stop(reason.into())));
        assert_eq!(drive.run.result(), Some(&draft("draft 0")));
        let is_delivered = drive.run.deliverable().is_some();
        assert_eq!(is_delivered, reason != Reason::PhaseError, "{reason:?}");
    }
    let failing =
        |_: &Run, step: &Step| matches!(step, Step::Critique { .. }).then(|| failed(FailureKind::OffSchema));
    let judged = play_with(plan(Template::Docs), &rising, failing).run;
    assert_eq!((judged.status(), judged.deliverable()), (Status::Failed, Some(&draft("draft 0"))));
}

#[test]
fn an_answer_of_the_same_moment_as_the_failure_before_it_is_no_failure() {
    let run = planned(None, |drive| {
        drive.done(Step::Plan { iteration: 1 }, failed(FailureKind::OffSchema));
        drive.due(1);
        plan_after(drive, 0);
    });
    let errors = run.state.story.iter().filter(|line| matches!(line.note, Note::PhaseError { .. }));
    assert_eq!(errors.count(), 1);
}

fn user_stop(note: Option<&str>) -> Event {
    let note = note.map(str::to_owned);
    Event::Decided(Decision::Stop(Stop { reason: Reason::UserStop, note }))
}

#[test]
fn a_person_stops_a_run_in_any_phase_and_it_keeps_its_best() {
    let mut drive = Drive::start(plan(Template::Docs));
    while !matches!(drive.run.state.phase, Some(Phase::Refine)) {
        let step = drive.due(1).remove(0);
        if !matches!(step, Step::Refine { .. }) {
            let outcome = answer(&drive.run, &step, &rising);
            drive.done(step, outcome);
        }
    }
    drive.record(user_stop(Some("enough")));
    assert_eq!(drive.due(9), []);
    assert_eq!(ended(&drive), (Reason::UserStop, 1));
    assert_eq!(Reason::UserStop.status(), Status::Stopped);
    assert_eq!(drive.run.result(), Some(&draft("draft 0")));
}

#[test]
fn completion_is_never_called_a_resource() {
    let mut plan = plan(Template::Api);
    (plan.task.rules.max_iterations, plan.task.rules.max_seconds) = (1, Some(13));
    assert_eq!(ended(&play(plan, &|_, _| Some(true))), (Reason::ThresholdReached, 2));
}
