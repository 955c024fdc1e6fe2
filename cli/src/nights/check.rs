//! One check of `doctor` or `night doctor`, and how both show it.

use serde::Serialize;

use crate::terminal::style::Style;
use crate::text::plain::one_line;
use crate::text::width::flowed;

/// Its keys are a public interface of `night doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The section of the page that it belongs to.
    pub about: About,
    pub state: State,
    pub text: String,
    /// How to fix it.
    pub fix: Option<String>,
}

/// The sections, in their order on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    File,
    Start,
    Jobs,
    Agents,
    Workers,
    Disk,
    Time,
    Folders,
    Project,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Fine,
    /// It does not work. In `night doctor`: tonight will not work because of it.
    Broken,
    /// Unknown from here, dependent on what happens until then, or missing and perhaps not needed.
    Unknown,
}

const INDENT: &str = "      ";

/// Formats the checks for people, each section below its title. The checks are in the order of the sections.
pub fn sections(checks: &[Check], width: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for section in checks.chunk_by(|one, next| one.about == next.about) {
        lines.extend([String::new(), style.bold(section[0].about.word())]);
        lines.extend(section.iter().flat_map(|check| check.lines(width, style)));
    }
    lines
}

impl About {
    fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Start => "start",
            Self::Jobs => "jobs",
            Self::Agents => "agents",
            Self::Workers => "workers",
            Self::Disk => "disk",
            Self::Time => "time",
            Self::Folders => "folders",
            Self::Project => "project",
        }
    }
}

impl State {
    pub fn fine_if(is_fine: bool) -> Self {
        if is_fine { Self::Fine } else { Self::Broken }
    }
}

impl Check {
    pub fn new(about: About, state: State, text: impl AsRef<str>) -> Self {
        Self { about, state, text: one_line(text.as_ref()), fix: None }
    }

    pub fn fine(about: About, text: impl AsRef<str>) -> Self {
        Self::new(about, State::Fine, text)
    }

    pub fn broken(about: About, text: impl AsRef<str>, fix: impl AsRef<str>) -> Self {
        Self::new(about, State::Broken, text).with_fix(Some(fix))
    }

    pub fn unknown(about: About, text: impl AsRef<str>, fix: impl AsRef<str>) -> Self {
        Self::new(about, State::Unknown, text).with_fix(Some(fix))
    }

    #[must_use]
    pub fn with_fix(self, fix: Option<impl AsRef<str>>) -> Self {
        Self { fix: fix.map(|fix| one_line(fix.as_ref())), ..self }
    }

    pub fn is_broken(&self) -> bool {
        self.state == State::Broken
    }

    /// Formats the check with a mark in front; text that does not fit wraps below.
    fn lines(&self, width: usize, style: Style) -> Vec<String> {
        let mark = match self.state {
            State::Fine => style.green("ok"),
            State::Unknown => style.dim("--"),
            State::Broken => style.red("!!"),
        };
        let fix = self.fix.as_ref().map_or(String::new(), |fix| format!("; {fix}"));
        let text = one_line(&format!("{}{fix}", self.text));
        let text = flowed(&text, width.saturating_sub(INDENT.len()), "");
        let lead = |at| if at == 0 { format!("  {mark}  ") } else { INDENT.to_owned() };
        text.iter().enumerate().map(|(at, text)| lead(at) + text).collect()
    }
}
