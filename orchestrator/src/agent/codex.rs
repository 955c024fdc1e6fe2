//! codex: Codex CLI, without a terminal.
//!
//! It works through its shell, so its own sandbox confines it: read-only for judges, writes within the workspace for
//! the others, and a network only for the commands of calls with a shell. Its exit code shows nothing; the turn has to
//! be completed. Failures are reported only as text. It uses a skill by reading its page in the shell.

mod pages;
mod strict;

use std::path::Path;

use serde_json::Value;
use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::event::{Failure, FailureKind, Spent};
use skilltune_phases::runs::plan::Isolation;
use skilltune_phases::suites::transcript::{Call, ToolResult};
use walkdir::WalkDir;

use super::credit;
use super::profile::{Ask, CostReport, Env, Form, Profile, Variables, is_set};
use super::response::{AgentOutput, Life, Response, Talk, events, failed, shortened, text};
use super::skills::{PAGE, Skills};
use crate::process::How;

pub(super) const PROFILE: Profile = Profile {
    name: "codex",
    family: Some("openai"),
    get: "npm install -g @openai/codex",
    tested: "0.169.0",
    logins: &[(HOME, "auth.json"), ("HOME", ".codex/auth.json")],
    keys: &[KEY],
    has_key: |env| is_set(env, KEY),
    passed: &[HOME, KEY, "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE"],
    service: SERVICE,
    set: &[],
    composed: |_, _| Vec::new(),
    variables,
    fitting: |_, _| Vec::new(),
    skills: Some(Skills { at: ".agents/skills", by_name: false }),
    ends_early: false,
    cost: |_| CostReport::Tokens,
    form: Some(|schema| Form::File(strict::fitted(&schema))),
    // It uses its login in the original folder: no command may write there.
    login_at: "",
    // It removes the keys from the environment of its commands itself.
    shell: |_| Vec::new(),
    shell_limit: Some("keeps `.git`, `.agents` and `.codex` of the workspace read-only"),
    has_sandbox: true,
    keeps,
    arguments,
    read_response,
    reported_failure: None,
};

/// The folder of codex's login, settings and memory.
const HOME: &str = "CODEX_HOME";
const KEY: &str = "CODEX_API_KEY";
/// codex does not read this itself: it becomes an argument.
const SERVICE: &str = "OPENAI_BASE_URL";

/// With `--strict-config`, a setting that a newer version does not know is an error, and not a silent loss of
/// protection.
const ALWAYS: [&str; 5] = ["exec", "--json", "--skip-git-repo-check", "--ephemeral", "--strict-config"];

/// Ignores what belongs to the user or comes from elsewhere.
const ALONE: [&str; 2] = ["--ignore-user-config", "--ignore-rules"];
const NOTHING_ELSE: [&str; 7] = [
    "project_doc_max_bytes=0",
    // It would also look for skills above the workspace.
    "project_root_markers=[]",
    "skills.bundled.enabled=false",
    "features.plugins=false",
    "features.apps=false",
    "features.hooks=false",
    "features.multi_agent=false",
];

const SETTINGS: [&str; 12] = [
    "web_search=\"disabled\"",
    // A skill may name servers that it requires.
    "features.skill_mcp_dependency_install=false",
    "analytics.enabled=false",
    // The sandbox: the workspace and the call's temporary folder, and no keys for its processes.
    "sandbox_workspace_write.exclude_slash_tmp=true",
    "shell_environment_policy.ignore_default_excludes=false",
    "allow_login_shell=false",
    // Its own service under our name: under its own name, retries cannot be limited.
    "model_provider=\"skilltune\"",
    "model_providers.skilltune.name=\"OpenAI\"",
    "model_providers.skilltune.requires_openai_auth=true",
    "model_providers.skilltune.request_max_retries=1",
    "model_providers.skilltune.stream_max_retries=1",
    "features.unbounded_connection_retries=false",
];

fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let sandbox = if ask.rights == Rights::Read { "read-only" } else { "workspace-write" };
    let (alone, nothing_else): (&[&str], &[&str]) = match ask.isolation {
        Isolation::Partial | Isolation::Fresh => (&ALONE, &NOTHING_ELSE),
        Isolation::User => (&[], &[]),
    };
    let mut arguments: Vec<String> = ALWAYS.iter().chain(alone).map(|&one| one.to_owned()).collect();
    arguments.extend(["--sandbox".to_owned(), sandbox.to_owned()]);
    let network = format!("sandbox_workspace_write.network_access={}", ask.rights.has_shell());
    let settings = nothing_else.iter().chain(&SETTINGS).map(|&one| one.to_owned()).chain([network]);
    let settings = settings.chain(skills(ask)).chain(place(ask.env));
    arguments.extend(settings.flat_map(|setting| ["-c".to_owned(), setting]));
    arguments.extend(ask.model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()]));
    let schema = ask.schema.into_iter();
    arguments.extend(schema.flat_map(|file| ["--output-schema".to_owned(), file.to_owned()]));
    arguments.push("-".to_owned());
    arguments
}

/// Returns the setting for skills: none, the user's in their own world, or the one to find.
fn skills(ask: &Ask<'_>) -> Option<String> {
    match (ask.isolation, ask.skills) {
        (Isolation::Partial | Isolation::Fresh, false) => {
            Some("skills.include_instructions=false".to_owned())
        }
        (Isolation::Partial | Isolation::Fresh, true) if ask.is_made => without_theirs(ask),
        (Isolation::Partial | Isolation::Fresh, true) | (Isolation::User, _) => None,
    }
}

/// Disables each of the user's skills next to a login by its path: there is no switch for all of them.
fn without_theirs(ask: &Ask<'_>) -> Option<String> {
    let theirs = Path::new(&login_in_use(ask.env, ask.isolation)?).join("skills");
    #[expect(
        clippy::disallowed_methods,
        reason = "the user's own skills, links and all, as codex finds them"
    )]
    let all = WalkDir::new(theirs).follow_links(true).sort_by_file_name().into_iter().flatten();
    let pages = all.filter(|entry| entry.file_name() == PAGE);
    let out =
        pages.map(|page| format!("{{path={},enabled=false}}", Value::from(page.path().to_string_lossy())));
    let out: Vec<String> = out.collect();
    (!out.is_empty()).then(|| format!("skills.config=[{}]", out.join(",")))
}

/// Returns a different address of the service. Only for a key: a login is never sent to another service.
fn place(env: &Env) -> Option<String> {
    let place = env.get(SERVICE).filter(|_| is_set(env, SERVICE) && is_set(env, KEY))?;
    // A JSON string is also a TOML string.
    Some(format!("model_providers.skilltune.base_url={}", Value::from(place.as_str())))
}

/// With a key, codex needs nothing else of the user. Without one its login has to stay where it is; in both cases it
/// does not get the user's home, which may hold other skills. Its own folder must not be `TMPDIR` or below it: the
/// system's bubblewrap hides that folder, with the helper that codex keeps in its own, and no command starts.
fn variables(env: &Env, isolation: Isolation, temp: &str) -> Variables {
    if isolation == Isolation::User {
        return Vec::new();
    }
    let own = login_in_use(env, isolation).unwrap_or_else(|| format!("{temp}/codex"));
    vec![("HOME", temp.to_owned()), (HOME, own), ("TMPDIR", format!("{temp}/tmp"))]
}

/// Returns the folder of the user's login, if codex uses it outside the user's own world.
fn login_in_use(env: &Env, isolation: Isolation) -> Option<String> {
    match isolation {
        Isolation::Partial if !is_set(env, KEY) => Some(login(env)),
        Isolation::Partial | Isolation::Fresh | Isolation::User => None,
    }
}

/// codex confines itself, and decides where it may write.
fn keeps(_: &Env, _: Isolation) -> Vec<String> {
    Vec::new()
}

fn login(env: &Env) -> String {
    let home = || env.get("HOME").map(|home| Path::new(home).join(".codex").to_string_lossy().into_owned());
    env.get(HOME).filter(|_| is_set(env, HOME)).cloned().or_else(home).unwrap_or_default()
}

