//! gemini: Gemini CLI, without a terminal.
//!
//! Without approval of shells it offers none, and without approval of edits no tool that writes. Its exit code is the
//! service's status cut to a byte, or 0 for many failures: the last `result` decides.

use jiff::Timestamp;
use serde_json::{Value, json};
use skilltune_phases::base::model::ModelName;
use skilltune_phases::base::role::{Rights, Writes};
use skilltune_phases::runs::event::{Failure, FailureKind, Spent};
use skilltune_phases::runs::plan::Isolation;
use skilltune_phases::suites::transcript::{Call, ToolResult};

use super::credit;
use super::profile::{Ask, CostReport, Env, Fitting, Profile, Variables, below_home, is_set};
use super::reset_time;
use super::response::{AgentOutput, Life, Response, Talk, events, failed, text};
use super::skills::Skills;
use crate::process::How;

pub(super) const PROFILE: Profile = Profile {
    name: "gemini",
    family: Some("gemini"),
    get: "npm install -g @google/gemini-cli",
    tested: "0.61.0",
    logins: &[
        ("GOOGLE_APPLICATION_CREDENTIALS", ""),
        (HOME, ".gemini/oauth_creds.json"),
        ("HOME", ".gemini/oauth_creds.json"),
    ],
    passed: &[
        HOME,
        KEY,
        "GOOGLE_API_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_GCA",
    ],
    service: SERVICE,
    // Files of the workspace could set any variable that is not set here. One process, so that we can end it. The
    // workspace and its settings are ours, so they are trusted.
    set: &[
        (SERVICE, ""),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("TERM", "dumb"),
    ],
    composed: |_, _| Vec::new(),
    variables,
    keys: &[KEY],
    has_key,
    fitting,
    skills: Some(Skills { at: ".gemini/skills", by_name: false }),
    // It repeats its prompt, and exits after a pipe has taken the first 64 KiB of it.
    ends_early: true,
    cost: |_| CostReport::Tokens,
    form: None,
    login_at: ".gemini/oauth_creds.json",
    // It removes the keys from the environment of its commands itself.
    shell: |_| Vec::new(),
    shell_limit: Some("refuses $( ), backticks and <( ) in commands, but not in scripts"),
    has_sandbox: false,
    keeps,
    arguments,
    read_response,
    reported_failure: Some(reported_failure),
};

/// The folder that holds gemini's `.gemini`.
const HOME: &str = "GEMINI_CLI_HOME";
const KEY: &str = "GEMINI_API_KEY";
const SERVICE: &str = "GOOGLE_GEMINI_BASE_URL";

/// No extensions and no servers of the user: none has that name.
const ALONE: [&str; 4] = ["--extensions", "none", "--allowed-mcp-server-names", "none"];

fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let reads = ask.rights == Rights::Read;
    let mode = if reads { "default" } else { "auto_edit" };
    // The effects of a server are unknown, and an extension may bring one: a judge has neither.
    let alone: &[&str] = match ask.isolation {
        Isolation::User if !reads => &[],
        Isolation::Partial | Isolation::Fresh | Isolation::User => &ALONE,
    };
    let mut arguments = vec!["--output-format".to_owned(), "stream-json".to_owned()];
    arguments.extend(alone.iter().map(|&one| one.to_owned()));
    arguments.extend(["--policy".to_owned(), format!("{FOLDER}/{POLICY}")]);
    arguments.extend(["--approval-mode".to_owned(), mode.to_owned()]);
    arguments.extend(ask.model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()]));
    arguments
}

/// Whether a key is set. With one, gemini gets its own home, and reads nothing of the user's.
fn has_key(env: &Env) -> bool {
    is_set(env, KEY)
        && !["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"].iter().any(|name| is_set(env, name))
}

fn variables(env: &Env, isolation: Isolation, temp: &str) -> Variables {
    if has_own_home(env, isolation) { vec![(HOME, temp.to_owned())] } else { Vec::new() }
}

