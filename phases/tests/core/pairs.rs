//! Two runs of one plan that must end the same, for every loop. Each function returns both.

use proptest::sample::Index;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::runs::event::{Event, Outcome, Pause, Signal};
use skilltune_phases::runs::plan::Plan;
use skilltune_phases::runs::run::Run;

use crate::drive::{Drive, TestLoop, picker, reread};

/// Replaying the journal gives the same run.
fn assert_is_replayed<L: TestLoop>(drive: &Drive<L>) {
    let records: Vec<_> = drive.records.iter().map(reread).collect();
    assert_eq!(Run::replay(&records).expect("it begins with a plan"), drive.run);
}

/// Runs one call at a time, and many in any order.
pub(crate) fn assert_any_order_ends_the_same<L: TestLoop>(
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

/// Runs with these ceilings, each raised when it is reached, and without.
pub(crate) fn assert_ceilings_change_nothing<L: TestLoop>(
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

/// Runs with and without outages. `answer` gets the number of failures that are the step's own.
pub(crate) fn assert_outages_change_nothing<L: TestLoop>(
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

/// Answers a run, resumes it after some of its records, and checks that it ends the same. Returns the whole run.
pub(crate) fn assert_ends_the_same<L: TestLoop>(
    plan: Plan<L>,
    cut: Index,
    answer: impl Fn(&Run<L>, &L::Step) -> Outcome<L::Answer>,
) -> Drive<L> {
    let mut whole = Drive::start(plan);
    whole.finish_alone(&answer);
    let kept = whole.records[..=cut.index(whole.records.len())].to_vec();
    let mut resumed = Drive::resume(kept);
    resumed.finish_alone(answer);
    assert_eq!(whole.records, resumed.records);
    whole
}

/// Checks that a run decides the same when another program resumes it long after one of its records.
pub(crate) fn assert_goes_on_later<L: TestLoop>(
    whole: &Drive<L>,
    cut: Index,
    answer: impl Fn(&Run<L>, &L::Step) -> Outcome<L::Answer>,
) {
    let kept = whole.records[..=cut.index(whole.records.len() - 1)].to_vec();
    let mut resumed = Drive::resume(kept);
    resumed.record_after(1000, Event::Noted(Signal::Paused(Pause::Interrupted)));
    resumed.record_after(1000, Event::Noted(Signal::Resumed { program: "2".into() }));
    resumed.finish_alone(answer);
    assert_eq!(whole.decisions(), resumed.decisions());
}
