use super::*;
use crate::agent::response::ended;
use crate::process::Ended;

/// The recorded output of a real claude.
macro_rules! transcript {
    ($name:literal) => {
        include_str!(concat!("../../../../fixtures/transcripts/claude/", $name, ".jsonl"))
    };
}

fn response(how: How, stdout: &str, stderr: &str) -> Response {
    read_response(AgentOutput { ended: &ended(how), stdout, stderr, at: Timestamp::UNIX_EPOCH })
}

fn failure(how: How, stdout: &str, stderr: &str) -> (FailureKind, String) {
    let failure = response(how, stdout, stderr).answer.unwrap_err();
    (failure.kind, failure.why)
}

/// Returns a result with an error.
fn error(fields: &serde_json::Value) -> String {
    let mut result =
        serde_json::json!({ "type": "result", "subtype": "success", "is_error": true, "result": "no" });
    result.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    result.to_string()
}

#[test]
fn an_answer_comes_with_its_cost_its_tools_and_its_model() {
    let response = response(How::Exited(0), transcript!("write"), "");
    assert_eq!(response.answer.unwrap(), "DONE-FAKE");
    let spent = Spent {
        ms: 7000,
        usd: Some(0.01008),
        input_tokens: Some(2400),
        cached_input_tokens: Some(400),
        output_tokens: Some(100),
        ..Spent::default()
    };
    assert_eq!(response.spent, spent);
    let talk = response.talk.unwrap();
    assert_eq!(
        (talk.model.as_ref().map(ModelName::as_str), talk.turns, talk.unknown),
        (Some("claude-opus-5-5"), Some(2), 0)
    );
    assert_eq!(talk.tools, [("Write".to_owned(), 1)].into());
    assert!(talk.session.is_some() && talk.denied.is_empty());
}

