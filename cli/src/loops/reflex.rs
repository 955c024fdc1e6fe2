//! The user's side of `reflex`.

pub mod args;
pub mod command;
pub mod commands;
pub mod progress;
pub mod report;
pub mod ui;
#[cfg(test)]
pub mod world;

pub mod allow;
pub mod confirm;
pub mod context;
pub mod files;
pub mod flags;
pub mod out;
pub mod planning;
pub mod request;
pub mod settings;
