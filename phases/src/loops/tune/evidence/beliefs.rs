//! The beliefs of a search about a skill: for each statement, how likely it is met in any trial.
//!
//! A single trial is weak evidence: agents slip, and judges miss faults and invent them. So a statement that failed
//! once, and was met in many trials before, is probably met and no reason to edit. Beliefs follow from the rounds
//! alone, by Bayes' rule. It is unknown beforehand how often trials mislead, how well edits work, and how often they
//! break something else: many guesses are kept side by side, each weighted by how well it predicted the results.

use std::collections::BTreeMap;

use super::credit::Shown;
use super::suspects::{Rates, Suspects};
use crate::skills::target::Place;

/// A guess about the errors of agents and judges, with the resulting chance of each statement.
#[derive(Clone, Debug, PartialEq)]
struct Guess {
    /// How often a trial shows a statement as met if the skill meets it, and if it does not.
    shows: f64,
    slips: f64,
    /// How often an edit fixes a statement that it targets, and how many statements each target breaks if all are met.
    mends: f64,
    breaks: f64,
    /// The chance that a statement without a trial is met: the same as for those of the first trials.
    prior: f64,
    /// The chance that each statement is met, by its number.
    chances: Vec<f64>,
    /// The probability of this guess, relative to the other guesses.
    weight: f64,
}

const SHOWS: [f64; 3] = [0.75, 0.85, 0.93];
const SLIPS: [f64; 4] = [0.08, 0.2, 0.32, 0.44];
const MENDS: [f64; 5] = [0.05, 0.2, 0.4, 0.6, 0.8];
/// Each with its weight before any trial: most edits leave most of a skill alone.
const BREAKS: [(f64, f64); 5] = [(0.05, 0.3), (0.25, 0.35), (0.6, 0.2), (1.2, 0.1), (2.4, 0.05)];
/// Even with few statements, an edit does not break all at once.
const FEWEST: f64 = 12.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beliefs {
    /// The era of the trials. Trials of other eras do not count.
    era: u32,
    guesses: Vec<Guess>,
    /// The number of each statement, by its text: several scenarios may share a statement.
    numbers: BTreeMap<String, usize>,
    /// The chance that each statement is met, over all guesses.
    chances: Vec<f64>,
    /// The share of statements that was met after the first trials.
    first: f64,
    /// Used for a chain.
    pub(crate) suspects: Suspects,
}

impl Beliefs {
    /// Updates the beliefs with the results of an era's trials. A new era discards all beliefs; its first trials give
    /// the prior.
    pub(crate) fn observe(&mut self, era: u32, shown: &[Shown]) {
        let is_first = self.guesses.is_empty() || self.era != era;
        if is_first {
            *self = Self { era, guesses: guesses(share_met(shown)), ..Self::default() };
        }
        for one in shown {
            let number = self.number(&one.words);
            self.guesses.iter_mut().for_each(|guess| guess.observe(number, one.is_met));
        }
        self.sum_up();
        self.suspects.observe(shown, self.rates());
        if is_first {
            self.first = self.share();
        }
    }

    /// Records an edit of a member for these statements. It can fix or break only statements for which that member is
    /// at fault.
    pub(crate) fn edit(&mut self, member: Place, targets: &[String]) {
        let numbers: Vec<usize> =
            targets.iter().filter_map(|words| self.numbers.get(words).copied()).collect();
        let mut shares = vec![1.0; self.numbers.len()];
        self.numbers.iter().for_each(|(words, number)| shares[*number] = self.suspects.share(words, member));
        self.guesses.iter_mut().for_each(|guess| guess.edit(&numbers, &shares));
        self.sum_up();
        self.suspects.edit(member, targets, self.rates());
    }

    fn rates(&self) -> Rates {
        let mean = |rate: fn(&Guess) -> f64| self.guesses.iter().map(|one| one.weight * rate(one)).sum();
        Rates {
            shows: mean(|guess| guess.shows),
            slips: mean(|guess| guess.slips),
            mends: mean(|guess| guess.mends),
        }
    }

    fn number(&mut self, words: &str) -> usize {
        if let Some(number) = self.numbers.get(words) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(words.to_owned(), number);
        self.guesses.iter_mut().for_each(|guess| guess.chances.push(guess.prior));
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

    /// Returns the chance that a statement is met.
    pub fn chance(&self, words: &str) -> f64 {
        self.numbers.get(words).map_or(0.5, |number| self.chances[*number])
    }

    /// Returns the chance of each member of a chain to be at fault if a statement is missed, the first member first.
    pub(crate) fn shares(&self, words: &str) -> Vec<f64> {
        self.suspects.shares(words)
    }

    /// Returns the share of all statements that is met.
    fn share(&self) -> f64 {
        self.chances.iter().sum::<f64>() / self.chances.iter().map(|_| 1.0).sum::<f64>().max(1.0)
    }

    /// Returns the share of all statements that was met after the first trials and no longer is, on balance.
    pub fn lost(&self) -> f64 {
        self.first - self.share()
    }

    /// Returns the chance that edits do more good than harm: that they fix their targets more often than by chance, and
    /// fix more than they break.
    pub fn edits_pay(&self) -> f64 {
        let pays = |guess: &&Guess| {
            let met: f64 = guess.chances.iter().sum();
            guess.mends > MENDS[0] && guess.mends > guess.breaks_any() * met
        };
        self.guesses.iter().filter(pays).map(|guess| guess.weight).sum()
    }
}

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
    fn observe(&mut self, number: usize, is_met: bool) {
        let Some(chance) = self.chances.get_mut(number) else { return };
        let likely = |share: f64| if is_met { share } else { 1.0 - share };
        let (present, absent) = (*chance * likely(self.shows), (1.0 - *chance) * likely(self.slips));
        self.weight *= present + absent;
        *chance = present / (present + absent);
    }

    /// Returns the chance that a target breaks any one other statement.
    fn breaks_any(&self) -> f64 {
        self.breaks / self.chances.iter().map(|_| 1.0).sum::<f64>().max(FEWEST)
    }

    fn edit(&mut self, targets: &[usize], shares: &[f64]) {
        // A target does not break itself.
        let breaks = self.breaks_any();
        let stays = |aims: usize| (0..aims).map(|_| 1.0 - breaks).product::<f64>();
        let (other, own) = (stays(targets.len()), stays(targets.len().saturating_sub(1)));
        for (number, (chance, share)) in self.chances.iter_mut().zip(shares).enumerate() {
            let partly = |stays: f64| share * stays + (1.0 - share);
            if targets.contains(&number) {
                *chance = (*chance + (1.0 - *chance) * self.mends * share) * partly(own);
            } else {
                *chance *= partly(other);
            }
        }
    }
}

fn share_met(shown: &[Shown]) -> f64 {
    let (mut met, mut all) = (0.0, 0.0);
    for one in shown {
        met += f64::from(u8::from(one.is_met));
        all += 1.0;
    }
    if all > 0.0 { met / all } else { 0.5 }
}
