//! opencode: without a terminal. Each kind of rights is its own agent in the configuration that we pass.
//!
//! Everything that the configuration does not allow is denied: no call has the web, few have a shell, and only calls
//! that must find a skill may load one. No last event reports success: the last step has to stop by itself. After
//! answers that it does not understand it asks forever, and only the deadline ends it.

use std::path::Path;

use serde_json::{Value, json};
use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::event::{Failure, FailureKind, Spent};
use skilltune_phases::runs::plan::Isolation;
use skilltune_phases::suites::transcript::{Call, ToolResult};

use super::credit;
use super::profile::{Ask, CostReport, Env, Profile, Variables, below_home, is_set};
use super::response::{AgentOutput, Life, Response, Talk, events, failed, shortened, text};
use super::skills::Skills;
use crate::process::How;

pub(super) const PROFILE: Profile = Profile {
    name: "opencode",
    // The model family depends on the model.
    family: None,
    get: "npm install -g opencode-ai",
    tested: "1.18.33",
    logins: &[("XDG_DATA_HOME", "opencode/auth.json"), ("HOME", ".local/share/opencode/auth.json")],
    keys: &KEYS,
    has_key: |env| KEYS.iter().any(|key| is_set(env, key)),
    passed: &KEYS,
    service: SERVICE,
    // No background activity, and sessions in memory only.
    set: &[
        ("OPENCODE_DB", ":memory:"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ],
    composed: |env, model| vec![("OPENCODE_CONFIG_CONTENT", configuration(env, model).to_string())],
    variables,
    fitting: |_, _| Vec::new(),
    skills: Some(Skills { at: SKILLS, by_name: false }),
    ends_early: false,
    cost,
    form: None,
    login_at: ".local/share/opencode/auth.json",
    shell: |shell| vec![("SHELL", shell.to_owned())],
    shell_limit: None,
    has_sandbox: false,
    keeps,
    arguments,
    read_response,
    reported_failure: None,
};

const KEYS: [&str; 10] = [
    KEY,
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENCODE_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
];
const KEY: &str = "OPENAI_API_KEY";
/// opencode does not read this itself: it becomes part of the configuration.
const SERVICE: &str = "OPENAI_BASE_URL";
/// The provider of any service with the chat API of `openai`, if the variable names one.
const COMPATIBLE: &str = "openai-compatible";
/// Named in the configuration: with project configuration disabled, opencode does not read this folder by itself.
const SKILLS: &str = ".opencode/skills";
/// After this many steps it asks its model for a summary, which is not an answer. A model that goes on is ended by the
/// deadline.
const STEPS: u64 = 100;

/// Without our title it asks its model for one. Some errors are explained only in its log.
const ALWAYS: [&str; 8] =
    ["run", "--format", "json", "--title", "skilltune", "--print-logs", "--log-level", "ERROR"];

fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let agent = match (ask.rights.has_shell(), ask.skills) {
        _ if ask.rights == Rights::Read => "judge",
        (true, true) => "apprentice",
        (true, false) => "worker",
        (false, true) => "pupil",
        (false, false) => "writer",
    };
    let of_call =
        ["--agent", agent].into_iter().chain(ask.model.into_iter().flat_map(|model| ["--model", model]));
    ALWAYS.into_iter().chain(of_call).map(str::to_owned).collect()
}

fn configuration(env: &Env, model: Option<&str>) -> Value {
    // opencode includes one skill.
    let skill = json!({ "*": "allow", "customize-opencode": "deny" });
    json!({
        "autoupdate": false,
        "share": "disabled",
        "snapshot": false,
        "lsp": false,
        "formatter": false,
        "permission": { "*": "deny", "read": "allow", "glob": "allow", "grep": "allow", "list": "allow" },
        "skills": { "paths": [SKILLS] },
        "agent": {
            "judge": { "mode": "primary", "steps": STEPS },
            "writer": { "mode": "primary", "steps": STEPS, "permission": { "edit": "allow" } },
            "pupil": { "mode": "primary", "steps": STEPS, "permission": { "edit": "allow", "skill": skill } },
            // Without the last permission, no command may name a path outside of the workspace; the system limits
            // writing.
            "worker": { "mode": "primary", "steps": STEPS, "permission": {
                "edit": "allow", "bash": "allow", "external_directory": "allow",
            } },
            "apprentice": { "mode": "primary", "steps": STEPS, "permission": {
                "edit": "allow", "skill": skill, "bash": "allow", "external_directory": "allow",
            } },
        },
        "provider": providers(env, model),
    })
}

