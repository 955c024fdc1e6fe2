//! The interface that codex talks to: responses, streamed.

use serde_json::{Value, json};

use super::http::Answer;
use super::model::{SKILL, Scenario, Talk, Turn, turn};
use super::openai::error;

pub(super) fn answer(scenario: Scenario, body: &str) -> Answer {
    let asked: Value = serde_json::from_str(body).expect("codex sends JSON");
    match scenario {
        Scenario::Status(status) => return Answer::error(status, &error(status)),
        Scenario::UsedUp(_) => return Answer::error(429, &used_up()),
        Scenario::Hang => return Answer::nothing(),
        Scenario::Page => return Answer::page(),
        _ => {}
    }
    let talk = talk(&asked, body);
    let item = match turn(scenario, &talk) {
        Turn::Text(text) => {
            let text = if asked["text"]["format"].is_null() { text } else { in_form(&text) };
            let content = json!([{ "type": "output_text", "text": text }]);
            json!({ "type": "message", "role": "assistant", "id": "msg_1", "content": content })
        }
        Turn::Write { path, content } => {
            patch(&format!("*** Add File: {path}\n{}", marked('+', &content)), &talk)
        }
        Turn::Read { path } => command(&format!("cat '{path}'"), &talk),
        Turn::Edit { path, old, new } => {
            let (old, new) = (marked('-', &old), marked('+', &new));
            patch(&format!("*** Update File: {path}\n@@\n{old}{new}"), &talk)
        }
        // codex has a shell, but no access to the whole machine.
        Turn::Shell { .. } if scenario == Scenario::Forbidden => {
            patch("*** Add File: /tmp/skilltune-was-here\n+x\n", &talk)
        }
        Turn::Shell { command: asked } => command(&asked, &talk),
        Turn::Tool { name, args } => json!({
            "type": "function_call", "name": name, "arguments": args.to_string(), "call_id": format!("call_{}", talk.results),
        }),
        Turn::Skill { place } => command(&format!("cat '{place}/SKILL.md'"), &talk),
    };
    let streamed = Answer::events(streamed(&item, scenario));
    if scenario == Scenario::Cut { streamed.cut() } else { streamed }
}

fn talk(asked: &Value, body: &str) -> Talk {
    let mut talk = Talk { skills: ".agents/skills", ..Talk::begun(body) };
    for item in asked["input"].as_array().into_iter().flatten() {
        let kind = item["type"].as_str().unwrap_or_default();
        let listed = item["content"].as_array().filter(|_| item["role"] == "developer");
        talk.offered |= listed.into_iter().flatten().any(|part| lists_skill(&part["text"]));
        talk.results += usize::from(kind.ends_with("_call_output"));
        let parts = item["content"].as_array().filter(|_| item["role"] == "user");
        for part in parts.into_iter().flatten() {
            talk.words.push_str(part["text"].as_str().unwrap_or_default());
            talk.words.push('\n');
        }
    }
    talk
}

fn lists_skill(text: &Value) -> bool {
    let text = text.as_str().unwrap_or_default();
    text.starts_with("<skills_instructions>") && text.contains(&format!("\n- {SKILL}: "))
}

/// Completes a verdict with all keys of the schema; missing values are null.
fn in_form(text: &str) -> String {
    let Ok(mut verdict) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if verdict["strengths"].is_null() {
        return text.to_owned();
    }
    verdict["claimed_score"] = Value::Null;
    verdict["suggestions"] = json!([{
        "priority": "low", "target_file": "SKILL.md", "description": "Name the leaf.", "rationale": "It has none.",
        "snippet": null,
    }]);
    verdict.to_string()
}

fn command(cmd: &str, talk: &Talk) -> Value {
    let arguments = json!({ "cmd": cmd }).to_string();
    let id = format!("call_{}", talk.results);
    json!({ "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id })
}

/// Returns the lines of a text with a mark before each.
fn marked(mark: char, text: &str) -> String {
    text.lines().fold(String::new(), |all, line| format!("{all}{mark}{line}\n"))
}

fn patch(what: &str, talk: &Talk) -> Value {
    let input = format!("*** Begin Patch\n{what}*** End Patch\n");
    let id = format!("call_{}", talk.results);
    json!({ "type": "custom_tool_call", "name": "apply_patch", "input": input, "call_id": id })
}

fn streamed(item: &Value, scenario: Scenario) -> String {
    let mut events = vec![
        json!({ "type": "response.created", "response": { "id": "resp_1" } }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
    ];
    let incomplete = match scenario {
        Scenario::Refusal => Some("content_filter"),
        Scenario::TooLong => Some("max_output_tokens"),
        _ => None,
    };
    let mut response = json!({ "id": "resp_1", "usage": {
        "input_tokens": 1000, "input_tokens_details": { "cached_tokens": 200 },
        "output_tokens": 50, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 1050,
    } });
    if let Some(reason) = incomplete {
        response["incomplete_details"] = json!({ "reason": reason });
        events.push(json!({ "type": "response.incomplete", "response": response }));
    } else if scenario != Scenario::Cut {
        events.push(json!({ "type": "response.completed", "response": response }));
    }
    let line =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(line).collect()
}

fn used_up() -> Value {
    let message = "The usage limit has been reached";
    json!({ "error": { "type": "usage_limit_reached", "message": message, "plan_type": "plus", "resets_in_seconds": 7200 } })
}
