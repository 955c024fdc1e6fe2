//! How the executors used a candidate's installed skills.

use std::ops::RangeInclusive;

use crate::base::delivery::{SkillUse, Uses};
use crate::base::id::CandidateId;
use crate::skills::candidate::Candidate;
use crate::skills::target::Place;

use super::measure::{self, SEARCH};
use crate::loops::tune::{Answer, Run, Trial};

impl Uses {
    /// Counts the uses of all members, or of one, on the trials with these ordinals.
    pub fn of(
        run: &Run,
        candidate: CandidateId,
        member: Option<Place>,
        ordinals: RangeInclusive<u32>,
    ) -> Self {
        let mut uses = Self::default();
        let Some(candidate) = run.candidate(candidate) else { return uses };
        for scenario in 0..run.plan.task.scenarios.len() {
            for ordinal in ordinals.clone() {
                // Uses by an earlier agent do not count.
                let era = if ordinal == SEARCH { run.era_of(candidate.id) } else { run.state.era };
                let members = measure::exercised(run, candidate, Trial { scenario, ordinal, era });
                for (place, answer) in members.into_iter().enumerate() {
                    if let Answer::Exercised { skill: Some(skill), .. } = answer
                        && member.is_none_or(|member| member.0 == place)
                    {
                        uses.count(*skill);
                    }
                }
            }
        }
        uses
    }
}

/// Returns the members that were not used in a trial. Unknown for an agent that does not report it.
pub(crate) fn unused_in(run: &Run, candidate: &Candidate, trial: Trial) -> Vec<Place> {
    let outcomes = measure::exercised(run, candidate, trial).into_iter().enumerate();
    let unused = outcomes.filter(|(_, outcome)| match outcome {
        Answer::Exercised { skill, .. } => skill.is_some_and(|skill| skill != SkillUse::Used),
        _ => false,
    });
    unused.map(|(place, _)| Place(place)).collect()
}
