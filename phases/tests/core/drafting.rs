//! The search that edits after each trial: its estimates, its edits, its end, and its candidates for the comparison.

use std::cell::RefCell;
use std::collections::HashMap;

use skilltune_phases::base::id::{CandidateId, Digest, TreeId};
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::{CriterionId, Verdict as Found};
use skilltune_phases::judging::judgement::Judgement;
use skilltune_phases::judging::score::Score;
use skilltune_phases::judging::stop::Reason;
use skilltune_phases::loops::tune::results::trials;
use skilltune_phases::loops::tune::search::explanation::{self, Explanation, Fault, LeftAlone};
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{
    Answer, Decision, Ending, Event, Outcome, Plan, Run, Search, Step, Trial, Verdict,
};
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;

use crate::drive::recast;
use crate::world::{Drive, improved, plan, stated, tree, well};

pub(crate) const FACETS: usize = 8;
const ASKED: usize = 4;

/// A skill has some of eight facets. Each scenario asks for four of them, in statements that are the same everywhere.
pub(crate) fn suite(scenarios: usize, runs: u32) -> Plan {
    let mut plan = plan(1, scenarios);
    plan.task.rules.search = Search::Draft { runs, drawn: true, tests: 0 };
    let statement = |facet: usize| {
        let how = How::Question { text: format!("Facet {facet} is there.").into() };
        Demand::new(format!("facet-{facet}").parse().expect("a plain name"), how)
    };
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.demands = (0..ASKED).map(|of| statement((nth + 2 * of) % FACETS)).collect();
        scenario.held_out = nth % 3 == 2;
    }
    plan
}

/// The facets of each version, by tree.
pub(crate) struct Skills(RefCell<HashMap<TreeId, [bool; FACETS]>>);

impl Skills {
    pub(crate) fn new(plan: &Plan, has: usize) -> Self {
        let start = std::array::from_fn(|facet| facet < has);
        Self(RefCell::new([(plan.task.target.members[0].start, start)].into()))
    }

    pub(crate) fn of(&self, run: &Run, candidate: CandidateId) -> [bool; FACETS] {
        let tree = run.candidate(candidate).expect("a candidate of the run").trees[0];
        self.0.borrow()[&tree]
    }
}

fn roll(seed: u64, step: &Step, nth: usize) -> f64 {
    let key = serde_json::to_vec(step).expect("a step has a JSON text");
    let digest = Digest::of_parts([&seed.to_le_bytes()[..], &key, &nth.to_le_bytes()]);
    f64::from(digest.as_bytes()[0]) / 256.0
}

/// An improver that fixes each requested fault with one chance, and breaks each other facet with the other chance.
#[derive(Clone, Copy)]
pub(crate) struct Improver {
    mends: f64,
    breaks: f64,
}

pub(crate) fn answer(
    seed: u64,
    noise: f64,
    improver: Improver,
    skills: &Skills,
    run: &Run,
    step: &Step,
) -> Outcome {
    match step {
        Step::Grade { candidate, trial, .. } => {
            let has = skills.of(run, *candidate);
            let facet = |nth: usize| (trial.scenario + 2 * nth) % FACETS;
            stated(run, trial.scenario, |nth| {
                let slips = roll(seed, step, nth) < noise;
                if has[facet(nth)] == slips { Found::Fail } else { Found::Pass }
            })
        }
        Step::Improve { base, .. } => {
            let mut has = skills.of(run, *base);
            let targets = run.state.rounds.last().and_then(|round| round.targets.clone()).unwrap_or_default();
            let asked: Vec<String> = targets.iter().map(|id| run.plan.task.question(id)).collect();
            for (facet, one) in has.iter_mut().enumerate() {
                let is_asked = asked.iter().any(|words| words.contains(&format!("Facet {facet} ")));
                let luck = roll(seed, step, facet);
                *one = if is_asked { *one || luck < improver.mends } else { *one && luck >= improver.breaks };
            }
            let name = format!("{has:?}");
            skills.0.borrow_mut().insert(tree(&name), has);
            improved(&name)
        }
        _ => well(run, step, 50),
    }
}