#[test]
fn the_model_is_the_one_that_spoke_last_and_not_the_one_that_was_to_be_asked() {
    let line = |kind: &str, more: &serde_json::Value| {
        let mut line = serde_json::json!({ "type": kind });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let said = |model: &str, parent: Option<&str>| {
        line("assistant", &serde_json::json!({ "message": { "model": model }, "parent_tool_use_id": parent }))
    };
    let init = line("system", &serde_json::json!({ "subtype": "init", "model": "asked" }));
    let result = line("result", &serde_json::json!({ "is_error": false, "result": "done" }));
    let model = |words: &[String]| {
        let stdout = [&init, &words.concat(), &result].map(String::as_str).concat();
        response(How::Exited(0), &stdout, "").talk.unwrap().model.map(String::from)
    };
    assert_eq!(model(&[]), None, "nobody is known to have answered");
    assert_eq!(model(&[said("first", None), said("second", None)]).unwrap(), "second");
    assert_eq!(model(&[said("first", None), said("helper", Some("toolu_1"))]).unwrap(), "first");
    assert_eq!(model(&[said("<synthetic>", None)]), None);
    assert_eq!(model(&[said("\u{1b}[31mred", None)]), None);
    assert_eq!(model(&[said(&"m".repeat(5_000), None)]), None);
}

#[test]
fn an_answer_in_a_form_goes_before_words() {
    let mut result =
        serde_json::json!({ "type": "result", "is_error": false, "result": "I have judged it." });
    assert_eq!(response(How::Exited(0), &result.to_string(), "").answer.unwrap(), "I have judged it.");
    result["structured_output"] = serde_json::json!({ "verdict_of": "n0nce" });
    assert_eq!(
        response(How::Exited(0), &result.to_string(), "").answer.unwrap(),
        "{\"verdict_of\":\"n0nce\"}"
    );
}

#[test]
fn what_skills_it_was_offered_and_used_is_told_with_their_folders() {
    let skills = response(How::Exited(0), transcript!("skill"), "").talk.unwrap().skills;
    let offered = skills.offered.unwrap();
    assert!(offered.iter().any(|name| name == "demo-skill") && offered.is_sorted(), "{offered:?}");
    let used = [("demo-skill", Some("/scratch/w-sk/.claude/skills/demo-skill"))];
    assert_eq!(
        skills.used.iter().map(|one| (one.name.as_str(), one.folder.as_deref())).collect::<Vec<_>>(),
        used
    );
}

#[test]
fn a_skill_that_it_could_not_load_was_not_used() {
    let content =
        [serde_json::json!({ "type": "tool_use", "id": "t", "name": "Skill", "input": { "skill": "x" } })];
    let used = serde_json::json!({ "type": "assistant", "message": { "content": content } });
    let content = [serde_json::json!({
        "type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "Unknown skill: x",
    })];
    let failed = serde_json::json!({ "type": "user", "message": { "content": content } });
    for (stdout, times) in [(format!("{used}\n"), 1), (format!("{used}\n{failed}\n"), 0)] {
        assert_eq!(response(How::Exited(0), &stdout, "").talk.unwrap().skills.used.len(), times);
    }
}

#[test]
fn what_it_was_not_let_do_is_told_once() {
    let response = response(How::Exited(0), transcript!("denied"), "");
    assert_eq!(response.answer.unwrap(), "DONE-FAKE");
    assert_eq!(response.talk.unwrap().denied, ["Write"]);
}

#[test]
fn a_tool_that_its_role_does_not_have_was_denied() {
    let error = "<tool_use_error>Error: No such tool available: Bash. Bash is disabled for this session</tool_use_error>";
    let block = serde_json::json!({ "type": "tool_result", "is_error": true, "content": error });
    let event = serde_json::json!({ "type": "user", "message": { "role": "user", "content": [block] } });
    let response = response(How::Exited(0), &format!("{event}\n{}", transcript!("text")), "");
    assert_eq!(response.talk.unwrap().denied, ["Bash"]);
}

#[test]
fn an_error_is_no_answer_whatever_its_subtype_says() {
    let kinds = [
        (transcript!("401"), FailureKind::Authentication),
        (transcript!("500"), FailureKind::Overloaded),
        (transcript!("refusal"), FailureKind::Refused),
        (transcript!("max-output"), FailureKind::OutputLimit),
        (transcript!("max-turns"), FailureKind::TurnLimit),
        (transcript!("max-budget"), FailureKind::BudgetLimit),
    ];
    for (stdout, kind) in kinds {
        // The exit code shows nothing: 0 comes with errors too.
        for code in [0, 1] {
            assert_eq!(failure(How::Exited(code), stdout, "").0, kind, "{stdout}");
        }
    }
}

#[test]
fn what_the_service_answered_tells_what_kind_of_failure_it_is() {
    for (status, kind) in [
        (400, FailureKind::UsageError),
        (403, FailureKind::Forbidden),
        (404, FailureKind::ModelNotFound),
        (429, FailureKind::RateLimited),
        (503, FailureKind::Overloaded),
        (529, FailureKind::Overloaded),
    ] {
        let result = error(&serde_json::json!({ "api_error_status": status }));
        assert_eq!(failure(How::Exited(1), &result, "").0, kind, "{status}");
    }
    for (words, kind) in [
        ("You've hit your limit, resets 3pm", FailureKind::UsageLimit),
        ("Credit balance is too low", FailureKind::NoCredit),
        ("Prompt is too long", FailureKind::PromptTooLong),
        ("Not logged in · Please run /login", FailureKind::Authentication),
        ("Request timed out", FailureKind::Network),
        ("something else", FailureKind::Crashed),
    ] {
        let result = error(&serde_json::json!({ "result": words }));
        assert_eq!(failure(How::Exited(1), &result, ""), (kind, words.to_owned()));
    }
}

#[test]
fn a_service_that_refuses_an_account_does_not_ask_for_a_login() {
    for (words, kind) in [
        ("Please run /login · API Error: 403 {\"error\":{\"type\":\"forbidden\"}}", FailureKind::Forbidden),
        ("Failed to authenticate. API Error: 403 no access", FailureKind::Forbidden),
        ("API Error: 403 OAuth token has been revoked", FailureKind::Authentication),
    ] {
        let result = error(&serde_json::json!({ "api_error_status": 403, "result": words }));
        assert_eq!(failure(How::Exited(1), &result, ""), (kind, words.to_owned()));
    }
    // Bought credit has no time at which it is there again.
    let event = serde_json::json!({
        "type": "rate_limit_event", "rate_limit_info": { "status": "rejected", "resetsAt": 7200 },
    });
    let fields = serde_json::json!({ "api_error_status": 400, "result": "Credit balance is too low" });
    let result = error(&fields);
    let failure = response(How::Exited(1), &format!("{event}\n{result}"), "").answer.unwrap_err();
    assert_eq!((failure.kind, failure.until), (FailureKind::NoCredit, None));
}

#[test]
fn without_a_result_there_is_no_answer() {
    let begun = transcript!("write").lines().next().unwrap();
    assert_eq!(failure(How::Exited(0), begun, "").0, FailureKind::Crashed);
    assert_eq!(failure(How::Exited(0), "", "").0, FailureKind::Crashed);
    assert_eq!(failure(How::TimedOut, begun, ""), (FailureKind::NoResponse, "after 7 s".to_owned()));
    assert_eq!(failure(How::TimedOut, "", "").0, FailureKind::NoResponse);
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"error_status":529}"#;
    assert_eq!(failure(How::TimedOut, &format!("{begun}\n{retry}\n"), "").0, FailureKind::NoResponse);
    let lines: Vec<&str> = transcript!("write").lines().collect();
    let at_work = lines[..lines.len() - 1].join("\n");
    assert_eq!(failure(How::TimedOut, &at_work, ""), (FailureKind::TimedOut, "after 7 s".to_owned()));
    let usage = failure(How::Exited(1), "", "error: unknown option '--restricted'\n");
    assert_eq!(usage, (FailureKind::UsageError, "error: unknown option '--restricted'".to_owned()));
}

