//! codex: Codex CLI, without a terminal.
//!
//! It works through its shell, so its own sandbox is what confines it: reading only for who judges, writing within the
//! workspace for the others, and a network only for the commands of who is to have a shell. Its exit code tells nothing;
//! the turn has to be completed. What has gone wrong is told in words alone. A skill is used by reading its page, in the shell.

mod pages;
mod strict;

use std::path::Path;

use serde_json::Value;
use skilltune_phases::event::{Failure, FailureKind, Spent};
use skilltune_phases::plan::Isolation;
use skilltune_phases::role::Rights;
use skilltune_phases::transcript::{Call, Outcome};
use walkdir::WalkDir;

use super::profile::{Ask, CostReport, Env, Form, Profile, Variables, is_set};
use super::response::{AgentOutput, Life, Response, Talk, failed, shortened};
use super::skills::{PAGE, Skills};
use super::stream::{events, text};
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
    // It uses its login where that stands: no command may write there.
    login_at: "",
    // It keeps the keys from its commands itself.
    shell: |_| Vec::new(),
    shell_limit: Some("keeps `.git`, `.agents` and `.codex` of the workspace read-only"),
    has_sandbox: true,
    keeps,
    arguments,
    read_response,
    reported_failure: None,
};

/// The folder of its login, its settings and its memory.
const HOME: &str = "CODEX_HOME";
const KEY: &str = "CODEX_API_KEY";
/// It does not read this itself: it becomes an argument.
const SERVICE: &str = "OPENAI_BASE_URL";

/// A setting that a newer version does not know is an error, and not a protection that is silently gone.
const ALWAYS: [&str; 5] = ["exec", "--json", "--skip-git-repo-check", "--ephemeral", "--strict-config"];

/// What is the user's own, or comes from elsewhere.
const ALONE: [&str; 2] = ["--ignore-user-config", "--ignore-rules"];
const NOTHING_ELSE: [&str; 7] = [
    "project_doc_max_bytes=0",
    // Above the workspace it would look for skills too.
    "project_root_markers=[]",
    "skills.bundled.enabled=false",
    "features.plugins=false",
    "features.apps=false",
    "features.hooks=false",
    "features.multi_agent=false",
];

const SETTINGS: [&str; 12] = [
    "web_search=\"disabled\"",
    // A skill may name servers that it wants to have.
    "features.skill_mcp_dependency_install=false",
    "analytics.enabled=false",
    // The sandbox: the workspace and the call's temporary folder, and no keys for what runs in it.
    "sandbox_workspace_write.exclude_slash_tmp=true",
    "shell_environment_policy.ignore_default_excludes=false",
    "allow_login_shell=false",
    // Its own service under a name of ours, for under its own name it cannot be told to give up early.
    "model_provider=\"skilltune\"",
    "model_providers.skilltune.name=\"OpenAI\"",
    "model_providers.skilltune.requires_openai_auth=true",
    "model_providers.skilltune.request_max_retries=1",
    "model_providers.skilltune.stream_max_retries=1",
    "features.unbounded_connection_retries=false",
];

fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let sandbox = match ask.rights {
        Rights::Work | Rights::Edit | Rights::Shell => "workspace-write",
        Rights::Read => "read-only",
    };
    let (alone, nothing_else): (&[&str], &[&str]) = match ask.isolation {
        Isolation::Partial | Isolation::Fresh => (&ALONE, &NOTHING_ELSE),
        Isolation::User => (&[], &[]),
    };
    let mut arguments: Vec<String> = ALWAYS.iter().chain(alone).map(|&one| one.to_owned()).collect();
    arguments.extend(["--sandbox".to_owned(), sandbox.to_owned()]);
    let network = match ask.rights {
        Rights::Shell => "sandbox_workspace_write.network_access=true",
        Rights::Work | Rights::Edit | Rights::Read => "sandbox_workspace_write.network_access=false",
    };
    let settings = nothing_else.iter().chain(&SETTINGS).chain([&network]).map(|&one| one.to_owned());
    let settings = settings.chain(skills(ask)).chain(place(ask.env));
    arguments.extend(settings.flat_map(|setting| ["-c".to_owned(), setting]));
    arguments.extend(ask.model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()]));
    let schema = ask.schema.into_iter();
    arguments.extend(schema.flat_map(|file| ["--output-schema".to_owned(), file.to_owned()]));
    arguments.push("-".to_owned());
    arguments
}

/// No skills, or in the user's own world theirs, or the one that it is to find.
fn skills(ask: &Ask<'_>) -> Option<String> {
    match (ask.isolation, ask.skills) {
        (Isolation::Partial | Isolation::Fresh, false) => {
            Some("skills.include_instructions=false".to_owned())
        }
        (Isolation::Partial | Isolation::Fresh, true) if ask.is_made => without_theirs(ask),
        (Isolation::Partial | Isolation::Fresh, true) | (Isolation::User, _) => None,
    }
}

/// The user's skills that stand beside a login are shut out each by its path: there is no switch for all of them.
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

/// Another place of the service. Only for a key: a login belongs to its own service, and is told to no other.
fn place(env: &Env) -> Option<String> {
    let place = env.get(SERVICE).filter(|_| is_set(env, SERVICE) && is_set(env, KEY))?;
    // A text of JSON is one of TOML too.
    Some(format!("model_providers.skilltune.base_url={}", Value::from(place.as_str())))
}

