//! `night status`: prints the page of the last night.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::args::night::NightStatusArgs;
use crate::commands::night::begin::exit;
use crate::nights::book::Shelf;
use crate::nights::clock::Clock;
use crate::nights::failed_start::{self, FailedStart};
use crate::nights::file::NightPlan;
use crate::nights::{inbox, json, morning, waiting};
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::figures::duration;
use crate::text::plain::capitalised;

/// A scheduled night that is later than this was missed.
pub const OVERDUE: Duration = Duration::from_secs(26 * 3600);

pub fn run(args: &NightStatusArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.view.file.file.as_deref(), env)?;
    // The next night will not run either.
    plan.require_trust(env).map_err(|why| why.hint("until then every night refuses to start"))?;
    let shelf = Shelf::of(&plan);
    let history = shelf.read()?;
    let failed = failed_start::since(&shelf, history.last().map(|night| night.began));
    let Some(morning) = waiting::morning(&history, &plan, env) else {
        let none = || "no night has run yet".to_owned();
        let headline = failed.as_ref().map_or_else(none, FailedStart::text);
        match args.view.format {
            Format::Human => printer.warn(&headline),
            Format::Json => {
                printer.json(&json!({ "headline": headline, "failed_start": failed }))?;
            }
        }
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
    let late = late(failed.as_ref(), overdue, now);
    let behind = failed_start::behind(&shelf, &morning);
    match args.view.format {
        Format::Json => {
            let mut object = json::object(&morning, behind.as_ref());
            object["overdue_seconds"] = overdue.map(|age| age.as_secs()).into();
            object["failed_start"] = json!(failed);
            if let Some(late) = late {
                let headline = morning::headline(&morning, behind.as_ref());
                object["headline"] = format!("{late} The last night: {headline}").into();
            }
            printer.json(&object)?;
        }
        Format::Human if args.if_needed && exit == Exit::Reached => {}
        Format::Human => {
            let inbox = inbox::place(&shelf);
            let week = plan.content.week;
            let page = morning::page(&morning, inbox.path(), &TimeZone::system(), week, behind.as_ref());
            if let Some(late) = late {
                printer.data(&format!("{late} This is the page of the last night.\n"))?;
            }
            printer.data(page.trim_end())?;
        }
    }
    Ok(exit)
}

/// Says that the page is not of the last start, or that there was none. A start that failed was no fault of the scheduler.
fn late(failed: Option<&FailedStart>, overdue: Option<Duration>, now: Timestamp) -> Option<String> {
    let age = failed.and_then(|failed| Duration::try_from(now.duration_since(failed.at)).ok());
    let overdue = overdue.filter(|_| age.is_none_or(|age| age > OVERDUE)).map(|age| {
        let age = duration(age);
        format!("no scheduled night for {age}: check the scheduler, and `skilltune night list`")
    });
    let all = failed.map(FailedStart::text).into_iter().chain(overdue);
    let all: Vec<String> = all.map(|text| format!("{}.", capitalised(&text))).collect();
    (!all.is_empty()).then(|| all.join(" "))
}
