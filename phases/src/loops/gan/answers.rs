//! Reading what the agents answer: a contract and what is said of it, the notes of a builder, verdicts.
//!
//! A model's text is data. What the rules of the negotiation do not allow is no answer, and asked for again.

mod notes;
mod talk;
mod verdicts;

pub use notes::{Claim, Notes, notes};
pub use talk::{MOST_CRITERIA, MOST_PROPOSALS, MOST_TESTS, MOST_WEIGHT, draft, proposals, rulings};
pub use verdicts::{Asked, Verdicts, verdicts};

/// No criterion, reason or piece of evidence is longer.
const LONGEST: usize = 600;
