//! The main loop, and how it stops in the middle of a run.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use skilltune_phases::base::ceiling::Ceiling;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Next;
use skilltune_phases::runs::event::{Done, Event, Pause, Signal, Spent};
use skilltune_phases::runs::run::Run;
use skilltune_phases::runs::waiting;
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;

use super::at_once::AtOnce;
use super::call::Job;
use super::{
    Context, EngineError, Extent, LocalOutcome, LoopEngine, Observer, Person, Work, publish, shared,
};
use crate::process::{Cancel, Canceller};
use crate::workers::Refused;

/// A request of a person or the system to stop the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Finish the running steps, and save.
    Finish(Pause),
    /// End the running steps, and save.
    Now(Pause),
}

/// The reason why the engine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    Ended,
    Held,
    Paused(Pause),
}

/// The loop's next action, with the steps collected.
enum Due<L: LoopEngine> {
    Decide(L::Decision),
    Do(Vec<L::Step>),
    End,
}

/// Whether and how long a run waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// Whether a run waits for a limit or an outage to pass; otherwise it pauses.
    pub waits: bool,
    /// The longest such wait.
    pub longest: Duration,
    /// The pause before the first retry of a call whose service was unavailable; the next pauses grow.
    pub backoff: Duration,
}

/// The interval at which a wait checks the clock: after a suspend, a long sleep would end too late.
const LOOK: Duration = Duration::from_secs(30);

/// The outcome of a call; none if it was cancelled.
type CallResult<L> = Result<Option<Done<L>>, EngineError>;

/// The engine of one run.
#[expect(missing_debug_implementations, reason = "an observer and a person show nothing")]
pub struct Drive<'a, L: LoopEngine> {
    run: Run<L>,
    context: Context,
    observer: &'a mut dyn Observer<L>,
    person: &'a mut dyn Person<L>,
    halt: watch::Receiver<Option<Halt>>,
    /// Dropped with the engine, which ends the calls that are still running.
    cancel: Canceller,
    under_way: HashSet<L::Step>,
    /// The earliest time at which a step that is delayed after a failure may start.
    later: Option<Timestamp>,
    calls: JoinSet<(L::Step, CallResult<L>)>,
    planned_calls: u64,
}

/// The state of a step after the engine took it.
enum Taken {
    /// The step is running.
    Begun,
    /// The step was local, and is done.
    Done,
    Stopped(Stopped),
}

