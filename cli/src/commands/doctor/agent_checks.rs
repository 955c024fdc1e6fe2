//! Known agents and those described in the settings: their paths and versions.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use skilltune_orchestrator::agent::{Agent, AgentSettings, Login, Real, Via};
use skilltune_phases::skills::offline;

use crate::casting;
use crate::commands::doctor::probe::Probed;
use crate::commands::doctor::rights::{Rights, System};
use crate::commands::doctor::versions::{Asked, Heard};
use crate::commands::doctor::{probe, rights, versions};
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// An agent, found or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentSeen {
    pub name: String,
    pub program: String,
    /// The path of the program, if it was found.
    pub path: Option<String>,
    pub version: Option<String>,
    /// Why the version is unknown.
    pub trouble: Option<String>,
    /// Where the settings describe it; none if only its name is known.
    pub described: Option<String>,
    /// Whether a run may start it: it is found, trusted, and described if it needs to be.
    pub usable: bool,
    /// The roles that the settings assign to it.
    pub roles: Vec<&'static str>,
    /// The mechanism that enforces the rights, by role.
    pub rights: Option<Rights>,
    /// How to install it, if it is missing.
    pub get: Option<&'static str>,
    /// The version that its adapter was tested with.
    pub tested: Option<&'static str>,
    /// How its version compares to the tested one, if it is from another series.
    pub remark: Option<String>,
    /// The place of the agent's login, found without using the login.
    pub login: Option<LoginSeen>,
    /// The limits of its commands with `--tools shell`, beyond those of all agents.
    pub shell_limit: Option<&'static str>,
    /// The result of its one call, with `--probe`.
    pub probe: Option<Probed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoginSeen {
    /// A key in this variable.
    Key(&'static str),
    /// A login in this file.
    File(String),
    /// No login in the places that skilltune checks.
    Unseen,
}

/// Looks at all agents. Finds the programs of an untrusted project but does not run them.
pub fn look(
    settings: &Settings,
    trusted: bool,
    deadline: Duration,
    env: &Environment,
) -> Result<Vec<AgentSeen>, Complaint> {
    let mut seen = look_at(|_| true, settings, trusted, deadline, env)?;
    // The built-in agent is last: all others can do more.
    seen.push(AgentSeen::built_in().completed(settings, env));
    Ok(seen)
}

/// Looks at the agents with these names; the others are not run.
pub fn look_at(
    is_wanted: impl Fn(&str) -> bool,
    settings: &Settings,
    trusted: bool,
    deadline: Duration,
    env: &Environment,
) -> Result<Vec<AgentSeen>, Complaint> {
    let is_looked_at = |name: &str| !settings.agents.contains_key(name) && is_wanted(name);
    let known = known().filter(|(name, _)| is_looked_at(name));
    let mut found: Vec<Found> = known.map(|(name, get)| Found::known(name, get, env)).collect();
    let described = settings.agents.keys().filter(|name| is_wanted(name));
    found.extend(described.map(|name| Found::described(name, settings, trusted, env)));
    let asked: Vec<Asked> = found.iter().filter_map(Found::question).collect();
    let mut heard = versions::ask(&asked, deadline, env)?.into_iter();
    let seen = found.into_iter().map(|found| found.seen(&mut heard));
    Ok(seen.map(|seen| seen.completed(settings, env)).collect())
}

/// Makes one call with each real agent that is installed. An agent that fails is not usable.
pub fn probe(seen: &mut [AgentSeen], settings: &Settings, env: &Environment) -> Result<(), Complaint> {
    let mut asked: Vec<(&mut AgentSeen, Agent)> = Vec::new();
    for seen in seen.iter_mut().filter(|seen| seen.usable && seen.described.is_none()) {
        match Real::named(&seen.name).map(|real| casting::real(real, settings, env)) {
            Some(Ok(agent)) => asked.push((seen, agent)),
            Some(Err(complaint)) => seen.take(Probed::broken(&complaint.what)),
            None => {}
        }
    }
    let agents: Vec<Agent> = asked.iter().map(|(_, agent)| agent.clone()).collect();
    let probed = probe::ask(&agents, casting::system_confines(settings))?;
    asked.into_iter().zip(probed).for_each(|((seen, _), probed)| seen.take(probed));
    Ok(())
}

fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    let wrappers = Via::ALL.into_iter().map(|via| (via.name(), via.get()));
    Real::ALL.into_iter().map(|real| (real.name(), real.get())).chain(wrappers)
}

