//! Output for people and scripts while a run is active, and at its end.
//!
//! One stream of records feeds every reporter. Data goes to one stream, progress to another; a closed stream never ends
//! a run.

use std::io;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::runs::event::Record;
use skilltune_phases::runs::run::{NotARun, Run};

use crate::report::estimate::Estimate;
use crate::settings::values::Streamed;
use crate::terminal::columns::{data_width, talk_width};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::printer::{Level, Printer, unwritten};

pub mod bar;
#[cfg(test)]
pub mod capture;
pub mod halts;
pub mod json;
pub mod layout;
pub mod lines;
pub mod live;
pub mod reporter;
pub mod talk;
mod verbose;

pub use crate::progress::json::Json;
pub use crate::progress::layout::Layout;
use crate::progress::layout::Letters;
pub use crate::progress::reporter::{Reporter, Streams};
use crate::progress::talk::{Narrated, Talk};
use crate::progress::verbose::Verbose;
pub use crate::progress::verbose::call_text;

/// Returns the reporter of a format on the program's own streams; `objects` hold the versions of its run. The live
/// line shows what is left of it by the estimate.
pub fn reporter<L: Narrated>(
    format: Streamed,
    estimate: Option<Estimate>,
    objects: Objects,
    env: &Environment,
    printer: Printer,
) -> Box<dyn Reporter<L>> {
    let streams = Streams::new(io::stdout(), io::stderr());
    let streams = if printer.level == Level::Quiet { streams.quiet() } else { streams };
    let reporter: Box<dyn Reporter<L>> = match format {
        Streamed::Json => Box::new(Json::at_the_end(streams)),
        Streamed::Jsonl => Box::new(Json::by_record(streams)),
        Streamed::Human => {
            Box::new(Talk::new(streams, layout(env, printer), L::shelf(objects)).with(estimate))
        }
    };
    if printer.level == Level::Verbose { Box::new(Verbose(reporter)) } else { reporter }
}

/// Reports a run again from its records, as it was reported live; writes everything as data.
pub fn retell<L: Narrated>(
    records: &[Record<L>],
    objects: Objects,
    env: &Environment,
    printer: Printer,
) -> Result<(), Complaint> {
    let streams = Streams::new(io::stdout(), io::stdout());
    let letters = Letters::of(env);
    let layout =
        Layout { width: data_width(env), live: false, talk: printer.data, data: printer.data, letters };
    let mut talk = Talk::new(streams, layout, L::shelf(objects));
    let (first, rest) = records.split_first().ok_or(NotARun::Empty).map_err(ours)?;
    let mut run = Run::begin(first).map_err(ours)?;
    talk.recorded(&run, first);
    for record in rest {
        run.apply(record);
        talk.recorded(&run, record);
    }
    talk.finished(&run).map_err(unwritten)
}

/// Returns true if a reporter of this format shows a live line.
pub fn has_live_line(format: Streamed, env: &Environment, printer: Printer) -> bool {
    format == Streamed::Human && is_live(env, printer)
}

/// Returns false in a pipe, where no line can be redrawn.
fn is_live(env: &Environment, printer: Printer) -> bool {
    env.terminal.stderr && !env.is_ci() && !env.is_dumb() && printer.level != Level::Quiet
}

/// Returns the layout for this environment; a pipe has no width either.
fn layout(env: &Environment, printer: Printer) -> Layout {
    Layout {
        width: talk_width(env),
        live: is_live(env, printer),
        talk: printer.talk,
        data: printer.data,
        letters: Letters::of(env),
    }
}
