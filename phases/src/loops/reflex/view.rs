//! What follows from a run's evaluations: its best, its series, how its artifact stands. Derived each time, never stored.

use serde::Serialize;

use crate::ending::Class;
use crate::id::Digest;
use crate::run::StepState;
use crate::score::Score;
use crate::stop::{self, Series};

use super::Run;
use super::criteria::{Criteria, Level, Rule};
use super::decision::{Reason, Status};
use super::state::Judged;
use super::step::{Answer, Artifact, Step};
use super::verdict::{self, Distance};

/// How much an artifact's score says of what stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    NotCreated,
    Unevaluated,
    /// It was evaluated, and is not any more what it was then.
    Stale,
    Evaluated,
}

impl Standing {
    pub fn word(self) -> &'static str {
        match self {
            Self::NotCreated => "not_created",
            Self::Unevaluated => "unevaluated",
            Self::Stale => "stale",
            Self::Evaluated => "evaluated",
        }
    }
}

/// The run's outcome for scripts, in the words of the other loops where it means the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Level B is passed.
    Passed,
    /// It ended before that.
    Short,
    /// A phase came to nothing that could be used.
    Unjudged,
    /// Waiting for an answer.
    Held,
    /// Not at its end: it can be resumed.
    Paused,
}

impl Run {
    /// The criteria with the rules that were proposed for them.
    pub fn proposed(&self) -> Criteria {
        let mut criteria = self.plan.task.criteria.clone();
        self.proposals().iter().for_each(|rule| criteria.set(rule.clone()));
        criteria
    }

    /// What the evaluator has proposed.
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

    /// How the run stands, in the original's words.
    pub fn status(&self) -> Status {
        self.state.stop.as_ref().map_or(Status::Running, |stop| stop.reason.status())
    }

    /// The best that was judged by the newest judge; of equals the earlier one counts.
    pub fn best(&self) -> Option<&Judged> {
        self.best_of(self.of_newest_era())
    }

    /// What the evaluator said that judged last: what one before it said is not compared with that.
    fn of_newest_era(&self) -> impl Iterator<Item = &Judged> {
        let newest = self.state.judged.last().map(|judged| judged.era);
        self.state.judged.iter().filter(move |judged| Some(judged.era) == newest)
    }

    fn best_of<'a>(&self, judged: impl Iterator<Item = &'a Judged>) -> Option<&'a Judged> {
        judged.reduce(|best, next| if self.rank(next) > self.rank(best) { next } else { best })
    }

    /// A level is above every score, and no score makes up for a rule that must hold and does not.
    fn rank(&self, judged: &Judged) -> (Level, bool, Option<Score>) {
        let evaluation = &judged.evaluation;
        let is_sound = verdict::no_major_issues(&self.plan.task.criteria, evaluation);
        (evaluation.level, is_sound, evaluation.score)
    }

    /// What was last found of the artifact that is worked on.
    pub(super) fn at_hand(&self) -> Option<&Judged> {
        let artifact = self.state.artifact.as_ref()?;
        self.state.judged.iter().rev().find(|judged| judged.artifact.tree == artifact.tree)
    }

    /// What a run leaves: the best artifact, or the only one that there is before any was judged.
    pub fn result(&self) -> Option<&Artifact> {
        self.best().map(|judged| &judged.artifact).or(self.state.artifact.as_ref())
    }

    /// How the result stands, when the hash of what is in its file is this.
    pub fn standing(&self, on_disk: Option<&str>) -> Standing {
        match (self.result(), self.best()) {
            (None, _) => Standing::NotCreated,
            (Some(_), None) => Standing::Unevaluated,
            (Some(result), Some(_)) if on_disk.is_some_and(|hash| hash != result.hash) => Standing::Stale,
            (Some(_), Some(_)) => Standing::Evaluated,
        }
    }

    /// What is missing for the best to pass its level.
    pub fn distance(&self) -> Option<Distance> {
        Some(Distance::of(&self.plan.task.criteria, &self.best()?.evaluation))
    }

    /// The best of the level before the last one, when the last is worse.
    pub(super) fn better_than_last(&self) -> Option<&Judged> {
        let (last, before) = self.state.judged.split_last()?;
        let of_level = before
            .iter()
            .filter(|judged| judged.era == last.era && judged.evaluation.level == last.evaluation.level);
        self.best_of(of_level).filter(|best| self.rank(best) > self.rank(last))
    }

    /// How many evaluations in a row did not bring the best of their level much further.
    pub fn stagnation(&self) -> u32 {
        let count = stop::standstill(self.plan.task.rules.stall, &self.series().scores);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// What the stop rules look at. Levels have different denominators, so each has a series of its own.
    pub(super) fn series(&self) -> Series {
        let level = self.state.level;
        let judged = || self.of_newest_era().filter(|judged| judged.evaluation.level == level);
        let mut contents: Vec<Digest> = judged().map(|judged| judged.artifact.tree.0).collect();
        contents.dedup();
        Series {
            reached: false,
            scores: judged().filter_map(|judged| judged.evaluation.score).collect(),
            contents,
            failed_in_a_row: 0,
            rounds: self.state.iteration,
        }
    }
}

/// The commands of a level as a person is shown them before they are asked.
pub fn told_commands(run: &Run, level: Level) -> Vec<String> {
    run.proposed_commands(level).map(|(_, argv)| format!("{argv:?}")).collect()
}
