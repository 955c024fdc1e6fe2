//! ccw and maestro and the agents behind them, as observed: their arguments, their output, and the exit codes with
//! which they hide errors. The name under which it is called selects the program to play.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::misbehave;
use crate::script::{Script, append};
use crate::{call_name, evaluate, execute, improve, reflex};

/// The file `wrapped.json` next to the program's name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stage {
    script: PathBuf,
    #[serde(default)]
    child: Child,
    /// Prints as ccw does inside another agent.
    #[serde(default)]
    framed: bool,
    /// By tool: a file that ccw prints instead of an answer.
    #[serde(default)]
    prints: BTreeMap<String, PathBuf>,
    /// The service failures of a claude before each of its answers, one per call.
    #[serde(default)]
    away: Vec<Away>,
    /// The work that a claude reports as the executor before its answer.
    #[serde(default)]
    does: Vec<Value>,
    /// Whether a claude loads the skill that is installed for it.
    #[serde(default)]
    uses_skill: bool,
    /// The file that counts service failures since the last answer.
    #[serde(default)]
    met: PathBuf,
    /// The models that answer a claude as the judge, in turn; by default always the same one.
    #[serde(default)]
    judges: Vec<String>,
    /// The file that counts its verdicts.
    #[serde(default)]
    judged: PathBuf,
}

/// The ways in which a service fails.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Away {
    RateLimited,
    ServerError,
    Overloaded,
    /// It refuses the account.
    Forbidden,
    /// The account has no credit left.
    NoCredit,
    /// The answer is cut off in the middle.
    Cut,
    /// Nothing is answered.
    Hang,
}

/// How the agent behind a wrapper behaves.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Child {
    #[default]
    Good,
    /// Reports an error instead of an answer.
    Error,
    /// Answers, and exits with code 3.
    ExitThree,
    /// Ends without any answer text.
    Empty,
    /// Prints nothing at all.
    Silent,
    /// Exits without reading its prompt.
    Gone,
    /// Never ends, in its own session.
    Hang,
    /// Answers, counts it, and does not exit.
    Lingers,
}

pub(crate) fn play() -> Option<ExitCode> {
    let called = PathBuf::from(std::env::args_os().next()?);
    let name = called.file_name()?.to_str()?.to_owned();
    let part: fn(&str, &Stage) -> ExitCode = match name.as_str() {
        "ccw" => |_, stage| ccw(stage),
        "maestro" => |_, stage| maestro(stage),
        "claude" | "gemini" => agent,
        _ => return None,
    };
    if std::env::args().nth(1).as_deref() == Some("--version") {
        print(&format!("{name} 9.9.9\n"));
        return Some(ExitCode::SUCCESS);
    }
    let stage = fs::read(called.with_file_name("wrapped.json")).expect("the stage is set");
    let stage: Stage = serde_json::from_slice(&stage).expect("the stage is well formed");
    let start = json!({
        "name": name,
        "argv": std::env::args().skip(1).collect::<Vec<_>>(),
        "env": std::env::vars().collect::<BTreeMap<_, _>>(),
    });
    append(&called.with_file_name("started.jsonl"), &format!("{start}\n"));
    Some(part(&name, &stage))
}

fn ccw(stage: &Stage) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(flags) = flags(&arguments, "cli", &["--tool", "--mode", "--cd", "-f", "--model"], &["--final"])
    else {
        return fail("error: unknown option");
    };
    if let Some(file) = stage.prints.get(&flags["--tool"]) {
        print(&fs::read_to_string(file).expect("it was recorded"));
        return ExitCode::SUCCESS;
    }
    let asked = fs::read_to_string(&flags["-f"]).unwrap_or_default();
    if asked.trim().is_empty() {
        return fail("Error: File is empty");
    }
    // More than a pipe holds, so that a child that does not read it is noticed.
    let (protocol, template) =
        ("List the files first. ".repeat(4_000), "Answer in eight parts. ".repeat(150));
    let prompt = format!(
        "[CCW-TX-ID: ccw-tx-cld-0-01234567]\n\n{}\n\nProtocol ({}):\n{protocol}\n\nTemplate (universal-rigorous-style):\n{template}",
        asked.trim(),
        flags["--mode"]
    );
    eprint("[WARN] --id not provided. Use --id <id> for reliable tracking. Auto-generating ID.\n");
    let Some((code, stdout, stderr)) = child(&flags["--tool"], &flags, &prompt) else {
        return fail("Error: write EPIPE");
    };
    let is_fatal = ["FATAL", "Authentication failed", "API key", "rate limit exceeded"]
        .iter()
        .any(|word| stderr.contains(word));
    if code != 0 && (stdout.trim().is_empty() || is_fatal) {
        return fail(&stderr);
    }
    let answer = last_message(&stdout).unwrap_or(stdout);
    if stage.framed {
        let tool = &flags["--tool"];
        let mode = &flags["--mode"];
        print(&format!(
            "\n  Executing {tool} ({mode} mode)...\n\n{answer}\n  ✓ Completed in 0.1s\n  ID: cld-120000-abcd\n  Continue: ccw cli -p \"...\" --resume cld-120000-abcd\n"
        ));
    } else {
        print(&answer);
    }
    ExitCode::SUCCESS
}

