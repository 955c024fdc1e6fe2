//! The status of a run. Derived each time, never stored.

use std::fmt;

use serde::Serialize;

use super::Run;
use super::contract::Contract;
use super::course::{Ending, NextAction, Question, Round};
use super::decision::End;
use super::evaluation::{Block, Claim};
use super::state::Sprint;
use super::step::{Answer, Reading, Step};
use crate::base::ending::Class;
use crate::base::id::{Digest, TreeId};
use crate::judging::score::Score;
use crate::runs::proposal::Proposal;
use crate::runs::run::StepState;

/// The run's outcome for scripts. It uses the words of the other loops if the meaning is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Passed,
    /// A person called it passed.
    Forced,
    /// A person accepted it as it was.
    Accepted,
    Short,
    Aborted,
    /// A step gave no usable answer.
    Unjudged,
    /// The run waits for an answer.
    Held,
    /// The run has not ended and can be resumed.
    Paused,
}

/// A score above that of the best round, and why it did not count.
#[derive(Clone, Debug, PartialEq)]
pub struct HigherScore<'a> {
    pub round: &'a Round,
    pub score: Score,
    pub why: Vec<Uncounted>,
}

/// A reason why a score did not count.
#[derive(Clone, Debug, PartialEq)]
pub enum Uncounted {
    /// Of two judgements the lower one counts.
    Lower(Score),
    OtherContract,
    OtherEvaluator,
    Blocked(Block),
}

impl fmt::Display for Uncounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lower(score) => write!(f, "another judgement gave it {}", score.typed()),
            Self::OtherContract => f.write_str("the contract has changed since"),
            Self::OtherEvaluator => f.write_str("the evaluator has changed since"),
            Self::Blocked(block) => write!(f, "{block}"),
        }
    }
}

impl Run {
    pub fn class(&self) -> Class {
        let end = self.state.end.as_ref().filter(|_| self.closed_at.is_some());
        match end.map(|end| end.ending) {
            None => Class::Open,
            Some(Ending::Reached) => Class::Reached,
            Some(Ending::Forced | Ending::Accepted | Ending::Kept(_) | Ending::Aborted) => Class::Short,
            Some(Ending::Failed) => Class::Unjudged,
        }
    }

    pub fn outcome(&self) -> Ended {
        let end = self.state.end.as_ref().filter(|_| self.closed_at.is_some());
        match end.map(|end| end.ending) {
            Some(Ending::Reached) => Ended::Passed,
            Some(Ending::Forced) => Ended::Forced,
            Some(Ending::Accepted) => Ended::Accepted,
            Some(Ending::Kept(_)) => Ended::Short,
            Some(Ending::Aborted) => Ended::Aborted,
            Some(Ending::Failed) => Ended::Unjudged,
            None if self.held => Ended::Held,
            None => Ended::Paused,
        }
    }

    /// Returns the round whose artifact is or would be the result: the best under the contract in force.
    pub fn best(&self) -> Option<&Round> {
        let course = &self.state.course;
        match &self.state.end {
            Some(End { ending: Ending::Reached, .. }) => course.rounds.last(),
            Some(End { result: Some(result), .. }) => self.judged(*result),
            Some(End { result: None, .. }) | None => {
                course.best(self.state.contract()?, &self.plan.task.rules, self.state.era)
            }
        }
    }

