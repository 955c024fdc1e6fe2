//! A simulated skill: the set of facets that its text covers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use skilltune_phases::base::id::Digest;

/// The number of facets.
pub(super) const FACETS: usize = 12;

/// One thing that a skill can be good at, by its number.
pub(super) type Facet = usize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Facet>", into = "Vec<Facet>")]
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

impl From<Vec<Facet>> for Facets {
    fn from(facets: Vec<Facet>) -> Self {
        facets.into_iter().collect()
    }
}

impl From<Facets> for Vec<Facet> {
    fn from(facets: Facets) -> Self {
        facets.iter().collect()
    }
}

/// One version of a skill. Its JSON text can be stored in a real `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// The id of the version, which seeds the results of agents that use it.
    pub(super) version: Digest,
    /// Present for every task.
    pub(super) facets: Facets,
    /// Present on one scenario only: overfitted fixes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) only_on: BTreeMap<usize, Facets>,
    /// The index of its member in a chain, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) member: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_first(member: &usize) -> bool {
    *member == 0
}

impl Skill {
    /// Creates a skill that a world begins with.
    pub(super) fn start(facets: Facets, member: usize) -> Self {
        let version = match member {
            0 => Digest::of(b"start"),
            _ => Digest::of(format!("start of {member}").as_bytes()),
        };
        Self { version, facets, only_on: BTreeMap::new(), member }
    }

    pub fn version(&self) -> Digest {
        self.version
    }

    pub(super) fn has(&self, facet: Facet, scenario: usize) -> bool {
        let overfitted = self.only_on.get(&scenario).is_some_and(|facets| facets.has(facet));
        self.facets.has(facet) || overfitted
    }

    pub(super) fn remove(&mut self, facet: Facet) {
        self.facets.remove(facet);
        self.only_on.values_mut().for_each(|facets| facets.remove(facet));
    }
}
