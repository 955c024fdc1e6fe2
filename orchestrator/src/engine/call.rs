//! One call of an agent, from order to reply: on one thread, off the runtime, that waits where there is to wait.
//!
//! Handing a call from thread to thread costs more than the disk's part of a small one, so it is handed over once.

use std::sync::Arc;
use std::time::Duration;

use skilltune_phases::event::Done;
use skilltune_phases::order::Order as _;
use skilltune_phases::plan::Plan;

use super::desk::Ready;
use super::reply::Reply;
use super::{Craft, EngineError, Workshop};
use crate::process::{Ear, How};

/// How long the word to end may take from whoever ends us to here.
const RUMOUR: Duration = Duration::from_millis(500);

/// One order and all that it takes to carry it out.
pub(super) struct Job<L: Craft> {
    pub(super) shop: Arc<Workshop>,
    pub(super) plan: Arc<Plan<L>>,
    pub(super) order: L::Order,
    pub(super) ear: Ear,
}

impl<L: Craft> Job<L> {
    /// Carries out the order; nothing, when it was cancelled before it had answered.
    pub(super) fn carry_out(self) -> Result<Option<Done<L>>, EngineError> {
        let (paper, ended) = match self.shop.prepare(&self.plan, &self.order)? {
            Ready::Answered(reply) => return Ok(Some(done::<L>(&self.order, reply))),
            Ready::Ended(paper, ended) => (paper, ended),
            Ready::Start(paper, call) => (paper, self.shop.pool.acquire()?.run(&call, &self.ear)?),
        };
        if self.is_cut_off(&ended.how) {
            return Ok(None);
        }
        let reply = self.shop.finish(&self.order, &paper, &ended)?;
        Ok(Some(done::<L>(&self.order, reply)))
    }

    /// Whether the call was ended and has not failed: by us, or by whoever ended us and it at once.
    fn is_cut_off(&self, how: &How) -> bool {
        match how {
            How::Cancelled => true,
            How::Signalled(_) => self.ear.heard().is_some(),
            // When somebody ends all that is ours, the guardian may die before we have heard of it.
            How::Lost { .. } => self.ear.hears_within(RUMOUR),
            How::Exited(_) | How::TimedOut | How::NotStarted { .. } => false,
        }
    }
}

fn done<L: Craft>(order: &L::Order, reply: Reply<L>) -> Done<L> {
    Done {
        step: order.step().clone(),
        attempt: order.attempt(),
        call: Some(reply.key),
        outcome: reply.outcome,
        spent: reply.spent,
    }
}
