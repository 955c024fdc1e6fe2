//! `night`: runs the jobs of a file, and writes the morning's page.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use rustix::process::Signal;
use serde_json::{Value, json};
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::json::line;
use skilltune_phases::base::name::Name;
use skilltune_phases::base::spelling::nearest;
use skilltune_phases::nights::night::{Morning, Over, Work};
use skilltune_phases::runs::plan::RunId;

use crate::args::night::{NightPartArgs, NightRunArgs};
use crate::commands::clean;
use crate::nights::book::{Book, Shelf};
use crate::nights::changed::unchanged;
use crate::nights::clock::Clock;
use crate::nights::driver::{Driver, Tonight};
use crate::nights::file::{NightPlan, Overlap};
use crate::nights::notify::notify;
use crate::nights::pages::{self, PageInput};
use crate::nights::secrets::Secrets;
use crate::nights::{failed_start, inbox, jobs, json, junit, morning, waiting};
use crate::report::outcome;
use crate::runs::scope::Scope;
use crate::runs::{Runs, unusable};
use crate::settings::values::Format;
use crate::settings::worker_settings::WorkerNames;
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::shell_path;

/// Which jobs to run.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    Job(&'a str),
    Part(&'a NightPartArgs),
}

pub fn run(
    args: &NightRunArgs,
    selection: Selection<'_>,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.file.file.as_deref(), env)?;
    let trusted = plan.require_trust(env);
    let went = trusted.and_then(|()| night(&plan, args, selection, env, printer));
    // A person sees why their own night refuses to start, but not why a scheduled one does.
    if let Err(complaint) = &went
        && (args.scheduled || complaint.kind == ErrorKind::Ours)
    {
        let now = Clock::new().now().timestamp();
        failed_start::record(&Shelf::of(&plan), now, complaint, &Secrets::of(env));
    }
    went
}

fn night(
    plan: &NightPlan,
    args: &NightRunArgs,
    selection: Selection<'_>,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let mut jobs = jobs::all(plan)?;
    for job in &mut jobs {
        job.workers = args.workers.as_ref().map(|WorkerNames(names)| names.join(","));
    }
    if let Selection::Job(only) = selection {
        let names: Vec<String> = jobs.iter().map(|job| job.name.to_string()).collect();
        jobs.retain(|job| job.name == *only);
        if jobs.is_empty() {
            let near = nearest(only, names.iter().map(String::as_str));
            let hint = near.map_or_else(
                || "`skilltune night list` lists them".to_owned(),
                |near| format!("did you mean {near:?}?"),
            );
            return Err(Complaint::input(format!("there is no job {only:?}")).hint(hint));
        }
    }
    if jobs.is_empty() {
        return Err(Complaint::input(format!("{} has no jobs", plan.file.path.display()))
            .hint("`skilltune night add SKILL --suite FILE` adds one"));
    }
    let shard = match selection {
        Selection::Part(part) => part.shard,
        Selection::Job(_) => None,
    };
    if let Some(shard) = shard {
        let own = shard.share(jobs.iter().map(|job| job.name.clone()));
        jobs.retain(|job| own.contains(&job.name));
    }
    let unchanged = match selection {
        Selection::Part(NightPartArgs { changed_since: Some(revision), .. }) => {
            unchanged(&jobs, revision, plan, env)?
        }
        Selection::Part(_) | Selection::Job(_) => BTreeSet::new(),
    };
    let unchanged_by = |text: &str| match args.format {
        Format::Human if args.if_needed => Ok(Exit::Reached),
        format => outcome::print(format, printer, &[text], &json!({ "outcome": "unchanged", "why": text })),
    };
    let waits = plan.content.overlap == Overlap::Queue;
    let Some(book) = Book::open(plan, waits)? else {
        return unchanged_by("another night of this file is under way: nothing to do");
    };
    failed_start::make_room(&book.shelf);
    let now = Clock::new().now();
    let date = Clock::night_of(&now);
    if args.scheduled {
        if book.history.nights.iter().any(|night| night.scheduled && night.date == date) {
            return unchanged_by(&format!("the night of {date} has already run: nothing to do"));
        }
        let latest = plan.content.latest_start.and_then(|time| Clock::latest(&now, time));
        if latest.is_some_and(|latest| now.timestamp() > latest) {
            unchanged_by("too late to start; the next night continues")?;
            return Ok(Exit::Paused);
        }
    }
    let driver = Driver::new(plan, book, args.if_needed, env, printer)?;
    let (mut book, signal) =
        driver.run(Tonight { jobs, unchanged, shard, date, is_scheduled: args.scheduled })?;
    let still = waiting::still_waiting(&book.history, plan, env);
    if shard.is_some() {
        for event in waiting::events(&book.history, &still) {
            book.write(Clock::new().now().timestamp(), event)?;
        }
    }
    let morning = Morning::with(&book.history, still).expect("a night has begun");
    let exit = leave_pages(&morning, plan, &book, args.format, args.if_needed, env, printer)?;
    Ok(match signal {
        Some(Signal::TERM) => Exit::Terminated,
        Some(_) => Exit::Interrupted,
        None => exit,
    })
}

