//! The dangers of a candidate: abilities that the start lacks, and that only a person may let into the target.

use super::Run;
use crate::base::id::CandidateId;
use crate::skills::edit::Danger;
use crate::skills::target::Place;

impl Run {
    /// Returns the dangers of all edits that led from the start to a candidate, by member, path and line. A danger that
    /// a later edit removed is still included.
    pub fn dangers(&self, candidate: CandidateId) -> Vec<(Place, &Danger)> {
        let mut found = Vec::new();
        let mut next = self.candidate(candidate);
        // A journal written by someone else may contain a cycle.
        for _ in 0..self.state.candidates.len() {
            let Some(origin) = next.and_then(|candidate| candidate.origin.as_ref()) else { break };
            found.extend(origin.dangers.iter().map(|danger| (origin.member, danger)));
            next = self.candidate(origin.parent);
        }
        found.sort();
        found.dedup();
        found
    }

    /// Whether a person must see the champion's dangers before it replaces anything.
    pub fn needs_a_person(&self) -> bool {
        let champion = self.state.shipment.as_ref().map(|shipment| shipment.champion);
        champion.is_some_and(|champion| !self.dangers(champion).is_empty())
    }
}
