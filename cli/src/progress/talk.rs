//! `--format human`: a header once, the live line, failed steps, pauses, waits and remarks; each loop writes the rest.

use std::fmt;
use std::io;

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::runs::event::{Done, Event, Pause, Record, Signal};
use skilltune_phases::runs::run::Run;

use crate::progress::layout::Layout;
use crate::progress::lines::End;
use crate::progress::live::Live;
use crate::progress::reporter::{Reporter, Streams};
use crate::progress::{halts, lines};
use crate::report::estimate::Estimate;
use crate::report::ui::Ui;
use crate::report::{ceilings, words};
use crate::terminal::style::Style;
use crate::text::plain;
use crate::text::width::{cut, flowed, wrapped};

/// The progress output for runs of one loop.
pub trait Narrated: Ui {
    /// Data that is looked up beside the run.
    type Shelf: 'static;

    fn shelf(objects: Objects) -> Self::Shelf;

    fn tell_decision(talk: &mut Talk<Self>, run: &Run<Self>, decision: &Self::Decision);

    /// Reports the answer to a step. Most loops report the decision that follows instead.
    fn tell_answer(_: &mut Talk<Self>, _: &Run<Self>, _step: &Self::Step, _answer: &Self::Answer) {}

    /// Reports the result as data.
    fn tell_end(talk: &mut Talk<Self>, run: &Run<Self>);
}

pub struct Talk<L: Narrated> {
    pub layout: Layout,
    pub shelf: L::Shelf,
    streams: Streams,
    live: Option<Live<L>>,
    /// Shows the calls left and the likely end in the live line.
    estimate: Option<Estimate>,
    greeted: bool,
    /// How to read the figures of the loop, until it is shown.
    legend: Option<&'static str>,
}

impl<L: Narrated> Reporter<L> for Talk<L> {
    fn recorded(&mut self, run: &Run<L>, record: &Record<L>) {
        self.greet(run);
        match &record.event {
            Event::Started(_) => {}
            Event::Done(done) => {
                self.priced(run, done);
                self.reports_usage(run, done);
                if let Some(failed) = halts::failed(run, done) {
                    self.below(&failed);
                }
                if let Ok(answer) = &done.outcome {
                    L::tell_answer(self, run, &done.step, answer);
                }
            }
            Event::Decided(decision) => L::tell_decision(self, run, decision),
            Event::Noted(signal) => self.noted(run, signal),
        }
        self.show(run);
    }

    fn began(&mut self, run: &Run<L>, step: &L::Step) {
        self.greet(run);
        if self.layout.live {
            let letters = self.layout.letters;
            self.live.get_or_insert_with(|| Live::new(letters)).began(step);
            self.show(run);
        }
    }

    fn ended(&mut self, run: &Run<L>, step: &L::Step) {
        let Some(live) = &mut self.live else { return };
        live.ended(step);
        if live.is_idle() {
            // The next question must not mix with a spinner.
            self.rest();
        }
        self.show(run);
    }

    fn finished(&mut self, run: &Run<L>) -> io::Result<()> {
        self.rest();
        self.say(&[String::new()]);
        L::tell_end(self, run);
        self.streams.written()
    }

    fn remark(&mut self, text: &str) {
        for line in plain::pictured(text).lines() {
            self.say(&flowed(line, self.layout.width, "  "));
        }
    }
}

impl<L: Narrated> fmt::Debug for Talk<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Talk").field("look", &self.layout).finish_non_exhaustive()
    }
}

impl<L: Narrated> Talk<L> {
    pub fn new(streams: Streams, layout: Layout, shelf: L::Shelf) -> Self {
        Self { layout, shelf, streams, live: None, estimate: None, greeted: false, legend: None }
    }

    #[must_use]
    pub fn with(self, estimate: Option<Estimate>) -> Self {
        Self { estimate, ..self }
    }

    /// Returns whether something happened in the run since this output began, and not only before.
    pub fn has_followed(&self) -> bool {
        self.greeted
    }

    /// Writes the end as data, its first line in bold.
    pub fn end(&mut self, run: &Run<L>, end: End) {
        let mut lines = lines::fitted(&lines::ending(run, end), self.layout.width);
        if let Some(first) = lines.first_mut() {
            *first = self.layout.data.bold(first);
        }
        self.data(&lines);
    }

    /// Writes the header first.
    fn greet(&mut self, run: &Run<L>) {
        if self.greeted {
            return;
        }
        self.greeted = true;
        let summary = L::summary(run, None);
        self.legend = summary.head.legend;
        let header = lines::header(run, &summary, self.layout.width);
        let (headline, rest) = header.split_first().expect("a header has a first line");
        let mut lines = vec![self.layout.talk.bold(headline)];
        lines.extend(rest.iter().map(|line| self.layout.talk.dim(line)));
        lines.push(String::new());
        self.say(&lines);
    }

    /// Notes the first call of unknown cost if a ceiling would have to count it.
    fn priced(&mut self, run: &Run<L>, done: &Done<L>) {
        let is_first = done.spent.usd.is_none() && !done.spent.cached && run.ledger.total().unpriced == 1;
        if let Some(role) = L::role(&done.step).filter(|_| is_first && run.plan.ceilings.usd.is_some()) {
            let agent = run.plan.roles.of(&role).shown();
            self.remark(&format!(
                "note: {agent} reports no cost, so the cost limit does not count it; set its price in [prices], or use --max-tokens or --max-calls"
            ));
        }
    }

