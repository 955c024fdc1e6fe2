//! A run: the fold of its records. Live state and replayed state are always the same value.
//!
//! This file folds what all loops share: answers and failures, costs, pauses and waits. Each loop folds the rest in its
//! `Fold`.

mod tries;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use self::tries::Tries;
use crate::base::id::CallKey;
use crate::base::model::Models;
use crate::base::role::{ByRole, Role, RoleSpec};
use crate::base::vocabulary::Vocabulary;
use crate::base::window::{Usage, Window};
use crate::runs::event::{Done, Event, Failure, FailureKind, Pause, PlacedBy, Record, Signal};
use crate::runs::ledger::{Account, Agents, EndedCall, Ledger, Machines};
use crate::runs::plan::{Cast, Plan, Roles};
use crate::runs::remedy::{self, Remedy};

#[derive(Clone, Debug, PartialEq)]
pub struct Run<L: Fold> {
    pub plan: Arc<Plan<L>>,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    /// Wall-clock time, without pauses, waits and the time that a person took to answer.
    pub worked: Duration,
    pub seq: u64,
    /// The state that only the loop knows.
    pub state: L::State,
    /// The time when the run ended.
    pub closed_at: Option<Timestamp>,
    /// The last command that wrote into the target after the run.
    pub placed: Option<PlacedBy>,
    pub paused: Option<Pause>,
    pub held: bool,
    pub errors: Vec<FailedCall<L>>,
    /// A failed call after which the run makes no other call: a retry does not help, or its service stayed unreachable.
    /// If several calls failed since work last began, the one that takes most to fix.
    pub blocked: Option<FailedCall<L>>,
    pub waits: Waits,
    /// The agents that had changed when the run was resumed. The plan has the newest of each.
    pub recasts: Vec<Recast>,
    pub ledger: Ledger,
    pub agents: Agents,
    pub machines: Machines,
    /// The usage windows of each agent's account, as the agent reported them.
    pub usage: BTreeMap<String, Usage<L::Step>>,
    /// The models that gave the answers, as far as the agents report them.
    pub models: ByRole<Models>,
    answers: HashMap<L::Step, (L::Answer, EndedCall)>,
    failures: HashMap<L::Step, Tries<L::Stage>>,
}

/// Folds the records of a run into the loop's own state.
pub trait Fold: Vocabulary {
    /// The fold of the loop's decisions.
    type State: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// The part of a run in which a failed step has a limited number of tries. A new stage gives it new ones.
    type Stage: Clone + Debug + PartialEq + Send + Sync + 'static;

    /// Returns the roles of a run, in the order in which people see them.
    fn roles(plan: &Plan<Self>) -> Vec<RoleSpec>;

    /// Returns the specification of a role, if the run has that role.
    fn spec(plan: &Plan<Self>, role: &Role) -> Option<RoleSpec> {
        Self::roles(plan).into_iter().find(|spec| spec.role == *role)
    }

    fn begin(plan: &Plan<Self>, at: Timestamp) -> Self::State;

    /// Returns whether an event names only what the plan has. The journal may come from another person.
    fn knows(_plan: &Plan<Self>, _event: &Event<Self>) -> bool {
        true
    }

    /// Returns whether this decision ends a run.
    fn closes(decision: &Self::Decision) -> bool;

    /// Updates the loop's own state after a change of the run.
    fn fold(run: &mut Run<Self>, change: &Change<'_, Self>, at: Timestamp);

    /// Shares the parts that many answers have in common, so that a run holds them once.
    fn compact(_course: &Self::State, answer: Self::Answer) -> Self::Answer {
        answer
    }

    fn round(run: &Run<Self>) -> u32;

    fn stage(run: &Run<Self>) -> Self::Stage;

    /// Returns whether this failure is the result of the step, so that the step is not retried.
    fn is_result(_step: &Self::Step, _failure: &Failure) -> bool {
        false
    }

    /// Returns how often a step may be tried in one stage.
    fn tries(run: &Run<Self>) -> u32;
}

/// A change of a run. The part that all loops share is already folded.
#[derive(Debug)]
pub enum Change<'a, L: Fold> {
    Decided(&'a L::Decision),
    /// A step was answered or failed.
    Ended(&'a L::Step),
    /// Work continues after a pause or a wait.
    Resumed,
    /// An agent that scores depend on has changed: measurements before and after must not be compared.
    Remeasure,
}

/// A failed call, for the state and the report.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedCall<L: Fold> {
    pub at: Timestamp,
    pub round: u32,
    pub step: L::Step,
    /// The call's folder keeps what the agent wrote.
    pub call: Option<CallKey>,
    pub failure: Failure,
}

impl<L: Fold> FailedCall<L> {
    /// Returns the path of the agent's output in the run's folder: the unreadable answer, or all files of the call.
    pub fn output(&self) -> Option<String> {
        let folder = format!("agents/{}", self.call?.short());
        Some(if self.failure.kind == FailureKind::OffSchema { format!("{folder}/stdout") } else { folder })
    }
}

/// An agent that changed while the run was paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recast {
    pub at: Timestamp,
    pub role: Role,
    pub agent: String,
    /// The parts that changed.
    pub parts: Vec<String>,
    /// Whether scores depend on this agent. If so, earlier scores are not compared with later ones.
    pub is_measure: bool,
}

