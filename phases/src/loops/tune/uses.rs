//! What became of the skills of a candidate that were installed for its executors.

use serde::Serialize;

use crate::delivery::SkillUse;
use crate::id::CandidateId;
use crate::target::Place;

use super::measure;
use super::{Outcome, Run, Trial};

/// How often a candidate's skills came to what; of trials that have left something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Uses {
    pub used: usize,
    pub offered: usize,
    pub not_offered: usize,
    pub shadowed: usize,
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
        for scenario in 0..run.plan.task.scenarios.len() {
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
