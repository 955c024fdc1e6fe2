//! An immutable version of the target: its content, its origin, and its reason.

use serde::{Deserialize, Serialize};

use crate::base::id::{CandidateId, TreeId};
use crate::skills::edit::{Danger, EditKind, EditReport};
use crate::skills::target::Place;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub id: CandidateId,
    /// One tree per member, in the order of the chain.
    pub trees: Vec<TreeId>,
    /// `None` for the target as the run found it.
    pub origin: Option<Origin>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    pub parent: CandidateId,
    /// The round of the improver.
    pub round: u32,
    pub member: Place,
    /// The improver's own report.
    pub report: EditReport,
    /// The kinds of edits, as seen in the files.
    pub kinds: Vec<EditKind>,
    /// New content that a person must review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<Danger>,
}

impl Candidate {
    pub fn original(trees: Vec<TreeId>) -> Self {
        Self { id: CandidateId::of(&trees), trees, origin: None }
    }

    /// Returns this candidate with one member's tree replaced.
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
