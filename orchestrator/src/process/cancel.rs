//! The word that ends calls before their time.
//!
//! Each degree of it is a pipe that closes: whoever waits in a poll hears it with all else, nobody is told one by one,
//! and a call that begins later hears it too.

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
    /// Ask the child to leave, and give it the call's grace.
    Gently,
    Now,
}

/// Who may cancel calls. Dropped, it cancels them now: nobody waits for them any more.
#[derive(Debug)]
pub struct Canceller {
    gently: Option<PipeWriter>,
    now: Option<PipeWriter>,
    ear: CancelToken,
}

/// Where calls hear that they are cancelled.
#[derive(Clone, Debug)]
pub struct CancelToken(Arc<Ends>);

#[derive(Debug)]
struct Ends {
    /// Closes with the first word, whichever it is.
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
            ear: CancelToken(Arc::new(Ends { gently, now })),
        })
    }

    pub fn ear(&self) -> CancelToken {
        self.ear.clone()
    }

    /// Tells all that listen; a word is never taken back.
    pub fn say(&mut self, how: Cancel) {
        self.gently = None;
        if how == Cancel::Now {
            self.now = None;
        }
    }
}

impl CancelToken {
    /// The most urgent word so far.
    pub fn heard(&self) -> Option<Cancel> {
        let Ends { gently, now } = &*self.0;
        let at_once = Duration::ZERO;
        is_closed(gently, at_once).then(|| if is_closed(now, at_once) { Cancel::Now } else { Cancel::Gently })
    }

    /// Whether there is a word, or comes one within this time.
    pub fn cancelled_within(&self, time: Duration) -> bool {
        is_closed(&self.0.gently, time)
    }

    /// What can be read once there is a more urgent word than the last.
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
