//! How a candidate comes to its executor, and what became of it there.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Its text stands in the prompt.
    #[default]
    Inline,
    /// It stands where the agent looks for skills, and the prompt is the task alone.
    Installed { at: String },
    /// The same, and the prompt calls it by its name.
    Slash { at: String },
}

/// What an agent did with a skill that was installed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillUse {
    Used,
    /// Its name and description were there to be seen, and it was not used.
    Offered,
    /// The agent did not take it for a skill, or kept it from its model.
    NotOffered,
    /// Another skill of the same name was used in its place.
    Shadowed,
}

impl Delivery {
    /// The folder of the workspace in which the agent looks for skills.
    pub fn at(&self) -> Option<&str> {
        match self {
            Self::Inline => None,
            Self::Installed { at } | Self::Slash { at } => Some(at),
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Installed { .. } => "installed",
            Self::Slash { .. } => "slash",
        }
    }
}

impl SkillUse {
    pub fn word(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Offered => "offered",
            Self::NotOffered => "not offered",
            Self::Shadowed => "shadowed",
        }
    }
}
