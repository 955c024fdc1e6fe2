//! A run and its journal, driven by a test's answers: the other half of any loop.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use skilltune_phases::asking::order::{AgentRequest, Placement};
use skilltune_phases::asking::prompt::Faulty;
use skilltune_phases::base::ceiling::{Ceiling, Ceilings};
use skilltune_phases::base::id::{Digest, TreeId};
use skilltune_phases::base::material::Folder;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::loops::{Loop, Next};
use skilltune_phases::runs::event::{
    Done, Event, Failure, FailureKind, Outcome, Pause, Record, Signal, Spent,
};
use skilltune_phases::runs::plan::{Cast, Enforced, Fingerprint, Isolation, Plan, Roles};
use skilltune_phases::runs::run::Run;

/// A loop whose tests can correct a made-up answer.
pub(crate) trait Told: Loop {
    /// Makes a judge answer its anchors correctly, whatever it says of a trial.
    fn honestly(_: &Self::Step, outcome: Outcome<Self::Answer>) -> Outcome<Self::Answer> {
        outcome
    }
}

pub(crate) struct Drive<L: Told> {
    pub(crate) run: Run<L>,
    pub(crate) records: Vec<Record<L>>,
}

impl<L: Told> Drive<L> {
    pub(crate) fn start(plan: Plan<L>) -> Self {
        let at = Timestamp::from_second(1_700_000_000).expect("in range");
        let record = Record { seq: 0, at, event: Event::Started(Box::new(plan)) };
        let run = Run::begin(&record).expect("the first record is a plan");
        Self { run, records: vec![record] }
    }

    /// Records an event one second after the last one.
    pub(crate) fn record(&mut self, event: Event<L>) {
        self.record_after(1, event);
    }

    pub(crate) fn record_after(&mut self, seconds: i64, event: Event<L>) {
        let last = self.records.last().expect("a run has begun");
        let at = last.at + SignedDuration::from_secs(seconds);
        let record = Record { seq: last.seq + 1, at, event };
        self.run.apply(&record);
        self.records.push(record);
    }

    pub(crate) fn done(&mut self, step: L::Step, outcome: Outcome<L::Answer>) {
        self.done_after(1, step, outcome);
    }

    pub(crate) fn done_after(&mut self, seconds: i64, step: L::Step, outcome: Outcome<L::Answer>) {
        let attempt = self.run.attempts(&step);
        let spent = Spent {
            ms: 1000,
            usd: Some(0.5),
            input_tokens: Some(100),
            output_tokens: Some(10),
            ..Spent::default()
        };
        self.record_after(
            seconds,
            Event::Done(Box::new(Done {
                step,
                attempt,
                call: None,
                outcome,
                spent,
                model: None,
                windows: Vec::new(),
            })),
        );
    }

    /// Makes all due decisions, then returns at most `room` of the steps that the loop asks for, or none at the end.
    pub(crate) fn due(&mut self, room: usize) -> Vec<L::Step> {
        loop {
            let decision = match L::next(&self.run) {
                Next::Decide(decision) => decision,
                Next::Do(steps) => return steps.take(room).collect(),
                Next::End => return Vec::new(),
            };
            self.record(Event::Decided(decision));
            assert!(self.records.len() < 100_000, "the loop goes on for ever");
        }
    }

    /// Runs to the end, one step after the other.
    pub(crate) fn finish_alone(&mut self, answer: impl FnMut(&Run<L>, &L::Step) -> Outcome<L::Answer>) {
        self.finish(1, |_| 0, answer);
    }

