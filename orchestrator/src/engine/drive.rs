//! The main loop: one sentence, and what it takes to stop in the middle of it.

mod patience;

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use skilltune_phases::event::{Decision, Done, Event, Outcome, Pause, Signal, Spent};
use skilltune_phases::loops::Next;
use skilltune_phases::order::Order;
use skilltune_phases::run::Run;
use skilltune_phases::step::{Hold, Step};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::call::Job;
use super::pages::{self, Pages};
use super::{EngineError, Observer, Person, Workshop};
use crate::atomic;
use crate::process::Cancel;
use crate::promote::{self, Move, Promotion};
use crate::snapshot::Indexes;
use crate::store::{Journal, Locks, TargetLock};

pub use patience::Patience;

/// What a person or the system has asked of a running engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Finish the steps under way, and save.
    Finish(Pause),
    /// End the steps under way, and save.
    Now(Pause),
}

/// Why the engine came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Ended,
    Held,
    Paused(Pause),
}

/// What the loop wants, with the steps drawn.
enum Due {
    Decide(Decision),
    Do(Vec<Step>),
    End,
}

/// Where the engine works, and with what.
#[derive(Debug)]
pub struct Desk {
    pub shop: Arc<Workshop>,
    pub journal: Journal,
    pub locks: Locks,
    pub lock: TargetLock,
    pub indexes: Indexes,
    pub jobs: usize,
    pub patience: Patience,
}

/// An engine at work on one run.
#[expect(missing_debug_implementations, reason = "an observer and a person show nothing")]
pub struct Drive<'a> {
    run: Run,
    desk: Desk,
    pages: Pages,
    observer: &'a mut dyn Observer,
    person: &'a mut dyn Person,
    halt: watch::Receiver<Option<Halt>>,
    cancel: watch::Sender<Option<Cancel>>,
    under_way: HashSet<Step>,
    /// When the first of the steps may be begun that are held back after a failure.
    later: Option<Timestamp>,
    calls: JoinSet<(Step, Result<Option<Done>, EngineError>)>,
}

impl<'a> Drive<'a> {
    pub fn new(
        run: Run,
        desk: Desk,
        pages: Pages,
        observer: &'a mut dyn Observer,
        person: &'a mut dyn Person,
        halt: watch::Receiver<Option<Halt>>,
    ) -> Self {
        Self {
            run,
            desk,
            pages,
            observer,
            person,
            halt,
            cancel: watch::Sender::new(None),
            under_way: HashSet::new(),
            later: None,
            calls: JoinSet::new(),
        }
    }

    /// Goes on until the run ends, waits for a person, or is stopped.
    pub async fn go(mut self) -> Result<(Run, Left), EngineError> {
        let left = self.turn().await;
        if left.is_err() {
            self.cancel.send_replace(Some(Cancel::Gently));
            while self.calls.join_next().await.is_some() {}
        }
        let left = left?;
        self.save(left)?;
        Ok((self.run, left))
    }

    async fn turn(&mut self) -> Result<Left, EngineError> {
        loop {
            if self.halt.borrow().is_some() {
                return self.halted().await;
            }
            if self.run.blocked.is_some() {
                // Nothing more is begun; what is under way may still come to an answer.
                if !self.calls.is_empty() {
                    self.wait().await?;
                } else if let Some(left) = self.wait_out().await? {
                    return Ok(left);
                }
                continue;
            }
            let due = match self.next() {
                Due::Decide(decision) => {
                    self.record(Event::Decided(decision))?;
                    continue;
                }
                // Nothing to start and nothing to wait for would go round for ever.
                Due::Do(steps) if steps.is_empty() && self.calls.is_empty() && self.later.is_none() => {
                    return Err(EngineError::Stuck);
                }
                Due::Do(steps) => steps,
                Due::End => return Ok(Left::Ended),
            };
            for step in due {
                if let Some(left) = self.take(step)? {
                    return Ok(left);
                }
            }
            self.wait().await?;
        }
    }

    /// As many new steps as there are free slots: the loop is asked for no more. One that is held back takes no slot.
    fn next(&mut self) -> Due {
        self.later = None;
        match self.run.plan.kind.machine().next(&self.run) {
            Next::Decide(decision) => Due::Decide(decision),
            Next::End => Due::End,
            Next::Do(steps) => {
                let room = self.desk.jobs - self.under_way.len();
                let (now, backoff) = (now(), self.desk.patience.backoff);
                let mut is_due = |step: &Step| {
                    let held = self.run.not_before(step, backoff).filter(|at| *at > now);
                    self.later = [self.later, held].into_iter().flatten().min();
                    held.is_none()
                };
                let new = steps.filter(|step| !self.under_way.contains(step)).filter(|step| is_due(step));
                Due::Do(new.take(room).collect())
            }
        }
    }

    /// Starts a step that an agent answers; does one of our own at once.
    fn take(&mut self, step: Step) -> Result<Option<Left>, EngineError> {
        let run = &self.run;
        match (&step, step.role()) {
            (Step::Exercise { .. } | Step::Judge { .. } | Step::Improve { .. }, Some(role)) => {
                // The same unit may be asked for by two contestants that share a member.
                if !self.under_way.insert(step.clone()) {
                    return Ok(None);
                }
                let order = Order::of(run, &step).ok_or(EngineError::Stuck)?;
                self.observer.began(run, &step);
                let job = Job {
                    shop: Arc::clone(&self.desk.shop),
                    plan: Arc::clone(&run.plan),
                    order,
                    role,
                    cancel: self.cancel.subscribe(),
                };
                self.calls.spawn(async move { (step, job.carry_out().await) });
                Ok(None)
            }
            (&Step::Ask(hold), _) => self.ask(step, hold),
            (&Step::Promote { .. }, _) => self.promote(step).map(|()| None),
            (Step::Exercise { .. } | Step::Judge { .. } | Step::Improve { .. }, None) => {
                Err(EngineError::Stuck)
            }
        }
    }

