//! Judges: contracts, evaluations, scores, comparisons, and when a run stops.

pub mod agreement;
pub mod contract;
pub mod findings;
pub mod judgement;
pub mod proof;
pub mod rubric;
pub mod rules;
pub mod score;
pub mod stop;
