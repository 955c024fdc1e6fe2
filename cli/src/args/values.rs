//! The values that flags and settings share.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use skilltune_orchestrator::agent::Via;
use skilltune_phases::loops::reflex::RunThem;
use skilltune_phases::loops::tune::Apply;
use skilltune_phases::plan::Isolation;
use skilltune_phases::score::Score;
use skilltune_phases::target::Mode;

use crate::settings::{COUNT, JOBS, POINTS, Range, SECONDS};

/// How many rounds, and to what score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// 3 rounds to 70
    Quick,
    /// 5 rounds to 80
    Standard,
    /// 8 rounds to 90
    Thorough,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    /// Each skill by itself
    Single,
    /// All of them in order, each working on what the one before it made
    Chain,
}

/// How the skill comes to its executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeliveryName {
    /// Installed where the agent reads skills, else inline
    Auto,
    /// Where the agent looks for skills; the prompt is the task
    Installed,
    /// The same, called as /NAME
    Slash,
    /// In the prompt, with all its files
    Inline,
}

/// When the champion may replace the target. Unless it is set, a person at the terminal is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApplyWhen {
    /// When it has won
    Auto,
    /// When it has won and a person agrees
    Ask,
    /// Not in this run
    Never,
}

/// How much of your own world the agents are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IsolationName {
    /// Your login, and as little else as their switches allow
    Partial,
    /// An empty configuration folder, and a key from the environment
    Fresh,
    /// Your settings, memory, hooks, MCP servers and skills
    User,
}

/// What stands between us and the agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ViaName {
    /// Nothing
    Direct,
    /// `ccw cli`, which keeps no role to its rights
    Ccw,
    /// `maestro delegate`, the same
    Maestro,
}

/// What is done with the commands that an agent proposes as checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChecksName {
    /// A person is shown them first
    Ask,
    /// They are run unasked, whatever they are, as far as the kernel holds them
    Run,
    /// The judge decides in their place
    Skip,
}

/// How data is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines for people
    #[default]
    Human,
    /// One object or list
    Json,
}

/// How a run is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Streamed {
    /// Lines for people
    #[default]
    Human,
    /// One object at the end
    Json,
    /// Every event on a line of its own
    Jsonl,
}

/// `NAME[:MODEL]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSpec {
    pub agent: String,
    pub model: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSpec {
    #[error("the name of an agent has letters, digits, `-`, `_` and `.` only")]
    Name,
    #[error("a model has a name that does not begin with `-`")]
    Model,
}

impl Preset {
    pub fn rounds(self) -> u32 {
        match self {
            Self::Quick => 3,
            Self::Standard => 5,
            Self::Thorough => 8,
        }
    }

    pub fn threshold(self) -> Score {
        let points = match self {
            Self::Quick => 70.0,
            Self::Standard => 80.0,
            Self::Thorough => 90.0,
        };
        Score::new(points).expect("within 0 to 100")
    }
}

/// The word of a value that can be named on the command line.
pub fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().expect("no value is skipped").get_name().to_owned()
}

/// Whether an agent may have this name: it stands before a colon, in keys and in file names.
pub fn is_agent_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed)
}

impl FromStr for AgentSpec {
    type Err = BadSpec;

    /// Cut at the first colon: models may have some of their own.
    fn from_str(text: &str) -> Result<Self, BadSpec> {
        let (agent, model) = match text.split_once(':') {
            Some((agent, model)) => (agent, Some(model)),
            None => (text, None),
        };
        if !is_agent_name(agent) {
            return Err(BadSpec::Name);
        }
        // What looks like a flag would be taken for one by the agent's program.
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

impl From<ApplyWhen> for Apply {
    fn from(when: ApplyWhen) -> Self {
        match when {
            ApplyWhen::Auto => Self::Auto,
            ApplyWhen::Ask => Self::Ask,
            ApplyWhen::Never => Self::Never,
        }
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

impl From<ChecksName> for RunThem {
    fn from(name: ChecksName) -> Self {
        match name {
            ChecksName::Ask => Self::Ask,
            ChecksName::Run => Self::Always,
            ChecksName::Skip => Self::Never,
        }
    }
}

impl From<ModeName> for Mode {
    fn from(mode: ModeName) -> Self {
        match mode {
            ModeName::Single => Self::Single,
            ModeName::Chain => Self::Chain,
        }
    }
}

pub(super) fn rounds(text: &str) -> Result<u32, String> {
    whole(text, COUNT)
}

pub(super) fn jobs(text: &str) -> Result<u32, String> {
    whole(text, JOBS)
}

pub(super) fn points(text: &str) -> Result<Score, String> {
    let score = text.parse().ok().and_then(Score::new);
    score.ok_or_else(|| format!("must be a number {POINTS}"))
}

/// Seconds, or a number with `s`, `m` or `h`.
pub(super) fn seconds(text: &str) -> Result<u64, String> {
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
    seconds.map(u64::from).ok_or_else(|| format!("must be seconds {SECONDS}, or a number with s, m or h"))
}

fn whole(text: &str, range: Range) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|number| range.has(f64::from(*number)));
    number.ok_or_else(|| format!("must be a whole number {range}"))
}
