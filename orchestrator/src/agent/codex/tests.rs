use jiff::Timestamp;

use super::*;
use crate::agent::response::ended;

/// The recorded output of a real codex.
macro_rules! transcript {
    ($name:literal) => {
        include_str!(concat!("../../../../fixtures/transcripts/codex/", $name, ".jsonl"))
    };
}

fn response(how: How, stdout: &str, stderr: &str) -> Response {
    read_response(AgentOutput { ended: &ended(how), stdout, stderr, at: Timestamp::UNIX_EPOCH })
}

fn failure(how: How, stdout: &str, stderr: &str) -> FailureKind {
    response(how, stdout, stderr).answer.unwrap_err().kind
}

const BEGUN: &str = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}";

fn env(set: &[(&str, &str)]) -> Env {
    set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn an_answer_comes_with_its_tokens_and_its_tools() {
    let response = response(How::Exited(0), transcript!("write"), "");
    assert_eq!(response.answer.unwrap(), "DONE-FAKE");
    let spent = Spent {
        ms: 7000,
        input_tokens: Some(3000),
        cached_input_tokens: Some(600),
        output_tokens: Some(150),
        ..Spent::default()
    };
    assert_eq!(response.spent, spent);
    let talk = response.talk.unwrap();
    assert_eq!(talk.tools, [("command_execution".to_owned(), 1), ("file_change".to_owned(), 1)].into());
    assert!(talk.session.is_some() && talk.denied.is_empty());
    assert_eq!(talk.unknown, 0);
}

#[test]
fn a_patch_that_is_refused_is_told_beside_the_events_only() {
    let stderr = "ERROR router: error=patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings";
    let response = response(How::Exited(0), transcript!("denied"), stderr);
    assert_eq!(response.answer.unwrap(), "DONE-FAKE");
    assert_eq!(response.talk.unwrap().denied, ["file_change"]);
}

#[test]
fn what_the_service_answered_is_told_in_words() {
    let kinds = [
        (transcript!("400"), FailureKind::UsageError),
        (transcript!("401"), FailureKind::Authentication),
        (transcript!("429"), FailureKind::RateLimited),
        (transcript!("500"), FailureKind::Overloaded),
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
    for (why, kind) in [
        ("unexpected status 403 Forbidden: no, url: http://x/429", FailureKind::Forbidden),
        ("unexpected status 402 Payment Required: no", FailureKind::NoCredit),
        ("unexpected status 404 Not Found: it is a 404", FailureKind::ModelNotFound),
        ("unexpected status 503 Service Unavailable: no", FailureKind::Overloaded),
        ("unexpected status 529 <unknown status code>: no", FailureKind::Overloaded),
        ("The model `x` does not exist or you do not have access to it.", FailureKind::ModelNotFound),
        ("{\"error\":{\"message\":\"The 'x' model is not supported when\"}}", FailureKind::ModelNotFound),
        ("Codex ran out of room in the model's context window.", FailureKind::PromptTooLong),
        ("Quota exceeded. Check your plan and billing details.", FailureKind::NoCredit),
        ("Your workspace is out of credits. Add credits to continue.", FailureKind::NoCredit),
        ("rate limit exceeded: try again in 3 s", FailureKind::RateLimited),
        ("Selected model is at capacity. Please try a different model.", FailureKind::Overloaded),
        ("Connection failed: error sending request", FailureKind::Network),
        (
            "Your access token could not be refreshed. Please log out and sign in again.",
            FailureKind::Authentication,
        ),
        ("something else", FailureKind::Crashed),
    ] {
        assert_eq!(super::kind(why), kind, "{why}");
    }
}

#[test]
fn what_was_said_before_it_was_given_up_is_no_answer() {
    assert!(transcript!("cut-off").contains("DONE-FAKE"));
    assert_eq!(failure(How::Exited(1), transcript!("cut-off"), ""), FailureKind::Network);
    let say = r#"{"type":"item.completed","item":{"type":"agent_message","text":"I look."}}"#;
    let tool = r#"{"type":"item.completed","item":{"type":"command_execution","status":"completed"}}"#;
    let end = r#"{"type":"turn.completed"}"#;
    let stdout = [BEGUN, say, tool, end].join("\n");
    assert_eq!(response(How::Exited(0), &stdout, "").answer.unwrap(), "");
    assert_eq!(response(How::Exited(0), transcript!("empty"), "").answer.unwrap(), "");
}

#[test]
fn before_it_asks_its_model_it_tells_what_it_does_not_take() {
    let thread = BEGUN.lines().next().unwrap();
    let kinds = [
        (
            "Error: turn/start failed: Input exceeds the maximum length. data: {\"input_error_code\":\"input_too_large\"}",
            FailureKind::PromptTooLong,
        ),
        (
            "WARNING: x\nError finding codex home: CODEX_HOME points to \"/h/.codex\", but that path does not exist",
            FailureKind::Authentication,
        ),
        (
            "Error loading config.toml: unknown configuration field `features.x` in -c/--config override",
            FailureKind::UsageError,
        ),
        ("error: unexpected argument '--nonsense' found", FailureKind::UsageError),
    ];
    for (stderr, kind) in kinds {
        assert_eq!(failure(How::Exited(1), thread, stderr), kind, "{stderr}");
    }
    assert_eq!(failure(How::Exited(0), "", ""), FailureKind::Crashed);
    assert_eq!(failure(How::TimedOut, BEGUN, ""), FailureKind::NoResponse);
    let again = r#"{"type":"error","message":"Reconnecting... 1/5"}"#;
    let complaint = r#"{"type":"item.completed","item":{"id":"0","type":"error","message":"no metadata"}}"#;
    let silent = format!("{BEGUN}\n{again}\n{complaint}\n");
    assert_eq!(failure(How::TimedOut, &silent, ""), FailureKind::NoResponse);
    let command = r#"{"type":"item.started","item":{"id":"1","type":"command_execution","command":"ls"}}"#;
    assert_eq!(failure(How::TimedOut, &format!("{silent}{command}\n"), ""), FailureKind::TimedOut);
}

#[test]
fn another_service_is_named_for_a_key_and_never_for_a_login() {
    let place =
        |set: &[(&str, &str)]| arguments(&Ask::new(&env(set), Rights::Work, Isolation::Partial)).join(" ");
    let there = (SERVICE, "http://127.0.0.1:1/\"v1");
    let named = place(&[there, (KEY, "secret")]);
    assert!(named.contains(r#"skilltune.base_url="http://127.0.0.1:1/\"v1""#), "{named}");
    assert!(!named.contains("secret"));
    for without in [&[there][..], &[there, (KEY, "")], &[(SERVICE, ""), (KEY, "secret")]] {
        assert!(!place(without).contains("base_url"), "{without:?}");
    }
}

#[test]
fn a_login_stays_where_it_is_and_the_rest_of_the_home_is_out_of_sight() {
    let homes = |isolation, set| {
        let set = variables(&env(set), isolation, "/t").into_iter();
        set.map(|(name, at)| format!("{name}={at}")).collect::<Vec<_>>()
    };
    let own = |home: &str| ["HOME=/t".to_owned(), format!("CODEX_HOME={home}"), "TMPDIR=/t/tmp".to_owned()];
    assert_eq!(homes(Isolation::Partial, &[("HOME", "/h"), (KEY, "k")]), own("/t/codex"));
    assert_eq!(homes(Isolation::Partial, &[("HOME", "/h")]), own("/h/.codex"));
    assert_eq!(homes(Isolation::Partial, &[("HOME", "/h"), (HOME, "/c")]), own("/c"));
    assert_eq!(homes(Isolation::Fresh, &[("HOME", "/h"), (HOME, "/c")]), own("/t/codex"));
    assert_eq!(homes(Isolation::User, &[("HOME", "/h")]), [""; 0]);
}

#[test]
fn in_the_users_own_world_their_settings_are_read_and_the_sandbox_stays() {
    let of = |isolation| arguments(&Ask::new(&env(&[]), Rights::Read, isolation)).join(" ");
    for isolation in [Isolation::Partial, Isolation::Fresh] {
        assert!(of(isolation).contains("--ignore-user-config --ignore-rules"));
    }
    let theirs = of(Isolation::User);
    assert!(!theirs.contains("--ignore-user-config") && !theirs.contains("project_doc_max_bytes"));
    assert!(theirs.contains("--sandbox read-only") && theirs.contains("network_access=false"), "{theirs}");
}

#[test]
fn a_skill_is_used_by_reading_its_page_and_one_that_it_refuses_is_told_beside_the_events() {
    let skills = |stderr| response(How::Exited(0), transcript!("skill"), stderr).talk.unwrap().skills;
    let used = skills("").used;
    let used: Vec<_> = used.iter().map(|one| (one.name.as_str(), one.folder.as_deref())).collect();
    assert_eq!(used, [("haiku", Some("/w/space/.agents/skills/haiku"))], "it was listed, and then read");
    let stderr = "ERROR codex_core::session: failed to load skill /w/.agents/skills/a: b/SKILL.md: missing field `description`";
    assert_eq!(skills(stderr).refused, ["/w/.agents/skills/a: b"]);
    assert_eq!(skills("").refused, [""; 0]);
}

#[test]
fn who_is_to_find_a_skill_is_shown_it_and_none_that_stands_beside_the_users_login() {
    let home = tempfile::tempdir().unwrap();
    for name in ["haiku", "deeper/\"other"] {
        let folder = home.path().join("skills").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), "theirs").unwrap();
    }
    let at = home.path().to_str().unwrap();
    let line = |isolation, set: &[(&str, &str)], skills, is_made| {
        let env = env(set);
        arguments(&Ask { skills, is_made, ..Ask::new(&env, Rights::Work, isolation) }).join(" ")
    };
    let shut_out = line(Isolation::Partial, &[(HOME, at)], true, true);
    let theirs = format!(
        r#"skills.config=[{{path="{at}/skills/deeper/\"other/SKILL.md",enabled=false}},{{path="{at}/skills/haiku/SKILL.md",enabled=false}}]"#
    );
    assert!(shut_out.contains(&theirs) && !shut_out.contains("include_instructions"), "{shut_out}");
    let with_key: &[(&str, &str)] = &[(HOME, at), (KEY, "k")];
    for (isolation, set, is_made) in [
        (Isolation::Partial, with_key, true),
        (Isolation::Fresh, &[(HOME, at)], true),
        (Isolation::User, &[(HOME, at)], true),
        // The fingerprint does not depend on the user's skills.
        (Isolation::Partial, &[(HOME, at)], false),
    ] {
        let text = line(isolation, set, true, is_made);
        assert!(!text.contains("skills.config") && !text.contains("include_instructions"), "{text}");
    }
    for isolation in [Isolation::Partial, Isolation::Fresh] {
        assert!(line(isolation, with_key, false, true).contains("skills.include_instructions=false"));
    }
    assert!(!line(Isolation::User, with_key, false, true).contains("include_instructions"));
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
fn what_it_did_is_kept_call_by_call() {
    let transcript = |stdout: &str| response(How::Exited(0), stdout, "").talk.unwrap().transcript.lines();
    assert_eq!(
        transcript(transcript!("write")).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"call","id":"item_0","tool":"command_execution","command":"/bin/bash -c 'cat AGENTS.md; ls'"}"#,
            r#"{"event":"result","id":"item_0","failed":false,"exit_code":0,"output":"skill\ncat: AGENTS.md: No such file or directory\n"}"#,
            r#"{"event":"call","id":"item_1","tool":"file_change","files":["/scratch/wx1/s.txt"]}"#,
            r#"{"event":"result","id":"item_1","failed":false,"output":""}"#,
            r#"{"event":"text","text":"DONE-FAKE"}"#,
            r#"{"event":"end","tool_calls":2,"left_out":0}"#,
        ]
    );
    // A tool that is reported only at its end, and one that was running when the call was cut off.
    let stdout = r#"{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"./check","aggregated_output":"no\n","exit_code":1,"status":"failed"}}
{"type":"item.started","item":{"id":"i1","type":"web_search","query":"x","status":"in_progress"}}"#;
    assert_eq!(
        transcript(stdout).lines().collect::<Vec<_>>(),
        [
            r#"{"event":"call","id":"i0","tool":"command_execution","command":"./check"}"#,
            r#"{"event":"result","id":"i0","failed":true,"exit_code":1,"output":"no\n"}"#,
            r#"{"event":"call","id":"i1","tool":"web_search","arguments":"{\"query\":\"x\"}"}"#,
            r#"{"event":"end","tool_calls":2,"left_out":0}"#,
        ]
    );
}
