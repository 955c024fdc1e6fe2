//! The ways to give a candidate to an executor, and whether the executor used it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// The prompt contains the skill's text.
    #[default]
    Inline,
    /// The skill is in the folder where the agent looks for skills, and the prompt is the task alone.
    Installed { at: String },
    /// Like `Installed`, and the prompt calls the skill by its name.
    Slash { at: String },
}

/// An agent's use of an installed skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillUse {
    Used,
    /// The agent saw its name and description, and did not use it.
    Offered,
    /// The agent did not recognise it as a skill, or did not show it to its model.
    NotOffered,
    /// The agent used another skill of the same name instead.
    Shadowed,
}

/// How often agents used the skills of a candidate, in the trials with output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uses {
    pub used: usize,
    pub offered: usize,
    pub not_offered: usize,
    pub shadowed: usize,
}

impl Delivery {
    /// Returns the folder of the workspace in which the agent looks for skills.
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

    /// Returns whether the skill was unused in some trials.
    pub fn is_wanting(self) -> bool {
        self.used < self.trials()
    }

    /// Returns whether the skill was used in no trial, as far as known.
    pub fn is_unused(self) -> bool {
        self.used == 0 && self.trials() > 0
    }
}
