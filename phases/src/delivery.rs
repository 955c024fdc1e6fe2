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

/// How often the skills of a candidate came to each, in the trials that left something.
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

    /// Whether there were trials in which it was not used.
    pub fn is_wanting(self) -> bool {
        self.used < self.trials()
    }

    /// Whether it was used in no trial, where that is known.
    pub fn is_unused(self) -> bool {
        self.used == 0 && self.trials() > 0
    }
}
