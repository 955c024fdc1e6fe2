//! claude: Claude Code, in print mode.
//!
//! `--restricted` removes shell and web, keeps file access within the workspace, and ignores the user's settings; mode
//! and tools decide what a call may do with files. It also removes skills, so an agent that must find one runs without
//! it, under equivalent rules of ours, and so does an agent with a shell. With full access to the user's world it would
//! ignore their settings: there mode and tools decide everything, and a judge has no servers, since their effects are
//! unknown. The exit code shows nothing; the last `result` does, but not its subtype `success`.

use jiff::Timestamp;
use serde_json::{Value, json};
use skilltune_phases::base::model::ModelName;
use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::event::{Failure, FailureKind, Spent};
use skilltune_phases::runs::plan::Isolation;
use skilltune_phases::suites::transcript::{Call, ToolResult};

use super::credit;
use super::profile::{Ask, CostReport, Env, Form, Profile, Variables, below_home, is_set};
use super::reset_time;
use super::response::{AgentOutput, Life, Response, Talk, events, failed, shortened, text};
use super::skills::Skills;
use crate::process::How;

pub(super) const PROFILE: Profile = Profile {
    name: "claude",
    family: Some("claude"),
    get: "npm install -g @anthropic-ai/claude-code",
    tested: "2.1.329",
    logins: &[(CONFIG, ".credentials.json"), ("HOME", ".claude/.credentials.json")],
    passed: &[CONFIG, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    keys: &KEYS,
    has_key: |env| KEYS.iter().any(|key| is_set(env, key)),
    service: SERVICE,
    // Files of the workspace could set any variable that is not set here. Few retries, since we retry; no background
    // traffic; no skills but the candidate.
    set: &[
        (SERVICE, ""),
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_DISABLE_BUNDLED_SKILLS", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_TELEMETRY", "1"),
    ],
    composed: |_, _| Vec::new(),
    // It puts its temporary files into this folder and ignores TMPDIR.
    variables,
    fitting: |_, _| Vec::new(),
    skills: Some(Skills { at: ".claude/skills", by_name: true }),
    ends_early: false,
    cost: |_| CostReport::Dollars,
    form: Some(Form::Argument),
    login_at: "claude/.credentials.json",
    // With the first variable alone, it writes commands for another shell, if one is installed.
    shell: |shell| {
        vec![("CLAUDE_CODE_SHELL", shell.to_owned()), ("CLAUDE_CODE_SHELL_PREFIX", format!("{shell} -c"))]
    },
    shell_limit: None,
    has_sandbox: false,
    keeps,
    arguments,
    read_response,
    reported_failure: Some(reported_failure),
};

/// The folder of claude's settings, memory, skills and login.
const CONFIG: &str = "CLAUDE_CONFIG_DIR";
const SERVICE: &str = "ANTHROPIC_BASE_URL";
const KEYS: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

fn variables(_: &Env, isolation: Isolation, temp: &str) -> Variables {
    let config = (CONFIG, format!("{temp}/claude"));
    // Without `--restricted`, it would read memory files above the workspace.
    let no_memory = ["CLAUDE_CODE_DISABLE_CLAUDE_MDS", "CLAUDE_CODE_DISABLE_AUTO_MEMORY"]
        .map(|variable| (variable, "1".to_owned()));
    let mut variables = vec![("CLAUDE_CODE_TMPDIR", temp.to_owned())];
    match isolation {
        Isolation::Partial => variables.extend(no_memory),
        Isolation::Fresh => variables.extend(no_memory.into_iter().chain([config])),
        Isolation::User => {}
    }
    variables
}

/// Returns the folders that claude may write. `~/.claude.json` is not among them: claude replaces it with a lock and a
/// new file next to it. If it can write neither, it overwrites the file in place, and parallel calls could damage it.
/// Without that right it reads the file and goes on.
fn keeps(env: &Env, isolation: Isolation) -> Vec<String> {
    match (isolation, env.get(CONFIG)) {
        (Isolation::Fresh, _) => Vec::new(),
        (Isolation::Partial | Isolation::User, Some(folder)) => vec![folder.clone()],
        (Isolation::Partial | Isolation::User, None) => below_home(env, &[".claude"]),
    }
}

const ALWAYS: [&str; 7] =
    ["-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence", "--max-turns", "100"];
const ALONE: [&str; 2] = ["--restricted", NO_SERVERS];
const NO_SERVERS: &str = "--strict-mcp-config";

