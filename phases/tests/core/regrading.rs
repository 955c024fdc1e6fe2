//! A finished comparison, judged again with the current suite and without a single execution.

use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::ending::Class;
use skilltune_phases::base::id::CandidateId;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::Verdict as Finding;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::aims::regrade::{NoComparison, Regrading, regrade};
use skilltune_phases::loops::tune::{
    Aim, Basis, Decision, Ending, LeftOut, Outcome, Plan, Run, Search, Shipment, Sides, Step, Tune, Verdict,
};
use skilltune_phases::runs::event::{Event, FailureKind};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::skills::target::Place;
use skilltune_phases::suites::checks::{Check, How, Times};
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::{Scenario, Tools};

use crate::drafting::{GOOD, Skills, answer};
use crate::drive::{recast, reread, tree};
use crate::world::{Drive, demanding, failed, inspected, judged, nth, plan, random_answer, stated, well};

/// Plans six scenarios for this many members; every second one has demands.
fn older_of(members: usize) -> Plan {
    let mut plan = demanding(plan(members, 6));
    let trees = (0..members).map(|nth| tree(&format!("challenger {nth}"))).collect();
    let sides = Sides { start: "old".into(), challenger: "new".into(), trees, regraded: None };
    plan.task.aim = Aim::Compare(Box::new(sides));
    plan
}

fn is_start(run: &Run, id: CandidateId) -> bool {
    nth(run, id) == 0
}

/// The start scores 50 and the challenger 90; all else goes well.
fn better(run: &Run, step: &Step) -> Outcome {
    match step {
        Step::Judge { candidate, .. } => judged(run, if is_start(run, *candidate) { 50 } else { 90 }, &[]),
        Step::Grade { candidate, trial, .. } if is_start(run, *candidate) => {
            stated(run, trial.scenario, |_| Finding::Fail)
        }
        _ => well(run, step, 0),
    }
}

fn older(members: usize) -> Drive {
    let mut drive = Drive::start(older_of(members));
    drive.finish_alone(better);
    drive
}

fn regrading(of: &Drive, suite: &[Scenario]) -> Regrading {
    regrade(&of.run, suite).expect("it has compared")
}

/// Returns the new run with its first records.
pub(crate) fn begun(of: &Drive, regrading: &Regrading) -> Drive {
    let mut plan = (*of.run.plan).clone();
    plan.run = "again".parse().expect("a plain id");
    plan.task.rules.confirm = regrading.confirm;
    plan.task.scenarios.clone_from(&regrading.scenarios);
    plan.task.aim = Aim::Compare(Box::new(Sides {
        start: "old".into(),
        challenger: "new".into(),
        trees: regrading.challenger.trees.clone(),
        regraded: Some(regrading.regraded.clone()),
    }));
    let mut drive = Drive::start(plan);
    for done in &regrading.answers {
        drive.record_after(0, Event::Done(Box::new(done.clone())));
    }
    drive
}

fn again(of: &Drive, suite: &[Scenario]) -> Drive {
    begun(of, &regrading(of, suite))
}

/// Runs to the end and returns the requested steps.
pub(crate) fn steps(drive: &mut Drive, answer: impl Fn(&Run, &Step) -> Outcome) -> Vec<Step> {
    let mut steps = Vec::new();
    drive.finish_alone(|run, step| {
        steps.push(step.clone());
        answer(run, step)
    });
    steps
}

/// Returns whether a judge is asked about a trial, not about an anchor.
fn judges(step: &Step) -> bool {
    match step {
        Step::Grade { asked, .. } | Step::Judge { asked, .. } => asked.anchor.is_none(),
        _ => false,
    }
}

fn executes(step: &Step) -> bool {
    matches!(step, Step::Exercise { .. } | Step::SetUp { .. })
}

fn shipment(run: &Run) -> &Shipment {
    run.state.shipment.as_ref().expect("the run has come to its end")
}