pub(crate) fn play(plan: Plan, has: usize, noise: f64, improver: Improver) -> (Drive, Skills) {
    let (seed, skills) = (plan.seed, Skills::new(&plan, has));
    let mut drive = Drive::start(plan);
    drive.finish(4, |_| 0, |run, step| answer(seed, noise, improver, &skills, run, step));
    (drive, skills)
}

pub(crate) const GOOD: Improver = Improver { mends: 0.9, breaks: 0.0 };
pub(crate) const SLOW: Improver = Improver { mends: 0.4, breaks: 0.1 };

pub(crate) fn executed(drive: &Drive, fresh: bool) -> usize {
    let done = drive.records.iter().filter(|record| match &record.event {
        Event::Done(done) => {
            matches!(&done.step, Step::Exercise { trial, .. } if (trial.ordinal > SEARCH) == fresh)
        }
        _ => false,
    });
    done.count()
}

#[test]
fn faults_are_edited_as_they_are_named_and_the_result_wins() {
    let (drive, skills) = play(suite(18, 48), 2, 0.0, GOOD);
    let shipment = drive.run.state.shipment.as_ref().unwrap();
    assert_eq!((shipment.verdict, drive.run.state.closed), (Verdict::Won, Some(Ending::Applied)));
    assert_eq!(skills.of(&drive.run, shipment.champion), [true; FACETS]);
    assert_eq!(drive.run.state.stopped, Some(Reason::Finished), "nothing is left to edit");
}

#[test]
fn it_makes_no_more_runs_than_it_was_given() {
    for runs in [24, 32, 48, 64] {
        let (drive, _) = play(suite(18, runs), 2, 0.2, Improver { mends: 0.5, breaks: 0.2 });
        let (searched, fresh) = (executed(&drive, false), executed(&drive, true));
        assert!(searched + fresh <= runs as usize, "{searched} and {fresh} of {runs}");
        assert_eq!(searched, drive.run.state.rounds.iter().map(|round| round.scenarios.len()).sum::<usize>());
    }
}

#[test]
fn after_the_first_trials_up_to_six_faults_are_edited_and_then_up_to_three() {
    let (drive, _) = play(suite(18, 48), 0, 0.0, Improver { mends: 0.1, breaks: 0.0 });
    let decisions = drive.decisions();
    let counts: Vec<usize> = decisions
        .iter()
        .filter_map(|one| match one {
            Decision::Target { criteria, .. } => Some(criteria.len()),
            _ => None,
        })
        .collect();
    assert_eq!(counts[0], 6);
    assert!(counts[1..].iter().all(|count| *count <= 3), "{counts:?}");
    let explained = explanation::of(&drive.run);
    let others: Vec<LeftAlone> = explained[0].left_alone.iter().map(|(_, why)| *why).collect();
    assert_eq!(others, [LeftAlone::OthersFirst; FACETS - 6]);
}

#[test]
fn edits_that_bring_nothing_end_the_search_early_and_ship_nothing() {
    let (drive, _) = play(suite(18, 96), 4, 0.1, Improver { mends: 0.0, breaks: 0.5 });
    assert_ne!(drive.run.state.stopped, Some(Reason::Exhausted));
    assert_eq!(drive.run.state.shipment.as_ref().unwrap().champion, drive.run.start());
    assert!(executed(&drive, false) < 60, "{}", executed(&drive, false));
}

