//! Two versions, compared without a search.

use skilltune_phases::base::ending::Class;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::results::ending::RunOutcome;
use skilltune_phases::loops::tune::results::{state_file, trials};
use skilltune_phases::loops::tune::{
    Aim, Basis, Ending, Outcome, Plan, Run, Shipment, Sides, Step, Tune, Verdict,
};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::scenario::Scenario;

use crate::drive::{assert_fold_is_live, picker, recast, tree};
use crate::world::{Drive, demanding, failed, judged, nth, plan, random_answer, well};

fn against(tree: TreeId, plan: Plan) -> Plan {
    let mut plan = plan;
    plan.task.aim = Aim::Compare(Box::new(Sides {
        start: "old".into(),
        challenger: "new".into(),
        trees: vec![tree],
        regraded: None,
    }));
    plan
}

/// Plans six scenarios.
fn two() -> Plan {
    against(tree("challenger"), plan(1, 6))
}

/// The start scores 50 everywhere.
fn scored(own: usize) -> impl Fn(&Run, &Step) -> Outcome {
    move |run, step| match step {
        Step::Judge { candidate, .. } => judged(run, if nth(run, *candidate) == 0 { 50 } else { own }, &[]),
        _ => well(run, step, 0),
    }
}

fn finished(own: usize) -> Drive {
    let mut drive = Drive::start(two());
    drive.finish_alone(scored(own));
    drive
}

fn shipment(run: &Run) -> &Shipment {
    run.state.shipment.as_ref().expect("the run has come to its end")
}

#[test]
fn the_two_meet_on_all_scenarios_at_once_and_nothing_else_is_asked_for() {
    let mut drive = Drive::start(two());
    let (mut scenarios, mut others) = (Vec::new(), Vec::new());
    drive.finish_alone(|run, step| {
        match step {
            Step::Exercise { trial, .. } => scenarios.push(trial.scenario),
            Step::Judge { .. } => {}
            other => others.push(other.clone()),
        }
        // The result is not clear before the end.
        scored(45 + 10 * (step.trial().map_or(0, |trial| trial.scenario) % 2))(run, step)
    });
    scenarios.sort_unstable();
    assert_eq!((scenarios, others), (vec![0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], Vec::new()));
    let run = &drive.run;
    assert_eq!((run.plan.basis(), run.state.closed), (Basis::All, Some(Ending::Compared)));
    assert_eq!((run.outcome(), run.state.rounds.len()), (RunOutcome::Compared, 0));
}

#[test]
fn only_a_win_is_a_success() {
    for (own, verdict, class) in [
        (90, Verdict::Won, Class::Reached),
        (20, Verdict::Lost, Class::Short),
        (50, Verdict::Tied, Class::Short),
    ] {
        let drive = finished(own);
        assert_eq!((shipment(&drive.run).verdict, drive.run.class()), (verdict, class));
    }
    let mut missing = Drive::start(two());
    missing.finish_alone(|run, step| match step {
        Step::Judge { candidate, .. } if nth(run, *candidate) == 1 => failed(FailureKind::OffSchema),
        _ => scored(90)(run, step),
    });
    assert_eq!((shipment(&missing.run).verdict, missing.run.class()), (Verdict::Unjudged, Class::Unjudged));
}

#[test]
fn a_version_that_is_no_skill_is_compared_like_any_other_and_its_trials_are_none_of_a_skill() {
    let mut plan = against(TreeId::EMPTY, demanding(plan(1, 12)));
    plan.task.scenarios = plan.task.scenarios.iter().filter_map(Scenario::without_skill).collect();
    let mut drive = Drive::start(plan);
    let mut without = 0;
    drive.finish_alone(|run, step| {
        without += usize::from(matches!(step, Step::Exercise { skill: TreeId::EMPTY, .. }));
        well(run, step, 50)
    });
    assert_eq!((without, shipment(&drive.run).verdict), (6, Verdict::Tied));
    let trials = trials::judged_trials(&drive.run);
    assert!(trials.len() == 6 && trials.iter().all(|one| one.candidate == drive.run.start()), "{trials:?}");
}

#[test]
fn an_agent_that_changes_in_the_middle_begins_the_comparison_anew() {
    let mut drive = Drive::start(two());
    while drive.run.state.measure.settled() < 3 {
        let step = drive.due(1).pop().expect("there are more");
        let outcome = scored(90)(&drive.run, &step);
        drive.done(step, outcome);
    }
    recast(&mut drive, &Role::EXECUTOR);
    assert_eq!(drive.run.state.measure.settled(), 0);
    drive.finish_alone(scored(90));
    assert_eq!(shipment(&drive.run).verdict, Verdict::Won);
}

#[test]
fn the_same_answers_give_the_same_verdict_in_any_order_and_the_fold_is_the_live_state() {
    for world in 0..30 {
        let answer = |run: &Run, step: &Step| random_answer(world, run, step);
        let mut alone = Drive::start(two());
        alone.finish_alone(answer);
        let mut crowded = Drive::start(two());
        crowded.finish(4, picker(vec![3, 1, 2]), answer);
        assert_eq!(alone.decisions(), crowded.decisions());
        assert_fold_is_live(two(), vec![2, 0, 1], state_file::text, answer);
    }
}

#[test]
fn no_run_makes_more_calls_than_were_named_and_none_of_an_improver() {
    let most = Tune::most_calls(&two());
    assert_eq!(most.get(&Role::IMPROVER), None);
    let mut drive = Drive::start(two());
    let (mut executed, mut judged) = (0, 0);
    drive.finish_alone(|run, step| {
        executed += u64::from(step.role() == Some(Role::EXECUTOR));
        judged += u64::from(step.role() == Some(Role::EVALUATOR));
        if run.attempts(step) == 0 { failed(FailureKind::Crashed) } else { scored(90)(run, step) }
    });
    assert!(executed <= *most.of(&Role::EXECUTOR) && judged <= *most.of(&Role::EVALUATOR), "{most:?}");
}