fn suite(of: &Drive) -> Vec<Scenario> {
    of.run.plan.task.scenarios.clone()
}

#[test]
fn the_same_suite_and_judge_say_the_same_of_the_same_trials_and_nothing_is_executed() {
    for members in [1, 3] {
        let old = older(members);
        let mut new = again(&old, &suite(&old));
        let asked = steps(&mut new, better);
        assert!(!asked.is_empty() && !asked.iter().any(executes), "{asked:?}");
        assert_eq!(shipment(&new.run), shipment(&old.run));
        assert_eq!((new.run.state.closed, new.run.class()), (Some(Ending::Compared), Class::Reached));
        assert_eq!(new.run.ledger.of(&Role::EXECUTOR).calls, 0);
    }
}

/// A judge with an unchanged request gets a stored answer, because its call has the same key.
#[test]
fn a_judge_is_asked_in_the_same_words_under_the_same_key_though_numbers_have_changed() {
    let old = older(1);
    let mut left = suite(&old);
    left.swap(2, 5);
    let gone = left.remove(0);
    let key = |run: &Run, step: &Step| Some(Tune::request(run, step)?.as_ref().step.clone());
    let mut before = Vec::new();
    let mut replayed = Drive::start(older_of(1));
    replayed.finish_alone(|run, step| {
        before.extend(key(run, step).filter(|_| judges(step)));
        better(run, step)
    });
    let regrading = regrading(&old, &left);
    assert_eq!(regrading.regraded.left_out, [(gone.id, LeftOut::Gone)]);
    let mut new = begun(&old, &regrading);
    let asked = steps(&mut new, |run, step| {
        let is_known = key(run, step).is_some_and(|key| before.contains(&key));
        assert!(!judges(step) || is_known, "{step:?}");
        better(run, step)
    });
    assert_eq!(asked.iter().filter(|step| judges(step)).count(), before.len() - 2);
}

#[test]
fn a_changed_check_turns_the_verdict_and_asks_nobody_where_nothing_is_expected() {
    let mut plan = older_of(1);
    let file = Check::File { path: "out.md".into(), times: Times::ONCE_OR_MORE };
    let demand = |check| Demand::new("made".parse().unwrap(), How::Check(check));
    for scenario in &mut plan.task.scenarios {
        scenario.demands = vec![demand(file.clone())];
    }
    let mut old = Drive::start(plan);
    old.finish_alone(|run, step| well(run, step, 0));
    assert_eq!(shipment(&old.run).verdict, Verdict::Tied);
    let mut suite = suite(&old);
    for scenario in &mut suite {
        let other = Check::File { path: "other.md".into(), times: Times::ONCE_OR_MORE };
        scenario.demands = vec![demand(other)];
    }
    let mut new = again(&old, &suite);
    assert!(Tune::callable(&new.run.plan).is_empty(), "no agent has to be here");
    let asked = steps(&mut new, |run, step| match step {
        Step::Inspect { trial, kept, .. } => {
            let start = run.candidate(run.start()).unwrap().trees[0];
            let of_start = kept.left == tree(&format!("left of {start}"));
            inspected(run, *trial, Place(0), |_| Some(!of_start))
        }
        other => panic!("nothing else is asked: {other:?}"),
    });
    assert_eq!((asked.len(), shipment(&new.run).verdict), (12, Verdict::Won));
}

