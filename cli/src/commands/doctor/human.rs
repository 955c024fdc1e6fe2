//! Formats the results for people: one line with a mark per result, and a closing line.

use skilltune_orchestrator::agent::Real;

use crate::commands::doctor::agent_checks::{AgentSeen, LoginSeen};
use crate::commands::doctor::line::{Line, Mark};
use crate::commands::doctor::place::Place;
use crate::commands::doctor::project::{Lock, OpenRun, Project};
use crate::commands::doctor::rights::{Ends, System};
use crate::commands::doctor::verdict::DoctorVerdict;
use crate::commands::doctor::wrap::WrapSeen;
use crate::commands::doctor::{DoctorReport, rights};
use crate::loops::gan::browser::Found;
use crate::terminal::style::Style;
use crate::text::width::flowed;
use crate::text::{figures, plain};

pub fn render(report: &DoctorReport, width: usize, style: Style) -> String {
    let sections = [
        (
            "agents",
            report
                .agents
                .iter()
                .flat_map(agent_lines)
                .chain(report.wrap.iter().flat_map(wrap_lines))
                .chain([
                    confinement(report.confinement, report.wrap.is_some()),
                    processes(&report.processes),
                    shell(report),
                    browser(report.browser.as_ref()),
                ])
                .collect(),
        ),
        ("folders", report.folders.iter().map(place).collect()),
        ("project", project(&report.project)),
    ];
    let mut lines = vec![format!("skilltune {}", report.version)];
    for (title, inner) in sections {
        lines.extend([String::new(), style.bold(title)]);
        lines.extend(inner.iter().flat_map(|line| line.shown(width, style)));
    }
    lines.push(String::new());
    lines.extend(ending(&report.verdict, width, style));
    lines.join("\n")
}

/// Says whether a run can start, and what else is missing.
fn ending(
    DoctorVerdict { ready, next, for_more }: &DoctorVerdict,
    width: usize,
    style: Style,
) -> Vec<String> {
    let word = match (ready, for_more) {
        (true, None) => "ready:",
        (true, Some(_)) => "ready, with the built-in agent only:",
        (false, _) => "not ready:",
    };
    let mut lines = flowed(&format!("{word} {}", plain::one_line(next)), width, "  ");
    if let Some(first) = lines.first_mut() {
        let painted = if *ready { style.green(word) } else { style.red(word) };
        *first = first.replacen(word, &painted, 1);
    }
    if let Some(more) = for_more {
        lines.extend(flowed(&format!("for more: {}", plain::one_line(more)), width, "  "));
    }
    lines
}

fn good(text: String) -> Line {
    Line { mark: Mark::Good, text }
}

fn absent(text: String) -> Line {
    Line { mark: Mark::Absent, text }
}

fn bad(text: String) -> Line {
    Line { mark: Mark::Bad, text }
}

/// Formats an agent, and below it the result of its call.
fn agent_lines(seen: &AgentSeen) -> Vec<Line> {
    let probe = seen.probe.as_ref().map(|probed| {
        let via = probed.via.map_or(String::new(), |via| format!(" via {via}"));
        let text = format!("{}{via}: {}", seen.name, probed.describe());
        if probed.answered { good(text) } else { bad(text) }
    });
    std::iter::once(agent(seen)).chain(probe).collect()
}

/// Formats the program that agents run in, and below it the result of its call.
fn wrap_lines(seen: &WrapSeen) -> Vec<Line> {
    let WrapSeen { words, path, trouble, described, probe } = seen;
    let found = match (trouble, path) {
        (Some(why), _) => bad(format!("wrapper: {why} ({described})")),
        (None, path) => {
            let path = path.as_deref().unwrap_or_default();
            good(format!("wrapper: agents run in {}, {path} ({described})", words[0]))
        }
    };
    let probe = probe.as_ref().map(|probed| {
        let text = format!("wrapper: {}", probed.describe());
        if probed.answered { good(text) } else { bad(text) }
    });
    std::iter::once(found).chain(probe).collect()
}

/// Formats its version beside the tested one, and its login.
fn more(seen: &AgentSeen) -> String {
    let login = seen.login.as_ref().map(|login| match login {
        LoginSeen::Key(variable) => format!("key in {variable}"),
        LoginSeen::File(file) => format!("login in {file}"),
        LoginSeen::Unseen => "no key or login found".to_owned(),
    });
    let parts = seen.remark.clone().into_iter().chain(login);
    std::iter::once(String::new()).chain(parts).collect::<Vec<_>>().join("; ")
}

fn agent(seen: &AgentSeen) -> Line {
    let AgentSeen { name, program, .. } = seen;
    let Some(path) = &seen.path else {
        let get = seen.get.map_or(String::new(), |get| format!("; {get}"));
        return match &seen.described {
            Some(origin) => bad(format!("{name}: program {program:?} not found ({origin}){get}")),
            None => absent(format!("{name}: not found{get}")),
        };
    };
    let version = seen.version.as_ref().or(seen.trouble.as_ref()).map_or("", String::as_str);
    let roles = match seen.roles.as_slice() {
        [] => String::new(),
        roles => format!("; {}", roles.join(", ")),
    };
    let roles = match &seen.rights {
        Some(rights) => format!("{roles}; rights: {}", rights::describe(rights)),
        None => roles,
    };
    match &seen.described {
        Some(origin) if seen.usable => good(format!("{name}: {version}, {path} ({origin}){roles}")),
        Some(origin) => bad(format!("{name}: {version}, {path} ({origin}){roles}")),
        None if seen.usable && seen.roles.is_empty() => {
            good(format!("{name}: {version}, {path}{}; use it with --agent {name}{roles}", more(seen)))
        }
        None if seen.usable => good(format!("{name}: {version}, {path}{}{roles}", more(seen))),
        None if Real::named(name).is_some() => bad(format!("{name}: {version}, {path}{}{roles}", more(seen))),
        // A wrapper is not an agent.
        None => absent(format!("{name}: {version}, {path}; a wrapper: use it with --via {name}")),
    }
}

