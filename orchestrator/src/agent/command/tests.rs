use jiff::Timestamp;

use super::*;
use crate::agent::response::ended;

fn settings(settings: serde_json::Value) -> AgentSettings {
    serde_json::from_value(settings).unwrap()
}

fn response(settings: &AgentSettings, stdout: &str) -> Response {
    settings.read_response(AgentOutput {
        ended: &ended(How::Exited(0)),
        stdout,
        stderr: "",
        at: Timestamp::UNIX_EPOCH,
    })
}

fn answer(settings: &AgentSettings, stdout: &str) -> Option<String> {
    response(settings, stdout).answer.ok()
}

#[test]
fn the_answer_is_all_of_the_output_or_stands_where_the_pointer_says() {
    let text = settings(serde_json::json!({ "command": ["mine"] }));
    assert_eq!(answer(&text, "a\nb").as_deref(), Some("a\nb"));
    let pointed = settings(serde_json::json!({ "command": ["mine"], "output": "/a/0" }));
    assert_eq!(answer(&pointed, r#"{"a":["yes"]}"#).as_deref(), Some("yes"));
    assert_eq!(answer(&pointed, "starting up...\n{\"a\":[\"yes\"]}\n").as_deref(), Some("yes"));
    for none in ["", "yes", r#"{"a":[1]}"#, r#"{"b":1}"#] {
        assert_eq!(response(&pointed, none).answer.unwrap_err().kind, FailureKind::OffSchema, "{none:?}");
    }
}

#[test]
fn an_exit_code_is_a_failure_and_tells_the_last_line_of_stderr() {
    let stderr = "one\n\x1b[31mtwo\nnote: run with `RUST_BACKTRACE=1` environment variable\n\n";
    let left =
        AgentOutput { ended: &ended(How::Exited(3)), stdout: "an answer", stderr, at: Timestamp::UNIX_EPOCH };
    let failure =
        settings(serde_json::json!({ "command": ["mine"] })).read_response(left).answer.unwrap_err();
    assert_eq!((failure.kind, failure.why.as_str()), (FailureKind::Crashed, "exit code 3: [31mtwo"));
    assert_eq!(failure.exit_code, Some(3));
}

#[test]
fn a_deadline_that_passes_before_a_word_is_printed_tells_of_no_response() {
    let kind = |stdout: &str| {
        let ended = ended(How::TimedOut);
        let left = AgentOutput { ended: &ended, stdout, stderr: "starting", at: Timestamp::UNIX_EPOCH };
        settings(serde_json::json!({ "command": ["mine"] })).read_response(left).answer.unwrap_err().kind
    };
    assert_eq!((kind("\n"), kind("Let me see")), (FailureKind::NoResponse, FailureKind::TimedOut));
}

#[test]
fn an_agent_that_closed_its_output_has_answered_if_it_printed_an_answer() {
    let read = |output: &str, stdout: &str| {
        let left =
            AgentOutput { ended: &ended(How::OutputClosed), stdout, stderr: "", at: Timestamp::UNIX_EPOCH };
        settings(serde_json::json!({ "command": ["mine"], "output": output })).read_response(left).answer
    };
    assert_eq!(read("text", "an answer\n").unwrap(), "an answer\n");
    assert_eq!(read("/a", r#"{"a":"yes"}"#).unwrap(), "yes");
    for (output, stdout) in [("text", " \n"), ("/a", r#"{"a":"#), ("/a", r#"{"a":""}"#)] {
        let failure = read(output, stdout).unwrap_err();
        assert_eq!(failure.why, "it closed its output and did not exit", "{output}: {stdout}");
    }
}

#[test]
fn a_cost_is_taken_only_when_it_can_be_one() {
    let cost = serde_json::json!({ "usd": "/usd", "input_tokens": "/in", "output_tokens": "/out" });
    let settings = settings(serde_json::json!({ "command": ["mine"], "cost": cost }));
    let spent = response(&settings, r#"{"usd":0.5,"in":10,"out":-3}"#).spent;
    assert_eq!(spent, Spent { ms: 7000, usd: Some(0.5), input_tokens: Some(10), ..Spent::default() });
    assert_eq!(response(&settings, r#"{"usd":-1}"#).spent.usd, None);
    assert_eq!(response(&settings, "no document").spent.usd, None);
}

#[test]
fn an_output_is_text_or_a_pointer() {
    let read = |output: &str| serde_json::from_value::<Output>(output.into());
    assert_eq!(read("text").unwrap(), Output::Text);
    assert_eq!(read("/a").unwrap(), Output::Pointer("/a".into()));
    assert!(read("answer").unwrap_err().to_string().contains("starts with a slash"));
}
