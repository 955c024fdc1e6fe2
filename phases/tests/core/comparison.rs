//! The final comparison: which candidates ship.

use skilltune_phases::base::ending::Class;
use skilltune_phases::judging::contract::Verdict as Found;
use skilltune_phases::loops::tune::trial::measure::{self, SEARCH};
use skilltune_phases::loops::tune::{
    AgentRequest, Apply, Basis, Choice, Decision, Ending, Event, FailOn, FailReason, Hold, Outcome, Plan,
    Run, Shipment, Step, Trial, Verdict,
};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::runs::run::NotARun;
use skilltune_phases::skills::target::Place;

use crate::world::{Drive, demanding, failed, judged, nth, plan, points, stated, tree, well};

/// Plans one draft with this many scenarios, all but two held out.
fn suite(scenarios: usize) -> Plan {
    let mut plan = plan(1, scenarios);
    plan.task.rules.max_iterations = 2;
    for scenario in &mut plan.task.scenarios[2..] {
        scenario.held_out = true;
    }
    plan
}

/// The draft is far better in the search and has the given scores in fresh trials; the start scores 50 everywhere.
fn run_with(plan: Plan, fresh: impl Fn(Trial) -> usize) -> Drive {
    answered(plan, |run, trial, is_start| match (trial.ordinal, is_start) {
        (_, true) => judged(run, 50, &[]),
        (SEARCH, false) => judged(run, 85, &[]),
        (_, false) => judged(run, fresh(trial), &[]),
    })
}

fn answered(plan: Plan, judge: impl Fn(&Run, Trial, bool) -> Outcome) -> Drive {
    let mut drive = Drive::start(plan);
    drive.finish(
        3,
        |_| 0,
        |run, step| match step {
            Step::Judge { candidate, trial, .. } => judge(run, *trial, nth(run, *candidate) == 0),
            _ => well(run, step, 0),
        },
    );
    drive
}

fn shipment(drive: &Drive) -> &Shipment {
    drive.run.state.shipment.as_ref().expect("the run has come to its end")
}

fn verdict(drive: &Drive) -> (Verdict, Option<Ending>) {
    (shipment(drive).verdict, drive.run.state.closed)
}

/// Returns the steps in the order of their answers.
fn steps(drive: &Drive) -> Vec<Step> {
    let done = drive.records.iter().filter_map(|record| match &record.event {
        Event::Done(done) => Some(done.step.clone()),
        _ => None,
    });
    done.collect()
}

fn fresh_calls(drive: &Drive) -> usize {
    let is_fresh = |step: &Step| matches!(step, Step::Exercise { trial, .. } if trial.ordinal > SEARCH);
    steps(drive).into_iter().filter(is_fresh).count()
}

#[test]
fn a_clear_win_ships_and_its_effect_has_bounds() {
    let drive = run_with(suite(6), |_| 90);
    assert_eq!(verdict(&drive), (Verdict::Won, Some(Ending::Applied)));
    let Shipment { effect: Some(effect), pairs, .. } = shipment(&drive) else { panic!("it was tested") };
    assert_eq!((effect.points, pairs.len()), (40.0, 4));
    assert!(effect.lower > 0.0 && effect.upper >= 40.0, "{effect:?}");
    assert_eq!((drive.run.final_score(), drive.run.class()), (Some(points(90.0)), Class::Reached));
}

#[test]
fn a_win_below_the_threshold_ships_and_is_no_goal_reached() {
    let drive = run_with(suite(6), |_| 70);
    assert_eq!((verdict(&drive), drive.run.class()), ((Verdict::Won, Some(Ending::Applied)), Class::Short));
}

#[test]
fn three_pairs_better_and_one_worse_are_no_win_at_nine_in_ten() {
    let drive = run_with(suite(6), |trial| if trial.scenario == 3 { 30 } else { 90 });
    assert_eq!(verdict(&drive), (Verdict::Indecisive, Some(Ending::Unchanged)));
    assert_eq!((shipment(&drive).champion, drive.run.class()), (drive.run.start(), Class::Short));
}

