//! One line of a doctor's report, with a mark.

use crate::terminal::style::Style;
use crate::text::plain;
use crate::text::width::flowed;

/// The meaning of a line for a run.
pub enum Mark {
    Good,
    /// Missing and perhaps not needed, or unknown.
    Absent,
    Bad,
}

pub struct Line {
    pub mark: Mark,
    pub text: String,
}

const INDENT: &str = "      ";

impl Line {
    /// Formats the line with its mark in front; text that does not fit wraps below.
    pub fn shown(&self, width: usize, style: Style) -> Vec<String> {
        let mark = match self.mark {
            Mark::Good => style.green("ok"),
            Mark::Absent => style.dim("--"),
            Mark::Bad => style.red("!!"),
        };
        let text = flowed(&plain::one_line(&self.text), width.saturating_sub(INDENT.len()), "");
        let lead = |at| if at == 0 { format!("  {mark}  ") } else { INDENT.to_owned() };
        text.iter().enumerate().map(|(at, text)| lead(at) + text).collect()
    }
}
