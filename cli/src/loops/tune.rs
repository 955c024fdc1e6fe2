//! The user's side of `tune`.

pub mod advice;
pub mod answer;
pub mod apply;
pub mod args;
pub mod command;
pub mod commands;
pub mod delivery;
pub mod flags;
pub mod planning;
pub mod progress;
pub mod prompts;
pub mod questions;
pub mod report;
pub mod request;
pub mod scenarios;
pub mod settings;
pub mod tools;
pub mod ui;
pub mod words;
#[cfg(test)]
pub mod world;
