//! The result of one trial of a round for one statement. Beliefs, suspects and faults all follow from these.

use crate::judging::contract::CriterionId;
use crate::skills::target::Place;

pub(super) struct Shown {
    pub(super) criterion: CriterionId,
    /// The text of the statement in the plan. Several scenarios may share a statement.
    pub(super) words: String,
    pub(super) is_met: bool,
    /// For a demand of a chain: the member whose work it is about, and the one that the judge named as at fault.
    pub(super) about: Option<Place>,
    pub(super) named: Option<Place>,
}