    /// Waits for a call to end, a step's time to come or a word to stop, then takes in whatever has ended.
    async fn wait(&mut self) -> Result<(), EngineError> {
        let later = self.later.take();
        if self.calls.is_empty() && later.is_none() {
            return Ok(());
        }
        let pause = later.and_then(patience::left).unwrap_or_default();
        let ended = tokio::select! {
            ended = self.calls.join_next(), if !self.calls.is_empty() => ended,
            () = tokio::time::sleep(pause), if later.is_some() => None,
            Ok(()) = self.halt.changed() => None,
        };
        let mut next = ended;
        while let Some(joined) = next {
            let (step, result) = joined.map_err(|_| EngineError::Lost)?;
            self.under_way.remove(&step);
            let done = result?;
            self.observer.ended(&self.run, &step);
            if let Some(done) = done {
                self.record(Event::Done(Box::new(done)))?;
            }
            next = self.calls.try_join_next();
        }
        Ok(())
    }

    /// Lets the steps under way finish, or ends them, as was asked.
    async fn halted(&mut self) -> Result<Left, EngineError> {
        loop {
            let halt = *self.halt.borrow_and_update();
            if let Some(Halt::Now(_)) = halt {
                self.cancel.send_replace(Some(Cancel::Gently));
            }
            if self.calls.is_empty() {
                let pause = match halt {
                    Some(Halt::Finish(pause) | Halt::Now(pause)) => pause,
                    None => Pause::Stopped,
                };
                return Ok(Left::Paused(pause));
            }
            self.wait().await?;
        }
    }

    fn ask(&mut self, step: Step, hold: Hold) -> Result<Option<Left>, EngineError> {
        let Some(choice) = self.person.ask(&self.run, hold) else { return Ok(Some(Left::Held)) };
        self.record(own(&self.run, step, Outcome::Chosen(choice)))?;
        Ok(None)
    }

    fn promote(&mut self, step: Step) -> Result<(), EngineError> {
        self.desk.journal.barrier()?;
        let moves = moves(&self.run, &step).ok_or(EngineError::Stuck)?;
        // On this thread: nothing else is under way, and a promotion is not to be left in the middle.
        let promotion = promote::promote(
            &self.desk.locks,
            &self.desk.lock,
            &self.desk.shop.objects,
            &self.desk.indexes,
            &self.run.plan.run.0,
            &moves,
        )?;
        let outcome = match promotion {
            Promotion::Done => Outcome::Promoted,
            Promotion::Conflict { found } => Outcome::Conflict { found },
        };
        self.record(own(&self.run, step, outcome))
    }

    fn record(&mut self, event: Event) -> Result<(), EngineError> {
        let record = self.desk.journal.append(now(), event)?;
        self.run.apply(&record);
        if let Event::Decided(decision) = &record.event {
            self.project(decision)?;
        }
        self.observer.recorded(&self.run, &record);
        Ok(())
    }

    /// What people read is written at the ends of rounds; all of it can be made again from the journal.
    fn project(&self, decision: &Decision) -> Result<(), EngineError> {
        match decision {
            Decision::Open { .. } | Decision::Scored(_) | Decision::Draft(_) | Decision::NoDraft { .. } => {
                pages::write_round(&self.desk.shop, &self.run, &self.pages)
            }
            Decision::Keep(_)
            | Decision::Drop { .. }
            | Decision::Focus(_)
            | Decision::Stop(_)
            | Decision::Compare(_)
            | Decision::Ship(_)
            | Decision::Close(_) => Ok(()),
        }
    }

    fn save(&mut self, left: Left) -> Result<(), EngineError> {
        match left {
            Left::Ended => {}
            Left::Held => self.record(Event::Noted(Signal::Held))?,
            Left::Paused(pause) => self.record(Event::Noted(Signal::Paused(pause)))?,
        }
        self.publish()?;
        if left == Left::Ended {
            // Nothing of a run that ended is taken up again; a workspace that stays is no harm.
            let _ = std::fs::remove_dir_all(&self.desk.shop.work);
        }
        Ok(())
    }

    /// All that people read, and all of it safe.
    fn publish(&mut self) -> Result<(), EngineError> {
        pages::write_all(&self.desk.shop.objects, &self.desk.shop.folder, &self.run, &self.pages)?;
        self.desk.journal.barrier()?;
        atomic::sync_everything(self.desk.shop.folder.root())?;
        Ok(())
    }
}

/// As exactly as the journal tells it.
fn now() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).expect("now is a time")
}

/// The record of a step that we did ourselves.
fn own(run: &Run, step: Step, outcome: Outcome) -> Event {
    let attempt = run.attempts(&step);
    Event::Done(Box::new(Done { step, attempt, call: None, outcome, spent: Spent::default() }))
}

/// What a promotion means for each member's folder; unchanged members are named too, so that all are checked.
fn moves(run: &Run, step: &Step) -> Option<Vec<Move>> {
    let Step::Promote { from, to } = step else { return None };
    let (from, to) = (run.candidate(*from)?, run.candidate(*to)?);
    let members = run.plan.target.members.iter().zip(from.trees.iter().zip(&to.trees));
    Some(members.map(|(member, (&from, &to))| Move { path: (&member.path).into(), from, to }).collect())
}
