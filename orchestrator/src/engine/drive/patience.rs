//! Waiting: for a limit to be lifted or a service to be there again, with nothing else under way, and for a step's own time to come.

use std::time::Duration;

use jiff::Timestamp;
use skilltune_phases::event::{Event, Pause, Signal};
use skilltune_phases::waiting;
use tokio::time::sleep;

use super::{Drive, Stopped, now};
use crate::engine::{EngineError, LoopEngine};

/// How long is waited, and for what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// Whether what passes by itself is waited for, a limit or an outage; otherwise a run that meets it is left.
    pub waits: bool,
    /// For that to pass, at most.
    pub longest: Duration,
    /// What the pauses grow from before a call is made again whose service was not there.
    pub backoff: Duration,
}

/// How often the clock is looked at: a machine that was asleep must not sleep on.
const LOOK: Duration = Duration::from_secs(30);

impl<L: LoopEngine> Drive<'_, L> {
    /// Waits for what has stopped the run to pass, where that is wanted and of use; otherwise the run is left.
    pub(super) async fn wait_out(&mut self) -> Result<Option<Stopped>, EngineError> {
        let Patience { waits, longest, backoff } = self.context.patience;
        let until = waiting::until(&self.run, now(), longest, backoff).filter(|_| waits);
        let Some(until) = until else { return Ok(Some(Stopped::Paused(Pause::Blocked))) };
        self.record(Event::Noted(Signal::Waiting { until }))?;
        // Hours may pass, in which people look at the run, and in which the machine may go down.
        self.publish()?;
        while let Some(left) = time_left(until) {
            tokio::select! {
                () = sleep(left.min(LOOK)) => {}
                // Whoever stops the run ends the wait, and it is left as any other.
                Ok(()) = self.halt.changed() => return Ok(None),
            }
        }
        self.record(Event::Noted(Signal::Waited))?;
        Ok(None)
    }
}

/// How long it is until then; none, when it is now or was before.
pub(super) fn time_left(until: Timestamp) -> Option<Duration> {
    Duration::try_from(until.duration_since(now())).ok().filter(|left| !left.is_zero())
}
