//! The origin of a value.

use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// The default, because its program is installed on this machine.
    Installed,
    User(PathBuf),
    Project(PathBuf),
    /// The user answered a question.
    Answer,
    Flag(&'static str),
    /// A resumed run keeps the values of its plan.
    Run,
    /// A preset sets this value.
    Preset(String, Box<Self>),
}

impl Origin {
    /// Returns the word for scripts.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Installed => "installed",
            Self::User(_) => "user_file",
            Self::Project(_) => "project_file",
            Self::Answer => "answer",
            Self::Flag(_) => "flag",
            Self::Run => "run",
            Self::Preset(..) => "preset",
        }
    }

    /// Returns true if the user's own file sets the value.
    pub fn is_users(&self) -> bool {
        self.is_of(|origin| matches!(origin, Self::User(_)))
    }

    /// Returns true if a project's file sets the value.
    pub fn is_projects(&self) -> bool {
        self.is_of(|origin| matches!(origin, Self::Project(_)))
    }

    /// Returns true if the user sets the value in any way; a project's file may belong to someone else.
    pub fn is_persons(&self) -> bool {
        *self != Self::Default && !self.is_projects()
    }

    fn is_of(&self, kind: fn(&Self) -> bool) -> bool {
        match self {
            Self::Preset(_, origin) => kind(origin),
            origin => kind(origin),
        }
    }

    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::User(path) | Self::Project(path) => Some(path),
            Self::Preset(_, origin) => origin.file(),
            Self::Default | Self::Installed | Self::Answer | Self::Flag(_) | Self::Run => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Installed => f.write_str("default, because it is installed"),
            Self::User(path) => write!(f, "user file {}", path.display()),
            Self::Project(path) => write!(f, "project file {}", path.display()),
            Self::Answer => f.write_str("answer"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
            Self::Run => f.write_str("the plan of the run"),
            Self::Preset(preset, origin) => write!(f, "preset {preset}, {origin}"),
        }
    }
}
