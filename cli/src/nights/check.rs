//! One check of `night doctor`.

use serde::Serialize;

use crate::text::plain::one_line;

/// Its keys are a public interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The section of the page that it belongs to.
    pub about: About,
    pub state: State,
    pub text: String,
    /// How to fix it.
    pub fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    File,
    Start,
    Jobs,
    Agents,
    Disk,
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Fine,
    /// Tonight will not work because of it.
    Broken,
    /// Unknown from here, or dependent on what happens until then.
    Unknown,
}

impl About {
    pub const ALL: [Self; 6] = [Self::File, Self::Start, Self::Jobs, Self::Agents, Self::Disk, Self::Time];

    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Start => "start",
            Self::Jobs => "jobs",
            Self::Agents => "agents",
            Self::Disk => "disk",
            Self::Time => "time",
        }
    }
}

impl Check {
    pub fn fine(about: About, text: impl AsRef<str>) -> Self {
        Self { about, state: State::Fine, text: one_line(text.as_ref()), fix: None }
    }

    pub fn broken(about: About, text: impl AsRef<str>, fix: impl AsRef<str>) -> Self {
        Self { about, state: State::Broken, text: one_line(text.as_ref()), fix: Some(one_line(fix.as_ref())) }
    }

    pub fn unknown(about: About, text: impl AsRef<str>, fix: impl AsRef<str>) -> Self {
        Self { state: State::Unknown, ..Self::broken(about, text, fix) }
    }

    pub fn is_broken(&self) -> bool {
        self.state == State::Broken
    }
}
