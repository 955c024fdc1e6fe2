//! The user interface of `reflex`.

pub mod args;
pub mod command;
pub mod commands;
pub mod progress;
pub mod report;
pub mod ui;
#[cfg(test)]
pub mod world;

pub mod context;
pub mod files;
pub mod flags;
pub mod gate;
pub mod invocation;
pub mod out;
pub mod planning;
pub mod rules_file;
pub mod settings;
pub mod setup;
pub mod terms;
