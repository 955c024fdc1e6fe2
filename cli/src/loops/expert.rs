//! The user interface of `expert`.

pub mod args;
pub mod command;
pub mod commands;
pub mod progress;
pub mod ui;

pub mod choose;
pub mod convert;
pub mod draft;
pub mod folder;
pub mod invocation;
pub mod listed;
pub mod planning;
pub mod resolve;
pub mod roster;
pub mod settings;
