//! An agent with a model, installed on this machine or on a worker: its command line, its environment, and the reader of
//! its output.

mod elsewhere;
mod fingerprint;
mod login;
mod rights;
mod script;
mod shell;
mod wrap;

pub use elsewhere::{AgentFacts, BadFacts, FactsKind, Wanted};
pub use login::Login;
pub use wrap::Wrap;

use login::redaction;
pub(crate) use rights::Ground;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use skilltune_phases::base::role::Rights;
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::runs::event::Spent;
use skilltune_phases::runs::plan::Isolation;
use skilltune_phases::skills::keys::Keys;
use skilltune_phases::skills::offline;

use super::command::{AgentSettings, EnvSettings, Slots};
use super::profile::{Ask, CostReport, Env, Fitting, Form};
use super::real::Real;
use super::response::{AgentOutput, Life, Response};
use super::skills::Skills;
use super::via::Via;
use crate::disk::{DiskError, OnDisk};
use crate::process::How;

/// An agent with a model, installed on this machine.
#[derive(Clone, Debug)]
pub struct Agent {
    pub name: String,
    pub model: Option<String>,
    program: PathBuf,
    env: Env,
    kind: AgentKind,
    isolation: Isolation,
    via: Option<Through>,
    wrap: Option<Wrap>,
    /// Set for an agent of another machine, which has no program here.
    elsewhere: Option<Box<AgentFacts>>,
}

/// A wrapper, installed on this machine.
#[derive(Clone, Debug)]
struct Through {
    via: Via,
    program: PathBuf,
}

#[derive(Clone, Debug)]
enum AgentKind {
    /// A command from the settings.
    Command(AgentSettings),
    /// Our own program, started with this argument. It takes a task as data, and no prompt.
    BuiltIn(String),
    Real(Real),
}

/// Passed on to every child process, if set: enough to find programs, the home and the language.
const PASSED: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Passed on to the real agents: network settings for their services.
const WAY: [&str; 10] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
];

impl EnvSettings {
    /// Returns the complete environment of a program with these settings.
    pub fn variables(&self, ambient: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let passed = PASSED.into_iter().chain(self.pass.iter().map(String::as_str));
        let mut env = picked(passed, ambient);
        env.extend(self.set.clone());
        env
    }
}

impl Agent {
    /// `program` is the path of the command's first word; `ambient` is our own environment.
    pub fn new(
        name: &str,
        model: Option<String>,
        settings: AgentSettings,
        program: PathBuf,
        ambient: &BTreeMap<String, String>,
    ) -> Self {
        let env = settings.env.variables(ambient);
        Self::bare(name.to_owned(), model, program, env, AgentKind::Command(settings))
    }

    /// Returns the agent in our own program, which calls [`crate::offline::offline_main`] when it gets `hidden_arg`.
    pub fn built_in(program: PathBuf, hidden_arg: &str, ambient: &BTreeMap<String, String>) -> Self {
        let (name, env) = (offline::NAME.to_owned(), picked(PASSED, ambient));
        let kind = AgentKind::BuiltIn(hidden_arg.to_owned());
        Self::bare(name, None, program, env, kind)
    }

