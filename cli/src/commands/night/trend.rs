//! `trend`: shows a job over all nights.

use skilltune_phases::base::name::Name;

use crate::args::night::TrendArgs;
use crate::nights::book::Shelf;
use crate::nights::file::NightPlan;
use crate::nights::{pages, trend};
use crate::settings::values::Format;
use crate::terminal::browser;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::shell_path;

/// The width of a strip in columns.
const WIDTH: usize = 60;

pub fn run(args: &TrendArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.view.file.file.as_deref(), env)?;
    let shelf = Shelf::of(&plan);
    let history = shelf.read()?;
    let name: Option<Name> = args.job.parse().ok();
    let known = name.and_then(|name| history.jobs.get_key_value(&name));
    let Some((name, job)) = known.filter(|(_, job)| !job.points.is_empty()) else {
        let names: Vec<&str> = history.jobs.keys().map(Name::as_str).collect();
        let hint = if names.is_empty() {
            "no night has tuned or measured anything yet".to_owned()
        } else {
            format!("known jobs: {}", names.join(", "))
        };
        return Err(Complaint::input(format!("no night has run a job {:?}", args.job)).hint(hint));
    };
    if args.open {
        let page = pages::leave_series(name, &history, &shelf)?;
        browser::open(page.path(), env);
        printer.data(&shell_path(page.path()))?;
        return Ok(Exit::Reached);
    }
    match args.view.format {
        _ if args.csv => printer.data(&trend::csv(job))?,
        Format::Json => printer.json(&trend::json(job))?,
        Format::Human => printer.data(&trend::drawn(job, env.is_utf8(), WIDTH))?,
    }
    Ok(Exit::Reached)
}
