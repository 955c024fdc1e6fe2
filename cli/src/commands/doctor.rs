//! `doctor`: lists installed and missing programs, shows how to install the missing ones, and whether a run can start.
//!
//! It only inspects: it leaves no files, runs nothing untrusted, and waits for no program longer than its deadline.

pub mod agent_checks;
pub mod line;
pub mod place;

mod human;
mod probe;
mod project;
mod rights;
mod verdict;
mod versions;
mod wrap;

use serde::Serialize;

use crate::args::overrides::override_with;
use crate::commands::args::DoctorArgs;
use crate::commands::doctor::agent_checks::AgentSeen;
use crate::commands::doctor::human::render;
use crate::commands::doctor::place::Place;
use crate::commands::doctor::project::Project;
use crate::commands::doctor::rights::{Ends, System};
use crate::commands::doctor::verdict::DoctorVerdict;
use crate::commands::doctor::wrap::WrapSeen;
use crate::loops::gan::browser::{self, Found};
use crate::settings::values::Format;
use crate::terminal::columns;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

/// The results of all checks. Its keys are a public interface.
#[derive(Debug, Serialize)]
struct DoctorReport {
    #[serde(flatten)]
    verdict: DoctorVerdict,
    version: &'static str,
    agents: Vec<AgentSeen>,
    /// The program that wraps agents, if the settings name one: it replaces the system's confinement.
    wrap: Option<WrapSeen>,
    /// Whether the system confines agents to the folders of their roles.
    confinement: System,
    /// How the processes of a call are ended.
    processes: Ends,
    /// The browser that renders the pages that gan builds.
    browser: Option<Found>,
    folders: Vec<Place>,
    project: Project,
}

pub fn run(args: &DoctorArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let report = look(args, env)?;
    match args.format {
        Format::Human => printer.data(&render(&report, columns::data_width(env), printer.data)),
        Format::Json => {
            printer.json(&serde_json::to_string_pretty(&report).expect("a report has a JSON text"))
        }
    }?;
    let works = report.verdict.ready && !report.agents.iter().any(AgentSeen::has_failed);
    Ok(if works { Exit::Reached } else { Exit::Ended })
}

fn look(args: &DoctorArgs, env: &Environment) -> Result<DoctorReport, Complaint> {
    let root = env.project_here();
    // If the settings cannot be read, check everything else anyway.
    let read = crate::loops::settings(&root, env).map_err(Complaint::from);
    let (mut settings, broken) = match read {
        Ok(settings) => (settings, None),
        Err(complaint) => (crate::loops::default_settings(), Some(complaint)),
    };
    override_with(&mut settings.calls.via, args.via, "--via");
    crate::casting::defaults::fill(&mut settings, env);
    let project = Project::look(&root, &settings, broken.as_ref(), env);
    let trusted = args.trust || project.trusted != Some(false);
    let mut agents = agent_checks::look(&settings, trusted, args.timeout, env)?;
    let mut wrap = wrap::look(&settings, env);
    // As in a run, the project's settings for calls apply only if it is trusted.
    if (args.probe || args.via.is_some()) && (trusted || settings.foreign_wishes().is_empty()) {
        agent_checks::probe(&mut agents, &settings, env)?;
        wrap.iter_mut().try_for_each(|wrap| wrap.probe(&settings, env))?;
    }
    let confinement = System::of(&settings);
    let folders = place::look(&root, env);
    Ok(DoctorReport {
        verdict: verdict::judge(&settings, &project, &agents, wrap.as_ref(), &folders, env),
        version: env!("CARGO_PKG_VERSION"),
        agents,
        wrap,
        confinement,
        processes: Ends::look()?,
        browser: browser::found(env),
        folders,
        project,
    })
}
