//! The program that agents run in: whether it is installed, and with `--probe` whether it starts anything.

use serde::Serialize;
use skilltune_orchestrator::agent::{Agent, AgentSettings};

use crate::casting;
use crate::commands::doctor::probe::{self, Probed};
use crate::nights::check::{About, Check, State};
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrapSeen {
    pub words: Vec<String>,
    /// The path of its program, if it was found.
    pub path: Option<String>,
    /// Why it cannot be used.
    pub trouble: Option<String>,
    pub described: String,
    /// The result of its one call, with `--probe`.
    pub probe: Option<Probed>,
}

/// The command it is asked to start, which needs no agent and exists everywhere.
const ECHO: [&str; 2] = ["echo", "ready"];

/// Returns none if agents run in no other program.
pub fn look(settings: &Settings, env: &Environment) -> Option<WrapSeen> {
    let words = settings.calls.wrap.value.0.clone();
    let (path, trouble) = match casting::wrap::found(settings, env) {
        Ok(wrap) => (Some(wrap?.program().display().to_string()), None),
        Err(complaint) => (None, Some(complaint.what)),
    };
    let described = settings.calls.wrap.origin.to_string();
    Some(WrapSeen { words, path, trouble, described, probe: None })
}

impl WrapSeen {
    /// Makes it start a program that prints one word.
    pub fn probe(&mut self, settings: &Settings, env: &Environment) -> Result<(), Complaint> {
        if self.trouble.is_some() {
            return Ok(());
        }
        let command = ECHO.map(str::to_owned).into();
        let echo = AgentSettings { command, ..AgentSettings::default() };
        let echo = Agent::new(&self.words[0], None, echo, ECHO[0].into(), &env.vars);
        let agent = casting::wrap::wrapped(echo, settings, env)?;
        self.probe = probe::ask(&[agent], casting::system_confines(settings))?.pop();
        Ok(())
    }

    /// Returns the check of the program, and below it the check of its call.
    pub fn checks(&self) -> impl Iterator<Item = Check> {
        let Self { words, path, trouble, described, probe } = self;
        let path = path.as_deref().unwrap_or_default();
        let text = trouble.as_ref().map_or_else(
            || format!("wrapper: agents run in {}, {path} ({described})", words[0]),
            |why| format!("wrapper: {why} ({described})"),
        );
        let found = Check::new(About::Agents, State::fine_if(trouble.is_none()), text);
        std::iter::once(found).chain(probe.as_ref().map(|probed| probed.check("wrapper")))
    }

    /// Returns how to fix what keeps agents from starting, if anything.
    pub fn to_fix(&self) -> Option<String> {
        let name = &self.words[0];
        let has_failed = self.probe.as_ref().is_some_and(|probed| !probed.answered);
        match &self.trouble {
            Some(_) => Some(format!("install {name}, or change calls.wrap ({})", self.described)),
            None => has_failed
                .then(|| format!("make {name} start programs, or change calls.wrap ({})", self.described)),
        }
    }
}