#[test]
fn what_its_executors_would_find_otherwise_is_named_and_left_out() {
    let old = older(1);
    let of = |change: &dyn Fn(&mut Scenario)| {
        let mut suite = suite(&old);
        change(&mut suite[1]);
        regrading(&old, &suite).regraded.left_out.first().map(|(id, why)| (id.to_string(), *why))
    };
    let named = |why| Some(("scenario-1".to_owned(), why));
    assert_eq!(of(&|_| {}), None);
    assert_eq!(of(&|one| one.description.push('!')), named(LeftOut::TaskChanged));
    assert_eq!(of(&|one| one.requirements.push("x".into())), named(LeftOut::TaskChanged));
    assert_eq!(of(&|one| one.success_criteria.push('x')), named(LeftOut::TaskChanged));
    assert_eq!(of(&|one| one.files = Some(tree("files"))), named(LeftOut::FilesChanged));
    assert_eq!(of(&|one| one.setup = Some(vec!["make".into()])), named(LeftOut::SetupChanged));
    assert_eq!(of(&|one| one.git = true), named(LeftOut::SetupChanged));
    assert_eq!(of(&|one| one.tools = Some(Tools::Shell)), named(LeftOut::ToolsChanged));
    assert_eq!(of(&|one| one.tools = Some(Tools::Files)), None, "it had no other");
    // Only the judge sees these.
    assert_eq!(of(&|one| one.expected = Some("a page".into())), None);
    assert_eq!(of(&|one| one.tags.push("x".into())), None);
    // Only the artifacts of this trial were kept.
    let statement = Demand::new("so".parse().unwrap(), How::Question { text: "It is so.".into() });
    let check = suite(&old)[0].demands[0].clone();
    assert_eq!(of(&|one| one.demands = vec![statement.clone()]), None);
    assert_eq!(of(&|one| one.demands = vec![statement.clone(), check.clone()]), named(LeftOut::NotKept));
    assert_eq!(of(&|one| one.id = "other".parse().unwrap()), named(LeftOut::Gone));
    let mut more = suite(&old);
    more.push(Scenario::new("more".parse().unwrap(), "more"));
    let left_out = regrading(&old, &more).regraded.left_out;
    assert_eq!(left_out, [("more".parse().unwrap(), LeftOut::New)]);
}

#[test]
fn where_executors_have_the_skill_installed_success_criteria_are_the_judges_alone() {
    let mut plan = older_of(1);
    plan.task.delivery = Delivery::Installed { at: "skills".into() };
    let mut old = Drive::start(plan);
    old.finish_alone(better);
    let mut suite = suite(&old);
    suite[1].success_criteria = "It rhymes".into();
    assert_eq!(regrading(&old, &suite).regraded.left_out, []);
}

#[test]
fn what_counted_as_failed_fails_again_and_what_was_missing_is_missing_again() {
    let mut old = Drive::start(older_of(1));
    let slow = |run: &Run, step: &Step| match step {
        Step::Exercise { skill, trial, .. } if *skill == run.state.candidates[0].trees[0] => {
            match trial.scenario {
                1 => Some(failed(FailureKind::TimedOut)),
                3 => Some(failed(FailureKind::Crashed)),
                _ => None,
            }
        }
        _ => None,
    };
    old.finish_alone(|run, step| slow(run, step).unwrap_or_else(|| better(run, step)));
    let regrading = regrading(&old, &suite(&old));
    // Scenarios 0, 2 and 4 have a statement; 1, 3 and 5 are judged as a whole.
    assert_eq!((regrading.regraded.trials, regrading.regraded.judged), (11, 10));
    let mut new = begun(&old, &regrading);
    let asked = steps(&mut new, better);
    assert!(!asked.iter().any(executes), "{asked:?}");
    assert_eq!(shipment(&new.run).pairs, shipment(&old.run).pairs);
    let pair = |nth| shipment(&new.run).pairs.iter().find(|pair| pair.scenario == nth);
    assert_eq!(pair(1).map(|pair| pair.start.points()), Some(0.0));
    assert_eq!(pair(3), None);
}

#[test]
fn a_judge_that_changes_in_the_middle_judges_all_of_it_anew_and_nothing_is_executed() {
    let old = older(1);
    let mut new = again(&old, &suite(&old));
    while new.run.state.measure.settled() < 3 {
        let step = new.due(1).pop().expect("there are more");
        let outcome = better(&new.run, &step);
        new.done(step, outcome);
    }
    recast(&mut new, &Role::EVALUATOR);
    assert_eq!(new.run.state.measure.settled(), 0);
    let asked = steps(&mut new, better);
    assert!(!asked.iter().any(executes), "{asked:?}");
    assert_eq!(shipment(&new.run).verdict, Verdict::Won);
}

