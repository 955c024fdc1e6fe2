//! The letters that a terminal can show.

use crate::terminal::environment::Environment;

/// What bars are drawn with, and the spinner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// Eighths of a column.
    Blocks,
    /// Whole columns, for where nothing but ASCII can be shown.
    Plain,
}

impl Letters {
    pub fn of(around: &Environment) -> Self {
        if !around.is_dumb() && around.is_utf8() { Self::Blocks } else { Self::Plain }
    }
}
