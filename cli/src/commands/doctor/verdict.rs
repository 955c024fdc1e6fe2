//! Whether the main job can run with some agent, and the one next step.

use std::path::Path;

use serde::Serialize;
use skilltune_orchestrator::agent::{Real, Via};
use skilltune_phases::loops::tune::Tune;

use crate::casting;
use crate::casting::BuiltIn;
use crate::commands::doctor::agent_checks::AgentSeen;
use crate::commands::doctor::place::Place;
use crate::commands::doctor::project::Project;
use crate::commands::doctor::wrap::WrapSeen;
use crate::report::advice;
use crate::settings::Settings;
use crate::terminal::environment::Environment;
use crate::terminal::style::Style;
use crate::text::plain::{one_line, shell_path};
use crate::text::width::flowed;

#[derive(Debug, Serialize)]
pub struct DoctorVerdict {
    pub ready: bool,
    /// One line: the command to type, or what to fix first.
    pub next: String,
    /// How to get an agent that reads and writes; none if one works.
    pub for_more: Option<String>,
}

impl DoctorVerdict {
    /// Counts every agent and worker that failed a test as a problem, also if a run could start without it.
    pub fn after_tests(self, failed: &[String]) -> Self {
        if failed.is_empty() || !self.ready {
            return self;
        }
        // A user who has installed an agent does not want the built-in one instead.
        let without = self.for_more.is_none().then(|| format!("; or do without: {}", self.next));
        missing(failed.join("; ") + &without.unwrap_or_default())
    }

    /// Says whether a run can start, and what else is missing.
    pub fn lines(&self, width: usize, style: Style) -> Vec<String> {
        let word = match (self.ready, &self.for_more) {
            (true, None) => "ready:",
            (true, Some(_)) => "ready, with the built-in agent only:",
            (false, _) => "not ready:",
        };
        let mut lines = flowed(&format!("{word} {}", one_line(&self.next)), width, "  ");
        if let Some(first) = lines.first_mut() {
            let painted = if self.ready { style.green(word) } else { style.red(word) };
            *first = first.replacen(word, &painted, 1);
        }
        if let Some(more) = &self.for_more {
            lines.extend(flowed(&format!("for more: {}", one_line(more)), width, "  "));
        }
        lines
    }
}

/// Returns what keeps a run from starting, or the command to run.
pub fn judge(
    settings: &Settings,
    project: &Project,
    agents: &[AgentSeen],
    wrap: Option<&WrapSeen>,
    folders: &[Place],
    env: &Environment,
) -> DoctorVerdict {
    if project.settings_error.is_some() {
        return missing("fix the settings; `skilltune config show` prints the error");
    }
    if project.state_error.is_some() {
        return missing("remove files that skilltune did not create from the project's state folder");
    }
    if let Some(folder) = folders.iter().find(|folder| !folder.writable) {
        return missing(format!("make {} writable", folder.path));
    }
    if let Some(fix) = wrap.and_then(WrapSeen::to_fix) {
        return missing(fix);
    }
    let usable = || agents.iter().filter(|agent| agent.usable && !agent.lacks_login());
    let parts = casting::cast(Tune::ROLES, settings, env, BuiltIn::Knows).ok();
    let set = parts.and_then(|parts| {
        let agent = |name: &str| usable().find(|agent| agent.name == name);
        parts.values().map(|part| agent(&part.agent.name)).collect::<Option<Vec<_>>>()
    });
    let other = usable().find(|agent| !agent.is_built_in());
    let with = |agent: &AgentSeen| format!("skilltune tune SKILL --agent {}", agent.name);
    let more = || toward_another(project, agents);
    match (set, other) {
        (Some(set), _) if !set.iter().all(|agent| agent.is_built_in()) => ready("skilltune tune SKILL"),
        (Some(_), other) => {
            let for_more = Some(other.map_or_else(more, with));
            DoctorVerdict { for_more, ..ready("skilltune tune SKILL") }
        }
        (None, Some(other)) => ready(with(other)),
        // A user who has installed an agent does not want the built-in one.
        (None, None) if without_login(agents).is_some() => missing(nobody(agents)),
        (None, None) => match usable().next() {
            Some(built_in) => DoctorVerdict { for_more: Some(more()), ..ready(with(built_in)) },
            None => missing(more()),
        },
    }
}

fn toward_another(project: &Project, agents: &[AgentSeen]) -> String {
    match &project.settings_file {
        Some(file) if project.trusted == Some(false) => {
            format!("read {file}, then run: skilltune trust {}", shell_path(Path::new(file)))
        }
        Some(_) | None => nobody(agents),
    }
}

/// Returns an installed agent that only lacks its login.
fn without_login(agents: &[AgentSeen]) -> Option<&AgentSeen> {
    agents.iter().find(|agent| agent.usable && agent.lacks_login())
}

fn nobody(agents: &[AgentSeen]) -> String {
    if let Some(agent) = without_login(agents) {
        return format!("log in to {}: {}", agent.name, advice::login(&agent.name));
    }
    let name = |agent: &&AgentSeen| {
        agent.described.is_none()
            && agent.path.is_some()
            && Real::named(&agent.name).is_none()
            && Via::named(&agent.name).is_none()
    };
    match agents.iter().find(name).map(|agent| &agent.name) {
        Some(name) => {
            format!("run `skilltune init`, then add [agents.{name}] to skilltune.toml")
        }
        None => {
            "install claude, gemini, codex or opencode, or run `skilltune init` and describe your agent in skilltune.toml"
                .to_owned()
        }
    }
}

fn ready(command: impl Into<String>) -> DoctorVerdict {
    DoctorVerdict { ready: true, next: command.into(), for_more: None }
}

fn missing(what: impl Into<String>) -> DoctorVerdict {
    DoctorVerdict { ready: false, next: what.into(), for_more: None }
}