#[test]
fn a_statement_that_failed_once_after_many_passes_is_left_alone() {
    let plan = suite(18, 96);
    let skills = Skills::new(&plan, FACETS);
    let mut drive = Drive::start(plan);
    let mut once = true;
    drive.finish(
        1,
        |_| 0,
        |run, step| match step {
            Step::Grade { trial, .. } if run.state.rounds.len() > 1 && trial.ordinal == SEARCH && once => {
                once = false;
                stated(run, trial.scenario, |nth| if nth == 0 { Found::Fail } else { Found::Pass })
            }
            _ => answer(1, 0.0, GOOD, &skills, run, step),
        },
    );
    assert!(!once, "it did fail once");
    let is_edited =
        |one: &&Decision| matches!(one, Decision::Target { criteria, .. } if !criteria.is_empty());
    assert_eq!(drive.decisions().iter().filter(|one| is_edited(one)).count(), 0);
    let explained = explanation::of(&drive.run);
    let left: Vec<&(Fault, LeftAlone)> = explained.iter().flat_map(|one| &one.left_alone).collect();
    let [(fault, LeftAlone::ProbablyMet)] = left[..] else { panic!("one is left alone: {left:?}") };
    assert!(fault.passed > 1 && fault.failed == 1, "{fault:?}");
    let next = fault.next.expect("it is asked about again");
    assert!(next.is_met && next.chance > fault.chance, "{fault:?}");
}

#[test]
fn a_statement_that_another_scenario_weighs_otherwise_is_the_same_statement() {
    let mut plan = suite(18, 48);
    let demands = plan.task.scenarios.iter_mut().flat_map(|scenario| &mut scenario.demands);
    for (weight, demand) in (1..=7).cycle().zip(demands) {
        demand.weight = weight;
        demand.must_pass = weight == 7;
    }
    let (drive, _) = play(plan, 2, 0.0, GOOD);
    let first = &explanation::of(&drive.run)[0];
    let faults = first.targets.iter().chain(first.left_alone.iter().map(|(fault, _)| fault));
    let mut missed: Vec<(&str, usize)> =
        faults.map(|fault| (fault.statement.as_str(), fault.failed)).collect();
    missed.sort_unstable();
    let expected = ["Facet 2 is there.", "Facet 3 is there.", "Facet 4 is there."];
    assert_eq!(missed.iter().map(|(words, _)| *words).take(3).collect::<Vec<_>>(), expected);
    let trials = drive.run.state.rounds[0].scenarios.len();
    assert_eq!(
        (missed.len(), missed.iter().map(|(_, failed)| failed).sum::<usize>()),
        (FACETS - 2, trials * 3)
    );
}

/// The explanation of a round once its targets are chosen, and what later rounds add to it.
#[test]
fn a_round_explains_itself_as_it_did_when_its_targets_were_chosen() {
    let (drive, _) = play(suite(18, 96), 2, 0.15, Improver { mends: 0.6, breaks: 0.1 });
    let whole = explanation::of(&drive.run);
    assert_eq!(whole.len(), drive.run.state.rounds.len());
    let mut chosen = 0;
    for (at, record) in drive.records.iter().enumerate() {
        let Event::Decided(Decision::Target { criteria, .. }) = &record.event else { continue };
        let then = Run::replay(&drive.records[..=at]).expect("a part of a journal is one");
        let explained = explanation::of(&then);
        let newest = explained.last().expect("a round has targets");
        let ids: Vec<_> = newest.targets.iter().map(|fault| fault.criterion.clone()).collect();
        assert_eq!(ids, *criteria);
        assert_eq!(*newest, without_next(&whole[explained.len() - 1]));
        chosen += 1;
    }
    assert!(chosen > 5, "{chosen} rounds chose targets");
    let next = |fault: &Fault| fault.next.filter(|next| next.is_met).map(|next| next.chance);
    let aimed = whole.iter().flat_map(|one| &one.targets);
    let mended: Vec<(f64, f64)> = aimed.filter_map(|fault| Some((fault.chance, next(fault)?))).collect();
    assert!(!mended.is_empty() && mended.iter().all(|(before, after)| after > before), "{mended:?}");
}

