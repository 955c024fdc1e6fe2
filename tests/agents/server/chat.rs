//! The interface that opencode talks to: chat completions, streamed.

use serde_json::{Value, json};

use super::http::Answer;
use super::model::{SKILL, Scenario, Talk, Turn, turn};
use super::openai::error;

pub(super) fn answer(scenario: Scenario, body: &str) -> Answer {
    let asked: Value = serde_json::from_str(body).expect("opencode sends JSON");
    let finish = match scenario {
        Scenario::Status(status) => return Answer::error(status, &error(status)),
        Scenario::UsedUp(_) => return Answer::error(429, &used_up()),
        Scenario::Hang => return Answer::nothing(),
        Scenario::Page => return Answer::page(),
        Scenario::Refusal => "content_filter",
        Scenario::TooLong => "length",
        _ => "stop",
    };
    let talk = talk(&asked, body);
    let (delta, finish) = match turn(scenario, &talk) {
        Turn::Text(text) => (json!({ "role": "assistant", "content": text }), finish),
        Turn::Write { path, content } => {
            (tool("write", &json!({ "filePath": path, "content": content }), &talk), "tool_calls")
        }
        Turn::Read { path } => (tool("read", &json!({ "filePath": path }), &talk), "tool_calls"),
        Turn::Edit { path, old, new } => {
            let input = json!({ "filePath": path, "oldString": old, "newString": new });
            (tool("edit", &input, &talk), "tool_calls")
        }
        Turn::Skill { .. } => (tool("skill", &json!({ "name": SKILL }), &talk), "tool_calls"),
        Turn::Shell { command } => {
            let input = json!({ "command": command, "description": "does it" });
            (tool("bash", &input, &talk), "tool_calls")
        }
        Turn::Tool { name, args } => (tool(name, &args, &talk), "tool_calls"),
    };
    let streamed = Answer::events(streamed(&asked, &delta, finish, scenario));
    if scenario == Scenario::Cut { streamed.cut() } else { streamed }
}

fn talk(asked: &Value, body: &str) -> Talk {
    let tools = asked["tools"].as_array().into_iter().flatten();
    let has_tool = { tools }.any(|tool| tool["function"]["name"] == "skill");
    let offered = has_tool && body.contains(&format!("<name>{SKILL}</name>"));
    let mut talk = Talk { skills: ".opencode/skills", offered, ..Talk::begun(body) };
    for message in asked["messages"].as_array().into_iter().flatten() {
        talk.results += usize::from(message["role"] == "tool");
        if message["role"] != "user" {
            continue;
        }
        match &message["content"] {
            Value::String(text) => talk.words.push_str(text),
            Value::Array(parts) => {
                for part in parts {
                    talk.words.push_str(part["text"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
        talk.words.push('\n');
    }
    talk
}

fn tool(name: &str, input: &Value, talk: &Talk) -> Value {
    let id = format!("call_{}", talk.results);
    let function = json!({ "name": name, "arguments": input.to_string() });
    let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
    json!({ "role": "assistant", "tool_calls": [call] })
}

fn streamed(asked: &Value, delta: &Value, finish: &str, scenario: Scenario) -> String {
    let chunk = |choices: Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"],
            "choices": choices,
        })
    };
    let mut chunks = vec![chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]))];
    if scenario != Scenario::Cut {
        chunks.push(chunk(json!([{ "index": 0, "delta": {}, "finish_reason": finish }])));
        let mut last = chunk(json!([]));
        last["usage"] = json!({
            "prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050,
            "prompt_tokens_details": { "cached_tokens": 200 },
        });
        chunks.push(last);
    }
    let line = |chunk: &Value| format!("data: {chunk}\n\n");
    let lines: String = chunks.iter().map(line).collect();
    if scenario == Scenario::Cut { lines } else { lines + "data: [DONE]\n\n" }
}

fn used_up() -> Value {
    let message = "You exceeded your current quota, please check your plan and billing details.";
    json!({ "error": { "type": "insufficient_quota", "code": "insufficient_quota", "message": message } })
}
