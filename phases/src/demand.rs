//! What a scenario demands of a trial: checks by machine and expectations for a judge, and the score that follows from them.

use serde::{Deserialize, Serialize};

use crate::checks::How;
use crate::name::Name;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// Unique within its scenario.
    pub id: Name,
    pub how: How,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u32,
    /// A trial that misses it scores 0, whatever else it meets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must_pass: bool,
    /// The member of a chain whose work it is about; the last one, if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Name>,
}

impl Demand {
    pub fn new(id: Name, how: How) -> Self {
        Self { id, how, weight: one(), must_pass: false, member: None }
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_one(weight: &u32) -> bool {
    *weight == one()
}
