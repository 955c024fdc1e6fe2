//! The agents that we know of, and those that the settings describe: where they are, and what version.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use skilltune_orchestrator::agent::{AgentSettings, CostPointers, EnvSettings, Output};
use skilltune_phases::offline;

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
    /// Whether a run may start it: described, found, trusted.
    pub(super) usable: bool,
    /// How to get it, when it is missing.
    pub(super) get: Option<&'static str>,
}

/// Command-line agents that people have, and how to get them.
const KNOWN: [(&str, &str); 6] = [
    ("claude", "npm install -g @anthropic-ai/claude-code"),
    ("gemini", "npm install -g @google/gemini-cli"),
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
    let known = KNOWN.iter().filter(|(name, _)| !settings.agents.contains_key(*name));
    let mut found: Vec<Found> = known.map(|&(name, get)| Found::known(name, get, around)).collect();
    found.extend(settings.agents.keys().map(|name| Found::described(name, settings, trusted, around)));
    let asked: Vec<Asked> = found.iter().filter_map(Found::question).collect();
    let mut heard = versions::ask(&asked, deadline, around)?.into_iter();
    let mut seen: Vec<AgentSeen> = found.into_iter().map(|found| found.seen(&mut heard)).collect();
    // Last: any other one can do more.
    seen.push(AgentSeen::built_in());
    Ok(seen)
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
        let settings = AgentSettings {
            command: vec![name.to_owned()],
            output: Output::default(),
            timeout: None,
            env: EnvSettings::default(),
            cost: CostPointers::default(),
        };
        let path = which::which_in(name, Some(absolute_path(around)), "/").ok();
        Self { name: name.to_owned(), settings, path, described: None, trusted: true, get: Some(get) }
    }

    fn described(name: &str, settings: &Settings, trusted: bool, around: &Surroundings) -> Self {
        let entry = &settings.agents[name];
        let foreign = matches!(entry.origin, Origin::Project(_));
        let get = KNOWN.iter().find(|(known, _)| *known == entry.settings.command[0]);
        Self {
            name: name.to_owned(),
            path: roles::program(entry, around).ok(),
            settings: entry.settings.clone(),
            described: Some(entry.origin.to_string()),
            trusted: trusted || !foreign,
            get: get.map(|(_, get)| *get),
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
        AgentSeen {
            usable: self.described.is_some() && self.path.is_some() && self.trusted && started,
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

/// The folders of PATH that mean the same wherever we stand: nothing of a repository is run for being in it.
fn absolute_path(around: &Surroundings) -> OsString {
    let path = around.env.get("PATH").map_or("", String::as_str);
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    std::env::join_paths(folders).unwrap_or_default()
}
