//! A run: the fold of its records. Live state and replayed state are the same value, always.
//!
//! What all loops share is folded here: answers and failures, costs, pauses and waits. Where the loop itself stands is
//! its own fold, the course.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::backoff;
use crate::event::{Done, Event, Failure, Pause, PlacedBy, Record, Signal};
use crate::ledger::Ledger;
use crate::loops::Loop;
use crate::plan::Plan;
use crate::remedy::Remedy;

#[derive(Clone, Debug, PartialEq)]
pub struct Run<L: Loop> {
    pub plan: Arc<Plan<L>>,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub seq: u64,
    /// Where the loop stands.
    pub course: L::Course,
    /// When it came to its end.
    pub closed_at: Option<Timestamp>,
    /// What a person's command did to the target after the run.
    pub placed: Option<PlacedBy>,
    pub paused: Option<Pause>,
    pub held: bool,
    pub errors: Vec<Mishap<L>>,
    /// A call since the run last began to work that failed so that no other need be tried: the one that takes most
    /// to be mended.
    pub blocked: Option<Mishap<L>>,
    pub waits: Waits,
    pub ledger: Ledger,
    answers: HashMap<L::Step, L::Outcome>,
    failures: HashMap<L::Step, Tries<L::Stage>>,
}

/// A failed call, for the state and the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Mishap<L: Loop> {
    pub at: Timestamp,
    pub round: u32,
    pub step: L::Step,
    pub failure: Failure,
}

/// How the run waits for a limit to be lifted, or has waited without an answer since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    pub times: u32,
    /// When the first of these began.
    pub since: Option<Timestamp>,
    /// When the one under way will end.
    pub until: Option<Timestamp>,
}

/// The failures of one step: in all, and in the stage of the run in which it last failed.
#[derive(Clone, Debug, PartialEq)]
struct Tries<S> {
    total: u32,
    stage: S,
    in_stage: u32,
    last: Failure,
    last_at: Timestamp,
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<'a, O> {
    Given(&'a O),
    /// Failed as often as it may in this round.
    GivenUp(&'a Failure),
    Open,
}

/// The first record of a journal must start a run.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NotARun {
    #[error("the journal is empty")]
    Empty,
    #[error("the journal does not begin with the plan of a run")]
    NoPlan,
}

impl<L: Loop> Run<L> {
    pub fn begin(record: &Record<L>) -> Result<Self, NotARun> {
        let Event::Started(plan) = &record.event else { return Err(NotARun::NoPlan) };
        Ok(Self {
            started_at: record.at,
            updated_at: record.at,
            seq: record.seq,
            course: L::begin(plan, record.at),
            closed_at: None,
            placed: None,
            paused: None,
            held: false,
            errors: Vec::new(),
            blocked: None,
            waits: Waits::default(),
            ledger: Ledger::default(),
            answers: HashMap::new(),
            failures: HashMap::new(),
            plan: Arc::new(plan.as_ref().clone()),
        })
    }

    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record<L>>) -> Result<Self, NotARun> {
        let mut records = records.into_iter();
        let mut run = Self::begin(records.next().ok_or(NotARun::Empty)?)?;
        records.for_each(|record| run.apply(record));
        Ok(run)
    }

    pub fn apply(&mut self, record: &Record<L>) {
        self.seq = record.seq;
        self.updated_at = record.at;
        match &record.event {
            Event::Started(_) => {}
            Event::Done(done) => self.file(done, record.at),
            Event::Decided(decision) => L::decided(self, decision, record.at),
            Event::Noted(signal) => self.noted(signal, record.at),
        }
    }

    fn file(&mut self, done: &Done<L>, at: Timestamp) {
        self.ledger.enter(done);
        self.held = false;
        if let Some(failure) = L::failure(&done.outcome) {
            self.failed(&done.step, failure, at);
        } else {
            self.waits = Waits::default();
            let outcome = L::lean(&self.course, done.outcome.clone());
            self.answers.insert(done.step.clone(), outcome);
        }
        L::answered(self, &done.step);
    }

    fn failed(&mut self, step: &L::Step, failure: &Failure, at: Timestamp) {
        let stage = L::stage(self);
        let tries = self.failures.entry(step.clone()).or_insert_with(|| Tries {
            total: 0,
            stage: stage.clone(),
            in_stage: 0,
            last: failure.clone(),
            last_at: at,
        });
        tries.total += 1;
        let blocks = failure.kind.blocks();
        // What stopped the whole run says nothing of the step: that keeps all of its tries.
        if !blocks {
            tries.in_stage = if tries.stage == stage { tries.in_stage + 1 } else { 1 };
            tries.stage = stage;
            (tries.last, tries.last_at) = (failure.clone(), at);
        }
        let mishap = Mishap { at, round: L::round(self), step: step.clone(), failure: failure.clone() };
        // Waiting is of no use while something is to be put right, nor for the limit that is lifted first.
        let gravity = |failure: &Failure| (failure.kind.remedy() == Remedy::Mend, failure.until);
        if blocks && self.blocked.as_ref().is_none_or(|known| gravity(&known.failure) < gravity(failure)) {
            self.blocked = Some(mishap.clone());
        }
        self.errors.push(mishap);
    }

    fn noted(&mut self, signal: &Signal, at: Timestamp) {
        match signal {
            Signal::Paused(pause) => (self.paused, self.waits.until) = (Some(*pause), None),
            Signal::Resumed { .. } => {
                (self.paused, self.blocked, self.waits) = (None, None, Waits::default());
                L::taken_up(&mut self.course, at);
            }
            Signal::Waiting { until } => {
                let Waits { times, since, .. } = self.waits;
                self.waits = Waits { times: times + 1, since: since.or(Some(at)), until: Some(*until) };
            }
            Signal::Waited => {
                (self.waits.until, self.blocked) = (None, None);
                L::taken_up(&mut self.course, at);
            }
            Signal::Held => self.held = true,
            Signal::Placed { by, .. } => self.placed = Some(*by),
        }
    }
}

impl<L: Loop> Run<L> {
    pub fn answer(&self, step: &L::Step) -> Answer<'_, L::Outcome> {
        if let Some(outcome) = self.answers.get(step) {
            return Answer::Given(outcome);
        }
        match self.failures.get(step) {
            Some(tries) if tries.stage == L::stage(self) && tries.in_stage >= L::tries(self) => {
                Answer::GivenUp(&tries.last)
            }
            Some(_) | None => Answer::Open,
        }
    }

    /// How often the step has failed in this run: the number of the next attempt.
    pub fn attempts(&self, step: &L::Step) -> u32 {
        self.failures.get(step).map_or(0, |tries| tries.total)
    }

    /// Why the step failed just before, in this round, if the second try is to be told.
    pub fn last_failure(&self, step: &L::Step) -> Option<&Failure> {
        let tries = self.failures.get(step).filter(|tries| tries.stage == L::stage(self))?;
        Some(&tries.last).filter(|failure| failure.kind.remedy() == Remedy::Tell)
    }

    /// When a step that failed may be tried again, if that is not at once; a service that told a later time is heeded.
    pub fn not_before(&self, step: &L::Step, base: Duration) -> Option<Timestamp> {
        let tries = self.failures.get(step).filter(|tries| tries.last.kind.remedy() == Remedy::Repeat)?;
        let pause = backoff::pause(tries.last.kind, tries.total, base, self.plan.seed, step);
        let own = tries.last_at.checked_add(pause).unwrap_or(tries.last_at);
        Some(tries.last.until.map_or(own, |told| told.max(own)))
    }
}