    /// Notes the first answer of an agent that reports no usage window if a share of it must stay free.
    fn reports_usage(&mut self, run: &Run<L>, done: &Done<L>) {
        let Some(role) = L::role(&done.step).filter(|_| done.outcome.is_ok() && !done.spent.cached) else {
            return;
        };
        let agent = &run.plan.roles.of(&role).agent;
        let own = run.plan.roles.iter().filter(|(_, cast)| cast.agent == *agent);
        let answers: u32 = own.map(|(role, _)| run.ledger.of(role)).map(|own| own.calls - own.failed).sum();
        if answers == 1 && run.without_windows().contains(agent.as_str()) {
            self.remark(&format!("note: {agent} reports no usage window, so `keep_free` has no effect"));
        }
    }

    fn noted(&mut self, run: &Run<L>, signal: &Signal) {
        let text = match signal {
            Signal::Paused(pause) => words::pause(*pause),
            Signal::Held => "waits for your answer",
            Signal::Resumed { .. } => {
                let text = format!("resumed{}", L::resumed_at(run));
                return self.say(&[cut(&text, self.layout.width)]);
            }
            Signal::Recast { role, .. } => {
                let recast = run.recasts.iter().rev().find(|recast| recast.role == *role);
                let text = recast.map(words::recast).unwrap_or_default();
                return self.text(&plain::one_line(&text));
            }
            // The pause or the wait that follows reports it.
            Signal::KeptFree { .. } => return,
            Signal::Workers(names) => return self.text(&words::workers(names)),
            Signal::WorkerRefused { worker, why } => return self.text(&words::refused(worker, why)),
            Signal::Ceilings(_) => return self.text(&ceilings::line(run)),
            Signal::Waiting { until } => return self.waiting(run, *until),
            Signal::Waited => {
                self.rest();
                return self.say(&["wait ended".to_owned()]);
            }
            Signal::Placing { by, .. } => {
                return self.say(&[cut(&words::placing::<L>(*by), self.layout.width)]);
            }
            Signal::Placed { by, .. } => {
                return self.say(&[cut(&words::placed::<L>(*by), self.layout.width)]);
            }
            Signal::Proposed(proposal) => {
                let text = plain::one_line(&words::proposed(proposal));
                return self.say(&[cut(&text, self.layout.width)]);
            }
        };
        let text = plain::one_line(&format!("run {} {text}", run.plan.run));
        let lines = wrapped(&text, self.layout.width, "  ");
        match (signal, &run.blocked) {
            (Signal::Paused(Pause::Ceiling(ceiling)), _) => {
                self.warn(&[lines, halts::at_ceiling(run, *ceiling, self.layout)].concat());
            }
            (Signal::Paused(Pause::Blocked), Some(failed)) => {
                self.warn(&[lines, halts::blocked(run, failed, self.layout)].concat());
            }
            _ => self.say(&lines),
        }
    }

    /// Shows one line in a log, and a countdown on a terminal.
    fn waiting(&mut self, run: &Run<L>, until: Timestamp) {
        self.say(&halts::waiting(run, until, self.layout.width));
        if self.layout.live {
            let letters = self.layout.letters;
            self.live.get_or_insert_with(|| Live::new(letters)).waiting(until, self.layout.width);
        }
    }

    /// Updates the live line while a step runs.
    fn show(&self, run: &Run<L>) {
        if let Some(live) = self.live.as_ref().filter(|live| !live.is_idle()) {
            let left = self.estimate.as_ref().map(|estimate| estimate.remaining(run));
            live.show(run, left, self.layout.width);
        }
    }

    /// Removes the live line until a step begins.
    fn rest(&mut self) {
        if let Some(mut live) = self.live.take() {
            live.clear();
        }
    }

    /// Writes words, broken into lines.
    pub fn text(&mut self, text: &str) {
        self.say(&wrapped(text, self.layout.width, "  "));
    }

    /// Explains the figures that follow, before the first of them.
    pub fn explain(&mut self) {
        if let Some(legend) = self.legend.take() {
            let lines = lines::below(legend, self.layout.width);
            self.say(&lines.iter().map(|line| self.layout.talk.dim(line)).collect::<Vec<_>>());
        }
    }

    /// Writes words about the line before.
    pub fn below(&mut self, text: &str) {
        self.say(&lines::below(text, self.layout.width));
    }

    pub fn say(&mut self, lines: &[String]) {
        self.write(lines, self.layout.talk, Streams::talk);
    }

    /// Writes why a run cannot continue or has failed, also if it is quiet.
    pub fn warn(&mut self, lines: &[String]) {
        self.write(lines, self.layout.talk, Streams::warn);
    }

    pub fn data(&mut self, lines: &[String]) {
        self.write(lines, self.layout.data, Streams::data);
    }

    fn write(&mut self, lines: &[String], style: Style, to: fn(&mut Streams, &str)) {
        let streams = &mut self.streams;
        let mut write = || lines.iter().for_each(|line| to(streams, &style.shown(line)));
        match &self.live {
            Some(live) => live.aside(write),
            None => write(),
        }
    }
}
