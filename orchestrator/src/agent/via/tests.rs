use std::path::Path;

use jiff::Timestamp;

use super::*;
use crate::agent::response::ended;

fn claude() -> Real {
    Real::named("claude").unwrap()
}

fn arguments(via: Via, rights: Rights) -> Vec<String> {
    let [workspace, temp, prompt_file] = ["/w/space", "/w/tmp", "/run/prompt.md"].map(Path::new);
    via.arguments(
        claude(),
        Some("opus"),
        Slots { rights, workspace, temp, prompt_file, skills: false, usd: Some(1.0), schema: None },
    )
}

fn answer(how: How, stdout: &str, stderr: &str) -> Result<String, Failure> {
    Via::Ccw
        .read_response(
            claude(),
            AgentOutput { ended: &ended(how), stdout, stderr, at: Timestamp::UNIX_EPOCH },
        )
        .answer
}

fn kind_of(how: How, stdout: &str, stderr: &str) -> FailureKind {
    answer(how, stdout, stderr).unwrap_err().kind
}

#[test]
fn ccw_is_told_of_the_prompts_file_and_maestro_of_an_errand_in_the_workspace() {
    let ccw = "cli --tool claude --mode write --cd /w/space -f /run/prompt.md --final --model opus";
    assert_eq!(arguments(Via::Ccw, Rights::Work).join(" "), ccw);
    assert_eq!(arguments(Via::Ccw, Rights::Edit).join(" "), ccw);
    assert_eq!(arguments(Via::Ccw, Rights::Read).join(" "), ccw.replace("write", "analysis"));
    let maestro = arguments(Via::Maestro, Rights::Read);
    let errand = Via::Maestro.errand("the prompt").unwrap();
    assert_eq!(errand.text, "the prompt");
    assert!(maestro[1].contains(&format!("{}/{}", errand.folder, errand.file)), "{maestro:?}");
    assert_eq!(maestro[2..].join(" "), "--to claude --mode analysis --cd /w/space --model opus");
    assert_eq!(Via::Ccw.errand("the prompt"), None);
}

#[test]
fn an_answer_is_what_was_printed_and_nothing_is_none_whatever_the_exit_code() {
    assert_eq!(
        answer(How::Exited(0), "All is written.", "[WARN] --id not provided").unwrap(),
        "All is written."
    );
    for nothing in ["", " \n"] {
        assert_eq!(kind_of(How::Exited(0), nothing, ""), FailureKind::Empty);
    }
    assert_eq!(kind_of(How::Exited(1), "an answer", "Error: write EPIPE"), FailureKind::Crashed);
    assert_eq!(kind_of(How::Exited(1), "", "Authentication failed"), FailureKind::Authentication);
    assert_eq!(kind_of(How::TimedOut, "half an answer", ""), FailureKind::TimedOut);
    assert_eq!(
        kind_of(How::TimedOut, "\n  Executing claude (write mode)...\n\n", ""),
        FailureKind::NoResponse
    );
}

#[test]
fn the_words_of_an_error_are_no_answer_though_the_exit_code_is_that_of_one() {
    for (words, kind) in [
        ("Failed to authenticate. API Error: 401 fake 401", FailureKind::Authentication),
        ("API Error: 500 fake 500. This is a server-side issue, usually temporary", FailureKind::Overloaded),
        ("API Error: 429 slow down", FailureKind::RateLimited),
        ("API Error: Opus 5.5's safeguards flagged this message", FailureKind::Refused),
        ("Not logged in · Please run /login", FailureKind::Authentication),
        ("Prompt is too long", FailureKind::PromptTooLong),
    ] {
        assert_eq!(kind_of(How::Exited(0), words, ""), kind, "{words}");
    }
    assert!(answer(How::Exited(0), "The skill handles API Error: 401 well.", "").is_ok());
}

