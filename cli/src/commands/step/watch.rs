//! Watches the other side while a call runs: sends beats, and ends everything when the other side is gone.

use std::fs::File;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::time::Duration;

use skilltune_orchestrator::process::{Cancel, Canceller};
use skilltune_orchestrator::workers::{BEAT, Frame, Inbox, WORKERS_PATIENCE};

use super::Out;

/// How long the call may take to end. The guardian ends its agents in any case.
const GRACE: Duration = Duration::from_secs(1);

/// Watches until the returned value is dropped: when the call has ended.
pub(super) fn start(inbox: Inbox<File>, out: Out, canceller: Canceller) -> Sender<()> {
    let (ended, call) = mpsc::channel();
    std::thread::spawn(move || watch(inbox, &out, canceller, &call));
    ended
}

fn watch(mut inbox: Inbox<File>, out: &Out, mut canceller: Canceller, call: &Receiver<()>) {
    while inbox.next(BEAT, &[]).is_ok() && inbox.silence() <= WORKERS_PATIENCE {
        if call.try_recv() == Err(TryRecvError::Disconnected) {
            return;
        }
        // While a payload is sent, that is a sign of life.
        if let Ok(mut out) = out.try_lock()
            && out.send(&Frame::Beat).is_err()
        {
            break;
        }
    }
    canceller.say(Cancel::Now);
    if call.recv_timeout(GRACE) == Err(mpsc::RecvTimeoutError::Timeout) {
        #[expect(
            clippy::exit,
            reason = "no coordinator is left, and its guardian ends the agents of the call"
        )]
        std::process::exit(1);
    }
}
