//! The user interface of `evolve`.

mod advisers;
mod again;
pub mod args;
pub mod asking;
mod bring;
pub mod command;
pub mod commands;
mod committed;
mod documents;
mod drafting;
pub mod invocation;
pub mod json;
pub mod page;
pub mod places;
pub mod planning;
pub mod progress;
pub mod settings;
pub mod ui;
pub mod words;
