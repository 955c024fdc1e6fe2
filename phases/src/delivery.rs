//! How an executor gets a candidate, and whether it used it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// The prompt holds its text.
    #[default]
    Inline,
    /// It is in the folder where the agent looks for skills, and the prompt is the task alone.
    Installed { at: String },
    /// The same, and the prompt calls it by its name.
    Slash { at: String },
}

/// What an agent did with a skill that was installed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillUse {
    Used,
    /// The agent saw its name and description, and did not use it.
    Offered,
    /// The agent did not recognise it as a skill, or did not show it to its model.
    NotOffered,
    /// Another skill of the same name was used in its place.
    Shadowed,
}

/// How often agents did what with the skills of a candidate, in the trials that produced something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Uses {
    pub used: usize,
    pub offered: usize,
    pub not_offered: usize,
    pub shadowed: usize,
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

impl Uses {
    pub(crate) fn count(&mut self, skill: SkillUse) {
        *match skill {
            SkillUse::Used => &mut self.used,
            SkillUse::Offered => &mut self.offered,
            SkillUse::NotOffered => &mut self.not_offered,
            SkillUse::Shadowed => &mut self.shadowed,
        } += 1;
    }

    pub fn trials(self) -> usize {
        self.used + self.offered + self.not_offered + self.shadowed
    }

    /// Whether it was unused in some trials.
    pub fn is_wanting(self) -> bool {
        self.used < self.trials()
    }

    /// Whether it was used in no trial, where that is known.
    pub fn is_unused(self) -> bool {
        self.used == 0 && self.trials() > 0
    }
}
