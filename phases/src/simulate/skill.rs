//! What a simulated skill is: which facets its text covers.

use std::collections::BTreeMap;

/// The facets that there are.
pub(super) const FACETS: usize = 12;

/// One thing that a skill can be good at, by its number.
pub(super) type Facet = usize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facets(u16);

impl Facets {
    pub(super) fn has(self, facet: Facet) -> bool {
        self.0 & 1 << facet != 0
    }

    pub(super) fn add(&mut self, facet: Facet) {
        self.0 |= 1 << facet;
    }

    pub(super) fn remove(&mut self, facet: Facet) {
        self.0 &= !(1 << facet);
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Facet> {
        (0..FACETS).filter(move |facet| self.has(*facet))
    }
}

impl FromIterator<Facet> for Facets {
    fn from_iter<I: IntoIterator<Item = Facet>>(facets: I) -> Self {
        let mut all = Self::default();
        facets.into_iter().for_each(|facet| all.add(facet));
        all
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Skill {
    /// Present whatever the task is.
    pub(super) facets: Facets,
    /// Present on one scenario only: fixes that are overfitted to it.
    pub(super) only_on: BTreeMap<usize, Facets>,
}

impl Skill {
    pub(super) fn has(&self, facet: Facet, scenario: usize) -> bool {
        let overfitted = self.only_on.get(&scenario).is_some_and(|facets| facets.has(facet));
        self.facets.has(facet) || overfitted
    }

    pub(super) fn remove(&mut self, facet: Facet) {
        self.facets.remove(facet);
        self.only_on.values_mut().for_each(|facets| facets.remove(facet));
    }
}
