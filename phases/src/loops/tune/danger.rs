//! What a candidate can do that the start could not, and that nobody but a person may let into the target.

use super::Run;
use crate::edit::Danger;
use crate::id::CandidateId;
use crate::target::Place;

impl Run {
    /// The dangers of all edits that led from the start to a candidate, by member, path and line. One that a later edit took
    /// away is still among them.
    pub fn dangers(&self, candidate: CandidateId) -> Vec<(Place, &Danger)> {
        let mut found = Vec::new();
        let mut next = self.candidate(candidate);
        // A journal that somebody else wrote may lead in a circle.
        for _ in 0..self.state.candidates.len() {
            let Some(origin) = next.and_then(|candidate| candidate.origin.as_ref()) else { break };
            found.extend(origin.dangers.iter().map(|danger| (origin.member, danger)));
            next = self.candidate(origin.parent);
        }
        found.sort();
        found.dedup();
        found
    }

    /// Whether the champion replaces nothing without a person who has seen its dangers.
    pub fn needs_a_person(&self) -> bool {
        let champion = self.state.shipment.as_ref().map(|shipment| shipment.champion);
        champion.is_some_and(|champion| !self.dangers(champion).is_empty())
    }
}
