//! A run: the fold of its records. Live state and replayed state are the same value, always.
//!
//! The fold only files things away and counts; what follows from them is decided by the loops.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::backoff;
use crate::candidate::{Candidate, Origin};
use crate::contract::CriterionId;
use crate::event::{
    Decision, Done, Ending, Event, Failure, FailureKind, Measured, Outcome, Pause, PlacedBy, Record,
    Shipment, Signal, Why,
};
use crate::id::CandidateId;
use crate::judgement::Judgement;
use crate::ledger::Ledger;
use crate::measure::Measure;
use crate::plan::{Place, Plan};
use crate::remedy::Remedy;
use crate::score::Score;
use crate::step::Step;
use crate::stop::Reason;

/// How often a step may be tried in one round: once, and once more.
const TRIES: u32 = 2;

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub plan: Arc<Plan>,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub seq: u64,
    pub candidates: Vec<Candidate>,
    pub rounds: Vec<Round>,
    /// What is being measured: the newest round's candidate, or the contestants of the final comparison.
    pub measure: Measure,
    pub focus: Option<Place>,
    pub stopped: Option<Reason>,
    pub shipment: Option<Shipment>,
    pub closed: Option<Ending>,
    pub closed_at: Option<Timestamp>,
    /// What a person's command did to the target after the run.
    pub placed: Option<PlacedBy>,
    pub paused: Option<Pause>,
    pub held: bool,
    pub errors: Vec<Mishap>,
    /// A call since the run last began to work that failed so that no other need be tried: the one that takes most
    /// to be mended.
    pub blocked: Option<Mishap>,
    pub waits: Waits,
    pub ledger: Ledger,
    answers: HashMap<Step, Outcome>,
    /// Those of the contract, held once for all judgements.
    criteria: Arc<[CriterionId]>,
    failures: HashMap<Step, Tries>,
}

/// One round: a measurement, and the edit that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    pub number: u32,
    pub candidate: CandidateId,
    pub started_at: Timestamp,
    pub scored_at: Option<Timestamp>,
    pub measured: Option<Measured>,
    pub standing: Option<Standing>,
    pub edit: Option<Edit>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    Kept,
    Dropped(Why),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A candidate, and how this round's improver came to it: the same content may have been drafted before.
    Draft {
        candidate: CandidateId,
        origin: Origin,
    },
    Nothing {
        member: Place,
        failure: Failure,
    },
}