/// The waits since the last answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    pub times: u32,
    /// The time when the first wait began.
    pub since: Option<Timestamp>,
    /// The time when the current wait ends.
    pub until: Option<Timestamp>,
}

/// The state of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepState<'a, A> {
    Answered(&'a A),
    /// The step failed by its own fault as often as it may in this stage, or once with a failure that is its result.
    GivenUp(&'a Failure),
    Open,
}

/// An invalid journal. Its first record must start a run, and the others name only what that plan has.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NotARun {
    #[error("the journal is empty")]
    Empty,
    #[error("the journal does not start with the plan of a run")]
    NoPlan,
    #[error("record {seq} of the journal names a skill or a scenario that the plan does not have")]
    Unknown { seq: u64 },
    #[error("no agent for the role {0}")]
    NoAgent(Role),
    #[error("the loop has no role {0}")]
    NoRole(Role),
}

impl<L: Fold> Run<L> {
    pub fn begin(record: &Record<L>) -> Result<Self, NotARun> {
        let Event::Started(plan) = &record.event else { return Err(NotARun::NoPlan) };
        let mut plan = plan.as_ref().clone();
        plan.roles = ordered(&plan.roles, &L::roles(&plan))?;
        check(&plan, record)?;
        Ok(Self {
            started_at: record.at,
            updated_at: record.at,
            worked: Duration::ZERO,
            seq: record.seq,
            state: L::begin(&plan, record.at),
            closed_at: None,
            placed: None,
            paused: None,
            held: false,
            errors: Vec::new(),
            blocked: None,
            waits: Waits::default(),
            recasts: Vec::new(),
            ledger: plan.roles.map(|_| Account::default()),
            agents: plan.roles.map(|_| BTreeMap::new()),
            machines: Machines::default(),
            usage: BTreeMap::new(),
            models: plan.roles.map(|_| Models::new()),
            answers: HashMap::new(),
            failures: HashMap::new(),
            plan: Arc::new(plan),
        })
    }

    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record<L>>) -> Result<Self, NotARun> {
        let mut records = records.into_iter();
        let mut run = Self::begin(records.next().ok_or(NotARun::Empty)?)?;
        for record in records {
            check(&run.plan, record)?;
            run.apply(record);
        }
        Ok(run)
    }

    pub fn apply(&mut self, record: &Record<L>) {
        self.seq = record.seq;
        if !self.is_of_run(&record.event) {
            return;
        }
        if was_at_work(&record.event) {
            let since = record.at.duration_since(self.updated_at);
            self.worked += Duration::try_from(since).unwrap_or_default();
        }
        self.updated_at = record.at;
        match &record.event {
            Event::Started(_) => {}
            Event::Done(done) => self.file(done, record.at),
            Event::Decided(decision) => {
                if L::closes(decision) {
                    self.closed_at = Some(record.at);
                }
                L::fold(self, &Change::Decided(decision), record.at);
            }
            Event::Noted(signal) => self.noted(signal, record.at),
        }
    }

    /// Returns whether the run has an agent for the event's role. A journal from another person may name other roles.
    fn is_of_run(&self, event: &Event<L>) -> bool {
        role_of(event).is_none_or(|role| self.plan.roles.get(&role).is_some())
    }

    fn file(&mut self, done: &Done<L>, at: Timestamp) {
        self.ledger.enter(done);
        self.agents.enter(&self.plan.roles, done);
        self.machines.enter(&self.plan.roles, done);
        self.report_usage(done);
        self.held = false;
        match &done.outcome {
            Err(failure) => self.failed(done, failure, at),
            Ok(answer) => {
                if let (Some(role), Some(model)) = (L::role(&done.step), &done.model) {
                    *self.models.of_mut(&role).entry(model.clone()).or_default() += 1;
                }
                self.waits = Waits::default();
                let answer = L::compact(&self.state, answer.clone());
                self.answers.insert(done.step.clone(), (answer, EndedCall::of(done)));
            }
        }
        L::fold(self, &Change::Ended(&done.step), at);
    }

    fn failed(&mut self, done: &Done<L>, failure: &Failure, at: Timestamp) {
        let Done { step, call, .. } = done;
        let (stage, most) = (L::stage(self), L::tries(self));
        let tries = self.failures.entry(step.clone()).or_insert_with(|| Tries::none(stage.clone()));
        (tries.total, tries.last_call) = (tries.total + 1, EndedCall::of(done));
        let blocks = match failure.kind.remedy() {
            Remedy::Tell => {
                tries.fail(failure, stage);
                false
            }
            Remedy::Repeat => {
                (tries.refused, tries.refusal) = (tries.refused + 1, Some((failure.clone(), at)));
                tries.refused >= most
            }
            Remedy::Fix | Remedy::Wait => true,
        };
        let call = FailedCall {
            at,
            round: L::round(self),
            step: step.clone(),
            call: *call,
            failure: failure.clone(),
        };
        if blocks {
            self.block(call.clone());
        }
        self.errors.push(call);
    }

    fn block(&mut self, call: FailedCall<L>) {
        // A failure that a person must fix comes first, then the limit that is lifted last. An unreachable service may
        // be back long before a limit is lifted.
        let gravity = |failure: &Failure| {
            let remedy = failure.kind.remedy();
            (remedy == Remedy::Fix, remedy == Remedy::Wait, failure.until)
        };
        if self.blocked.as_ref().is_none_or(|known| gravity(&known.failure) < gravity(&call.failure)) {
            self.blocked = Some(call);
        }
    }

    /// Records the usage that the agent reported. A cache hit is skipped because its numbers are old.
    fn report_usage(&mut self, done: &Done<L>) {
        let role = L::role(&done.step).filter(|_| !done.windows.is_empty() && !done.spent.cached);
        if let Some(role) = role {
            let agent = self.plan.roles.of(&role).agent.clone();
            let usage = self.usage.entry(agent).or_insert_with(|| Usage::new(done.step.clone()));
            usage.report(done.step.clone(), &done.windows);
        }
    }

    /// Blocks the run until the limit is lifted, as after a call that met the limit. No call has failed.
    fn keep_free(&mut self, role: &Role, window: &Window, at: Timestamp) {
        let agent = &self.plan.roles.of(role).agent;
        let (Some(usage), Some(free)) = (self.usage.get(agent), self.plan.ceilings.keep_free) else { return };
        let (used, name) = (window.used, window.name.replace('_', "-"));
        let why = format!("{used}% of its {name} window is used, and {free} has to stay free");
        let failure = Failure { until: Some(window.resets_at), ..Failure::new(FailureKind::UsageLimit, why) };
        self.block(FailedCall { at, round: L::round(self), step: usage.step.clone(), call: None, failure });
    }

    fn noted(&mut self, signal: &Signal, at: Timestamp) {
        match signal {
            Signal::Paused(pause) => (self.paused, self.waits.until) = (Some(*pause), None),
            Signal::Resumed { .. } => {
                (self.paused, self.waits) = (None, Waits::default());
                self.begin_again(at);
            }
            Signal::Recast { role, cast } => self.recast(role, cast, at),
            Signal::Ceilings(ceilings) => Arc::make_mut(&mut self.plan).ceilings = *ceilings,
            Signal::Workers(workers) => Arc::make_mut(&mut self.plan).workers.clone_from(workers),
            Signal::KeptFree { role, window } => self.keep_free(role, window, at),
            Signal::Waiting { until } => {
                let Waits { times, since, .. } = self.waits;
                self.waits = Waits { times: times + 1, since: since.or(Some(at)), until: Some(*until) };
            }
            Signal::Waited => {
                self.waits.until = None;
                self.begin_again(at);
            }
            Signal::Held => self.held = true,
            Signal::Placing { .. } | Signal::Proposed(_) | Signal::WorkerRefused { .. } => {}
            Signal::Placed { by, .. } => self.placed = Some(*by),
        }
    }

    /// Clears what stopped the run, because the cause may be gone.
    fn begin_again(&mut self, at: Timestamp) {
        self.blocked = None;
        self.failures.values_mut().for_each(|tries| tries.refused = 0);
        L::fold(self, &Change::Resumed, at);
    }

    fn recast(&mut self, role: &Role, cast: &Cast, at: Timestamp) {
        let known = Arc::make_mut(&mut self.plan).roles.of_mut(role);
        let parts = known.fingerprint.changed(&cast.fingerprint);
        known.clone_from(cast);
        let is_measure = L::spec(&self.plan, role).is_some_and(|spec| spec.is_measure);
        self.recasts.push(Recast { at, role: role.clone(), agent: cast.agent.clone(), parts, is_measure });
        if is_measure {
            L::fold(self, &Change::Remeasure, at);
        }
    }
}

