//! Reads the agents' answers: a contract and its negotiation, the notes of a builder, verdicts.
//!
//! A model's text is data. An answer that breaks the rules of the negotiation is rejected and asked for again.

mod notes;
mod talk;
mod verdicts;

pub use notes::{Claim, Notes, notes};
pub use talk::{MOST_CRITERIA, MOST_PROPOSALS, MOST_TESTS, MOST_WEIGHT, draft, proposals, rulings};
pub use verdicts::{Asked, Verdicts, verdicts};

/// The maximum length of a criterion, a reason or a piece of evidence.
const LONGEST: usize = 600;
