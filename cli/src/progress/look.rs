//! How the talk looks, and the letters that a terminal can show.

use crate::terminal::environment::Environment;
use crate::terminal::style::Style;

/// How the talk looks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// No line is wider than this.
    pub width: usize,
    /// Whether a line that changes may be shown: only where the talk goes to a terminal.
    pub live: bool,
    pub talk: Style,
    pub data: Style,
    /// Of the picture, and of the live line.
    pub letters: Letters,
}

/// What bars are drawn with, and the spinner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// Eighths of a column.
    Blocks,
    /// Whole columns, for where nothing but ASCII can be shown.
    Plain,
}

impl Letters {
    pub fn of(env: &Environment) -> Self {
        if !env.is_dumb() && env.is_utf8() { Self::Blocks } else { Self::Plain }
    }
}