    /// Returns the highest score that a judge gave, if it is above that of the best round; of equals the first.
    pub fn higher_score(&self) -> Option<HigherScore<'_>> {
        let judgements = self.state.course.rounds.iter().flat_map(|round| {
            let both = std::iter::once(&round.first).chain(&round.second);
            both.map(move |evaluation| (round, evaluation.score))
        });
        let (round, score) = judgements.rev().max_by_key(|(_, score)| *score)?;
        let best = self.best().map(|best| best.evaluation().score);
        let why = self.uncounted(round, score);
        best.is_none_or(|best| score > best).then_some(HigherScore { round, score, why })
    }

    fn uncounted(&self, round: &Round, score: Score) -> Vec<Uncounted> {
        let lower = Some(round.evaluation().score).filter(|lower| *lower < score).map(Uncounted::Lower);
        let now = self.state.contract().map(Contract::hash);
        let contract = (Some(round.first.contract) != now).then_some(Uncounted::OtherContract);
        let evaluator = (round.era != self.state.era).then_some(Uncounted::OtherEvaluator);
        let blocks = self.blocks(round).into_iter().map(Uncounted::Blocked);
        lower.into_iter().chain(contract).chain(evaluator).chain(blocks).collect()
    }

    /// Returns the round in which an artifact was judged: the best one, or else the newest. A builder may change
    /// nothing.
    pub(super) fn judged(&self, artifact: TreeId) -> Option<&Round> {
        let course = &self.state.course;
        let best = course.best(self.state.contract()?, &self.plan.task.rules, self.state.era);
        let newest = || course.rounds.iter().rev().find(|round| round.artifact == artifact);
        best.filter(|round| round.artifact == artifact).or_else(newest)
    }

    /// Returns the contract with this hash.
    pub fn contract_of(&self, hash: Digest) -> Option<&Contract> {
        self.state.contracts.iter().rev().find(|contract| contract.hash() == hash)
    }

    /// Returns everything that keeps a round from passing.
    pub fn blocks(&self, round: &Round) -> Vec<Block> {
        let contract = self.contract_of(round.first.contract);
        contract.map_or_else(Vec::new, |one| round.blocks(one, &self.plan.task.rules, round.sprints))
    }

    /// Returns the levels of the rubric that the judge whose evaluation counts cited, each with its reason.
    pub fn cited_in(&self, round: &Round) -> &[Claim] {
        let reading = if round.is_second_lower() { Reading::Second } else { Reading::First };
        let (artifact, sprint, era) = (round.artifact, round.sprints as usize, round.era);
        let step = Step::Judge { artifact, sprint, contract: round.first.contract, reading, era };
        match self.state_of(&step) {
            StepState::Answered(Answer::Judged(verdicts)) => &verdicts.claims,
            _ => &[],
        }
    }

    /// Returns the sprint that built the artifact of a round. A later sprint may have built the same artifact again.
    pub fn sprint_of(&self, round: &Round) -> Option<&Sprint> {
        let by_then = self.state.sprints.iter().filter(|sprint| sprint.number <= round.sprints);
        by_then.rev().find(|sprint| sprint.artifact == Some(round.artifact))
    }

    /// Returns the number of the sprint that built the artifact of a round.
    pub fn number_of(&self, round: &Round) -> u32 {
        self.sprint_of(round).map_or(0, |sprint| sprint.number)
    }

    /// Returns the next question to a person about how to continue, if there is one.
    pub fn asks(&self) -> Option<Question> {
        let (state, rules) = (&self.state, &self.plan.task.rules);
        match state.course.follow(state.contract()?, rules, state.era) {
            NextAction::Question(hold) => Some(hold),
            _ => None,
        }
    }

    /// Returns the number of artifacts that the run may build as of now.
    pub fn last_sprint(&self) -> u32 {
        self.state.course.last_sprint(&self.plan.task.rules)
    }

    /// Returns the artifact that a run leaves.
    pub fn result(&self) -> Option<TreeId> {
        match &self.state.end {
            Some(end) => end.result,
            None => self.left_by(Ending::Failed),
        }
    }

    /// Returns the artifact that a run with this ending leaves: the one that passed, or else the best, or if none was
    /// judged the last one built.
    pub(super) fn left_by(&self, ending: Ending) -> Option<TreeId> {
        let rounds = &self.state.course.rounds;
        let judged = match ending {
            Ending::Aborted => return None,
            Ending::Reached => rounds.last(),
            Ending::Forced | Ending::Accepted | Ending::Kept(_) | Ending::Failed => {
                self.best().or(rounds.last())
            }
        };
        let built = || self.state.sprints.iter().rev().find_map(|sprint| sprint.artifact);
        judged.map(|round| round.artifact).or_else(built)
    }

    /// Returns the commit of the result, or the reason why there is none, if one was to be made.
    pub fn proposed(&self) -> Option<Result<&Proposal, &str>> {
        match self.handed_over()? {
            Answer::Committed(proposal) => Some(Ok(proposal)),
            Answer::NotCommitted { why } => Some(Err(why)),
            _ => None,
        }
    }
}
