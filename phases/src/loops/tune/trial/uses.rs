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

impl Run {
    /// Whether the skill of a candidate, or of some member of a chain, was used in none of these trials. Then nothing
    /// shows its effect.
    pub fn is_unused(&self, candidate: CandidateId, ordinals: &RangeInclusive<u32>) -> bool {
        self.plan.places().any(|place| self.member_is_unused(candidate, place, ordinals))
    }

    /// Whether a changed member of a candidate was used in none of these trials.
    pub(crate) fn change_is_unused(&self, candidate: CandidateId, ordinals: &RangeInclusive<u32>) -> bool {
        let trees = |id| self.candidate(id).map(|candidate| candidate.trees.as_slice()).unwrap_or_default();
        let (start, now) = (trees(self.start()), trees(candidate));
        let changed = self.plan.places().filter(|place| start.get(place.0) != now.get(place.0));
        changed.into_iter().any(|place| self.member_is_unused(candidate, place, ordinals))
    }

    fn member_is_unused(
        &self,
        candidate: CandidateId,
        member: Place,
        ordinals: &RangeInclusive<u32>,
    ) -> bool {
        Uses::of(self, candidate, Some(member), ordinals.clone()).is_unused()
    }

    /// Returns the trials that the final comparison rests on.
    pub fn deciding(&self) -> RangeInclusive<u32> {
        SEARCH + 1..=SEARCH + self.confirm()
    }
}
