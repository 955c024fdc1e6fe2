use jiff::Timestamp;

use super::*;
use crate::agent::response::ended;

/// The recorded output of a real gemini.
macro_rules! transcript {
    ($name:literal) => {
        include_str!(concat!("../../../../fixtures/transcripts/gemini/", $name, ".jsonl"))
    };
}

fn response(how: How, stdout: &str, stderr: &str) -> Response {
    read_response(AgentOutput { ended: &ended(how), stdout, stderr, at: Timestamp::UNIX_EPOCH })
}

fn failure(how: How, stdout: &str, stderr: &str) -> FailureKind {
    response(how, stdout, stderr).answer.unwrap_err().kind
}

fn error(message: &str) -> String {
    json!({ "type": "result", "status": "error", "error": { "type": "unknown", "message": message } })
        .to_string()
}

const BEGUN: &str = r#"{"type":"init","session_id":"s","model":"m"}"#;

#[test]
fn an_answer_comes_with_its_tokens_its_tools_and_the_model_that_was_really_used() {
    let response = response(How::Exited(0), transcript!("write"), "");
    assert_eq!(response.answer.unwrap(), "DONE-FAKE");
    let spent = Spent {
        ms: 7000,
        input_tokens: Some(2000),
        cached_input_tokens: Some(400),
        output_tokens: Some(100),
        ..Spent::default()
    };
    assert_eq!(response.spent, spent);
    let talk = response.talk.unwrap();
    assert_eq!(
        (talk.model.as_ref().map(ModelName::as_str), talk.unknown),
        (Some("gemini-3.1-pro-preview"), 0)
    );
    assert_eq!(talk.tools, [("write_file".to_owned(), 1)].into());
}

#[test]
fn a_skill_that_it_activates_is_told_with_its_folder_and_one_that_it_cannot_is_not() {
    let skills = |stdout: &str| response(How::Exited(0), stdout, "").talk.unwrap().skills;
    let used = skills(transcript!("skill"));
    assert_eq!(used.offered, None);
    let folder = "/scratch/wgs/.gemini/skills/demo-skill".to_owned();
    assert_eq!((used.used[0].name.as_str(), used.used[0].folder.as_ref()), ("demo-skill", Some(&folder)));
    let refused =
        transcript!("skill").replace("\"status\":\"success\",\"output\"", "\"status\":\"error\",\"o\"");
    assert_eq!(skills(&refused).used, []);
}

#[test]
fn an_answer_in_pieces_is_put_together_and_what_came_before_a_tool_is_none_of_it() {
    let say = |text: &str| {
        json!({ "type": "message", "role": "assistant", "content": text, "delta": true }).to_string()
    };
    let tool = json!({ "type": "tool_use", "tool_name": "read_file" }).to_string();
    let end = json!({ "type": "result", "status": "success" }).to_string();
    let stdout = [BEGUN.to_owned(), say("I look."), tool, say("{\"a\":"), say("1}"), end].join("\n");
    assert_eq!(response(How::Exited(0), &stdout, "").answer.unwrap(), "{\"a\":1}");
}

#[test]
fn the_status_is_read_from_the_error_or_from_what_the_exit_code_has_left_of_it() {
    assert_eq!(failure(How::Exited(145), transcript!("401"), ""), FailureKind::Authentication);
    assert_eq!(failure(How::Exited(0), transcript!("401"), ""), FailureKind::Authentication);
    let said = error("[API Error: it is so]");
    for (code, kind) in [
        (144, FailureKind::UsageError),
        (147, FailureKind::Forbidden),
        (148, FailureKind::ModelNotFound),
        (173, FailureKind::RateLimited),
        (244, FailureKind::Overloaded),
        (247, FailureKind::Overloaded),
        (1, FailureKind::Crashed),
    ] {
        assert_eq!(failure(How::Exited(code), &said, ""), kind, "{code}");
    }
    assert_eq!(failure(How::Exited(1), &said, "x ModelNotFoundError: y"), FailureKind::ModelNotFound);
}

