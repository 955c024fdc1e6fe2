//! Finds the member of a chain that has to change so that a statement is met: its own member, or any before it.
//!
//! For each statement a search keeps the chance of each of these members to be at fault. There are three sources:
//!
//! - statements about a member's own work show how well it works, and a member that misses many has more likely spoiled
//!   the others;
//! - the judge sees the output of every member and may name one: a claim, which counts less each time it is repeated;
//! - an edit helps only where it changes the member at fault.
//!
//! A single skill is at fault for everything that it misses.

use std::collections::BTreeMap;

use super::credit::Shown;
use crate::skills::target::Place;

/// Empty for a single skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Suspects {
    /// By their text: several scenarios may share a statement.
    statements: BTreeMap<String, Statement>,
}

/// One member that may be at fault, and the beliefs that follow if it is.
#[derive(Clone, Debug, PartialEq)]
struct Suspect {
    /// The chance that it is at fault by the results so far, relative to the others.
    weight: f64,
    /// The chance that the statement is met, if this member is at fault.
    chance: f64,
    /// The number of times that a judge has named it.
    named: f64,
}

/// The member whose work the statement is about comes last.
#[derive(Clone, Debug, Default, PartialEq)]
struct Statement(Vec<Suspect>);

/// The rates at which trials mislead and edits work, over all guesses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    pub(crate) shows: f64,
    pub(crate) slips: f64,
    pub(crate) mends: f64,
}

/// How often the guesses of each member's quality are refined, and the weight of the first guess, in statements.
const PASSES: usize = 20;
const GUESSED: f64 = 1.0;
/// The quality of a member without any results.
const UNKNOWN: f64 = 0.5;

/// The least chance that an edit of the member at fault helps. Otherwise, edits of the wrong member would only suggest
/// that edits do not help.
const MENDS: f64 = 0.5;

impl Suspects {
    pub(crate) fn observe(&mut self, shown: &[Shown], rates: Rates) {
        let is_first = self.statements.is_empty();
        let works: Vec<f64> = (0..).map_while(|place| self.works(Place(place))).collect();
        for one in shown {
            let Some(about) = one.about else { continue };
            let Statement(suspects) = self.statements.entry(one.words.clone()).or_default();
            for place in suspects.len()..=about.0 {
                let chance = works.get(place).copied().unwrap_or(UNKNOWN);
                suspects.push(Suspect { weight: 1.0, chance, named: 0.0 });
            }
            if let Some(suspect) = one.named.and_then(|named| suspects.get_mut(named.0)) {
                suspect.named += 1.0;
            }
        }
        let passes = if is_first { PASSES } else { 1 };
        for pass in 0..passes {
            if pass > 0 {
                self.begin();
            }
            for one in shown {
                if let Some(statement) = self.statements.get_mut(&one.words) {
                    statement.observe(one.is_met, rates);
                }
            }
        }
    }

    /// Restarts the first trials, with what they have shown of each member.
    fn begin(&mut self) {
        let works: Vec<f64> = (0..).map_while(|place| self.works(Place(place))).collect();
        for Statement(suspects) in self.statements.values_mut() {
            for (suspect, works) in suspects.iter_mut().zip(&works) {
                (suspect.weight, suspect.chance) = (1.0, *works);
            }
        }
    }

    /// Returns the share of a member's statements that it meets, or `None` if no statement can be its fault.
    fn works(&self, place: Place) -> Option<f64> {
        let (mut met, mut all) = (GUESSED * UNKNOWN, GUESSED);
        for statement in self.statements.values() {
            let (Some(suspect), Some(share)) = (statement.0.get(place.0), statement.shares().nth(place.0))
            else {
                continue;
            };
            met += share * suspect.chance;
            all += share;
        }
        (all > GUESSED).then_some(met / all)
    }

    pub(crate) fn edit(&mut self, place: Place, targets: &[String], rates: Rates) {
        for (words, Statement(suspects)) in &mut self.statements {
            let Some(suspect) = suspects.get_mut(place.0) else { continue };
            if targets.contains(words) {
                suspect.chance += (1.0 - suspect.chance) * rates.mends.max(MENDS);
            }
        }
    }

    /// Returns the chance of each member to be at fault for a missed statement, the first member first. Empty if the
    /// statement has no results.
    pub(crate) fn shares(&self, words: &str) -> Vec<f64> {
        self.statements.get(words).map_or_else(Vec::new, |statement| statement.shares().collect())
    }

    /// Returns the chance of this member. For a single skill it is always 1.
    pub(crate) fn share(&self, words: &str, place: Place) -> f64 {
        match self.statements.get(words) {
            Some(statement) => statement.shares().nth(place.0).unwrap_or(0.0),
            None => 1.0,
        }
    }
}

/// How often a judge who names a member is right. The rest is spread over all members.
const RIGHT: f64 = 0.6;
const MOST_CLAIMS: f64 = 4.0;

impl Statement {
    fn observe(&mut self, is_met: bool, rates: Rates) {
        let likely = |share: f64| if is_met { share } else { 1.0 - share };
        let mut all = 0.0;
        for one in &mut self.0 {
            let (met, missed) = (one.chance * likely(rates.shows), (1.0 - one.chance) * likely(rates.slips));
            one.weight *= met + missed;
            one.chance = met / (met + missed);
            all += one.weight;
        }
        self.0.iter_mut().for_each(|one| one.weight /= all);
    }

    fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        let members = self.0.iter().map(|_| 1.0).sum::<f64>();
        let named: f64 = self.0.iter().map(|one| one.named).sum();
        // A judge who is wrong about a statement is wrong about it again, so four claims or more count as two.
        let each = if named > 0.0 { named.min(MOST_CLAIMS).sqrt() / named } else { 0.0 };
        let other = (1.0 - RIGHT) / members;
        let share = move |one: &Suspect| one.weight * ((RIGHT + other) / other).powf(one.named * each);
        let all: f64 = self.0.iter().map(share).sum();
        self.0.iter().map(move |one| share(one) / all)
    }
}
