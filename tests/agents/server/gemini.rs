//! The interface that gemini talks to: contents, streamed.

use serde_json::{Value, json};

use super::http::Answer;
use super::model::{SKILL, Scenario, Talk, Turn, turn};

pub(super) fn answer(scenario: Scenario, path: &str, body: &str) -> Answer {
    let asked: Value = serde_json::from_str(body).expect("gemini sends JSON");
    if path.contains(":generateContent") && !matches!(scenario, Scenario::Status(_)) {
        // gemini's own request in a long conversation: whether it is looping.
        return Answer::json(&reply(&json!({ "text": "{\"unproductive_state_confidence\":0}" }), "STOP"));
    }
    let finish = match scenario {
        Scenario::Status(status) => return Answer::error(status, &error(status)),
        Scenario::UsedUp(seconds) => return Answer::error(429, &used_up(seconds)),
        Scenario::Hang => return Answer::nothing(),
        Scenario::Page => return Answer::page(),
        Scenario::Refusal => "SAFETY",
        Scenario::TooLong => "MAX_TOKENS",
        _ => "STOP",
    };
    let talk = talk(&asked, body);
    let tool = |name, args: &Value| tool(talk.results, name, args);
    let part = match turn(scenario, &talk) {
        Turn::Text(text) => json!({ "text": text }),
        Turn::Write { path, content } => {
            tool("write_file", &json!({ "file_path": path, "content": content }))
        }
        Turn::Read { path } => tool("read_file", &json!({ "file_path": path })),
        Turn::Edit { path, old, new } => {
            let about = format!("change {path}");
            let args =
                json!({ "file_path": path, "instruction": about, "old_string": old, "new_string": new });
            tool("replace", &args)
        }
        Turn::Skill { .. } => tool("activate_skill", &json!({ "name": SKILL })),
        Turn::Tool { name, args } => tool(name, &args),
        Turn::Shell { command } => tool("run_shell_command", &json!({ "command": command })),
    };
    let mut reply = reply(&part, finish);
    if scenario != Scenario::Cut {
        return Answer::events(format!("data: {reply}\n\n"));
    }
    if let Some(candidate) = reply["candidates"][0].as_object_mut() {
        candidate.remove("finishReason");
    }
    Answer::events(format!("data: {reply}\n\n")).cut()
}

fn reply(part: &Value, finish: &str) -> Value {
    let parts: Vec<&Value> = Some(part).filter(|part| part["text"] != "").into_iter().collect();
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": finish, "index": 0 }],
        "usageMetadata": {
            "promptTokenCount": 1000, "candidatesTokenCount": 50, "totalTokenCount": 1050, "cachedContentTokenCount": 200,
        },
    })
}

fn talk(asked: &Value, body: &str) -> Talk {
    let system = asked["systemInstruction"].to_string();
    let offered = system.contains(&format!("<name>{SKILL}</name>"));
    let mut talk = Talk { skills: ".gemini/skills", offered, ..Talk::begun(body) };
    let contents = asked["contents"].as_array().into_iter().flatten();
    let said = contents.filter(|one| one["role"] == "user").filter_map(|one| one["parts"].as_array());
    for part in said.flatten() {
        talk.words.push_str(part["text"].as_str().unwrap_or_default());
        talk.words.push('\n');
        talk.results += usize::from(part.get("functionResponse").is_some());
    }
    talk
}

fn tool(nth: usize, name: &str, args: &Value) -> Value {
    json!({ "functionCall": { "name": name, "args": args, "id": format!("call_{name}_{nth}") }, "thoughtSignature": "c2lnbmVk" })
}

fn error(status: u16) -> Value {
    let word = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({ "error": { "code": status, "message": format!("it is a {status}"), "status": word } })
}

fn used_up(seconds: u64) -> Value {
    let (hours, seconds) = (seconds / 3600, seconds % 3600);
    let message = format!(
        "You have exhausted your capacity on this model. Your quota will reset after {hours}h0m{seconds}s."
    );
    json!({ "error": { "code": 429, "message": message, "status": "RESOURCE_EXHAUSTED" } })
}
