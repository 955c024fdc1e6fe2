//! How a candidate comes to its executor, and what became of it there.

use serde::{Deserialize, Serialize};

use crate::event::Outcome;
use crate::id::CandidateId;
use crate::measure;
use crate::plan::Place;
use crate::run::Run;
use crate::step::Trial;

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

/// How often a candidate's skills came to what; of trials that have left something.
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
    /// Of all members, or of one, on the trials with these ordinals.
    pub fn of(
        run: &Run,
        candidate: CandidateId,
        member: Option<Place>,
        ordinals: std::ops::RangeInclusive<u32>,
    ) -> Self {
        let mut uses = Self::default();
        let Some(candidate) = run.candidate(candidate) else { return uses };
        for scenario in 0..run.plan.scenarios.len() {
            for ordinal in ordinals.clone() {
                let members = measure::exercised(run, candidate, Trial { scenario, ordinal });
                for (place, outcome) in members.into_iter().enumerate() {
                    if member.is_none_or(|member| member.0 == place) {
                        uses.count(outcome);
                    }
                }
            }
        }
        uses
    }

    fn count(&mut self, outcome: &Outcome) {
        let Outcome::Exercised { skill: Some(skill), .. } = outcome else { return };
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
}
