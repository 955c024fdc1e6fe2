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

use crate::settings::setting::Range;
use crate::settings::{COUNT, JOBS, POINTS, SECONDS};

/// How thorough a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// 3 rounds, goal 70
    Quick,
    /// 5 rounds, goal 80
    Standard,
    /// 8 rounds, goal 90
    Thorough,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    /// Tune each skill by itself
    Single,
    /// Tune them as a chain: each skill works on the output of the one before
    Chain,
}

/// How the executor gets the skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeliveryName {
    /// `installed` if the agent supports skills, otherwise `inline`
    Auto,
    /// Install the skill where the agent looks for skills; the prompt is only the task
    Installed,
    /// Like `installed`, and the prompt calls /NAME
    Slash,
    /// Put the skill and all its files into the prompt
    Inline,
}

/// When the champion may replace the target. Unset, we ask a person at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApplyWhen {
    /// If it won the final comparison
    Auto,
    /// If it won, and you agree
    Ask,
    /// Never; `skilltune apply` does it later
    Never,
}

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

/// What to do with commands that an agent proposes as checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChecksName {
    /// Show them to you first
    Ask,
    /// Run them without asking, confined by the kernel where possible
    Run,
    /// Let the judge decide instead
    Skip,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSpec {
    #[error("an agent name may contain only letters, digits, `-`, `_` and `.`")]
    Name,
    #[error("a model name must not be empty or start with `-`")]
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

/// The name of a value on the command line.
pub fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().expect("no value is skipped").get_name().to_owned()
}

/// Whether an agent may have this name, which we use before a colon, in keys and in file names.
pub fn is_agent_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed)
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

pub fn rounds(text: &str) -> Result<u32, String> {
    whole(text, COUNT)
}

pub fn jobs(text: &str) -> Result<u32, String> {
    whole(text, JOBS)
}

pub fn points(text: &str) -> Result<Score, String> {
    let score = text.parse().ok().and_then(Score::new);
    score.ok_or_else(|| format!("must be a number {POINTS}"))
}

/// Seconds, or a number with `s`, `m` or `h`.
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

fn whole(text: &str, range: Range) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|number| range.has(f64::from(*number)));
    number.ok_or_else(|| format!("must be a whole number {range}"))
}
