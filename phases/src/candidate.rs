//! One immutable version of the target: its content, where it came from, and why.

use serde::{Deserialize, Serialize};

use crate::edit::{Danger, EditKind, EditReport};
use crate::id::{CandidateId, TreeId};
use crate::target::Place;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub id: CandidateId,
    /// One tree a member, in the order of the chain.
    pub trees: Vec<TreeId>,
    /// Absent for the target as it was found.
    pub origin: Option<Origin>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    pub parent: CandidateId,
    /// The round whose improver made it.
    pub round: u32,
    pub member: Place,
    /// What the improver says it did.
    pub report: EditReport,
    /// What its files show that it did.
    pub kinds: Vec<EditKind>,
    /// What appeared with it that a person has to look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<Danger>,
}

impl Candidate {
    pub fn original(trees: Vec<TreeId>) -> Self {
        Self { id: CandidateId::of(&trees), trees, origin: None }
    }

    /// This candidate with one member's tree replaced.
    #[must_use]
    pub fn edited(
        &self,
        round: u32,
        member: Place,
        tree: TreeId,
        (report, kinds, dangers): (EditReport, Vec<EditKind>, Vec<Danger>),
    ) -> Self {
        let mut trees = self.trees.clone();
        trees[member.0] = tree;
        let origin = Origin { parent: self.id, round, member, report, kinds, dangers };
        Self { id: CandidateId::of(&trees), trees, origin: Some(origin) }
    }
}
