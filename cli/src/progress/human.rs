//! `--format human`: a header, a line a round, a live line on a terminal, a picture and a summary at the end.

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::DiffSize;
use skilltune_phases::event::{Failure, FailureKind, Pause, Signal};
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::loops::tune::{Decision, Event, Record, Run, Step};
use skilltune_phases::target::Place;

use super::chart::{Letters, chart};
use super::lines::{self, Told};
use super::live::Live;
use super::width::{around, cut, wrapped};
use super::{Reporter, Streams};
use crate::report::words::{self, Standing};
use crate::report::{figures, plain};
use crate::style::Style;

/// How the talk looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// No line is wider than this.
    pub(crate) width: usize,
    /// Whether a line that changes may be shown: only where the talk goes to a terminal.
    pub(crate) live: bool,
    pub(crate) talk: Style,
    pub(crate) data: Style,
    /// Of the picture, and of the live line.
    pub(crate) letters: Letters,
}

/// How much of the target a run's champion changes, if there is one.
pub(crate) type Changed = Box<dyn Fn(&Run) -> Option<DiffSize>>;

pub(crate) struct Human {
    streams: Streams,
    look: Look,
    changed: Changed,
    live: Option<Live>,
    greeted: bool,
}

impl Human {
    pub(crate) fn new(streams: Streams, look: Look, changed: Changed) -> Self {
        Self { streams, look, changed, live: None, greeted: false }
    }
}

impl Reporter<Tune> for Human {
    fn recorded(&mut self, run: &Run, record: &Record) {
        self.greet(run);
        match &record.event {
            Event::Started(_) | Event::Done(_) => {}
            Event::Decided(decision) => self.decided(run, decision),
            Event::Noted(signal) => self.noted(run, signal),
        }
    }

    fn began(&mut self, run: &Run, step: &Step) {
        self.greet(run);
        if self.look.live {
            let letters = self.look.letters;
            self.live.get_or_insert_with(|| Live::new(letters)).began(run, step, self.look.width);
        }
    }

    fn ended(&mut self, run: &Run, step: &Step) {
        let Some(live) = &mut self.live else { return };
        live.ended(run, step, self.look.width);
        if live.is_idle() {
            // Whoever is asked something next must not find a spinner in the answer.
            self.rest();
        }
    }

    fn finished(&mut self, run: &Run) {
        self.rest();
        self.streams.talk("");
        let Look { width, data, letters, .. } = self.look;
        let mut told = lines::headline(run, width);
        if let Some(first) = told.first_mut() {
            *first = data.bold(first);
        }
        if let Some(chart) = chart(run, width, letters) {
            told.push(String::new());
            told.extend(chart.rows.iter().map(|row| painted(row, data)));
            told.extend([data.dim(&chart.goal), String::new()]);
        }
        told.extend(lines::story(run, (self.changed)(run), width));
        for line in &told {
            self.streams.data(line);
        }
    }

    fn remark(&mut self, text: &str) {
        for line in plain::clean(text).lines() {
            self.say(&wrapped(line, self.look.width, "  "));
        }
    }
}

impl Human {
    /// The header, before anything else.
    fn greet(&mut self, run: &Run) {
        if self.greeted {
            return;
        }
        self.greeted = true;
        let header = lines::header(run, self.look.width);
        let (headline, rest) = header.split_first().expect("a header has a first line");
        let mut told = vec![self.look.talk.bold(headline)];
        told.extend(rest.iter().map(|line| self.look.talk.dim(line)));
        told.push(String::new());
        self.say(&told);
    }

    fn decided(&mut self, run: &Run, decision: &Decision) {
        let width = self.look.width;
        match decision {
            Decision::Keep(_) | Decision::Drop { .. } => self.measured(run),
            Decision::Scored(measured) if measured.score.is_none() => self.measured(run),
            Decision::NoDraft { member, failure } => self.no_draft(run, *member, failure),
            Decision::Compare(contestants) => {
                let contestants = figures::count(contestants.len(), "candidate");
                self.say(&[cut(&format!("comparing {contestants} on fresh trials"), width)]);
            }
            Decision::Ship(shipment) => self.say(&lines::shipped(run, shipment, width)),
            Decision::Open { .. }
            | Decision::Scored(_)
            | Decision::Focus(_)
            | Decision::Draft(_)
            | Decision::Stop(_)
            | Decision::Close(_) => {}
        }
    }