/// Returns a different address of the service: for `openai` itself, and for services that are compatible with its chat.
fn providers(env: &Env, model: Option<&str>) -> Value {
    let Some(place) = env.get(SERVICE).filter(|_| is_set(env, SERVICE)) else { return json!({}) };
    let mut providers = json!({
        "openai": { "options": { "baseURL": place } },
        COMPATIBLE: {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": place, "apiKey": format!("{{env:{KEY}}}") },
        },
    });
    // A model that is not in the catalogue has to be named.
    let named = model.and_then(|model| model.split_once('/'));
    if let Some((provider, model)) = named.and_then(|(name, model)| Some((providers.get_mut(name)?, model))) {
        provider["models"] = json!({ model: {} });
    }
    providers
}

/// The catalogue has the price of a model, unless the model's service is only compatible with a known one.
fn cost(model: Option<&str>) -> CostReport {
    match model.and_then(|model| model.split_once('/')) {
        Some((COMPATIBLE, _)) => CostReport::Tokens,
        Some(_) | None => CostReport::Dollars,
    }
}

/// Returns the call's folders. Of the user's files it gets only the logins, which stay where they are.
fn variables(env: &Env, isolation: Isolation, temp: &str) -> Variables {
    const ALONE: [&str; 5] = [
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_PURE",
    ];
    let data = match isolation {
        Isolation::Partial => logins(env),
        Isolation::Fresh => None,
        Isolation::User => return Vec::new(),
    };
    let own = ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"];
    let own = own.into_iter().map(|name| (name, temp.to_owned()));
    let alone = ALONE.into_iter().map(|name| (name, "1".to_owned()));
    own.chain(alone).chain([(DATA, data.unwrap_or_else(|| temp.to_owned()))]).collect()
}

const DATA: &str = "XDG_DATA_HOME";

/// Returns the parent folder of opencode's logins, if there are any.
fn logins(env: &Env) -> Option<String> {
    let of_home = || Some(Path::new(env.get("HOME")?).join(".local/share").to_string_lossy().into_owned());
    let data = env.get(DATA).filter(|_| is_set(env, DATA)).cloned().or_else(of_home)?;
    Path::new(&data).join("opencode").is_dir().then_some(data)
}

/// Returns the folders that opencode may write. It keeps its logs next to its logins.
fn keeps(env: &Env, isolation: Isolation) -> Vec<String> {
    match isolation {
        Isolation::Fresh => Vec::new(),
        Isolation::Partial => logins(env).into_iter().map(|data| format!("{data}/opencode")).collect(),
        Isolation::User => {
            let homes = below_home(env, &[".config/opencode", ".cache/opencode", ".local/state/opencode"]);
            logins(env).map(|data| format!("{data}/opencode")).into_iter().chain(homes).collect()
        }
    }
}

/// The state that the events add up to.
#[derive(Default)]
struct EventState {
    life: Life,
    words: String,
    /// The reason why each step ended.
    ends: Vec<String>,
    error: Option<Value>,
    spent: Spent,
}

fn read_response(left: AgentOutput<'_>) -> Response {
    let (mut talk, mut state) = (Talk::default(), EventState::default());
    for event in events(left.stdout, &mut talk) {
        state.take(&event, &mut talk);
    }
    talk.turns = Some(state.ends.len() as u64).filter(|turns| *turns > 0);
    let spent = Spent { ms: left.ended.took_ms, ..state.spent };
    Response { answer: state.answer(left), spent, talk: Some(talk) }
}

