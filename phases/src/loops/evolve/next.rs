//! What a state machine does next, in the few forms that its parts share.

use super::decision::{Decision, End, Ending, Pass};
use super::step::{Answer, Step};
use super::{Next, Run};
use crate::runs::event::Failure;
use crate::runs::run::StepState;

pub(super) fn pass_of<'a>(pass: Pass) -> Next<'a> {
    Next::Decide(Decision::Pass(Box::new(pass)))
}

/// Returns the steps that are open; all of them are due at once.
pub(super) fn open(run: &Run, steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    steps.into_iter().filter(|step| matches!(run.state_of(step), StepState::Open)).collect()
}

pub(super) fn all<'a>(steps: Vec<Step>) -> Next<'a> {
    Next::Do(Box::new(steps.into_iter()))
}

/// Returns what follows from the answer of a step, once it has one, or from its last failure.
pub(super) fn after<'a>(
    run: &'a Run,
    step: Step,
    answered: impl FnOnce(&'a Answer) -> Option<Next<'a>>,
    given_up: impl FnOnce(&str) -> Next<'a>,
) -> Next<'a> {
    match run.state_of(&step) {
        StepState::Open => Next::one(step),
        StepState::GivenUp(Failure { why, .. }) => given_up(why),
        StepState::Answered(answer) => {
            answered(answer).unwrap_or_else(|| ended(Ending::Failed, Some("an answer does not fit its step")))
        }
    }
}

pub(super) fn ended<'a>(ending: Ending, why: Option<&str>) -> Next<'a> {
    let end = End {
        ending,
        tree: None,
        stands: false,
        needs_uncommitted: false,
        weakened: Vec::new(),
        why: why.map(Into::into),
    };
    Next::Decide(Decision::Ended(end))
}
