//! The search whose last trials are the candidate's side of the final comparison.

use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::Verdict as Found;
use skilltune_phases::judging::proof;
use skilltune_phases::judging::score::{self, Score};
use skilltune_phases::judging::stop::Reason;
use skilltune_phases::loops::tune::aims::regrade;
use skilltune_phases::loops::tune::compare::panel;
use skilltune_phases::loops::tune::trial::measure;
use skilltune_phases::loops::tune::{
    Answer, Asked, Basis, Edit, Event, Plan, Round, Run, Step, StepState, UnpairedSamples, Verdict,
};
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::suites::demand::{self, Demand};

use crate::drafting::{GOOD, SLOW, Skills, answer, play, suite};
use crate::drive::recast;
use crate::regrading::{begun, steps};
use crate::world::{Drive, stated};

fn scarce(scenarios: usize, runs: u32) -> Plan {
    let mut plan = suite(scenarios, runs);
    plan.draft_with(runs, true);
    plan
}

fn samples(run: &Run) -> &UnpairedSamples {
    let shipment = run.state.shipment.as_ref().expect("the run has ended");
    shipment.unpaired.as_ref().expect("only one side was tried for the comparison")
}

fn is_test(run: &Run, round: &Round) -> bool {
    round.scenarios.iter().any(|scenario| run.plan.task.scenarios[*scenario].held_out)
}

fn tests(run: &Run) -> Vec<&Round> {
    run.state.rounds.iter().filter(|round| is_test(run, round)).collect()
}

#[test]
fn a_third_of_few_runs_are_tests_and_none_of_many() {
    let planned = |scenarios, runs, drawn, change: fn(&mut Plan)| {
        let mut plan = suite(scenarios, runs);
        change(&mut plan);
        plan.draft_with(runs, drawn);
        (plan.task.tests(), measure::planned(&plan).len())
    };
    let same = |_: &mut Plan| {};
    assert_eq!(planned(24, 16, true, same), (6, 6));
    assert_eq!(planned(24, 32, true, same), (8, 8), "there are no more held-out scenarios");
    assert_eq!(planned(24, 95, true, same), (8, 8));
    assert_eq!(planned(24, 96, true, same).0, 0, "runs enough to repeat the candidate's trials");
    assert_eq!(planned(24, 32, false, same).0, 0, "both versions are tried on chosen scenarios");
    assert_eq!(
        planned(24, 32, true, |plan| plan.task.rules.confirm = 2).0,
        0,
        "each scenario is new only once"
    );
    let mut extended = scarce(24, 32);
    extended.set_aside(1);
    assert_eq!(
        (extended.task.rules.extensions, extended.task.tests()),
        (1, 0),
        "it needs unseen scenarios later"
    );
    let mut unextended = suite(24, 32);
    unextended.task.rules.extensions = 1;
    unextended.draft_with(32, true);
    unextended.set_aside(0);
    assert_eq!(unextended.task.tests(), 8);
}

#[test]
fn each_test_is_the_first_trial_on_its_scenario_and_nothing_is_edited_after_the_last() {
    let (drive, _) = play(scarce(24, 32), 0, 0.0, SLOW);
    let run = &drive.run;
    let tests = tests(run);
    let scenarios: Vec<usize> = tests.iter().flat_map(|round| round.scenarios.clone()).collect();
    assert_eq!(scenarios, measure::planned(&run.plan), "in the order of the seed, each once");
    let last = run.state.rounds.last().unwrap();
    assert!(is_test(run, last) && last.edit.is_none() && last.targets.is_none(), "{last:?}");
    assert_eq!(run.state.stopped, Some(Reason::Exhausted));
    assert!(
        tests.iter().any(|round| matches!(round.edit, Some(Edit::Draft { .. }))),
        "tests teach the search"
    );
    let (shipment, of) = (run.state.shipment.as_ref().unwrap(), samples(run));
    assert_eq!(shipment.challenger, Some(last.candidate));
    assert_eq!(of.versions, tests.iter().map(|round| round.candidate).collect::<Vec<_>>());
    let executed = drive.records.iter().filter(
        |record| matches!(&record.event, Event::Done(done) if matches!(done.step, Step::Exercise { .. })),
    );
    assert!(executed.count() <= 32, "no trial is made for the comparison alone");
}

/// Returns the share of a scenario's statements that a judgement found to be met. An anchor has two more statements.
fn score_of(run: &Run, grade: &Step, scenario: usize) -> Score {
    let StepState::Answered(Answer::Judged(judgement)) = run.state_of(grade) else { panic!("{grade:?}") };
    let demands = &run.plan.task.scenarios[scenario].demands;
    let verdict = |demand: &Demand| {
        let id = run.plan.task.scenarios[scenario].criterion(demand);
        judgement
            .whole
            .findings
            .iter()
            .find(|one| *one.criterion == id)
            .map_or(Found::Fail, |one| one.verdict)
    };
    demand::scored(demands.iter().map(|demand| (demand, verdict(demand))))
        .composite
        .expect("something is demanded")
}