impl EventState {
    fn take(&mut self, event: &Value, talk: &mut Talk) {
        if talk.session.is_none() {
            talk.session = text(event, "sessionID").map(str::to_owned);
        }
        let part = &event["part"];
        if let Some("text" | "reasoning" | "tool_use" | "step_finish") = text(event, "type") {
            self.life = Life::Shown;
        }
        match text(event, "type") {
            // Text before a tool call is not the answer.
            Some("step_start") => self.words.clear(),
            Some("text") => {
                let said = text(part, "text").unwrap_or_default();
                self.words.push_str(said);
                talk.transcript.say(said);
            }
            Some("tool_use") => tool_used(part, talk),
            Some("step_finish") => {
                self.ends.push(text(part, "reason").unwrap_or_default().to_owned());
                self.pay(part);
            }
            Some("error") => self.error = Some(event["error"].clone()),
            Some("reasoning") => {}
            _ => talk.unknown += 1,
        }
    }

    /// Adds the cost of a step. A price of zero means that the model's price is unknown.
    fn pay(&mut self, step: &Value) {
        let tokens = |name: &str| step.pointer(&format!("/tokens/{name}")).and_then(Value::as_u64);
        let sum =
            |names: &[&str]| names.iter().filter_map(|name| tokens(name)).reduce(|one, more| one + more);
        let add = |to: Option<u64>, more: Option<u64>| more.map(|more| to.unwrap_or(0) + more).or(to);
        self.spent.input_tokens = add(self.spent.input_tokens, sum(&["input", "cache/read", "cache/write"]));
        self.spent.output_tokens = add(self.spent.output_tokens, sum(&["output", "reasoning"]));
        let usd = step["cost"].as_f64().filter(|usd| usd.is_finite() && *usd > 0.0);
        self.spent.usd = usd.map(|usd| self.spent.usd.unwrap_or(0.0) + usd).or(self.spent.usd);
    }

    fn answer(self, left: AgentOutput<'_>) -> Result<String, Failure> {
        if let Some(error) = &self.error {
            let why = error.pointer("/data/message").and_then(Value::as_str);
            let logged = || logged(left.stderr).filter(|_| why.is_none_or(|why| why.starts_with(UNTOLD)));
            let why = logged().or(why).or(text(error, "name")).unwrap_or("an error without a message");
            return Err(failed(kind(error, why), why));
        }
        match self.ends.last().map(String::as_str) {
            // Empty steps, one after the other.
            Some("unknown" | "other" | "error") => {
                Err(failed(FailureKind::Network, "the service sent an invalid response"))
            }
            Some(_) if self.ends.len() as u64 >= STEPS => {
                Err(failed(FailureKind::TurnLimit, &format!("it did not finish within {STEPS} steps")))
            }
            Some("stop") => Ok(self.words),
            Some("length") => {
                Err(failed(FailureKind::OutputLimit, "the model was cut off at its output limit"))
            }
            Some("content-filter") => Err(failed(FailureKind::Refused, "the service blocked the answer")),
            Some(_) => Err(left.without_end(self.life)),
            None => Err(not_begun(left, self.life)),
        }
    }
}

/// The message of an error that only the log explains.
const UNTOLD: &str = "Unexpected server error";

/// Returns the last error of the log.
fn logged(stderr: &str) -> Option<&str> {
    stderr.lines().rev().find_map(|line| line.split_once(" error=\"")?.1.split('"').next())
}

fn tool_used(part: &Value, talk: &mut Talk) {
    let tool = text(part, "tool").unwrap_or("a tool");
    let state = &part["state"];
    talk.used(tool);
    let id = text(part, "callID").unwrap_or_default();
    talk.transcript.call(|| Call::new(id, tool, &state["input"], &["filePath", "path"]));
    talk.transcript.result(|| outcome(id, state));
    if text(state, "status") != Some("error") {
        skill_used(tool, state, talk);
    } else if is_denial(text(state, "error").unwrap_or_default()) {
        talk.was_denied(tool);
    }
}

