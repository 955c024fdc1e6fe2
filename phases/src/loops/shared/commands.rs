//! Whether the commands that an agent proposed may run.

use crate::loops::Loop;
use crate::runs::run::{Run, StepState};
use crate::suites::checks::{Commands, RunThem};

impl<L: Loop> Run<L> {
    /// Returns whether commands may run; none if a person has to be asked first, in this step. A question that failed
    /// too often allows nothing.
    pub(in crate::loops) fn may_run(&self, commands: Commands, allow: &L::Step) -> Option<bool> {
        match commands.run {
            RunThem::Always => Some(true),
            RunThem::Never => Some(false),
            RunThem::Ask => match self.state_of(allow) {
                StepState::Open => None,
                StepState::Answered(answer) => Some(L::is_yes(answer)),
                StepState::GivenUp(_) => Some(false),
            },
        }
    }
}
