//! What `gan` decides.

use serde::{Deserialize, Serialize};

use super::contract::Contract;
use super::course::{Choice, Ending, Focus, Item, Question, Who};
use super::evaluation::Evaluation;
use super::negotiation::{Draft, Proposal, Ruling};
use super::step::Reading;
use crate::id::TreeId;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Drafted(Draft),
    Proposed(Vec<Proposal>),
    Ruled(Vec<Ruling>),
    /// This is the contract from now on.
    Agreed(Box<Contract>),
    /// A sprint begins.
    Sprint {
        number: u32,
        from: TreeId,
        focus: Box<Focus>,
    },
    /// It has made this, which is judged next.
    Built {
        artifact: TreeId,
    },
    /// What is there is judged again: the contract or the evaluator is another one now.
    Again {
        artifact: TreeId,
    },
    Judged {
        artifact: TreeId,
        reading: Reading,
        evaluation: Box<Evaluation>,
        wanted: Vec<Item>,
    },
    /// What a person, or a declared default, has answered.
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
    /// What the run leaves: decided here, whatever the evaluator may be by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TreeId>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
