//! Two improvers take turns by what their edits have earned.
//!
//! In a search by single trials an edit has earned by how much likelier its targets were to be met at the next look at them; in
//! rounds by being kept. The one that has earned more makes the next edit. The other still gets one turn in four, because the first
//! edits say little.

use super::{Edit, Improver, Plan, Round, Run, Search, Standing};

/// What the edits of one improver have come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Earned {
    pub by: Improver,
    pub turns: usize,
    /// How many of these have been seen to earn anything or nothing.
    pub seen: usize,
    /// What they have earned in all: each between -1 and 1.
    pub sum: f64,
}

/// One for each improver of the run.
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
        let start = Earned { by, turns: 0, seen: 0, sum: 0.0 };
        own.fold(start, |sum, worth| Earned {
            turns: sum.turns + 1,
            seen: sum.seen + usize::from(worth.is_some()),
            sum: sum.sum + worth.unwrap_or(0.0),
            ..sum
        })
    };
    run.plan.improvers().map(of).collect()
}

/// Nothing is known of a draft that no trial has looked at yet.
fn worth(run: &Run, round: &Round, next: Option<&Round>) -> Option<f64> {
    if run.plan.task.rules.search == Search::Rounds {
        let is_kept = next?.standing.as_ref()? == &Standing::Kept;
        return Some(if is_kept { 1.0 } else { 0.0 });
    }
    let looks = round.aims().filter_map(|fault| Some(fault.next?.chance - fault.chance));
    let (count, sum) = looks.fold((0.0, 0.0), |(count, sum), gain| (count + 1.0, sum + gain));
    (count > 0.0).then(|| sum / count)
}

/// Whose turn it is: after a failed edit that of the other one; of equals that of the one that had fewer.
pub(super) fn next(run: &Run) -> Improver {
    let failed = run.failed_edits().next().map(|edit| edit.by);
    if let Some(other) = failed.and_then(|failed| run.plan.improvers().find(|by| *by != failed)) {
        return other;
    }
    let earned = earned(run);
    let all: usize = earned.iter().map(|one| one.turns).sum();
    let fewest = earned.iter().min_by_key(|one| one.turns);
    let neglected = fewest.filter(|one| one.turns * SHARE <= all || one.seen == 0);
    let best = || {
        let better = |one: &Earned, other: &Earned| {
            one.mean().total_cmp(&other.mean()).then(other.turns.cmp(&one.turns))
        };
        // Of equals the first.
        earned.iter().rev().max_by(|one, other| better(one, other))
    };
    neglected.or_else(best).map_or(Improver::First, |one| one.by)
}

/// Each gets at least one turn in so many.
const SHARE: usize = 4;

impl Earned {
    /// What an edit of it earns, on average; less is believed of one that has been seen less often.
    pub fn mean(&self) -> f64 {
        let seen: f64 = (0..self.seen).map(|_| 1.0).sum();
        self.sum / (seen + 1.0)
    }
}

/// The most turns that one of several improvers can have.
pub(super) fn most(plan: &Plan, edits: u64) -> u64 {
    match plan.improvers().count() {
        0 | 1 => edits,
        _ => edits - edits / SHARE as u64,
    }
}
