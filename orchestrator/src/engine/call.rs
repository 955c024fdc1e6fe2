//! One call of an agent, from order to reply: on one thread, off the runtime, that waits where there is to wait.
//!
//! Handing a call from thread to thread costs more than the disk's part of a small one, so it is handed over once.

use std::sync::Arc;

use skilltune_phases::event::Done;
use skilltune_phases::order::Order as _;
use skilltune_phases::plan::Plan;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};

use super::desk::Ready;
use super::reply::Reply;
use super::{Craft, EngineError, Workshop};
use crate::process::{Call, Cancel, Ended, How, ProcessError};

/// One order and all that it takes to carry it out.
pub(super) struct Job<L: Craft> {
    pub(super) shop: Arc<Workshop>,
    pub(super) plan: Arc<Plan<L>>,
    pub(super) order: L::Order,
    pub(super) cancel: watch::Receiver<Option<Cancel>>,
}

impl<L: Craft> Job<L> {
    /// Carries out the order; nothing, when it was cancelled before it had answered.
    ///
    /// Dropping the future ends the call, and what it has written so far is left for the next who takes it up.
    pub(super) async fn carry_out(self) -> Result<Option<Done<L>>, EngineError> {
        let runtime = Handle::current();
        let (_wanted, dropped) = oneshot::channel();
        let work = move || self.work(&runtime, dropped);
        tokio::task::spawn_blocking(work).await.map_err(|_| EngineError::Lost)?
    }

    fn work(
        mut self,
        runtime: &Handle,
        mut dropped: oneshot::Receiver<Dropped>,
    ) -> Result<Option<Done<L>>, EngineError> {
        let mut lost = false;
        let (paper, ended) = loop {
            match self.shop.prepare(&self.plan, &self.order)? {
                Ready::Answered(reply) => return Ok(Some(done::<L>(&self.order, reply))),
                Ready::Ended(paper, ended) => break (paper, ended),
                Ready::Start(paper, call) => match runtime.block_on(self.run(&call, &mut dropped)) {
                    // Somebody has killed the guardian: its record is looked at, and the call made again. When they
                    // meant all of us, we have been told to end by then.
                    Err(EngineError::Process(ProcessError::GuardianDied)) if !lost => lost = true,
                    ended => break (paper, ended?),
                },
            }
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
            How::Signalled(_) => self.cancel.borrow().is_some(),
            How::Exited(_) | How::TimedOut | How::NotStarted { .. } => false,
        }
    }

    async fn run(
        &mut self,
        call: &Call,
        dropped: &mut oneshot::Receiver<Dropped>,
    ) -> Result<Ended, EngineError> {
        let mut slot = self.shop.pool.acquire().await?;
        tokio::select! {
            ended = slot.run(call, &mut self.cancel) => Ok(ended?),
            _ = dropped => Err(EngineError::Lost),
        }
    }
}

/// Never said: that the sender is gone says all.
enum Dropped {}

fn done<L: Craft>(order: &L::Order, reply: Reply<L>) -> Done<L> {
    Done {
        step: order.step().clone(),
        attempt: order.attempt(),
        call: Some(reply.key),
        outcome: reply.outcome,
        spent: reply.spent,
    }
}
