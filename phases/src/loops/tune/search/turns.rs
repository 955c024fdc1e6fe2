//! Lets two improvers take turns by what their edits have earned.
//!
//! In a search by single trials an edit earns the rise in its targets' chance to be met at their next look; in rounds
//! it earns by being kept. The improver that has earned more makes the next edit. The other still gets one turn in
//! four, because the first edits are weak evidence.

use crate::loops::tune::{Edit, Improver, Plan, Round, RoundResult, Run, Search};

/// The earnings of one improver's edits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Earned {
    pub by: Improver,
    pub turns: usize,
    /// The number of turns whose edits have a known result.
    pub tested: usize,
    /// The sum of all earnings, each between -1 and 1.
    pub sum: f64,
}

/// Returns the earnings of each improver of the run.
pub fn earned(run: &Run) -> Vec<Earned> {
    let rounds = &run.state.rounds;
    let edits = rounds.iter().enumerate().flat_map(|(nth, round)| {
        let failed = round.failed_edits.iter().map(|edit| (edit.by, Some(0.0)));
        let is_draft = matches!(round.edit, Some(Edit::Draft { .. }));
        let draft = is_draft.then(|| (round.by(), worth(run, round, rounds.get(nth + 1))));
        failed.chain(draft)
    });
    let edits: Vec<(Improver, Option<f64>)> = edits.collect();
    let of = |by| {
        let own = edits.iter().filter(|(one, _)| *one == by).map(|(_, worth)| *worth);
        let start = Earned { by, turns: 0, tested: 0, sum: 0.0 };
        own.fold(start, |sum, worth| Earned {
            turns: sum.turns + 1,
            tested: sum.tested + usize::from(worth.is_some()),
            sum: sum.sum + worth.unwrap_or(0.0),
            ..sum
        })
    };
    run.plan.improvers().map(of).collect()
}

/// Returns the earnings of an edit, or `None` if no trial has tested it yet.
fn worth(run: &Run, round: &Round, next: Option<&Round>) -> Option<f64> {
    if run.plan.task.rules.search == Search::Rounds {
        let is_kept = next?.result.as_ref()? == &RoundResult::Kept;
        return Some(if is_kept { 1.0 } else { 0.0 });
    }
    let gains = round.aims().filter_map(|fault| Some(fault.next?.chance - fault.chance));
    let (count, sum) = gains.fold((0.0, 0.0), |(count, sum), gain| (count + 1.0, sum + gain));
    (count > 0.0).then(|| sum / count)
}

/// Returns the next improver: after a failed edit the other one, on a tie the one with fewer turns.
pub(crate) fn next(run: &Run) -> Improver {
    let failed = run.failed_edits().next().map(|edit| edit.by);
    if let Some(other) = failed.and_then(|failed| run.plan.improvers().find(|by| *by != failed)) {
        return other;
    }
    let earned = earned(run);
    let all: usize = earned.iter().map(|one| one.turns).sum();
    let fewest = earned.iter().min_by_key(|one| one.turns);
    let neglected = fewest.filter(|one| one.turns * SHARE <= all || one.tested == 0);
    let best = || {
        let better = |one: &Earned, other: &Earned| {
            one.mean().total_cmp(&other.mean()).then(other.turns.cmp(&one.turns))
        };
        // On a tie the first one wins.
        earned.iter().rev().max_by(|one, other| better(one, other))
    };
    neglected.or_else(best).map_or(Improver::First, |one| one.by)
}

/// Each gets at least one turn in this many.
const SHARE: usize = 4;

impl Earned {
    /// Returns the average earnings of an edit, lowered for an improver with few known results.
    pub fn mean(&self) -> f64 {
        let tested: f64 = (0..self.tested).map(|_| 1.0).sum();
        self.sum / (tested + 1.0)
    }
}

/// Returns the most turns that one of several improvers can have.
pub(crate) fn most(plan: &Plan, edits: u64) -> u64 {
    match plan.improvers().count() {
        0 | 1 => edits,
        _ => edits - edits / SHARE as u64,
    }
}