    pub fn real(
        real: Real,
        model: Option<String>,
        program: PathBuf,
        ambient: &BTreeMap<String, String>,
    ) -> Self {
        let profile = real.profile();
        let mut env = picked(PASSED.into_iter().chain(WAY).chain(profile.passed.iter().copied()), ambient);
        env.extend(profile.set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        if let Some(place) = ambient.get(profile.service).filter(|place| !place.is_empty()) {
            env.insert(profile.service.to_owned(), place.clone());
        }
        let composed = (profile.composed)(&env, model.as_deref());
        env.extend(composed.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let (name, kind) = (real.name().to_owned(), AgentKind::Real(real));
        Self::bare(name, model, program, env, kind)
    }

    fn bare(name: String, model: Option<String>, program: PathBuf, env: Env, kind: AgentKind) -> Self {
        let isolation = Isolation::Partial;
        Self { name, model, program, env, kind, isolation, via: None, wrap: None, elsewhere: None }
    }

    /// Sets how much of the user's world the agent gets. A command from the settings is not changed.
    #[must_use]
    pub fn isolated(self, isolation: Isolation) -> Self {
        match self.kind {
            AgentKind::Real(_) => Self { isolation, ..self },
            AgentKind::Command(_) | AgentKind::BuiltIn(_) => self,
        }
    }

    /// Calls the agent through an installed wrapper. A command from the settings is not changed.
    #[must_use]
    pub fn through(self, via: Via, program: PathBuf) -> Self {
        match self.kind {
            AgentKind::Real(_) => Self { via: Some(Through { via, program }), ..self },
            AgentKind::Command(_) | AgentKind::BuiltIn(_) => self,
        }
    }

    /// Runs the agent within a wrapper of the user's choice. The built-in agent is our own program, and stays outside.
    #[must_use]
    pub fn wrapped(self, wrap: Wrap) -> Self {
        match self.kind {
            AgentKind::Command(_) | AgentKind::Real(_) => Self { wrap: Some(wrap), ..self },
            AgentKind::BuiltIn(_) => self,
        }
    }

    /// Returns the program of an agent that needs no settings: its version is part of the portable fingerprint.
    pub fn versioned(&self) -> Option<&Path> {
        matches!(self.kind, AgentKind::Real(_)).then_some(&self.program)
    }

    pub fn wrap(&self) -> Option<&Wrap> {
        self.wrap.as_ref()
    }

    pub fn via(&self) -> Option<Via> {
        self.via.as_ref().map(|through| through.via)
    }

    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Whether the agent takes a task as data instead of a prompt.
    pub fn is_built_in(&self) -> bool {
        matches!(self.kind, AgentKind::BuiltIn(_))
    }

    /// Returns the agent's model family, if known.
    pub fn family(&self) -> Option<&'static str> {
        match &self.kind {
            AgentKind::Real(real) => real.family(),
            AgentKind::Command(_) | AgentKind::BuiltIn(_) => None,
        }
    }

    pub fn timeout(&self) -> Option<u64> {
        match &self.kind {
            AgentKind::Command(settings) => settings.timeout,
            AgentKind::BuiltIn(_) | AgentKind::Real(_) => None,
        }
    }

    /// Returns how the agent reports the cost of its calls. A wrapper prints only the answer.
    pub fn cost_report(&self) -> CostReport {
        match (&self.kind, &self.via) {
            (AgentKind::BuiltIn(_), _) => CostReport::Free,
            (AgentKind::Command(_), _) if self.model.is_none() => CostReport::Free,
            (AgentKind::Command(settings), _) => settings.cost.report(),
            (AgentKind::Real(_), Some(_)) => CostReport::Nothing,
            (AgentKind::Real(real), None) => (real.profile().cost)(self.model.as_deref()),
        }
    }

    /// Returns the shape of the agent's verdicts.
    pub fn verdict(&self) -> VerdictShape {
        match &self.kind {
            AgentKind::Command(settings) => settings.verdict,
            AgentKind::BuiltIn(_) | AgentKind::Real(_) => VerdictShape::Evidenced,
        }
    }

    /// Returns the command line of a call; an empty one, which cannot be started, for an agent of another machine.
    pub fn argv(&self, slots: Slots<'_>) -> Vec<String> {
        if self.is_elsewhere() {
            return Vec::new();
        }
        let model = self.model.as_deref();
        let (program, arguments) = match (&self.kind, &self.via) {
            (AgentKind::Command(settings), _) => (&self.program, settings.arguments(model, slots)),
            (AgentKind::BuiltIn(hidden_arg), _) => (&self.program, vec![hidden_arg.clone()]),
            (AgentKind::Real(real), Some(Through { via, program })) => {
                (program, via.arguments(*real, model, slots))
            }
            (AgentKind::Real(real), None) => {
                let Slots { rights, skills, usd, schema, .. } = slots;
                let ask = Ask { model, usd, schema, is_made: true, ..self.ask(rights, skills) };
                (&self.program, (real.profile().arguments)(&ask))
            }
        };
        let wrap = self.wrap.iter().flat_map(|wrap| wrap.argv(slots));
        wrap.chain([program.to_string_lossy().into_owned()]).chain(arguments).collect()
    }

    /// Returns the complete environment of a call with that temporary folder.
    pub fn env(
        &self,
        rights: Rights,
        temp: &Path,
        more: impl IntoIterator<Item = (String, String)>,
    ) -> Vec<(String, String)> {
        let mut env = self.settled(rights, temp);
        self.shell_variables(rights, temp, &mut env);
        env.extend(more);
        env.into_iter().collect()
    }

    /// Returns the environment with the call's own folders.
    fn settled(&self, rights: Rights, temp: &Path) -> Env {
        let temp = temp.to_string_lossy().into_owned();
        let mut env = self.env.clone();
        env.insert("TMPDIR".to_owned(), temp.clone());
        if let AgentKind::Real(real) = self.kind {
            let own = (real.profile().variables)(&env, self.world(rights), &temp);
            let wrappers = self.via().and_then(|via| via.temporary(&temp));
            env.extend(own.into_iter().chain(wrappers).map(|(name, value)| (name.to_owned(), value)));
            self.settle_commands(rights, Path::new(&temp), &mut env);
        }
        env
    }

    /// Makes the folders in the temporary folder that the environment names: not every program makes its own.
    pub(crate) fn furnish(&self, rights: Rights, temp: &Path) -> Result<(), DiskError> {
        let below = |place: &&String| Path::new(place) != temp && Path::new(place).starts_with(temp);
        for place in self.settled(rights, temp).values().filter(below) {
            fs::create_dir_all(place).on_disk("create the folder", place)?;
        }
        self.furnish_shell(rights, temp)
    }

    /// Returns the files that the agent needs in the workspace besides the call's own.
    pub fn agent_files(&self, rights: Rights, skills: bool, prompt: &str) -> Vec<Fitting> {
        match self.kind {
            AgentKind::Real(real) => {
                let own = (real.profile().fitting)(&self.env, &self.ask(rights, skills));
                own.into_iter().chain(self.via().and_then(|via| via.errand(prompt))).collect()
            }
            AgentKind::Command(_) | AgentKind::BuiltIn(_) => Vec::new(),
        }
    }

    /// Returns how the agent reads skills, if it does. Through a wrapper this is unknown.
    pub fn skills(&self) -> Option<Skills> {
        match (&self.kind, &self.via) {
            (AgentKind::Real(real), None) => real.profile().skills,
            (AgentKind::Real(_), Some(_)) | (AgentKind::Command(_) | AgentKind::BuiltIn(_), _) => None,
        }
    }

    /// Returns the minimum that a call with those rights requires.
    fn ask(&self, rights: Rights, skills: bool) -> Ask<'_> {
        Ask { skills, ..Ask::new(&self.env, rights, self.world(rights)) }
    }

