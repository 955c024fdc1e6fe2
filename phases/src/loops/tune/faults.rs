//! The statements that failed in each round of a search by single trials: what was believed of them, and what became of them.

use std::collections::BTreeMap;

use super::{Round, Run, panel};
use crate::contract::CriterionId;

/// A statement that failed in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub criterion: CriterionId,
    /// In words, as the plan has it.
    pub statement: String,
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

/// The newest round has been scored, and believed.
pub(super) fn look(run: &mut Run) {
    let Some(round) = run.state.rounds.last() else { return };
    let (place, mut faults) = (run.state.rounds.len() - 1, std::mem::take(&mut run.state.faults));
    if faults.era != round.era {
        faults = Faults { era: round.era, ..Faults::default() };
    }
    let mut looks: BTreeMap<String, Look> = BTreeMap::new();
    let mut missed: Vec<(CriterionId, String)> = Vec::new();
    for (id, is_met) in panel::findings(run, round.candidate, &round.scenarios, round.era) {
        let words = run.plan.task.question(id);
        let (passed, failed) = faults.counts.entry(words.clone()).or_default();
        *(if is_met { passed } else { failed }) += 1;
        let chance = run.state.beliefs.chance(&words);
        let look = looks.entry(words.clone()).or_insert(Look { round: round.number, is_met: true, chance });
        if !is_met && std::mem::take(&mut look.is_met) {
            missed.push((id.clone(), words));
        }
    }
    let fault = |(criterion, statement): (CriterionId, String)| {
        let (passed, failed) = faults.counts[&statement];
        let chance = looks[&statement].chance;
        let at_fault = run.state.beliefs.shares(&statement);
        Fault { criterion, statement, passed, failed, chance, at_fault, next: None }
    };
    let own: Vec<Fault> = missed.into_iter().map(fault).collect();
    for (words, look) in looks {
        for (round, fault) in faults.open.remove(&words).into_iter().flatten() {
            run.state.rounds[round].faults[fault].next = Some(look);
        }
    }
    for (nth, fault) in own.iter().enumerate() {
        faults.open.entry(fault.statement.clone()).or_default().push((place, nth));
    }
    run.state.rounds[place].faults = own;
    run.state.faults = faults;
}

impl Round {
    /// The faults that its edit is for, in the order in which they were chosen.
    pub fn aims(&self) -> impl Iterator<Item = &Fault> {
        let targets = self.targets.iter().flatten();
        targets.filter_map(|id| self.faults.iter().find(|fault| fault.criterion == *id))
    }
}
