//! A command as an agent: an argument array with placeholders, its prompt by stdin or file, its answer from stdout.
//!
//! No shell is ever asked. A placeholder stands for one whole argument or a part of one; what it stands for is never
//! split again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skilltune_phases::event::Spent;
use skilltune_phases::id::Digest;
use skilltune_phases::offline;

/// `[agents.NAME]` of the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    pub command: Vec<String>,
    #[serde(default)]
    pub output: Output,
    /// Seconds; the role's own default otherwise.
    #[serde(default)]
    pub timeout: Option<u64>,
    #[serde(default)]
    pub env: EnvSettings,
    #[serde(default)]
    pub cost: CostPointers,
}

/// Where the answer stands in what the command prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Output {
    /// All of it.
    #[default]
    Text,
    /// A string within a JSON document.
    Pointer(String),
}

/// Names that are passed on from our own environment, and values that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvSettings {
    #[serde(default)]
    pub pass: Vec<String>,
    #[serde(default)]
    pub set: BTreeMap<String, String>,
}

/// JSON pointers into what the command prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostPointers {
    #[serde(default)]
    pub usd: Option<String>,
    #[serde(default)]
    pub input_tokens: Option<String>,
    #[serde(default)]
    pub output_tokens: Option<String>,
}

/// An agent with a model, found on this machine.
#[derive(Clone, Debug)]
pub struct Agent {
    pub name: String,
    pub model: Option<String>,
    settings: AgentSettings,
    program: PathBuf,
    env: Vec<(String, String)>,
    /// Whether it takes a task as data, and no prompt.
    built_in: bool,
}

/// What the placeholders of one call stand for.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    pub workspace: &'a Path,
    pub prompt_file: &'a Path,
}

/// Passed on to every child, when set: enough to find programs, the home and the language.
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

/// A script named among the arguments is part of the agent; anything larger is data.
const SCRIPT_BYTES: u64 = 1 << 20;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("must be \"text\" or a JSON pointer that begins with a slash, not {0:?}")]
pub struct BadOutput(String);

impl Agent {
    /// `program` is where the command's first word was found; `ambient` is our own environment.
    pub fn new(
        name: &str,
        model: Option<String>,
        settings: AgentSettings,
        program: PathBuf,
        ambient: &BTreeMap<String, String>,
    ) -> Self {
        let passed = PASSED.iter().copied().chain(settings.env.pass.iter().map(String::as_str));
        let mut env: BTreeMap<String, String> =
            passed.filter_map(|name| Some((name.to_owned(), ambient.get(name)?.clone()))).collect();
        env.extend(settings.env.set.clone());
        Self {
            name: name.to_owned(),
            model,
            settings,
            program,
            env: env.into_iter().collect(),
            built_in: false,
        }
    }

    /// The agent that is in our own program, which comes to [`crate::offline::offline_main`] when given `hidden_arg`.
    pub fn built_in(program: PathBuf, hidden_arg: &str, ambient: &BTreeMap<String, String>) -> Self {
        let command = vec![offline::NAME.to_owned(), hidden_arg.to_owned()];
        let settings = AgentSettings {
            command,
            output: Output::Text,
            timeout: None,
            env: EnvSettings::default(),
            cost: CostPointers::default(),
        };
        Self { built_in: true, ..Self::new(offline::NAME, None, settings, program, ambient) }
    }

    /// Whether it takes a task as data in place of a prompt.
    pub fn is_built_in(&self) -> bool {
        self.built_in
    }

    pub fn timeout(&self) -> Option<u64> {
        self.settings.timeout
    }

    /// The hash of all that makes this agent answer as it does: settings, model, program, and scripts it names.
    pub fn fingerprint(&self) -> Digest {
        let settings = serde_json::to_vec(&self.settings).expect("settings have a JSON text");
        let model = serde_json::to_vec(&self.model).expect("a name has a JSON text");
        let mut parts = vec![settings, model, contents(&self.program)];
        parts.extend(self.settings.command[1..].iter().map(|argument| contents(Path::new(argument))));
        Digest::of_parts(parts.iter().map(Vec::as_slice))
    }

