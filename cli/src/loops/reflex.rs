//! The user interface of `reflex`.

pub mod args;
pub mod command;
pub mod commands;
pub mod progress;
pub mod report;
pub mod summary;
pub mod ui;

pub mod context;
pub mod files;
pub mod gate;
pub mod invocation;
pub mod out;
pub mod planning;
pub mod rules_file;
pub mod settings;
pub mod setup;
pub mod terms;

#[cfg(test)]
pub use skilltune_worlds::reflex::pages as world;
