//! `--format human` of `reflex`: a header, a summary an evaluation, the artifact itself when it goes to level B and at
//! the end, and how the run came out.

mod lines;
mod shelf;

use std::io;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::{Artifact, Decision, Done, Event, Record, Reflex, Run, Step};

use super::talk::{Look, Talk};
use super::width::wrapped;
use super::{Json, Reporter, Streams, look};
use crate::args::Streamed;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::report::plain;

pub(crate) use shelf::{Shelf, on_disk};

/// The reporter that a format asks for, on the program's own streams; `objects` hold the artifacts of its run, whose
/// agents may be trusted for this once.
pub(crate) fn reporter(
    format: Streamed,
    objects: Objects,
    around: &Surroundings,
    printer: Printer,
    trusted: bool,
) -> Box<dyn Reporter<Reflex>> {
    let streams = Streams::new(io::stdout(), io::stderr());
    match format {
        Streamed::Json => Box::new(Json::at_the_end(streams)),
        Streamed::Jsonl => Box::new(Json::by_record(streams)),
        Streamed::Human => {
            Box::new(Human::new(streams, Look { trusted, ..look(around, printer) }, Shelf::of(objects)))
        }
    }
}

struct Human {
    talk: Talk<Reflex>,
    shelf: Shelf,
}

impl Human {
    fn new(streams: Streams, look: Look, shelf: Shelf) -> Self {
        Self { talk: Talk::new(streams, look), shelf }
    }
}

impl Reporter<Reflex> for Human {
    fn recorded(&mut self, run: &Run, record: &Record) {
        self.greet(run);
        match &record.event {
            Event::Started(_) => {}
            Event::Done(done) => self.done(run, done),
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
        let whole = run.result().filter(|_| run.closed_at.is_some());
        if let Some(artifact) = whole {
            self.page(artifact, "at the end");
        }
        let Look { data, .. } = self.talk.look;
        let mut told = lines::story(run, (self.shelf.on_disk)(run).as_deref(), self.talk.look);
        if let Some(first) = told.first_mut() {
            *first = data.bold(first);
        }
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

    /// What an agent could not do is told at once, unless it stops the run: then the pause tells it.
    fn done(&mut self, run: &Run, done: &Done) {
        let told = lines::failed(run, &done.step, &done.outcome, self.talk.look.width);
        self.talk.say(&told);
    }

    fn decided(&mut self, run: &Run, decision: &Decision) {
        let width = self.talk.look.width;
        match decision {
            Decision::Evaluated(_) => self.evaluated(run),
            Decision::Drop { hash, best } => {
                let told = format!("{hash} is dropped: it is worse than {best}, which is gone on from");
                self.talk.say(&wrapped(&plain::one_line(&told), width, "  "));
            }
            Decision::Switch(level) => {
                let told = format!("level A is passed; level {level} begins with the same artifact");
                self.talk.say(&wrapped(&told, width, "  "));
                if let Some(artifact) = &run.course.artifact {
                    self.page(artifact, &format!("before level {level}"));
                }
            }
            Decision::Enter(_)
            | Decision::Planned(_)
            | Decision::Produced { .. }
            | Decision::Prepared(_)
            | Decision::Criticised(_)
            | Decision::Refined(_)
            | Decision::Advance(_)
            | Decision::Stop(_)
            | Decision::Close => {}
        }
    }

    fn evaluated(&mut self, run: &Run) {
        let Some(judged) = run.course.judged.last() else { return };
        let mut told = lines::evaluated(run, judged, self.talk.look.width);
        let style = self.talk.look.talk;
        if let Some(first) = told.first_mut() {
            *first = match (judged.evaluation.score, judged.evaluation.passed) {
                (None, _) => style.yellow(first),
                (Some(_), true) => style.green(first),
                (Some(_), false) => style.red(first),
            };
        }
        self.talk.say(&told);
    }

    /// The whole of an artifact, between two lines that say what it is. A store that cannot be read costs it and no run.
    fn page(&mut self, artifact: &Artifact, when: &str) {
        let Look { width, data, .. } = self.talk.look;
        let text = (self.shelf.text)(artifact);
        let Some(text) = text else {
            let told = format!("artifact {} cannot be read from the store", artifact.hash);
            return self.talk.say(&wrapped(&plain::one_line(&told), width, "  "));
        };
        let mut told = vec![data.dim(&lines::rule(&format!("artifact {}, {when}", artifact.hash), width))];
        told.extend(plain::pictured(&text).lines().map(str::to_owned));
        told.push(data.dim(&lines::rule(&format!("end of {}", artifact.hash), width)));
        told.push(String::new());
        self.talk.data(&told);
    }
}

#[cfg(test)]
mod tests;
