//! A run of any loop and its journal, driven by a test's answers in any order of arrival.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use skilltune_phases::asking::order::{Placement, Question as _};
use skilltune_phases::asking::prompt::Faulty;
use skilltune_phases::base::ceiling::{Ceiling, Ceilings};
use skilltune_phases::base::id::{Digest, TreeId};
use skilltune_phases::base::material::Folder;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::shared::request::AgentRequest;
use skilltune_phases::loops::{Loop, Next};
use skilltune_phases::runs::event::{
    Done, Event, Failure, FailureKind, Outcome, Pause, Record, Signal, Spent,
};
use skilltune_phases::runs::plan::{Cast, Enforced, FORMAT, Fingerprint, Isolation, Plan, Roles};
use skilltune_phases::runs::run::Run;

/// A loop whose tests can correct a made-up answer.
pub trait TestLoop: Loop {
    /// Makes a judge answer its anchors correctly, whatever it says of a trial.
    fn honestly(_: &Self::Step, outcome: Outcome<Self::Answer>) -> Outcome<Self::Answer> {
        outcome
    }
}

#[derive(Clone, Debug)]
pub struct Drive<L: Loop> {
    pub run: Run<L>,
    pub records: Vec<Record<L>>,
    /// The cost of each call.
    spent: Spent,
}

impl<L: TestLoop> Drive<L> {
    pub fn start(plan: Plan<L>) -> Self {
        let at = Timestamp::from_second(1_700_000_000).expect("in range");
        let record = Record { seq: 0, at, event: Event::Started(Box::new(plan)) };
        Self::resume(vec![record])
    }

    /// Continues the run that these records tell.
    pub fn resume(records: Vec<Record<L>>) -> Self {
        let run = Run::replay(&records).expect("the first record is a plan");
        Self { run, records, spent: spent(1000, 100, 10) }
    }

    /// Starts a run for pages, whose calls cost about as much as those of real agents.
    pub fn begin(plan: Plan<L>) -> Self {
        Self { spent: spent(1500, 1200, 30), ..Self::start(plan) }
    }

    /// Records an event one second after the last one.
    pub fn record(&mut self, event: Event<L>) {
        self.record_after(1, event);
    }

    pub fn record_after(&mut self, seconds: i64, event: Event<L>) {
        let last = self.records.last().expect("a run has begun");
        let at = last.at + SignedDuration::from_secs(seconds);
        let record = Record { seq: last.seq + 1, at, event };
        self.run.apply(&record);
        self.records.push(record);
    }

    pub fn done(&mut self, step: L::Step, outcome: Outcome<L::Answer>) {
        self.done_after(1, step, outcome);
    }

