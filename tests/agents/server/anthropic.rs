//! The interface that claude talks to: messages, streamed.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::http::Answer;
use super::model::{SKILL, Scenario, Talk, Turn, turn};

pub(super) fn answer(scenario: Scenario, path: &str, body: &str) -> Answer {
    if path.contains("count_tokens") {
        return Answer::json(&json!({ "input_tokens": 1000 }));
    }
    let asked: Value = serde_json::from_str(body).expect("claude sends JSON");
    let stop = match scenario {
        Scenario::Status(status) => return Answer::error(status, &error(status)),
        Scenario::UsedUp(seconds) => return used_up(seconds),
        Scenario::Hang => return Answer::nothing(),
        Scenario::Page => return Answer::page(),
        Scenario::Refusal => "refusal",
        Scenario::TooLong => "max_tokens",
        _ => "end_turn",
    };
    let talk = talk(&asked, body);
    let tool = |name, input: &Value| tool(talk.results, name, input);
    let (block, stop) = match turn(scenario, &talk) {
        Turn::Text(text) if gives_structure(&asked, &text) => {
            let answer = serde_json::from_str(&text).expect("it was seen to be JSON");
            (tool(STRUCTURED, &answer), "tool_use")
        }
        Turn::Text(text) => (json!({ "type": "text", "text": text }), stop),
        Turn::Write { path, content } => {
            (tool("Write", &json!({ "file_path": path, "content": content })), "tool_use")
        }
        Turn::Read { path } => (tool("Read", &json!({ "file_path": path })), "tool_use"),
        Turn::Edit { path, old, new } => {
            let input = json!({ "file_path": path, "old_string": old, "new_string": new });
            (tool("Edit", &input), "tool_use")
        }
        Turn::Skill { .. } => (tool("Skill", &json!({ "skill": SKILL })), "tool_use"),
        Turn::Shell { command } => {
            (tool("Bash", &json!({ "command": command, "description": "does it" })), "tool_use")
        }
        Turn::Tool { name, args } => (tool(name, &args), "tool_use"),
    };
    let message = message(&asked, &block, stop);
    if asked["stream"] != true {
        return Answer::json(&message);
    }
    let streamed = Answer::events(streamed(&message, scenario));
    if scenario == Scenario::Cut { streamed.cut() } else { streamed }
}

/// A tool for an answer in a schema.
const STRUCTURED: &str = "StructuredOutput";

/// Returns whether the tool is offered and was not used before.
fn gives_structure(asked: &Value, text: &str) -> bool {
    let offered = asked["tools"].as_array().into_iter().flatten().any(|tool| tool["name"] == STRUCTURED);
    let given = asked["messages"].to_string().contains(&format!("\"name\":\"{STRUCTURED}\""));
    offered && !given && serde_json::from_str::<Value>(text).is_ok_and(|answer| answer.is_object())
}

fn talk(asked: &Value, body: &str) -> Talk {
    // The list of skills comes as a system text among the messages.
    let has_tool = asked["tools"].as_array().into_iter().flatten().any(|tool| tool["name"] == "Skill");
    let offered = has_tool && body.contains(&format!("\\n- {SKILL}: "));
    let mut talk = Talk { skills: ".claude/skills", offered, ..Talk::begun(body) };
    let messages = asked["messages"].as_array().into_iter().flatten();
    for message in messages.filter(|message| message["role"] == "user") {
        match &message["content"] {
            Value::String(text) => talk.words.push_str(text),
            Value::Array(blocks) => {
                for block in blocks {
                    talk.words.push_str(block["text"].as_str().unwrap_or_default());
                    talk.results += usize::from(block["type"] == "tool_result");
                }
            }
            _ => {}
        }
        talk.words.push('\n');
    }
    talk
}

/// Calls a tool. Each call has its own id, which its result refers to.
fn tool(nth: usize, name: &str, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": format!("toolu_{name}_{nth}"), "name": name, "input": input })
}

fn message(asked: &Value, block: &Value, stop: &str) -> Value {
    let content: Vec<&Value> = Some(block).filter(|block| block["text"] != "").into_iter().collect();
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked["model"],
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": { "input_tokens": 1000, "output_tokens": 50, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 0 },
    })
}

fn streamed(message: &Value, scenario: Scenario) -> String {
    let mut begun = message.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let mut events = vec![json!({ "type": "message_start", "message": begun })];
    for block in message["content"].as_array().into_iter().flatten() {
        let (open, delta) = if block["type"] == "text" {
            let delta = json!({ "type": "text_delta", "text": block["text"] });
            (json!({ "type": "text", "text": "" }), delta)
        } else {
            let mut open = block.clone();
            open["input"] = json!({});
            (open, json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }))
        };
        events.push(json!({ "type": "content_block_start", "index": 0, "content_block": open }));
        events.push(json!({ "type": "content_block_delta", "index": 0, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": 0 }));
    }
    if scenario != Scenario::Cut {
        let delta = json!({ "stop_reason": message["stop_reason"], "stop_sequence": null });
        events.push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 50 } }));
        events.push(json!({ "type": "message_stop" }));
    }
    let line =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(line).collect()
}

fn error(status: u16) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": format!("it is a {status}") } })
}

/// Returns a usage-limit answer: in headers for a login, in text for a key.
fn used_up(seconds: u64) -> Answer {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    let message = "You've hit your usage limit, resets 3pm (Europe/Berlin)";
    let error = json!({ "type": "error", "error": { "type": "rate_limit_error", "message": message } });
    Answer::error(429, &error)
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", &(since.as_secs() + seconds).to_string())
        .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
}
