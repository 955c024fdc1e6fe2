//! What a person points at: skills, suites, prompt files.

pub mod find;
pub mod prompts;
pub mod scenarios;
pub mod suite;
