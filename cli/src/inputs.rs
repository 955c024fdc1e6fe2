//! What a person points at: skills and suites.

pub mod find;
pub mod links;
pub mod plugin;
pub mod suite;
