//! Tests that reach each stop rule and each outcome of a run.

use skilltune_phases::base::ending::Class;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::stop::Reason;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::results::ending::RunOutcome;
use skilltune_phases::loops::tune::results::proposing;
use skilltune_phases::loops::tune::{Answer, Apply, Ending, Event, Plan, Run, Step, Tune, Verdict};
use skilltune_phases::runs::event::{FailureKind, Pause, Signal};
use skilltune_phases::runs::proposal::Form;
use skilltune_phases::skills::offline;

use crate::drive::OUTAGES;
use crate::world::{Drive, failed, improved, judged, nth, plan, points, tree, well};

/// Runs a single skill on one scenario: each improvement is a new draft, and each trial has the given score.
fn run_with(plan: Plan, mut score: impl FnMut(&Run, u32, usize) -> usize) -> Run {
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Judge { candidate, trial, .. } => {
            let nth = nth(run, *candidate);
            judged(run, score(run, trial.ordinal, nth), &[])
        }
        _ => well(run, step, 0),
    });
    drive.run
}

fn rising(_: &Run, _: u32, nth: usize) -> usize {
    50 + 5 * nth
}

#[test]
fn a_start_above_the_threshold_ends_the_run_and_nothing_is_compared() {
    let run = run_with(plan(1, 1), |_, _, _| 95);
    assert_eq!((run.state.stopped, run.state.closed), (Some(Reason::Reached), Some(Ending::Unchanged)));
    assert_eq!(run.state.shipment.as_ref().unwrap().verdict, Verdict::Unchallenged);
    assert_eq!((run.class(), run.outcome()), (Class::Reached, RunOutcome::Unchanged));
    assert_eq!(run.ledger.total().calls, 2);
}

#[test]
fn a_draft_above_the_threshold_is_compared_and_shipped() {
    let run = run_with(plan(1, 1), |_, _, nth| if nth == 0 { 60 } else { 92 });
    assert_eq!((run.state.stopped, run.state.closed), (Some(Reason::Reached), Some(Ending::Applied)));
    assert_eq!(run.state.shipment.as_ref().unwrap().verdict, Verdict::Won);
    assert_eq!((run.class(), run.outcome()), (Class::Reached, RunOutcome::Improved));
    assert_eq!((run.initial_score(), run.final_score()), (Some(points(60.0)), Some(points(92.0))));
}

#[test]
fn rounds_run_out_after_as_many_measurements_and_one_edit_less() {
    let run = run_with(plan(1, 1), rising);
    assert_eq!(run.state.stopped, Some(Reason::Exhausted));
    assert_eq!((run.state.rounds.len(), run.state.candidates.len() - 1), (5, 4));
    assert_eq!((run.class(), run.outcome()), (Class::Short, RunOutcome::Improved));
}

/// The built-in improver finds nothing. A round tries each member once, and no round repeats a measurement.
#[test]
fn an_improver_that_repeats_itself_ends_the_search_when_it_has_tried_every_member() {
    for members in [1, 3] {
        let mut plan = plan(members, 1);
        offline::NAME.clone_into(&mut plan.roles.of_mut(&Role::IMPROVER).agent);
        let mut drive = Drive::start(plan.clone());
        drive.finish_alone(|run, step| match step {
            Step::Improve { .. } => failed(FailureKind::Gate),
            _ => well(run, step, 50),
        });
        let run = &drive.run;
        assert_eq!((run.state.stopped, run.state.rounds.len()), (Some(Reason::Finished), 1), "{members}");
        assert_eq!(run.state.rounds[0].failed_edits.len(), members);
        assert!(
            u64::from(run.ledger.of(&Role::IMPROVER).calls) <= *Tune::most_calls(&plan).of(&Role::IMPROVER)
        );
    }
    let mut other = plan(1, 1);
    "claude".clone_into(&mut other.roles.of_mut(&Role::IMPROVER).agent);
    let mut drive = Drive::start(other);
    drive.finish_alone(|run, step| match step {
        Step::Improve { .. } => failed(FailureKind::Gate),
        _ => well(run, step, 50),
    });
    assert_ne!(
        drive.run.state.stopped,
        Some(Reason::Finished),
        "a model may have another idea in the next round"
    );
}

#[test]
fn without_a_command_to_run_the_built_in_judge_shows_structure_only() {
    let mut plan = plan(1, 2);
    assert!(!plan.is_structural());
    offline::NAME.clone_into(&mut plan.roles.of_mut(&Role::EVALUATOR).agent);
    plan.task.scenarios[1].command = Some(vec!["sh".to_owned()]);
    assert!(plan.is_structural(), "another executor runs no command");
    offline::NAME.clone_into(&mut plan.roles.of_mut(&Role::EXECUTOR).agent);
    assert!(!plan.is_structural());
    plan.task.scenarios[1].command = None;
    assert!(plan.is_structural());
}

#[test]
fn a_best_that_no_longer_rises_is_a_stall() {
    let run = run_with(plan(1, 1), |_, _, nth| 50 + nth);
    assert_eq!((run.state.stopped, run.state.rounds.len()), (Some(Reason::Stalled), 3));
}

