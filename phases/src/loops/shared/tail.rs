//! What follows the end of a run: a question, then the result is promoted, proposed or left.

use crate::loops::Loop;
use crate::runs::run::{Run, StepState};

impl<L: Loop> Run<L> {
    /// Returns the last answer of the tail, or the step that it still needs. The tail ends early with a step that failed
    /// too often, or with a question that a person declined.
    pub(in crate::loops) fn tail(&self) -> Result<Option<&L::Answer>, L::Step> {
        let mut last = None;
        for step in L::tail(self) {
            match self.state_of(&step) {
                StepState::Open => return Err(step),
                StepState::GivenUp(_) => return Ok(None),
                StepState::Answered(answer) => last = Some(answer),
            }
            if !last.is_some_and(L::is_yes) {
                break;
            }
        }
        Ok(last)
    }

    /// Returns the answer to the step that promoted or proposed the result.
    pub fn handed_over(&self) -> Option<&L::Answer> {
        self.tail().ok().flatten()
    }
}