#[test]
fn a_run_that_was_judged_anew_can_be_judged_anew() {
    let old = older(1);
    let mut fewer = suite(&old);
    fewer.remove(2);
    let mut second = again(&old, &fewer);
    second.finish_alone(better);
    let third = regrading(&second, &fewer);
    let of: RunId = "test".parse().unwrap();
    assert_eq!((&third.regraded.run, &third.regraded.numbers), (&of, &vec![0, 1, 3, 4, 5]));
    let mut third = begun(&second, &third);
    assert!(!steps(&mut third, better).iter().any(executes));
    assert_eq!(shipment(&third.run), shipment(&second.run));
}

/// Plays a winning search that holds out six scenarios.
fn searched() -> Drive {
    let mut plan = plan(1, 9);
    plan.task.rules.max_iterations = 2;
    plan.task.scenarios.iter_mut().skip(3).for_each(|scenario| scenario.held_out = true);
    let mut drive = Drive::start(plan);
    drive.finish_alone(better);
    drive
}

#[test]
fn of_a_search_its_held_out_scenarios_decide_again_and_its_own_are_not_asked_for() {
    let old = searched();
    assert_eq!(shipment(&old.run).verdict, Verdict::Won);
    let mut suite = suite(&old);
    // If a suite marks none, the run draws them.
    for scenario in &mut suite {
        scenario.held_out = false;
    }
    let regrading = regrading(&old, &suite);
    assert_eq!((regrading.scenarios.len(), regrading.regraded.left_out.len()), (6, 0));
    let mut new = begun(&old, &regrading);
    assert_eq!(
        (new.run.plan.basis(), new.run.plan.interim_analyses()),
        (Basis::HeldOut, old.run.plan.interim_analyses())
    );
    steps(&mut new, better);
    assert_eq!(shipment(&new.run).effect, shipment(&old.run).effect);
    let mut all = (*old.run.plan).clone();
    all.task.scenarios.iter_mut().for_each(|scenario| scenario.held_out = false);
    let mut all = Drive::start(all);
    all.finish_alone(better);
    let new = again(&all, &suite);
    assert_eq!(new.run.plan.basis(), Basis::Searched);
}

/// Twelve scenarios: the older run stopped at its first interim analysis.
#[test]
fn where_the_older_run_stopped_early_its_trials_decide_or_nothing_does() {
    let mut plan = older_of(1);
    plan.task.scenarios = crate::world::plan(1, 12).task.scenarios;
    let mut old = Drive::start(plan);
    old.finish_alone(better);
    let (analyses, pairs) = (old.run.plan.interim_analyses(), shipment(&old.run).pairs.len());
    assert!(analyses.len() > 1 && pairs < 12, "{analyses:?}");
    let mut same = again(&old, &suite(&old));
    steps(&mut same, better);
    assert_eq!(shipment(&same.run), shipment(&old.run));
    let mut unclear = again(&old, &suite(&old));
    let asked = steps(&mut unclear, |run, step| match step {
        Step::Judge { candidate, trial, .. } if !is_start(run, *candidate) => {
            judged(run, 30 + 40 * (trial.scenario % 2), &[])
        }
        _ => better(run, step),
    });
    let shipped = shipment(&unclear.run);
    assert_eq!((shipped.verdict, shipped.pairs.len()), (Verdict::Indecisive, pairs));
    assert_eq!(asked.iter().filter(|step| judges(step)).count(), 2 * pairs);
}