#[test]
fn a_regression_is_no_stall_while_the_best_has_just_risen() {
    let run = run_with(plan(1, 1), |_, _, nth| [50, 70, 65, 66, 66][nth]);
    assert_eq!((run.state.stopped, run.state.rounds.len()), (Some(Reason::Stalled), 4));
}

#[test]
fn an_improver_that_undoes_its_own_work_oscillates_and_that_is_seen_before_the_stall() {
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Judge { candidate, .. } => judged(run, if *candidate == run.start() { 50 } else { 58 }, &[]),
        Step::Improve { base, .. } if *base == run.start() => improved("other"),
        Step::Improve { .. } => improved("start 0"),
        _ => well(run, step, 0),
    });
    assert_eq!((drive.run.state.stopped, drive.run.state.rounds.len()), (Some(Reason::Oscillating), 4));
}

#[test]
fn three_failed_rounds_in_a_row_end_the_run_and_nothing_is_judged() {
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|_, _| failed(FailureKind::Crashed));
    let run = drive.run;
    assert_eq!((run.state.stopped, run.state.rounds.len(), run.errors.len()), (Some(Reason::Failed), 3, 6));
    assert_eq!((run.class(), run.outcome()), (Class::Unjudged, RunOutcome::Unjudged));
}

#[test]
fn an_improver_that_never_answers_is_a_failure_and_no_stall() {
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Improve { .. } => failed(FailureKind::Crashed),
        _ => well(run, step, 50),
    });
    let run = drive.run;
    assert_eq!((run.state.stopped, run.state.rounds.len(), run.errors.len()), (Some(Reason::Failed), 3, 6));
    assert_eq!((run.class(), run.outcome()), (Class::Unjudged, RunOutcome::Unjudged));
}

#[test]
fn failures_that_are_not_in_a_row_do_not_end_the_run() {
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Judge { .. } if run.round_number() % 2 == 0 && run.state.stopped.is_none() => {
            failed(FailureKind::OffSchema)
        }
        Step::Judge { candidate, .. } => {
            let nth = nth(run, *candidate);
            judged(run, rising(run, 0, nth), &[])
        }
        _ => well(run, step, 0),
    });
    assert_eq!((drive.run.state.stopped, drive.run.state.rounds.len()), (Some(Reason::Exhausted), 5));
}

#[test]
fn a_goal_that_is_reached_in_the_last_round_is_reached() {
    let mut plan = plan(1, 1);
    plan.task.rules.max_iterations = 1;
    assert_eq!(run_with(plan, |_, _, _| 95).state.stopped, Some(Reason::Reached));
}

#[test]
fn a_champion_that_loses_on_fresh_trials_leaves_the_target_alone() {
    let lucky = |_: &Run, ordinal: u32, nth: usize| if ordinal == 0 { 50 + 10 * nth } else { 50 };
    let run = run_with(plan(1, 1), lucky);
    assert_eq!(run.state.shipment.as_ref().unwrap().verdict, Verdict::Lost);
    assert_eq!((run.state.closed, run.outcome()), (Some(Ending::Unchanged), RunOutcome::Unchanged));
    assert_eq!(run.state.shipment.as_ref().unwrap().champion, run.start());
}

#[test]
fn a_comparison_that_cannot_be_judged_ships_nothing() {
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Judge { trial, .. } if trial.ordinal > 0 => failed(FailureKind::OffSchema),
        Step::Judge { candidate, .. } => judged(run, if *candidate == run.start() { 50 } else { 95 }, &[]),
        Step::Improve { .. } => improved("draft"),
        _ => well(run, step, 0),
    });
    assert_eq!(drive.run.state.shipment.as_ref().unwrap().verdict, Verdict::Unjudged);
    assert_eq!((drive.run.class(), drive.run.outcome()), (Class::Unjudged, RunOutcome::Unjudged));
}

#[test]
fn a_champion_that_is_not_wanted_in_the_target_is_kept() {
    let mut plan = plan(1, 1);
    plan.task.apply = Apply::Never;
    assert_eq!(run_with(plan.clone(), rising).outcome(), RunOutcome::Kept);
    plan.task.apply = Apply::Ask;
    assert_eq!(run_with(plan, rising).outcome(), RunOutcome::Kept);
}

#[test]
fn a_champion_that_is_to_be_a_commit_is_proposed_or_kept_with_the_reason() {
    let mut plan = plan(1, 1);
    plan.task.apply = Apply::Propose(Form::Patch);
    let run = run_with(plan.clone(), rising);
    assert_eq!(run.outcome(), RunOutcome::Proposed);
    assert!(run.proposed().is_some_and(|proposed| proposed.is_ok()));
    let champion = run.candidate(run.state.shipment.as_ref().unwrap().champion).unwrap();
    let words = proposing::words(&run, champion);
    assert_eq!(words.at, run.state.shipped_at.unwrap());
    assert!(words.message.contains("\nSkilltune-Verdict: higher\n"), "{}", words.message);

    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Propose { .. } => Ok(Answer::NotProposed { why: "no repository".into() }),
        Step::Judge { candidate, .. } => judged(run, if *candidate == run.start() { 50 } else { 95 }, &[]),
        _ => well(run, step, 0),
    });
    assert_eq!((drive.run.outcome(), drive.run.proposed()), (RunOutcome::Kept, Some(Err("no repository"))));
}