    /// Runs to the end with up to `jobs` steps under way; `pick` chooses the one that ends next.
    pub(crate) fn finish(
        &mut self,
        jobs: usize,
        mut pick: impl FnMut(usize) -> usize,
        mut answer: impl FnMut(&Run<L>, &L::Step) -> Outcome<L::Answer>,
    ) {
        let mut under_way: Vec<L::Step> = Vec::new();
        let mut answered: HashSet<L::Step> = HashSet::new();
        'turn: loop {
            if self.run.blocked.is_some() && under_way.is_empty() {
                self.come_back();
            }
            // Like the engine, a run that is blocked starts no more steps.
            let asked = if self.run.blocked.is_none() { self.due(usize::MAX) } else { Vec::new() };
            for step in asked {
                if under_way.len() < jobs && !under_way.contains(&step) {
                    match self.ceiling_of(&step, &under_way) {
                        Some(ceiling) if under_way.is_empty() => {
                            self.raise(ceiling);
                            continue 'turn;
                        }
                        Some(_) => break,
                        None => {}
                    }
                    assert!(!answered.contains(&step), "asked again for what was answered: {step:?}");
                    under_way.push(step);
                }
            }
            if under_way.is_empty() {
                return;
            }
            let step = under_way.remove(pick(under_way.len()));
            let outcome = L::honestly(&step, answer(&self.run, &step));
            if outcome.is_ok() {
                answered.insert(step.clone());
            }
            self.done(step, outcome);
            // Every call costs the same, so only the first can exceed a ceiling.
            for ceiling in [Ceiling::Usd, Ceiling::Tokens, Ceiling::Calls] {
                let gauge = self.run.gauge(ceiling, self.run.updated_at);
                assert!(gauge.is_none_or(|gauge| gauge.used <= gauge.most.max(gauge.call)), "{gauge:?}");
            }
        }
    }

    fn ceiling_of(&self, step: &L::Step, under_way: &[L::Step]) -> Option<Ceiling> {
        let roles: Vec<Role> = under_way.iter().filter_map(L::role).collect();
        self.run.ceiling_of(&L::role(step)?, &roles, self.run.updated_at, self.run.planned_calls())
    }

    /// Pauses the run at a ceiling that a person has set, and resumes it with a higher one.
    fn raise(&mut self, ceiling: Ceiling) {
        let Ceilings { usd, tokens, calls, minutes, .. } = self.run.plan.ceilings;
        let raised = match ceiling {
            Ceiling::Usd => Ceilings { usd: usd.map(|usd| usd + 0.7), ..self.run.plan.ceilings },
            Ceiling::Tokens => {
                Ceilings { tokens: tokens.map(|tokens| tokens + 150), ..self.run.plan.ceilings }
            }
            Ceiling::Calls => Ceilings {
                calls: Some(calls.expect("the default stops no run") + 2),
                ..self.run.plan.ceilings
            },
            Ceiling::Minutes => {
                Ceilings { minutes: minutes.map(|minutes| minutes + 1), ..self.run.plan.ceilings }
            }
        };
        self.record_after(1, Event::Noted(Signal::Paused(Pause::Ceiling(ceiling))));
        assert_eq!(self.run.paused, Some(Pause::Ceiling(ceiling)));
        self.record_after(100_000, Event::Noted(Signal::Resumed { program: "1".into() }));
        self.record(Event::Noted(Signal::Ceilings(raised)));
    }

    /// Alternately pauses and resumes the run, or waits.
    fn come_back(&mut self) {
        let signals = if self.records.len().is_multiple_of(2) {
            [Signal::Paused(Pause::Blocked), Signal::Resumed { program: "1".into() }]
        } else {
            [Signal::Waiting { until: self.run.updated_at }, Signal::Waited]
        };
        for signal in signals {
            self.record(Event::Noted(signal));
        }
    }

    /// Runs to the end through outages: before each answer its service fails for some calls. `answer` gets the number
    /// of the step's other failures.
    pub(crate) fn finish_in_outages(
        &mut self,
        jobs: usize,
        pick: impl FnMut(usize) -> usize,
        seed: u64,
        mut answer: impl FnMut(&Run<L>, &L::Step, u32) -> Outcome<L::Answer>,
    ) {
        let mut away: HashMap<L::Step, u32> = HashMap::new();
        self.finish(jobs, pick, |run, step| {
            let away = away.entry(step.clone()).or_default();
            let own = run.attempts(step) - *away;
            let key = serde_json::to_vec(step).expect("a step has a JSON text");
            let drawn =
                Digest::of_parts([seed.to_le_bytes().as_slice(), &key, &run.attempts(step).to_le_bytes()]);
            let roll = usize::from(drawn.as_bytes()[0]);
            if L::role(step).is_none() || roll < 100 {
                return answer(run, step, own);
            }
            *away += 1;
            failed(OUTAGES[roll % OUTAGES.len()])
        });
    }

    pub(crate) fn decisions(&self) -> Vec<&L::Decision> {
        let decisions = self.records.iter().filter_map(|record| match &record.event {
            Event::Decided(decision) => Some(decision),
            Event::Started(_) | Event::Done(_) | Event::Noted(_) => None,
        });
        decisions.collect()
    }
}

