//! The program's interface to the outside: environment, streams, questions, signals, errors and exit codes.

pub mod browser;
pub mod columns;
pub mod complaint;
pub mod environment;
pub mod exit;
pub mod named;
pub mod printer;
pub mod questions;
pub mod signals;
pub mod style;
