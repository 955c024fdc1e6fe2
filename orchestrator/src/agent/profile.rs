//! The properties of an agent that needs no settings: one [`Profile`], in its own file.

use std::collections::BTreeMap;

use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::event::Failure;
use skilltune_phases::runs::plan::Isolation;

use super::response::{AgentOutput, Response};
use super::skills::Skills;
use crate::disk::atomic::{self, Durability};
use crate::disk::{DiskError, Folder};

/// Variables by their names.
pub(super) type Env = BTreeMap<String, String>;

/// Variables that an agent sets.
pub(super) type Variables = Vec<(&'static str, String)>;

/// The properties of an agent. Its functions decide only what depends on the call.
pub(super) struct Profile {
    /// The name of the agent and of its program.
    pub(super) name: &'static str,
    /// The model family of the agent; none if it can use any.
    pub(super) family: Option<&'static str>,
    /// How to install the agent.
    pub(super) get: &'static str,
    /// The version that this profile was tested with.
    pub(super) tested: &'static str,
    /// The files that hold the agent's login, below the folder that a variable names; the first variable that is set
    /// decides.
    pub(super) logins: &'static [(&'static str, &'static str)],
    /// The variables that are passed on from our environment, if set: the agent's login.
    pub(super) passed: &'static [&'static str],
    /// The variable that overrides the address of the agent's service.
    pub(super) service: &'static str,
    pub(super) set: &'static [(&'static str, &'static str)],
    /// The variables that depend on the rest of the environment and on the model.
    pub(super) composed: fn(&Env, Option<&str>) -> Variables,
    /// The variables that depend on the call: those that name its temporary folder, or a folder in it.
    pub(super) variables: fn(&Env, Isolation, temp: &str) -> Variables,
    /// The variables that hold a key, the usual one first. Without any, the agent needs a login.
    pub(super) keys: &'static [&'static str],
    /// Whether the agent would use a key in the environment.
    pub(super) has_key: fn(&Env) -> bool,
    /// The files that the agent needs in the workspace.
    pub(super) fitting: fn(&Env, &Ask<'_>) -> Vec<Fitting>,
    /// Where the agent reads skills, if it reads any.
    pub(super) skills: Option<Skills>,
    /// The agent exits before its output is read, and loses what does not fit into a pipe: it writes to a file.
    pub(super) ends_early: bool,
    /// How the agent reports the cost of a call to this model.
    pub(super) cost: fn(model: Option<&str>) -> CostReport,
    /// How the agent takes a JSON Schema of the answer, if it can enforce one.
    pub(super) form: Option<fn(String) -> Form>,
    /// The path of the agent's login below the home of its commands.
    pub(super) login_at: &'static str,
    /// The variables that make the agent run its commands in this shell instead of the one that it finds.
    pub(super) shell: fn(shell: &str) -> Variables,
    /// A limit of the agent's commands, beyond the limits of all agents.
    pub(super) shell_limit: Option<&'static str>,
    /// The agent runs its commands in its own sandbox, which does not work inside ours.
    pub(super) has_sandbox: bool,
    /// The folders of the agent's login and sessions: it may write there with any rights.
    pub(super) keeps: fn(&Env, Isolation) -> Vec<String>,
    /// The arguments after the program.
    pub(super) arguments: fn(&Ask<'_>) -> Vec<String>,
    pub(super) read_response: fn(AgentOutput<'_>) -> Response,
    /// Finds a failure that the agent reports as text instead of an answer, for callers that see only its text. The
    /// text is in stdout.
    pub(super) reported_failure: Option<fn(AgentOutput<'_>) -> Option<Failure>>,
}

/// How an agent reports the cost of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostReport {
    Dollars,
    /// An estimate is possible with the price of the model.
    Tokens,
    Nothing,
    /// The call has no price: our own program made it, or a command that gets no model.
    Free,
}

/// The requirements of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    /// The agent's environment. Its keys never become arguments.
    pub(super) env: &'a Env,
    pub(super) model: Option<&'a str>,
    pub(super) rights: Rights,
    pub(super) isolation: Isolation,
    /// A skill is installed in the workspace, for the agent to find.
    pub(super) skills: bool,
    /// The call is really made, not only fingerprinted: only then is the user's home read.
    pub(super) is_made: bool,
    /// The most that the call may cost, if that can be enforced.
    pub(super) usd: Option<f64>,
    /// A JSON Schema of the answer, or the file that holds it, if the agent can enforce one.
    pub(super) schema: Option<&'a str>,
}

impl<'a> Ask<'a> {
    /// Returns the minimum that a call with those rights requires.
    pub(super) fn new(env: &'a Env, rights: Rights, isolation: Isolation) -> Self {
        Self { env, model: None, rights, isolation, skills: false, is_made: false, usd: None, schema: None }
    }
}

/// A JSON Schema of an answer, in the form that an agent takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An argument.
    Argument(String),
    /// A file, which an argument names.
    File(String),
}

/// A file in the workspace that the agent needs, and that is not output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitting {
    /// The folder at the top of the workspace.
    pub folder: &'static str,
    pub file: &'static str,
    pub text: String,
}

/// Returns paths below the home, if there is one.
pub(super) fn below_home(env: &Env, names: &[&str]) -> Vec<String> {
    let home = env.get("HOME").into_iter();
    home.flat_map(|home| names.iter().map(move |name| format!("{home}/{name}"))).collect()
}

impl Fitting {
    /// Writes the file into a workspace. The folder may already exist with an installed skill, all of it placed by us.
    pub(crate) fn place(&self, space: &Folder) -> Result<(), DiskError> {
        let folder = space.make_below(self.folder.as_ref())?;
        atomic::replace_in(&folder, self.file.as_ref(), self.text.as_bytes(), Durability::Order)
    }
}

/// Whether a variable is set and not empty.
pub(super) fn is_set(env: &Env, name: &str) -> bool {
    env.get(name).is_some_and(|value| !value.is_empty())
}
