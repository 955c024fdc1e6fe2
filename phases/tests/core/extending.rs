//! A comparison that stayed open and is extended later: as many trials again, with a share of the chance of error that
//! was set aside.

use skilltune_phases::base::ending::Class;
use skilltune_phases::base::id::Digest;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::Verdict as Found;
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::results::ending::RunOutcome;
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{
    Decision, Ending, Event, Outcome, Plan, Run, Search, Shipment, Step, Trial, Tune, Verdict,
};
use skilltune_worlds::tier::sample;

use crate::drafting::{self, FACETS, GOOD, Skills};
use crate::drive::recast;
use crate::world::{Drive, judged, nth, plan, stated, well};

/// Plans one draft and a comparison of six pairs.
fn six_pairs(extensions: u32) -> Plan {
    let mut plan = plan(1, 8);
    plan.task.rules.max_iterations = 2;
    for scenario in &mut plan.task.scenarios[2..] {
        scenario.held_out = true;
    }
    plan.set_aside(extensions);
    plan
}

/// The draft is far better in the search and has the given scores in fresh trials; the start scores 50 everywhere.
fn finish(drive: &mut Drive, fresh: impl Fn(Trial) -> usize) {
    drive.finish(
        3,
        |_| 0,
        |run, step| match step {
            Step::Judge { candidate, trial, .. } => {
                let score = match (nth(run, *candidate), trial.ordinal) {
                    (0, _) => 50,
                    (_, SEARCH) => 85,
                    _ => fresh(*trial),
                };
                judged(run, score, &[])
            }
            _ => well(run, step, 0),
        },
    );
}

/// The draft is better on every second scenario, and no worse on the others.
fn half(trial: Trial) -> usize {
    if trial.scenario.is_multiple_of(2) { 90 } else { 50 }
}

/// Extends the comparison of an ended run, if it can be.
fn extend(drive: &mut Drive) -> bool {
    let Some(decision) = Tune::reopening(&drive.run) else { return false };
    drive.record(Event::Decided(decision));
    true
}

fn shipment(drive: &Drive) -> &Shipment {
    drive.run.state.shipment.as_ref().expect("the run has come to its end")
}

/// Returns the fresh executions after this number of records.
fn executed(drive: &Drive, before: usize) -> Vec<Trial> {
    let done = drive.records[before..].iter().filter_map(|record| match &record.event {
        Event::Done(done) => match &done.step {
            Step::Exercise { trial, .. } if trial.ordinal > SEARCH => Some(*trial),
            _ => None,
        },
        _ => None,
    });
    done.collect()
}

#[test]
fn an_open_comparison_goes_on_with_as_many_trials_and_decides_by_all_of_them() {
    let mut drive = Drive::start(six_pairs(1));
    finish(&mut drive, half);
    assert_eq!((shipment(&drive).verdict, drive.run.class()), (Verdict::Indecisive, Class::Short));
    assert_eq!((shipment(&drive).interim_analyses, drive.run.planned_looks()), (1, 2));
    let before = drive.records.len();
    assert_eq!(executed(&drive, 0).len(), 2 * 6);
    assert!(extend(&mut drive));
    assert_eq!((drive.run.outcome(), drive.run.closed_at), (RunOutcome::Paused, None));
    finish(&mut drive, |trial| if trial.ordinal == SEARCH + 1 { half(trial) } else { 90 });
    let fresh = executed(&drive, before);
    assert_eq!(fresh.len(), 2 * 6);
    assert!(fresh.iter().all(|trial| trial.ordinal == SEARCH + 2), "{fresh:?}");
    let Shipment { verdict, effect: Some(effect), pairs, interim_analyses, .. } = shipment(&drive) else {
        panic!("it was tested")
    };
    assert_eq!((*verdict, drive.run.state.closed), (Verdict::Won, Some(Ending::Applied)));
    assert_eq!((pairs.len(), *interim_analyses, drive.run.planned_looks()), (6, 2, 2));
    // Forty points where it was better before, too, and twenty elsewhere.
    assert!(effect.lower > 0.0 && effect.points <= 30.0, "{effect:?}");
    assert!(!extend(&mut drive), "it has a verdict");
    assert_eq!(Run::replay(&drive.records).unwrap(), drive.run);
}

#[test]
fn each_part_has_its_share_of_the_chance_of_error_and_there_are_no_more_than_were_set_aside() {
    let mut drive = Drive::start(six_pairs(2));
    let alpha = Confidence::default().alpha() / 3.0;
    for part in 1..=3_u32 {
        finish(&mut drive, half);
        assert_eq!((shipment(&drive).verdict, drive.run.confirm()), (Verdict::Indecisive, part));
        let looks = drive.run.interim_analyses();
        assert_eq!(looks.iter().map(|look| look.pairs).collect::<Vec<_>>(), [6]);
        assert!((looks[0].alpha - alpha).abs() < 1e-12, "{looks:?}");
        assert_eq!(shipment(&drive).interim_analyses, part as usize);
        assert_eq!(extend(&mut drive), part < 3);
    }
    // A journal written by someone else may ask for more.
    let before = drive.run.state.clone();
    drive.record(Event::Decided(Decision::LookAgain { effect: None }));
    assert_eq!(drive.run.state, before);
    assert_eq!(drive.due(1), []);
}

#[test]
fn without_a_share_that_was_set_aside_nothing_is_extended() {
    let mut drive = Drive::start(six_pairs(0));
    finish(&mut drive, half);
    assert!(!extend(&mut drive));
    // Six pairs can win with a sixth of the chance of error, and not with a seventh.
    assert_eq!([1, 5, 6, 10].map(|extensions| six_pairs(extensions).task.rules.extensions), [1, 5, 5, 5]);
    let mut four = plan(1, 6);
    four.task.scenarios[2..].iter_mut().for_each(|scenario| scenario.held_out = true);
    four.set_aside(1);
    assert_eq!(four.task.rules.extensions, 0, "four pairs need the whole chance of error");
}

