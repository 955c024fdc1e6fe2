//! Properties of every history of `evolve`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::course::Entry;
use skilltune_phases::loops::evolve::decision::{Ending, PassKind};
use skilltune_phases::loops::evolve::oracle::{Light, Probed};
use skilltune_phases::loops::evolve::receipt::{Receipt, Word};
use skilltune_phases::loops::evolve::task::Apply;
use skilltune_phases::loops::evolve::{Evolve, Run, Step};
use skilltune_phases::runs::proposal::Form;
use skilltune_phases::suites::checks::RunThem;

use super::ending;
use super::world::{Drive, Outcome, World, prompt};
use crate::drive::{assert_fold_is_live, tree};
use crate::laws::{any_ceilings, vec_of_picks};
use crate::pairs::{
    assert_any_order_ends_the_same, assert_ceilings_change_nothing, assert_ends_the_same,
    assert_goes_on_later, assert_outages_change_nothing,
};

/// What a world and its plan are made of.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn by itself")]
struct Drawn {
    seed: u64,
    apply: Apply,
    retries: u32,
    looks_for_drift: bool,
    is_dirty: bool,
    is_given: bool,
    checks: Option<RunThem>,
    has_oracles: bool,
    has_strength: bool,
    has_control: bool,
}

fn any_drawn() -> impl Strategy<Value = Drawn> {
    let apply = prop_oneof![
        Just(Apply::Never),
        Just(Apply::Tree),
        Just(Apply::Propose(Form::Branch)),
        Just(Apply::Propose(Form::Patch)),
    ];
    let checks = prop::option::of(prop::sample::select(vec![RunThem::Always, RunThem::Ask, RunThem::Never]));
    let is = (any::<bool>(), any::<bool>(), any::<bool>());
    let has = (any::<bool>(), any::<bool>(), any::<bool>());
    (any::<u64>(), apply, 0_u32..=2, is, checks, has).prop_map(
        |(seed, apply, retries, (looks_for_drift, is_dirty, is_given), checks, has)| Drawn {
            seed,
            apply,
            retries,
            looks_for_drift,
            is_dirty,
            is_given,
            checks,
            has_oracles: has.0,
            has_strength: has.1,
            has_control: has.2,
        },
    )
}

impl Drawn {
    fn world(&self) -> World {
        let mut world = World::random(self.seed);
        let planned = world.planned();
        let task = &mut world.plan.task;
        (task.apply, task.retries) = (self.apply, self.retries);
        task.rules.looks_for_drift = self.looks_for_drift;
        task.committed = self.is_dirty.then(|| tree("head"));
        task.plan = self.is_given.then_some(planned);
        (task.has_oracles, task.has_strength) = (self.has_oracles, self.has_strength);
        if let Some(run) = self.checks {
            task.checks.run = run;
            task.spec.criteria[0].check = Some(vec!["make".to_owned()]);
        }
        if self.has_control { world.with_control() } else { world }
    }

    fn answer(&self, world: &World, run: &Run, step: &Step) -> Outcome {
        world.answer_or_fail(self.seed, run, step, run.attempts(step))
    }
}

/// Whether the merged work leads from the unchanged project to a tree, without a gap.
fn leads_to(run: &Run, result: TreeId) -> bool {
    let works = run.works_of(result);
    let steps = works.windows(2).all(|two| two[0].after == two[1].before);
    let ends = works.first().zip(works.last());
    steps && ends.is_some_and(|(first, last)| first.before == tree("base") && last.after == result)
}

/// A machine has seen what the word of a receipt says.
fn assert_is_earned(run: &Run, receipt: &Receipt) {
    let oracle = receipt.oracle.as_ref();
    let light = |end: &Option<Probed>| end.as_ref().map(|end| end.light);
    let (before, after) = oracle.map(|oracle| (light(&oracle.before), light(&oracle.after))).unzip();
    let (before, after) = (before.flatten(), after.flatten());
    let is_check = oracle.is_some_and(|oracle| oracle.is_check);
    match receipt.word {
        Word::Verified => {
            assert!(before == Some(Light::Red) || is_check && before != Some(Light::Green), "{receipt:?}");
            assert_eq!(after, Some(Light::Green), "{receipt:?}");
        }
        Word::AlreadyMet => assert_eq!([before, after], [Some(Light::Green); 2], "{receipt:?}"),
        Word::Disputed => {
            assert!(!is_check && oracle.is_some() && after != Some(Light::Green), "{receipt:?}");
        }
        Word::Judged => assert!(receipt.why.is_some(), "{receipt:?} {:?}", run.verdict()),
        Word::NotMet => {}
    }
}

