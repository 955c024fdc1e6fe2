//! The outcome of a run, as one word and one exit code.

use serde::Serialize;

use crate::base::ending::Class;
use crate::base::id::CandidateId;
use crate::judging::score::Score;
use crate::judging::stop::Reason;
use crate::loops::tune::aims::unaided::{self, Unaided};
use crate::loops::tune::trial::measure::SEARCH;
use crate::loops::tune::{Aim, Ending, Run, Search, Shipment, Verdict};

/// The run's outcome for scripts: what happened to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The champion is in the target.
    Improved,
    /// A champion is kept, and the target left unchanged, as requested.
    Kept,
    /// The target is unchanged.
    Unchanged,
    /// The champion is a commit for review, and the target is unchanged.
    Proposed,
    /// The target contains a person's edit, which was left alone.
    Conflict,
    /// The scenarios were tried, without a skill or with the target as it is.
    Tried,
    /// Two versions were compared.
    Compared,
    /// Nothing could be judged.
    Unjudged,
    /// The run waits for an answer.
    Held,
    /// The run has not finished and can be resumed.
    Paused,
}

impl Run {
    pub fn class(&self) -> Class {
        let Some(ending) = self.state.closed else { return Class::Open };
        if ending == Ending::Tried {
            let is_scored = || self.state.rounds.last().is_some_and(|round| round.score().is_some());
            let is_whole = match self.plan.task.aim {
                Aim::Calibrate { .. } => is_scored(),
                Aim::Improve | Aim::Try { .. } | Aim::Compare(_) => {
                    unaided::tried(self).iter().all(Unaided::is_whole)
                }
            };
            return if is_whole { Class::Reached } else { Class::Unjudged };
        }
        let verdict = self.state.shipment.as_ref().map_or(Verdict::Unjudged, |shipment| shipment.verdict);
        let is_compared = self.state.shipment.as_ref().is_some_and(Shipment::is_compared);
        // A search by drafts may have measured the start even if all edits of it failed.
        let is_by_rounds = self.plan.task.rules.search == Search::Rounds;
        let has_failed = self.state.stopped == Some(Reason::Failed) && !is_compared && is_by_rounds;
        if verdict == Verdict::Unjudged || has_failed {
            return Class::Unjudged;
        }
        if ending == Ending::Compared {
            return if verdict == Verdict::Won { Class::Reached } else { Class::Short };
        }
        // With a suite, the search's results on its own scenarios do not count as reaching the goal.
        let counts =
            verdict == Verdict::Won || self.plan.is_structural() || self.plan.task.scenarios.len() == 1;
        let met = self.final_score().is_some_and(|score| score >= self.plan.task.rules.threshold);
        let met = if self.plan.task.fail_on.is_set() {
            self.fail_reasons().is_empty()
        } else {
            counts && met && !self.champion_is_unused()
        };
        if met && ending != Ending::Conflict { Class::Reached } else { Class::Short }
    }

    pub fn outcome(&self) -> Outcome {
        match self.state.closed {
            None if self.held => Outcome::Held,
            None => Outcome::Paused,
            Some(Ending::Applied) => Outcome::Improved,
            Some(Ending::Kept) => Outcome::Kept,
            Some(Ending::Conflict) => Outcome::Conflict,
            Some(Ending::Proposed) => Outcome::Proposed,
            Some(Ending::Tried) => Outcome::Tried,
            Some(Ending::Compared) => Outcome::Compared,
            Some(Ending::Unchanged) if self.class() == Class::Unjudged => Outcome::Unjudged,
            Some(Ending::Unchanged) => Outcome::Unchanged,
        }
    }

    /// Returns the start's score, from the final comparison if there was one, so that it can be compared with the
    /// champion's.
    pub fn initial_score(&self) -> Option<Score> {
        self.compared_score(self.start()).or_else(|| self.search_score(self.start()))
    }

    /// Returns the champion's score; before the end, the best so far.
    pub fn final_score(&self) -> Option<Score> {
        let Some(shipment) = &self.state.shipment else { return self.best().map(|(_, score)| score) };
        self.compared_score(shipment.champion).or_else(|| self.search_score(shipment.champion))
    }

    /// Whether the champion was unused in all its trials: those of the comparison or, without one, of the search.
    fn champion_is_unused(&self) -> bool {
        let Some(shipment) = &self.state.shipment else { return false };
        let ordinals = if shipment.is_compared() { self.deciding() } else { SEARCH..=SEARCH };
        self.is_unused(shipment.champion, &ordinals)
    }

    /// Returns the score of a candidate in the search.
    pub fn search_score(&self, candidate: CandidateId) -> Option<Score> {
        self.measured(candidate).and_then(|measured| measured.score)
    }

    fn compared_score(&self, candidate: CandidateId) -> Option<Score> {
        let scores = &self.state.shipment.as_ref()?.scores;
        scores.iter().find(|(id, _)| *id == candidate).and_then(|(_, score)| *score)
    }
}
