//! What a search believes of a skill, statement by statement: how likely each is met, whichever trial one looks at.
//!
//! One trial tells little: agents slip, and judges miss faults and invent them. So a statement that failed once, and was met in many
//! trials before, is probably met, and is no reason to edit. Beliefs follow from the rounds alone, by Bayes' rule. How often trials
//! mislead, how well edits work, and how often they break something else, nobody knows beforehand: many guesses are held side by
//! side, and each counts by how well it has foretold what was seen.

mod explanation;

use std::collections::BTreeMap;

use super::measure::SEARCH;
use super::{Edit, Round, Run, Trial, panel};
use crate::contract::CriterionId;

pub use explanation::{Explanation, Fault, LeftAlone, Look};

/// One guess at how agents and judges err, and what it makes of each statement.
#[derive(Clone, Debug, PartialEq)]
struct Guess {
    /// How often a trial shows a statement as met that the skill meets, and one that it does not meet.
    shows: f64,
    slips: f64,
    /// How often an edit mends what it aims at, and how often each of its aims breaks any other statement.
    mends: f64,
    breaks: f64,
    /// How likely a statement is met that was not looked at yet: as likely as those of the first trials.
    prior: f64,
    /// How likely each statement is met, by its number.
    chances: Vec<f64>,
    /// How likely it is, next to the other guesses, that this one is right.
    weight: f64,
}

const SHOWS: [f64; 3] = [0.75, 0.85, 0.93];
const SLIPS: [f64; 4] = [0.08, 0.2, 0.32, 0.44];
const MENDS: [f64; 5] = [0.05, 0.2, 0.4, 0.6, 0.8];
/// Each with its weight before anything was seen: most edits leave most of a skill alone.
const BREAKS: [(f64, f64); 5] = [(0.004, 0.3), (0.02, 0.35), (0.05, 0.2), (0.1, 0.1), (0.2, 0.05)];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beliefs {
    /// Trials of another era say nothing about this one.
    era: u32,
    guesses: Vec<Guess>,
    /// The number of each statement, by its words: those of several scenarios may be the same one.
    numbers: BTreeMap<String, usize>,
    /// How likely each is met, over all guesses.
    chances: Vec<f64>,
}