#[test]
fn what_one_judge_found_says_nothing_of_what_another_finds() {
    let (plan, world) = (suite(18, 96), Improver { mends: 0.2, breaks: 0.0 });
    let skills = Skills::new(&plan, 0);
    let mut drive = Drive::start(plan);
    while drive.run.state.rounds.len() < 4 {
        let step = drive.due(1).pop().expect("the search goes on");
        let outcome = answer(1, 0.0, world, &skills, &drive.run, &step);
        drive.done(step, outcome);
    }
    recast(&mut drive, &Role::EVALUATOR);
    drive.finish_alone(|run, step| answer(1, 0.0, world, &skills, run, step));
    let rounds = &drive.run.state.rounds;
    let explained = explanation::of(&drive.run);
    let faults = |nth: usize| {
        explained[nth].targets.iter().chain(explained[nth].left_alone.iter().map(|(fault, _)| fault))
    };
    let first = rounds.iter().position(|round| round.era == 1).expect("a round of the new judge");
    assert!(first > 0 && faults(first).next().is_some(), "both judges found faults");
    assert!(faults(first).all(|fault| fault.passed + fault.failed == 1), "the first trial that it judged");
    let next = (0..first).flat_map(faults).filter_map(|fault| fault.next);
    assert!(next.map(|next| rounds[next.round as usize - 1].era).all(|era| era == 0));
}

fn without_next(one: &Explanation) -> Explanation {
    let forget = |fault: &Fault| Fault { next: None, ..fault.clone() };
    Explanation {
        targets: one.targets.iter().map(forget).collect(),
        left_alone: one.left_alone.iter().map(|(fault, why)| (forget(fault), *why)).collect(),
    }
}