/// Writes the pages of the last night, and runs the commands of `notify` and `heartbeat`. The commands run also if the
/// pages cannot be written, such as on a full disk: they may be the only ones to say so.
pub fn leave_pages(
    morning: &Morning<'_>,
    plan: &NightPlan,
    book: &Book,
    format: Format,
    if_needed: bool,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let inbox = inbox::place(&book.shelf);
    let failed = failed_start::behind(&book.shelf, morning);
    let (zone, week) = (TimeZone::system(), plan.content.week);
    let page = morning::page(morning, inbox.path(), &zone, week, failed.as_ref());
    let input = PageInput {
        history: &book.history,
        home: &Home::of(&plan.folder),
        inbox: inbox.path(),
        zone: &zone,
        week,
        failed: failed.as_ref(),
    };
    let mut object = json::object(morning, failed.as_ref());
    let written = book.put("night.md", &page);
    let written = written.and(book.put("report.html", &pages::morning(morning, input, "")));
    let written = written.and(book.put("junit.xml", &junit::junit(morning, failed.as_ref())));
    let written = written.and(book.put("night.json", &line(&object)));
    let written = written.and(run_commands(&mut object, morning, plan, book, env, printer));
    // Their loss is no reason to keep the morning from anybody.
    if let Err(why) = leave_series(morning, book) {
        printer.talk(&format!("warning: no pages of series: {}", why.in_one_line()));
    }
    let html = pages::morning(morning, input, "../");
    let kept = [("md", &*page), ("html", &html), ("json", &line(&object))];
    written.and(keep(&kept, plan, book, env, printer))?;
    let exit = exit(morning);
    match format {
        Format::Json => printer.json(&object)?,
        Format::Human if !if_needed || exit == Exit::Ended => {
            printer.data(&morning::headline(morning, failed.as_ref()))?;
            let [text, html] = ["night.md", "report.html"].map(|name| book.shelf.place(name));
            let (text, html) = (shell_path(text.path()), shell_path(html.path()));
            printer.data(&format!("the whole page: {text}, and for a browser {html}"))?;
        }
        Format::Human => {}
    }
    Ok(exit)
}

/// Writes the page of each job of the morning that has a series.
fn leave_series(morning: &Morning<'_>, book: &Book) -> Result<(), Complaint> {
    let has_points = |job: &&&Name| book.history.jobs.get(*job).is_some_and(|job| !job.points.is_empty());
    for job in morning.jobs.iter().filter(has_points) {
        pages::leave_series(job, &book.history, &book.shelf)?;
    }
    Ok(())
}

/// Runs the commands that are due with the page as JSON, and records there how they ended.
fn run_commands(
    page: &mut Value,
    morning: &Morning<'_>,
    plan: &NightPlan,
    book: &Book,
    env: &Environment,
    printer: Printer,
) -> Result<(), Complaint> {
    let content = &plan.content;
    let report = line(page);
    let has_ended = matches!(morning.night.over, Some((_, Over::Done | Over::Time)));
    let commands = [
        ("notify", "notified", &content.notify, content.notify_always || morning.needs_you()),
        // The night that the shards are merged into has the heartbeat.
        ("heartbeat", "heartbeat", &content.heartbeat, has_ended && morning.night.shard.is_none()),
    ];
    let mut written = Ok(());
    for (name, key, command, is_due) in commands {
        if command.is_empty() || !is_due {
            continue;
        }
        let notified = notify(command, plan, &report, env);
        if let Some(why) = &notified.error {
            printer.warn(&format!("warning: `{name}` failed: {why}"));
        }
        page[key] = json!(notified);
        written = written.and(book.put("night.json", &line(page)));
    }
    written
}

/// Keeps this night's pages beside those of earlier nights, and removes the oldest: as many stay as the file
/// says. Runs that only measured are kept as long as their page; one that searched may be needed to undo a winner.
fn keep(
    pages: &[(&str, &str)],
    plan: &NightPlan,
    book: &Book,
    env: &Environment,
    printer: Printer,
) -> Result<(), Complaint> {
    let nights = &book.history.nights;
    let (old, new) = nights.split_at(nights.len().saturating_sub(plan.content.keep));
    let folder = book.shelf.place("mornings");
    folder.make().map_err(unusable)?;
    if let Some(night) = new.last() {
        for (end, text) in pages {
            let place = folder.join(format!("{}.{end}", night.name));
            place.replace(text.as_bytes(), Durability::Order).map_err(unusable)?;
        }
    }
    let stays = |name: &str| new.iter().any(|night| name.starts_with(&format!("{}.", night.name)));
    for name in folder.names().map_err(unusable)? {
        if !name.to_str().is_some_and(stays) {
            folder.join(&name).remove().map_err(unusable)?;
        }
    }
    let measured = old.iter().flat_map(|night| &night.done).filter(|done| match done.work {
        Work::Measure { .. } | Work::Again { .. } => true,
        Work::Resume { .. } | Work::Extend { .. } | Work::Tune => false,
    });
    let mut measured: BTreeSet<&RunId> = measured.filter_map(|done| done.outcome.run.as_ref()).collect();
    // A morning may name one of them as the way back from an edit.
    for run in book.history.runs_before_edits() {
        measured.remove(run);
    }
    let runs = Runs::of(&plan.folder, env)?;
    let gone: Vec<RunId> = runs.ids(None).into_iter().filter(|id| measured.contains(id)).collect();
    if !gone.is_empty() {
        clean::delete(&gone, &Scope { runs, only: None, env, printer })?;
    }
    Ok(())
}

/// Returns the exit code for the scheduler.
pub fn exit(morning: &Morning<'_>) -> Exit {
    if morning.needs_you() {
        Exit::Ended
    } else if morning.has_failed() {
        Exit::Unjudged
    } else if morning.goes_on() {
        Exit::Paused
    } else {
        Exit::Reached
    }
}
