//! Which member of a chain has to change so that a statement is met: its own, or any before it.
//!
//! For each statement a search holds how likely each of these members is at fault. Three things tell:
//!
//! - statements about a member's own work show how well it works, and a member that misses many is likelier to have spoilt the others;
//! - the judge sees what every member left, and may name one: a claim, which counts less each time it is repeated;
//! - an edit helps only where it changes the member at fault.
//!
//! A single skill is at fault for all that it misses.

use std::collections::BTreeMap;

use super::shown::Shown;
use crate::target::Place;

/// Nothing, for a single skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Suspects {
    /// By their words: those of several scenarios may be the same one.
    statements: BTreeMap<String, Statement>,
}

/// One member that may be at fault, and all that follows if it is.
#[derive(Clone, Debug, PartialEq)]
struct Suspect {
    /// How likely it is at fault by what was met and missed, next to the others.
    weight: f64,
    /// How likely the statement is met, if it is.
    chance: f64,
    /// How often a judge has named it.
    named: f64,
}

/// The member whose work it is about comes last.
#[derive(Clone, Debug, Default, PartialEq)]
struct Statement(Vec<Suspect>);

/// How trials mislead and how well edits work, over all guesses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    pub(super) shows: f64,
    pub(super) slips: f64,
    pub(super) mends: f64,
}

/// How often the guesses at how well each member works are made better, and how much the first one counts, in statements.
const PASSES: usize = 20;
const GUESSED: f64 = 1.0;
/// How well a member works of which nothing is known.
const UNKNOWN: f64 = 0.5;

/// How often an edit of the member at fault helps, at least: else edits of the wrong one would show nothing but that edits do not help.
const MENDS: f64 = 0.5;

impl Suspects {
    pub(super) fn look(&mut self, shown: &[Shown], rates: Rates) {
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
                    statement.look(one.is_met, rates);
                }
            }
        }
    }

    /// The first trials are looked at anew, with what they have shown of each member.
    fn begin(&mut self) {
        let works: Vec<f64> = (0..).map_while(|place| self.works(Place(place))).collect();
        for Statement(suspects) in self.statements.values_mut() {
            for (suspect, works) in suspects.iter_mut().zip(&works) {
                (suspect.weight, suspect.chance) = (1.0, *works);
            }
        }
    }

    /// The share of what a member has to show that it does show; nothing, if no statement can be its fault.
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

    pub(super) fn edit(&mut self, place: Place, targets: &[String], rates: Rates) {
        for (words, Statement(suspects)) in &mut self.statements {
            let Some(suspect) = suspects.get_mut(place.0) else { continue };
            if targets.contains(words) {
                suspect.chance += (1.0 - suspect.chance) * rates.mends.max(MENDS);
            }
        }
    }

    /// How likely each member is at fault where a statement is missed, the first one first; nothing, if it was never looked at.
    pub(super) fn shares(&self, words: &str) -> Vec<f64> {
        self.statements.get(words).map_or_else(Vec::new, |statement| statement.shares().collect())
    }

    /// How likely this one is. A single skill always is.
    pub(super) fn share(&self, words: &str, place: Place) -> f64 {
        match self.statements.get(words) {
            Some(statement) => statement.shares().nth(place.0).unwrap_or(0.0),
            None => 1.0,
        }
    }
}

/// How often a judge who names a member names the right one, the rest being spread over all of them.
const RIGHT: f64 = 0.6;
const MOST_CLAIMS: f64 = 4.0;

impl Statement {
    fn look(&mut self, is_met: bool, rates: Rates) {
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
        // A judge who errs about a statement errs so again: four claims count as two, and so do more.
        let each = if named > 0.0 { named.min(MOST_CLAIMS).sqrt() / named } else { 0.0 };
        let other = (1.0 - RIGHT) / members;
        let share = move |one: &Suspect| one.weight * ((RIGHT + other) / other).powf(one.named * each);
        let all: f64 = self.0.iter().map(share).sum();
        self.0.iter().map(move |one| share(one) / all)
    }
}