/// Restricted, claude reads no skills. These settings replace that mode. Without the two limits to the workspace,
/// `allowed-tools` in a skill's front matter would open the whole disk to the file tools.
const WITH_SKILLS: [&str; 5] = [
    NO_SERVERS,
    "--setting-sources",
    "project",
    "--settings",
    r#"{"disableAllHooks":true,"disableSkillShellExecution":true,"permissions":{"allow":["Skill"],"blockReadsOutsideWorkingDirectories":true,"blockWritesOutsideWorkingDirectories":true}}"#,
];

/// With a shell it may read everything that a command may: without that right, it refuses `$?` in commands. Only the
/// system confines what commands write to the workspace.
const WITH_SHELL: [&str; 5] = [
    NO_SERVERS,
    "--setting-sources",
    "project",
    "--settings",
    r#"{"disableAllHooks":true,"permissions":{"allow":["Skill","Bash"],"blockWritesOutsideWorkingDirectories":true}}"#,
];

fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let (reads, has_shell) = (ask.rights == Rights::Read, ask.rights.has_shell());
    let (mode, tools) = if reads {
        ("dontAsk", "Read,Grep,Glob")
    } else if has_shell {
        ("acceptEdits", "Read,Grep,Glob,Write,Edit,Bash")
    } else {
        ("acceptEdits", "Read,Grep,Glob,Write,Edit")
    };
    let (world, skills): (&[&str], _) = match ask.isolation {
        _ if has_shell => (&WITH_SHELL, if ask.skills { ",Skill" } else { "" }),
        Isolation::Partial | Isolation::Fresh if ask.skills => (&WITH_SKILLS, ",Skill"),
        Isolation::Partial | Isolation::Fresh => (&ALONE, ""),
        Isolation::User if reads => (&[NO_SERVERS], ",Skill"),
        Isolation::User => (&[], ",Skill"),
    };
    let mut arguments: Vec<String> = ALWAYS.iter().chain(world).map(|&one| one.to_owned()).collect();
    arguments.extend(["--permission-mode", mode, "--tools"].map(str::to_owned));
    arguments.push(format!("{tools}{skills}"));
    arguments.extend(ask.model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()]));
    let schema = ask.schema.into_iter();
    arguments.extend(schema.flat_map(|schema| ["--json-schema".to_owned(), schema.to_owned()]));
    arguments.extend(ask.usd.into_iter().flat_map(|usd| ["--max-budget-usd".to_owned(), usd.to_string()]));
    arguments
}

fn read_response(left: AgentOutput<'_>) -> Response {
    let mut talk = Talk::default();
    let (mut begun, mut life, mut result, mut lifted) = (false, Life::NoSign, None, None);
    for event in events(left.stdout, &mut talk) {
        match (text(&event, "type"), text(&event, "subtype")) {
            (Some("system"), Some("init")) => {
                begun = true;
                talk.session = text(&event, "session_id").map(str::to_owned);
                talk.skills.offered = offered(&event);
            }
            (Some("system"), Some("permission_denied")) => {
                talk.was_denied(text(&event, "tool_name").unwrap_or("a tool"));
            }
            (Some("assistant"), _) => {
                life = Life::Shown;
                talk.model = model(&event).or(talk.model);
                blocks(&event, "text")
                    .filter_map(|said| text(said, "text"))
                    .for_each(|said| talk.transcript.say(said));
                tools_used(&event, &mut talk);
            }
            (Some("user"), _) => {
                tools_missed(&event, &mut talk);
                blocks(&event, "tool_result").for_each(|block| talk.transcript.result(|| outcome(block)));
                skills_loaded(&event, &mut talk);
            }
            (Some("result"), _) => result = Some(event),
            (Some("rate_limit_event"), _) => {
                lifted = reset(&event).or(lifted);
                windows::read(&event, left.at, &mut talk.windows);
            }
            (Some("system"), _) => {}
            _ => talk.unknown += 1,
        }
    }
    let answer = match &result {
        Some(result) => ended(result, &mut talk),
        None if begun => Err(left.without_end(life)),
        None => Err(not_begun(left)),
    };
    let answer = answer.map_err(|failure| {
        let resets_at = lifted.or_else(|| reset_time::find(&failure.why, left.at));
        reset_time::with_reset_time(failure, resets_at, left.at)
    });
    Response { answer, spent: spent(result.as_ref(), left.ended.took_ms), talk: Some(talk) }
}

