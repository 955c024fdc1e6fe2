//! The user interface of `review`.

pub mod args;
pub mod command;
pub mod commands;
pub mod progress;
pub mod ui;

pub mod base;
pub mod diffs;
pub mod invocation;
pub mod machines;
pub mod own;
pub mod planning;
pub mod settings;
pub mod subject;
