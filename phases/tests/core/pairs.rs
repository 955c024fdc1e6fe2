//! Two runs of one plan that have to come to the same, for every loop. Each gives back both.

use proptest::sample::Index;
use skilltune_phases::ceiling::Ceilings;
use skilltune_phases::event::{Event, Outcome, Pause, Signal};
use skilltune_phases::plan::Plan;
use skilltune_phases::run::Run;

use crate::drive::{Drive, Told, picker, reread};

/// The run as its journal gives it back is the run.
fn assert_is_replayed<L: Told>(drive: &Drive<L>) {
    let records: Vec<_> = drive.records.iter().map(reread).collect();
    assert_eq!(Run::replay(&records).expect("it begins with a plan"), drive.run);
}

/// One call at a time, and many in any order.
pub(crate) fn assert_any_order_ends_the_same<L: Told>(
    plan: &Plan<L>,
    (jobs, order): (usize, Vec<usize>),
    answer: impl Fn(&Run<L>, &L::Step) -> Outcome<L::Answer>,
) -> [Drive<L>; 2] {
    let (mut alone, mut crowded) = (Drive::start(plan.clone()), Drive::start(plan.clone()));
    alone.finish_alone(&answer);
    crowded.finish(jobs, picker(order), answer);
    assert_eq!(alone.decisions(), crowded.decisions());
    [alone, crowded]
}

/// With these ceilings, each of which is raised when it is met, and without.
pub(crate) fn assert_ceilings_change_nothing<L: Told>(
    plan: &Plan<L>,
    ceilings: Ceilings,
    (jobs, order): (usize, Vec<usize>),
    answer: impl Fn(&Run<L>, &L::Step) -> Outcome<L::Answer>,
) -> [Drive<L>; 2] {
    let mut free = Drive::start(plan.clone());
    free.finish_alone(&answer);
    let mut bounded = Drive::start(Plan { ceilings, ..plan.clone() });
    bounded.finish(jobs, picker(order), answer);
    assert_eq!(free.decisions(), bounded.decisions());
    assert_is_replayed(&bounded);
    [free, bounded]
}

/// While services come and go, and while all are there. `answer` is told how often a step has failed by itself.
pub(crate) fn assert_outages_change_nothing<L: Told>(
    plan: &Plan<L>,
    weather: u64,
    (jobs, order): (usize, Vec<usize>),
    answer: impl Fn(&Run<L>, &L::Step, u32) -> Outcome<L::Answer>,
) -> [Drive<L>; 2] {
    let (mut calm, mut stormy) = (Drive::start(plan.clone()), Drive::start(plan.clone()));
    calm.finish_alone(|run, step| answer(run, step, run.attempts(step)));
    stormy.finish_in_outages(jobs, picker(order), weather, answer);
    assert_eq!(calm.decisions(), stormy.decisions());
    assert_is_replayed(&stormy);
    [calm, stormy]
}

/// Answers a run, takes it up after some of its records, and sees that it ends the same: the whole of it.
pub(crate) fn assert_ends_the_same<L: Told>(
    plan: Plan<L>,
    cut: Index,
    answer: impl Fn(&Run<L>, &L::Step) -> Outcome<L::Answer>,
) -> Drive<L> {
    let mut whole = Drive::start(plan);
    whole.finish_alone(&answer);
    let kept = whole.records[..=cut.index(whole.records.len())].to_vec();
    let mut resumed = Drive { run: Run::replay(&kept).expect("it begins with a plan"), records: kept };
    resumed.finish_alone(answer);
    assert_eq!(whole.records, resumed.records);
    whole
}

/// A run that is taken up long after one of its records by another program decides the same.
pub(crate) fn assert_goes_on_later<L: Told>(
    whole: &Drive<L>,
    cut: Index,
    answer: impl Fn(&Run<L>, &L::Step) -> Outcome<L::Answer>,
) {
    let kept = whole.records[..=cut.index(whole.records.len() - 1)].to_vec();
    let mut resumed = Drive { run: Run::replay(&kept).expect("it begins with a plan"), records: kept };
    resumed.record_after(1000, Event::Noted(Signal::Paused(Pause::Interrupted)));
    resumed.record_after(1000, Event::Noted(Signal::Resumed { program: "2".into() }));
    resumed.finish_alone(answer);
    assert_eq!(whole.decisions(), resumed.decisions());
}
