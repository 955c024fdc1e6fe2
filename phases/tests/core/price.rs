//! The price of an answer if the final comparison gives none.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::compare::price::{self, Price};
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{Plan, Run, Step, Verdict};

use crate::drafting::{GOOD, play, suite};
use crate::world::{Drive, judged, nth, plan, well};

/// Holds out all but two scenarios. The draft wins the search; in fresh trials it is better by the points for the index
/// of the held-out scenario and the number of the trial.
fn compared(held_out: usize, confirm: u32, better: impl Fn(usize, u32) -> i32) -> Drive {
    let mut plan = plan(1, held_out + 2);
    (plan.task.rules.max_iterations, plan.task.rules.confirm) = (2, confirm);
    plan.task.scenarios[2..].iter_mut().for_each(|scenario| scenario.held_out = true);
    finished(plan, |scenario, trial| better(scenario.saturating_sub(2), trial))
}

fn finished(plan: Plan, better: impl Fn(usize, u32) -> i32) -> Drive {
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Judge { candidate, trial, .. } => {
            let by = match (nth(run, *candidate), trial.ordinal) {
                (0, _) => 0,
                (_, SEARCH) => 30,
                (_, ordinal) => better(trial.scenario, ordinal - SEARCH - 1),
            };
            judged(run, usize::try_from(50 + by).expect("a score"), &[])
        }
        _ => well(run, step, 0),
    });
    drive
}

fn verdict(run: &Run) -> Verdict {
    run.state.shipment.as_ref().expect("the run has come to its end").verdict
}

fn priced(drive: &Drive) -> Price {
    assert_eq!(verdict(&drive.run), Verdict::Indecisive);
    price::of(&drive.run).expect("it has no answer")
}

/// Returns the scenarios and trials of each way.
fn sizes(price: &Price) -> Vec<(usize, u32)> {
    price.ways.iter().map(|way| (way.scenarios, way.trials)).collect()
}

#[test]
fn an_open_comparison_says_what_would_show_its_difference_and_what_that_costs() {
    let drive = compared(4, 1, |scenario, _| [-5, 12, 14, 16][scenario]);
    let price = priced(&drive);
    assert!((price.points - 9.3).abs() < 1e-9, "{price:?}");
    let [way, other] = price.ways.as_slice() else { panic!("{price:?}") };
    assert!((5..=12).contains(&way.scenarios) && way.trials == 1, "{price:?}");
    assert!(other.scenarios == 4 && other.trials > 1, "{price:?}");
    // Both versions are tried and judged; each call costs half a dollar and takes a second.
    let trials = u32::try_from(2 * way.scenarios).expect("few");
    let calls = [Role::EXECUTOR, Role::EVALUATOR].map(|role| *way.cost.calls.of(&role));
    assert_eq!(calls, [u64::from(trials); 2]);
    assert_eq!((way.cost.usd, way.cost.ms), (Some(f64::from(trials)), Some(2000 * u64::from(trials))));
    assert!(way.cost.usd <= other.cost.usd, "the cheaper one is told first");
    assert_eq!(Run::replay(&drive.records).unwrap().state.shipment, drive.run.state.shipment);
}

#[test]
fn a_loss_that_nobody_can_be_sure_of_is_priced_like_a_win() {
    let up = compared(4, 1, |scenario, _| if scenario == 0 { -5 } else { 12 });
    let down = compared(4, 1, |scenario, _| if scenario == 0 { 5 } else { -12 });
    let (up, down) = (priced(&up), priced(&down));
    assert_eq!((sizes(&up), up.points), (sizes(&down), -down.points));
}

#[test]
fn versions_that_are_too_close_have_no_price() {
    for better in [[30, -30, 30, -30], [31, -30, 30, -30]] {
        let price = priced(&compared(4, 1, |scenario, _| better[scenario]));
        assert!(price.ways.is_empty() && price.points < 1.0, "{price:?}");
    }
}

#[test]
fn more_trials_help_where_trials_waver_and_not_where_scenarios_differ() {
    let wavering = compared(8, 2, |scenario, trial| {
        let luck = if (scenario + trial as usize).is_multiple_of(2) { 16 } else { -16 };
        luck + if scenario < 3 { -12 } else { 20 }
    });
    let differing = compared(6, 2, |scenario, _| if scenario < 2 { -20 } else { 30 });
    let (wavering, differing) = (priced(&wavering), priced(&differing));
    assert!(wavering.ways.iter().any(|way| way.scenarios == 8 && way.trials > 2), "{wavering:?}");
    assert!(!differing.ways.is_empty() && differing.ways.iter().all(|way| way.trials == 2), "{differing:?}");
}

#[test]
fn what_has_an_answer_and_what_nobody_tested_have_no_price() {
    for (better, verdict_of) in [(20, Verdict::Won), (-20, Verdict::Lost), (0, Verdict::Tied)] {
        let drive = compared(4, 1, |_, _| better);
        assert_eq!((verdict(&drive.run), price::of(&drive.run)), (verdict_of, None));
    }
    let mut few = plan(1, 2);
    few.task.rules.max_iterations = 2;
    let drive = finished(few, |_, _| -5);
    assert_eq!((verdict(&drive.run), price::of(&drive.run)), (Verdict::Lost, None));
}

#[test]
fn an_open_comparison_of_separate_samples_has_an_estimated_price() {
    let (drive, _) = play(suite(18, 48), 2, 0.0, GOOD);
    assert_eq!((price::of(&drive.run), price::of_samples(&drive.run)), (None, None), "it has an answer");
    let mut run = drive.run.clone();
    let shipment = run.state.shipment.as_mut().unwrap();
    shipment.verdict = Verdict::Indecisive;
    let now = shipment.unpaired.as_ref().expect("no pairs").challenger.len();
    assert_eq!(price::of(&run), None, "what pairs would need is unknown");
    let price = price::of_samples(&run).expect("it is open");
    let [way] = price.ways.as_slice() else { panic!("{price:?}") };
    assert!(way.scenarios > now && way.trials == run.confirm(), "{price:?}");
}
