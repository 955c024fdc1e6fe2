//! A line of a doctor's page, with a mark.

use crate::terminal::style::Style;
use crate::text::plain;
use crate::text::width::flowed;

/// What a line means for a run.
pub enum Mark {
    Good,
    /// Not here, and perhaps not needed; or it cannot be known.
    Absent,
    Bad,
}

pub struct Line {
    pub mark: Mark,
    pub text: String,
}

const INDENT: &str = "      ";

impl Line {
    /// The mark stands out, and what does not fit beside it goes below.
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
