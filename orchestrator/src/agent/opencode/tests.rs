use jiff::Timestamp;

use super::*;
use crate::agent::response::ended;

/// The recorded output of a real opencode.
macro_rules! transcript {
    ($name:literal) => {
        include_str!(concat!("../../../../fixtures/transcripts/opencode/", $name, ".jsonl"))
    };
}

fn response(how: How, stdout: &str, stderr: &str) -> Response {
    read_response(AgentOutput { ended: &ended(how), stdout, stderr, at: Timestamp::UNIX_EPOCH })
}

fn failure(how: How, stdout: &str, stderr: &str) -> FailureKind {
    response(how, stdout, stderr).answer.unwrap_err().kind
}

fn env(set: &[(&str, &str)]) -> Env {
    set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn an_answer_comes_with_its_cost_its_tools_and_its_turns() {
    let response = response(How::Exited(0), transcript!("write"), "");
    assert_eq!(response.answer.unwrap(), "DONE-FAKE");
    let spent = Spent {
        ms: 7000,
        usd: Some(0.0105),
        input_tokens: Some(2000),
        output_tokens: Some(100),
        ..Spent::default()
    };
    assert_eq!(response.spent, spent);
    let talk = response.talk.unwrap();
    assert_eq!((talk.turns, talk.unknown), (Some(2), 0));
    assert_eq!(talk.tools, [("write".to_owned(), 1)].into());
    assert!(talk.session.is_some() && talk.denied.is_empty());
}

#[test]
fn what_it_was_not_let_do_is_told_once_whether_it_has_no_such_tool_or_a_rule_forbids_it() {
    let judge = response(How::Exited(0), transcript!("denied"), "");
    assert_eq!(judge.answer.unwrap(), "DONE-FAKE");
    assert_eq!(judge.talk.unwrap().denied, ["bash", "write", "webfetch"]);
    // Writes and edits within the workspace; no writes or reads outside.
    let writer = response(How::Exited(0), transcript!("bounds"), "").talk.unwrap();
    assert_eq!(writer.denied, ["write", "read"]);
    assert_eq!(writer.tools["write"], 2);
}

#[test]
fn a_price_of_nothing_is_no_price() {
    let response = response(How::Exited(0), transcript!("denied"), "");
    assert_eq!((response.spent.usd, response.spent.input_tokens), (None, Some(4000)));
}

#[test]
fn the_last_step_tells_how_it_ended_and_an_error_before_all() {
    let kinds = [
        (transcript!("429"), FailureKind::RateLimited),
        (transcript!("cut-off"), FailureKind::Network),
        (transcript!("refusal"), FailureKind::Refused),
        (transcript!("max-output"), FailureKind::OutputLimit),
        (transcript!("usage-limit"), FailureKind::UsageLimit),
    ];
    for (stdout, kind) in kinds {
        for code in [0, 1] {
            assert_eq!(failure(How::Exited(code), stdout, ""), kind, "{stdout}");
        }
    }
    assert_eq!(response(How::Exited(0), transcript!("empty"), "").answer.unwrap(), "");
    assert_eq!(failure(How::TimedOut, transcript!("page"), ""), FailureKind::Network);
}

#[test]
fn what_an_error_says_tells_what_kind_it_is() {
    let of = |name: &str, data: Value| {
        let error = json!({ "type": "error", "error": { "name": name, "data": data } });
        failure(How::Exited(1), &error.to_string(), "")
    };
    for (status, kind) in [
        (400, FailureKind::UsageError),
        (401, FailureKind::Authentication),
        (402, FailureKind::NoCredit),
        (403, FailureKind::Forbidden),
        (404, FailureKind::ModelNotFound),
        (500, FailureKind::Overloaded),
        (529, FailureKind::Overloaded),
    ] {
        let data = json!({ "message": format!("it is a {status}"), "statusCode": status });
        assert_eq!(of("APIError", data), kind, "{status}");
    }
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    let body = "{\"error\":{\"type\":\"insufficient_quota\"}}";
    let data = json!({ "message": "Too Many Requests", "statusCode": 429, "responseBody": body });
    assert_eq!(of("APIError", data), FailureKind::NoCredit);
    let metric = format!("{quota}\n* Quota exceeded for metric: requests. Please retry in 4s.");
    for (message, kind) in [(quota, FailureKind::NoCredit), (&*metric, FailureKind::UsageLimit)] {
        let data = json!({ "message": message, "statusCode": 429 });
        assert_eq!(of("APIError", data), kind, "{message}");
    }
    for (name, message, kind) in [
        ("ProviderAuthError", "no", FailureKind::Authentication),
        ("MessageOutputLengthError", "no", FailureKind::OutputLimit),
        ("ContextOverflowError", "no", FailureKind::PromptTooLong),
        ("ContentFilterError", "no", FailureKind::Refused),
        ("UnknownError", "Model not found: x/y.", FailureKind::ModelNotFound),
        ("UnknownError", "OpenAI API key is missing.", FailureKind::Authentication),
        ("UnknownError", "Unable to connect.", FailureKind::Network),
        ("UnknownError", "something else", FailureKind::Crashed),
    ] {
        assert_eq!(of(name, json!({ "message": message })), kind, "{name} {message}");
    }
}

#[test]
fn what_an_event_does_not_say_is_looked_for_in_the_log() {
    let data =
        json!({ "message": "Unexpected server error. Check server logs for details.", "ref": "err_1" });
    let event = json!({ "type": "error", "error": { "name": "UnknownError", "data": data } }).to_string();
    let log = "level=ERROR message=first error=\"other\"\nlevel=ERROR message=failed ref=err_1 \
               error=\"ProviderModelNotFoundError: Model not found: a/b.\" cause=\"x\"";
    let failure = response(How::Exited(1), &event, log).answer.unwrap_err();
    assert_eq!(failure.kind, FailureKind::ModelNotFound);
    assert_eq!(failure.why, "ProviderModelNotFoundError: Model not found: a/b.");
    assert_eq!(self::failure(How::Exited(1), &event, ""), FailureKind::Crashed);
    // An event with its own message needs no log.
    assert_eq!(self::failure(How::Exited(1), transcript!("429"), log), FailureKind::RateLimited);
}

#[test]
fn a_summary_at_the_limit_of_its_steps_is_no_answer() {
    let steps = usize::try_from(STEPS).unwrap();
    let stdout = |steps| {
        let step = json!({ "type": "step_finish", "part": { "reason": "tool-calls" } }).to_string() + "\n";
        step.repeat(steps - 1) + &json!({ "type": "step_finish", "part": { "reason": "stop" } }).to_string()
    };
    assert!(response(How::Exited(0), &stdout(steps - 1), "").answer.is_ok());
    assert_eq!(failure(How::Exited(0), &stdout(steps), ""), FailureKind::TurnLimit);
}

#[test]
fn without_a_step_that_stopped_there_is_no_answer() {
    let begun = transcript!("write").lines().next().unwrap();
    assert_eq!(failure(How::Exited(0), begun, ""), FailureKind::Crashed);
    assert_eq!(failure(How::TimedOut, begun, ""), FailureKind::NoResponse);
    let lines: Vec<&str> = transcript!("write").lines().collect();
    let at_work = lines[..lines.len() - 1].join("\n");
    assert_eq!(failure(How::TimedOut, &at_work, ""), FailureKind::TimedOut);
    assert_eq!(failure(How::Exited(1), "", "\nError: Unknown argument: x"), FailureKind::UsageError);
    assert_eq!(failure(How::Exited(1), "", "ProviderModelNotFoundError: x"), FailureKind::ModelNotFound);
}

#[test]
fn no_role_has_a_shell_or_the_web_and_who_judges_cannot_write() {
    let rights = configuration(&env(&[]), None);
    let denied = json!({ "*": "deny", "read": "allow", "glob": "allow", "grep": "allow", "list": "allow" });
    assert_eq!(rights["permission"], denied);
    assert_eq!(rights["agent"]["judge"].get("permission"), None);
    assert_eq!(rights["agent"]["writer"]["permission"], json!({ "edit": "allow" }));
    let one = json!({ "*": "allow", "customize-opencode": "deny" });
    assert_eq!(rights["agent"]["pupil"]["permission"], json!({ "edit": "allow", "skill": one }));
    for (rights, skills, agent) in [
        (Rights::Work, false, "writer"),
        (Rights::Work, true, "pupil"),
        (Rights::Read, false, "judge"),
        (Rights::Edit, false, "writer"),
    ] {
        let (env, model) = (env(&[]), Some("a/b"));
        let arguments =
            arguments(&Ask { model, skills, ..Ask::new(&env, rights, Isolation::Partial) }).join(" ");
        assert!(arguments.ends_with(&format!("--agent {agent} --model a/b")), "{arguments}");
    }
}

#[test]
fn another_service_is_part_of_the_configuration_and_its_key_is_not() {
    let set = env(&[(SERVICE, "http://127.0.0.1:1/v1"), (KEY, "secret")]);
    let providers = |model| configuration(&set, Some(model))["provider"].clone();
    let own = providers("openai-compatible/org/large");
    assert_eq!(own[COMPATIBLE]["options"]["baseURL"], "http://127.0.0.1:1/v1");
    assert_eq!(own[COMPATIBLE]["models"], json!({ "org/large": {} }));
    assert_eq!(providers("openai/large")["openai"]["models"], json!({ "large": {} }));
    assert_eq!(providers("anthropic/large").as_object().unwrap().len(), 2);
    assert!(!own.to_string().contains("secret"));
    assert_eq!(configuration(&env(&[(KEY, "secret")]), None)["provider"], json!({}));
}

#[test]
fn its_logins_stay_where_they_are_and_the_rest_of_the_home_is_out_of_sight() {
    let root = tempfile::tempdir().unwrap();
    let at = |below: &str| root.path().join(below).to_string_lossy().into_owned();
    for data in ["h/.local/share", "d"] {
        std::fs::create_dir_all(root.path().join(data).join("opencode")).unwrap();
    }
    let data = |set: &[(&str, &str)], isolation| {
        let mut set = variables(&env(set), isolation, "/t").into_iter();
        set.find(|(name, _)| *name == DATA).map(|(_, at)| at)
    };
    let (home, elsewhere) = ([("HOME", &*at("h"))], [("HOME", &*at("h")), (DATA, &*at("d"))]);
    assert_eq!(data(&home, Isolation::Partial), Some(at("h/.local/share")));
    assert_eq!(data(&elsewhere, Isolation::Partial), Some(at("d")));
    assert_eq!(data(&elsewhere, Isolation::Fresh).as_deref(), Some("/t"));
    assert_eq!(data(&[("HOME", "/nobody")], Isolation::Partial).as_deref(), Some("/t"), "there are none");
    assert_eq!(variables(&env(&home), Isolation::User, "/t"), []);
    assert_eq!(keeps(&env(&home), Isolation::Partial), [at("h/.local/share/opencode")]);
    assert_eq!(keeps(&env(&home), Isolation::Fresh), [""; 0]);
}

#[test]
fn a_skill_is_used_when_it_was_loaded_or_its_page_was_read() {
    let skills = response(How::Exited(0), transcript!("skill"), "").talk.unwrap().skills;
    let used: Vec<_> = skills.used.iter().map(|one| (one.name.as_str(), one.folder.as_deref())).collect();
    let there = ("haiku", Some("/w/space/.opencode/skills/haiku"));
    assert_eq!(
        used,
        [there, there],
        "by its tool and by its page; one that there is not was asked for in vain"
    );
    assert_eq!(skills.offered, None);
}

#[test]
fn no_beginning_of_a_transcript_is_an_answer() {
    for whole in [transcript!("write"), transcript!("bounds"), transcript!("refusal")] {
        for (end, _) in whole.trim_end().char_indices() {
            assert!(response(How::Exited(0), &whole[..end], "").answer.is_err(), "{end}");
        }
    }
}

#[test]
fn what_it_did_is_kept_call_by_call() {
    let transcript = |stdout: &str| response(How::Exited(0), stdout, "").talk.unwrap().transcript.lines();
    assert_eq!(
        transcript(transcript!("write")).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"call","id":"call_chatcmpl_1795248981439105762","tool":"write","arguments":"{\"content\":\"hello from fake\\n\"}","files":["/scratch/wo1/s.txt"]}"#,
            r#"{"event":"result","id":"call_chatcmpl_1795248981439105762","failed":false,"output":"Wrote file successfully."}"#,
            r#"{"event":"text","text":"DONE-FAKE"}"#,
            r#"{"event":"end","tool_calls":1,"left_out":0}"#,
        ]
    );
    // A failed command is completed too.
    let stdout = r#"{"type":"tool_use","part":{"tool":"bash","callID":"a","state":{"status":"completed","input":{"command":"./check","description":"d"},"output":"no\n","metadata":{"exit":3}}}}
{"type":"tool_use","part":{"tool":"write","callID":"b","state":{"status":"error","input":{"filePath":"/x"},"error":"rejected permission"}}}"#;
    assert_eq!(
        transcript(stdout).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"call","id":"a","tool":"bash","command":"./check","arguments":"{\"description\":\"d\"}"}"#,
            r#"{"event":"result","id":"a","failed":true,"exit_code":3,"output":"no\n"}"#,
            r#"{"event":"call","id":"b","tool":"write","files":["/x"]}"#,
            r#"{"event":"result","id":"b","failed":true,"output":"rejected permission"}"#,
            r#"{"event":"end","tool_calls":2,"left_out":0}"#,
        ]
    );
}
