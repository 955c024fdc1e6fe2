//! The inputs that a user names: skills and suites.

pub mod bundle;
pub mod find;
pub mod links;
pub mod plugin;
pub mod suite;
pub mod task;
