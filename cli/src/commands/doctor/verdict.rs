//! Whether the main job can run with some agent, and the one thing to do now.

use super::agents::AgentSeen;
use super::place::Place;
use super::project::Project;
use crate::folders::Surroundings;
use crate::roles;
use crate::settings::Settings;

pub(super) struct Verdict {
    pub(super) ready: bool,
    pub(super) next: String,
}

/// The first thing that is in the way decides.
pub(super) fn judge(
    settings: &Settings,
    project: &Project,
    agents: &[AgentSeen],
    folders: &[Place],
    around: &Surroundings,
) -> Verdict {
    if project.settings_error.is_some() {
        return missing("put the settings right; `skilltune config show` tells what is wrong");
    }
    if let Some(folder) = folders.iter().find(|folder| !folder.writable) {
        return missing(&format!("make it possible to write in {}", folder.path));
    }
    let usable = |name: &str| agents.iter().any(|agent| agent.usable && agent.name == name);
    let cast = roles::cast(settings, around);
    if cast.is_ok_and(|cast| cast.all().into_iter().all(|part| usable(&part.agent.name))) {
        return ready("skilltune tune SKILL");
    }
    match (agents.iter().find(|agent| agent.usable), &project.settings_file) {
        (Some(agent), _) => ready(&format!("skilltune tune SKILL --agent {}", agent.name)),
        (None, Some(file)) if project.trusted == Some(false) => {
            missing(&format!("read {file}, then: skilltune trust {file}"))
        }
        (None, _) => missing(&nobody(agents)),
    }
}

fn nobody(agents: &[AgentSeen]) -> String {
    let name = |agent: &&AgentSeen| agent.described.is_none() && agent.path.is_some();
    match agents.iter().find(name).map(|agent| &agent.name) {
        Some(name) => {
            format!("describe {name} as [agents.{name}] in skilltune.toml, which `skilltune init` writes")
        }
        None => {
            "install an agent, and describe it in skilltune.toml, which `skilltune init` writes".to_owned()
        }
    }
}

fn ready(command: &str) -> Verdict {
    Verdict { ready: true, next: command.to_owned() }
}

fn missing(what: &str) -> Verdict {
    Verdict { ready: false, next: what.to_owned() }
}