/// A failed call, for the state and the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Mishap {
    pub at: Timestamp,
    pub round: u32,
    pub step: Step,
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
struct Tries {
    total: u32,
    stage: (usize, bool),
    in_stage: u32,
    last: Failure,
    last_at: Timestamp,
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<'a> {
    Given(&'a Outcome),
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

impl Run {
    pub fn begin(record: &Record) -> Result<Self, NotARun> {
        let Event::Started(plan) = &record.event else { return Err(NotARun::NoPlan) };
        let start = plan.start();
        Ok(Self {
            started_at: record.at,
            updated_at: record.at,
            seq: record.seq,
            measure: Measure::default(),
            candidates: vec![start],
            rounds: Vec::new(),
            focus: None,
            stopped: None,
            shipment: None,
            closed: None,
            closed_at: None,
            placed: None,
            paused: None,
            held: false,
            errors: Vec::new(),
            blocked: None,
            waits: Waits::default(),
            ledger: Ledger::default(),
            answers: HashMap::new(),
            criteria: plan.contract.criteria.iter().map(|criterion| criterion.id.clone()).collect(),
            failures: HashMap::new(),
            plan: Arc::new(plan.as_ref().clone()),
        })
    }

    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record>) -> Result<Self, NotARun> {
        let mut records = records.into_iter();
        let mut run = Self::begin(records.next().ok_or(NotARun::Empty)?)?;
        records.for_each(|record| run.apply(record));
        Ok(run)
    }

    pub fn apply(&mut self, record: &Record) {
        self.seq = record.seq;
        self.updated_at = record.at;
        match &record.event {
            Event::Started(_) => {}
            Event::Done(done) => self.file(done, record.at),
            Event::Decided(decision) => self.decided(decision, record.at),
            Event::Noted(signal) => self.noted(signal, record.at),
        }
    }

    fn file(&mut self, done: &Done, at: Timestamp) {
        self.ledger.enter(done);
        self.held = false;
        match &done.outcome {
            Outcome::Failed(failure) => self.failed(&done.step, failure, at),
            outcome => {
                self.waits = Waits::default();
                let mut outcome = outcome.clone();
                if let Outcome::Judged(judgement) = &mut outcome {
                    judgement.share(&self.criteria);
                }
                self.answers.insert(done.step.clone(), outcome);
            }
        }
        if let Step::Exercise { trial, .. } | Step::Judge { trial, .. } = &done.step {
            self.in_measure(|measure, run| measure.look_at_trial(run, *trial));
        }
    }

    fn failed(&mut self, step: &Step, failure: &Failure, at: Timestamp) {
        let stage = self.stage();
        let tries = self.failures.entry(step.clone()).or_insert_with(|| Tries {
            total: 0,
            stage,
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
        let mishap = Mishap { at, round: self.round_number(), step: step.clone(), failure: failure.clone() };
        // Waiting is of no use while something is to be put right, nor for the limit that is lifted first.
        let gravity = |failure: &Failure| (failure.kind.remedy() == Remedy::Mend, failure.until);
        if blocks && self.blocked.as_ref().is_none_or(|known| gravity(&known.failure) < gravity(failure)) {
            self.blocked = Some(mishap.clone());
        }
        self.errors.push(mishap);
    }

    fn decided(&mut self, decision: &Decision, at: Timestamp) {
        match decision {
            Decision::Open { round, candidate } => {
                self.rounds.push(Round::open(*round, *candidate, at));
                self.set_measure(Measure::round(&self.plan, *candidate));
            }
            Decision::Scored(measured) => self.in_round(|round| {
                round.measured = Some(measured.clone());
                round.scored_at = Some(at);
            }),
            Decision::Keep(_) => self.in_round(|round| round.standing = Some(Standing::Kept)),
            Decision::Drop { why, .. } => {
                self.in_round(|round| round.standing = Some(Standing::Dropped(why.clone())));
            }
            Decision::Focus(place) => self.focus = Some(*place),
            Decision::Draft(candidate) => self.draft(candidate),
            Decision::NoDraft { member, failure } => self.in_round(|round| {
                round.edit = Some(Edit::Nothing { member: *member, failure: failure.clone() });
            }),
            Decision::Stop(reason) => self.stopped = Some(*reason),
            Decision::Compare(contestants) => {
                self.set_measure(Measure::fresh(&self.plan, contestants.clone()));
            }
            Decision::Ship(shipment) => self.shipment = Some(shipment.clone()),
            Decision::Close(ending) => (self.closed, self.closed_at) = (Some(*ending), Some(at)),
        }
    }

    fn noted(&mut self, signal: &Signal, at: Timestamp) {
        match signal {
            Signal::Paused(pause) => (self.paused, self.waits.until) = (Some(*pause), None),
            Signal::Resumed { .. } => {
                (self.paused, self.blocked, self.waits) = (None, None, Waits::default());
            }
            Signal::Waiting { until } => {
                let Waits { times, since, .. } = self.waits;
                self.waits = Waits { times: times + 1, since: since.or(Some(at)), until: Some(*until) };
            }
            Signal::Waited => (self.waits.until, self.blocked) = (None, None),
            Signal::Held => self.held = true,
            Signal::Placed { by, .. } => self.placed = Some(*by),
        }
    }

    fn draft(&mut self, candidate: &Candidate) {
        if self.candidate(candidate.id).is_none() {
            self.candidates.push(candidate.clone());
        }
        if let Some(origin) = candidate.origin.clone() {
            self.in_round(|round| round.edit = Some(Edit::Draft { candidate: candidate.id, origin }));
        }
    }

    fn in_round(&mut self, change: impl FnOnce(&mut Round)) {
        if let Some(round) = self.rounds.last_mut() {
            change(round);
        }
    }

    fn set_measure(&mut self, measure: Measure) {
        self.measure = measure;
        self.in_measure(Measure::look);
    }

    fn in_measure(&mut self, look: impl FnOnce(&mut Measure, &Self)) {
        let mut measure = std::mem::take(&mut self.measure);
        look(&mut measure, self);
        self.measure = measure;
    }

    /// What separates a new chance for a failed step from its last one: a new round, or the final comparison.
    fn stage(&self) -> (usize, bool) {
        (self.rounds.len(), self.stopped.is_some())
    }
}

impl Run {
    pub fn answer(&self, step: &Step) -> Answer<'_> {
        if let Some(outcome) = self.answers.get(step) {
            return Answer::Given(outcome);
        }
        match self.failures.get(step) {
            Some(tries) if tries.stage == self.stage() && tries.in_stage >= TRIES => {
                Answer::GivenUp(&tries.last)
            }
            Some(_) | None => Answer::Open,
        }
    }

    pub fn judgement(&self, step: &Step) -> Option<&Judgement> {
        match self.answers.get(step) {
            Some(Outcome::Judged(judgement)) => Some(judgement),
            Some(_) | None => None,
        }
    }

    /// How often the step has failed in this run: the number of the next attempt.
    pub fn attempts(&self, step: &Step) -> u32 {
        self.failures.get(step).map_or(0, |tries| tries.total)
    }

    /// Why the step failed just before, in this round, if the second try is to be told.
    pub fn last_failure(&self, step: &Step) -> Option<&Failure> {
        let tries = self.failures.get(step).filter(|tries| tries.stage == self.stage())?;
        Some(&tries.last).filter(|failure| failure.kind.remedy() == Remedy::Tell)
    }

    /// When a step that failed may be tried again, if that is not at once; a service that told a later time is heeded.
    pub fn not_before(&self, step: &Step, base: Duration) -> Option<Timestamp> {
        let tries = self.failures.get(step).filter(|tries| tries.last.kind.remedy() == Remedy::Repeat)?;
        let pause = backoff::pause(tries.last.kind, tries.total, base, self.plan.seed, step);
        let own = tries.last_at.checked_add(pause).unwrap_or(tries.last_at);
        Some(tries.last.until.map_or(own, |told| told.max(own)))
    }

    pub fn candidate(&self, id: CandidateId) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.id == id)
    }

    pub fn round_number(&self) -> u32 {
        self.rounds.last().map_or(0, |round| round.number)
    }

    /// The target as it was found.
    pub fn start(&self) -> CandidateId {
        self.candidates[0].id
    }
}

impl Round {
    fn open(number: u32, candidate: CandidateId, started_at: Timestamp) -> Self {
        Self { number, candidate, started_at, scored_at: None, measured: None, standing: None, edit: None }
    }

    pub fn score(&self) -> Option<Score> {
        self.measured.as_ref().and_then(|measured| measured.score)
    }

    /// A round fails when an agent failed it. An idea that came to nothing is no failure.
    pub fn failed(&self) -> bool {
        let unmeasured = self.measured.as_ref().is_some_and(|measured| measured.score.is_none());
        let unedited = match &self.edit {
            Some(Edit::Nothing { failure, .. }) => failure.kind != FailureKind::Gate,
            Some(Edit::Draft { .. }) | None => false,
        };
        unmeasured || unedited
    }
}
