//! `night status`: prints the page of the last night.

use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::json;

use crate::args::night::NightStatusArgs;
use crate::commands::night::begin::exit;
use crate::nights::book::Shelf;
use crate::nights::clock::Clock;
use crate::nights::file::NightPlan;
use crate::nights::{failed_start, inbox, json, morning, waiting};
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::figures::duration;

/// A scheduled night that is later than this was missed.
pub const OVERDUE: Duration = Duration::from_secs(26 * 3600);

pub fn run(args: &NightStatusArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.view.file.file.as_deref(), env)?;
    // The next night will not run either.
    plan.require_trust(env)?;
    let shelf = Shelf::of(&plan);
    let history = shelf.read()?;
    let failed = failed_start::since(&shelf, history.last().map(|night| night.began));
    let Some(morning) = waiting::morning(&history, &plan, env) else {
        printer.talk(&failed.map_or_else(|| "no night has run yet".to_owned(), |failed| failed.text()));
        return Ok(Exit::Unjudged);
    };
    let scheduled = history.nights.iter().rev().find(|night| night.scheduled);
    let now = Clock::new().now().timestamp();
    let age = scheduled.and_then(|night| Duration::try_from(now.duration_since(night.began)).ok());
    let overdue = age.filter(|age| *age > OVERDUE);
    let exit = match exit(&morning) {
        Exit::Ended => Exit::Ended,
        _ if overdue.is_some() || failed.is_some() => Exit::Unjudged,
        exit => exit,
    };
    match args.view.format {
        Format::Json => {
            let mut object = json::object(&morning);
            object["overdue_seconds"] = overdue.map(|age| age.as_secs()).into();
            object["failed_start"] = json!(failed);
            printer.json(&object.to_string())?;
        }
        Format::Human if args.quiet && exit == Exit::Reached => {}
        Format::Human => {
            let inbox = inbox::place(&shelf);
            let page = morning::page(&morning, inbox.path(), &TimeZone::system(), plan.content.week);
            printer.data(page.trim_end())?;
            if let Some(failed) = failed {
                printer.talk(&failed.text());
            }
            if let Some(age) = overdue {
                printer.talk(&format!(
                    "no scheduled night for {}: check the scheduler, and `skilltune night list`",
                    duration(age)
                ));
            }
        }
    }
    Ok(exit)
}