#[test]
fn an_output_that_was_cut_by_us_is_said_to_be() {
    let ended = Ended { stdout_truncated: true, ..ended(How::Exited(0)) };
    let begun = transcript!("write").lines().next().unwrap();
    let failure =
        read_response(AgentOutput { ended: &ended, stdout: begun, stderr: "", at: Timestamp::UNIX_EPOCH })
            .answer
            .unwrap_err();
    assert_eq!(failure.kind, FailureKind::TooLarge);
    assert!(failure.why.contains("limits.output_bytes"), "{}", failure.why);
}

#[test]
fn lines_that_nobody_knows_are_counted_and_do_no_harm() {
    let strange = "no JSON\n[1]\n{\"type\":\"novelty\"}\n{\"type\":7}\n\n";
    let response = response(How::Exited(0), &format!("{strange}{}", transcript!("text")), "");
    assert_eq!(response.answer.unwrap(), "HELLO-FAKE");
    assert_eq!(response.talk.unwrap().unknown, 4);
}

#[test]
fn no_beginning_of_a_transcript_is_an_answer() {
    for whole in [transcript!("write"), transcript!("denied"), transcript!("refusal")] {
        for (end, _) in whole.trim_end().char_indices() {
            assert!(response(How::Exited(0), &whole[..end], "").answer.is_err(), "{end}");
        }
    }
}

#[test]
fn a_limit_says_when_it_is_lifted_in_an_event_or_in_words() {
    let words = "You've hit your session limit · resets 3am (UTC)";
    let result = error(&serde_json::json!({ "api_error_status": 429, "result": words }));
    let event = |status: &str| {
        let limit = serde_json::json!({ "status": status, "resetsAt": 7200, "rateLimitType": "five_hour" });
        serde_json::json!({ "type": "rate_limit_event", "rate_limit_info": limit }).to_string()
    };
    let lifted = |stdout: &str| {
        let response = response(How::Exited(1), stdout, "");
        let failure = response.answer.unwrap_err();
        assert_eq!((failure.kind, response.talk.unwrap().unknown), (FailureKind::UsageLimit, 0));
        failure.until.unwrap().as_second()
    };
    assert_eq!(lifted(&result), 3 * 3600);
    assert_eq!(lifted(&format!("{}\n{result}", event("allowed_warning"))), 3 * 3600);
    assert_eq!(lifted(&format!("{}\n{result}", event("rejected"))), 7200);
}

/// Returns the windows that a call reported, as `name used@second`.
fn windows(lines: &[Value]) -> Vec<String> {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let talk = response(How::Exited(0), &lines.join("\n"), "").talk.unwrap();
    assert_eq!(talk.unknown, 0);
    let line = |window: &skilltune_phases::base::window::Window| {
        format!("{} {}@{}", window.name, window.used, window.resets_at.as_second())
    };
    talk.windows.iter().map(line).collect()
}

