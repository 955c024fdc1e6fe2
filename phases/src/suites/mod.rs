//! Suites: scenarios, demands, checks, and the transcripts that checks read.

pub mod checks;
pub mod demand;
pub mod drafts;
pub mod leak;
pub mod scenario;
pub mod split;
pub mod transcript;