#[test]
fn a_draft_that_is_worse_everywhere_lost_and_one_like_the_start_tied() {
    assert_eq!(verdict(&run_with(suite(6), |_| 30)), (Verdict::Lost, Some(Ending::Unchanged)));
    assert_eq!(verdict(&run_with(suite(6), |_| 51)).0, Verdict::Won, "one point, but every time");
    assert_eq!(verdict(&run_with(suite(6), |_| 50)), (Verdict::Tied, Some(Ending::Unchanged)));
}

#[test]
fn what_is_clear_at_the_first_look_needs_no_other_trial() {
    let clear = run_with(suite(14), |_| 90);
    assert_eq!(
        (verdict(&clear).0, shipment(&clear).interim_analyses, fresh_calls(&clear)),
        (Verdict::Won, 1, 2 * 8)
    );
    let open = run_with(suite(14), |trial| if trial.scenario.is_multiple_of(2) { 45 } else { 60 });
    assert_eq!((shipment(&open).interim_analyses, fresh_calls(&open)), (2, 2 * 12));
    let inconclusive = open.decisions().into_iter().filter(|one| matches!(one, Decision::LookAgain { .. }));
    assert_eq!(inconclusive.count(), 1);
}

#[test]
fn what_never_came_to_an_end_counts_against_the_draft_and_is_not_tried_again() {
    let mut drive = Drive::start(suite(14));
    let is_third = |trial: &Trial| trial.ordinal > SEARCH && trial.scenario.is_multiple_of(3);
    drive.finish_alone(|run, step| match step {
        Step::Exercise { skill, trial, .. }
            if *skill != run.state.candidates[0].trees[0] && is_third(trial) =>
        {
            failed(FailureKind::TimedOut)
        }
        Step::Judge { candidate, .. } => judged(run, if nth(run, *candidate) == 0 { 50 } else { 85 }, &[]),
        _ => well(run, step, 0),
    });
    assert_ne!(verdict(&drive).0, Verdict::Won);
    let zeros = shipment(&drive).pairs.iter().filter(|pair| pair.challenger == points(0.0)).count();
    assert_eq!((zeros, drive.run.errors.len()), (4, 4), "each was tried once");
}

#[test]
fn what_could_not_be_judged_is_missing_and_never_zero() {
    let drive = answered(suite(14), |run, trial, is_start| match (trial.ordinal, is_start) {
        (SEARCH, _) | (_, true) => judged(run, if is_start { 50 } else { 85 }, &[]),
        _ if trial.scenario.is_multiple_of(5) => failed(FailureKind::OffSchema),
        _ => judged(run, if trial.scenario.is_multiple_of(2) { 45 } else { 60 }, &[]),
    });
    assert_eq!(verdict(&drive), (Verdict::Unjudged, Some(Ending::Unchanged)), "one version lacks a sixth");
    assert_eq!(drive.run.class(), Class::Unjudged);
    assert!(shipment(&drive).pairs.iter().all(|pair| pair.challenger > points(0.0)));
}

#[test]
fn both_versions_are_tried_side_by_side_and_neither_is_always_the_first() {
    let drive = run_with(suite(14), |trial| if trial.scenario.is_multiple_of(2) { 45 } else { 60 });
    let fresh = steps(&drive).into_iter().filter_map(|step| match step {
        Step::Exercise { skill, trial, .. } if trial.ordinal > SEARCH => Some((trial.scenario, skill)),
        _ => None,
    });
    let fresh: Vec<_> = fresh.collect();
    let start = drive.run.state.candidates[0].trees[0];
    assert!(fresh.chunks(2).all(|pair| pair[0].0 == pair[1].0), "{fresh:?}");
    let begins = fresh.chunks(2).filter(|pair| pair[0].1 == start).count();
    assert!((2..=10).contains(&begins), "{begins} of 12");
}

