//! The user interface of `gan`.

pub mod args;
pub mod asking;
pub mod browser;
pub mod command;
pub mod commands;
pub mod design_file;
pub mod inputs;
pub mod invocation;
pub mod planning;
pub mod progress;
pub mod report;
pub mod settings;
pub mod summary;
pub mod ui;
