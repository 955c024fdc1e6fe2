//! The layout of progress output, and the characters that a terminal can show.

use crate::terminal::environment::Environment;
use crate::terminal::style::Style;

/// The layout of progress output.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The maximum width of a line.
    pub width: usize,
    /// Whether the live line may be shown: only if the progress output goes to a terminal.
    pub live: bool,
    pub talk: Style,
    pub data: Style,
    /// The characters of the chart and the live line.
    pub letters: Letters,
}

/// The characters for bars and the spinner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// Eighths of a column.
    Blocks,
    /// Whole columns, for terminals that show only ASCII.
    Plain,
}

impl Letters {
    pub fn of(env: &Environment) -> Self {
        if !env.is_dumb() && env.is_utf8() { Self::Blocks } else { Self::Plain }
    }
}
