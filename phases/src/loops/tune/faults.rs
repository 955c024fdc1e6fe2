//! The statements that failed in each round of a search by single trials: what was believed of them, and what became of them.

use std::collections::BTreeMap;

use super::beliefs::Beliefs;
use super::shown::Shown;
use crate::contract::CriterionId;

/// A statement that failed in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub criterion: CriterionId,
    /// In words, as the plan has it.
    pub statement: String,
    /// In how many trials of this round it failed.
    pub times: usize,
    /// In how many trials it was met and was not, those of this round included. Statements that say the same are one.
    pub passed: usize,
    pub failed: usize,
    /// How likely the skill was to meet it after those trials, between 0 and 1.
    pub chance: f64,
    /// How likely each member of a chain was at fault, the first one first; nothing, for a single skill.
    pub at_fault: Vec<f64>,
    /// The next round that told of it.
    pub next: Option<Look>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    pub round: u32,
    /// Whether it was met in all trials of that round.
    pub is_met: bool,
    /// How likely the skill is to meet it after those trials.
    pub chance: f64,
}

/// What the rounds of one era have shown so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    era: u32,
    /// How often each statement was met, and was not.
    counts: BTreeMap<String, (usize, usize)>,
    /// The faults that no later round has told of yet, by their statement: their round and their own place in it.
    open: BTreeMap<String, Vec<(usize, usize)>>,
}

/// Of an earlier round: its place, that of a fault in it, and what is now known of that.
pub(super) type Followed = (usize, usize, Look);

impl Faults {
    /// What the trials of the round at this place have shown, once it is believed: its faults, and what it tells of those of
    /// earlier rounds.
    pub(super) fn look(
        &mut self,
        (place, number, era): (usize, u32, u32),
        shown: Vec<Shown>,
        beliefs: &Beliefs,
    ) -> (Vec<Fault>, Vec<Followed>) {
        if self.era != era {
            *self = Self { era, ..Self::default() };
        }
        let mut looks: BTreeMap<String, (Look, usize)> = BTreeMap::new();
        let mut missed: Vec<(CriterionId, String)> = Vec::new();
        for Shown { criterion, words, is_met, .. } in shown {
            let (passed, failed) = self.counts.entry(words.clone()).or_default();
            *(if is_met { passed } else { failed }) += 1;
            let chance = beliefs.chance(&words);
            let first = || (Look { round: number, is_met: true, chance }, 0);
            let (look, times) = looks.entry(words.clone()).or_insert_with(first);
            if is_met {
                continue;
            }
            *times += 1;
            if std::mem::take(&mut look.is_met) {
                missed.push((criterion, words));
            }
        }
        let fault = |(criterion, statement): (CriterionId, String)| {
            let (passed, failed) = self.counts[&statement];
            let (Look { chance, .. }, times) = looks[&statement];
            let at_fault = beliefs.shares(&statement);
            Fault { criterion, statement, times, passed, failed, chance, at_fault, next: None }
        };
        let own: Vec<Fault> = missed.into_iter().map(fault).collect();
        let mut followed = Vec::new();
        for (words, (look, _)) in looks {
            let open = self.open.remove(&words).into_iter().flatten();
            followed.extend(open.map(|(round, fault)| (round, fault, look)));
        }
        for (nth, fault) in own.iter().enumerate() {
            self.open.entry(fault.statement.clone()).or_default().push((place, nth));
        }
        (own, followed)
    }

    /// The round at this place edits a fault of an earlier one too: the next look at it is told there as well.
    pub(super) fn follow(&mut self, place: usize, nth: usize, fault: &Fault) {
        self.open.entry(fault.statement.clone()).or_default().push((place, nth));
    }
}
