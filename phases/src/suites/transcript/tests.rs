use serde_json::json;

use super::*;
use crate::skills::keys::Keys;

fn call(id: &str, tool: &str, arguments: &Value) -> Call {
    Call::new(id, tool, arguments, &["file_path"])
}

fn returned(id: &str, exit_code: Option<i64>, output: &str) -> ToolResult {
    let failed = exit_code.is_some_and(|code| code != 0);
    ToolResult { id: id.to_owned(), failed, exit_code, output: output.to_owned() }
}

fn example() -> Transcript {
    let mut transcript = Transcript::default();
    transcript.say("I fill in the form.");
    transcript
        .call(|| call("a", "Bash", &json!({ "command": "python scripts/fill.py\nform.pdf", "timeout": 5 })));
    let trace = "Exit code 1\nTraceback\nModuleNotFoundError: No module named 'pypdf'\n\n";
    transcript.result(|| returned("a", Some(1), trace));
    transcript.call(|| call("b", "Write", &json!({ "file_path": "/w/space/out.md", "content": "x" })));
    transcript.result(|| returned("b", None, "written"));
    transcript.call(|| call("c", "Bash", &json!({ "command": "ls" })));
    transcript.result(|| returned("c", Some(0), "out.md"));
    transcript.call(|| call("d", "Grep", &json!({ "pattern": "x" })));
    transcript.total(Some(4), Some(900), Some(30));
    transcript
}

fn redaction(secrets: &[&str]) -> Redaction {
    let keys = Keys::new(secrets.iter().map(|&secret| secret.to_owned()));
    Redaction { keys, workspace: vec!["/w/space".to_owned()] }
}

/// Returns the stored form of a result with this output.
fn stored(output: &str, secrets: &[&str]) -> String {
    let mut transcript = Transcript::default();
    transcript.result(|| returned("a", None, output));
    transcript.redacted(&redaction(secrets)).lines()
}

