//! The signal that cancels calls.
//!
//! Each degree is a pipe that closes. So a call can wait for it in the same poll as for everything else, listeners need
//! no individual notification, and a call that starts later sees it too.

use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::error::ProcessError;

/// How urgently calls are cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cancel {
    /// Ask the child to exit within the call's grace.
    Gently,
    Now,
}

/// The handle that cancels calls. Dropping it cancels them now, because their results are no longer awaited.
#[derive(Debug)]
pub struct Canceller {
    gently: Option<PipeWriter>,
    now: Option<PipeWriter>,
    cancel_token: CancelToken,
}

/// The receiving end, where calls see that they are cancelled.
#[derive(Clone, Debug)]
pub struct CancelToken(Arc<Ends>);

#[derive(Debug)]
struct Ends {
    /// Closes with the first cancellation of either degree.
    gently: PipeReader,
    now: PipeReader,
}

impl Canceller {
    pub fn new() -> Result<Self, ProcessError> {
        let (gently, say_gently) = pipe().map_err(ProcessError::Channel)?;
        let (now, say_now) = pipe().map_err(ProcessError::Channel)?;
        Ok(Self {
            gently: Some(say_gently),
            now: Some(say_now),
            cancel_token: CancelToken(Arc::new(Ends { gently, now })),
        })
    }

    pub fn cancel_token(&self) -> CancelToken {
        self.cancel_token.clone()
    }

    /// Cancels all calls that listen. This cannot be undone.
    pub fn say(&mut self, how: Cancel) {
        self.gently = None;
        if how == Cancel::Now {
            self.now = None;
        }
    }
}

impl CancelToken {
    /// Returns the most urgent cancellation so far.
    pub fn heard(&self) -> Option<Cancel> {
        let Ends { gently, now } = &*self.0;
        let at_once = Duration::ZERO;
        is_closed(gently, at_once).then(|| if is_closed(now, at_once) { Cancel::Now } else { Cancel::Gently })
    }

    /// Waits up to this time and returns true if the calls are cancelled.
    pub fn cancelled_within(&self, time: Duration) -> bool {
        is_closed(&self.0.gently, time)
    }

    /// Returns the pipe that becomes readable at the first cancellation.
    pub(crate) fn pipe(&self) -> BorrowedFd<'_> {
        self.0.gently.as_fd()
    }

    /// Returns the pipe that becomes readable at a more urgent cancellation than the last.
    pub(super) fn after(&self, last: Option<Cancel>) -> Option<BorrowedFd<'_>> {
        match last {
            None => Some(self.0.gently.as_fd()),
            Some(Cancel::Gently) => Some(self.0.now.as_fd()),
            Some(Cancel::Now) => None,
        }
    }
}

fn is_closed(end: &PipeReader, within: Duration) -> bool {
    let within = Timespec::try_from(within).ok();
    poll(&mut [PollFd::new(end, PollFlags::IN)], within.as_ref()).is_ok_and(|ready| ready > 0)
}
