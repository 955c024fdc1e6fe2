//! The user interface of `tune`.

pub mod advice;
pub mod answer;
pub mod apply;
pub mod args;
pub mod command;
pub mod commands;
pub mod dangers;
pub mod delivery;
pub mod held_out_uses;
pub mod improvers;
pub mod invocation;
mod judges;
pub mod member;
pub mod older;
pub mod planning;
pub mod price;
pub mod progress;
pub mod prompts;
pub mod questions;
pub mod regrading;
pub mod report;
pub mod scenarios;
pub mod search;
pub mod settings;
pub mod suite_draft;
pub mod summary;
pub mod task_source;
pub mod trial_flags;
pub mod trial_run;
pub mod ui;
pub mod uncallable;
pub mod vacuous;
pub mod verdicts;
pub mod versions;
pub mod winner;
pub mod without_skill;
pub mod words;

#[cfg(test)]
pub use skilltune_worlds::tune::pages as world;