/// Whether gemini gets its own home: with a key it needs nothing of the user's, unless it should have all of it.
fn has_own_home(env: &Env, isolation: Isolation) -> bool {
    match isolation {
        Isolation::Partial => has_key(env),
        Isolation::Fresh => true,
        Isolation::User => false,
    }
}

/// Returns the folders that gemini may write; none if the call has its own home.
fn keeps(env: &Env, isolation: Isolation) -> Vec<String> {
    match env.get(HOME) {
        _ if has_own_home(env, isolation) => Vec::new(),
        Some(home) => vec![format!("{home}/.gemini")],
        None => below_home(env, &[".gemini"]),
    }
}

/// The folder of gemini's settings, and of the candidate's `skills`.
const FOLDER: &str = ".gemini";
const POLICY: &str = "policy.toml";

/// gemini offers these tools in every mode, and asks no one before it uses the web. Web content comes from strangers,
/// and a subagent has rights that it was not given.
const NO_WEB: &str = "[[rule]]\ntoolName = [\"google_web_search\", \"web_fetch\", \"invoke_agent\"]\n\
    decision = \"deny\"\npriority = 200\n";

/// Without a terminal no one could approve it, and the skill would be useless.
const MAY_USE_SKILLS: &str =
    "[[rule]]\ntoolName = \"activate_skill\"\ndecision = \"allow\"\npriority = 100\n";

const MAY_RUN_COMMANDS: &str =
    "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 100\n";

/// Returns the login method, if the user's settings do not apply.
fn auth(env: &Env, rights: Rights) -> Option<&'static str> {
    if has_key(env) {
        return Some("gemini-api-key");
    }
    (rights.has_shell() && !is_set(env, "GOOGLE_GENAI_USE_VERTEXAI")).then_some("oauth-personal")
}

/// Returns gemini's settings for the workspace, which override the user's, and its policy for skills and tools.
fn fitting(env: &Env, ask: &Ask<'_>) -> Vec<Fitting> {
    let mut settings = json!({
        "general": { "maxAttempts": 2, "enableAutoUpdate": false },
        "model": { "maxSessionTurns": 100 },
        "telemetry": { "enabled": false },
        "privacy": { "usageStatisticsEnabled": false },
        "advanced": { "ignoreLocalEnv": true },
        // A wrapper passes no policy.
        "policyPaths": [format!("{FOLDER}/{POLICY}")],
    });
    match ask.isolation {
        Isolation::Partial | Isolation::Fresh => {
            settings["context"] = json!({ "memoryBoundaryMarkers": [] });
            settings["hooksConfig"] = json!({ "enabled": false });
            // gemini includes two skills.
            settings["skills"] =
                json!({ "enabled": ask.skills, "disabled": ["antigravity-support", "skill-creator"] });
            if let Some(auth) = auth(env, ask.rights) {
                settings["security"] = json!({ "auth": { "selectedType": auth } });
            }
        }
        Isolation::User => {}
    }
    if ask.rights.has_shell() {
        // Variables that look like a key or a login are removed from the environment of commands.
        settings["security"]["environmentVariableRedaction"] = json!({ "enabled": true });
    }
    let file = |file, text| Fitting { folder: FOLDER, file, text };
    // These rules hold even if the user allows more: gemini reads the user's settings when it uses their login.
    let never = |tools| format!("[[rule]]\ntoolName = {tools}\ndecision = \"deny\"\npriority = 999\n");
    let rule = match ask.rights.writes() {
        _ if ask.rights.has_shell() => MAY_RUN_COMMANDS.to_owned(),
        Writes::Workspace | Writes::Draft => never(json!(["run_shell_command"])),
        Writes::Nothing => never(json!(["run_shell_command", "write_file", "replace"])),
    };
    let policy = [rule.as_str(), NO_WEB, if ask.skills { MAY_USE_SKILLS } else { "" }].concat();
    vec![file("settings.json", settings.to_string()), file(POLICY, policy)]
}