/// Answers a run and folds each prefix of its records as read from its journal. The fold must equal the live state and
/// give the same files.
pub(crate) fn assert_fold_is_live<L: Told, F: PartialEq + std::fmt::Debug>(
    plan: Plan<L>,
    order: Vec<usize>,
    files: impl Fn(&Run<L>) -> F,
    answer: impl Fn(&Run<L>, &L::Step) -> Outcome<L::Answer>,
) {
    let mut live = Drive::start(plan);
    let mut fold = Run::begin(&reread(&live.records[0])).expect("the first record is a plan");
    let mut folded = 1;
    let mut pick = picker(order);
    loop {
        let steps = live.due(4);
        for record in &live.records[folded..] {
            fold.apply(&reread(record));
        }
        folded = live.records.len();
        assert_eq!(fold, live.run);
        assert_eq!(files(&fold), files(&live.run));
        if steps.is_empty() {
            break;
        }
        let step = steps[pick(steps.len())].clone();
        let outcome = answer(&live.run, &step);
        live.done(step, outcome);
    }
}

/// Failures that are not a step's fault.
pub(crate) const OUTAGES: [FailureKind; 4] =
    [FailureKind::RateLimited, FailureKind::Overloaded, FailureKind::Network, FailureKind::NoResponse];

/// Changes the agent of a role from here on.
pub(crate) fn recast<L: Told>(drive: &mut Drive<L>, role: &Role) {
    let mut cast = drive.run.plan.roles.of(role).clone();
    cast.fingerprint.add("program /a", drive.run.seq.to_string().as_bytes());
    drive.record(Event::Noted(Signal::Recast { role: role.clone(), cast }));
}

/// Returns the prompt of a request whose folders are all empty.
pub(crate) fn bare_prompt(request: &impl AgentRequest) -> Result<String, Faulty> {
    let placements = request.as_ref().placements.iter();
    let empty = |placement: &Placement| Folder { at: placement.at.clone(), files: Vec::new() };
    request.prompt(&placements.map(empty).collect())
}

/// Returns the record as read back from its line in the journal.
pub(crate) fn reread<L: Loop>(record: &Record<L>) -> Record<L> {
    let line = serde_json::to_string(record).expect("a record has a JSON text");
    let read: Record<L> = serde_json::from_str(&line).expect("a record reads its own text");
    assert_eq!(record, &read);
    read
}

/// Picks the step that ends next from a list of numbers.
pub(crate) fn picker(order: Vec<usize>) -> impl FnMut(usize) -> usize {
    let mut numbers = order.into_iter().cycle();
    move |room| numbers.next().unwrap_or(0) % room
}

pub(crate) fn roles() -> Roles {
    roles_of([Role::EXECUTOR, Role::EVALUATOR, Role::IMPROVER])
}

pub(crate) fn roles_of<const N: usize>(roles: [Role; N]) -> Roles {
    let cast = Cast {
        agent: "world".into(),
        model: None,
        fingerprint: Fingerprint::default(),
        timeout_seconds: 1,
        family: None,
        isolation: Isolation::Partial,
        via: None,
        wrap: None,
        rights: Enforced::Nobody,
        verdict: VerdictShape::Evidenced,
        lacks_shell: false,
    };
    roles.map(|role| (role, cast.clone())).into()
}

pub(crate) fn tree(name: &str) -> TreeId {
    TreeId(Digest::of(name.as_bytes()))
}

pub(crate) fn failed<A>(kind: FailureKind) -> Outcome<A> {
    Err(Failure::new(kind, "the world would not"))
}