#[test]
fn other_agents_begin_with_trials_of_their_own_and_get_no_share_back() {
    let mut drive = Drive::start(six_pairs(1));
    finish(&mut drive, half);
    assert!(extend(&mut drive));
    recast(&mut drive, &Role::EXECUTOR);
    let before = drive.records.len();
    finish(&mut drive, |_| 90);
    let fresh = executed(&drive, before);
    assert!(fresh.len() == 2 * 6 && fresh.iter().all(|trial| trial.era == 1), "{fresh:?}");
    assert_eq!(shipment(&drive).verdict, Verdict::Won);
    let alphas: f64 = drive.run.interim_analyses().iter().map(|look| look.alpha).sum();
    assert!((alphas - Confidence::default().alpha() / 2.0).abs() < 1e-12, "{alphas}");
    assert!(!extend(&mut drive));
    assert_eq!(Run::replay(&drive.records).unwrap(), drive.run);
}

#[test]
fn where_only_the_challenger_was_tried_the_extension_has_pairs_of_its_own() {
    let mut plan = drafting::suite(18, 48);
    plan.set_aside(1);
    let skills = Skills::new(&plan, 2);
    // At first the challenger is like the start on four of six scenarios.
    let answer = |run: &Run, step: &Step| match step {
        Step::Grade { candidate, trial, .. } => {
            let is_like = trial.ordinal > SEARCH && trial.era == 0 && trial.scenario >= 6;
            let has = skills.of(run, if is_like { run.start() } else { *candidate });
            let facet = |nth: usize| (trial.scenario + 2 * nth) % FACETS;
            stated(run, trial.scenario, |nth| if has[facet(nth)] { Found::Pass } else { Found::Fail })
        }
        _ => drafting::answer(7, 0.0, GOOD, &skills, run, step),
    };
    let mut drive = Drive::start(plan);
    drive.finish_alone(answer);
    let first = shipment(&drive);
    assert_eq!((first.verdict, first.unpaired.is_some(), first.pairs.len()), (Verdict::Indecisive, true, 0));
    let (before, confirm) = (drive.records.len(), drive.run.confirm());
    assert!(extend(&mut drive));
    drive.finish_alone(answer);
    let fresh = executed(&drive, before);
    assert_eq!(fresh.len(), 2 * 6 * confirm as usize, "both versions, side by side");
    assert!(fresh.iter().all(|trial| trial.era == 1), "{fresh:?}");
    let second = shipment(&drive);
    assert_eq!((second.verdict, second.unpaired.is_some(), second.pairs.len()), (Verdict::Won, false, 6));
    assert_eq!(Run::replay(&drive.records).unwrap(), drive.run);
}

/// Answers for versions that are equal in fresh trials: each has what the start has, and errs by chance.
fn equal(seed: u64, skills: &Skills, run: &Run, step: &Step) -> Outcome {
    match step {
        Step::Grade { candidate, trial, .. } if trial.ordinal > SEARCH || *candidate == run.start() => {
            let has = skills.of(run, run.start());
            let key = serde_json::to_vec(&(candidate, trial)).expect("a trial has a JSON text");
            stated(run, trial.scenario, |nth| {
                let digest = Digest::of_parts([&seed.to_le_bytes()[..], &key, &nth.to_le_bytes()]);
                let errs = digest.as_bytes()[0] < 64;
                if has[(trial.scenario + 2 * nth) % FACETS] == errs { Found::Fail } else { Found::Pass }
            })
        }
        _ => drafting::answer(seed, 0.0, GOOD, skills, run, step),
    }
}

/// Returns the last verdict of a job's nights: of its search, and of as many retries as it needs and has.
fn verdict_of_nights(seed: u64) -> Verdict {
    let mut plan = drafting::suite(18, 48);
    plan.seed = seed;
    plan.task.rules.search = Search::Draft { runs: 48, drawn: seed.is_multiple_of(2), tests: 0 };
    let retries = if seed % 4 < 2 { 1 } else { 2 };
    plan.set_aside(retries);
    assert_eq!(plan.task.rules.extensions, retries);
    let skills = Skills::new(&plan, 2);
    let mut drive = Drive::start(plan);
    loop {
        drive.finish_alone(|run, step| equal(seed, &skills, run, step));
        if !extend(&mut drive) {
            return shipment(&drive).verdict;
        }
    }
}

/// For people 45 jobs, in CI all 400.
#[test]
fn in_four_hundred_jobs_of_equal_versions_retries_keep_the_false_wins_within_the_confidence() {
    let verdicts: Vec<Verdict> = sample(0..400, 9).into_iter().map(verdict_of_nights).collect();
    let number = |count: usize| f64::from(u32::try_from(count).expect("at most all"));
    let of = |verdict: Verdict| number(verdicts.iter().filter(|one| **one == verdict).count());
    let (all, alpha) = (number(verdicts.len()), Confidence::default().alpha());
    // A sample may be unlucky by two standard errors.
    let luck = if verdicts.len() < 400 { 2.0 * (all * alpha * (1.0 - alpha)).sqrt() } else { 0.0 };
    assert!(of(Verdict::Won) <= alpha * all + luck, "{} of {all} won", of(Verdict::Won));
    assert!(of(Verdict::Indecisive) > 0.5 * all, "most of them were retried: {verdicts:?}");
}
