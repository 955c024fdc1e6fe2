//! What a person or a script sees while a run goes on, and at its end.
//!
//! One stream of records feeds every reporter. Data goes to one stream, talk to another; a stream that nobody reads
//! any more never ends a run.

use skilltune_phases::loops::tune::Tune;
use std::io;
use std::os::fd::AsFd;

use skilltune_orchestrator::snapshot::{DiffSize, ObjectError, Objects, diff_size};
use skilltune_phases::id::TreeId;
use skilltune_phases::loops::tune::{Record, Run};
use skilltune_phases::run::NotARun;

use crate::args::Streamed;
use crate::complaint::Complaint;
use crate::folders::Surroundings;
use crate::printer::{Printer, unwritten};
use crate::session::ours;

#[cfg(test)]
mod capture;
mod chart;
mod halts;
mod human;
mod json;
mod lines;
mod live;
pub(crate) mod reflex;
mod reporter;
mod talk;
pub(crate) mod width;

use chart::Letters;
use human::Changed;
pub(crate) use human::Human;
pub(crate) use json::Json;
pub(crate) use reporter::{Reporter, Streams};
pub(crate) use talk::Look;
pub(crate) use width::{fitted, flowed, shortened, wrapped};

/// The reporter that a format asks for, on the program's own streams; `objects` hold the candidates of its run, whose
/// agents may be trusted for this once.
pub(crate) fn reporter(
    format: Streamed,
    objects: Objects,
    around: &Surroundings,
    printer: Printer,
    trusted: bool,
) -> Box<dyn Reporter<Tune>> {
    let streams = Streams::new(io::stdout(), io::stderr());
    match format {
        Streamed::Json => Box::new(Json::at_the_end(streams)),
        Streamed::Jsonl => Box::new(Json::by_record(streams)),
        Streamed::Human => {
            Box::new(Human::new(streams, Look { trusted, ..look(around, printer) }, changed(objects)))
        }
    }
}

/// Tells a run again from its records, as it was told while it went on; all of it is data.
pub(crate) fn retell(
    records: &[Record],
    objects: Objects,
    around: &Surroundings,
    printer: Printer,
) -> Result<(), Complaint> {
    let streams = Streams::new(io::stdout(), io::stdout());
    let letters = Letters::of(around);
    let look = Look {
        width: data_width(around),
        live: false,
        talk: printer.data,
        data: printer.data,
        letters,
        trusted: false,
    };
    let mut human = Human::new(streams, look, changed(objects));
    let (first, rest) = records.split_first().ok_or(NotARun::Empty).map_err(ours)?;
    let mut run = Run::begin(first).map_err(ours)?;
    human.recorded(&run, first);
    for record in rest {
        run.apply(record);
        human.recorded(&run, record);
    }
    human.finished(&run).map_err(unwritten)
}

/// A pipe has no width, and no line that is drawn again and again.
fn look(around: &Surroundings, printer: Printer) -> Look {
    let live = around.terminal.stderr && !around.is_ci() && !around.is_dumb();
    Look {
        width: talk_width(around),
        live,
        talk: printer.talk,
        data: printer.data,
        letters: Letters::of(around),
        trusted: false,
    }
}

/// Reads the store only when the run has a champion; a store that cannot be read costs a line and no run.
fn changed(objects: Objects) -> Changed {
    Box::new(move |run| {
        let champion = run.candidate(run.course.shipment.as_ref()?.champion)?;
        let start = run.candidate(run.start()).filter(|start| start.id != champion.id)?;
        between(&objects, &start.trees, &champion.trees).ok()
    })
}

fn between(objects: &Objects, from: &[TreeId], to: &[TreeId]) -> Result<DiffSize, ObjectError> {
    let mut size = DiffSize::default();
    for (&from, &to) in from.iter().zip(to).filter(|(from, to)| from != to) {
        size += diff_size(objects, &objects.manifest(from)?, &objects.manifest(to)?)?;
    }
    Ok(size)
}

/// How wide a line of data may be: a pipe has no width.
pub(crate) fn data_width(around: &Surroundings) -> usize {
    if around.terminal.stdout { console_width(io::stdout()) } else { UNBOUNDED }
}

/// How wide a line of talk may be.
pub(crate) fn talk_width(around: &Surroundings) -> usize {
    if around.terminal.stderr { console_width(io::stderr()) } else { UNBOUNDED }
}

pub(crate) const UNBOUNDED: usize = u16::MAX as usize;

fn console_width(terminal: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(terminal);
    size.map(|size| usize::from(size.ws_col)).ok().filter(|&columns| columns > 0).unwrap_or(80)
}