/// The state that the events add up to.
#[derive(Default)]
struct EventState {
    begun: bool,
    life: Life,
    words: String,
    completed: Option<Value>,
    failed: Option<String>,
}

fn read_response(left: AgentOutput<'_>) -> Response {
    let (mut talk, mut state) = (Talk::default(), EventState::default());
    for event in events(left.stdout, &mut talk) {
        state.take(event, &mut talk);
    }
    // A rejected patch has no event.
    if left.stderr.contains("patch rejected: writing") {
        talk.was_denied("file_change");
    }
    skills_refused(left.stderr, &mut talk);
    let spent = spent(state.completed.as_ref(), left.ended.took_ms);
    Response { answer: state.answer(left), spent, talk: Some(talk) }
}

impl EventState {
    fn take(&mut self, event: Value, talk: &mut Talk) {
        match text(&event, "type") {
            Some("thread.started") => talk.session = text(&event, "thread_id").map(str::to_owned),
            Some("turn.started") => self.begun = true,
            Some("item.completed") => {
                self.look(&event["item"]);
                self.item(&event["item"], talk);
            }
            Some("turn.completed") => self.completed = Some(event),
            Some("turn.failed") => {
                let why = event.pointer("/error/message").and_then(Value::as_str);
                self.failed = Some(why.unwrap_or("an error without a message").to_owned());
            }
            Some("item.started" | "item.updated") => {
                self.look(&event["item"]);
                called(&event["item"], talk);
            }
            // These are retried; the turn reports an error that is final.
            Some("error") => {}
            _ => talk.unknown += 1,
        }
    }

    /// Notes that the model has shown signs of life: everything but codex's own errors comes from it.
    fn look(&mut self, item: &Value) {
        if text(item, "type") != Some("error") {
            self.life = Life::Shown;
        }
    }

    fn item(&mut self, item: &Value, talk: &mut Talk) {
        match text(item, "type") {
            Some("agent_message") => {
                text(item, "text").unwrap_or_default().clone_into(&mut self.words);
                talk.transcript.say(&self.words);
            }
            Some(tool) if TOOLS.contains(&tool) => {
                // Text before a tool call is not the answer.
                self.words.clear();
                talk.used(tool);
                called(item, talk);
                talk.transcript.result(|| outcome(item));
                let said = |key| text(item, key).unwrap_or_default();
                pages::read(said("command"), said("aggregated_output"), &mut talk.skills);
                if is_out_of_bounds(item) {
                    talk.was_denied(tool);
                }
            }
            Some("reasoning" | "todo_list" | "error") => {}
            _ => talk.unknown += 1,
        }
    }

    fn answer(self, left: AgentOutput<'_>) -> Result<String, Failure> {
        match (self.failed, self.completed) {
            (Some(why), _) => Err(failed(kind(&why), &why)),
            (None, Some(_)) => Ok(self.words),
            (None, None) if self.begun => Err(left.without_end(self.life)),
            (None, None) => Err(not_begun(left)),
        }
    }
}

const TOOLS: [&str; 5] =
    ["command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"];

/// Records a tool call. codex reports it at its start and its end, or only at its end.
fn called(item: &Value, talk: &mut Talk) {
    let Some(tool) = text(item, "type").filter(|tool| TOOLS.contains(tool)) else { return };
    let id = text(item, "id").unwrap_or_default();
    if talk.transcript.has_call(id) {
        return;
    }
    talk.transcript.call(|| {
        let changes = item["changes"].as_array().into_iter().flatten();
        let files = changes.filter_map(|change| text(change, "path")).map(str::to_owned).collect();
        let mut arguments = item.as_object().cloned().unwrap_or_default();
        // Everything else is its result.
        arguments
            .retain(|key, _| ["command", "server", "tool", "arguments", "query"].contains(&key.as_str()));
        Call { files, ..Call::new(id, tool, &arguments.into(), &[]) }
    });
}

