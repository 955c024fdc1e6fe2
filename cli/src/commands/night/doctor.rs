//! `night doctor`: finds what would keep tonight from working, in the environment that the scheduler will use.
//!
//! It uses the PATH, the folders and the variables that the scheduler sets for the night, not those of the current
//! shell. It starts agents only for their version, and only those that the jobs of a trusted file name.

mod agent_checks;
mod disk;
mod jobs;
mod proposals;
mod start;
mod time;

use jiff::Timestamp;
use serde::Serialize;

use crate::args::night::NightDoctorArgs;
use crate::commands::night::doctor::start::Start;
use crate::commands::night::doctor::time::Times;
use crate::commands::night::install::real;
use crate::nights::book::Shelf;
use crate::nights::check::{About, Check, State, sections};
use crate::nights::file::NightPlan;
use crate::nights::install::job::name_of;
use crate::nights::secrets::Secrets;
use crate::settings::values::Format;
use crate::terminal::columns;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::style::Style;
use crate::text::figures::count;
use crate::text::width::flowed;

/// The results of all checks. Its keys are a public interface.
#[derive(Debug, Serialize)]
struct NightDoctorReport {
    /// Whether no problem was found that would stop tonight's jobs.
    ready: bool,
    file: String,
    /// The scheduler that starts the night; none if it is not installed.
    scheduler: Option<&'static str>,
    next_start: Option<Timestamp>,
    last_start: Option<Timestamp>,
    checks: Vec<Check>,
}

pub fn run(args: &NightDoctorArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let report = look(args, env)?;
    match args.view.format {
        Format::Human => printer.data(&page(&report, columns::data_width(env), printer.data)),
        Format::Json => printer.json(&report),
    }?;
    Ok(if report.ready { Exit::Reached } else { Exit::Ended })
}

fn look(args: &NightDoctorArgs, env: &Environment) -> Result<NightDoctorReport, Complaint> {
    let path = real(&NightPlan::path(args.view.file.file.as_deref(), env));
    let start = Start::look(&name_of(&path), &path, env);
    let world = start.env.clone();
    let mut times = Times::new(&start, env);
    let mut checks = start.checks.clone();
    match NightPlan::read(Some(&path), &world) {
        Err(complaint) => checks.push(broken(About::File, &complaint)),
        Ok(plan) => {
            let is_trusted = jobs::file(&plan, &world, &mut checks);
            let jobs = jobs::look(&plan, &start, env, &mut checks);
            if is_trusted {
                proposals::look(&plan, &start, &mut checks)?;
            }
            agent_checks::look(&jobs, is_trusted, &start, args.timeout, env, &mut checks)?;
            disk::look(&plan, &world, &mut checks);
            match Shelf::of(&plan).read() {
                Err(complaint) => checks.push(broken(About::Time, &complaint)),
                Ok(history) => times.look(&plan, &history, &mut checks),
            }
        }
    }
    checks.extend(start.missing(times.has_run_lately));
    checks.append(&mut times.checks);
    checks.sort_by_key(|check| check.about);
    let (shell, nights) = (Secrets::of(env), Secrets::of(&world));
    let clean = |text: &str| nights.hide(&shell.hide(text)).into_string();
    for check in &mut checks {
        check.text = clean(&check.text);
        check.fix = check.fix.as_deref().map(clean);
    }
    Ok(NightDoctorReport {
        ready: !checks.iter().any(Check::is_broken),
        file: path.display().to_string(),
        scheduler: start.scheduled.as_ref().map(|scheduled| scheduled.by),
        next_start: times.next.map(|next| next.timestamp()),
        last_start: times.last,
        checks,
    })
}

fn page(report: &NightDoctorReport, width: usize, style: Style) -> String {
    let mut lines = vec![format!("night: {}", report.file)];
    lines.extend(sections(&report.checks, width, style));
    let (word, rest) = if report.ready {
        (style.green("ready:"), "no problems found".to_owned())
    } else {
        let faults = report.checks.iter().filter(|check| check.is_broken()).count();
        let verb = if faults == 1 { "keeps" } else { "keep" };
        (style.red("not ready:"), format!("{} {verb} tonight from working", count(faults, "fault")))
    };
    lines.push(String::new());
    lines.extend(flowed(&format!("{word} {rest}"), width, "  "));
    lines.join("\n")
}

/// Turns a complaint and its hint into a check.
fn broken(about: About, complaint: &Complaint) -> Check {
    Check::new(about, State::Broken, complaint.in_one_line()).with_fix(complaint.hints.first())
}
