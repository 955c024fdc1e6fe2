//! Known agents and those described in the settings: their paths and versions.

use std::time::Duration;

use serde::Serialize;
use skilltune_orchestrator::agent::{Agent, AgentSettings, Login, Real, Via};
use skilltune_phases::skills::offline;

use crate::casting;
use crate::casting::files;
use crate::commands::doctor::probe::Probed;
use crate::commands::doctor::rights::{Rights, System};
use crate::commands::doctor::{probe, rights};
use crate::nights::check::{About, Check, State};
use crate::runs::versions::{self, Asked, Heard};
use crate::settings::Settings;
use crate::settings::common::RoleSettings;
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
    /// Why its command cannot be used as it stands.
    pub bad_command: Option<String>,
    /// Where the settings describe it; none if only its name is known.
    pub described: Option<String>,
    /// Whether a run may start it: it is found, trusted, and described if it needs to be.
    pub usable: bool,
    /// The wrapper of the settings, if it cannot call this agent.
    pub not_via: Option<&'static str>,
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
    pub login: Option<Login>,
    /// The limits of its commands with `--tools shell`, beyond those of all agents.
    pub shell_limit: Option<&'static str>,
    /// The result of its one call, with `--probe`.
    pub probe: Option<Probed>,
    /// Whether `--probe` did not call it, because it is a command.
    #[serde(skip)]
    pub is_left_out: bool,
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
    let known = known().map(|(name, _)| name).filter(|name| !settings.agents.contains_key(*name));
    let names = known.chain(settings.agents.keys().map(String::as_str)).filter(|name| is_wanted(name));
    let found: Vec<(AgentSeen, Option<Asked>)> =
        names.map(|name| AgentSeen::find(name, settings, trusted, env)).collect();
    let asked: Vec<Asked> = found.iter().filter_map(|(_, asked)| asked.clone()).collect();
    let mut heard = versions::ask(&asked, deadline, env)?.into_iter();
    let seen = found.into_iter().map(|(seen, asked)| seen.hear(asked.and_then(|_| heard.next())));
    Ok(seen.map(|seen| seen.completed(settings, env)).collect())
}