/// Reads a tool's result. A failed command is completed too: its exit code shows the failure.
fn outcome(id: &str, state: &Value) -> ToolResult {
    let exit_code = state.pointer("/metadata/exit").and_then(Value::as_i64);
    ToolResult {
        id: id.to_owned(),
        failed: text(state, "status") == Some("error") || exit_code.is_some_and(|code| code != 0),
        exit_code,
        output: text(state, "output").or(text(state, "error")).unwrap_or_default().to_owned(),
    }
}

/// Records a skill that was loaded, which reports its folder, or whose page was read. A tool is reported at its end, so
/// its call cannot fail later.
fn skill_used(tool: &str, state: &Value, talk: &mut Talk) {
    let (given, folder) = (&state["input"], state.pointer("/metadata/dir").and_then(Value::as_str));
    match (tool, text(given, "name"), text(given, "filePath")) {
        ("skill", Some(skill), _) => {
            talk.skills.loads("", skill);
            if let Some(folder) = folder {
                talk.skills.found_at(folder);
            }
        }
        ("read", _, Some(file)) => talk.skills.reads("", file),
        _ => {}
    }
}

/// Whether a tool was denied: a tool without rights gives the same kind of error as a forbidden one.
fn is_denial(error: &str) -> bool {
    ["prevents you from using", "tried to call unavailable tool", "rejected permission"]
        .iter()
        .any(|words| error.contains(words))
}

fn kind(error: &Value, why: &str) -> FailureKind {
    let lower = why.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|one| lower.contains(one));
    let name = text(error, "name").unwrap_or_default();
    let body = error.pointer("/data/responseBody").and_then(Value::as_str).unwrap_or_default();
    let can_be_tried_again = error.pointer("/data/isRetryable").and_then(Value::as_bool) == Some(true);
    match error.pointer("/data/statusCode").and_then(Value::as_u64) {
        _ if name == "ContextOverflowError" || says(&["context window", "context length", "too long"]) => {
            FailureKind::PromptTooLong
        }
        _ if credit::is_used_up(&lower) || credit::is_used_up(body) => FailureKind::NoCredit,
        _ if says(&["quota", "usage limit", "usage exceeded"]) => FailureKind::UsageLimit,
        Some(402) => FailureKind::NoCredit,
        _ if says(&["billing"]) => FailureKind::NoCredit,
        _ if name == "ProviderAuthError" => FailureKind::Authentication,
        _ if name == "ContentFilterError" => FailureKind::Refused,
        _ if name == "MessageOutputLengthError" => FailureKind::OutputLimit,
        _ if says(&["model not found", "model_not_found", "does not exist"]) => FailureKind::ModelNotFound,
        Some(401) => FailureKind::Authentication,
        Some(403) if says(&["api key"]) => FailureKind::Authentication,
        Some(403) => FailureKind::Forbidden,
        Some(404) => FailureKind::ModelNotFound,
        Some(429) => FailureKind::RateLimited,
        Some(500..) => FailureKind::Overloaded,
        Some(400..) => FailureKind::UsageError,
        _ if says(&["api key", "unauthorized"]) => FailureKind::Authentication,
        _ if can_be_tried_again || says(&["connect", "network", "fetch failed", "timed out", "socket"]) => {
            FailureKind::Network
        }
        _ => FailureKind::Crashed,
    }
}

/// Returns the failure of a call that asked no model: opencode rejects its arguments, or never started.
fn not_begun(left: AgentOutput<'_>, shown: Life) -> Failure {
    let error = left.stderr.lines().map(str::trim).find(|line| line.contains("Error"));
    match (&left.ended.how, error) {
        (How::Exited(1..), Some(line)) => failed(kind_of_start(line), &shortened(line)),
        _ => left.without_end(shown),
    }
}

fn kind_of_start(line: &str) -> FailureKind {
    if line.contains("ModelNotFound") { FailureKind::ModelNotFound } else { FailureKind::UsageError }
}

#[cfg(test)]
mod tests;