/// Returns the agents in the order of the roles. Fails if a required role has no agent, or if the loop does not have a
/// role.
fn ordered(agents: &Roles, roles: &[RoleSpec]) -> Result<Roles, NotARun> {
    if let Some((stranger, _)) = agents.iter().find(|(role, _)| roles.iter().all(|spec| spec.role != **role))
    {
        return Err(NotARun::NoRole(stranger.clone()));
    }
    let take = |RoleSpec { role, is_optional, .. }: &RoleSpec| match agents.get(role) {
        Some(cast) => Some(Ok((role.clone(), cast.clone()))),
        None if *is_optional => None,
        None => Some(Err(NotARun::NoAgent(role.clone()))),
    };
    roles.iter().filter_map(take).collect()
}

/// Fails if a record names something that the plan does not have. The journal may come from another person.
fn check<L: Fold>(plan: &Plan<L>, Record { seq, event, .. }: &Record<L>) -> Result<(), NotARun> {
    match role_of(event).filter(|role| L::spec(plan, role).is_none()) {
        Some(stranger) => Err(NotARun::NoRole(stranger)),
        None if !L::knows(plan, event) => Err(NotARun::Unknown { seq: *seq }),
        None => Ok(()),
    }
}

/// Returns the role that an event is about.
fn role_of<L: Fold>(event: &Event<L>) -> Option<Role> {
    match event {
        Event::Done(done) => L::role(&done.step),
        Event::Noted(Signal::Recast { role, .. } | Signal::KeptFree { role, .. }) => Some(role.clone()),
        Event::Started(_) | Event::Decided(_) | Event::Noted(_) => None,
    }
}

