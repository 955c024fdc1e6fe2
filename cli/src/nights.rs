//! Nights: jobs that run by themselves, from their file to the page that a person reads in the morning.
//!
//! A job is a run of ours like any other, started as a program of its own: what a person would type, with `--yes`. So it has its own
//! journal and its own locks, and what ends it ends nothing else.

pub mod book;
pub mod changed;
pub mod check;
pub mod clock;
pub mod driver;
pub mod file;
pub mod inbox;
pub mod install;
pub mod jobs;
pub mod json;
pub mod junit;
pub mod morning;
pub mod notify;
pub mod secrets;
pub mod told;
pub mod trend;
pub mod work;
