//! Judges: contracts, evaluations, scores, comparisons, and when a run stops.

pub mod agreement;
pub mod contract;
pub mod findings;
pub mod judgement;
pub mod rubric;
pub mod rules;
pub mod score;
pub mod stop;

/// The statistics stand in a crate of their own.
pub use skilltune_proof as proof;