fn outcome(item: &Value) -> ToolResult {
    let exit_code = item["exit_code"].as_i64();
    let error = item.pointer("/error/message").and_then(Value::as_str);
    ToolResult {
        id: text(item, "id").unwrap_or_default().to_owned(),
        failed: text(item, "status") == Some("failed") || exit_code.is_some_and(|code| code != 0),
        exit_code,
        output: text(item, "aggregated_output").or(error).unwrap_or_default().to_owned(),
    }
}

/// Finds the folders that codex refuses as skills: it reports them on stderr.
fn skills_refused(stderr: &str, talk: &mut Talk) {
    let errors = stderr.lines().filter_map(|line| line.split_once("failed to load skill "));
    let folders = errors.filter_map(|(_, rest)| rest.split_once("/SKILL.md: "));
    talk.skills.refused.extend(folders.map(|(folder, _)| folder.to_owned()));
}

/// Whether a command failed because of the sandbox.
fn is_out_of_bounds(item: &Value) -> bool {
    let output = text(item, "aggregated_output").unwrap_or_default();
    text(item, "status") == Some("failed") && output.contains("Read-only file system")
}

fn kind(why: &str) -> FailureKind {
    let lower = why.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|one| lower.contains(one));
    match status(&lower) {
        _ if says(&["context window", "input_too_large"]) => FailureKind::PromptTooLong,
        _ if says(&["your usage limit"]) => FailureKind::UsageLimit,
        _ if credit::is_used_up(&lower) => FailureKind::NoCredit,
        _ if says(&["quota exceeded"]) => FailureKind::UsageLimit,
        _ if says(&["does not exist or you do not have access", "model is not supported"]) => {
            FailureKind::ModelNotFound
        }
        _ if says(&["sign in again", "not logged in"]) => FailureKind::Authentication,
        Some(401) => FailureKind::Authentication,
        Some(402) => FailureKind::NoCredit,
        Some(403) => FailureKind::Forbidden,
        Some(404) => FailureKind::ModelNotFound,
        Some(429) => FailureKind::RateLimited,
        Some(500..) => FailureKind::Overloaded,
        Some(400..) => FailureKind::UsageError,
        _ if says(&["content_filter", "flagged"]) => FailureKind::Refused,
        _ if says(&["max_output_tokens"]) => FailureKind::OutputLimit,
        _ if says(&["rate limit"]) => FailureKind::RateLimited,
        _ if says(&["high demand", "at capacity"]) => FailureKind::Overloaded,
        _ if says(&["stream disconnected", "connection failed", "timed out", "timeout"]) => {
            FailureKind::Network
        }
        // The service's answer to a bad request is passed on unchanged.
        _ if lower.starts_with('{') => FailureKind::UsageError,
        _ => FailureKind::Crashed,
    }
}

/// Returns the service's status from the error text.
fn status(lower: &str) -> Option<u64> {
    let found = ["unexpected status ", "last status: "].into_iter().find_map(|word| lower.split_once(word));
    let digits: String = found?.1.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Returns the failure of a call that asked no model: codex rejects its arguments, or never started.
fn not_begun(left: AgentOutput<'_>) -> Failure {
    let error = left.stderr.lines().map(str::trim).find(|line| line.to_lowercase().starts_with("error"));
    match (&left.ended.how, error) {
        (How::Exited(1..), Some(line)) if line.contains("input_too_large") => {
            failed(FailureKind::PromptTooLong, line)
        }
        // No login has ever happened here.
        (How::Exited(1..), Some(line)) if line.contains("finding codex home") => {
            failed(FailureKind::Authentication, line)
        }
        (How::Exited(1..), Some(line)) => failed(FailureKind::UsageError, &shortened(line)),
        _ => left.without_end(Life::NoSign),
    }
}

fn spent(completed: Option<&Value>, ms: u64) -> Spent {
    let tokens = |name: &str| completed?.pointer(&format!("/usage/{name}")).and_then(Value::as_u64);
    Spent {
        ms,
        input_tokens: tokens("input_tokens"),
        cached_input_tokens: tokens("cached_input_tokens"),
        output_tokens: tokens("output_tokens"),
        ..Spent::default()
    }
}

#[cfg(test)]
mod tests;
