//! The user interface of `evolve`.

mod advisers;
mod again;
pub mod args;
pub mod asking;
mod bring;
mod claimed;
pub mod command;
pub mod commands;
mod committed;
mod documents;
mod drafting;
mod filed;
pub mod invocation;
pub mod json;
mod oracles;
pub mod page;
pub mod places;
pub mod planning;
pub mod progress;
mod receipts;
mod repeated;
pub mod settings;
pub mod ui;
mod verify;
pub mod words;
