//! How a run came out, in one word and one exit code.

use serde::Serialize;

/// The documented classes of an end; `cli` maps them to exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The goal is reached.
    Reached,
    /// Ended without reaching the goal; the champion is kept.
    Short,
    /// Could not be judged.
    Unjudged,
    /// Not at its end: stopped or waiting, and can be taken up again.
    Open,
}