    pub fn argv(&self, slots: Slots<'_>) -> Vec<String> {
        let program = self.program.to_string_lossy().into_owned();
        let arguments = self.settings.command[1..].iter().map(|argument| self.fill(argument, slots));
        std::iter::once(program).chain(arguments).collect()
    }

    /// The complete environment of a call.
    pub fn env(&self, more: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
        self.env.iter().cloned().chain(more).collect()
    }

    /// Whether the prompt goes to stdin: always, unless the command asks for it as a file.
    pub fn reads_stdin(&self) -> bool {
        !self.settings.command.iter().any(|argument| argument.contains(PROMPT_FILE))
    }

    /// The answer's text, or nothing where the output does not hold one.
    pub fn answer(&self, stdout: &str) -> Option<String> {
        match &self.settings.output {
            Output::Text => Some(stdout.to_owned()),
            Output::Pointer(pointer) => Some(document(stdout)?.pointer(pointer)?.as_str()?.to_owned()),
        }
    }

    pub fn spent(&self, stdout: &str, ms: u64) -> Spent {
        let cost = &self.settings.cost;
        let asked = cost.usd.is_some() || cost.input_tokens.is_some() || cost.output_tokens.is_some();
        let printed = if asked { document(stdout) } else { None };
        let at = |pointer: &Option<String>| printed.as_ref()?.pointer(pointer.as_deref()?);
        Spent {
            ms,
            usd: at(&cost.usd).and_then(Value::as_f64).filter(|usd| usd.is_finite() && *usd >= 0.0),
            input_tokens: at(&cost.input_tokens).and_then(Value::as_u64),
            output_tokens: at(&cost.output_tokens).and_then(Value::as_u64),
            cached: false,
        }
    }

    fn fill(&self, argument: &str, slots: Slots<'_>) -> String {
        let workspace = slots.workspace.to_string_lossy();
        let prompt_file = slots.prompt_file.to_string_lossy();
        let model = self.model.as_deref().unwrap_or_default();
        filled(argument, &[(MODEL, model), (WORKSPACE, &workspace), (PROMPT_FILE, &prompt_file)])
    }
}

/// An argument with what its placeholders stand for; one pass from left to right, so that nothing filled in is ever
/// taken for a placeholder.
pub(crate) fn filled(argument: &str, values: &[(&str, &str)]) -> String {
    let (mut filled, mut rest) = (String::new(), argument);
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some((name, value)) = values.iter().find(|(name, _)| rest.starts_with(name)) {
            filled.push_str(value);
            rest = &rest[name.len()..];
        } else {
            filled.push('{');
            rest = &rest[1..];
        }
    }
    filled + rest
}

const MODEL: &str = "{model}";
const WORKSPACE: &str = "{workspace}";
const PROMPT_FILE: &str = "{prompt_file}";

/// The whole output as JSON, or else its last line: some programs talk before they answer.
fn document(stdout: &str) -> Option<Value> {
    let last = || stdout.lines().rev().find(|line| !line.trim().is_empty());
    serde_json::from_str(stdout).ok().or_else(|| serde_json::from_str(last()?).ok())
}

/// What a path adds to the fingerprint: a small file's bytes, a large one's size and time, nothing otherwise.
fn contents(path: &Path) -> Vec<u8> {
    let Ok(meta) = std::fs::metadata(path) else { return Vec::new() };
    if !meta.is_file() {
        return Vec::new();
    }
    if meta.len() > SCRIPT_BYTES {
        return format!("{} {:?}", meta.len(), meta.modified().ok()).into_bytes();
    }
    std::fs::read(path).unwrap_or_default()
}

impl TryFrom<String> for Output {
    type Error = BadOutput;

    fn try_from(text: String) -> Result<Self, BadOutput> {
        match text.as_str() {
            "text" => Ok(Self::Text),
            pointer if pointer.starts_with('/') => Ok(Self::Pointer(text)),
            _ => Err(BadOutput(text)),
        }
    }
}

