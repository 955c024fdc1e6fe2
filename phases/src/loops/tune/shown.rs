//! What one trial of a round has shown of one statement. Beliefs, suspects and faults all follow from these.

use crate::contract::CriterionId;
use crate::target::Place;

pub(super) struct Shown {
    pub(super) criterion: CriterionId,
    /// The statement, as the plan has it: those of several scenarios may be the same one.
    pub(super) words: String,
    pub(super) is_met: bool,
    /// Of a demand of a chain: the member whose work it is about, and the one that the judge has named as at fault.
    pub(super) about: Option<Place>,
    pub(super) named: Option<Place>,
}