fn limits(info: &Value) -> Value {
    json!({ "type": "rate_limit_event", "rate_limit_info": info, "uuid": "u", "session_id": "s" })
}

#[test]
fn the_usage_windows_of_a_login_are_read_and_the_last_report_counts() {
    // The format of versions from 2.1.259 on.
    let newer = |five: f64, seven: f64| {
        limits(&json!({
            "status": "allowed", "resetsAt": 18_000, "rateLimitType": "five_hour",
            "overageStatus": "rejected", "overageDisabledReason": "out_of_credits", "isUsingOverage": false,
            "unifiedWindows": {
                "five_hour": { "utilization": five, "resetsAt": 18_000 },
                "seven_day": { "utilization": seven, "resetsAt": 500_000 },
            },
        }))
    };
    assert_eq!(windows(&[newer(0.24, 0.13)]), ["five_hour 24@18000", "seven_day 13@500000"]);
    let last = windows(&[newer(0.24, 0.13), newer(0.251, 0.13)]);
    assert_eq!(last, ["five_hour 26@18000", "seven_day 13@500000"], "rounded up");
    // The format of earlier versions: far from a limit, the use is missing.
    let older = |fields: Value| {
        let mut info = json!({ "status": "allowed", "resetsAt": 18_000, "rateLimitType": "five_hour" });
        info.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        limits(&info)
    };
    assert!(windows(&[older(json!({}))]).is_empty());
    let warning =
        older(json!({ "status": "allowed_warning", "utilization": 0.91, "surpassedThreshold": 0.9 }));
    assert_eq!(windows(&[warning]), ["five_hour 91@18000"]);
    // A window that is used up has a whole number.
    let rejected = limits(&json!({ "status": "rejected", "unifiedWindows": {
        "five_hour": { "utilization": 1, "resetsAt": 18_000 }, "overage": { "utilization": 1, "resetsAt": 18_000 },
    } }));
    assert_eq!(windows(&[rejected]), ["five_hour 100@18000"]);
}

#[test]
fn a_share_in_percent_is_what_was_meant_whatever_a_float_makes_of_it() {
    for percent in 0..=100 {
        let share = f64::from(percent) / 100.0;
        let info = json!({ "unifiedWindows": { "w": { "utilization": share, "resetsAt": 9 } } });
        assert_eq!(windows(&[limits(&info)]), [format!("w {percent}@9")], "{share}");
    }
}

#[test]
fn numbers_and_names_that_cannot_be_true_are_no_report() {
    let one = |name: &str, used: Value, resets: Value| {
        let window = json!({ "utilization": used, "resetsAt": resets });
        windows(&[limits(&json!({ "unifiedWindows": { name: window } }))])
    };
    assert_eq!(one("w", json!(0.5), json!(9)), ["w 50@9"]);
    for used in [json!(-0.1), json!(1.01), json!(24), json!("0.5"), json!(null), json!(1e300), json!([0.5])] {
        assert!(one("w", used.clone(), json!(9)).is_empty(), "{used}");
    }
    let month_away = 33 * 24 * 3600;
    for resets in [
        json!(0),
        json!(-9),
        json!(month_away),
        json!(1_790_000_000_000_i64),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(9.5),
        json!("9"),
        json!(null),
    ] {
        assert!(one("w", json!(0.5), resets.clone()).is_empty(), "{resets}");
    }
    for name in ["", "a b", "\u{1b}[31m", "w\nx", "Ünd", &"w".repeat(41)] {
        assert!(one(name, json!(0.5), json!(9)).is_empty(), "{name:?}");
    }
    for info in [
        json!(null),
        json!(7),
        json!([]),
        json!({ "unifiedWindows": [1] }),
        json!({ "unifiedWindows": { "w": 1 } }),
    ] {
        assert!(windows(&[limits(&info)]).is_empty(), "{info}");
    }
    let many = (0..100).map(|nth| (format!("w{nth}"), json!({ "utilization": 0.5, "resetsAt": 9 })));
    let many = Value::Object(many.collect());
    assert_eq!(windows(&[limits(&json!({ "unifiedWindows": many }))]).len(), 16);
    // NaN is not valid JSON.
    let nan = r#"{"type":"rate_limit_event","rate_limit_info":{"unifiedWindows":{"w":{"utilization":NaN,"resetsAt":9}}}}"#;
    assert!(response(How::Exited(0), nan, "").talk.unwrap().windows.is_empty());
}

