//! Experts: personas that an agent plays. An expert is a file; this room reads and writes its formats, from bytes.
//!
//! It knows no folders and no trust: who wrote a file, and whether it may instruct an agent, is decided above.

mod built_in;
mod codex;
mod markdown;

use std::ffi::OsStr;
use std::path::Path;

use serde_json::{Map, Value};

use crate::base::id::Digest;
use crate::base::json::is_invisible;
use crate::base::yaml::Fault;
use crate::skills::skill::SkillError;

pub use built_in::{built_in, specifier, writer};

/// The largest file that is read, in bytes.
pub const LARGEST: u64 = 256 << 10;
/// The longest name, in characters.
const LONGEST_NAME: usize = 64;
/// The file of an expert that has a folder of its own.
pub const PAGE: &str = "AGENT.md";
/// The names of commands, which no expert can have.
pub const RESERVED: [&str; 4] = ["new", "convert", "list", "help"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expert {
    /// Lower-case letters, digits, `-`, `_` and `.`.
    pub name: String,
    pub description: String,
    pub tier: Tier,
    pub pipeline: Option<String>,
    /// What it knows about, in a few words each.
    pub domain: Vec<String>,
    pub kind: Kind,
    /// The instructions for the agent.
    pub persona: String,
    /// The fields that only other programs read, as the file has them.
    pub unknown: Map<String, Value>,
    /// The digest of the file.
    pub digest: Digest,
}

/// How strong a model the expert needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    Frugal,
    #[default]
    Standard,
    Frontier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Role,
    Reviewer,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Front matter and a persona: Claude Code, Gemini CLI, opencode, and gestalt's `AGENT.md`.
    Markdown,
    /// The TOML of Codex.
    Codex,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpertError {
    #[error("it is larger than {} KiB", LARGEST >> 10)]
    TooLarge,
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("U+{0:04X} in line {1} is invisible")]
    Invisible(u32, usize),
    #[error(transparent)]
    FrontMatter(#[from] SkillError),
    #[error("its front matter is not valid YAML: {0}")]
    Yaml(Fault),
    #[error("it is not valid TOML: {0}")]
    Toml(Box<str>),
    #[error("its front matter has no fields")]
    NoFields,
    #[error("it has no `{0}`, or it is empty")]
    Missing(&'static str),
    #[error("its `{key}` must be {must}")]
    Wrong { key: &'static str, must: &'static str },
    #[error("`{0}` is the name of a command")]
    Reserved(String),
    #[error("its name has no letter or digit, or more than {LONGEST_NAME} characters")]
    Name,
    #[error("it is for remote agents, which skilltune does not call")]
    Remote,
    #[error("it is disabled")]
    Disabled,
}

impl Expert {
    /// Reads a file. `stem` is its name without the extension, or the name of its folder: some formats have no other.
    pub fn read(bytes: &[u8], stem: &str, format: Format) -> Result<Self, ExpertError> {
        if bytes.len() as u64 > LARGEST {
            return Err(ExpertError::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| ExpertError::NotText)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        refuse_invisible(text)?;
        let fields = match format {
            Format::Markdown => markdown::fields(text)?,
            Format::Codex => codex::fields(text)?,
        };
        Self::of(fields, stem, Digest::of(bytes))
    }

    /// Returns the file in another format. Markdown keeps the fields that only other programs read; Codex has no place
    /// for them.
    pub fn written(&self, to: Format) -> String {
        match to {
            Format::Markdown => markdown::written(self),
            Format::Codex => codex::written(self),
        }
    }

    /// Returns the fields that ask for something that skilltune does not do, such as `tools`.
    pub fn unsupported(&self) -> impl Iterator<Item = &str> {
        let is_one = |name: &&String| UNSUPPORTED.contains(&name.as_str()) && !self.is_alias(name);
        self.unknown.keys().filter(is_one).map(String::as_str)
    }

    /// Whether the field is the alias of a model, from which the tier was read.
    fn is_alias(&self, name: &str) -> bool {
        name == "model" && self.unknown[name].as_str().is_some_and(|alias| of_alias(alias).is_some())
    }

    fn of(Fields { mut all, persona }: Fields, stem: &str, digest: Digest) -> Result<Self, ExpertError> {
        if is_remote(&all) {
            return Err(ExpertError::Remote);
        }
        let is_on = |value: &Value| value == true || value == "true";
        if ["disabled", "disable"].iter().any(|key| all.get(*key).is_some_and(is_on)) {
            return Err(ExpertError::Disabled);
        }
        let persona = persona.trim().to_owned();
        if persona.is_empty() {
            return Err(ExpertError::Missing("persona"));
        }
        let name = name(&text(&mut all, "name")?.unwrap_or_else(|| stem.to_owned()))?;
        let description = text(&mut all, "description")?.ok_or(ExpertError::Missing("description"))?;
        let pipeline = text(&mut all, "pipeline")?;
        let tier = tier(&mut all)?;
        let domain = domain(&mut all)?;
        all.shift_remove("role");
        let is_reviewer = pipeline.as_deref().map_or_else(|| name.ends_with("reviewer"), |of| of == "review");
        let kind = if is_reviewer { Kind::Reviewer } else { Kind::Role };
        Ok(Self { name, description, tier, pipeline, domain, kind, persona, unknown: all, digest })
    }
}

/// The fields of a file, and its persona.
struct Fields {
    all: Map<String, Value>,
    persona: String,
}

/// The other fields that end a description of several lines.
const KNOWN: [&str; 19] = [
    "author",
    "category",
    "color",
    "description",
    "disable",
    "disabled",
    "domain",
    "emoji",
    "hidden",
    "hint",
    "kind",
    "mode",
    "name",
    "pipeline",
    "role",
    "tier",
    "type",
    "version",
    "vibe",
];

/// The fields of other programs that give an agent abilities, limits or a place that a run of ours does not have.
const UNSUPPORTED: [&str; 38] = [
    "allowed-tools",
    "allowed_tools",
    "approval_policy",
    "auth",
    "background",
    "disallowedTools",
    "effort",
    "escalateTo",
    "hooks",
    "initialPrompt",
    "isolation",
    "maxSteps",
    "maxTurns",
    "max_turns",
    "mcpServers",
    "mcp_servers",
    "memory",
    "model",
    "model_provider",
    "model_reasoning_effort",
    "model_verbosity",
    "omitClaudeMd",
    "permission",
    "permissionMode",
    "permissions",
    "prompt",
    "reasoningEffort",
    "sandbox_mode",
    "sandbox_workspace_write",
    "skills",
    "steps",
    "temperature",
    "textVerbosity",
    "thinkingConfig",
    "timeout_mins",
    "tools",
    "top_p",
    "web_search",
];

impl Tier {
    pub const ALL: [Self; 3] = [Self::Frugal, Self::Standard, Self::Frontier];

    pub fn word(self) -> &'static str {
        match self {
            Self::Frugal => "frugal",
            Self::Standard => "standard",
            Self::Frontier => "frontier",
        }
    }
}

impl Format {
    /// Returns the format of a file with this name, if it can be an expert.
    pub fn of(file: &str) -> Option<Self> {
        let (stem, extension) = file.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "md" if !stem.eq_ignore_ascii_case("readme") => Some(Self::Markdown),
            "toml" => Some(Self::Codex),
            _ => None,
        }
    }
}

/// Returns the name of the expert of a file that gives none: that of the folder of a `PAGE`, else that of the file
/// without its extension.
pub fn stem(path: &Path) -> &str {
    let is_page = path.file_name().is_some_and(|name| name == PAGE);
    let name = if is_page { path.parent().and_then(Path::file_name) } else { path.file_stem() };
    name.and_then(OsStr::to_str).unwrap_or_default()
}

/// Fails if the text has a character that a person who reads the file does not see. `lines` takes a carriage return only
/// from the end of a line.
fn refuse_invisible(text: &str) -> Result<(), ExpertError> {
    let mut lines = (1..).zip(text.lines());
    let found = lines.find_map(|(line, text)| Some((text.chars().find(|c| is_invisible(*c))?, line)));
    found.map_or(Ok(()), |(c, line)| Err(ExpertError::Invisible(u32::from(c), line)))
}

/// Whether Gemini CLI calls another server. The kind may be missing.
fn is_remote(all: &Map<String, Value>) -> bool {
    let has_card = ["agent_card_url", "agent_card_json"].iter().any(|key| all.contains_key(*key));
    has_card || all.get("kind").is_some_and(|kind| kind == "remote")
}

/// Returns the name that a person types: `Frontend Developer` is `frontend-developer`.
pub fn name(given: &str) -> Result<String, ExpertError> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain: String =
        given.trim().to_lowercase().chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let parts = plain.split('-').map(|part| part.trim_matches('.')).filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join("-");
    if !name.contains(char::is_alphanumeric) || name.chars().count() > LONGEST_NAME {
        return Err(ExpertError::Name);
    }
    if RESERVED.contains(&name.as_str()) {
        return Err(ExpertError::Reserved(name));
    }
    Ok(name)
}