/// The state that the events add up to.
#[derive(Default)]
struct EventState {
    begun: bool,
    words: String,
    asked: usize,
    has_acted: bool,
    troubles: Vec<String>,
    result: Option<Value>,
}

fn read_response(left: AgentOutput<'_>) -> Response {
    // An error message should not quote the start-up messages.
    let stderr = left.without_lines(&WARNINGS);
    let left = AgentOutput { stderr: &stderr, ..left };
    let (mut talk, mut state) = (Talk::default(), EventState::default());
    for event in events(left.stdout, &mut talk) {
        state.take(event, &mut talk);
    }
    talk.model = state.result.as_ref().and_then(model);
    let spent = spent(state.result.as_ref(), left.ended.took_ms);
    Response { answer: state.answer(left), spent, talk: Some(talk) }
}

/// Returns the model that used the most tokens: a smaller one may have chosen it. The model at the start is the
/// requested one, which may differ.
fn model(result: &Value) -> Option<ModelName> {
    let models = result.pointer("/stats/models")?.as_object()?;
    let tokens = |of: &Value| of.get("total_tokens").and_then(Value::as_u64).unwrap_or(0);
    models.iter().max_by_key(|(_, of)| tokens(of)).and_then(|(name, _)| ModelName::reported(name))
}

impl EventState {
    fn take(&mut self, event: Value, talk: &mut Talk) {
        let content = text(&event, "content").unwrap_or_default();
        match (text(&event, "type"), text(&event, "role")) {
            (Some("init"), _) => {
                self.begun = true;
                talk.session = text(&event, "session_id").map(str::to_owned);
            }
            (Some("message"), Some("assistant")) => {
                self.words.push_str(content);
                talk.transcript.continue_text(content);
            }
            (Some("message"), _) => self.asked += content.len(),
            (Some("tool_use"), _) => {
                // Text before a tool call is not the answer.
                self.words.clear();
                self.has_acted = true;
                tool_used(&event, talk);
            }
            (Some("tool_result"), _) => {
                denied(&event, talk);
                talk.transcript.result(|| outcome(&event));
                skill_loaded(&event, talk);
            }
            (Some("error"), _) => {
                self.troubles.push(text(&event, "message").unwrap_or_default().to_owned());
            }
            (Some("result"), _) => self.result = Some(event),
            _ => talk.unknown += 1,
        }
    }

    fn answer(self, left: AgentOutput<'_>) -> Result<String, Failure> {
        let Some(result) = &self.result else { return Err(self.without_result(left)) };
        let looping = self.troubles.iter().find(|trouble| trouble.contains("Loop detected"));
        if let Some(trouble) = looping {
            return Err(failed(FailureKind::TurnLimit, trouble));
        }
        if text(result, "status") == Some("success") {
            return if self.was_too_much() { Err(self.too_long()) } else { Ok(self.words) };
        }
        let error = result.pointer("/error/message").and_then(Value::as_str).map(str::to_owned);
        let why = error
            .or(self.troubles.into_iter().next_back())
            .unwrap_or("an error without a message".to_owned());
        let typed = result.pointer("/error/type").and_then(Value::as_str).unwrap_or_default();
        let missing = left.stderr.contains("ModelNotFoundError");
        let failure = failed(kind(typed, &why, status(&why, left), missing, left.at), &why);
        let resets_at = reset_time::find(&why, left.at).or_else(|| reset_time::find(left.stderr, left.at));
        Err(reset_time::with_reset_time(failure, resets_at, left.at))
    }

    fn without_result(&self, left: AgentOutput<'_>) -> Failure {
        match &left.ended.how {
            How::Exited(41) => failed(FailureKind::Authentication, &last_words(left)),
            How::Exited(42 | 44 | 52 | 55) => failed(FailureKind::UsageError, &last_words(left)),
            How::Exited(1..) if !self.begun => failed(FailureKind::UsageError, &last_words(left)),
            How::Exited(0) if self.was_too_much() => self.too_long(),
            _ => left.without_end(self.life()),
        }
    }

