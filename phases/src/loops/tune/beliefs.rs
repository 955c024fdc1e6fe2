//! What a search believes of a skill, statement by statement: how likely each is met, whichever trial one looks at.
//!
//! One trial tells little: agents slip, and judges miss faults and invent them. So a statement that failed once, and was met in many
//! trials before, is probably met, and is no reason to edit. Beliefs follow from the rounds alone, by Bayes' rule. How often trials
//! mislead, how well edits work, and how often they break something else, nobody knows beforehand: many guesses are held side by
//! side, and each counts by how well it has foretold what was seen.

use std::collections::BTreeMap;

use super::shown::Shown;
use super::suspects::{Rates, Suspects};
use crate::target::Place;

/// One guess at how agents and judges err, and what it makes of each statement.
#[derive(Clone, Debug, PartialEq)]
struct Guess {
    /// How often a trial shows a statement as met that the skill meets, and one that it does not meet.
    shows: f64,
    slips: f64,
    /// How often an edit mends what it aims at, and how many statements each of its aims breaks, if all are met.
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
const BREAKS: [(f64, f64); 5] = [(0.05, 0.3), (0.25, 0.35), (0.6, 0.2), (1.2, 0.1), (2.4, 0.05)];
/// However few statements there are, not all are broken at once.
const FEWEST: f64 = 12.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beliefs {
    /// Trials of another era say nothing about this one.
    era: u32,
    guesses: Vec<Guess>,
    /// The number of each statement, by its words: those of several scenarios may be the same one.
    numbers: BTreeMap<String, usize>,
    /// How likely each is met, over all guesses.
    chances: Vec<f64>,
    /// The share of them that was met after the first trials.
    first: f64,
    /// Of a chain.
    pub(super) suspects: Suspects,
}

impl Beliefs {
    /// Takes in what trials of an era have shown of statements. Of those of another era nothing is believed; the first ones of
    /// each say how likely anything is met.
    pub(super) fn look(&mut self, era: u32, shown: &[Shown]) {
        let is_first = self.guesses.is_empty() || self.era != era;
        if is_first {
            *self = Self { era, guesses: guesses(share_met(shown)), ..Self::default() };
        }
        for one in shown {
            let number = self.number(&one.words);
            self.guesses.iter_mut().for_each(|guess| guess.look(number, one.is_met));
        }
        self.sum_up();
        self.suspects.look(shown, self.rates());
        if is_first {
            self.first = self.share();
        }
    }

    /// An edit of a member aims at these statements. It can mend or break one only if that member is at fault for it.
    pub(super) fn edit(&mut self, member: Place, targets: &[String]) {
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

    /// How likely a statement is met.
    pub fn chance(&self, words: &str) -> f64 {
        self.numbers.get(words).map_or(0.5, |number| self.chances[*number])
    }

    /// How likely each member of a chain is at fault where a statement is missed, the first one first.
    pub(super) fn shares(&self, words: &str) -> Vec<f64> {
        self.suspects.shares(words)
    }

    /// The share of all statements that is met.
    fn share(&self) -> f64 {
        self.chances.iter().sum::<f64>() / self.chances.iter().map(|_| 1.0).sum::<f64>().max(1.0)
    }

    /// The share of all statements that was met after the first trials and is not any more, on balance.
    pub fn lost(&self) -> f64 {
        self.first - self.share()
    }

    /// How likely edits do more good than harm: they mend what they aim at more often than by chance, and more than they break.
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
    fn look(&mut self, number: usize, is_met: bool) {
        let Some(chance) = self.chances.get_mut(number) else { return };
        let likely = |share: f64| if is_met { share } else { 1.0 - share };
        let (present, absent) = (*chance * likely(self.shows), (1.0 - *chance) * likely(self.slips));
        self.weight *= present + absent;
        *chance = present / (present + absent);
    }

    /// How likely an aim breaks any one other statement.
    fn breaks_any(&self) -> f64 {
        self.breaks / self.chances.iter().map(|_| 1.0).sum::<f64>().max(FEWEST)
    }

    fn edit(&mut self, targets: &[usize], shares: &[f64]) {
        // An aim does not break itself.
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
