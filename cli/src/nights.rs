//! Nights: jobs that run unattended, from their file to the page that a person reads in the morning.
//!
//! A job is a normal run, started as a separate program: what a user would type, with `--yes`. So it has its own
//! journal and its own locks, and its end affects nothing else.

pub mod book;
pub mod cause;
pub mod changed;
pub mod check;
pub mod clock;
pub mod driver;
pub mod failed_start;
pub mod file;
pub mod inbox;
pub mod install;
pub mod jobs;
pub mod json;
pub mod junit;
pub mod morning;
pub mod notify;
pub mod outcome;
pub mod pages;
pub mod secrets;
pub mod series;
pub mod trend;
pub mod waiting;
pub mod work;
