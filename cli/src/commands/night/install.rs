//! `night install` and `night uninstall`: set up and remove the nightly start in this machine's scheduler.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::args::night::{InstallArgs, Printed, UninstallArgs};
use crate::nights::file::NightPlan;
use crate::nights::install::job::{self, Job};
use crate::nights::install::scheduled_start::Installed;
use crate::nights::install::{cron, github, kubernetes, launchd, place, systemd};
use crate::report::outcome;
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(args: &InstallArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.view.file.file.as_deref(), env)?;
    let program = std::env::current_exe()
        .map_err(|error| Complaint::ours("cannot find the skilltune program").caused_by(error))?;
    let job = Job::new(&program, &plan.file.path, args.at, env)?;
    if let Some(printed) = args.print {
        let text = print(printed, &job)?;
        match args.view.format {
            Format::Human => printer.bytes(text.trim_end())?,
            Format::Json => printer.json(&json!({ "text": text }))?,
        }
        return Ok(Exit::Reached);
    }
    // At night there is no person to ask.
    plan.require_trust(env)?;
    let mut installed = place::install(&job, env)?;
    if job::is_in_build_folder(&program) {
        installed.notes.push(format!(
            "the night starts {}, which `cargo clean` deletes; `cargo install` puts skilltune elsewhere",
            program.display()
        ));
    }
    let Installed { by, wrote, notes } = &installed;
    let outcome = if wrote.is_empty() { "unchanged" } else { "installed" };
    let object = json!({ "outcome": outcome, "scheduler": by, "wrote": wrote, "notes": notes });
    outcome::print(args.view.format, printer, &[message(&installed, &job)], &object)
}

pub fn uninstall(args: &UninstallArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let file = real(&NightPlan::path(args.view.file.file.as_deref(), env));
    let removed = place::uninstall(&job::name_of(&file), env)?;
    let (outcome, lines) = if removed.is_empty() {
        let file = file.display();
        ("unchanged", vec![format!("nothing to remove: no nightly start of {file} is installed")])
    } else {
        ("removed", removed.iter().map(|what| format!("removed {what}")).collect())
    };
    let object = json!({ "outcome": outcome, "removed": removed });
    outcome::print(args.view.format, printer, &lines, &object)
}

fn print(printed: Printed, job: &Job) -> Result<String, Complaint> {
    match printed {
        Printed::Systemd => systemd::shown(job),
        Printed::Cron => cron::block(job),
        Printed::Launchd => Ok(launchd::plist(job)),
        Printed::Github => github::workflow(job),
        Printed::Kubernetes => kubernetes::cron_job(job),
    }
}

fn message(installed: &Installed, job: &Job) -> String {
    let Installed { by, wrote, notes } = installed;
    let word = if wrote.is_empty() { "already installed" } else { "installed" };
    let at = job.at.strftime("%H:%M");
    let first = format!("{word}: {by} starts the jobs of {} every night at {at}", job.file);
    let wrote = wrote.iter().map(|what| format!("wrote {what}"));
    let notes = notes.iter().map(|note| format!("note: {note}"));
    let last = "to remove it: skilltune night uninstall".to_owned();
    std::iter::once(first).chain(wrote).chain(notes).chain([last]).collect::<Vec<_>>().join("\n")
}

/// Returns the real path of a file, even if the file and its folder are missing.
pub fn real(path: &Path) -> PathBuf {
    let in_real_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_real_folder).unwrap_or_else(|| path.components().collect())
}