fn maestro(_: &Stage) -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let prompt = if arguments.len() > 1 { arguments.remove(1) } else { String::new() };
    let Some(flags) = flags(&arguments, "delegate", &["--to", "--mode", "--cd", "--model"], &[]) else {
        return fail("error: unknown option");
    };
    let Some((code, stdout, _)) = child(&flags["--to"], &flags, &prompt) else {
        return fail("Delegate failed: write EPIPE");
    };
    eprint("\n[DELEGATE COMPLETED] cld-120000-abcd\n--- Output ---\n");
    print(&format!("{}\n", last_message(&stdout).unwrap_or_default()));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Parses flags with their values; returns `None` if one is unknown.
fn flags(line: &[String], command: &str, valued: &[&str], bare: &[&str]) -> Option<BTreeMap<String, String>> {
    let mut words = line.iter();
    if words.next()? != command {
        return None;
    }
    let mut flags = BTreeMap::new();
    while let Some(word) = words.next() {
        if valued.contains(&word.as_str()) {
            flags.insert(word.clone(), words.next()?.clone());
        } else if !bare.contains(&word.as_str()) {
            return None;
        }
    }
    Some(flags)
}

/// Runs the tool with the wrapper's flags; returns `None` if it does not read its prompt.
fn child(tool: &str, flags: &BTreeMap<String, String>, prompt: &str) -> Option<(i32, String, String)> {
    let writes = flags["--mode"] == "write";
    let arguments: &[&str] = match (tool, writes) {
        ("claude", true) => {
            &["-p", "--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--verbose"]
        }
        ("claude", false) => {
            &["-p", "--permission-mode", "default", "--output-format", "stream-json", "--verbose"]
        }
        (_, true) => &["-o", "stream-json", "--approval-mode", "yolo"],
        (_, false) => &["-o", "stream-json"],
    };
    let path = std::env::var("PATH").expect("there is a PATH");
    let program =
        std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|program| program.exists());
    let mut command = Command::new(program.expect("the tool is installed"));
    command.args(arguments).current_dir(&flags["--cd"]).env_remove("CLAUDECODE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the tool can be started");
    let mut stdin = child.stdin.take().expect("it is piped");
    match stdin.write_all(prompt.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            child.wait().expect("it is our child");
            return None;
        }
        written => written.expect("a pipe can be written"),
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it is our child");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((output.status.code().unwrap_or(1), text(&output.stdout), text(&output.stderr)))
}

/// Returns the last text of an assistant; a result is ignored.
fn last_message(stdout: &str) -> Option<String> {
    let events = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut texts = events.filter_map(|event| match (event["type"].as_str()?, event["role"].as_str()) {
        ("assistant", _) => event["message"]["content"][0]["text"].as_str().map(str::to_owned),
        ("message", Some("assistant")) => event["content"].as_str().map(str::to_owned),
        _ => None,
    });
    texts.next_back().filter(|text| !text.is_empty())
}

