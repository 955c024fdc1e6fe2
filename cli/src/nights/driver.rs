//! Runs one night, from its first line to its last.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use rustix::process::Signal;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::name::Name;
use skilltune_phases::nights::night::{
    self, End, Event, JobOutcome, Left, Over, Shard, Share, Spent, Wish, Work, shared,
};
use skilltune_phases::runs::plan::RunId;
use tokio::signal::unix::{SignalKind, signal};

use crate::nights::book::Book;
use crate::nights::clock::Clock;
use crate::nights::file::NightPlan;
use crate::nights::inbox::{self, Filled};
use crate::nights::jobs::{Job, Ready};
use crate::nights::morning;
use crate::nights::outcome::{self, Ended};
use crate::nights::secrets::Secrets;
use crate::nights::work::Working;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;

/// The interval for checking the clock: it may jump, and timers do not count the time that a machine sleeps.
const LOOK: Duration = Duration::from_secs(5);

pub struct Driver<'a> {
    plan: &'a NightPlan,
    env: &'a Environment,
    secrets: Secrets,
    printer: Printer,
    if_needed: bool,
    book: Book,
    clock: Clock,
    until: Option<Timestamp>,
    ready: BTreeMap<Name, Ready>,
    working: BTreeMap<Name, Under>,
    /// Receives signals and the ends of jobs.
    heard: (Sender<Heard>, Receiver<Heard>),
    signal: Option<Signal>,
    over: Option<Over>,
}

/// The jobs of one night, and how it was started.
pub struct Tonight {
    pub jobs: Vec<Job>,
    /// The jobs with no changes.
    pub unchanged: BTreeSet<Name>,
    pub shard: Option<Shard>,
    pub date: Date,
    pub is_scheduled: bool,
}

/// A program under way.
struct Under {
    working: Working,
    work: Work,
    most: Ceilings,
    ready: Ready,
}

enum Heard {
    Ended(Name, Ended),
    Signal(Signal),
}

impl<'a> Driver<'a> {
    pub fn new(
        plan: &'a NightPlan,
        book: Book,
        if_needed: bool,
        env: &'a Environment,
        printer: Printer,
    ) -> Result<Self, Complaint> {
        let heard = mpsc::channel();
        listen(heard.0.clone())?;
        let clock = Clock::new();
        let until = plan.content.until.and_then(|time| Clock::next(&clock.now(), time));
        Ok(Self {
            plan,
            env,
            secrets: Secrets::of(env),
            printer,
            if_needed,
            book,
            clock,
            until,
            ready: BTreeMap::new(),
            working: BTreeMap::new(),
            heard,
            signal: None,
            over: None,
        })
    }

    /// Runs the night. Returns the history, and the signal that interrupted it, if any.
    pub fn run(mut self, tonight: Tonight) -> Result<(Book, Option<Signal>), Complaint> {
        let began = self.clock.now();
        let night = self.name(&began);
        let Tonight { jobs, unchanged, shard, date, is_scheduled } = tonight;
        let names = jobs.iter().map(|job| job.name.clone()).collect();
        self.write(Event::Began { night, date, scheduled: is_scheduled, jobs: names, shard })?;
        for job in jobs {
            if unchanged.contains(&job.name) {
                self.leave(&job.name, Left::Unchanged)?;
            } else {
                self.look_at(&job)?;
            }
        }
        let went = self.work();
        // If the night itself failed, its programs must not continue.
        if went.is_err() {
            self.signal_all(Signal::USR1);
            while !self.working.is_empty() {
                match self.heard.1.recv() {
                    Ok(Heard::Ended(name, _)) => drop(self.working.remove(&name)),
                    Ok(Heard::Signal(signal)) => self.pass_on(signal),
                    Err(_) => break,
                }
            }
        }
        went?;
        let over = self.over.unwrap_or(Over::Done);
        self.write(Event::Over { why: over })?;
        Ok((self.book, self.signal))
    }

    /// Returns the night's name, made of its start time.
    fn name(&self, began: &Zoned) -> Name {
        let moment = began.strftime("%Y%m%d-%H%M%S").to_string().parse().expect("digits make a name");
        self.book.history.free_name(&moment)
    }

    fn write(&mut self, event: Event) -> Result<(), Complaint> {
        self.book.write(self.clock.now().timestamp(), event)
    }

