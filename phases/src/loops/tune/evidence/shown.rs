//! The result of one trial of a round for one statement. Beliefs, suspects and faults all follow from these.

use crate::judging::contract::CriterionId;
use crate::skills::target::Place;

pub(crate) struct Shown {
    pub(crate) criterion: CriterionId,
    /// The text of the statement in the plan. Several scenarios may share a statement.
    pub(crate) words: String,
    pub(crate) is_met: bool,
    /// For a demand of a chain: the member whose work it is about, and the one that the judge named as at fault.
    pub(crate) about: Option<Place>,
    pub(crate) named: Option<Place>,
}