    fn measured(&mut self, run: &Run) {
        let Some(round) = run.course.rounds.last() else { return };
        let line = lines::round(run, round, self.look.width);
        let mut told: Vec<String> = line.iter().map(|line| painted(line, self.look.talk)).collect();
        if round.score().is_none() {
            told.extend(lines::missing(run, round, self.look.width));
        }
        self.say(&told);
    }

    fn no_draft(&mut self, run: &Run, member: Place, failure: &Failure) {
        let what = match failure.kind {
            FailureKind::Gate => "an idea is dropped".to_owned(),
            FailureKind::TimedOut
            | FailureKind::Crashed
            | FailureKind::Empty
            | FailureKind::OffSchema
            | FailureKind::TooLarge
            | FailureKind::Refused
            | FailureKind::TurnLimit
            | FailureKind::BudgetLimit
            | FailureKind::DeniedTool
            | FailureKind::RateLimited
            | FailureKind::UsageLimit
            | FailureKind::Overloaded
            | FailureKind::Network
            | FailureKind::Authentication
            | FailureKind::ModelNotFound
            | FailureKind::PromptTooLong
            | FailureKind::Breach
            | FailureKind::UsageError => format!("the improver {}", words::failure(failure.kind)),
        };
        let name = plain::one_line(words::member(run, member));
        let after = format!(": {what}: {}", plain::one_line(&failure.why));
        // A reason may be long: the name keeps its place, and the end of the reason gives way.
        let name = around("  ", &name, "", self.look.width / 3);
        self.say(&[cut(&format!("{name}{after}"), self.look.width)]);
    }

    fn noted(&mut self, run: &Run, signal: &Signal) {
        let text = match signal {
            Signal::Paused(pause) => words::pause(*pause),
            Signal::Held => "waits for an answer",
            Signal::Resumed { .. } => return self.resumed(run),
            Signal::Waiting { until } => return self.waiting(run, *until),
            Signal::Waited => {
                self.rest();
                return self.say(&["the wait is over".to_owned()]);
            }
            Signal::Placed { by, .. } => return self.say(&[cut(words::placed(*by), self.look.width)]),
        };
        self.say(&wrapped(&format!("run {} {text}", run.plan.run), self.look.width, "  "));
        if let (Signal::Paused(Pause::Blocked), Some(mishap)) = (signal, &run.blocked) {
            self.say(&lines::blocked(run, mishap, self.look.width));
        }
    }

    /// One line for a log, and one that counts down for whoever looks on.
    fn waiting(&mut self, run: &Run, until: Timestamp) {
        self.say(&lines::waiting(run, until, self.look.width));
        if self.look.live {
            let letters = self.look.letters;
            self.live.get_or_insert_with(|| Live::new(letters)).waiting(until, self.look.width);
        }
    }

    /// A run that is taken up again says where it stands.
    fn resumed(&mut self, run: &Run) {
        let place = match run.round_number() {
            0 => String::new(),
            _ if run.course.stopped.is_some() => ", after the search".to_owned(),
            round => format!(" in round {round}"),
        };
        let best = run.best().map_or(String::new(), |(_, score)| format!(", best so far {score}"));
        self.say(&[cut(&format!("taken up again{place}{best}"), self.look.width)]);
    }

    /// No live line, until a step begins.
    fn rest(&mut self) {
        if let Some(mut live) = self.live.take() {
            live.clear();
        }
    }

    fn say(&mut self, lines: &[String]) {
        let streams = &mut self.streams;
        let mut write = || lines.iter().for_each(|line| streams.talk(line));
        match &self.live {
            Some(live) => live.aside(write),
            None => write(),
        }
    }
}

fn painted(told: &Told, style: Style) -> String {
    let Told { before, verdict, after } = told;
    let word = verdict.word();
    let word = match verdict {
        Standing::Baseline | Standing::Kept => style.green(word),
        Standing::Dropped => style.red(word),
        Standing::Again | Standing::Incomplete => style.yellow(word),
    };
    format!("{before}{word}{after}")
}

#[cfg(test)]
mod tests;