/// Makes one call with each real agent that is installed, also if its version is unknown: a slow start is no reason. An
/// agent that fails is not usable.
pub fn probe(seen: &mut [AgentSeen], settings: &Settings, env: &Environment) -> Result<(), Complaint> {
    for seen in &mut *seen {
        seen.is_left_out = seen.described.is_some() && !seen.is_built_in();
    }
    let mut asked: Vec<(&mut AgentSeen, Agent)> = Vec::new();
    for seen in seen.iter_mut().filter(|seen| seen.is_callable()) {
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

/// Why the version of a program is unknown that was not run.
const UNTRUSTED: &str = "version unknown: not trusted, so not run";

fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    let wrappers = Via::ALL.into_iter().map(|via| (via.name(), via.get()));
    Real::ALL.into_iter().map(|real| (real.name(), real.get())).chain(wrappers)
}

fn roles_of(name: &str, settings: &Settings) -> Vec<&'static str> {
    let roles = RoleSettings::REQUIRED.into_iter().zip(settings.roles.required());
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

    /// Finds the program of an agent, and returns the question for its version if the program may be run.
    fn find(name: &str, settings: &Settings, trusted: bool, env: &Environment) -> (Self, Option<Asked>) {
        let entry = settings.agents.get(name);
        let (agent, path) = if let Some(entry) = entry {
            (entry.settings.clone(), casting::program(entry, env).ok())
        } else {
            let command = vec![name.to_owned()];
            (AgentSettings { command, ..AgentSettings::default() }, casting::on_path(name, env).ok())
        };
        let is_foreign = entry.is_some_and(|entry| matches!(entry.origin, Origin::Project(_)));
        let get = known().find(|(known, _)| *known == agent.command[0]).filter(|_| path.is_none());
        let seen = Self {
            name: name.to_owned(),
            program: agent.command[0].clone(),
            path: path.as_ref().map(|path| path.display().to_string()),
            bad_command: entry.and_then(|entry| files::of_agent(entry, env).err()).map(|bad| bad.to_string()),
            described: entry.map(|entry| entry.origin.to_string()),
            get: get.map(|(_, get)| get),
            ..Self::default()
        };
        let program = path.filter(|_| (trusted || !is_foreign) && seen.bad_command.is_none());
        (seen, program.map(|program| Asked { name: name.to_owned(), settings: agent, program }))
    }

    /// Adds the answer to the question for its version; none if it was not asked.
    fn hear(mut self, answer: Option<Heard>) -> Self {
        let (is_described, is_agent) = (self.described.is_some(), Real::named(&self.name).is_some());
        (self.usable, self.version, self.trouble) = match answer {
            Some(Heard::Version(version)) => (is_described || is_agent, Some(version), None),
            // A user's own script may not print a version; a known agent always does.
            Some(Heard::Nothing(why)) => (is_described, None, Some(why)),
            Some(Heard::NotStarted(why)) => (false, None, Some(why)),
            None if self.path.is_none() || self.bad_command.is_some() => (false, None, None),
            None => (false, None, Some(UNTRUSTED.to_owned())),
        };
        self
    }

    /// Adds what the settings and the environment say about it.
    fn completed(self, settings: &Settings, env: &Environment) -> Self {
        let roles = roles_of(&self.name, settings);
        let rights = rights::of(&self.name, settings, System::of(settings));
        let real = Real::named(&self.name).filter(|_| self.described.is_none());
        let (Some(real), Some(path)) = (real, &self.path) else { return Self { roles, rights, ..self } };
        let login = Agent::real(real, None, path.into(), &env.vars).login();
        let remark = self.version.as_ref().and_then(|version| versions::beside(version, real.tested()));
        let (tested, shell_limit) = (Some(real.tested()), real.shell_limit());
        let via: Option<Via> = settings.calls.via.value.into();
        let not_via = via.filter(|_| !Via::calls(real)).map(Via::name);
        let usable = self.usable && not_via.is_none();
        Self { usable, not_via, roles, rights, tested, remark, login, shell_limit, ..self }
    }

    /// Returns whether a call can be tried without settings of its own.
    fn is_callable(&self) -> bool {
        self.path.is_some() && self.described.is_none() && self.not_via.is_none()
    }

    /// Stores the result of a probe, which says more than the version.
    fn take(&mut self, probed: Probed) {
        self.usable = probed.answered;
        self.probe = Some(probed);
    }

    /// Returns whether a call would fail without a login. Some systems keep logins in a key store, where we cannot
    /// see them.
    pub fn lacks_login(&self) -> bool {
        let is_seen = self.probe.as_ref().is_some_and(|probed| probed.answered);
        self.login == Some(Login::Unseen) && !is_seen && cfg!(target_os = "linux")
    }

    /// Returns what to fix if its test call failed.
    pub fn to_fix(&self) -> Option<String> {
        let probed = self.probe.as_ref().filter(|probed| !probed.answered)?;
        let fix = probed.mend.as_ref().or(probed.why.as_ref()).map_or("", String::as_str);
        Some(format!("fix {}, whose test call failed: {fix}", self.name))
    }

    pub fn is_built_in(&self) -> bool {
        self.name == offline::NAME
    }

    /// Returns the check of the agent, and below it the check of its call.
    pub fn checks(&self) -> impl Iterator<Item = Check> {
        let probe = self.probe.as_ref().map(|probed| probed.check(&self.name));
        std::iter::once(self.check()).chain(probe)
    }

    fn check(&self) -> Check {
        let Self { name, program, .. } = self;
        if self.path.is_none() {
            let (state, text) = match &self.described {
                Some(origin) => (State::Broken, format!("{name}: program {program:?} not found ({origin})")),
                None => (State::Unknown, format!("{name}: not found")),
            };
            return Check::new(About::Agents, state, text).with_fix(self.get);
        }
        if let Some(why) = &self.bad_command {
            let text = format!("{name}: {why} ({})", self.described.as_deref().unwrap_or_default());
            return Check::new(About::Agents, State::Broken, text).with_fix(Some(files::FULL_PATH));
        }
        let found = self.version_and_path();
        let is_known = self.described.is_none();
        if is_known && !self.usable && Real::named(name).is_none() {
            // A wrapper is not an agent.
            let text = format!("{found}; a wrapper: use it with --via {name}");
            return Check::new(About::Agents, State::Unknown, text);
        }
        let origin = self.described.as_ref().map_or(String::new(), |origin| format!(" ({origin})"));
        let mut parts = vec![format!("{found}{origin}")];
        parts.extend(self.remark.clone());
        parts.extend(self.login.as_ref().map(login_text));
        parts.extend(self.not_via.map(|via| format!("{via} cannot call it: use it with --via direct")));
        if is_known && self.usable && self.roles.is_empty() {
            parts.push(format!("use it with --agent {name}"));
        }
        parts.extend(self.is_left_out.then(|| "not probed: a command".to_owned()));
        if !self.roles.is_empty() {
            parts.push(self.roles.join(", "));
        }
        parts.extend(self.rights.as_ref().map(|rights| format!("rights: {}", rights::describe(rights))));
        let fix = self.version_fix();
        let is_unsure = self.not_via.is_some() || (self.usable && fix.is_some());
        let state = if is_unsure { State::Unknown } else { State::fine_if(self.usable) };
        Check::new(About::Agents, state, parts.join("; ")).with_fix(fix)
    }

    /// Returns what to do about an unknown version; a call that was answered says more. Whether a user's own command
    /// works cannot be known from it, because it need not know `--version`.
    pub fn version_fix(&self) -> Option<String> {
        let answered = self.probe.as_ref().is_some_and(|probed| probed.answered);
        self.trouble.as_ref().filter(|why| *why != UNTRUSTED && !answered)?;
        let aim = if self.usable { ", if it should know that" } else { " to see why" };
        Some(format!("run `{} --version` by hand{aim}", self.program))
    }

    /// Formats its version, or why that is unknown, and the path of its program.
    pub fn version_and_path(&self) -> String {
        let version = self.version.as_ref().or(self.trouble.as_ref()).map_or("", String::as_str);
        format!("{}: {version}, {}", self.name, self.path.as_deref().unwrap_or_default())
    }
}

pub fn login_text(login: &Login) -> String {
    match login {
        Login::Key(variable) => format!("key in {variable}"),
        Login::File(file) => format!("login in {}", file.display()),
        Login::Unseen => "no key or login found".to_owned(),
    }
}
