//! The extension of a final comparison that stayed open: later, the same run makes as many trials again.
//!
//! ```text
//! undecided -> the run ends -> look again: the same versions, more trials -> a look at all of them -> the run ends
//! ```
//!
//! The plan says how often. The first part of a comparison and each extension have equal shares of the chance of error,
//! set aside before the first trial, so that luck does not win more often than in a single comparison.
//!
//! An extension adds trials of pairs to those of the earlier parts. If only the challenger was tried, its trials have
//! no partners, and trials of the start on another day cannot be theirs: the extension tries both versions anew.

use super::control;
use crate::judging::proof::EarlierLook;
use crate::loops::tune::{Run, Verdict};

/// How often a comparison was extended, and the trials that count since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions {
    made: u32,
    /// The number of parts, of equal size, that the trials of this era have.
    parts: u32,
}

impl Default for Extensions {
    fn default() -> Self {
        Self { made: 0, parts: 1 }
    }
}

impl Extensions {
    pub fn made(self) -> u32 {
        self.made
    }

    pub(crate) fn parts(self) -> u32 {
        self.parts
    }

    /// Begins with the trials of another era. No share of the chance of error comes back.
    pub(crate) fn begin_anew(&mut self) {
        self.parts = 1;
    }
}

impl Run {
    /// Returns whether the run ended with an open comparison and has a share of the chance of error for more trials.
    pub fn is_extendable(&self) -> bool {
        let shipment = self.state.shipment.as_ref();
        let is_open = shipment
            .is_some_and(|one| one.verdict == Verdict::Indecisive && one.challenger == self.state.challenger);
        is_open
            && self.state.closed.is_some()
            && self.state.challenger.is_some()
            && self.state.extensions.made < self.plan.task.rules.extensions
            && self.plan.task.searches()
            && self.plan.basis().is_tested()
    }

    /// Goes back to before the verdict, with more trials to make. Returns false if the run is not extendable.
    pub(crate) fn reopen(&mut self) -> bool {
        if !self.is_extendable() {
            return false;
        }
        let is_unpaired = control::trials(self).is_some();
        let state = &mut self.state;
        state.extensions.made += 1;
        if is_unpaired {
            state.era += 1;
        } else {
            state.extensions.parts += 1;
        }
        state.panel.begin_anew();
        (state.shipment, state.shipped_at, state.closed) = (None, None, None);
        self.closed_at = None;
        true
    }

    /// Returns the looks at the pairs before they got their newest trials.
    pub(crate) fn earlier_looks(&self) -> Vec<EarlierLook> {
        let (parts, mut looks) = (self.state.extensions.parts, Vec::new());
        for part in 1..parts {
            let analyses = if part == 1 { self.plan.interim_analyses() } else { self.interim_analyses() };
            let trials = (self.confirm() / parts * part) as usize;
            looks.extend(analyses.into_iter().map(|analysis| EarlierLook { analysis, trials }));
        }
        looks
    }

    /// Returns the number of looks if no look decides, those of later extensions included.
    pub fn planned_looks(&self) -> usize {
        let most = if self.plan.task.searches() { self.plan.task.rules.extensions } else { 0 };
        let further = most.saturating_sub(self.state.extensions.made) as usize;
        // Pairs that follow other samples are looked at like those of any first part.
        let of_pairs = || self.plan.interim_analyses().len().saturating_sub(1);
        let more = if further > 0 && control::trials(self).is_some() { of_pairs() } else { 0 };
        self.earlier_looks().len() + self.interim_analyses().len() + further + more
    }
}