/// A key is all that it needs of the user. Without one its login has to stay where it is; the user's home, where other
/// skills stand, is none of its business in either case. Its own folder must be neither `TMPDIR` nor below it: the
/// bubblewrap of a system hides what stands there, the helper that codex keeps in its folder too, and no command starts.
fn variables(env: &Env, isolation: Isolation, temp: &str) -> Variables {
    if isolation == Isolation::User {
        return Vec::new();
    }
    let own = login_in_use(env, isolation).unwrap_or_else(|| format!("{temp}/codex"));
    vec![("HOME", temp.to_owned()), (HOME, own), ("TMPDIR", format!("{temp}/tmp"))]
}

/// The folder of the user's login, where that is what it goes by in a world that is not theirs.
fn login_in_use(env: &Env, isolation: Isolation) -> Option<String> {
    match isolation {
        Isolation::Partial if !is_set(env, KEY) => Some(login(env)),
        Isolation::Partial | Isolation::Fresh | Isolation::User => None,
    }
}

/// It is confined by itself, and where it may write is its own business.
fn keeps(_: &Env, _: Isolation) -> Vec<String> {
    Vec::new()
}

fn login(env: &Env) -> String {
    let home = || env.get("HOME").map(|home| Path::new(home).join(".codex").to_string_lossy().into_owned());
    env.get(HOME).filter(|_| is_set(env, HOME)).cloned().or_else(home).unwrap_or_default()
}

/// What the events say, put together.
#[derive(Default)]
struct Said {
    begun: bool,
    life: Life,
    words: String,
    completed: Option<Value>,
    failed: Option<String>,
}

fn read_response(left: AgentOutput<'_>) -> Response {
    let (mut talk, mut said) = (Talk::default(), Said::default());
    for event in events(left.stdout, &mut talk) {
        said.take(event, &mut talk);
    }
    // A patch that is refused is no event.
    if left.stderr.contains("patch rejected: writing") {
        talk.was_denied("file_change");
    }
    skills_refused(left.stderr, &mut talk);
    let spent = spent(said.completed.as_ref(), left.ended.took_ms);
    Response { answer: said.answer(left), spent, talk: Some(talk) }
}

impl Said {
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
            // Of what it tries again; what it gives up at is told by the turn.
            Some("error") => {}
            _ => talk.unknown += 1,
        }
    }

    /// All but its own complaints comes from its model.
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
                // What was said before a tool was used is not the answer.
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

/// A tool is reported when it begins and when it has ended, or only then.
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
        // All else is its result.
        arguments
            .retain(|key, _| ["command", "server", "tool", "arguments", "query"].contains(&key.as_str()));
        Call { files, ..Call::new(id, tool, &arguments.into(), &[]) }
    });
}

fn outcome(item: &Value) -> Outcome {
    let exit_code = item["exit_code"].as_i64();
    let error = item.pointer("/error/message").and_then(Value::as_str);
    Outcome {
        id: text(item, "id").unwrap_or_default().to_owned(),
        failed: text(item, "status") == Some("failed") || exit_code.is_some_and(|code| code != 0),
        exit_code,
        output: text(item, "aggregated_output").or(error).unwrap_or_default().to_owned(),
    }
}

/// What it does not take for a skill is told beside the events.
fn skills_refused(stderr: &str, talk: &mut Talk) {
    let told = stderr.lines().filter_map(|line| line.split_once("failed to load skill "));
    let folders = told.filter_map(|(_, rest)| rest.split_once("/SKILL.md: "));
    talk.skills.refused.extend(folders.map(|(folder, _)| folder.to_owned()));
}

/// A command that failed because the sandbox holds it in its place.
fn is_out_of_bounds(item: &Value) -> bool {
    let output = text(item, "aggregated_output").unwrap_or_default();
    text(item, "status") == Some("failed") && output.contains("Read-only file system")
}

fn kind(why: &str) -> FailureKind {
    let lower = why.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|one| lower.contains(one));
    match status(&lower) {
        _ if says(&["context window", "input_too_large"]) => FailureKind::PromptTooLong,
        _ if says(&["your usage limit", "quota exceeded", "out of credits"]) => FailureKind::UsageLimit,
        _ if says(&["does not exist or you do not have access", "model is not supported"]) => {
            FailureKind::ModelNotFound
        }
        Some(401 | 403) => FailureKind::Authentication,
        Some(404) => FailureKind::ModelNotFound,
        Some(429) => FailureKind::RateLimited,
        Some(500..) => FailureKind::Overloaded,
        Some(400..) => FailureKind::UsageError,
        _ if says(&["sign in again", "not logged in"]) => FailureKind::Authentication,
        _ if says(&["content_filter", "flagged"]) => FailureKind::Refused,
        _ if says(&["max_output_tokens"]) => FailureKind::OutputLimit,
        _ if says(&["rate limit"]) => FailureKind::RateLimited,
        _ if says(&["high demand", "at capacity"]) => FailureKind::Overloaded,
        _ if says(&["stream disconnected", "connection failed", "timed out", "timeout"]) => {
            FailureKind::Network
        }
        // What the service answers to a bad request is handed on as it came.
        _ if lower.starts_with('{') => FailureKind::UsageError,
        _ => FailureKind::Crashed,
    }
}

/// The service's status, as it is told in words.
fn status(lower: &str) -> Option<u64> {
    let told = ["unexpected status ", "last status: "].into_iter().find_map(|word| lower.split_once(word));
    let digits: String = told?.1.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// It has not come to ask its model: it does not take what it was started with, or was never started.
fn not_begun(left: AgentOutput<'_>) -> Failure {
    let error = left.stderr.lines().map(str::trim).find(|line| line.to_lowercase().starts_with("error"));
    match (&left.ended.how, error) {
        (How::Exited(1..), Some(line)) if line.contains("input_too_large") => {
            failed(FailureKind::PromptTooLong, line)
        }
        // Nobody has ever logged in here.
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
