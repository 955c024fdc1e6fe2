//! How a run stands. Derived each time, never stored.

use serde::Serialize;

use super::Run;
use super::contract::Contract;
use super::course::{Ending, NextAction, Question, Round};
use super::decision::End;
use super::evaluation::Block;
use super::state::Sprint;
use super::step::Answer;
use crate::ending::Class;
use crate::id::{Digest, TreeId};
use crate::proposal::Proposal;
use crate::run::StepState;

/// The run's outcome for scripts, in the words of the other loops where it means the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Passed,
    /// A person called it passed.
    Forced,
    /// A person took it as it was.
    Accepted,
    Short,
    Aborted,
    /// A step came to nothing that could be used.
    Unjudged,
    /// Waiting for an answer.
    Held,
    /// Not at its end: it can be resumed.
    Paused,
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

    /// The round whose artifact the run leaves, or would leave: the best under the contract in force.
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

    /// The round in which an artifact was judged: the best one, or else the newest. A builder may leave it as it is.
    pub(super) fn judged(&self, artifact: TreeId) -> Option<&Round> {
        let course = &self.state.course;
        let best = course.best(self.state.contract()?, &self.plan.task.rules, self.state.era);
        let newest = || course.rounds.iter().rev().find(|round| round.artifact == artifact);
        best.filter(|round| round.artifact == artifact).or_else(newest)
    }

    /// The contract of this hash.
    pub fn contract_of(&self, hash: Digest) -> Option<&Contract> {
        self.state.contracts.iter().rev().find(|contract| contract.hash() == hash)
    }

    /// All that keeps a round from passing.
    pub fn blocks(&self, round: &Round) -> Vec<Block> {
        let contract = self.contract_of(round.first.contract);
        contract.map_or_else(Vec::new, |one| round.blocks(one, &self.plan.task.rules, round.sprints))
    }

    /// The sprint that has built what was judged in a round. A later one may have built the same again.
    pub fn sprint_of(&self, round: &Round) -> Option<&Sprint> {
        let by_then = self.state.sprints.iter().filter(|sprint| sprint.number <= round.sprints);
        by_then.rev().find(|sprint| sprint.artifact == Some(round.artifact))
    }

    /// Its number.
    pub fn number_of(&self, round: &Round) -> u32 {
        self.sprint_of(round).map_or(0, |sprint| sprint.number)
    }

    /// What it asks a person next, if it asks how to go on.
    pub fn asks(&self) -> Option<Question> {
        let (state, rules) = (&self.state, &self.plan.task.rules);
        match state.course.follow(state.contract()?, rules, state.era) {
            NextAction::Question(hold) => Some(hold),
            _ => None,
        }
    }

    /// How many artifacts it may build as things stand.
    pub fn last_sprint(&self) -> u32 {
        self.state.course.last_sprint(&self.plan.task.rules)
    }

    /// What a run leaves.
    pub fn result(&self) -> Option<TreeId> {
        match &self.state.end {
            Some(end) => end.result,
            None => self.left_by(Ending::Failed),
        }
    }

    /// What a run leaves that ends so: what has passed, or else the best, or before anything was judged what was built last.
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

    /// What became of the result in the folder that a person has named, or in its repository.
    pub fn handed_over(&self) -> Option<&Answer> {
        match self.state_of(&self.handover()?) {
            StepState::Answered(answer) => Some(answer),
            StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    /// The commit of the result, or why there is none, where one was to be made.
    pub fn proposed(&self) -> Option<Result<&Proposal, &str>> {
        match self.handed_over()? {
            Answer::Committed(proposal) => Some(Ok(proposal)),
            Answer::NotCommitted { why } => Some(Err(why)),
            _ => None,
        }
    }
}