    fn life(&self) -> Life {
        if self.has_acted || !self.words.is_empty() { Life::Shown } else { Life::NoSign }
    }

    /// Whether the prompt was too long: gemini never sends such a prompt, and reports success.
    fn was_too_much(&self) -> bool {
        self.asked > LONG && !self.has_acted && self.words.is_empty()
    }

    fn too_long(&self) -> Failure {
        failed(FailureKind::PromptTooLong, &format!("no answer to a prompt of {} bytes", self.asked))
    }
}

/// A prompt of this many bytes has more than a million tokens, or nearly so, and is dropped silently.
const LONG: usize = 2_000_000;

fn tool_used(event: &Value, talk: &mut Talk) {
    let name = text(event, "tool_name").unwrap_or("a tool");
    talk.used(name);
    let (call, given) = (text(event, "tool_id").unwrap_or_default(), &event["parameters"]);
    talk.transcript.call(|| Call::new(call, name, given, &["file_path", "path"]));
    match (name, text(given, "name"), text(given, "file_path")) {
        ("activate_skill", Some(skill), _) => talk.skills.loads(call, skill),
        ("read_file", _, Some(file)) => talk.skills.reads(call, file),
        _ => {}
    }
}

/// Reads a tool's result. gemini reports a failed command as a success, without its exit code.
fn outcome(event: &Value) -> ToolResult {
    let error = event.pointer("/error/message").and_then(Value::as_str);
    ToolResult {
        id: text(event, "tool_id").unwrap_or_default().to_owned(),
        failed: text(event, "status") == Some("error"),
        exit_code: None,
        output: text(event, "output").or(error).unwrap_or_default().to_owned(),
    }
}

/// Finds the folder of a skill in the result of its activation.
fn skill_loaded(event: &Value, talk: &mut Talk) {
    if text(event, "status") == Some("error") {
        talk.skills.failed(text(event, "tool_id").unwrap_or_default());
    }
    let said =
        text(event, "output").and_then(|output| output.split_once(" activated. Resources loaded from `"));
    if let Some((folder, _)) = said.and_then(|(_, rest)| rest.split_once('`')) {
        talk.skills.found_at(folder);
    }
}

fn denied(event: &Value, talk: &mut Talk) {
    let error = |key| event.pointer(key).and_then(Value::as_str).unwrap_or_default();
    let is_denial = match error("/error/type") {
        "tool_not_registered" | "policy_violation" | "execution_denied" | "path_not_in_workspace" => true,
        // Most of gemini's tools report a path outside as a wrong parameter.
        "invalid_tool_params" => error("/error/message").starts_with("Path not in workspace"),
        _ => false,
    };
    if is_denial {
        // The id begins with the tool's name.
        let id = text(event, "tool_id").unwrap_or("a tool");
        talk.was_denied(id.split("__").next().unwrap_or(id));
    }
}

/// Matches messages of the service that it does not accept a key, whatever their status.
const NOT_ACCEPTED: [&str; 4] =
    ["api key not valid", "api_key_invalid", "use another api key", "unregistered callers"];

fn kind(typed: &str, why: &str, status: Option<u64>, missing: bool, at: Timestamp) -> FailureKind {
    let lower = why.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|one| lower.contains(one));
    match status {
        _ if typed == "FatalTurnLimitedError" => FailureKind::TurnLimit,
        _ if says(&["empty response"]) => FailureKind::Empty,
        _ if says(&["exceeds the maximum number of tokens", "input token count"]) => {
            FailureKind::PromptTooLong
        }
        // A model that is "exhausted" may be available again in a few seconds: then the message says when.
        _ if says(&["exhausted your capacity"]) && reset_time::find(why, at).is_some() => {
            FailureKind::RateLimited
        }
        _ if says(&["daily quota", "exhausted your"]) => FailureKind::UsageLimit,
        _ if credit::is_used_up(&lower) => FailureKind::NoCredit,
        _ if says(&NOT_ACCEPTED) => FailureKind::Authentication,
        Some(401) => FailureKind::Authentication,
        Some(403) => FailureKind::Forbidden,
        Some(404) => FailureKind::ModelNotFound,
        _ if missing => FailureKind::ModelNotFound,
        Some(429) => FailureKind::RateLimited,
        Some(500..) => FailureKind::Overloaded,
        Some(400..) => FailureKind::UsageError,
        _ if says(&["terminated", "fetch failed", "socket", "econn", "incomplete json", "finish reason"]) => {
            FailureKind::Network
        }
        _ => FailureKind::Crashed,
    }
}

