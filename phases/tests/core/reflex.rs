//! The reflex loop, driven without a disk, a clock or a process.

mod commands;
mod endings;
mod laws;
mod numbers;
mod orders;
mod projected;
mod search;
mod setup;
mod stop;

pub(crate) use skilltune_worlds::reflex as world;