impl Beliefs {
    /// Forms anew what a search has believed; `seen` is told what that was when the targets of each round were chosen.
    fn replay<'a>(run: &Run, rounds: impl Iterator<Item = &'a Round>, mut seen: impl FnMut(&Self, &Round)) {
        let mut beliefs = Self::default();
        for round in rounds {
            beliefs.look(run, round);
            seen(&beliefs, round);
            if let (Some(Edit::Draft { .. }), Some(targets)) = (&round.edit, &round.targets) {
                beliefs.edit(run, targets);
            }
        }
    }

    /// Takes in what the trials of a round have shown.
    pub(super) fn look(&mut self, run: &Run, round: &Round) {
        if self.guesses.is_empty() || self.era != round.era {
            let share_met = round.score().map_or(0.5, |score| score.points() / 100.0);
            *self = Self { era: round.era, guesses: guesses(share_met), ..Self::default() };
        }
        for (id, is_met) in findings(run, round) {
            let number = self.number(run.plan.task.question(&id));
            self.guesses.iter_mut().for_each(|guess| guess.look(number, is_met));
        }
        self.sum_up();
    }

    /// An edit aims at these faults.
    pub(super) fn edit(&mut self, run: &Run, targets: &[CriterionId]) {
        let targets: Vec<usize> =
            targets.iter().filter_map(|id| self.numbers.get(&run.plan.task.question(id)).copied()).collect();
        self.guesses.iter_mut().for_each(|guess| guess.edit(&targets));
        self.sum_up();
    }

    fn number(&mut self, words: String) -> usize {
        let next = self.numbers.len();
        let number = *self.numbers.entry(words).or_insert(next);
        if number == next {
            self.guesses.iter_mut().for_each(|guess| guess.chances.push(guess.prior));
        }
        number
    }

    fn sum_up(&mut self) {
        let all: f64 = self.guesses.iter().map(|guess| guess.weight).sum();
        self.chances = vec![0.0; self.numbers.len()];
        for guess in &mut self.guesses {
            guess.weight /= all;
            for (sum, chance) in self.chances.iter_mut().zip(&guess.chances) {
                *sum += guess.weight * chance;
            }
        }
    }

    /// How likely a statement is met.
    pub fn chance(&self, words: &str) -> f64 {
        self.numbers.get(words).map_or(0.5, |number| self.chances[*number])
    }

    /// How likely edits do more good than harm: they mend what they aim at more often than by chance, and more than they break.
    pub fn edits_pay(&self) -> f64 {
        let pays = |guess: &&Guess| {
            let met: f64 = guess.chances.iter().sum();
            guess.mends > MENDS[0] && guess.mends > guess.breaks * met
        };
        self.guesses.iter().filter(pays).map(|guess| guess.weight).sum()
    }

    /// The faults that a round has named and that are probably real, those named most often first, at most so many.
    pub fn weaknesses(&self, run: &Run, round: &Round, most: usize) -> Vec<CriterionId> {
        let mut named: BTreeMap<String, (usize, CriterionId)> = BTreeMap::new();
        for (id, _) in findings(run, round).into_iter().filter(|(_, is_met)| !is_met) {
            named.entry(run.plan.task.question(&id)).or_insert((0, id)).0 += 1;
        }
        let mut real: Vec<(usize, f64, CriterionId)> = named
            .into_iter()
            .map(|(words, (times, id))| (times, self.chance(&words), id))
            .filter(|(_, chance, _)| *chance < PROBABLY_MET)
            .collect();
        real.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.total_cmp(&other.1)));
        real.into_iter().take(most).map(|(_, _, id)| id).collect()
    }
}

/// What is met with this chance or more is left alone, though it failed once.
const PROBABLY_MET: f64 = 0.7;

fn guesses(share_met: f64) -> Vec<Guess> {
    let mut guesses = Vec::with_capacity(SHOWS.len() * SLIPS.len() * MENDS.len() * BREAKS.len());
    for shows in SHOWS {
        for slips in SLIPS {
            for mends in MENDS {
                for (breaks, weight) in BREAKS {
                    let prior = ((share_met - slips) / (shows - slips)).clamp(0.15, 0.9);
                    guesses.push(Guess { shows, slips, mends, breaks, prior, chances: Vec::new(), weight });
                }
            }
        }
    }
    guesses
}

impl Guess {
    fn look(&mut self, number: usize, is_met: bool) {
        let Some(chance) = self.chances.get_mut(number) else { return };
        let likely = |share: f64| if is_met { share } else { 1.0 - share };
        let (present, absent) = (*chance * likely(self.shows), (1.0 - *chance) * likely(self.slips));
        self.weight *= present + absent;
        *chance = present / (present + absent);
    }

    fn edit(&mut self, targets: &[usize]) {
        // An aim does not break itself.
        let stays = |aims: usize| (0..aims).map(|_| 1.0 - self.breaks).product::<f64>();
        let (other, own) = (stays(targets.len()), stays(targets.len().saturating_sub(1)));
        for (number, chance) in self.chances.iter_mut().enumerate() {
            if targets.contains(&number) {
                *chance = (*chance + (1.0 - *chance) * self.mends) * own;
            } else {
                *chance *= other;
            }
        }
    }
}

/// What the trials of a round have shown of each statement.
fn findings(run: &Run, round: &Round) -> Vec<(CriterionId, bool)> {
    let trials = round.scenarios.iter().map(|&scenario| Trial { scenario, ordinal: SEARCH, era: round.era });
    let judged = trials.filter_map(|trial| panel::judgement(run, round.candidate, trial));
    judged
        .flat_map(|judgement| judgement.whole.findings.iter())
        .filter_map(|one| Some((one.criterion.clone(), one.verdict.is_met()?)))
        .collect()
}
