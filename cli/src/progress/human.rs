//! `--format human`: a header, a line a round, a live line on a terminal, a picture and a summary at the end.

use std::io;

use skilltune_orchestrator::snapshot::DiffSize;
use skilltune_phases::event::{Failure, FailureKind};
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::loops::tune::{Decision, Event, Record, Run, Step};
use skilltune_phases::target::Place;

use super::chart::chart;
use super::lines::{self, Told};
use super::talk::{Look, Talk};
use super::width::{around, cut};
use super::{Reporter, Streams};
use crate::report::words::{self, Standing};
use crate::report::{figures, plain};
use crate::style::Style;

/// How much of the target a run's champion changes, if there is one.
pub(crate) type Changed = Box<dyn Fn(&Run) -> Option<DiffSize>>;

pub(crate) struct Human {
    talk: Talk<Tune>,
    changed: Changed,
}

impl Human {
    pub(crate) fn new(streams: Streams, look: Look, changed: Changed) -> Self {
        Self { talk: Talk::new(streams, look), changed }
    }
}

impl Reporter<Tune> for Human {
    fn recorded(&mut self, run: &Run, record: &Record) {
        self.greet(run);
        match &record.event {
            Event::Started(_) | Event::Done(_) => {}
            Event::Decided(decision) => self.decided(run, decision),
            Event::Noted(signal) => self.talk.noted(run, signal),
        }
    }

    fn began(&mut self, run: &Run, step: &Step) {
        self.greet(run);
        self.talk.began(run, step);
    }

    fn ended(&mut self, run: &Run, step: &Step) {
        self.talk.ended(run, step);
    }

    fn finished(&mut self, run: &Run) -> io::Result<()> {
        self.talk.rest();
        self.talk.say(&[String::new()]);
        let Look { width, data, letters, .. } = self.talk.look;
        let mut told = lines::headline(run, width);
        if let Some(first) = told.first_mut() {
            *first = data.bold(first);
        }
        if let Some(chart) = chart(run, width, letters) {
            told.push(String::new());
            told.extend(chart.rows.iter().map(|row| painted(row, data)));
            told.extend([data.dim(&chart.goal), String::new()]);
        }
        told.extend(lines::story(run, (self.changed)(run), self.talk.look));
        self.talk.data(&told);
        self.talk.written()
    }

    fn remark(&mut self, text: &str) {
        self.talk.remark(text);
    }
}

impl Human {
    fn greet(&mut self, run: &Run) {
        self.talk.greet(|width| lines::header(run, width));
    }

    fn decided(&mut self, run: &Run, decision: &Decision) {
        let width = self.talk.look.width;
        match decision {
            Decision::Keep(_) | Decision::Drop { .. } => self.measured(run),
            Decision::Scored(measured) if measured.score.is_none() => self.measured(run),
            Decision::NoDraft { member, failure } => self.no_draft(run, *member, failure),
            Decision::Compare(contestants) => {
                let contestants = figures::count(contestants.len(), "candidate");
                self.talk.say(&[cut(&format!("comparing {contestants} on fresh trials"), width)]);
            }
            Decision::Ship(shipment) => self.talk.say(&lines::shipped(run, shipment, width)),
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
        let line = lines::round(run, round, self.talk.look.width);
        let mut told: Vec<String> = line.iter().map(|line| painted(line, self.talk.look.talk)).collect();
        if round.score().is_none() {
            told.extend(lines::missing(run, round, self.talk.look.width));
        }
        told.extend(lines::unused(run, round, self.talk.look.width));
        self.talk.say(&told);
    }

    fn no_draft(&mut self, run: &Run, member: Place, failure: &Failure) {
        let what = match failure.kind {
            FailureKind::Gate => "an idea is dropped".to_owned(),
            FailureKind::TimedOut
            | FailureKind::NoResponse
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
        let name = around("  ", &name, "", self.talk.look.width / 3);
        self.talk.say(&[cut(&format!("{name}{after}"), self.talk.look.width)]);
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