#[test]
fn a_transcript_is_one_event_a_line_and_ends_with_the_totals() {
    insta::assert_snapshot!(example().redacted(&redaction(&[])).lines(), @r#"
    {"event":"text","text":"I fill in the form."}
    {"event":"call","id":"a","tool":"Bash","command":"python scripts/fill.py\nform.pdf","arguments":"{\"timeout\":5}"}
    {"event":"result","id":"a","failed":true,"exit_code":1,"output":"Exit code 1\nTraceback\nModuleNotFoundError: No module named 'pypdf'\n\n"}
    {"event":"call","id":"b","tool":"Write","arguments":"{\"content\":\"x\"}","files":["out.md"]}
    {"event":"result","id":"b","failed":false,"output":"written"}
    {"event":"call","id":"c","tool":"Bash","command":"ls"}
    {"event":"result","id":"c","failed":false,"exit_code":0,"output":"out.md"}
    {"event":"call","id":"d","tool":"Grep","arguments":"{\"pattern\":\"x\"}"}
    {"event":"end","turns":4,"input_tokens":900,"output_tokens":30,"tool_calls":4,"left_out":0}
    "#);
}

#[test]
fn a_digest_has_the_calls_in_order_with_exit_codes_and_the_last_line_of_failures() {
    insta::assert_snapshot!(example().redacted(&redaction(&[])).digest().unwrap(), @r#"
    4 turns, 4 tool calls, 1 failed.
    1. Bash: python scripts/fill.py form.pdf -> failed, exit code 1: ModuleNotFoundError: No module named 'pypdf'
    2. Write: out.md
    3. Bash: ls -> exit code 0
    4. Grep: {"pattern":"x"} -> no result
    "#);
}

#[test]
fn its_lines_are_read_back_and_other_lines_are_not() {
    let whole = example().redacted(&redaction(&[]));
    let lines = whole.lines();
    assert_eq!(Transcript::from_lines(&lines), Some(whole));
    let end = lines.lines().last().unwrap();
    let event = "{\"event\":\"text\",\"text\":\"x\"}\n";
    for forged in [
        String::new(),
        "\n".to_owned(),
        lines.replace(end, ""),
        format!("{lines}{end}"),
        format!("{end}\n{lines}"),
        format!("{lines}{event}"),
        lines.replacen("text", "thought", 1),
        event.repeat(MOST_EVENTS + 1) + end,
        "[".repeat(1 << 20),
    ] {
        assert_eq!(Transcript::from_lines(&forged), None, "{forged:.200}");
    }
    assert!(Transcript::from_lines(&(event.repeat(MOST_EVENTS) + end)).is_some());
}

#[test]
fn what_was_shortened_is_known_by_its_length_and_by_nothing_else() {
    let is_whole = |text: &str| {
        let mut transcript = Transcript::default();
        transcript.say(text);
        transcript.call(|| call("a", "Bash", &json!({ "command": text })));
        transcript
            .call(|| call("b", "Write", &json!({ "file_path": "a", "content": &text[..text.len() / 5] })));
        transcript.result(|| returned("a", None, text));
        let transcript = transcript.redacted(&redaction(&[]));
        assert!(transcript.is_whole());
        transcript.events().iter().map(Event::is_whole).collect::<Vec<_>>()
    };
    assert_eq!(is_whole(&"x".repeat(2_000)), [true; 4]);
    assert_eq!(is_whole(&"x".repeat(2_001)), [false, false, true, false]);
    assert_eq!(is_whole(&"x".repeat(3_000)), [false; 4]);
    assert_eq!(is_whole("a [... 4998011 characters ...] b"), [true; 4]);
}

#[test]
fn an_agent_that_reports_nothing_has_no_digest() {
    let mut silent = Transcript::default();
    silent.say(" \n");
    silent.total(Some(3), None, None);
    assert!(silent.is_empty());
    assert_eq!(silent.digest(), None);
}

#[test]
fn a_text_in_parts_is_one_event() {
    let mut transcript = Transcript::default();
    for part in ["I", " am", " done."] {
        transcript.continue_text(part);
    }
    insta::assert_snapshot!(transcript.lines(), @r#"
    {"event":"text","text":"I am done."}
    {"event":"end","tool_calls":0,"left_out":0}
    "#);
}

#[test]
fn a_million_calls_of_any_size_are_counted_and_take_little_room() {
    let mut transcript = Transcript::default();
    let huge = "é".repeat(1_000);
    for nth in 0..1_000_000_u64 {
        transcript.call(|| call(&nth.to_string(), &huge, &json!({ "file_path": huge, "command": huge })));
        transcript.result(|| returned(&nth.to_string(), Some((nth % 2).cast_signed()), &huge));
        assert!(nth < 1_000 || transcript.has_call("none"), "a full transcript is not searched");
    }
    let transcript = transcript.redacted(&redaction(&["a-secret-value"]));
    let digest = transcript.digest().unwrap();
    assert!(digest.starts_with("1000000 tool calls, 500 failed.\n1. ééé"), "{digest}");
    assert!(digest.contains(" more calls, 49"), "{digest}");
    assert!(digest.ends_with("(The agent reported 1998000 events more; they were not kept.)\n"), "{digest}");
    assert!(digest.len() <= 4 << 10, "{}", digest.len());
    let lines = transcript.lines();
    assert_eq!(lines.lines().count(), MOST_EVENTS + 1);
    assert!(lines.len() < 16 << 20, "{}", lines.len());
}

#[test]
fn a_long_output_keeps_its_beginning_and_its_end() {
    let stored = stored(&format!("first {} last", "x".repeat(5_000_000)), &[]);
    assert!(stored.contains("\"first xxx") && stored.contains("xxx last\""), "{stored}");
    assert!(stored.contains("[... 4998011 characters ...]") && stored.len() < 2_300, "{stored}");
}

#[test]
fn control_characters_and_invisible_ones_are_dropped() {
    let stored = stored("a\u{1b}[31mb\u{0}\r\u{202e}c\u{200b}d\ne", &[]);
    assert!(stored.contains(r#""output":"a[31mbcd\ne""#), "{stored}");
}

// Assembled here, so that scanners do not find a key in this file.
fn key() -> String {
    ["ghp", "_", &"q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(2)[..36]].concat()
}

#[test]
fn keys_are_hidden_wherever_they_stand() {
    let (known, own) = ("plain words", key());
    let quoted = format!("with \"quotes\" and {own}");
    let mut transcript = Transcript::default();
    transcript.say(&format!("The key is {known}."));
    let arguments =
        json!({ "command": format!("echo {own}"), "file_path": format!("/w/space/{own}"), "more": quoted });
    transcript.call(|| call(&own, &own, &arguments));
    transcript.result(|| returned(&own, None, &format!("A={own}\nB={known}")));
    let transcript = transcript.redacted(&redaction(&[known, "with \"quotes\""]));
    let written = transcript.lines() + &transcript.digest().unwrap();
    assert!(!written.contains(&own) && !written.contains(known) && !written.contains("quotes"), "{written}");
    assert!(written.contains("echo [hidden]") && written.contains("A=[hidden]\\nB=[hidden]"), "{written}");
}

#[test]
fn a_key_is_hidden_before_its_text_is_cut_and_after_control_characters_are_gone() {
    let key = key();
    for at in 950..1_010 {
        let stored = stored(&format!("{}.{key}.{}", "x".repeat(at), "y".repeat(3_000)), &[]);
        assert!(!stored.contains(&key[..8]), "{at}: {stored}");
    }
    let split = format!("{}\u{1b}{}", &key[..10], &key[10..]);
    assert!(!stored(&split, &[]).contains(&key[..8]));
    assert!(!stored("part\u{200b}-of-a-secret", &["part-of-a-secret"]).contains("of-a"));
}

#[test]
fn a_private_key_is_hidden_to_its_end() {
    let body = "q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(6);
    let mark = |word: &str| ["-----", word, " RSA ", "PRIVATE KEY-----"].concat();
    let whole = format!("before\n{}\n{body}\n{}\nafter", mark("BEGIN"), mark("END"));
    assert!(stored(&whole, &[]).contains(r#""output":"before\n[hidden]\nafter""#), "{}", stored(&whole, &[]));
    let cut = format!("before\n{}\n{body}", mark("BEGIN"));
    assert!(stored(&cut, &[]).contains(r#""output":"before\n[hidden]""#), "{}", stored(&cut, &[]));
}

#[test]
fn a_text_full_of_beginnings_of_keys_ends_soon() {
    let body = "q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(6);
    for hostile in
        ["-----BEGIN ", "-----BEGIN PRIVATE KEY-----", &["-----BEGIN ", "PRIVATE KEY-----", &body].concat()]
    {
        stored(&hostile.repeat((8 << 20) / hostile.len()), &["a-secret-value"]);
    }
}
