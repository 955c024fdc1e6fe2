//! The decisions of `gan`.

use serde::{Deserialize, Serialize};

use super::contract::Contract;
use super::course::{Choice, Ending, Focus, Item, Question, Who};
use super::evaluation::Evaluation;
use super::negotiation::{Draft, Proposal, Ruling};
use super::step::Reading;
use crate::base::id::TreeId;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Drafted(Draft),
    Proposed(Vec<Proposal>),
    Ruled(Vec<Ruling>),
    /// The contract from now on.
    Agreed(Box<Contract>),
    /// A sprint begins.
    Sprint {
        number: u32,
        from: TreeId,
        focus: Box<Focus>,
    },
    /// The sprint has built this artifact, which is judged next.
    Built {
        artifact: TreeId,
    },
    /// The artifact is judged again, because the contract or the evaluator has changed.
    Again {
        artifact: TreeId,
    },
    Judged {
        artifact: TreeId,
        reading: Reading,
        evaluation: Box<Evaluation>,
        wanted: Vec<Item>,
    },
    /// The answer of a person or of a declared default.
    Answered {
        hold: Question,
        choice: Choice,
        by: Who,
    },
    Ended(End),
    Close,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub ending: Ending,
    /// The result of the run. It is decided here, so a later change of the evaluator does not affect it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TreeId>,
    /// The error, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