/// Returns the model of a message. The model at the start is only the one that claude means to use; claude's own errors
/// come from no model, and a subagent's text is not the answer.
fn model(event: &Value) -> Option<ModelName> {
    const ITS_OWN: &str = "<synthetic>";
    let model = event.pointer("/message/model").and_then(Value::as_str).filter(|model| *model != ITS_OWN);
    ModelName::reported(model.filter(|_| text(event, "parent_tool_use_id").is_none())?)
}

/// Returns when the limit that a request has reached resets; claude also reports distant limits.
fn reset(event: &Value) -> Option<Timestamp> {
    let limit = event.get("rate_limit_info").filter(|limit| text(limit, "status") == Some("rejected"))?;
    Timestamp::from_second(limit.get("resetsAt")?.as_i64()?).ok()
}

fn blocks<'e>(event: &'e Value, kind: &'static str) -> impl Iterator<Item = &'e Value> {
    let blocks = event.pointer("/message/content").and_then(Value::as_array);
    blocks.into_iter().flatten().filter(move |block| block["type"] == kind)
}

fn tools_used(event: &Value, talk: &mut Talk) {
    for block in blocks(event, "tool_use") {
        let name = text(block, "name").unwrap_or("a tool");
        talk.used(name);
        let (call, input) = (text(block, "id").unwrap_or_default(), &block["input"]);
        talk.transcript.call(|| Call::new(call, name, input, &["file_path", "notebook_path"]));
        match (name, text(input, "skill"), text(input, "file_path")) {
            ("Skill", Some(skill), _) => talk.skills.loads(call, skill.trim_start_matches('/')),
            ("Read", _, Some(file)) => talk.skills.reads(call, file),
            _ => {}
        }
    }
}

/// Reads a tool's result. A failed command's result begins with its exit code; a successful one's has none.
fn outcome(block: &Value) -> ToolResult {
    let parts = block["content"].as_array().into_iter().flatten().filter_map(|part| text(part, "text"));
    let output = text(block, "content").map_or_else(|| parts.collect::<Vec<_>>().join("\n"), str::to_owned);
    let failed = block["is_error"] == true;
    let code = output.strip_prefix("Exit code ").filter(|_| failed);
    let exit_code = code.and_then(|rest| rest.lines().next()?.trim().parse().ok());
    ToolResult { id: text(block, "tool_use_id").unwrap_or_default().to_owned(), failed, exit_code, output }
}

/// Returns the skills that the model can use, and those that only its user can call.
fn offered(init: &Value) -> Option<Vec<String>> {
    let of = |key: &str| init.get(key).and_then(Value::as_array);
    let all = of("skills")?.iter().chain(of("slash_commands").into_iter().flatten());
    let mut names: Vec<String> = all.filter_map(Value::as_str).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    Some(names)
}

/// Finds loaded skills: the model gets one as a user message that begins with its folder.
fn skills_loaded(event: &Value, talk: &mut Talk) {
    const FOLDER: &str = "Base directory for this skill: ";
    let failed = blocks(event, "tool_result").filter(|block| block["is_error"] == true);
    for call in failed.filter_map(|block| text(block, "tool_use_id")) {
        talk.skills.failed(call);
    }
    for said in blocks(event, "text").filter_map(|block| text(block, "text")) {
        if let Some(folder) = said.strip_prefix(FOLDER).and_then(|rest| rest.lines().next()) {
            talk.skills.found_at(folder.trim_end());
        }
    }
}

/// Finds denied tools: claude reports a tool without rights as an error, not as a denial.
fn tools_missed(event: &Value, talk: &mut Talk) {
    const MISSED: &str = "No such tool available: ";
    let errors = blocks(event, "tool_result").filter_map(|block| text(block, "content"));
    for missed in errors.filter_map(|error| Some(error.split_once(MISSED)?.1)) {
        let name = missed.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        talk.was_denied(name.unwrap_or("a tool"));
    }
}

fn ended(result: &Value, talk: &mut Talk) -> Result<String, Failure> {
    talk.turns = result.get("num_turns").and_then(Value::as_u64);
    for denial in result.get("permission_denials").and_then(Value::as_array).into_iter().flatten() {
        talk.was_denied(text(denial, "tool_name").unwrap_or("a tool"));
    }
    if result.get("is_error").and_then(Value::as_bool) != Some(false) {
        let why = words(result);
        return Err(failed(kind(result, &why), &why));
    }
    // The answer to a schema is a separate field; a model that ignores the schema answers in text.
    match result.get("structured_output").filter(|given| !given.is_null()) {
        Some(given) => Ok(given.to_string()),
        None => Ok(text(result, "result").unwrap_or_default().to_owned()),
    }
}

