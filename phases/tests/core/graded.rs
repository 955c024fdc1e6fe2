//! Trials that are scored by their results: checks by machine, statements for a judge, and one judgement of each text.

use skilltune_phases::judging::contract::Verdict;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::compare::panel;
use skilltune_phases::loops::tune::trial::measure::Unit;
use skilltune_phases::loops::tune::{
    AgentRequest, Answer, Outcome, Plan, RoundResult, Run, Step, Trial, Tune, Why,
};
use skilltune_phases::suites::checks::{Check, CheckResult, How, Text, Times};
use skilltune_phases::suites::demand::Demand;

use crate::drive::bare_prompt;
use crate::world::{
    Drive, check_result, demanding, improved, inspected, judged, nth, plan, points, stated, well,
};

/// Plans one scenario with all demands.
fn one(members: usize) -> Plan {
    demanding(plan(members, 1))
}

fn met(program: Option<bool>) -> impl FnMut(&Run, &Step) -> Outcome {
    move |run, step| match step {
        Step::Check { demand, .. } => Ok(Answer::Checked(vec![check_result(*demand, program)])),
        _ => well(run, step, 50),
    }
}

fn first_score(run: &Run) -> Option<f64> {
    run.state.rounds[0].measured.as_ref().expect("it was measured").score.map(Score::points)
}

#[test]
fn a_trial_is_worth_the_share_of_the_weight_that_is_met() {
    for (program, score) in [(Some(true), 100.0), (Some(false), 50.0), (None, 50.0)] {
        let mut drive = Drive::start(one(1));
        drive.finish_alone(met(program));
        assert_eq!(first_score(&drive.run), Some(score), "{program:?}");
    }
}

#[test]
fn what_is_seen_comes_first_then_programs_then_the_judge_and_the_text_last() {
    let mut drive = Drive::start(one(2));
    let mut order = Vec::new();
    drive.finish_alone(|run, step| {
        if run.round_number() == 1 && run.state.stopped.is_none() {
            order.push(match step {
                Step::Exercise { member, .. } => format!("exercise {}", member.0),
                Step::Inspect { member, .. } => format!("inspect {}", member.0),
                Step::Check { demand, .. } => format!("check {demand}"),
                Step::Grade { .. } => "grade".to_owned(),
                Step::JudgeText { .. } => "text".to_owned(),
                _ => return well(run, step, 50),
            });
        }
        well(run, step, 50)
    });
    // Only the first member has a check that needs no program.
    assert_eq!(order, ["exercise 0", "exercise 1", "inspect 0", "check 1", "grade", "text"]);
    let measured = drive.run.state.rounds[0].measured.as_ref().unwrap();
    assert_eq!(measured.quality, Some(points(50.0)));
    assert_eq!(measured.members, [Some(points(100.0)), Some(points(100.0))]);
}

#[test]
fn each_text_is_judged_once_and_no_trial_asks_about_it() {
    let scenarios = 10;
    let calls = |plan: Plan| {
        let mut plan = plan;
        plan.task.rules.max_iterations = 6;
        plan.task.rules.stall.window = 99;
        plan.task.rules.threshold = points(100.0);
        let (mut judged, mut texts) = (0, 0);
        let mut drive = Drive::start(plan);
        drive.finish_alone(|run, step| {
            if run.state.stopped.is_none() {
                judged += usize::from(matches!(step, Step::Judge { .. } | Step::Grade { .. }));
                texts += usize::from(matches!(step, Step::JudgeText { .. }));
            }
            match step {
                Step::Check { demand, .. } => Ok(Answer::Checked(vec![check_result(*demand, Some(false))])),
                _ => well(run, step, 50),
            }
        });
        assert_eq!(drive.run.state.candidates.len(), 6);
        (judged, texts)
    };
    let mut checked = demanding(plan(1, scenarios));
    let demands = checked.task.scenarios[0].demands.clone();
    for scenario in &mut checked.task.scenarios {
        scenario.demands = demands.iter().filter(|demand| demand.how.check().is_some()).cloned().collect();
    }
    let mut stated = checked.clone();
    stated.task.scenarios.iter_mut().for_each(|scenario| scenario.demands = demands.clone());
    assert_eq!(calls(plan(1, scenarios)), (60, 0), "nothing but tasks");
    assert_eq!(calls(stated), (60, 6), "statements");
    assert_eq!(calls(checked), (0, 6), "checks alone");
}

