//! The agents that we know of, and those that the settings describe: where they are, and what version.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use skilltune_orchestrator::agent::{AgentSettings, Real};
use skilltune_phases::offline;
use skilltune_phases::step::Role;

use super::rights::{self, Rights, System};
use super::versions::{self, Asked, Heard};
use crate::complaint::Complaint;
use crate::folders::Surroundings;
use crate::roles;
use crate::settings::{Origin, Settings};

/// An agent, found or not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct AgentSeen {
    pub(super) name: String,
    pub(super) program: String,
    /// Where the program was found.
    pub(super) path: Option<String>,
    pub(super) version: Option<String>,
    /// Why it has told no version.
    pub(super) trouble: Option<String>,
    /// Where the settings describe it; nothing for one that is only known by name.
    pub(super) described: Option<String>,
    /// Whether a run may start it: found, trusted, and described, if it needs to be.
    pub(super) usable: bool,
    /// The roles that the settings give it.
    pub(super) roles: Vec<&'static str>,
    /// Who would keep it to the rights of a role, by role.
    pub(super) rights: Option<Rights>,
    /// How to get it, when it is missing.
    pub(super) get: Option<&'static str>,
}

/// Command-line agents that people have and that have to be described, and how to get them.
const KNOWN: [(&str, &str); 4] = [
    ("codex", "npm install -g @openai/codex"),
    ("opencode", "npm install -g opencode-ai"),
    ("ccw", "it comes with the project Claude Code Workflow"),
    ("maestro", "it comes with the project maestro-flow"),
];

/// All of them; programs of a project that nobody trusts are found, and not run.
pub(super) fn look(
    settings: &Settings,
    trusted: bool,
    deadline: Duration,
    around: &Surroundings,
) -> Result<Vec<AgentSeen>, Complaint> {
    let unlike = |name: &str| !settings.agents.contains_key(name);
    let known = known().filter(|(name, _)| unlike(name));
    let mut found: Vec<Found> = known.map(|(name, get)| Found::known(name, get, around)).collect();
    found.extend(settings.agents.keys().map(|name| Found::described(name, settings, trusted, around)));
    let asked: Vec<Asked> = found.iter().filter_map(Found::question).collect();
    let mut heard = versions::ask(&asked, deadline, around)?.into_iter();
    let mut seen: Vec<AgentSeen> = found.into_iter().map(|found| found.seen(&mut heard)).collect();
    // Last: any other one can do more.
    seen.push(AgentSeen::built_in());
    let system = System::of(settings);
    let completed = |seen: AgentSeen| AgentSeen {
        roles: roles_of(&seen.name, settings),
        rights: rights::of(&seen.name, settings, system),
        ..seen
    };
    Ok(seen.into_iter().map(completed).collect())
}

fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    Real::ALL.into_iter().map(|real| (real.name(), real.get())).chain(KNOWN)
}

fn roles_of(name: &str, settings: &Settings) -> Vec<&'static str> {
    let takes = |role: &Role| settings.roles.of(*role).value.as_ref().is_some_and(|spec| spec.agent == name);
    Role::ALL.into_iter().filter(takes).map(Role::word).collect()
}

impl AgentSeen {
    fn built_in() -> Self {
        let path = std::env::current_exe().ok().map(|path| path.display().to_string());
        Self {
            name: offline::NAME.to_owned(),
            program: "skilltune".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            trouble: None,
            described: Some("built in: no model, looks at structure only".to_owned()),
            usable: path.is_some(),
            path,
            get: None,
            roles: Vec::new(),
            rights: None,
        }
    }

    pub(super) fn is_built_in(&self) -> bool {
        self.name == offline::NAME
    }
}

/// An agent before it is asked for its version.
struct Found {
    name: String,
    settings: AgentSettings,
    path: Option<PathBuf>,
    described: Option<String>,
    trusted: bool,
    get: Option<&'static str>,
}

impl Found {
    fn known(name: &str, get: &'static str, around: &Surroundings) -> Self {
        let settings = AgentSettings { command: vec![name.to_owned()], ..AgentSettings::default() };
        let path = roles::on_path(name, around).ok();
        Self { name: name.to_owned(), settings, path, described: None, trusted: true, get: Some(get) }
    }

    fn described(name: &str, settings: &Settings, trusted: bool, around: &Surroundings) -> Self {
        let entry = &settings.agents[name];
        let foreign = matches!(entry.origin, Origin::Project(_));
        let get = known().find(|(known, _)| *known == entry.settings.command[0]);
        Self {
            name: name.to_owned(),
            path: roles::program(entry, around).ok(),
            settings: entry.settings.clone(),
            described: Some(entry.origin.to_string()),
            trusted: trusted || !foreign,
            get: get.map(|(_, get)| get),
        }
    }

    fn question(&self) -> Option<Asked> {
        let program = self.path.clone().filter(|_| self.trusted)?;
        Some(Asked { name: self.name.clone(), settings: self.settings.clone(), program })
    }

    /// `heard` holds the answers to the questions, in their order.
    fn seen(self, heard: &mut impl Iterator<Item = Heard>) -> AgentSeen {
        let answer = self.question().and_then(|_| heard.next());
        let started = !matches!(answer, Some(Heard::NotStarted(_)));
        let (version, trouble) = match answer {
            Some(Heard::Version(version)) => (Some(version), None),
            Some(Heard::NotStarted(why) | Heard::Nothing(why)) => (None, Some(why)),
            None if self.path.is_some() => (None, Some("not trusted, so it was not asked".to_owned())),
            None => (None, None),
        };
        // A script of somebody's own need not tell a version; an agent that we know does.
        let ready = match self.described {
            Some(_) => self.trusted && started,
            None => Real::named(&self.name).is_some() && version.is_some(),
        };
        AgentSeen {
            usable: self.path.is_some() && ready,
            roles: Vec::new(),
            rights: None,
            get: self.get.filter(|_| self.path.is_none()),
            program: self.settings.command[0].clone(),
            path: self.path.map(|path| path.display().to_string()),
            name: self.name,
            described: self.described,
            version,
            trouble,
        }
    }
}