#[test]
fn a_raw_stream_is_read_as_the_agents_own() {
    let stream = include_str!("../../../../fixtures/transcripts/claude/write.jsonl");
    let response = Via::Ccw.read_response(
        claude(),
        AgentOutput { ended: &ended(How::Exited(0)), stdout: stream, stderr: "", at: Timestamp::UNIX_EPOCH },
    );
    assert_eq!(response.answer.unwrap(), "DONE-FAKE");
    assert_eq!(response.spent.usd, Some(0.01008));
    // A verdict is an object on one line, but not an event.
    assert!(answer(How::Exited(0), r#"{"verdict_of":"x","criteria":[]}"#, "").is_ok());
}

#[test]
fn banner_and_footer_are_cut_away_where_both_are_as_ccw_writes_them_and_nowhere_else() {
    let framed = "\n  Executing claude (write mode)...\n\nAll is\n\nwritten.\n\n  ✓ Completed in 3.2s\n  ID: cld-120000-abcd\n  Continue: ccw cli -p \"...\" --resume cld-120000-abcd\n";
    assert_eq!(answer(How::Exited(0), framed, "").unwrap(), "All is\n\nwritten.");
    for other in [
        framed.replace("  Executing claude", "Executing claude"),
        framed.replace("  ✓ Completed", "  Completed"),
        format!("{framed}One more line.\n"),
    ] {
        assert_eq!(answer(How::Exited(0), &other, "").unwrap(), other);
    }
    let empty = framed.replace("All is\n\nwritten.\n", "");
    assert_eq!(kind_of(How::Exited(0), &empty, ""), FailureKind::Empty);
}

/// Recorded with ccw 7.3.14 and gemini 0.61.0.
#[test]
fn geminis_errors_behind_its_warnings_are_no_answers() {
    let gemini = Real::named("gemini").unwrap();
    let failure = |stdout: &str| {
        let left =
            AgentOutput { ended: &ended(How::Exited(0)), stdout, stderr: "", at: Timestamp::UNIX_EPOCH };
        Via::Ccw.read_response(gemini, left).answer
    };
    let first = include_str!("../../../../fixtures/transcripts/ccw/gemini-401.txt");
    for (said, kind, why) in [
        (first, FailureKind::Authentication, "\"code\":401"),
        (
            include_str!("../../../../fixtures/transcripts/ccw/gemini-429.txt"),
            FailureKind::RateLimited,
            "429",
        ),
        (include_str!("../../../../fixtures/transcripts/ccw/gemini-500.txt"), FailureKind::Overloaded, "500"),
    ] {
        let failure = failure(said).unwrap_err();
        assert!(failure.kind == kind && failure.why.contains(why), "{failure:?}");
        assert!(!failure.why.contains("/tmp/"), "{failure:?}");
    }
    let (warnings, _) = first.split_once("Error when").unwrap();
    assert_eq!(failure(warnings).unwrap_err().kind, FailureKind::Empty);
    for answer in [
        format!("The log says:\n{first}"),
        "Warning: use it with care.".to_owned(),
        format!("{warnings}All is written."),
    ] {
        assert_eq!(failure(&answer).unwrap(), answer);
    }
}

#[test]
fn what_has_to_be_set_up_is_told_with_what_to_do() {
    for (stderr, tells) in [
        (
            include_str!("../../../../fixtures/transcripts/ccw/not-installed.stderr"),
            "`ccw install -m Global`",
        ),
        (
            include_str!("../../../../fixtures/transcripts/ccw/claude-root.stderr"),
            "as root: run as another user",
        ),
    ] {
        let failure = answer(How::Exited(1), "", stderr).unwrap_err();
        assert!(failure.kind == FailureKind::NotSetUp && failure.why.contains(tells), "{failure:?}");
    }
}

#[test]
fn what_a_wrapper_says_of_its_own_error_is_quoted() {
    let crash = "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/x'\n\
                 Require stack:\n- /y\n    at Function.load (node:internal:1)\n  code: 'NOT_FOUND'\n}\n\n\
                 Node.js v22.1.0\n";
    let banner = "\n  Executing claude (write mode)...\n\n";
    for (how, stdout, stderr, why) in [
        (How::Exited(1), "", crash, "ccw: Error: Cannot find module '/x'"),
        (How::Exited(1), "", "error: no option -f\n(did you mean -p)", "ccw: error: no option -f"),
        (How::Exited(2), "", "no such tool\nsee the manual\n", "ccw: see the manual"),
        (How::Exited(1), "Error: no tool is enabled\n", "", "ccw: Error: no tool is enabled"),
        (How::Exited(1), banner, "", "ccw: no output"),
        (How::Exited(0), "", "TypeError: no x\n    at y\n", "ccw printed no answer: TypeError: no x"),
        (How::Exited(0), " \n", "", "ccw printed no answer"),
    ] {
        assert_eq!(answer(how, stdout, stderr).unwrap_err().why, why);
    }
    let template = include_str!("../../../../fixtures/transcripts/ccw/not-installed.stderr");
    let why = answer(How::Exited(1), "", template).unwrap_err().why;
    assert!(why.contains("it says: Error loading rule template: Template not found: "), "{why}");
    assert_eq!(kind_of(How::Exited(1), "", "Error: Your credit balance is too low"), FailureKind::NoCredit);
}

#[test]
fn only_agents_that_work_through_a_wrapper_are_called_through_one() {
    let names = Real::ALL.into_iter().filter(|real| Via::calls(*real)).map(Real::name);
    assert_eq!(names.collect::<Vec<_>>(), Via::AGENTS);
}

#[test]
fn the_time_when_a_limit_of_claude_resets_is_kept() {
    for said in ["Claude AI usage limit reached|1799999999", "Claude usage limit reached|1799999999"] {
        let at = Timestamp::from_second(1_799_990_000).unwrap();
        let left = AgentOutput { ended: &ended(How::Exited(0)), stdout: said, stderr: "", at };
        let failure = Via::Ccw.read_response(claude(), left).answer.unwrap_err();
        assert_eq!(failure.kind, FailureKind::UsageLimit);
        assert_eq!(failure.until, Timestamp::from_second(1_799_999_999).ok());
    }
    let rejected = kind_of(How::Exited(0), "API Error: Request rejected (429) · usage", "");
    assert_eq!(rejected, FailureKind::RateLimited);
}

#[test]
fn what_ccw_says_in_every_call_is_no_reason() {
    let stderr = "[WARN] --id not provided. Use --id <id> for reliable tracking. Auto-generating ID.\n[CCW_EXEC_ID=gem-1-a]\n";
    assert_eq!(answer(How::TimedOut, "", stderr).unwrap_err().why, "after 7 s");
}