/// Gives outcomes and qualities by candidate.
fn world<'a>(outcome: &'a [u32], quality: &'a [usize]) -> impl FnMut(&Run, &Step) -> Outcome + 'a {
    move |run, step| match step {
        Step::Check { left, demand, .. } => {
            let of = |tree| run.state.candidates.iter().position(|one| left_of(one.trees[0]) == tree);
            let met = outcome[of(*left).expect("a candidate left it")] == 100;
            Ok(Answer::Checked(vec![check_result(*demand, Some(met))]))
        }
        Step::JudgeText { candidate, .. } => judged(run, quality[nth(run, *candidate)], &[]),
        Step::Improve { round, .. } => improved(&format!("draft {round}")),
        _ => well(run, step, 0),
    }
}

fn left_of(skill: skilltune_phases::base::id::TreeId) -> skilltune_phases::base::id::TreeId {
    crate::world::tree(&format!("left of {skill}"))
}

#[test]
fn a_text_that_is_much_worse_is_dropped_though_more_comes_of_it() {
    let mut plan = one(1);
    plan.task.rules.max_iterations = 2;
    let mut drive = Drive::start(plan);
    drive.finish_alone(world(&[0, 100], &[80, 69]));
    let dropped = &drive.run.state.rounds[1].result;
    assert_eq!(*dropped, Some(RoundResult::Dropped(Why::WorseText { by: 11.0 })));
    let (best, start) = (drive.run.best().map(|(best, _)| best), drive.run.start());
    assert_eq!((best, drive.run.series().reached), (Some(start), false));
    assert_eq!(drive.run.state.shipment.as_ref().map(|shipment| shipment.champion), Some(start));
    let mut plan = one(1);
    plan.task.rules.max_iterations = 2;
    let mut drive = Drive::start(plan);
    drive.finish_alone(world(&[0, 100], &[80, 70]));
    assert_eq!(drive.run.state.rounds[1].result, Some(RoundResult::Kept));
}

#[test]
fn of_two_with_the_same_outcome_the_better_text_is_the_best_but_a_text_alone_wins_nothing() {
    let mut plan = one(1);
    plan.task.rules.max_iterations = 3;
    plan.task.rules.threshold = points(100.0);
    let mut drive = Drive::start(plan);
    drive.finish_alone(world(&[0, 0, 0], &[50, 58, 54]));
    let (best, _) = drive.run.best().unwrap();
    assert_eq!(nth(&drive.run, best), 1);
    let shipment = drive.run.state.shipment.as_ref().unwrap();
    assert_eq!(shipment.champion, drive.run.start(), "{shipment:?}");
}

#[test]
fn what_is_held_out_is_compared_on_and_never_searched() {
    let mut plan = demanding(plan(1, 4));
    plan.task.scenarios[1].held_out = true;
    plan.task.scenarios[2].held_out = true;
    let mut drive = Drive::start(plan);
    let (mut searched, mut compared) = (Vec::new(), Vec::new());
    let mut answer = world(&[0, 100, 100, 100, 100], &[50, 50, 50, 50, 50]);
    drive.finish_alone(|run, step| {
        if let Step::Exercise { trial, .. } = step {
            let into = if run.state.stopped.is_none() { &mut searched } else { &mut compared };
            into.push(trial.scenario);
        }
        answer(run, step)
    });
    searched.sort_unstable();
    searched.dedup();
    compared.sort_unstable();
    compared.dedup();
    assert_eq!((searched, compared), (vec![0, 3], vec![1, 2]));
}

