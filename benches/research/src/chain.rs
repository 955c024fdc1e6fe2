//! The structure of a simulated chain: which member has to show a facet, and which member's work a statement is about.

use skilltune_phases::base::name::Name;
use skilltune_phases::judging::proof::draw::Draw;

use super::skill::{FACETS, Facet, Facets, Skill};

#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    members: usize,
    /// From 1; 0 for none.
    broken: usize,
    hands_on: f64,
    /// The facets whose statements are about the end of the chain.
    at_end: Facets,
}

impl Chain {
    /// Creates a chain in which this share of the facets has statements about the end.
    pub(super) fn of(members: usize, broken: usize, hands_on: f64, share: f64, seed: u64) -> Self {
        // A separate sequence of numbers, so that everything else is as in the world of a single skill.
        let mut draw = Draw::new(seed, 1);
        let at_end = (0..FACETS).filter(|_| draw.share() < share).collect();
        Self { members: members.max(1), broken, hands_on, at_end }
    }

    pub(super) fn members(&self) -> usize {
        self.members
    }

    pub(super) fn name(nth: usize) -> Name {
        format!("member-{}", nth + 1).parse().expect("a plain name")
    }

    /// Returns the member that has to show a facet.
    pub(super) fn owner(&self, facet: Facet) -> usize {
        facet % self.members
    }

    /// Returns the member whose work the statements about a facet are about: its owner, or the last member.
    pub(super) fn about(&self, facet: Facet) -> usize {
        if self.at_end.has(facet) { self.members - 1 } else { self.owner(facet) }
    }

    /// Returns the members at the start, with the first of these facets but none of a broken member's.
    pub(super) fn start(&self, facets: Vec<Facet>, count: usize) -> Vec<Skill> {
        let is_whole = |facet: &Facet| self.owner(*facet) + 1 != self.broken;
        let present: Facets = facets.into_iter().filter(is_whole).take(count).collect();
        let own = |member| present.iter().filter(|facet| self.owner(*facet) == member).collect();
        (0..self.members).map(|member| Skill::start(own(member), member)).collect()
    }

    /// Returns how often a facet that its owner shows is still in the work that its statements are about.
    pub(super) fn arrives(&self, facet: Facet) -> f64 {
        (self.owner(facet)..self.about(facet)).map(|_| self.hands_on).product()
    }

    pub(super) fn hands_on(&self) -> f64 {
        self.hands_on
    }
}