proptest! {
    #[test]
    fn the_fold_of_every_prefix_is_the_live_state(drawn in any_drawn(), order in vec_of_picks()) {
        let world = drawn.world();
        let view = |run: &Run| (run.verdict(), run.result(), format!("{:?}", run.tasks()), run.receipts());
        assert_fold_is_live(world.plan.clone(), order, view, |run, step| drawn.answer(&world, run, step));
    }

    #[test]
    fn the_same_answers_give_the_same_run_and_prompts_in_any_order_at_any_number_of_jobs(
        drawn in any_drawn(), jobs in 2_usize..9, order in vec_of_picks(),
    ) {
        let world = drawn.world();
        // The prompt of each try, as of the time when it ends.
        let prompts = RefCell::new(BTreeMap::new());
        let [alone, crowded] = assert_any_order_ends_the_same(&world.plan, (jobs, order), |run, step| {
            if Evolve::role(step).is_some() {
                let (key, page) = (format!("{step:?} {}", run.attempts(step)), prompt(run, step));
                let mut prompts = prompts.borrow_mut();
                assert_eq!(*prompts.entry(key).or_insert_with(|| page.clone()), page);
            }
            drawn.answer(&world, run, step)
        });
        prop_assert_eq!(alone.run.result(), crowded.run.result());
        prop_assert_eq!(alone.run.receipts(), crowded.run.receipts());
        prop_assert_eq!(alone.run.state.merged, crowded.run.state.merged);
    }

    #[test]
    fn a_run_goes_on_from_every_ceiling_to_the_end_that_it_would_have_had_without_one(
        drawn in any_drawn(), ceilings in any_ceilings(), jobs in 1_usize..5, order in vec_of_picks(),
    ) {
        let world = drawn.world();
        assert_ceilings_change_nothing(&world.plan, ceilings, (jobs, order), |run, step| {
            drawn.answer(&world, run, step)
        });
    }

    #[test]
    fn a_run_ends_through_outages_as_it_would_have_without_any(
        drawn in any_drawn(), weather: u64, jobs in 1_usize..5, order in vec_of_picks(),
    ) {
        let world = drawn.world();
        let answer = |run: &Run, step: &Step, own| world.answer_or_fail(drawn.seed, run, step, own);
        assert_outages_change_nothing(&world.plan, weather, (jobs, order), answer);
    }

    #[test]
    fn a_run_taken_up_at_any_record_ends_as_it_would_have(drawn in any_drawn(), cut: Index) {
        let world = drawn.world();
        let answer = |run: &Run, step: &Step| drawn.answer(&world, run, step);
        let whole = assert_ends_the_same(world.plan.clone(), cut, answer);
        assert_goes_on_later(&whole, cut, answer);
    }

    #[test]
    fn every_run_ends_within_its_calls_with_a_result_of_merged_work(drawn in any_drawn(), jobs in 1_usize..4) {
        let world = drawn.world();
        let mut drive = Drive::start(world.plan.clone());
        drive.finish(jobs, |_| 0, |run, step| drawn.answer(&world, run, step));
        let run = &drive.run;
        prop_assert!(run.closed_at.is_some() && ending(run).is_some());
        let most = Evolve::most_calls(&run.plan);
        let times = 1 + u64::try_from(Evolve::extensions(run)).expect("these are few");
        for (role, account) in run.ledger.iter() {
            prop_assert!(u64::from(account.calls) <= *most.of(role) * times, "{}", role);
        }
        for receipt in run.receipts().iter().flat_map(|receipts| &receipts.criteria) {
            assert_is_earned(run, receipt);
        }
        if let Some(result) = run.result() {
            prop_assert!(leads_to(run, result), "{:?}", run.state.merged);
        }
        if ending(run) == Some(Ending::Success) && run.result().is_some() {
            prop_assert!(run.evaluation().is_some_and(|evaluation| evaluation.is_done));
        }
        let personas = run.state.course.entries.iter().filter_map(|entry| match entry {
            Entry::Pivoted { persona, .. } => Some(persona.word()),
            _ => None,
        });
        let personas: Vec<&str> = personas.collect();
        let different: BTreeSet<&str> = personas.iter().copied().collect();
        prop_assert_eq!(personas.len(), different.len(), "each persona is used once");
    }
}

#[test]
fn the_worlds_of_these_laws_know_every_ending_and_every_flow() {
    let mut known = BTreeSet::new();
    for seed in 0..300 {
        let mut world = World::random(seed);
        world.plan.task.has_oracles = seed % 3 == 0;
        world.plan.task.retries = u32::from(seed % 2 == 0);
        let mut drive = Drive::start(world.plan.clone());
        drive.finish_alone(|run, step| world.answer_or_fail(seed, run, step, run.attempts(step)));
        let run = &drive.run;
        known.extend(ending(run).map(Ending::word));
        known.extend(run.state.passes.iter().map(|pass| match pass.kind {
            PassKind::Plan => "plan",
            PassKind::Fix => "A",
            PassKind::Patch => "B",
            PassKind::Pivot { .. } => "C",
        }));
        let receipts = run.receipts().into_iter().flat_map(|receipts| receipts.criteria);
        known.extend(receipts.map(|receipt| receipt.word.word()));
        let has_guided = run.state.course.entries.contains(&Entry::Guided);
        let is_taken_back = run.state.batches.iter().any(|begun| !begun.taken_back.is_empty());
        known.extend(has_guided.then_some("guided").into_iter().chain(is_taken_back.then_some("taken back")));
    }
    let known: Vec<&str> = known.into_iter().collect();
    let all = [
        "A",
        "B",
        "C",
        "already met",
        "disputed",
        "failed",
        "guided",
        "human_escalation",
        "incomplete",
        "judged",
        "not met",
        "plan",
        "success",
        "taken back",
        "verified",
    ];
    assert_eq!(known, all);
}