/// Takes a field that is a text. An empty one is missing.
fn text(all: &mut Map<String, Value>, key: &'static str) -> Result<Option<String>, ExpertError> {
    match all.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(_) => Err(ExpertError::Wrong { key, must: "a text" }),
    }
}

/// Reads the tier, or that of a model's alias. A model's own name says nothing to other agents.
fn tier(all: &mut Map<String, Value>) -> Result<Tier, ExpertError> {
    let wrong = ExpertError::Wrong { key: "tier", must: "frugal, standard or frontier" };
    if let Some(word) = text(all, "tier")? {
        return Tier::ALL.into_iter().find(|tier| tier.word() == word).ok_or(wrong);
    }
    Ok(all.get("model").and_then(Value::as_str).and_then(of_alias).unwrap_or_default())
}

/// Claude Code also takes `Opus` and `sonnet[1m]`.
fn of_alias(model: &str) -> Option<Tier> {
    match model.split('[').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "haiku" => Some(Tier::Frugal),
        "sonnet" | "inherit" => Some(Tier::Standard),
        "opus" => Some(Tier::Frontier),
        _ => None,
    }
}

/// Reads a list, or a text with commas.
fn domain(all: &mut Map<String, Value>) -> Result<Vec<String>, ExpertError> {
    let wrong = ExpertError::Wrong { key: "domain", must: "a list of texts" };
    let words = match all.shift_remove("domain") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
        Some(Value::Array(words)) => {
            let words: Option<Vec<_>> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            words.ok_or(wrong)?
        }
        Some(_) => return Err(wrong),
    };
    let words = words.iter().map(|word| word.trim().to_owned());
    Ok(words.filter(|word| !word.is_empty()).collect())
}

#[cfg(test)]
mod tests;
