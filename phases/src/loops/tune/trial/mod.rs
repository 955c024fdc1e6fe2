//! Trials of candidates: their checks, expectations and scores, and how their skills were used.

pub(super) mod graded;
pub mod measure;