impl From<Output> for String {
    fn from(output: Output) -> Self {
        match output {
            Output::Text => "text".to_owned(),
            Output::Pointer(pointer) => pointer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(settings: serde_json::Value) -> Agent {
        let settings = serde_json::from_value(settings).unwrap();
        let ambient = [("PATH", "/bin"), ("SECRET", "s"), ("HOME", "/home/me"), ("KEY", "k")];
        let ambient = ambient.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Agent::new("mine", Some("large".into()), settings, "/bin/mine".into(), &ambient)
    }

    fn slots() -> Slots<'static> {
        Slots { workspace: Path::new("/w/{model}"), prompt_file: Path::new("/p/prompt.md") }
    }

    #[test]
    fn placeholders_are_filled_once_and_other_braces_stand_for_themselves() {
        let command = ["mine", "--model={model}", "{workspace}", "{x} {model} {", "{{model}}", "a b; $(c)"];
        let argv = agent(serde_json::json!({ "command": command })).argv(slots());
        assert_eq!(argv, ["/bin/mine", "--model=large", "/w/{model}", "{x} large {", "{large}", "a b; $(c)"]);
    }

    #[test]
    fn the_prompt_goes_to_stdin_unless_it_is_asked_for_as_a_file() {
        assert!(agent(serde_json::json!({ "command": ["mine", "{model}"] })).reads_stdin());
        assert!(!agent(serde_json::json!({ "command": ["mine", "-f={prompt_file}"] })).reads_stdin());
    }

    #[test]
    fn the_environment_holds_what_is_documented_named_or_set_and_nothing_else() {
        let env = serde_json::json!({ "pass": ["KEY", "ABSENT"], "set": { "MODE": "quiet", "HOME": "/elsewhere" } });
        let agent = agent(serde_json::json!({ "command": ["mine"], "env": env }));
        let env = agent.env([("TMPDIR".to_owned(), "/t".to_owned())]);
        let env: Vec<_> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(env, ["HOME=/elsewhere", "KEY=k", "MODE=quiet", "PATH=/bin", "TMPDIR=/t"]);
    }

    #[test]
    fn the_answer_is_all_of_the_output_or_stands_where_the_pointer_says() {
        let text = agent(serde_json::json!({ "command": ["mine"] }));
        assert_eq!(text.answer("a\nb").as_deref(), Some("a\nb"));
        let pointed = agent(serde_json::json!({ "command": ["mine"], "output": "/a/0" }));
        assert_eq!(pointed.answer(r#"{"a":["yes"]}"#).as_deref(), Some("yes"));
        assert_eq!(pointed.answer("starting up...\n{\"a\":[\"yes\"]}\n").as_deref(), Some("yes"));
        for none in ["", "yes", r#"{"a":[1]}"#, r#"{"b":1}"#] {
            assert_eq!(pointed.answer(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_cost_is_taken_only_when_it_can_be_one() {
        let cost = serde_json::json!({ "usd": "/usd", "input_tokens": "/in", "output_tokens": "/out" });
        let agent = agent(serde_json::json!({ "command": ["mine"], "cost": cost }));
        let spent = agent.spent(r#"{"usd":0.5,"in":10,"out":-3}"#, 7);
        assert_eq!(spent, Spent { ms: 7, usd: Some(0.5), input_tokens: Some(10), ..Spent::default() });
        assert_eq!(agent.spent(r#"{"usd":-1}"#, 0).usd, None);
        assert_eq!(agent.spent("no document", 0).usd, None);
    }

    #[test]
    fn an_edited_script_makes_another_agent() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("agent.py");
        let of = |text: &str| {
            std::fs::write(&script, text).unwrap();
            agent(serde_json::json!({ "command": ["mine", script] })).fingerprint()
        };
        assert_eq!(of("one"), of("one"));
        assert_ne!(of("one"), of("two"));
    }

    #[test]
    fn an_output_is_text_or_a_pointer() {
        let read = |output: &str| serde_json::from_value::<Output>(output.into());
        assert_eq!(read("text").unwrap(), Output::Text);
        assert_eq!(read("/a").unwrap(), Output::Pointer("/a".into()));
        assert!(read("answer").unwrap_err().to_string().contains("begins with a slash"));
    }
}
