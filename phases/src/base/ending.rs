//! The end of a run, as a class with one word and one exit code.

use serde::Serialize;

/// The documented classes of an end; `cli` maps them to exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The goal was reached.
    Reached,
    /// Ended without reaching the goal; the champion is kept.
    Short,
    /// The result could not be evaluated.
    Unjudged,
    /// Not ended: the run was stopped or waits, and can be resumed.
    Open,
}