#[test]
fn each_trial_that_counts_is_judged_three_times_and_later_tests_weigh_more() {
    let (drive, _) = play(scarce(24, 32), 2, 0.15, GOOD);
    let (run, of) = (&drive.run, samples(&drive.run));
    for (&(scenario, counted), &version) in of.challenger.iter().zip(&of.versions) {
        let is_its = |step: &Step| matches!(step, Step::Grade { candidate, trial, .. } if *candidate == version && trial.scenario == scenario);
        let grades: Vec<&Step> = drive
            .records
            .iter()
            .filter_map(|record| match &record.event {
                Event::Done(done) if is_its(&done.step) => Some(&done.step),
                _ => None,
            })
            .collect();
        let anchors = grades
            .iter()
            .filter(|step| matches!(step, Step::Grade { asked: Asked { anchor: Some(_), .. }, .. }));
        assert_eq!((grades.len(), anchors.count()), (3, 2), "{scenario}");
        let scores = grades.iter().map(|step| score_of(run, step, scenario)).collect::<Vec<Score>>();
        assert_eq!(score::mean(&scores), Some(counted), "{scenario}");
    }
    let points =
        |scores: &[(usize, Score)]| scores.iter().map(|(_, score)| score.points()).collect::<Vec<_>>();
    let (start, tested) = (points(&of.start), points(&of.challenger));
    let effect = proof::unpaired_effect(&start, &tested, proof::Weights::Rising, 0.1);
    assert_eq!(run.state.shipment.as_ref().unwrap().effect, Some(effect));
}

#[test]
fn the_candidate_makes_the_tests_that_an_end_of_all_edits_has_left() {
    let plan = scarce(24, 32);
    let (seed, skills) = (plan.seed, Skills::new(&plan, 0));
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Improve { .. } if run.state.rounds.len() > 1 => {
            Err(Failure::new(FailureKind::Gate, "it changed a file that it must not change"))
        }
        _ => answer(seed, 0.0, SLOW, &skills, run, step),
    });
    let run = &drive.run;
    let (challenger, made) = (run.state.shipment.as_ref().unwrap().challenger.unwrap(), tests(run).len());
    let of = samples(run);
    assert!(made < of.versions.len(), "{made} of {}, {:?}", of.versions.len(), run.state.stopped);
    assert!(of.versions[made..].iter().all(|version| *version == challenger));
}

/// Plays a search whose executor changes once this many tests are made.
fn recast_after(plan: Plan, made: usize) -> Drive {
    let (seed, skills) = (plan.seed, Skills::new(&plan, 2));
    let mut drive = Drive::start(plan);
    while tests(&drive.run).iter().filter(|round| round.measured.is_some()).count() < made {
        let step = drive.due(1).pop().expect("the search goes on");
        let outcome = answer(seed, 0.0, GOOD, &skills, &drive.run, &step);
        drive.done(step, outcome);
    }
    recast(&mut drive, &Role::EXECUTOR);
    drive.finish_alone(|run, step| answer(seed, 0.0, GOOD, &skills, run, step));
    drive
}

#[test]
fn where_the_tests_cannot_count_both_versions_are_tried_on_what_no_improver_has_seen() {
    let drive = recast_after(scarce(24, 24), 2);
    let run = &drive.run;
    let pairs = &run.state.shipment.as_ref().unwrap().pairs;
    let seen: Vec<usize> = tests(run).iter().flat_map(|round| round.scenarios.clone()).collect();
    assert!(
        !pairs.is_empty() && pairs.iter().all(|pair| !seen.contains(&pair.scenario)),
        "{pairs:?} {seen:?}"
    );
    assert_eq!(run.basis(), Basis::HeldOut);

    let drive = recast_after(scarce(12, 24), 3);
    let run = &drive.run;
    let shipment = run.state.shipment.as_ref().unwrap();
    assert_eq!((run.basis(), shipment.pairs.len()), (Basis::Searched, 4), "one unseen scenario is too few");
    assert_eq!(run.plan.basis(), Basis::HeldOut);
}

#[test]
fn held_out_scenarios_that_an_earlier_run_has_shown_come_last() {
    let mut plan = scarce(24, 16);
    let first = measure::planned(&plan);
    plan.task.seen = first[..4].to_vec();
    let then = measure::planned(&plan);
    assert_eq!(then.len(), 6);
    assert_eq!(then.iter().filter(|scenario| plan.task.seen.contains(scenario)).count(), 2);
    assert!(plan.task.seen.contains(&then[4]) && plan.task.seen.contains(&then[5]), "{then:?}");
}

#[test]
fn its_trials_are_judged_again_with_the_version_of_each() {
    let (old, _) = play(scarce(24, 32), 2, 0.0, GOOD);
    let regrading = regrade::regrade(&old.run, &old.run.plan.task.scenarios).unwrap();
    assert_eq!(regrading.regraded.tests.len(), samples(&old.run).versions.len());
    let mut new = begun(&old, &regrading);
    let skills = Skills::new(&old.run.plan, 2);
    let asked = steps(&mut new, |run, step| match step {
        // Its judge finds all facets in every version but the start.
        Step::Grade { candidate, trial, .. } if *candidate != run.start() => {
            stated(run, trial.scenario, |_| Found::Pass)
        }
        _ => answer(0, 0.0, GOOD, &skills, run, step),
    });
    assert!(!asked.iter().any(|step| matches!(step, Step::Exercise { .. })), "{asked:?}");
    let (new, old) = (samples(&new.run), samples(&old.run));
    let scenarios = |of: &UnpairedSamples| of.challenger.len();
    assert_eq!((&new.versions, scenarios(new)), (&old.versions, scenarios(old)));
}

#[test]
fn a_judge_is_tested_by_all_its_second_and_third_judgements() {
    let (drive, _) = play(scarce(24, 32), 2, 0.0, GOOD);
    let jurors = panel::jurors(&drive.run);
    let of = samples(&drive.run);
    let anchors = 2 * (of.start.len() + of.challenger.len());
    assert_eq!(jurors[0].tally.known, 2 * anchors);
    assert!(!jurors[0].is_dismissed);
    assert_eq!(drive.run.state.shipment.as_ref().unwrap().verdict, Verdict::Won);
}