#[test]
fn what_an_error_says_tells_what_kind_it_is() {
    assert_eq!(failure(How::Exited(0), transcript!("cut-off"), ""), FailureKind::Network);
    let kinds = [
        ("You have exhausted your daily quota on this model.", FailureKind::UsageLimit),
        ("it is a 429\nTo increase your limits, request a quota increase", FailureKind::RateLimited),
        ("{\"code\":400,\"message\":\"API key not valid\"}", FailureKind::Authentication),
        (
            "{\"code\":403,\"message\":\"Your API key was reported as leaked. Please use another API key.\"}",
            FailureKind::Authentication,
        ),
        ("{\"code\":403,\"message\":\"The caller does not have permission\"}", FailureKind::Forbidden),
        ("{\"code\":429,\"message\":\"Your prepayment credits are depleted.\"}", FailureKind::NoCredit),
    ];
    for (why, kind) in kinds {
        assert_eq!(failure(How::Exited(173), &error(why), ""), kind, "{why}");
    }
    assert_eq!(failure(How::Exited(1), &error("[API Error: fetch failed]"), ""), FailureKind::Network);
    let turns = error("x").replace("unknown", "FatalTurnLimitedError");
    assert_eq!(failure(How::Exited(53), &turns, ""), FailureKind::TurnLimit);
    let looping =
        json!({ "type": "error", "severity": "warning", "message": "Loop detected, stopping execution" });
    let stdout = format!("{BEGUN}\n{looping}\n{}", json!({ "type": "result", "status": "success" }));
    assert_eq!(failure(How::Exited(0), &stdout, ""), FailureKind::TurnLimit);
}

#[test]
fn without_a_result_there_is_no_answer() {
    assert_eq!(failure(How::Exited(0), BEGUN, ""), FailureKind::Crashed);
    assert_eq!(failure(How::TimedOut, BEGUN, ""), FailureKind::NoResponse);
    for event in [
        json!({ "type": "message", "role": "assistant", "content": "I", "delta": true }),
        json!({ "type": "tool_use", "tool_name": "read_file", "tool_id": "1", "parameters": {} }),
    ] {
        assert_eq!(failure(How::TimedOut, &format!("{BEGUN}\n{event}"), ""), FailureKind::TimedOut);
    }
    assert_eq!(failure(How::Exited(41), "", "Invalid auth method selected."), FailureKind::Authentication);
    assert_eq!(failure(How::Exited(55), "", "not trusted"), FailureKind::UsageError);
    assert_eq!(failure(How::Exited(1), "", "Unknown argument: x"), FailureKind::UsageError);
    let long = json!({ "type": "message", "role": "user", "content": "x".repeat(LONG + 1) });
    assert_eq!(failure(How::Exited(0), &format!("{BEGUN}\n{long}"), ""), FailureKind::PromptTooLong);
}

#[test]
fn a_tool_that_it_does_not_have_was_denied() {
    let event = json!({
        "type": "tool_result", "tool_id": "run_shell_command__call_1", "status": "error",
        "error": { "type": "tool_not_registered", "message": "no" },
    });
    let response = response(How::Exited(0), &format!("{BEGUN}\n{event}\n{}", transcript!("write")), "");
    assert_eq!(response.talk.unwrap().denied, ["run_shell_command"]);
}

#[test]
fn a_path_outside_of_the_workspace_was_denied_and_another_wrong_parameter_was_not() {
    for (message, denied) in [("Path not in workspace: Attempted path \"/x\"", 1), ("missing: content", 0)] {
        let event = json!({
            "type": "tool_result", "tool_id": "write_file__call_1", "status": "error",
            "error": { "type": "invalid_tool_params", "message": message },
        });
        let response = response(How::Exited(0), &format!("{BEGUN}\n{event}\n{}", transcript!("write")), "");
        assert_eq!(response.talk.unwrap().denied.len(), denied, "{message}");
    }
}

#[test]
fn no_beginning_of_a_transcript_is_an_answer() {
    let whole = transcript!("write").trim_end();
    for (end, _) in whole.char_indices() {
        assert!(response(How::Exited(0), &whole[..end], "").answer.is_err(), "{end}");
    }
}

