//! The values that flags and settings share.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::Seat;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::{Value as Json, json};
use skilltune_orchestrator::agent::{Via, Wrap};
use skilltune_phases::judging::score::Score;
use skilltune_phases::runs::plan::Isolation;

use crate::settings::range::{COUNT, POINTS, SECONDS};

/// How much of your own setup the agents use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IsolationName {
    /// Your login, and as little else as the agent allows
    Partial,
    /// An empty configuration folder and an API key from the environment
    Fresh,
    /// Your settings, memory, hooks, MCP servers and skills
    User,
}

/// The wrapper to call agents with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ViaName {
    /// No wrapper
    Direct,
    /// `ccw cli`; does not enforce the rights of a role
    Ccw,
    /// `maestro delegate`; does not enforce the rights of a role
    Maestro,
}

/// What to do with agents of unknown cost when a run has a limit in money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UnpricedName {
    /// Do not start the run
    Refuse,
    /// Start it; the maximum cost does not count their calls
    Allow,
}

/// The output format of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text
    #[default]
    Human,
    /// JSON object or array
    Json,
}

/// The output format of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Streamed {
    /// Text
    #[default]
    Human,
    /// One JSON object at the end
    Json,
    /// One JSON object per event, one per line
    Jsonl,
}

/// `NAME[:MODEL]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSpec {
    pub agent: String,
    pub model: Option<String>,
}

/// The judges besides the evaluator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel(pub Vec<AgentSpec>);

impl Panel {
    /// The number of seats in a run besides the first.
    pub const MOST: usize = Seat::ALL.len() - 1;

    /// Returns the agent of a role, if it belongs to the panel.
    pub fn of(&self, role: &Role) -> Option<&AgentSpec> {
        Seat::ALL[1..].iter().zip(&self.0).find(|(seat, _)| seat.role() == *role).map(|(_, spec)| spec)
    }
}

impl FromStr for Panel {
    type Err = BadPanel;

    fn from_str(text: &str) -> Result<Self, BadPanel> {
        let specs = text.split(',').map(str::parse).collect::<Result<Vec<AgentSpec>, _>>()?;
        if specs.len() > Self::MOST { Err(BadPanel::TooMany) } else { Ok(Self(specs)) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPanel {
    #[error(transparent)]
    Spec(#[from] BadSpec),
    #[error("at most {} agents can judge besides the evaluator", Panel::MOST)]
    TooMany,
}

/// A program and its arguments to run agents in; an empty list means no wrapper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrapWords(pub Vec<String>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSpec {
    #[error("an agent name may contain only letters, digits, `-`, `_` and `.`")]
    Name,
    #[error("a model name must not be empty or start with `-`")]
    Model,
}

/// Returns the name of a value on the command line.
pub fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().expect("no value is skipped").get_name().to_owned()
}

/// Returns the schema of a value that is one of these names, with what each means.
pub fn words_schema<T: ValueEnum>() -> Json {
    let values: Vec<PossibleValue> =
        T::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let meanings: Option<Vec<String>> =
        values.iter().map(|value| Some(value.get_help()?.to_string())).collect();
    match meanings {
        Some(meanings) => json!({ "enum": names, "x-taplo": { "docs": { "enumValues": meanings } } }),
        None => json!({ "enum": names }),
    }
}

/// The beginning of a pattern of names that an agent may have.
pub const AGENT_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9._-]*";

/// Returns true if an agent may have this name, which is used before a colon, in keys and in file names.
pub fn is_agent_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed)
}

impl WrapWords {
    /// Returns `None` if the words cannot start a program or contain an unknown placeholder.
    pub fn new(words: Vec<String>) -> Option<Self> {
        let starts = words.first().is_none_or(|program| !program.is_empty());
        let is_known = |word: &String| Wrap::unknown_placeholder(word).is_none();
        (starts && words.iter().all(is_known)).then_some(Self(words))
    }
}

impl FromStr for AgentSpec {
    type Err = BadSpec;

    /// Splits at the first colon: a model name may contain more.
    fn from_str(text: &str) -> Result<Self, BadSpec> {
        let (agent, model) = match text.split_once(':') {
            Some((agent, model)) => (agent, Some(model)),
            None => (text, None),
        };
        if !is_agent_name(agent) {
            return Err(BadSpec::Name);
        }
        // The agent's program would take a leading `-` for a flag.
        let acceptable =
            |model: &str| !model.is_empty() && !model.starts_with('-') && !model.contains(char::is_control);
        if !model.is_none_or(acceptable) {
            return Err(BadSpec::Model);
        }
        Ok(Self { agent: agent.to_owned(), model: model.map(str::to_owned) })
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.agent)?;
        self.model.iter().try_for_each(|model| write!(f, ":{model}"))
    }
}

impl From<IsolationName> for Isolation {
    fn from(name: IsolationName) -> Self {
        match name {
            IsolationName::Partial => Self::Partial,
            IsolationName::Fresh => Self::Fresh,
            IsolationName::User => Self::User,
        }
    }
}

impl From<ViaName> for Option<Via> {
    fn from(name: ViaName) -> Self {
        match name {
            ViaName::Direct => None,
            ViaName::Ccw => Some(Via::Ccw),
            ViaName::Maestro => Some(Via::Maestro),
        }
    }
}

pub fn rounds(text: &str) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|number| COUNT.has(f64::from(*number)));
    number.ok_or_else(|| format!("must be a whole number {COUNT}"))
}

pub fn points(text: &str) -> Result<Score, String> {
    let score = text.parse().ok().and_then(Score::new);
    score.ok_or_else(|| format!("must be a number {POINTS}"))
}

pub fn deadline(text: &str) -> Result<Duration, String> {
    seconds(text).map(Duration::from_secs)
}

/// Parses seconds, or a number with `s`, `m` or `h`.
pub fn seconds(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(digits) => (digits, text.as_bytes()[digits.len()]),
        None => (text, b's'),
    };
    let factor = match unit {
        b'h' => 3600,
        b'm' => 60,
        _ => 1,
    };
    let seconds = digits.parse::<u32>().ok().and_then(|number| number.checked_mul(factor));
    let seconds = seconds.filter(|seconds| SECONDS.has(f64::from(*seconds)));
    seconds.map(u64::from).ok_or_else(|| format!("must be {SECONDS} seconds, such as 90, 90s, 10m or 1h"))
}
