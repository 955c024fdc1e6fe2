//! What we know of an agent that needs no settings: one [`Profile`], in a file of its own.

use std::collections::BTreeMap;

use skilltune_phases::event::Failure;
use skilltune_phases::plan::Isolation;
use skilltune_phases::role::Rights;

use super::response::{AgentOutput, Response};
use super::skills::Skills;
use crate::disk::atomic::{self, Durability};
use crate::disk::{DiskError, Folder};

/// Variables by their names.
pub(super) type Env = BTreeMap<String, String>;

/// Variables that an agent sets.
pub(super) type Variables = Vec<(&'static str, String)>;

/// What we know of an agent; its functions decide only what depends on the call.
pub(super) struct Profile {
    /// Its own name, and its program's.
    pub(super) name: &'static str,
    /// Whose models it asks; none where they are anybody's.
    pub(super) family: Option<&'static str>,
    /// How to get it.
    pub(super) get: &'static str,
    /// The version that all of this was tested with.
    pub(super) tested: &'static str,
    /// Files that hold its login, below the folder that a variable names; the first variable that is set decides.
    pub(super) logins: &'static [(&'static str, &'static str)],
    /// Handed through from our environment, when set: its login.
    pub(super) passed: &'static [&'static str],
    /// The variable that says where its service is, if not where it usually is.
    pub(super) service: &'static str,
    pub(super) set: &'static [(&'static str, &'static str)],
    /// What is set by what else is in the environment, and by the model.
    pub(super) composed: fn(&Env, Option<&str>) -> Variables,
    /// The variables that depend on the call: those that name its temporary folder, or one in it.
    pub(super) variables: fn(&Env, Isolation, temp: &str) -> Variables,
    /// The variables that hold a key, the usual one first: without any, it is logged in or not at all.
    pub(super) keys: &'static [&'static str],
    /// Whether a key in the environment is what it would go by.
    pub(super) has_key: fn(&Env) -> bool,
    /// What has to stand in the workspace.
    pub(super) fitting: fn(&Env, &Ask<'_>) -> Vec<Fitting>,
    /// If it reads any.
    pub(super) skills: Option<Skills>,
    /// It ends before all that it has said is read, and then what no pipe holds is lost: it is given a file.
    pub(super) ends_early: bool,
    /// What it reports of the cost of a call to this model.
    pub(super) cost: fn(model: Option<&str>) -> CostReport,
    /// What it takes a JSON Schema of the answer as, if it can hold its model to one.
    pub(super) form: Option<fn(String) -> Form>,
    /// Where its login stands below the folder that its commands have for a home.
    pub(super) login_at: &'static str,
    /// What makes it run its commands by this shell, in place of one that it finds.
    pub(super) shell: fn(shell: &str) -> Variables,
    /// What its commands cannot do, beyond what all are kept from.
    pub(super) shell_limit: Option<&'static str>,
    /// It holds its commands in walls of its own, which cannot stand within ours.
    pub(super) has_sandbox: bool,
    /// Where it keeps its login and its sessions: it may write there whatever its rights are.
    pub(super) keeps: fn(&Env, Isolation) -> Vec<String>,
    /// What follows the program.
    pub(super) arguments: fn(&Ask<'_>) -> Vec<String>,
    pub(super) read_response: fn(AgentOutput<'_>) -> Response,
    /// The failure that it tells in words in the place of an answer, for who sees nothing but its words: they are what
    /// is on stdout.
    pub(super) reported_failure: Option<fn(AgentOutput<'_>) -> Option<Failure>>,
}

/// What an agent reports of the cost of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostReport {
    Dollars,
    /// With the price of its model they are an estimate.
    Tokens,
    Nothing,
    /// The call has no price: our own program made it, or a command that is told no model.
    Free,
}

/// What a call asks of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    /// Its environment, from which keys never become arguments.
    pub(super) env: &'a Env,
    pub(super) model: Option<&'a str>,
    pub(super) rights: Rights,
    pub(super) isolation: Isolation,
    /// A skill is installed in its workspace, for it to find.
    pub(super) skills: bool,
    /// It is asked for a call, and not to tell what it is: only a call looks at what stands in the user's home.
    pub(super) is_made: bool,
    /// The most that it may cost, where that can be enforced.
    pub(super) usd: Option<f64>,
    /// A JSON Schema of the answer, or the file that holds it, where the agent can hold its model to one.
    pub(super) schema: Option<&'a str>,
}

impl<'a> Ask<'a> {
    /// The least that a call with those rights asks.
    pub(super) fn new(env: &'a Env, rights: Rights, isolation: Isolation) -> Self {
        Self { env, model: None, rights, isolation, skills: false, is_made: false, usd: None, schema: None }
    }
}

/// A JSON Schema of an answer, as an agent takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As an argument.
    Argument(String),
    /// In a file, which an argument names.
    File(String),
}

/// A file that stands in the workspace for the agent's sake, and is nobody's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitting {
    /// The folder at the top of the workspace.
    pub folder: &'static str,
    pub file: &'static str,
    pub text: String,
}

/// Paths below the home, if there is one.
pub(super) fn below_home(env: &Env, names: &[&str]) -> Vec<String> {
    let home = env.get("HOME").into_iter();
    home.flat_map(|home| names.iter().map(move |name| format!("{home}/{name}"))).collect()
}

impl Fitting {
    /// Puts it into a workspace. An installed skill may stand in the folder already, and all that was placed by us.
    pub(crate) fn place(&self, space: &Folder) -> Result<(), DiskError> {
        let folder = space.make_below(self.folder.as_ref())?;
        atomic::replace_in(&folder, self.file.as_ref(), self.text.as_bytes(), Durability::Order)
    }
}

/// Whether a variable holds anything.
pub(super) fn is_set(env: &Env, name: &str) -> bool {
    env.get(name).is_some_and(|value| !value.is_empty())
}
