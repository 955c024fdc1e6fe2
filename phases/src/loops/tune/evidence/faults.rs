//! The statements that failed in each round of a search by single trials: the beliefs about them, and the later
//! results.

use std::collections::BTreeMap;

use super::beliefs::Beliefs;
use super::credit::Shown;
use crate::judging::contract::CriterionId;

/// A statement that failed in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub criterion: CriterionId,
    /// The words of the statement, without its weight.
    pub statement: String,
    /// The number of trials of this round in which it failed.
    pub times: usize,
    /// The trials in which it was met and missed, including this round. Statements with the same text are one.
    pub passed: usize,
    pub failed: usize,
    /// The chance that the skill met it after those trials, between 0 and 1.
    pub chance: f64,
    /// The chance that each member of a chain was at fault, the first one first; empty for a single skill.
    pub at_fault: Vec<f64>,
    /// The result of the next round that tested it.
    pub next: Option<Recheck>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recheck {
    pub round: u32,
    /// Whether it was met in all trials of that round.
    pub is_met: bool,
    /// The chance that the skill meets it after those trials.
    pub chance: f64,
}

/// The results of one era's rounds so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    era: u32,
    /// How often each statement was met and missed.
    counts: BTreeMap<String, (usize, usize)>,
    /// The faults that no later round has tested yet, by their statement: the index of the round and of the fault in
    /// it.
    open: BTreeMap<String, Vec<(usize, usize)>>,
}

/// An earlier round's index, the index of a fault in it, and the new result for that fault.
pub(crate) type Followed = (usize, usize, Recheck);

impl Faults {
    /// Adds the results of the round at this index, once the beliefs include them. Returns its faults, and its results
    /// for faults of earlier rounds.
    pub(crate) fn observe(
        &mut self,
        (place, number, era): (usize, u32, u32),
        shown: Vec<Shown>,
        beliefs: &Beliefs,
    ) -> (Vec<Fault>, Vec<Followed>) {
        if self.era != era {
            *self = Self { era, ..Self::default() };
        }
        let mut rechecks: BTreeMap<String, (Recheck, usize)> = BTreeMap::new();
        let mut missed: Vec<(CriterionId, String)> = Vec::new();
        for Shown { criterion, words, is_met, .. } in shown {
            let (passed, failed) = self.counts.entry(words.clone()).or_default();
            *(if is_met { passed } else { failed }) += 1;
            let chance = beliefs.chance(&words);
            let first = || (Recheck { round: number, is_met: true, chance }, 0);
            let (recheck, times) = rechecks.entry(words.clone()).or_insert_with(first);
            if is_met {
                continue;
            }
            *times += 1;
            if std::mem::take(&mut recheck.is_met) {
                missed.push((criterion, words));
            }
        }
        let fault = |(criterion, statement): (CriterionId, String)| {
            let (passed, failed) = self.counts[&statement];
            let (Recheck { chance, .. }, times) = rechecks[&statement];
            let at_fault = beliefs.shares(&statement);
            Fault { criterion, statement, times, passed, failed, chance, at_fault, next: None }
        };
        let own: Vec<Fault> = missed.into_iter().map(fault).collect();
        let mut followed = Vec::new();
        for (words, (recheck, _)) in rechecks {
            let open = self.open.remove(&words).into_iter().flatten();
            followed.extend(open.map(|(round, fault)| (round, fault, recheck)));
        }
        for (nth, fault) in own.iter().enumerate() {
            self.open.entry(fault.statement.clone()).or_default().push((place, nth));
        }
        (own, followed)
    }

    /// Records that the round at this index also edits an earlier round's fault, so it gets the next result too.
    pub(crate) fn follow(&mut self, place: usize, nth: usize, fault: &Fault) {
        self.open.entry(fault.statement.clone()).or_default().push((place, nth));
    }
}