/// Answers and failures depend on the step alone, and so do the scenarios for retrying a winner.
#[test]
fn where_every_step_is_answered_as_before_so_is_the_whole() {
    let mut again_tried = 0;
    for world in 0..150 {
        let mut plan = older_of(1);
        if world % 2 == 0 {
            plan.task.scenarios = crate::world::plan(1, 12).task.scenarios;
        }
        let answer = |run: &Run, step: &Step| match step {
            // The challenger is better overall, and much worse in a few trials.
            Step::Judge { candidate, trial, .. } if !is_start(run, *candidate) => {
                let roll = (world * 7 + trial.scenario * 5 + trial.ordinal as usize * 3) % 11;
                judged(run, if roll == 0 { 5 } else { 90 }, &[])
            }
            _ => random_answer(world as u64, run, step),
        };
        let mut old = Drive::start(plan);
        old.finish_alone(answer);
        again_tried += usize::from(old.run.state.retrial.is_some());
        let mut new = again(&old, &suite(&old));
        assert!(!steps(&mut new, answer).iter().any(executes));
        assert_eq!(shipment(&new.run), shipment(&old.run), "world {world}");
    }
    assert!(again_tried > 2, "{again_tried} worlds with a fall");
}

#[test]
fn a_fall_that_nobody_can_try_again_stands() {
    let mut plan = older_of(1);
    plan.task.scenarios = crate::world::plan(1, 12).task.scenarios;
    let mut old = Drive::start(plan);
    // The result is not clear before the end, so all are tried.
    old.finish_alone(|run, step| match step {
        Step::Judge { trial, .. } => judged(run, 30 + 40 * (trial.scenario % 2), &[]),
        _ => well(run, step, 0),
    });
    let mut new = again(&old, &suite(&old));
    let asked = steps(&mut new, |run, step| match step {
        Step::Judge { candidate, trial, .. } => {
            let falls = trial.scenario == 1;
            judged(run, if is_start(run, *candidate) == falls { 90 } else { 10 }, &[])
        }
        _ => better(run, step),
    });
    assert!(!asked.iter().any(executes), "{asked:?}");
    assert_eq!((shipment(&new.run).verdict, &shipment(&new.run).fell), (Verdict::Regressed, &vec![1]));
    let is_retry = |decision: &&Decision| matches!(decision, Decision::Retry { .. });
    assert!(new.decisions().into_iter().any(|decision| is_retry(&decision)));
}

#[test]
fn nothing_is_judged_anew_where_nothing_was_compared() {
    let mut open = Drive::start(older_of(1));
    open.due(1);
    assert_eq!(regrade(&open.run, &[]).unwrap_err(), NoComparison::Open);
    let mut alone = Drive::start(plan(1, 1));
    alone.finish_alone(|run, step| well(run, step, 95));
    assert_eq!(shipment(&alone.run).verdict, Verdict::Unchallenged);
    assert_eq!(regrade(&alone.run, &[]).unwrap_err(), NoComparison::None);
}

#[test]
fn a_journal_that_somebody_else_wrote_is_read_without_a_panic() {
    let mut foreign = Drive::start(older_of(1));
    let stranger = CandidateId::of(&[tree("nobody's")]);
    foreign.record(Event::Decided(Decision::Compare { challenger: stranger, trials: None }));
    foreign.record(Event::Decided(Decision::Close(Ending::Compared)));
    assert_eq!(regrade(&foreign.run, &suite(&foreign)).unwrap_err(), NoComparison::None);
    let old = older(1);
    let mut strange = regrading(&old, &suite(&old));
    strange.regraded.numbers = vec![usize::MAX, 0, 0];
    strange.challenger.trees = vec![tree("a")];
    let mut new = begun(&old, &strange);
    new.finish_alone(better);
    assert_eq!(shipment(&new.run).verdict, Verdict::Unjudged);
}