#[test]
fn a_persons_edit_in_the_target_is_a_conflict_and_no_success() {
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Promote { .. } => Ok(Answer::Conflict { found: vec![tree("theirs")] }),
        Step::Judge { candidate, .. } => judged(run, if *candidate == run.start() { 50 } else { 95 }, &[]),
        _ => well(run, step, 0),
    });
    assert_eq!((drive.run.class(), drive.run.outcome()), (Class::Short, RunOutcome::Conflict));
}

#[test]
fn a_promotion_that_fails_too_often_leaves_the_champion_in_the_run() {
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Promote { .. } => failed(FailureKind::Gate),
        Step::Judge { candidate, .. } => judged(run, if *candidate == run.start() { 50 } else { 95 }, &[]),
        _ => well(run, step, 0),
    });
    assert_eq!((drive.run.outcome(), drive.run.handed_over()), (RunOutcome::Kept, None));
}

#[test]
fn a_round_with_too_few_judged_scenarios_has_no_score() {
    let mut drive = Drive::start(plan(1, 4));
    drive.finish(
        2,
        |_| 0,
        |run, step| match step {
            Step::Judge { trial, .. } if trial.scenario == 2 => failed(FailureKind::Empty),
            _ => well(run, step, 95),
        },
    );
    let measured = drive.run.state.rounds[0].measured.as_ref().unwrap();
    assert_eq!((measured.score, measured.judged, measured.of), (None, 3, 4));
    assert_eq!(drive.run.state.stopped, Some(Reason::Failed));
}

#[test]
fn what_no_other_try_mends_blocks_the_run_until_it_is_taken_up_and_costs_the_step_none_of_its_tries() {
    let mut drive = Drive::start(plan(1, 1));
    for time in 1..=3 {
        let step = drive.due(1).remove(0);
        assert_eq!(drive.run.attempts(&step), time - 1, "each try is a call of its own");
        drive.done(step.clone(), failed(FailureKind::Authentication));
        assert_eq!(drive.run.blocked.as_ref().unwrap().failure.kind, FailureKind::Authentication);
        assert_eq!(drive.run.last_failure(&step), None, "nothing is to be told to the agent");
        assert_eq!(drive.due(1), [step], "it is not given up");
        drive.record(Event::Noted(Signal::Paused(Pause::Blocked)));
        drive.record(Event::Noted(Signal::Resumed { program: "1".into() }));
        assert_eq!((&drive.run.blocked, drive.run.paused), (&None, None));
    }
    let step = drive.due(1).remove(0);
    drive.done(step.clone(), failed(FailureKind::Crashed));
    assert_eq!((drive.due(1), drive.run.round_number()), (vec![step.clone()], 1));
    drive.done(step, failed(FailureKind::Crashed));
    drive.due(1);
    assert_eq!(drive.run.round_number(), 2, "two tries are all that it has in a round");
    assert_eq!(Run::replay(&drive.records).unwrap(), drive.run);
}

#[test]
fn a_service_that_stays_away_pauses_the_run_and_costs_the_step_none_of_its_tries() {
    for kind in OUTAGES {
        let mut drive = Drive::start(plan(1, 1));
        let step = drive.due(1).remove(0);
        drive.done(step.clone(), failed(FailureKind::OffSchema));
        for _ in 0..5 {
            drive.done(step.clone(), failed(kind));
            assert_eq!(drive.run.blocked, None, "{kind:?}: it is asked once more");
            drive.done(step.clone(), failed(kind));
            assert_eq!(drive.run.blocked.as_ref().unwrap().failure.kind, kind);
            assert_eq!(drive.due(1), std::slice::from_ref(&step), "it is not given up");
            let reported = drive.run.last_failure(&step).map(|failure| failure.kind);
            assert_eq!(reported, Some(FailureKind::OffSchema), "its own failure is still to be told");
            drive.record(Event::Noted(Signal::Paused(Pause::Blocked)));
            drive.record(Event::Noted(Signal::Resumed { program: "1".into() }));
            assert_eq!(drive.run.blocked, None);
        }
        drive.done(step, failed(FailureKind::OffSchema));
        drive.due(1);
        assert_eq!(drive.run.round_number(), 2, "two failures of its own");
        assert_eq!(Run::replay(&drive.records).unwrap(), drive.run);
    }
}

#[test]
fn a_call_that_was_at_work_when_its_deadline_passed_has_failed_by_itself() {
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Exercise { .. } => failed(FailureKind::TimedOut),
        _ => well(run, step, 0),
    });
    assert_eq!((drive.run.state.stopped, drive.run.blocked), (Some(Reason::Stalled), None));
}