#[test]
fn how_many_calls_are_under_way_changes_no_decision() {
    let world = Improver { mends: 0.6, breaks: 0.2 };
    let with = |jobs| {
        let plan = suite(18, 64);
        let (seed, skills) = (plan.seed, Skills::new(&plan, 2));
        let mut drive = Drive::start(plan);
        drive.finish(jobs, |room| room - 1, |run, step| answer(seed, 0.15, world, &skills, run, step));
        drive.decisions().into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(with(1), with(8));
}

/// Returns the versions that had fresh trials, and the number of their scenarios.
fn fresh(drive: &Drive) -> (Vec<CandidateId>, usize) {
    let measure = &drive.run.state.measure;
    (measure.contestants.clone(), measure.scenarios().len())
}

#[test]
fn where_nobody_chose_what_is_held_out_the_challenger_alone_is_tried_on_it() {
    let (drive, _) = play(suite(18, 48), 2, 0.0, GOOD);
    let shipment = drive.run.state.shipment.as_ref().unwrap();
    let unpaired = shipment.unpaired.as_ref().expect("no pairs");
    assert_eq!(fresh(&drive), (vec![shipment.champion], 6));
    assert!(shipment.pairs.is_empty());
    let scenarios = |scores: &[(usize, Score)]| scores.iter().map(|one| one.0).collect::<Vec<_>>();
    assert_eq!(scenarios(&unpaired.start), drive.run.state.rounds[0].scenarios);
    let is_held_out = |nth: &usize| drive.run.plan.task.scenarios[*nth].held_out;
    assert!(scenarios(&unpaired.challenger).iter().all(is_held_out));
    let [of_start, of_champion] = trials::sides(&drive.run);
    assert_eq!(
        of_start.iter().map(|(_, trial)| trial.scenario).collect::<Vec<_>>(),
        scenarios(&unpaired.start)
    );
    assert_eq!(of_champion.len(), 6 * drive.run.confirm() as usize);
    let is_fresh = |(id, trial): &(CandidateId, Trial)| *id == shipment.champion && trial.ordinal > SEARCH;
    assert!(of_start.iter().all(|(id, _)| *id == drive.run.start()) && of_champion.iter().all(is_fresh));
    let gain = shipment.effect.unwrap().points;
    assert!((gain - 75.0).abs() < 1e-9, "from a quarter of the statements to all of them: {gain}");
}

/// Returns the points of a trial from each of its judgements.
fn judged(drive: &Drive, candidate: CandidateId, scenario: usize, fresh: bool) -> Vec<f64> {
    let of_it = drive.records.iter().filter_map(|record| match &record.event {
        Event::Done(done) => match (&done.step, &done.outcome) {
            (Step::Grade { candidate: of, trial, .. }, Ok(Answer::Judged(judgement)))
                if *of == candidate && trial.scenario == scenario && (trial.ordinal > SEARCH) == fresh =>
            {
                Some(judgement)
            }
            _ => None,
        },
        _ => None,
    });
    // The statements of an anchor do not belong to the scenario.
    let demands = &drive.run.plan.task.scenarios[scenario].demands;
    let own = |id: &CriterionId| demands.iter().any(|one| id.as_str().ends_with(&format!("/{}", one.id)));
    let met = |judgement: &Judgement| {
        judgement.whole.findings.iter().filter(|one| own(one.criterion) && one.verdict == Found::Pass).count()
    };
    of_it
        .map(|judgement| f64::from(u32::try_from(met(judgement)).expect("a small number")) * 100.0 / 4.0)
        .collect()
}

#[test]
fn what_the_challenger_alone_is_compared_by_is_judged_twice_and_counts_with_the_mean() {
    let (drive, _) = play(suite(18, 32), 2, 0.1, GOOD);
    let shipment = drive.run.state.shipment.as_ref().unwrap();
    let unpaired = shipment.unpaired.as_ref().expect("no pairs");
    let start = unpaired.start.iter().map(|one| (drive.run.start(), one, false));
    let challenger = unpaired.challenger.iter().map(|one| (shipment.challenger.unwrap(), one, true));
    let mut differing = 0;
    for (candidate, (scenario, score), is_fresh) in start.chain(challenger) {
        let judged = judged(&drive, candidate, *scenario, is_fresh);
        assert_eq!(judged.len(), 2 * if is_fresh { drive.run.confirm() as usize } else { 1 });
        let mean = judged.iter().sum::<f64>() / f64::from(u32::try_from(judged.len()).unwrap());
        assert!((score.points() - mean).abs() < 0.1, "{score:?} {judged:?}");
        differing += usize::from(judged.iter().any(|points| points.to_bits() != judged[0].to_bits()));
    }
    assert!(differing > 0, "this judge errs, and not always in the same way");
}

#[test]
fn runs_that_the_search_leaves_go_into_the_comparison() {
    let (short, _) = play(suite(18, 24), 2, 0.0, GOOD);
    let (long, _) = play(suite(18, 96), 2, 0.0, GOOD);
    assert_eq!(long.run.state.stopped, Some(Reason::Finished));
    assert!(long.run.confirm() > short.run.confirm(), "{} {}", long.run.confirm(), short.run.confirm());
    assert!(executed(&long, false) + executed(&long, true) <= 96);
}

#[test]
fn where_somebody_chose_it_both_versions_are_tried_on_it_side_by_side() {
    let mut plan = suite(18, 64);
    plan.task.rules.search = Search::Draft { runs: 64, drawn: false, tests: 0 };
    let (drive, _) = play(plan, 2, 0.0, GOOD);
    let shipment = drive.run.state.shipment.as_ref().unwrap();
    assert_eq!(shipment.verdict, Verdict::Won);
    assert!(shipment.unpaired.is_none() && !shipment.pairs.is_empty());
    assert_eq!(fresh(&drive).0, [drive.run.start(), shipment.champion]);
}

#[test]
fn trials_of_another_agent_are_no_control() {
    let plan = suite(18, 64);
    let (seed, skills) = (plan.seed, Skills::new(&plan, 2));
    let mut drive = Drive::start(plan);
    while drive.run.state.rounds.len() < 3 {
        let step = drive.due(1).pop().expect("the search goes on");
        let outcome = answer(seed, 0.0, GOOD, &skills, &drive.run, &step);
        drive.done(step, outcome);
    }
    recast(&mut drive, &Role::EXECUTOR);
    drive.finish(1, |_| 0, |run, step| answer(seed, 0.0, GOOD, &skills, run, step));
    let shipment = drive.run.state.shipment.as_ref().unwrap();
    assert!(shipment.unpaired.is_none(), "{shipment:?}");
}