/// The lines that gemini prints on stderr in every call.
const WARNINGS: [&str; 7] = [
    "Warning: Basic terminal detected",
    "Warning: 256-color support not detected",
    "Warning: True color",
    "Ripgrep is not available",
    "YOLO mode is enabled",
    "Loaded cached credentials",
    "[STARTUP] ",
];

/// Finds gemini's error in stderr that a wrapper printed instead of an answer: warnings, which come before any answer,
/// and then the error with its stack trace.
fn reported_failure(left: AgentOutput<'_>) -> Option<Failure> {
    const ERRORS: [&str; 3] =
        ["Error when talking to Gemini API", "Error generating content via API", "Attempt "];
    let begins = |line: &str, with: &[&str]| with.iter().any(|one| line.starts_with(one));
    let lines = || left.stdout.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| begins(line, &ERRORS);
    if !lines().next().is_some_and(|first| begins(first, &WARNINGS) || is_error(&first)) {
        return None;
    }
    let last = lines().rfind(is_error).filter(|_| lines().any(|line| line.starts_with("at ")));
    let Some(last) = last else {
        let has_more = lines().any(|line| !begins(line, &WARNINGS) && !line.starts_with("Warning: "));
        return (!has_more).then(|| failed(FailureKind::Empty, "warnings, and no answer"));
    };
    // The report file that it names is deleted with the call.
    let why = last.split_once(".json ").filter(|_| last.contains("Full report available at"));
    let why = why.map_or(last, |(_, error)| error);
    let mut sent = ["\"code\":", "status: "].iter().filter_map(|key| left.stdout.rsplit_once(key));
    let digits = |rest: &str| rest.trim_start().chars().take_while(char::is_ascii_digit).collect::<String>();
    let status = sent.find_map(|(_, rest)| digits(rest).parse().ok());
    let missing = left.stdout.contains("ModelNotFoundError");
    let resets_at = reset_time::find(left.stdout, left.at);
    let failure = failed(kind("", why, status, missing, left.at), why);
    Some(reset_time::with_reset_time(failure, resets_at, left.at))
}

/// Returns the service's status: from the error, or from the exit code, which is its lowest byte.
fn status(why: &str, left: AgentOutput<'_>) -> Option<u64> {
    let sent = why.split_once("\"code\":").map(|(_, rest)| rest);
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    if let Some(status) = sent.and_then(|rest| digits(rest.trim_start()).parse().ok()) {
        return Some(status);
    }
    let How::Exited(code) = left.ended.how else { return None };
    let statuses = [400, 401, 403, 404, 429, 500, 502, 503, 504];
    statuses.into_iter().find(|status| i64::from(code) == (*status & 0xff)).map(i64::unsigned_abs)
}

fn last_words(left: AgentOutput<'_>) -> String {
    left.last_words().unwrap_or_else(|| "no output".to_owned())
}

fn spent(result: Option<&Value>, ms: u64) -> Spent {
    let tokens = |name: &str| result?.pointer(&format!("/stats/{name}")).and_then(Value::as_u64);
    // Thinking tokens are only in the total, and cost as much as output.
    let thought = || Some(tokens("total_tokens")?.saturating_sub(tokens("input_tokens")?));
    Spent {
        ms,
        input_tokens: tokens("input_tokens"),
        cached_input_tokens: tokens("cached"),
        output_tokens: tokens("output_tokens").max(thought()),
        ..Spent::default()
    }
}

#[cfg(test)]
mod tests;