    /// Whether the prompt goes to stdin: always, unless the command takes it as a file.
    pub fn reads_stdin(&self) -> bool {
        match &self.kind {
            AgentKind::Command(settings) => settings.reads_stdin(),
            AgentKind::BuiltIn(_) => true,
            AgentKind::Real(_) => self.via.is_none(),
        }
    }

    /// Whether the agent writes its output to a file instead of a pipe.
    pub(crate) fn writes_itself(&self) -> bool {
        match (&self.kind, &self.via) {
            // A wrapper may exit as early as any agent that it wraps.
            (AgentKind::Real(_), Some(_)) => true,
            (AgentKind::Real(real), None) => real.profile().ends_early,
            (AgentKind::Command(_) | AgentKind::BuiltIn(_), _) => false,
        }
    }

    /// Returns a JSON Schema of the answer in the agent's form, if it can enforce one.
    pub(crate) fn form(&self, schema: impl FnOnce() -> Option<String>) -> Option<Form> {
        match (&self.kind, &self.via) {
            (AgentKind::Real(real), None) => {
                let form = real.profile().form?;
                Some(form(schema()?))
            }
            (AgentKind::Real(_), Some(_)) | (AgentKind::Command(_) | AgentKind::BuiltIn(_), _) => None,
        }
    }

    /// Reads the output of a call in that workspace. The transcript has none of the keys; the answer is unchanged.
    pub(crate) fn read_response(&self, left: AgentOutput<'_>, workspace: &Path, keys: &Keys) -> Response {
        let mut response = match (&self.kind, &self.via) {
            (AgentKind::Command(settings), _) => settings.read_response(left),
            // It uses no service: if it does not finish, the task itself is the cause.
            (AgentKind::BuiltIn(_), _) => {
                let response = AgentSettings::default().read_living(left, Life::Shown);
                Response { spent: Spent { usd: Some(0.0), ..response.spent }, ..response }
            }
            (AgentKind::Real(real), Some(through)) => through.via.read_response(*real, left),
            (AgentKind::Real(real), None) => (real.profile().read_response)(left),
        };
        if let Some(talk) = &mut response.talk {
            talk.transcript.total(talk.turns, response.spent.input_tokens, response.spent.output_tokens);
            let transcript = std::mem::take(&mut talk.transcript);
            talk.transcript = transcript.redacted(&redaction(keys, workspace));
        }
        match left.ended.how {
            // The output does not count: the agent may still run, or its end is unknown.
            How::Lost { .. } => Response { answer: Err(left.failure(Life::Shown)), ..response },
            _ => response,
        }
    }
}

fn picked<'a>(names: impl IntoIterator<Item = &'a str>, ambient: &BTreeMap<String, String>) -> Env {
    names.into_iter().filter_map(|name| Some((name.to_owned(), ambient.get(name)?.clone()))).collect()
}

#[cfg(test)]
mod tests;
