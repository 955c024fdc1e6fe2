//! What a person or a script sees while a run goes on, and at its end.
//!
//! One stream of records feeds every reporter. Data goes to one stream, talk to another; a stream that nobody reads
//! any more never ends a run.

use std::os::fd::AsFd;

use skilltune_phases::event::Record;
use skilltune_phases::run::{NotARun, Run};

use crate::args::Streamed;
use crate::folders::Surroundings;
use crate::printer::Printer;

#[cfg(test)]
mod capture;
mod human;
mod json;
mod jsonl;
mod lines;
mod live;
mod reporter;
mod width;

pub(crate) use human::{Human, Look};
pub(crate) use json::Json;
pub(crate) use jsonl::Jsonl;
pub(crate) use reporter::{Reporter, Streams};

/// The reporter that a format asks for, on the program's own streams.
pub(crate) fn reporter(format: Streamed, around: &Surroundings, printer: Printer) -> Box<dyn Reporter> {
    let streams = Streams { data: Box::new(std::io::stdout()), talk: Box::new(std::io::stderr()) };
    match format {
        Streamed::Json => Box::new(Json::new(streams)),
        Streamed::Jsonl => Box::new(Jsonl::new(streams)),
        Streamed::Human => Box::new(Human::new(streams, look(around, printer))),
    }
}

/// Tells a run again from its records, as it was told while it went on; all of it is data.
pub(crate) fn retell(records: &[Record], around: &Surroundings, printer: Printer) -> Result<(), NotARun> {
    let streams = Streams { data: Box::new(std::io::stdout()), talk: Box::new(std::io::stdout()) };
    let width = if around.terminal.stdout { console_width(std::io::stdout()) } else { UNBOUNDED };
    let look = Look { width, live: false, talk: printer.data, data: printer.data };
    let mut human = Human::new(streams, look);
    let (first, rest) = records.split_first().ok_or(NotARun::Empty)?;
    let mut run = Run::begin(first)?;
    human.recorded(&run, first);
    for record in rest {
        run.apply(record);
        human.recorded(&run, record);
    }
    human.finished(&run);
    Ok(())
}

/// A pipe has no width, and no line that is drawn again and again.
fn look(around: &Surroundings, printer: Printer) -> Look {
    let live = around.terminal.stderr && !around.is_ci() && !around.is_dumb();
    let width = if around.terminal.stderr { console_width(std::io::stderr()) } else { UNBOUNDED };
    Look { width, live, talk: printer.talk, data: printer.data }
}

const UNBOUNDED: usize = u16::MAX as usize;

fn console_width(terminal: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(terminal);
    size.map(|size| usize::from(size.ws_col)).ok().filter(|&columns| columns > 0).unwrap_or(80)
}