#[test]
fn no_run_makes_more_calls_than_were_named_and_its_fold_is_the_live_state() {
    for world in 0..20 {
        let mut old = Drive::start(older_of(2));
        old.finish_alone(|run, step| random_answer(world, run, step));
        let regrading = regrading(&old, &suite(&old));
        let mut new = begun(&old, &regrading);
        let asked = steps(&mut new, |run, step| random_answer(world + 100, run, step));
        assert!(!asked.iter().any(executes), "{asked:?}");
        let judged = asked.iter().filter(|step| step.role().is_some()).count() as u64;
        let most = Tune::most_calls(&new.run.plan);
        assert!(judged <= *most.of(&Role::EVALUATOR), "{judged} of {most:?}");
        for end in 1..=new.records.len() {
            let prefix: Vec<_> = new.records[..end].iter().map(reread).collect();
            let run = Run::replay(&prefix).unwrap();
            assert!(end < new.records.len() || run == new.run, "the fold is the live state");
        }
    }
}

/// Plays a winning search by drafts: only the challenger was tried on held-out scenarios.
fn drafted(drawn: bool) -> Drive {
    let mut plan = crate::drafting::suite(18, 48);
    plan.task.rules.search = Search::Draft { runs: 48, drawn, tests: 0 };
    let skills = Skills::new(&plan, 2);
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| answer(0, 0.0, GOOD, &skills, run, step));
    assert_eq!(shipment(&drive.run).verdict, Verdict::Won);
    assert_eq!(shipment(&drive.run).unpaired.is_some(), drawn);
    drive
}

/// All results of the start miss everything, and all results of the challenger meet everything.
fn clear(run: &Run, step: &Step) -> Outcome {
    match step {
        Step::Grade { candidate, trial, .. } => {
            let found = if is_start(run, *candidate) { Finding::Fail } else { Finding::Pass };
            stated(run, trial.scenario, |_| found)
        }
        _ => well(run, step, 0),
    }
}

#[test]
fn a_win_of_a_search_by_drafts_is_judged_anew_by_the_trials_that_it_rests_on() {
    for drawn in [true, false] {
        let old = drafted(drawn);
        let regrading = regrading(&old, &suite(&old));
        assert_eq!((regrading.regraded.unpaired, regrading.confirm), (drawn, old.run.confirm()));
        let mut new = begun(&old, &regrading);
        let asked = steps(&mut new, clear);
        assert!(!asked.is_empty() && !asked.iter().any(executes), "{asked:?}");
        let (new, old) = (shipment(&new.run), shipment(&old.run));
        assert_eq!((new.verdict, new.pairs.len()), (Verdict::Won, old.pairs.len()));
        let counts = |of: &Shipment| {
            of.unpaired.as_ref().map(|unpaired| (unpaired.start.len(), unpaired.challenger.len()))
        };
        assert_eq!(counts(new), counts(old));
        assert_eq!(new.effect.map(|effect| effect.points), Some(100.0));
    }
}

#[test]
fn a_judge_that_changes_judges_the_starts_first_trials_anew_too() {
    let old = drafted(true);
    let regrading = regrading(&old, &suite(&old));
    for judged_before in [2, 9] {
        let mut new = begun(&old, &regrading);
        for _ in 0..judged_before {
            let step = new.due(1).pop().expect("there are more");
            let outcome = clear(&new.run, &step);
            new.done(step, outcome);
        }
        recast(&mut new, &Role::EVALUATOR);
        let asked = steps(&mut new, clear);
        assert!(!asked.iter().any(executes), "{asked:?}");
        assert_eq!(asked.iter().filter(|step| judges(step)).count(), regrading.regraded.trials as usize);
        assert_eq!(shipment(&new.run).verdict, Verdict::Won);
        let most = Tune::most_calls(&new.run.plan);
        assert!(u64::from(new.run.ledger.of(&Role::EVALUATOR).calls) <= 2 * *most.of(&Role::EVALUATOR));
        let replayed = Run::replay(&new.records.iter().map(reread).collect::<Vec<_>>()).unwrap();
        assert!(replayed == new.run, "the fold is the live state");
    }
}
