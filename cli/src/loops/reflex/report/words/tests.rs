use skilltune_phases::loops::reflex::{Decision, Event};

use super::*;
use crate::loops::reflex::world::{missing, plan};
use crate::loops::tune::world::Play;

/// Returns a run that has judged one artifact at level A and then ended for this reason.
fn ended(reason: Reason, note: Option<&str>) -> Run {
    let mut asked = plan();
    asked.task.rules.max_seconds = Some(600);
    let mut play = Play::begin(asked);
    let mut answer = missing(&[&["a.correctness.schemas"]]);
    while play.run.state.judged.is_empty() {
        play.advance(&mut answer).unwrap();
    }
    let stop = Stop { reason, note: note.map(Into::into) };
    play.record(Event::Decided(Decision::Stop(stop)));
    play.record(Event::Decided(Decision::Close));
    play.run
}

#[test]
fn every_end_has_its_sentence() {
    let outcomes = Reason::ALL.map(|reason| outcome_text(&ended(reason, None)));
    insta::assert_snapshot!(outcomes.join("\n"), @r"
        The run is completed (threshold_reached): level B passed.
        The run is completed (no_major_issues): it is below the goal of level B by 8.6, and only warnings are left.
        The run is stopped (user_stop): a person stopped it.
        The run is failed (phase_error): a phase gave no usable answer.
        The run is stopped (oscillation): the artifact returned to an earlier version twice.
        The run is stopped (stagnation): the score stopped rising.
        The run is stopped (budget_exceeded): its phases took 9s, and the limit is 10m 00s.
        The run is stopped (iteration_limit): maximum of 4 iterations reached.
    ");
    let outcomes = [Reason::UserStop, Reason::PhaseError]
        .map(|reason| outcome_text(&ended(reason, Some("had\nenough."))));
    insta::assert_snapshot!(outcomes.join("\n"), @r"
        The run is stopped (user_stop): a person stopped it: had enough.
        The run is failed (phase_error): a phase gave no usable answer: had enough.
        ");
}

#[test]
fn time_that_is_used_up_is_told_beside_what_was_allowed() {
    let mut run = ended(Reason::BudgetExceeded, None);
    run.state.clock.completed_ms = 723_000;
    insta::assert_snapshot!(outcome_text(&run), @"The run is stopped (budget_exceeded): its phases took 12m 03s, and the limit is 10m 00s.");
    insta::assert_snapshot!(aim(&run), @"api rules, level A from 80, level B from 90; 4 iterations, 10m 00s of completed phases at most");
}

#[test]
fn what_was_not_judged_has_neither_score_nor_distance() {
    let run = Play::begin(plan()).run;
    assert_eq!((score(&run, None), distance(&run, None)), (None, None));
    assert_eq!(artifact(&run, Some("0badc0de")), "not_created");
}