    fn say(&self, text: &str) {
        if !self.if_needed {
            self.printer.talk(text);
        }
    }

    /// Prepares a job in its current state, or records why it cannot run.
    fn look_at(&mut self, job: &Job) -> Result<(), Complaint> {
        match job.ready(self.plan, self.book.history.open_run(&job.name), self.env) {
            Ok(ready) => drop(self.ready.insert(job.name.clone(), ready)),
            Err(left) => {
                self.ready.remove(&job.name);
                self.leave(&job.name, left)?;
            }
        }
        Ok(())
    }

    fn leave(&mut self, job: &Name, left: Left) -> Result<(), Complaint> {
        let left = self.secrets.left(left);
        self.say(&format!("{job}: {}", morning::left(&left)));
        self.write(Event::Left { job: job.clone(), left })
    }

    /// Starts and awaits jobs until none is left or under way.
    fn work(&mut self) -> Result<(), Complaint> {
        loop {
            self.heed_the_clock();
            while self.over.is_none() && self.working.len() < self.plan.content.parallel {
                if !self.begin_one()? {
                    break;
                }
            }
            if self.working.is_empty() {
                return self.leave_the_rest();
            }
            match self.heard.1.recv_timeout(LOOK) {
                Ok(Heard::Ended(name, ended)) => self.ended(&name, &ended)?,
                Ok(Heard::Signal(signal)) => self.pass_on(signal),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    fn heed_the_clock(&mut self) {
        let is_over = self.until.is_some_and(|until| self.clock.now().timestamp() >= until);
        if is_over && self.over.is_none() {
            self.over = Some(Over::Time);
            self.say("it is time to stop: calls under way finish, and the rest is saved for the next night");
            self.signal_all(Signal::USR1);
        }
    }

    fn signal_all(&self, signal: Signal) {
        self.working.values().for_each(|under| under.working.signal(signal));
    }

    fn pass_on(&mut self, signal: Signal) {
        self.signal = self.signal.or(Some(signal));
        self.over = Some(Over::Interrupted);
        self.signal_all(signal);
    }

    /// Starts one job, and returns whether there was one to start.
    fn begin_one(&mut self) -> Result<bool, Complaint> {
        let wishes = self.wishes();
        let Some((name, work)) = night::next(&self.book.history, &wishes) else { return Ok(false) };
        match self.share(&name, &work, &wishes) {
            Share::Nothing => self.leave(&name, Left::Budget)?,
            Share::Of(most) => self.begin(&name, work, most)?,
        }
        Ok(true)
    }

    fn wishes(&self) -> BTreeMap<Name, Wish> {
        self.ready.iter().map(|(name, ready)| (name.clone(), ready.wish.clone())).collect()
    }

    fn share(&self, name: &Name, work: &Work, wishes: &BTreeMap<Name, Wish>) -> Share {
        let content = &self.plan.content;
        let history = &self.book.history;
        let Some(night) = history.last() else { return Share::Nothing };
        // Programs under way may still use their whole share.
        let reserved = self.working.iter().map(|(job, Under { most, .. })| {
            let spent = night.spent_by(job);
            Spent {
                calls: most.calls.unwrap_or_default().saturating_sub(spent.calls),
                tokens: most.tokens.unwrap_or_default().saturating_sub(spent.tokens),
                usd: (most.usd.unwrap_or_default() - spent.usd).max(0.0),
                ..Spent::default()
            }
        });
        let reserved: Spent = reserved.sum();
        let part = |whole: Ceilings| night.shard.map_or(whole, |shard| shard.ceilings(whole));
        let limits = [
            (part(content.night.ceilings()), night.spent().plus(reserved)),
            (part(content.week.ceilings()), history.spent_in_week(night.date).plus(reserved)),
        ];
        let own = (self.ready[name].job.entry.limits.ceilings(), night.spent_by(name));
        let before = match work {
            Work::Resume { run } | Work::Extend { run } => history.spent_by_run(name, run),
            Work::Measure { .. } | Work::Again { .. } | Work::Tune => Spent::default(),
        };
        // A measurement is small and runs first, so it takes what it needs.
        let waiting = if work.is_search() { night::searching(history, wishes) } else { 1 };
        let priority = if work.is_search() { wishes[name].priority } else { 1 };
        shared(&limits, priority, waiting, own, before)
    }

    fn begin(&mut self, name: &Name, work: Work, most: Ceilings) -> Result<(), Complaint> {
        let ready = self.ready[name].clone();
        let most = Ceilings { keep_free: self.plan.content.keep_free, ..most };
        let line = ready.job.line(&work, most);
        self.say(&format!("{name}: {}", morning::begun(&work, &ready.shown)));
        self.write(Event::Asked { job: name.clone(), work: work.clone() })?;
        let (heard, job) = (self.heard.0.clone(), name.clone());
        // The receiver is gone only if the night has failed.
        let done = move |ended| drop(heard.send(Heard::Ended(job, ended)));
        let working = Working::start(&line, &self.models(name), &self.plan.folder, done)?;
        self.working.insert(name.clone(), Under { working, work, most, ready });
        Ok(())
    }

    /// Returns the models that its last measurement reported, by role.
    fn models(&self, name: &Name) -> BTreeMap<String, String> {
        let (wish, job) = (&self.ready[name].wish, self.book.history.jobs.get(name));
        let watch = job.and_then(|job| job.watch.as_ref()).filter(|_| wish.sample > 0);
        let watch = watch.filter(|watch| watch.key.agents == wish.key.agents);
        watch.map(|watch| watch.key.models.clone()).unwrap_or_default()
    }

    fn ended(&mut self, name: &Name, ended: &Ended) -> Result<(), Complaint> {
        let Some(Under { work, ready, .. }) = self.working.remove(name) else { return Ok(()) };
        let outcome = self.secrets.outcome(outcome::outcome(ended, &ready, self.env));
        self.say(&format!("{name}: {}", morning::ended(&outcome)));
        let away = match &outcome.end {
            End::Paused { agent, .. } => agent.clone(),
            _ => None,
        };
        let shown = outcome.run.clone();
        let shown = shown.filter(|_| matches!(outcome.end, End::Decided(_) | End::Measured { .. }));
        self.finish(name, work, outcome)?;
        if let Some(run) = shown {
            self.draft(name, &run, &ready);
        }
        match away {
            Some(agent) => self.leave_those_with(&agent),
            // An applied winner, or an unfinished run, changes what comes next.
            None => self.look_at(&ready.job),
        }
    }

    fn finish(&mut self, name: &Name, work: Work, outcome: JobOutcome) -> Result<(), Complaint> {
        self.write(Event::Ended { job: name.clone(), work, outcome: Box::new(outcome) })
    }

    /// Fills the inbox. A failure here does not fail the night.
    fn draft(&mut self, name: &Name, run: &RunId, ready: &Ready) {
        let Filled { drafts, failed } = inbox::fill(run, ready, &self.book, &self.secrets, self.env);
        let written =
            if drafts.is_empty() { Ok(()) } else { self.write(Event::Drafted { job: name.clone(), drafts }) };
        for why in failed.iter().chain(written.as_ref().err()) {
            let why = why.in_one_line();
            self.say(&format!("warning: {name}: could not add all drafts to the inbox: {why}"));
        }
    }

    /// Skips all jobs that need this agent: it is unreachable for them too.
    fn leave_those_with(&mut self, agent: &str) -> Result<(), Complaint> {
        let waiting = self.ready.iter().filter(|(_, ready)| ready.agents.iter().any(|one| one == agent));
        let waiting: Vec<Name> = waiting.map(|(name, _)| name.clone()).collect();
        for name in waiting {
            self.ready.remove(&name);
            if !self.working.contains_key(&name) && !self.book.history.was_done(&name) {
                self.leave(&name, Left::Away)?;
            }
        }
        Ok(())
    }

    fn leave_the_rest(&mut self) -> Result<(), Complaint> {
        if self.over.is_none() {
            return Ok(());
        }
        let wishes = self.wishes();
        while let Some((name, _)) = night::next(&self.book.history, &wishes) {
            self.leave(&name, Left::Time)?;
        }
        Ok(())
    }
}

/// Listens for Ctrl-C and SIGTERM as long as the program lives.
fn listen(heard: Sender<Heard>) -> Result<(), Complaint> {
    let failed = |error| Complaint::ours("cannot listen to signals").caused_by(error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (mut interrupt, mut terminate) = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?)
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let signal_heard = tokio::select! {
                    _ = interrupt.recv() => Signal::INT,
                    _ = terminate.recv() => Signal::TERM,
                };
                if heard.send(Heard::Signal(signal_heard)).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}