#[test]
fn a_scenario_that_fell_is_tried_again_and_a_fall_that_stays_refuses_the_winner() {
    let fell = measure::planned(&suite(14))[0];
    let drive = run_with(suite(14), |trial| if trial.scenario == fell { 20 } else { 95 });
    assert_eq!(verdict(&drive), (Verdict::Regressed, Some(Ending::Unchanged)));
    assert_eq!(shipment(&drive).fell, [fell]);
    let is_chance = |trial: Trial| trial.scenario == fell && trial.ordinal == SEARCH + 1;
    let drive = run_with(suite(14), |trial| if is_chance(trial) { 20 } else { 95 });
    assert_eq!(verdict(&drive), (Verdict::Won, Some(Ending::Applied)));
    let again = steps(&drive).into_iter().filter(|step| {
        matches!(step, Step::Exercise { trial, .. } if trial.scenario == fell && trial.ordinal > SEARCH + 1)
    });
    assert_eq!(again.count(), 6, "three times each");
}

#[test]
fn what_must_pass_is_bought_back_by_nothing() {
    let mut plan = demanding(suite(14));
    let demands = plan.task.scenarios[0].demands.clone();
    for scenario in &mut plan.task.scenarios {
        scenario.demands.clone_from(&demands);
        scenario.demands.retain(|demand| demand.how.question().is_some());
        scenario.demands.iter_mut().for_each(|demand| demand.must_pass = true);
    }
    let fell = measure::planned(&plan)[0];
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Grade { candidate, trial, .. } => {
            let passes = (nth(run, *candidate) == 0) == (trial.scenario == fell);
            stated(run, trial.scenario, |_| if passes { Found::Pass } else { Found::Fail })
        }
        _ => well(run, step, 50),
    });
    assert_eq!((shipment(&drive).verdict, &shipment(&drive).fell[..]), (Verdict::Regressed, &[fell][..]));
    assert!(drive.run.state.retrial.is_none(), "nothing is tried again for it");
}

#[test]
fn one_scenario_is_weak_evidence_and_ships_only_where_a_person_said_so() {
    let one = |apply| {
        let mut plan = plan(1, 1);
        (plan.task.rules.max_iterations, plan.task.apply) = (2, apply);
        assert_eq!(plan.basis(), Basis::Few);
        run_with(plan, |_| 90)
    };
    assert_eq!(verdict(&one(Apply::Auto)), (Verdict::Won, Some(Ending::Applied)));
    assert_eq!(verdict(&one(Apply::Unattended)), (Verdict::Won, Some(Ending::Kept)));
    assert_eq!(shipment(&one(Apply::Auto)).effect, None);
    let asked = steps(&one(Apply::Ask));
    let hold = asked.iter().find_map(|step| if let Step::Ask(hold) = step { Some(*hold) } else { None });
    assert_eq!(hold.map(Hold::default_choice), Some(Choice::Keep));
}

#[test]
fn the_searchs_own_scenarios_are_tested_and_never_ship_unattended() {
    let mut plan = plan(1, 6);
    plan.task.rules.max_iterations = 2;
    for (apply, scenarios) in [(Apply::Auto, 6), (Apply::Unattended, 6)] {
        plan.task.apply = apply;
        assert_eq!((plan.basis(), plan.task.scenarios.len()), (Basis::Searched, scenarios));
        let drive = run_with(plan.clone(), |_| 90);
        assert_eq!(verdict(&drive), (Verdict::Won, Some(Ending::Kept)));
        assert!(shipment(&drive).effect.is_some());
    }
}

#[test]
fn a_draft_that_did_no_better_in_the_search_is_not_compared() {
    let drive = answered(suite(6), |run, _, is_start| judged(run, if is_start { 50 } else { 45 }, &[]));
    assert_eq!((verdict(&drive).0, fresh_calls(&drive)), (Verdict::Unchallenged, 0));
    assert_eq!(drive.run.class(), Class::Short, "a score of the search reaches nothing");
}

