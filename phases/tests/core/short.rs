//! Faults that a run has shown but its suite does not check yet.

use skilltune_phases::judging::contract::Verdict;
use skilltune_phases::loops::tune::results::trials::{Short, short, unasked, worst};
use skilltune_phases::loops::tune::{Aim, Answer, Outcome, Plan, Run, Step, Trial};
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;

use crate::world::{Drive, judged, nth, plan, points, stated, well};

/// Returns a judgement with this score and one weakness.
fn faulty(run: &Run, score: usize, fault: &str) -> Outcome {
    judged(run, score, &[]).map(|answer| {
        let Answer::Judged(mut judgement) = answer else { unreachable!("it was judged") };
        judgement.weaknesses.push(fault.into());
        Answer::Judged(judgement)
    })
}

fn run(plan: Plan, judge: impl Fn(&Run, Trial, bool) -> Outcome) -> Run {
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Judge { candidate, trial, .. } => judge(run, *trial, nth(run, *candidate) == 0),
        Step::Grade { trial, .. } => stated(run, trial.scenario, |_| Verdict::Fail),
        _ => well(run, step, 0),
    });
    drive.run
}

fn texts(short: &Short<'_>) -> Vec<String> {
    short.demands.iter().filter_map(|demand| demand.how.question()).map(ToString::to_string).collect()
}

/// Plays two trials of each of five scenarios: one has no demands, one is held out, two share a task of which one has
/// demands, and one has no faults.
fn played() -> Run {
    let mut plan = plan(1, 5);
    plan.task.aim = Aim::Calibrate { trials: 2 };
    plan.task.scenarios[1].held_out = true;
    let task = plan.task.scenarios[2].description.clone();
    plan.task.scenarios[3].description = task;
    let how = How::Question { text: "It is true.".into() };
    plan.task.scenarios[3].demands = vec![Demand::new("true".parse().expect("a plain name"), how)];
    run(plan, |run, trial, _| match (trial.scenario, trial.ordinal % 2) {
        (4, _) => judged(run, 100, &[]),
        (_, 0) => faulty(run, 40, "it is empty"),
        (_, _) => faulty(run, 60, "it is long"),
    })
}

#[test]
fn of_a_scenario_that_asks_for_nothing_the_worst_trial_is_taken_and_of_no_other_scenario() {
    let run = played();
    let found = unasked(&run);
    let scenarios: Vec<usize> = found.iter().map(|short| short.judged.trial.scenario).collect();
    assert_eq!(scenarios, [0]);
    assert_eq!(texts(&found[0]), ["The result does not have this fault: it is empty"]);
    let all: Vec<usize> = short(&run).iter().map(|short| short.judged.trial.scenario).collect();
    assert!([1, 2, 3].iter().all(|scenario| all.contains(scenario)), "they fell short too: {all:?}");
}

#[test]
fn of_equal_trials_the_newest_is_the_worst() {
    let run = played();
    let all = short(&run);
    let unasked = || all.iter().filter(|short| short.judged.trial.scenario != 3);
    let score = |short: &Short<'_>| short.judged.judgement.whole.scored.composite;
    let mut low = unasked().filter(|short| score(short) == Some(points(40.0)));
    let newest = low.next_back().expect("several have 40 points");
    assert!(low.next().is_some());
    let found = worst(unasked()).expect("several fell short");
    assert_eq!(found.judged.trial, newest.judged.trial);
}

#[test]
fn only_the_version_that_is_left_counts() {
    for (draft, left) in [(85, "the draft is bad"), (20, "the start is bad")] {
        let mut plan = plan(1, 6);
        plan.task.rules.max_iterations = 2;
        for scenario in &mut plan.task.scenarios[1..] {
            scenario.held_out = true;
        }
        let run = run(plan, |run, _, is_start| {
            if is_start {
                faulty(run, 50, "the start is bad")
            } else {
                faulty(run, draft, "the draft is bad")
            }
        });
        let found = unasked(&run);
        assert_eq!(found.len(), 1, "{draft}");
        assert_eq!(texts(&found[0]), [format!("The result does not have this fault: {left}")]);
    }
}

#[test]
fn a_mark_is_that_of_a_task_and_a_version_whatever_was_wrong() {
    let run = played();
    let all = short(&run);
    let of = |scenario: usize| all.iter().filter(move |short| short.judged.trial.scenario == scenario);
    let marks: Vec<_> = of(0).map(|short| short.mark(&run)).collect();
    assert!(marks.len() == 2 && marks[0] == marks[1], "two trials with other faults: {marks:?}");
    assert_ne!(of(1).next().unwrap().mark(&run), marks[0], "another task");
    let mut moved = run.clone();
    std::sync::Arc::make_mut(&mut moved.plan).task.scenarios[0].input_args = "--long".to_owned();
    assert_ne!(of(0).next().unwrap().mark(&moved), marks[0], "other arguments");
    let mut other = of(0).next().unwrap().clone();
    other.judged.candidate =
        skilltune_phases::base::id::CandidateId(skilltune_phases::base::id::Digest::of(b"other"));
    assert_ne!(other.mark(&run), marks[0], "another version");
}