    pub fn done_after(&mut self, seconds: i64, step: L::Step, outcome: Outcome<L::Answer>) {
        let (attempt, spent) = (self.run.attempts(&step), self.spent);
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
                machine: None,
            })),
        );
    }

    /// Makes all due decisions, then returns at most `room` of the steps that the loop asks for, or none at the end.
    pub fn due(&mut self, room: usize) -> Vec<L::Step> {
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

    /// Makes one decision, or answers the first step that the loop asks for. Returns `None` at the end.
    pub fn advance(
        &mut self,
        answer: &mut impl FnMut(&Run<L>, &L::Step) -> Outcome<L::Answer>,
    ) -> Option<()> {
        let step = match L::next(&self.run) {
            Next::Decide(decision) => Err(decision),
            Next::Do(mut steps) => Ok(steps.next()?),
            Next::End => return None,
        };
        match step {
            Ok(step) => {
                let outcome = L::honestly(&step, answer(&self.run, &step));
                self.done(step, outcome);
            }
            Err(decision) => self.record(Event::Decided(decision)),
        }
        Some(())
    }

    /// Runs to the end, one step after the other.
    pub fn finish_alone(&mut self, answer: impl FnMut(&Run<L>, &L::Step) -> Outcome<L::Answer>) {
        self.finish(1, |_| 0, answer);
    }

    /// Runs to the end with up to `jobs` steps under way; `pick` chooses the one that ends next.
    pub fn finish(
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
    pub fn finish_in_outages(
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

    pub fn decisions(&self) -> Vec<&L::Decision> {
        let decisions = self.records.iter().filter_map(|record| match &record.event {
            Event::Decided(decision) => Some(decision),
            Event::Started(_) | Event::Done(_) | Event::Noted(_) => None,
        });
        decisions.collect()
    }
}

/// Plays a run for pages to its end.
pub fn play<L: TestLoop>(
    plan: Plan<L>,
    mut answer: impl FnMut(&Run<L>, &L::Step) -> Outcome<L::Answer>,
) -> Drive<L> {
    let mut whole = Drive::begin(plan);
    while whole.advance(&mut answer).is_some() {}
    whole
}

/// Answers a run and folds each prefix of its records as read from its journal. The fold must equal the live state and
/// give the same files.
pub fn assert_fold_is_live<L: TestLoop, F: PartialEq + std::fmt::Debug>(
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
        if let Ok(answer) = &outcome
            && L::request(&live.run, &step).is_some()
        {
            assert!(L::fits(&step, answer), "{step:?}: {answer:?}");
        }
        live.done(step, outcome);
    }
}

fn spent(ms: u64, input: u64, output: u64) -> Spent {
    let (input_tokens, output_tokens) = (Some(input), Some(output));
    Spent { ms, usd: Some(0.5), input_tokens, output_tokens, ..Spent::default() }
}

/// Failures that are not a step's fault.
pub const OUTAGES: [FailureKind; 4] =
    [FailureKind::RateLimited, FailureKind::Overloaded, FailureKind::Network, FailureKind::NoResponse];

/// Changes the agent of a role from here on.
pub fn recast<L: TestLoop>(drive: &mut Drive<L>, role: &Role) {
    let mut cast = drive.run.plan.roles.of(role).clone();
    cast.fingerprint.add("program /a", drive.run.seq.to_string().as_bytes());
    drive.record(Event::Noted(Signal::Recast { role: role.clone(), cast }));
}

/// Returns the prompt of a request whose folders are all empty.
pub fn bare_prompt<L: Loop>(request: &AgentRequest<L>) -> Result<String, Faulty> {
    let placements = request.as_ref().placements.iter();
    let empty = |placement: &Placement| Folder { at: placement.at.clone(), files: Vec::new() };
    request.prompt(&placements.map(empty).collect())
}

/// Returns the record as read back from its line in the journal.
pub fn reread<L: Loop>(record: &Record<L>) -> Record<L> {
    let line = serde_json::to_string(record).expect("a record has a JSON text");
    let read: Record<L> = serde_json::from_str(&line).expect("a record reads its own text");
    assert_eq!(record, &read);
    read
}

/// Picks the step that ends next from a list of numbers.
pub fn picker(order: Vec<usize>) -> impl FnMut(usize) -> usize {
    let mut numbers = order.into_iter().cycle();
    move |room| numbers.next().unwrap_or(0) % room
}

/// Plans a run of this loop in `FOLDER/.skilltune`.
pub fn plan_of<L: Loop>(folder: &str, run: &str, task: L::Task, roles: Roles) -> Plan<L> {
    Plan {
        format: FORMAT,
        program: "0.0.0".into(),
        run: run.parse().expect("a plain id"),
        kind: L::KIND,
        folder: format!("{folder}/.skilltune/runs/{run}"),
        task,
        roles,
        ceilings: Ceilings::default(),
        seed: 7,
        epoch: 0,
        unattended: false,
        workers: Vec::new(),
    }
}

pub fn roles() -> Roles {
    roles_of([Role::EXECUTOR, Role::EVALUATOR, Role::IMPROVER])
}

pub fn roles_of<const N: usize>(roles: [Role; N]) -> Roles {
    roles.map(|role| (role, cast("world"))).into()
}

/// Returns an agent whose rights nobody enforces.
pub fn cast(agent: &str) -> Cast {
    Cast {
        agent: agent.into(),
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
        opens_files: false,
    }
}

pub fn tree(name: &str) -> TreeId {
    TreeId(Digest::of(name.as_bytes()))
}

pub fn points(points: impl Into<f64>) -> Score {
    Score::new(points.into()).expect("a score of the tests is one")
}

pub fn failed<A>(kind: FailureKind) -> Outcome<A> {
    failed_as(kind, "the world would not")
}

/// Fails with these words of an agent.
pub fn failed_as<A>(kind: FailureKind, why: &str) -> Outcome<A> {
    Err(Failure::new(kind, why))
}