fn transcript(stdout: &str) -> String {
    response(How::Exited(0), stdout, "").talk.unwrap().transcript.lines()
}

#[test]
fn what_it_did_is_kept_call_by_call() {
    assert_eq!(
        transcript(transcript!("write")).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"call","id":"toolu_1795248958047294871","tool":"Write","arguments":"{\"content\":\"hello from fake\\n\"}","files":["/scratch/w1/s.txt"]}"#,
            r#"{"event":"result","id":"toolu_1795248958047294871","failed":false,"output":"File created successfully at: /scratch/w1/s.txt (file state is current in your context — no need to Read it back)"}"#,
            r#"{"event":"text","text":"DONE-FAKE"}"#,
            r#"{"event":"end","tool_calls":1,"left_out":0}"#,
        ]
    );
    assert_eq!(
        transcript(transcript!("denied")).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"call","id":"toolu_1795248958614216484","tool":"Write","arguments":"{\"content\":\"hello from fake\\n\"}","files":["/scratch/w1/s2.txt"]}"#,
            r#"{"event":"result","id":"toolu_1795248958614216484","failed":true,"output":"Claude requested permissions to write to /scratch/w1/s2.txt, but you haven't granted it yet."}"#,
            r#"{"event":"text","text":"DONE-FAKE"}"#,
            r#"{"event":"end","tool_calls":1,"left_out":0}"#,
        ]
    );
    // The format of shell results: a failure begins with its exit code, and a result may come in blocks.
    let line = |kind: &str, block: &serde_json::Value| {
        serde_json::json!({ "type": kind, "message": { "content": [block] } }).to_string() + "\n"
    };
    let bash = |id: &str, command: &str| {
        let input = serde_json::json!({ "command": command, "description": "d" });
        line(
            "assistant",
            &serde_json::json!({ "type": "tool_use", "id": id, "name": "Bash", "input": input }),
        )
    };
    let result = |id: &str, content: serde_json::Value, is_error: bool| {
        let block = serde_json::json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error });
        line("user", &block)
    };
    let stdout = [
        bash("a", "./check.py"),
        result("a", "Exit code 2\nTraceback".into(), true),
        bash("b", "ls"),
        result(
            "b",
            serde_json::json!([{ "type": "text", "text": "Exit code 9" }, { "type": "text", "text": "x" }]),
            false,
        ),
    ];
    assert_eq!(
        transcript(&stdout.concat()).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"call","id":"a","tool":"Bash","command":"./check.py","arguments":"{\"description\":\"d\"}"}"#,
            r#"{"event":"result","id":"a","failed":true,"exit_code":2,"output":"Exit code 2\nTraceback"}"#,
            r#"{"event":"call","id":"b","tool":"Bash","command":"ls","arguments":"{\"description\":\"d\"}"}"#,
            r#"{"event":"result","id":"b","failed":false,"output":"Exit code 9\nx"}"#,
            r#"{"event":"end","tool_calls":2,"left_out":0}"#,
        ]
    );
}

#[test]
fn no_number_or_size_of_tool_calls_takes_room_without_bound() {
    let call = serde_json::json!({ "type": "tool_use", "id": "a", "name": "Bash", "input": { "command": "x".repeat(400) } });
    let line = serde_json::json!({ "type": "assistant", "message": { "content": vec![call; 1_000] } })
        .to_string()
        + "\n";
    let talk = response(How::Exited(0), &line.repeat(100), "").talk.unwrap();
    assert_eq!(talk.tools["Bash"], 100_000);
    let digest = talk.transcript.digest().unwrap();
    assert!(digest.starts_with("100000 tool calls, 0 failed.") && digest.len() <= 4 << 10, "{digest}");
    assert!(talk.transcript.lines().lines().count() <= 2_001);
}