impl<'a, L: LoopEngine> Drive<'a, L> {
    pub fn new(
        run: Run<L>,
        context: Context,
        observer: &'a mut dyn Observer<L>,
        person: &'a mut dyn Person<L>,
        halt: watch::Receiver<Option<Halt>>,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            planned_calls: run.planned_calls(),
            run,
            context,
            observer,
            person,
            halt,
            cancel: Canceller::new()?,
            under_way: HashSet::new(),
            later: None,
            calls: JoinSet::new(),
        })
    }

    /// Runs until the run ends, waits for a person, or is stopped.
    pub async fn run(mut self) -> Result<(Run<L>, Stopped), EngineError> {
        // The files may be older than the journal if skilltune was killed.
        self.write_files(Extent::All)?;
        let stopped = self.turn().await;
        if stopped.is_err() {
            self.cancel.say(Cancel::Gently);
            while self.calls.join_next().await.is_some() {}
        }
        let stopped = stopped?;
        self.save(stopped)?;
        Ok((self.run, stopped))
    }

    async fn turn(&mut self) -> Result<Stopped, EngineError> {
        'turn: loop {
            if self.halt.borrow().is_some() {
                return self.halted().await;
            }
            if self.run.blocked.is_some() {
                // No new steps start; running ones may still finish.
                if !self.calls.is_empty() {
                    self.wait().await?;
                } else if let Some(stopped) = self.wait_out().await? {
                    return Ok(stopped);
                }
                continue;
            }
            let due = match self.next() {
                Due::Decide(decision) => {
                    self.record(Event::Decided(decision))?;
                    continue;
                }
                Due::Do(steps) if steps.is_empty() && self.waits_for_replies() => {
                    return Ok(Stopped::Paused(Pause::Exported));
                }
                // With nothing to start and nothing to wait for, this would loop forever.
                Due::Do(steps) if steps.is_empty() && self.calls.is_empty() && self.later.is_none() => {
                    return Err(EngineError::Stuck);
                }
                Due::Do(steps) => steps,
                Due::End => return Ok(Stopped::Ended),
            };
            for step in due {
                if let Some(ceiling) = self.ceiling_of(&step) {
                    if self.waits_for_replies() {
                        return Ok(Stopped::Paused(Pause::Exported));
                    }
                    if self.calls.is_empty() {
                        return Ok(Stopped::Paused(Pause::Ceiling(ceiling)));
                    }
                    // The running calls may use less than was reserved for them; until they end, no step starts.
                    break;
                }
                if let Some(kept) = self.kept_free(&step) {
                    if self.calls.is_empty() {
                        // This record blocks the run.
                        self.record(Event::Noted(kept))?;
                        continue 'turn;
                    }
                    break;
                }
                match self.take(step).await? {
                    Taken::Begun => {}
                    // The answer may change which steps are due.
                    Taken::Done => continue 'turn,
                    Taken::Stopped(stopped) => return Ok(stopped),
                }
            }
            self.wait().await?;
        }
    }

    /// Returns at most as many new steps as there are free slots. A delayed step takes no slot.
    fn next(&mut self) -> Due<L> {
        self.later = None;
        let under_way = self.roles_under_way();
        let mut at_once = AtOnce::of(&self.context.at_once, &self.run.plan.roles, &under_way);
        match L::next(&self.run) {
            Next::Decide(decision) => Due::Decide(decision),
            Next::End => Due::End,
            Next::Do(steps) => {
                let room = self.context.jobs - self.under_way.len();
                let (now, backoff) = (now(), self.context.patience.backoff);
                let mut is_due = |step: &L::Step| {
                    let held = self.run.not_before(step, backoff).filter(|at| *at > now);
                    self.later = [self.later, held].into_iter().flatten().min();
                    held.is_none()
                };
                let new = steps.filter(|step| !self.under_way.contains(step)).filter(|step| is_due(step));
                let new = new.filter(|step| at_once.lets(L::role(step).as_ref())).take(room).collect();
                Due::Do(new)
            }
        }
    }

    /// Returns the ceiling that a step might exceed. Local commands and local steps exceed none.
    fn ceiling_of(&self, step: &L::Step) -> Option<Ceiling> {
        self.run.ceiling_of(&L::role(step)?, &self.roles_under_way(), now(), self.planned_calls)
    }

    /// Returns the signal that keeps a step from starting: its call would use the reserved part of a usage window.
    fn kept_free(&self, step: &L::Step) -> Option<Signal> {
        let role = L::role(step)?;
        let window = self.run.full_window(&role, now())?.clone();
        Some(Signal::KeptFree { role, window })
    }

    fn roles_under_way(&self) -> Vec<Role> {
        self.under_way.iter().filter_map(L::role).collect()
    }

    /// Starts a step that is a call; runs a local step at once.
    async fn take(&mut self, step: L::Step) -> Result<Taken, EngineError> {
        let Some(request) = L::request(&self.run, &step) else { return self.own(step).await };
        let usd = self.run.usd_left(&self.roles_under_way());
        // Two contestants that share a member may ask for the same unit.
        if !self.under_way.insert(step.clone()) {
            return Ok(Taken::Begun);
        }
        self.observer.began(&self.run, &step);
        let job = Job {
            services: Arc::clone(&self.context.services),
            step: step.clone(),
            request,
            cancel_token: self.cancel.cancel_token(),
            usd,
        };
        self.calls.spawn_blocking(move || (step, job.carry_out()));
        Ok(Taken::Begun)
    }

    /// Runs a local step. A question that no person can answer holds the run.
    async fn own(&mut self, step: L::Step) -> Result<Taken, EngineError> {
        let answer = match shared::local(&self.run, &step, &self.context, self.person)? {
            LocalOutcome::Done(answer) => answer,
            LocalOutcome::Held => return Ok(Taken::Stopped(Stopped::Held)),
            LocalOutcome::Work(work) => match self.work(work).await? {
                Some(answer) => answer,
                // The run is stopping.
                None => return Ok(Taken::Done),
            },
        };
        // A check by machine quotes the agent's output.
        let answer = self.context.services.keys.hide_in(answer).map_err(|_| EngineError::Lost)?;
        let attempt = self.run.attempts(&step);
        let done = Done {
            step,
            attempt,
            call: None,
            outcome: Ok(answer),
            spent: Spent::default(),
            model: None,
            windows: Vec::new(),
            machine: None,
        };
        self.record(Event::Done(Box::new(done)))?;
        Ok(Taken::Done)
    }

    /// Runs the programs of a local step. Repeating them is free, so any request to stop ends them at once.
    async fn work(&mut self, work: Work<L::Answer>) -> Result<Option<L::Answer>, EngineError> {
        let mut cancel = Canceller::new()?;
        let cancel_token = cancel.cancel_token();
        let mut work = spawn_blocking(move || work(&cancel_token));
        let done = tokio::select! {
            done = &mut work => done,
            Ok(()) = self.halt.changed() => {
                cancel.say(Cancel::Gently);
                work.await
            }
        };
        done.map_err(|_| EngineError::Lost)?
    }

    /// Waits for a call to end, a delayed step to be due or a request to stop, then records all calls that ended.
    async fn wait(&mut self) -> Result<(), EngineError> {
        let later = self.later.take();
        if self.calls.is_empty() && later.is_none() {
            return Ok(());
        }
        let pause = later.and_then(time_left).unwrap_or_default();
        let ended = tokio::select! {
            ended = self.calls.join_next(), if !self.calls.is_empty() => ended,
            () = sleep(pause), if later.is_some() => None,
            Ok(()) = self.halt.changed() => None,
        };
        let mut next = ended;
        while let Some(joined) = next {
            let (step, result) = joined.map_err(|_| EngineError::Lost)?;
            let done = result?;
            // An exported call stays under way until the run pauses.
            if done.is_some() || !self.context.services.exports_calls() {
                self.under_way.remove(&step);
            }
            self.observer.ended(&self.run, &step);
            for Refused { worker, why } in self.context.services.workers.new_refusals() {
                let (worker, why) = (worker.into(), why.into());
                self.record(Event::Noted(Signal::WorkerRefused { worker, why }))?;
            }
            if let Some(done) = done {
                self.record(Event::Done(Box::new(done)))?;
            }
            next = self.calls.try_join_next();
        }
        Ok(())
    }

    /// Whether nothing is left to do but to wait for the replies to exported calls.
    fn waits_for_replies(&self) -> bool {
        self.calls.is_empty() && self.later.is_none() && !self.under_way.is_empty()
    }

    /// Waits for a limit or an outage to pass if that is enabled and useful; otherwise the run pauses.
    pub(super) async fn wait_out(&mut self) -> Result<Option<Stopped>, EngineError> {
        if let Some(ceiling) = self.run.ceiling_of_block() {
            return Ok(Some(Stopped::Paused(Pause::Ceiling(ceiling))));
        }
        let Patience { waits, longest, backoff } = self.context.patience;
        let until = waiting::until(&self.run, now(), longest, backoff).filter(|_| waits);
        let Some(until) = until else { return Ok(Some(Stopped::Paused(Pause::Blocked))) };
        self.record(Event::Noted(Signal::Waiting { until }))?;
        // The wait may take hours: people may look at the run, and the machine may go down.
        self.save_files()?;
        while let Some(left) = time_left(until) {
            tokio::select! {
                () = sleep(left.min(LOOK)) => {}
                // A request to stop ends the wait, and the run pauses like any other.
                Ok(()) = self.halt.changed() => return Ok(None),
            }
        }
        self.record(Event::Noted(Signal::Waited))?;
        Ok(None)
    }

    /// Lets the running steps finish, or ends them, as requested.
    async fn halted(&mut self) -> Result<Stopped, EngineError> {
        loop {
            let halt = *self.halt.borrow_and_update();
            if let Some(Halt::Now(_)) = halt {
                self.cancel.say(Cancel::Gently);
            }
            if self.calls.is_empty() {
                let pause = match halt {
                    Some(Halt::Finish(pause) | Halt::Now(pause)) => pause,
                    None => Pause::Stopped,
                };
                return self.halted_by(pause);
            }
            self.wait().await?;
        }
    }

    /// Ends the run if a person stopped it and its loop says so; otherwise pauses it.
    fn halted_by(&mut self, pause: Pause) -> Result<Stopped, EngineError> {
        if pause == Pause::Stopped {
            let reason = self.context.services.folder.stop_reason();
            while let Some(decision) = L::on_stop(&self.run, reason.as_deref()) {
                self.record(Event::Decided(decision))?;
            }
        }
        Ok(if self.run.closed_at.is_some() { Stopped::Ended } else { Stopped::Paused(pause) })
    }

    fn record(&mut self, event: Event<L>) -> Result<(), EngineError> {
        let record = self.context.journal.append(now(), event)?;
        self.run.apply(&record);
        if matches!(&record.event, Event::Decided(decision) if L::changes_files(decision)) {
            self.write_files(Extent::Newest)?;
        }
        self.observer.recorded(&self.run, &record);
        Ok(())
    }

    fn save(&mut self, stopped: Stopped) -> Result<(), EngineError> {
        match stopped {
            Stopped::Ended => {}
            Stopped::Held => self.record(Event::Noted(Signal::Held))?,
            Stopped::Paused(pause) => self.record(Event::Noted(Signal::Paused(pause)))?,
        }
        self.save_files()?;
        if stopped == Stopped::Ended {
            // A run that ended is never resumed; a workspace that remains does no harm.
            let _ = self.context.services.work.remove();
        }
        Ok(())
    }

    fn write_files(&mut self, extent: Extent) -> Result<(), EngineError> {
        let (services, run) = (&*self.context.services, &self.run);
        publish(&services.objects, &services.folder, run, extent, || {
            self.observer.write_pages(services, run, extent)
        })
    }

    /// Writes all files, and syncs them: the barrier.
    fn save_files(&mut self) -> Result<(), EngineError> {
        self.write_files(Extent::All)?;
        self.context.journal.barrier()?;
        self.context.services.folder.place().sync_everything()?;
        Ok(())
    }
}

/// Returns the current time in the precision of the journal.
fn now() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).expect("now is a time")
}

/// Returns the time until then, or none if it has passed.
fn time_left(until: Timestamp) -> Option<Duration> {
    Duration::try_from(until.duration_since(now())).ok().filter(|left| !left.is_zero())
}