/// Formats the system's confinement. The agents' own switches are listed with each agent.
fn confinement(system: System, is_wrapped: bool) -> Line {
    match system {
        System::Enforces if is_wrapped => absent(
            "rights: left to the wrapper (calls.wrap); the kernel confines only the built-in agent and the commands of checks"
                .to_owned(),
        ),
        System::Enforces => {
            good("rights: the kernel confines agents to the folders of their roles".to_owned())
        }
        System::TurnedOff => {
            absent("rights: not enforced by the kernel, because limits.confine is false".to_owned())
        }
        System::Cannot => absent(
            "rights: not enforced by the kernel, which needs Landlock from Linux 6.2 or newer".to_owned(),
        ),
    }
}

/// Formats the browser that renders the pages that `gan` builds.
fn browser(found: Option<&Found>) -> Line {
    let Some(Found { program, axe }) = found else {
        return absent("browser: no Chromium or Chrome; gan judges pages by their source".to_owned());
    };
    let program = plain::one_line(&program.display().to_string());
    match axe {
        Some(axe) => {
            good(format!("browser: {program}, with {}", plain::one_line(&axe.display().to_string())))
        }
        None => absent(format!(
            "browser: {program}, without axe-core, which measures accessibility and contrast; npm install -g axe-core"
        )),
    }
}

/// Explains what `--tools shell` means here.
fn shell(report: &DoctorReport) -> Line {
    let limit = |agent: &AgentSeen| Some(format!("; {} {}", agent.name, agent.shell_limit?));
    let limits: String = report.agents.iter().filter(|agent| agent.usable).filter_map(limit).collect();
    let open = "they can read your files and use the network";
    match report.confinement {
        System::Enforces => good(format!(
            "shell: with --tools shell executors run commands, which the kernel confines to the trial's folders; {open}{limits}"
        )),
        System::TurnedOff => absent(format!(
            "shell: with --tools shell executors run commands, and nothing confines those of claude, gemini and opencode; {open}{limits}"
        )),
        System::Cannot => absent(
            "shell: --tools shell works with codex only, because nothing here confines the others' commands"
                .to_owned(),
        ),
    }
}

fn processes(ends: &Ends) -> Line {
    match ends {
        Ends::Kernel => good("processes: the kernel ends all processes of a call".to_owned()),
        Ends::Search { why } => absent(format!(
            "processes: no namespace ({why}): an agent that kills skilltune and its guardian can leave processes running, and \
             an unconfined agent can read the environment of your other programs"
        )),
    }
}

fn place(seen: &Place) -> Line {
    let Place { what, path, .. } = seen;
    if !seen.writable {
        return bad(format!("{what}: {path} is not writable"));
    }
    let free = seen.free_bytes.map_or(String::new(), |free| format!(", {} free", figures::bytes(free)));
    let held = match (seen.exists, seen.more) {
        (true, false) => figures::bytes(seen.bytes),
        (true, true) => format!("more than {}", figures::bytes(seen.bytes)),
        (false, _) => "not created yet".to_owned(),
    };
    let can = |able: Option<bool>, yes: &'static str, no: &'static str| {
        able.map_or("", |able| if able { yes } else { no })
    };
    let exchange = can(seen.exchange, "", ", no atomic exchange of files");
    let reflink = can(seen.reflink, ", copies share disk space", "");
    good(format!("{what}: {path}: {held}{free}{exchange}{reflink}"))
}

fn project(seen: &Project) -> Vec<Line> {
    let mut lines = vec![good(format!("folder: {}", seen.root))];
    lines.push(match (&seen.settings_error, &seen.settings_file, seen.trusted) {
        (Some(error), ..) => bad(format!("settings: {error}")),
        (None, None, _) => {
            absent("settings: no skilltune.toml; run `skilltune init` to create one".to_owned())
        }
        (None, Some(file), None) => good(format!("settings: {file}, no agents")),
        (None, Some(file), Some(true)) => good(format!("settings: {file}, trusted")),
        (None, Some(file), Some(false)) => bad(format!("settings: {file}, not trusted")),
    });
    lines.push(match &seen.roles_error {
        None => good("roles: every role has an agent".to_owned()),
        Some(why) => absent(format!("roles: {why}")),
    });
    if seen.git {
        lines.push(match seen.ignored {
            Some(false) => bad("git: .skilltune has no .gitignore with `*`".to_owned()),
            Some(true) => good("git: .skilltune is ignored".to_owned()),
            None => good("git: .skilltune will ignore itself".to_owned()),
        });
    }
    let run = |run: &OpenRun| {
        absent(format!("run {}: {}, {}; skilltune status {}", run.id, run.status, run.target, run.id))
    };
    lines.extend(seen.state_error.iter().map(|why| bad(why.clone())));
    lines.extend(seen.runs.iter().map(run));
    lines.extend(seen.damaged.iter().map(|id| bad(format!("run {id}: cannot read its journal"))));
    let lock = |lock: &Lock| {
        absent(format!("lock: process {} on {} since {} ({})", lock.pid, lock.host, lock.since, lock.doing))
    };
    lines.extend(seen.locks.iter().map(lock));
    lines
}

#[cfg(test)]
mod tests;