#[test]
fn a_quota_says_in_how_long_it_is_there_again_and_a_short_time_is_no_limit() {
    let limit = |why: &str, stderr: &str| {
        let failure = response(How::Exited(173), &error(why), stderr).answer.unwrap_err();
        (failure.kind, failure.until.map(Timestamp::as_second))
    };
    let capacity = "You have exhausted your capacity on this model. Your quota will reset after ";
    assert_eq!(limit(&format!("{capacity}3h24m10s."), ""), (FailureKind::UsageLimit, Some(12_250)));
    assert_eq!(limit(&format!("{capacity}20s."), ""), (FailureKind::RateLimited, Some(20)));
    assert_eq!(
        limit("You have exhausted your daily quota on this model.", ""),
        (FailureKind::UsageLimit, None)
    );
    let noise = "Attempt 1 failed\n  retryDelay: '34s'\n";
    assert_eq!(limit("{\"code\":429}", noise), (FailureKind::RateLimited, Some(34)));
}

#[test]
fn thoughts_are_paid_for_and_the_model_that_did_most_is_the_one_that_answered() {
    let stats = json!({
        "total_tokens": 3000, "input_tokens": 2000, "output_tokens": 100, "cached": 400,
        "models": { "a-small-one": { "total_tokens": 10 }, "the-great-one": { "total_tokens": 2990 } },
    });
    let result = json!({ "type": "result", "status": "success", "stats": stats });
    let response = response(How::Exited(0), &result.to_string(), "");
    assert_eq!(response.spent.output_tokens, Some(1000));
    assert_eq!(response.talk.unwrap().model, ModelName::reported("the-great-one"));
}

#[test]
fn a_model_that_gemini_was_to_ask_is_not_known_to_have_answered() {
    let end =
        |stats: &str| format!(r#"{BEGUN}{}{{"type":"result","status":"success","stats":{stats}}}"#, "\n");
    let model = |stats: &str| response(How::Exited(0), &end(stats), "").talk.unwrap().model;
    assert_eq!(model("{}"), None);
    assert_eq!(model(r#"{"models":{"a\u001b[31m":{"total_tokens":10}}}"#), None);
    assert_eq!(model(r#"{"models":{"b":{"total_tokens":10}}}"#), ModelName::reported("b"));
}

#[test]
fn what_gemini_says_at_every_start_is_no_reason() {
    let stderr = "Warning: Basic terminal detected (TERM=dumb). Visual rendering will be limited.\n\
                  [STARTUP] Phase 'cleanup_ops' was started but never ended. Skipping metrics.\n\
                  Ripgrep is not available. Falling back to GrepTool.\n";
    let why = |stderr: &str| response(How::TimedOut, BEGUN, stderr).answer.unwrap_err().why;
    assert_eq!(why(stderr), "after 7 s");
    assert_eq!(why(&format!("out of memory\n{stderr}")), "after 7 s: out of memory");
}

#[test]
fn what_it_did_is_kept_call_by_call() {
    let transcript = |stdout: &str| response(How::Exited(0), stdout, "").talk.unwrap().transcript.lines();
    assert_eq!(
        transcript(transcript!("write")).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"call","id":"write_file__fc_1795248964021385599","tool":"write_file","arguments":"{\"content\":\"hello from fake\\n\"}","files":["/scratch/wg1/s.txt"]}"#,
            r#"{"event":"result","id":"write_file__fc_1795248964021385599","failed":false,"output":""}"#,
            r#"{"event":"text","text":"DONE-FAKE"}"#,
            r#"{"event":"end","tool_calls":1,"left_out":0}"#,
        ]
    );
    let event = |event: serde_json::Value| format!("{event}\n");
    let stdout = [
        event(serde_json::json!({ "type": "message", "role": "user", "content": "the task" })),
        event(serde_json::json!({ "type": "message", "role": "assistant", "content": "I ", "delta": true })),
        event(
            serde_json::json!({ "type": "message", "role": "assistant", "content": "run.", "delta": true }),
        ),
        event(
            serde_json::json!({ "type": "tool_use", "tool_name": "run_shell_command", "tool_id": "a", "parameters": { "command": "./check" } }),
        ),
        event(
            serde_json::json!({ "type": "tool_result", "tool_id": "a", "status": "error", "error": { "type": "policy_violation", "message": "denied by policy" } }),
        ),
    ];
    assert_eq!(
        transcript(&stdout.concat()).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"text","text":"I run."}"#,
            r#"{"event":"call","id":"a","tool":"run_shell_command","command":"./check"}"#,
            r#"{"event":"result","id":"a","failed":true,"output":"denied by policy"}"#,
            r#"{"event":"end","tool_calls":1,"left_out":0}"#,
        ]
    );
}
