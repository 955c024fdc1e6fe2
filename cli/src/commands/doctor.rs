//! `doctor`: lists installed and missing programs, shows how to install the missing ones, and whether a run can start.
//!
//! It only inspects: it leaves no files, runs nothing untrusted, and waits for no program longer than its deadline. It starts
//! the commands of the user's workers only if asked to.

pub mod agent_checks;
pub mod place;

mod probe;
mod project;
mod rights;
mod verdict;
mod worker_checks;
mod wrap;

use serde::Serialize;

use crate::args::overrides::override_with;
use crate::commands::args::DoctorArgs;
use crate::commands::doctor::agent_checks::AgentSeen;
use crate::commands::doctor::place::Place;
use crate::commands::doctor::project::Project;
use crate::commands::doctor::rights::{Ends, System};
use crate::commands::doctor::verdict::DoctorVerdict;
use crate::commands::doctor::worker_checks::Workers;
use crate::commands::doctor::wrap::WrapSeen;
use crate::loops::gan::browser::{self, Found};
use crate::nights::check::{About, Check, State, sections};
use crate::settings::values::Format;
use crate::terminal::columns;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::style::Style;

/// The results of all checks. Its keys are a public interface.
#[derive(Debug, Serialize)]
struct DoctorReport {
    #[serde(flatten)]
    verdict: DoctorVerdict,
    version: &'static str,
    agents: Vec<AgentSeen>,
    /// The program that wraps agents, if the settings name one: it replaces the system's confinement.
    wrap: Option<WrapSeen>,
    #[serde(flatten)]
    workers: Workers,
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
        Format::Json => printer.json(&report),
    }?;
    Ok(if report.verdict.ready { Exit::Reached } else { Exit::Ended })
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
    let workers =
        if broken.is_none() { Workers::look(args, &mut settings, env)? } else { Workers::default() };
    let project = Project::look(&root, &settings, broken.as_ref(), env);
    let project = Project { trusted_now: args.trust, ..project };
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
    let verdict = verdict::judge(&settings, &project, &agents, wrap.as_ref(), &folders, env);
    let failed: Vec<String> = agents.iter().filter_map(AgentSeen::to_fix).chain(workers.to_fix()).collect();
    Ok(DoctorReport {
        verdict: verdict.after_tests(&failed),
        version: env!("CARGO_PKG_VERSION"),
        agents,
        wrap,
        workers,
        confinement,
        processes: Ends::look()?,
        browser: browser::found(env),
        folders,
        project,
    })
}

/// Formats the results for people: one line with a mark per check, and a closing line.
fn render(report: &DoctorReport, width: usize, style: Style) -> String {
    let mut checks = Vec::new();
    if report.project.settings_error.is_some() {
        let text = "the settings cannot be read, so the agents that they describe were not looked at";
        let fix = report.project.settings_fix.as_deref();
        checks.push(Check::new(About::Agents, State::Broken, text).with_fix(fix));
    }
    checks.extend(report.agents.iter().flat_map(AgentSeen::checks));
    checks.extend(report.wrap.iter().flat_map(WrapSeen::checks));
    checks.extend([
        report.confinement.check(report.wrap.is_some()),
        report.processes.check(),
        shell(report),
        browser_check(report.browser.as_ref()),
    ]);
    checks.extend(report.workers.checks());
    checks.extend(report.folders.iter().map(Place::check));
    checks.extend(report.project.checks());
    let mut lines = vec![format!("skilltune {}", report.version)];
    lines.extend(sections(&checks, width, style));
    lines.push(String::new());
    lines.extend(report.verdict.lines(width, style));
    lines.join("\n")
}

/// Explains what `--tools shell` means here.
fn shell(report: &DoctorReport) -> Check {
    let limit = |agent: &AgentSeen| Some(format!("; {} {}", agent.name, agent.shell_limit?));
    let limits: String = report.agents.iter().filter(|agent| agent.usable).filter_map(limit).collect();
    let (state, confined) = match report.confinement {
        System::Enforces => (State::Fine, "which the kernel confines to the trial's folders"),
        System::TurnedOff => (State::Unknown, "and nothing confines those of claude, gemini and opencode"),
        System::Cannot => {
            let text = "shell: --tools shell works with codex only, because nothing here confines the others' commands";
            return Check::new(About::Agents, State::Unknown, text);
        }
    };
    let open = "they can read your files and use the network";
    let text = format!("shell: with --tools shell executors run commands, {confined}; {open}{limits}");
    Check::new(About::Agents, state, text)
}

/// Returns the check of the browser that renders the pages that `gan` builds.
fn browser_check(found: Option<&Found>) -> Check {
    let (state, text) = match found {
        None => (State::Unknown, "no Chromium or Chrome; gan judges pages by their source".to_owned()),
        Some(Found { program, axe: Some(axe) }) => {
            (State::Fine, format!("{}, with {}", program.display(), axe.display()))
        }
        Some(Found { program, axe: None }) => {
            let lacks =
                "without axe-core, which measures accessibility and contrast; npm install -g axe-core";
            (State::Unknown, format!("{}, {lacks}", program.display()))
        }
    };
    Check::new(About::Agents, state, format!("browser: {text}"))
}

#[cfg(test)]
mod tests;