fn roles_of(name: &str, settings: &Settings) -> Vec<&'static str> {
    let roles = settings.roles.named().into_iter();
    let takes = roles.filter(|(_, role)| role.value.as_ref().is_some_and(|spec| spec.agent == name));
    takes.map(|(role, _)| role).collect()
}

impl AgentSeen {
    fn built_in() -> Self {
        let path = std::env::current_exe().ok().map(|path| path.display().to_string());
        Self {
            name: offline::NAME.to_owned(),
            program: "skilltune".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            described: Some("built in: no model, checks structure only".to_owned()),
            usable: path.is_some(),
            path,
            ..Self::default()
        }
    }

    /// Adds what the settings and the environment say about it.
    fn completed(self, settings: &Settings, env: &Environment) -> Self {
        let roles = roles_of(&self.name, settings);
        let rights = rights::of(&self.name, settings, System::of(settings));
        let real = Real::named(&self.name).filter(|_| self.described.is_none());
        let (Some(real), Some(path)) = (real, &self.path) else { return Self { roles, rights, ..self } };
        let login = Agent::real(real, None, path.into(), &env.vars).login().map(|login| match login {
            Login::Key(variable) => LoginSeen::Key(variable),
            Login::File(file) => LoginSeen::File(file.display().to_string()),
            Login::Unseen => LoginSeen::Unseen,
        });
        let remark = self.version.as_ref().and_then(|version| versions::beside(version, real.tested()));
        let (tested, shell_limit) = (Some(real.tested()), real.shell_limit());
        Self { roles, rights, tested, remark, login, shell_limit, ..self }
    }

    /// Stores the result of a probe. An agent that does not answer is not usable.
    fn take(&mut self, probed: Probed) {
        self.usable &= probed.answered;
        self.probe = Some(probed);
    }

    /// Returns whether a call would fail without a login. Some systems keep logins in a key store, where we cannot
    /// see them.
    pub fn lacks_login(&self) -> bool {
        let is_seen = self.probe.as_ref().is_some_and(|probed| probed.answered);
        self.login == Some(LoginSeen::Unseen) && !is_seen && cfg!(target_os = "linux")
    }

    pub fn has_failed(&self) -> bool {
        self.probe.as_ref().is_some_and(|probed| !probed.answered)
    }

    pub fn is_built_in(&self) -> bool {
        self.name == offline::NAME
    }
}

/// An agent before it was asked for its version.
struct Found {
    name: String,
    settings: AgentSettings,
    path: Option<PathBuf>,
    described: Option<String>,
    trusted: bool,
    get: Option<&'static str>,
}

impl Found {
    fn known(name: &str, get: &'static str, env: &Environment) -> Self {
        let settings = AgentSettings { command: vec![name.to_owned()], ..AgentSettings::default() };
        let path = casting::on_path(name, env).ok();
        Self { name: name.to_owned(), settings, path, described: None, trusted: true, get: Some(get) }
    }

    fn described(name: &str, settings: &Settings, trusted: bool, env: &Environment) -> Self {
        let entry = &settings.agents[name];
        let foreign = matches!(entry.origin, Origin::Project(_));
        let get = known().find(|(known, _)| *known == entry.settings.command[0]);
        Self {
            name: name.to_owned(),
            path: casting::program(entry, env).ok(),
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

    /// Takes its answer from `heard`, which holds the answers in the order of the questions.
    fn seen(self, heard: &mut impl Iterator<Item = Heard>) -> AgentSeen {
        let answer = self.question().and_then(|_| heard.next());
        let started = !matches!(answer, Some(Heard::NotStarted(_)));
        let (version, trouble) = match answer {
            Some(Heard::Version(version)) => (Some(version), None),
            Some(Heard::NotStarted(why) | Heard::Nothing(why)) => (None, Some(why)),
            None if self.path.is_some() => {
                (None, Some("version unknown: not trusted, so not run".to_owned()))
            }
            None => (None, None),
        };
        // A user's own script may not print a version; a known agent always does.
        let ready = match self.described {
            Some(_) => self.trusted && started,
            None => Real::named(&self.name).is_some() && version.is_some(),
        };
        AgentSeen {
            usable: self.path.is_some() && ready,
            get: self.get.filter(|_| self.path.is_none()),
            program: self.settings.command[0].clone(),
            path: self.path.map(|path| path.display().to_string()),
            name: self.name,
            described: self.described,
            version,
            trouble,
            ..AgentSeen::default()
        }
    }
}