/// Returns the end of a run under a pipeline's fail rules.
fn piped(under: Option<f64>, regression: bool, fresh: impl Fn(Trial) -> usize) -> (Class, Vec<FailReason>) {
    let mut plan = suite(7);
    plan.task.fail_on = FailOn { score_under: under.map(points), regression };
    let drive = run_with(plan, fresh);
    (drive.run.class(), drive.run.fail_reasons())
}

#[test]
fn a_pipeline_asks_for_a_confirmed_score_in_place_of_the_goal() {
    let (under, least) = (Some(60.0), points(60.0));
    assert_eq!(piped(under, false, |_| 70), (Class::Reached, vec![]), "a win, below the goal");
    let low = FailReason::ScoreUnder { score: points(50.0), least };
    assert_eq!(piped(under, false, |_| 40), (Class::Short, vec![low]), "the start is left");
    let mut plan = suite(7);
    plan.task.fail_on.score_under = under.map(points);
    let mut drive = Drive::start(plan);
    drive.finish(1, |_| 0, |run, step| well(run, step, 90));
    let reasons = vec![FailReason::Unconfirmed { least }];
    assert_eq!(
        (drive.run.class(), drive.run.fail_reasons()),
        (Class::Short, reasons),
        "a score of the search confirms nothing"
    );
}

#[test]
fn a_pipeline_asks_that_nothing_got_worse() {
    assert_eq!(piped(None, true, |_| 55), (Class::Reached, vec![]));
    assert_eq!(piped(None, true, |_| 50), (Class::Reached, vec![]), "no better is no regression");
    assert_eq!(piped(None, true, |_| 40), (Class::Short, vec![FailReason::Lost]));
    // It fell only once, so the winner ships, but the pair still counts as a regression.
    let fell = |trial: Trial| if trial.scenario == 6 && trial.ordinal == 1 { 20 } else { 100 };
    let (class, reasons) = piped(None, true, fell);
    assert_eq!((class, reasons), (Class::Short, vec![FailReason::Fell(vec![6])]));
}

/// In the next run this winner is the start; it must not profit from the trials that made it win.
#[test]
fn trials_of_a_comparison_are_those_of_its_start_alone() {
    let drive = |start: &str| {
        let mut plan = suite(6);
        plan.task.target.members[0].start = tree(start);
        Drive::start(plan)
    };
    let key = |drive: &Drive, ordinal| {
        let trial = Trial { scenario: 0, ordinal, era: 0 };
        let step =
            Step::Exercise { member: Place(0), skill: tree("same"), trial, input: None, graded: false };
        AgentRequest::of(&drive.run, &step).expect("an agent answers it").as_ref().step.clone()
    };
    let (one, other) = (drive("one"), drive("other"));
    assert_eq!(key(&one, SEARCH), key(&other, SEARCH));
    assert_ne!(key(&one, SEARCH + 1), key(&other, SEARCH + 1));
}

#[test]
fn a_journal_that_names_a_scenario_that_the_plan_does_not_have_is_refused() {
    let mut drive = run_with(suite(6), |_| 90);
    let won = shipment(&drive).clone();
    drive.record(Event::Decided(Decision::Retry { scenarios: vec![999], won }));
    assert!(matches!(Run::replay(&drive.records), Err(NotARun::Unknown { .. })));
}

#[test]
fn a_journal_with_more_looks_than_there_are_is_read() {
    let mut drive = run_with(suite(6), |_| 90);
    for _ in 0..3 {
        drive.record(Event::Decided(Decision::LookAgain { effect: None }));
    }
    assert_eq!(drive.due(1), []);
    assert_eq!(Run::replay(&drive.records).unwrap(), drive.run);
}
