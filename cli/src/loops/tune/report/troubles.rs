//! The failures of a round, step by step: derived from the run's errors, so that they read the same at any later time.

use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{Run, Step, StepState};
use skilltune_phases::runs::event::Failure;

use crate::loops::tune::words as phrases;
use crate::report::document::{Block, list, paragraph, words};
use crate::text::plain;

/// A step that failed in one round, once or more.
#[derive(Debug, PartialEq)]
pub struct Trouble<'a> {
    pub step: &'a Step,
    pub times: usize,
    /// How many of these count against the step.
    own: usize,
    /// The newest failure.
    pub failure: &'a Failure,
}

/// Returns what failed while this round's candidate was measured.
pub fn measuring(run: &Run, round: u32) -> Vec<Trouble<'_>> {
    gather(run, round, |step| match step.trial() {
        Some(trial) => trial.ordinal == SEARCH,
        None => matches!(step, Step::SetUp { .. } | Step::JudgeText { .. }),
    })
}

/// Returns what failed while this round's edit was made.
pub fn improving(run: &Run, round: u32) -> Vec<Trouble<'_>> {
    gather(run, round, |step| matches!(step, Step::Improve { .. }))
}

/// Returns what failed after the search: in the final comparison, and in what followed it.
pub fn finishing(run: &Run) -> Vec<Trouble<'_>> {
    gather(run, run.round_number(), |step| match step.trial() {
        Some(trial) => trial.ordinal != SEARCH,
        None => matches!(step, Step::Ask(_) | Step::Promote { .. } | Step::Propose { .. }),
    })
}

/// Lists failures, if there are any.
pub fn blocks(run: &Run, troubles: &[Trouble<'_>]) -> Vec<Block> {
    if troubles.is_empty() {
        return Vec::new();
    }
    vec![paragraph("Failures:"), list(troubles.iter().map(|trouble| words(&trouble.line(run)).into()))]
}

fn gather(run: &Run, round: u32, among: impl Fn(&Step) -> bool) -> Vec<Trouble<'_>> {
    let mut troubles: Vec<Trouble<'_>> = Vec::new();
    for failed in run.errors.iter().filter(|failed| failed.round == round && among(&failed.step)) {
        let (failure, own) = (&failed.failure, usize::from(failed.failure.kind.counts()));
        match troubles.iter_mut().find(|trouble| *trouble.step == failed.step) {
            Some(trouble) => {
                (trouble.times, trouble.own) = (trouble.times + 1, trouble.own + own);
                trouble.failure = failure;
            }
            None => troubles.push(Trouble { step: &failed.step, times: 1, own, failure }),
        }
    }
    troubles
}

impl Trouble<'_> {
    /// Returns whether the step is given up until the next round: after its second own failure within one round.
    pub fn given_up(&self) -> bool {
        self.own > 1
    }

    /// Returns the failure as one plain line.
    pub fn line(&self, run: &Run) -> String {
        let kind = phrases::failure(self.failure.kind);
        let why = plain::one_line(&self.failure.why);
        let step = phrases::step(run, self.step);
        format!("{step}{}: {kind}: {why} ({})", self.contestant(run), self.fate(run))
    }

    /// Returns the contestant: several candidates take the same steps in the final comparison.
    fn contestant(&self, run: &Run) -> String {
        if self.step.trial().is_none_or(|trial| trial.ordinal == SEARCH) {
            return String::new();
        }
        let contestant = match self.step {
            Step::Exercise { member, skill, .. } => run
                .state
                .candidates
                .iter()
                .find(|candidate| candidate.trees.get(member.0) == Some(skill))
                .map(|candidate| candidate.id),
            step => step.judged(),
        };
        contestant.map_or(String::new(), |id| format!(" for {}", id.short()))
    }

    fn fate(&self, run: &Run) -> String {
        let times = match self.times {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            times => format!("{times} times"),
        };
        match (self.given_up(), run.state_of(self.step)) {
            (true, _) => times + ", then gave up",
            (false, StepState::Answered(_)) => times + ", then succeeded",
            (false, StepState::GivenUp(_) | StepState::Open) => times,
        }
    }
}