/// Returns whether the run worked in the time before this record.
fn was_at_work<L: Fold>(event: &Event<L>) -> bool {
    match event {
        // A question to a person has neither a call nor a role.
        Event::Done(done) => done.call.is_some() || L::role(&done.step).is_some(),
        Event::Decided(_) => true,
        Event::Noted(signal) => match signal {
            Signal::Paused(_)
            | Signal::Recast { .. }
            | Signal::Ceilings(_)
            | Signal::Held
            | Signal::KeptFree { .. }
            | Signal::Workers(_)
            | Signal::WorkerRefused { .. }
            | Signal::Waiting { .. } => true,
            Signal::Resumed { .. }
            | Signal::Waited
            | Signal::Placing { .. }
            | Signal::Placed { .. }
            | Signal::Proposed(_) => false,
        },
        Event::Started(_) => false,
    }
}

impl<L: Fold> Run<L> {
    pub fn state_of(&self, step: &L::Step) -> StepState<'_, L::Answer> {
        if let Some((answer, _)) = self.answers.get(step) {
            return StepState::Answered(answer);
        }
        let last = self.failures.get(step).and_then(|tries| {
            let is_tired = tries.stage == L::stage(self) && tries.in_stage >= L::tries(self);
            tries.last.as_ref().filter(|last| is_tired || L::is_result(step, last))
        });
        last.map_or(StepState::Open, StepState::GivenUp)
    }

    /// Returns the call that answered a step or, without an answer, the last one that failed.
    pub fn last_call(&self, step: &L::Step) -> Option<&EndedCall> {
        let failed = || self.failures.get(step).map(|tries| &tries.last_call);
        self.answers.get(step).map(|(_, call)| call).or_else(failed)
    }

    /// Returns how often the step has failed in this run: the number of the next attempt.
    pub fn attempts(&self, step: &L::Step) -> u32 {
        self.failures.get(step).map_or(0, |tries| tries.total)
    }

    /// Returns why the last try in this stage failed, for the prompt of the next try.
    pub fn last_failure(&self, step: &L::Step) -> Option<&Failure> {
        let tries = self.failures.get(step).filter(|tries| tries.stage == L::stage(self))?;
        tries.last.as_ref()
    }

    /// Returns the earliest time of the next try if it must wait. A later time named by the service takes precedence.
    pub fn not_before(&self, step: &L::Step, base: Duration) -> Option<Timestamp> {
        let tries = self.failures.get(step)?;
        let (refusal, at) = tries.refusal.as_ref()?;
        // After a pause of the whole run, only the time named by the service counts.
        let pause = match tries.refused {
            0 => Duration::ZERO,
            refused => remedy::pause(refusal.kind, refused, base, self.plan.seed, step),
        };
        let own = at.checked_add(pause).unwrap_or(*at);
        Some(refusal.until.map_or(own, |named| named.max(own)))
    }
}
