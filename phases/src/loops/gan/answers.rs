//! Reads the agents' answers: a contract and its negotiation, the notes of a builder, verdicts.
//!
//! A model's text is data. An answer that breaks the rules of the negotiation is rejected and asked for again.

mod notes;
mod talk;
mod verdicts;

pub use notes::{Claim, Notes, notes};
pub use talk::{MINIMUMS, MOST_CRITERIA, MOST_PROPOSALS, MOST_TESTS, MOST_WEIGHT, draft, proposals, rulings};
pub use verdicts::{Asked, Verdicts, verdicts};

use crate::judging::score::Score;

/// The maximum length of a criterion, a reason or a piece of evidence.
const LONGEST: usize = 600;

/// The levels of the rubric, as agents write them.
pub(super) const LEVELS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// Returns the level that has this number, if it is one of these.
fn level(number: f64, among: &[f64]) -> Option<Score> {
    let level = among.iter().find(|known| (*known - number).abs() < 1e-9)?;
    Score::new(level * 100.0)
}