/// Plays a real agent with the scripted agent's answers.
fn agent(name: &str, stage: &Stage) -> ExitCode {
    match stage.child {
        Child::Gone => return ExitCode::from(3),
        Child::Hang => return misbehave::lead(),
        Child::Silent => {
            eprint("no luck today\n");
            return ExitCode::from(3);
        }
        Child::Good | Child::Error | Child::ExitThree | Child::Empty | Child::Lingers => {}
    }
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).expect("the prompt is text");
    if let Some(file) = prompt.strip_prefix("Read the file ").and_then(|rest| rest.split(' ').next()) {
        prompt = fs::read_to_string(Path::new(file)).expect("the errand leads to a file");
    }
    let script = Script::read(&stage.script);
    if let Some(away) = next_outage(stage) {
        return refused(away);
    }
    let answer = match stage.child {
        Child::Error => "Failed to authenticate. API Error: 401 no".to_owned(),
        Child::Empty => String::new(),
        Child::Good | Child::ExitThree | Child::Silent | Child::Gone | Child::Hang | Child::Lingers => {
            answer(&script, &prompt)
        }
    };
    let is_error = matches!(stage.child, Child::Error);
    let loaded = stage
        .uses_skill
        .then(|| json!({ "type": "tool_use", "id": "1", "name": "Skill", "input": { "skill": "writer" } }));
    let model = model(stage, &prompt);
    let said =
        |content: &Value| json!({ "type": "assistant", "message": { "model": model, "content": content } });
    let events = match name {
        "claude" => [
            vec![
                json!({ "type": "system", "subtype": "init", "model": "asked" }),
                said(&json!(loaded.into_iter().collect::<Vec<_>>())),
            ],
            stage.does.iter().filter(|_| is_executor(&prompt)).cloned().collect(),
            vec![
                said(&json!([{ "type": "text", "text": answer }])),
                json!({ "type": "result", "subtype": "success", "is_error": is_error, "result": answer }),
            ],
        ]
        .concat(),
        _ => vec![
            json!({ "type": "init", "model": "scripted" }),
            json!({ "type": "message", "role": "assistant", "content": answer, "delta": true }),
            json!({ "type": "result", "status": "success", "stats": {} }),
        ],
    };
    for event in events {
        print(&format!("{event}\n"));
    }
    match stage.child {
        Child::ExitThree => ExitCode::from(3),
        Child::Lingers => {
            append(&stage.met, ".");
            misbehave::hold()
        }
        Child::Error => ExitCode::FAILURE,
        Child::Good | Child::Empty | Child::Silent | Child::Gone | Child::Hang => ExitCode::SUCCESS,
    }
}

fn is_executor(prompt: &str) -> bool {
    !is_evaluator(prompt) && !prompt.contains("# Improve an agent skill")
}

fn is_evaluator(prompt: &str) -> bool {
    prompt.contains("# Judge an agent skill") || prompt.contains("# Review the text of")
}

/// Returns the model that answers this prompt.
fn model(stage: &Stage, prompt: &str) -> String {
    let is_judge = prompt.contains("# Judge an agent skill")
        || reflex::Page::of(prompt).is_some_and(|page| page.name() == "evaluate");
    if stage.judges.is_empty() || !is_judge {
        return "scripted".to_owned();
    }
    let judged = fs::metadata(&stage.judged).map_or(0, |meta| meta.len());
    append(&stage.judged, ".");
    stage.judges[usize::try_from(judged).expect("a small number") % stage.judges.len()].clone()
}

/// Returns this call's service failure; the call is answered at the end of the list.
fn next_outage(stage: &Stage) -> Option<Away> {
    let met = fs::metadata(&stage.met).map_or(0, |meta| meta.len());
    let away = stage.away.get(usize::try_from(met).expect("a small number"));
    match away {
        Some(_) => append(&stage.met, "."),
        None if met > 0 => fs::remove_file(&stage.met).expect("it is ours"),
        None => {}
    }
    away.copied()
}

/// Prints claude's error message for it.
fn refused(away: Away) -> ExitCode {
    print(&format!("{}\n", json!({ "type": "system", "subtype": "init", "model": "scripted" })));
    let failed = |status: Option<u16>, error: &str, words: &str| {
        let result = json!({
            "type": "result", "subtype": "success", "is_error": true, "api_error_status": status,
            "api_error": error, "result": format!("API Error: {words}"),
        });
        print(&format!("{result}\n"));
        ExitCode::FAILURE
    };
    match away {
        Away::RateLimited => failed(Some(429), "rate_limit", "429 slow down"),
        Away::ServerError => failed(Some(500), "server_error", "500 out of order"),
        Away::Overloaded => failed(Some(529), "overloaded", "529 overloaded"),
        Away::Forbidden => {
            failed(Some(403), "authentication_failed", "403 Request not allowed · Please run /login")
        }
        Away::NoCredit => failed(Some(400), "invalid_request", "400 Your credit balance is too low"),
        Away::Cut => failed(None, "connection_failed", "the connection was closed"),
        Away::Hang => misbehave::hold(),
    }
}

fn answer(script: &Script, prompt: &str) -> String {
    if let Some(page) = reflex::Page::of(prompt) {
        return reflex::answer(script, page, &call_name(&page.name(), prompt));
    }
    if is_evaluator(prompt) {
        evaluate::answer(script, prompt)
    } else if prompt.contains("# Improve an agent skill") {
        improve(script)
    } else {
        execute(script, "wrapped").unwrap_or_default()
    }
}

fn fail(why: &str) -> ExitCode {
    eprint(&format!("{why}\n"));
    ExitCode::FAILURE
}

fn eprint(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).expect("somebody reads it");
}

fn print(text: &str) {
    std::io::stdout().write_all(text.as_bytes()).expect("somebody reads it");
}
