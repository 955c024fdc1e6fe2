//! The search for a better candidate, by rounds or by drafts.

pub mod drafting;
pub mod explanation;
pub(super) mod rounds;
pub mod turns;
