//! Values that follow from a run's evaluations: its best, its series, the status of its artifact. Derived each time,
//! never stored.

use serde::Serialize;

use crate::base::ending::Class;
use crate::judging::score::Score;
use crate::judging::stop::{self, Series};
use crate::loops::shared::rounds;
use crate::runs::run::StepState;

use super::Run;
use super::criteria::{Criteria, Level, Rule};
use super::decision::{Reason, Status};
use super::state::Judged;
use super::step::{Answer, Artifact, Step};
use super::verdict::{self, Distance};

/// The relation of an artifact's score to the text in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactStatus {
    NotCreated,
    Unevaluated,
    /// It has changed since it was evaluated.
    Stale,
    Evaluated,
}

impl ArtifactStatus {
    pub fn word(self) -> &'static str {
        match self {
            Self::NotCreated => "not_created",
            Self::Unevaluated => "unevaluated",
            Self::Stale => "stale",
            Self::Evaluated => "evaluated",
        }
    }
}

/// The run's outcome for scripts. It uses the words of the other loops if the meaning is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Level B is passed.
    Passed,
    /// The run ended before that.
    Short,
    /// A phase gave no usable answer.
    Unjudged,
    /// The run waits for an answer.
    Held,
    /// The run has not ended and can be resumed.
    Paused,
}

impl Run {
    /// Returns the criteria with the rules that were proposed for them.
    pub fn proposed(&self) -> Criteria {
        let mut criteria = self.plan.task.criteria.clone();
        self.proposals().iter().for_each(|rule| criteria.set(rule.clone()));
        criteria
    }

    /// Returns the rules that the evaluator has proposed.
    pub fn proposals(&self) -> &[Rule] {
        match self.state_of(&Step::Propose) {
            StepState::Answered(Answer::Proposed(rules)) => rules,
            _ => &[],
        }
    }

    pub fn class(&self) -> Class {
        let stop = self.state.stop.as_ref().filter(|_| self.closed_at.is_some());
        match stop.map(|stop| stop.reason) {
            None => Class::Open,
            Some(Reason::ThresholdReached) => Class::Reached,
            Some(Reason::PhaseError) => Class::Unjudged,
            Some(
                Reason::NoMajorIssues
                | Reason::UserStop
                | Reason::Oscillation
                | Reason::Stagnation
                | Reason::BudgetExceeded
                | Reason::IterationLimit,
            ) => Class::Short,
        }
    }

    pub fn outcome(&self) -> Ended {
        match self.class() {
            Class::Reached => Ended::Passed,
            Class::Short => Ended::Short,
            Class::Unjudged => Ended::Unjudged,
            Class::Open if self.held => Ended::Held,
            Class::Open => Ended::Paused,
        }
    }

    /// Returns the status of the run, in the original's words.
    pub fn status(&self) -> Status {
        self.state.stop.as_ref().map_or(Status::Running, |stop| stop.reason.status())
    }

    /// Returns the best artifact that the newest judge has judged; of equals the earlier one.
    pub fn best(&self) -> Option<&Judged> {
        rounds::best(self.of_newest_era(), |judged| self.rank(judged))
    }

    /// Returns the evaluations of the newest judge. Those of earlier judges are not comparable.
    fn of_newest_era(&self) -> impl Iterator<Item = &Judged> {
        let newest = self.state.judged.last().map(|judged| judged.era);
        self.state.judged.iter().filter(move |judged| Some(judged.era) == newest)
    }

    /// Returns the rank of an artifact. A higher level outranks every score, and no score makes up for an unmet rule
    /// that must hold.
    fn rank(&self, judged: &Judged) -> (Level, bool, Option<Score>) {
        let evaluation = &judged.evaluation;
        let is_sound = verdict::no_major_issues(&self.plan.task.criteria, evaluation);
        (evaluation.level, is_sound, evaluation.score)
    }

    /// Returns the last evaluation of the current artifact.
    pub(super) fn at_hand(&self) -> Option<&Judged> {
        let artifact = self.state.artifact.as_ref()?;
        self.state.judged.iter().rev().find(|judged| judged.artifact.tree == artifact.tree)
    }

    /// Returns the artifact that a run leaves: the best one, or the only one if none was judged yet.
    pub fn result(&self) -> Option<&Artifact> {
        self.best().map(|judged| &judged.artifact).or(self.state.artifact.as_ref())
    }

    /// Returns the artifact to save as the run's result. A failed run has none unless its artifact was judged.
    pub fn deliverable(&self) -> Option<&Artifact> {
        let is_unjudged = self.status() == Status::Failed && self.best().is_none();
        self.result().filter(|_| !is_unjudged)
    }

    /// Returns the status of the result, given the hash of its file.
    pub fn artifact_status(&self, on_disk: Option<&str>) -> ArtifactStatus {
        match (self.result(), self.best()) {
            (None, _) => ArtifactStatus::NotCreated,
            (Some(_), None) => ArtifactStatus::Unevaluated,
            (Some(result), Some(_)) if on_disk.is_some_and(|hash| hash != result.hash) => {
                ArtifactStatus::Stale
            }
            (Some(_), Some(_)) => ArtifactStatus::Evaluated,
        }
    }

    /// Returns the distance of the best artifact from passing its level.
    pub fn distance(&self) -> Option<Distance> {
        Some(Distance::of(&self.plan.task.criteria, &self.best()?.evaluation))
    }

    /// Returns the best of the level before the last one, if the last is worse.
    pub(super) fn better_than_last(&self) -> Option<&Judged> {
        let (last, before) = self.state.judged.split_last()?;
        let of_level = before
            .iter()
            .filter(|judged| judged.era == last.era && judged.evaluation.level == last.evaluation.level);
        rounds::best(of_level, |judged| self.rank(judged)).filter(|best| self.rank(best) > self.rank(last))
    }

    /// Returns how many evaluations in a row did not much improve on the best of their level.
    pub fn stagnation(&self) -> u32 {
        let count = stop::standstill(self.plan.task.rules.stall, &self.series().scores);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Returns the input of the stop rules. Levels have different denominators, so each has its own series.
    pub(super) fn series(&self) -> Series {
        let level = self.state.level;
        let judged = || self.of_newest_era().filter(|judged| judged.evaluation.level == level);
        Series {
            scores: judged().filter_map(|judged| judged.evaluation.score).collect(),
            contents: judged().map(|judged| judged.artifact.tree.0).collect(),
            rounds: self.state.iteration,
            ..Series::default()
        }
    }
}

/// Returns the commands of a level in the form that a person sees before the question.
pub fn shown_commands(run: &Run, level: Level) -> Vec<String> {
    run.proposed_commands(level).map(|(_, argv)| format!("{argv:?}")).collect()
}
