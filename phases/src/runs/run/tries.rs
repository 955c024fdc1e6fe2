//! Counts the failures of each step, which decide whether and when the step is tried again.

use jiff::Timestamp;

use crate::runs::event::Failure;
use crate::runs::ledger::EndedCall;

/// The failures of one step: all of them, its own in the stage in which it last failed, and those of its service.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tries<S> {
    pub(super) total: u32,
    pub(super) last_call: EndedCall,
    pub(super) stage: S,
    pub(super) in_stage: u32,
    /// The last failure that counts against the step.
    pub(super) last: Option<Failure>,
    /// Counts the failures in a row whose service was unreachable, since work last began.
    pub(super) refused: u32,
    pub(super) refusal: Option<(Failure, Timestamp)>,
}

impl<S: PartialEq> Tries<S> {
    pub(super) fn none(stage: S) -> Self {
        Self {
            total: 0,
            last_call: EndedCall::default(),
            stage,
            in_stage: 0,
            last: None,
            refused: 0,
            refusal: None,
        }
    }

    /// Counts a failure of the step itself: its service was reachable.
    pub(super) fn fail(&mut self, failure: &Failure, stage: S) {
        self.in_stage = if self.stage == stage { self.in_stage + 1 } else { 1 };
        (self.stage, self.last) = (stage, Some(failure.clone()));
        (self.refused, self.refusal) = (0, None);
    }
}