/// Returns the message of an error.
fn words(result: &Value) -> String {
    let first = result.pointer("/errors/0").and_then(Value::as_str);
    let what = text(result, "result").or(first).or(text(result, "subtype"));
    what.unwrap_or("an error without a message").to_owned()
}

fn kind(result: &Value, why: &str) -> FailureKind {
    let says = |words: &[&str]| words.iter().any(|one| why.to_lowercase().contains(one));
    let is = |key, value| text(result, key) == Some(value);
    match result.get("api_error_status").and_then(Value::as_u64) {
        _ if is("stop_reason", "refusal") => FailureKind::Refused,
        _ if is("subtype", "error_max_turns") => FailureKind::TurnLimit,
        _ if is("subtype", "error_max_budget_usd") => FailureKind::BudgetLimit,
        _ if is("terminal_reason", "blocking_limit") || says(&["prompt is too long"]) => {
            FailureKind::PromptTooLong
        }
        _ if credit::is_used_up(why) => FailureKind::NoCredit,
        _ if says(&["usage limit", "hit your", "limit reached"]) => FailureKind::UsageLimit,
        Some(401) => FailureKind::Authentication,
        // claude suggests to log in again at every 403; only a revoked token needs that.
        Some(403) if says(&["oauth token"]) => FailureKind::Authentication,
        Some(403) => FailureKind::Forbidden,
        Some(404) => FailureKind::ModelNotFound,
        Some(429) => FailureKind::RateLimited,
        Some(500..) => FailureKind::Overloaded,
        Some(400..) => FailureKind::UsageError,
        _ if says(&["not logged in", "/login"]) => FailureKind::Authentication,
        _ if is("api_error", "max_output_tokens") || says(&["output token maximum"]) => {
            FailureKind::OutputLimit
        }
        _ if is("api_error", "connection_failed") || says(&["timed out", "malformed response"]) => {
            FailureKind::Network
        }
        _ => FailureKind::Crashed,
    }
}

/// Finds claude's errors in its text. Each has one of these beginnings, and no file or verdict has.
fn reported_failure(left: AgentOutput<'_>) -> Option<Failure> {
    const BEGINNINGS: [&str; 11] = [
        "API Error",
        "Failed to authenticate",
        "Not logged in",
        "Please run /login",
        "Invalid API key",
        "Credit balance is too low",
        "Credit balance too low",
        "Prompt is too long",
        "Claude usage limit reached",
        "Claude AI usage limit reached",
        "You've hit your",
    ];
    let said = left.stdout.trim();
    BEGINNINGS.iter().find(|beginning| said.starts_with(**beginning))?;
    let number = |(_, after): (&str, &str)| after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    // For a request that the service rejected, the status comes later.
    let at = ["API Error: Request rejected (", "API Error: "].iter();
    let status: Option<u64> = at.filter_map(|beginning| said.split_once(beginning)).find_map(number);
    let refused = said.contains("safeguards flagged").then_some("refusal");
    let result = json!({ "api_error_status": status, "stop_reason": refused });
    let resets_at = reset_time::find(said, left.at);
    Some(reset_time::with_reset_time(failed(kind(&result, said), said), resets_at, left.at))
}

/// Returns the failure of a call without readable output: claude rejects its arguments, or never started.
fn not_begun(left: AgentOutput<'_>) -> Failure {
    let first = left.stderr.lines().map(str::trim).find(|line| !line.is_empty());
    match (&left.ended.how, first) {
        (How::Exited(1..), Some(line)) => failed(FailureKind::UsageError, &shortened(line)),
        _ => left.without_end(Life::NoSign),
    }
}

fn spent(result: Option<&Value>, ms: u64) -> Spent {
    let at = |pointer: &str| result?.pointer(pointer);
    let tokens = |name: &str| at(&format!("/usage/{name}")).and_then(Value::as_u64);
    let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"].map(tokens);
    let input = tokens("input_tokens")
        .map(|input| cached.iter().flatten().fold(input, |sum, more| sum.saturating_add(*more)));
    let usd = at("/total_cost_usd").and_then(Value::as_f64);
    Spent {
        ms,
        usd: usd.filter(|usd| usd.is_finite() && *usd >= 0.0),
        input_tokens: input,
        cached_input_tokens: tokens("cache_read_input_tokens"),
        output_tokens: tokens("output_tokens"),
        ..Spent::default()
    }
}

mod windows;

#[cfg(test)]
mod tests;
