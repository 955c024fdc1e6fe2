//! The evidence that a final comparison rests on, and how often it is looked at.

use crate::judging::proof::{self, InterimAnalysis};
use crate::loops::tune::Plan;
use crate::loops::tune::trial::measure;

/// The rule that decides a final comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// An exact test over scenarios that no search has seen.
    HeldOut,
    /// An exact test over the search's own scenarios, which favour its champion.
    Searched,
    /// An exact test over all scenarios, where nothing was searched.
    All,
    /// The higher score, over too few scenarios for a test.
    Few,
    /// The higher score of a judge that gives the same verdict every time.
    Structure,
}

impl Basis {
    pub(crate) fn is_tested(self) -> bool {
        match self {
            Self::HeldOut | Self::Searched | Self::All => true,
            Self::Few | Self::Structure => false,
        }
    }

    /// Whether a champion may replace the target without anyone's consent.
    pub(crate) fn is_sure(self) -> bool {
        match self {
            Self::HeldOut | Self::All | Self::Structure => true,
            Self::Searched | Self::Few => false,
        }
    }
}

impl Plan {
    pub fn basis(&self) -> Basis {
        let compared = measure::planned(self);
        if self.is_structural() {
            Basis::Structure
        } else if compared.len() < self.task.rules.confidence.fewest_pairs() {
            Basis::Few
        } else if self.task.scenarios[compared[0]].held_out {
            Basis::HeldOut
        } else if self.task.is_of_search() {
            Basis::Searched
        } else {
            Basis::All
        }
    }

    /// Returns the number of pairs and the chance of error of each look, before any extension. Without a test there is
    /// one look.
    pub fn interim_analyses(&self) -> Vec<InterimAnalysis> {
        self.analyses_of(measure::planned(self).len())
    }

    /// Returns the same for a comparison of this many pairs.
    pub(crate) fn analyses_of(&self, pairs: usize) -> Vec<InterimAnalysis> {
        if self.basis().is_tested() {
            proof::interim_analyses_within(pairs, self.task.rules.alpha())
        } else {
            vec![InterimAnalysis { pairs, alpha: 0.0 }]
        }
    }
}