#[test]
fn what_a_plan_names_is_needed_as_long_as_its_run() {
    let mut plan = one(1);
    let (files, grader) = (crate::world::tree("files"), crate::world::tree("grader"));
    plan.task.scenarios[0].files = Some(files);
    let How::Check(Check::Command { grader: own, .. }) = &mut plan.task.scenarios[0].demands[1].how else {
        panic!("it is a program");
    };
    *own = Some(grader);
    let trees = Tune::run_trees(&Drive::start(plan).run);
    assert!(trees.contains(&files) && trees.contains(&grader), "{trees:?}");
}

#[test]
fn one_that_must_be_met_and_was_not_leaves_nothing() {
    let mut plan = one(1);
    plan.task.scenarios[0].demands[1].must_pass = true;
    let mut drive = Drive::start(plan);
    drive.finish_alone(met(Some(false)));
    assert_eq!(first_score(&drive.run), Some(0.0));
}

#[test]
fn what_nobody_could_tell_is_no_score_and_the_round_has_none_either() {
    let mut drive = Drive::start(one(1));
    drive.finish_alone(|run, step| match step {
        Step::Inspect { trial, member, .. } => inspected(run, *trial, *member, |_| None),
        Step::Check { demand, .. } => Ok(Answer::Checked(vec![check_result(*demand, None)])),
        Step::Grade { trial, .. } => stated(run, trial.scenario, |_| Verdict::Unverified),
        _ => well(run, step, 50),
    });
    assert_eq!(first_score(&drive.run), None);
    let trial = Trial { scenario: 0, ordinal: 0, era: 0 };
    let Unit::Judged(judgement) = panel::unit(&drive.run, drive.run.start(), trial) else { panic!() };
    assert!(judgement.whole.findings.iter().all(|finding| finding.verdict == Verdict::Unverified));
}

const SECRET: &str = "zebra-42";

/// An improver could copy these into a skill: an expected output, the text of a check, a held-out scenario.
#[test]
fn neither_an_improver_nor_an_executor_is_told_what_is_looked_for() {
    let mut plan = plan(1, 2);
    let pattern = Check::Pattern { pattern: SECRET.into(), of: Text::Answer, times: Times::ONCE_OR_MORE };
    let program = Check::Command {
        argv: vec!["grep".into(), SECRET.into()],
        exit: 0,
        expected: SECRET.into(),
        grader: None,
    };
    plan.task.scenarios[0].demands = vec![
        Demand::new("names".parse().unwrap(), How::Check(pattern)),
        Demand::new("greps".parse().unwrap(), How::Check(program)),
        Demand::new("good".parse().unwrap(), How::Question { text: "It is good.".into() }),
    ];
    plan.task.scenarios[0].expected = Some(format!("A text about {SECRET}.").into());
    plan.task.scenarios[1].held_out = true;
    plan.task.scenarios[1].description = format!("Write of {SECRET}.");
    let mut drive = Drive::start(plan);
    let mut prompted = Vec::new();
    while let Some(step) = drive.due(1).pop() {
        if let Some(request) = AgentRequest::of(&drive.run, &step) {
            let prompt = bare_prompt(&request).unwrap();
            match &step {
                Step::Exercise { trial, .. } if trial.scenario == 0 => {
                    assert!(!prompt.contains(SECRET), "{prompt}");
                }
                Step::Improve { .. } => {
                    assert!(!prompt.contains(SECRET), "{prompt}");
                    assert!(prompt.contains("a check by machine: a pattern in what was written"), "{prompt}");
                    assert!(prompt.contains("exit code 1"), "{prompt}");
                    prompted.push("improve");
                }
                Step::Grade { .. } => {
                    assert!(prompt.contains(&format!("A text about {SECRET}.")), "{prompt}");
                    prompted.push("grade");
                }
                _ => {}
            }
        }
        let outcome = match &step {
            Step::Check { demand, .. } => {
                let details = format!("exit code 1: expected {SECRET}").into();
                Ok(Answer::Checked(vec![CheckResult { check: *demand, met: Some(false), details }]))
            }
            Step::Inspect { trial, member, .. } => inspected(&drive.run, *trial, *member, |_| Some(false)),
            step => well(&drive.run, step, 50),
        };
        drive.done(step, outcome);
    }
    assert!(prompted.contains(&"improve") && prompted.contains(&"grade"), "{prompted:?}");
}
