//! Whole runs of `reflex`: real agents plan, write, prepare, judge, criticise and fix one text, with read access only.

use std::fs;

use serde_json::{Value, json};

use crate::scene::{Ran, SECRET, Scene};
use crate::server::{MISSING, TOLD};

const TASK: &str = "Describe the interface of a room booking service";
const JUDGE: &str = "# Judge one text";
const PREPARE: &str = "# Prepare checks for a text";

/// The decisions, in this order.
const DECIDED: [&str; 21] = [
    "agreed",
    "enter plan",
    "planned",
    "enter produce_prepare",
    "produced",
    "enter evaluate",
    "evaluated",
    "switch b",
    "enter prepare",
    "prepared",
    "enter evaluate",
    "evaluated",
    "enter critique",
    "criticised",
    "enter refine",
    "refined",
    "advance",
    "enter evaluate",
    "evaluated",
    "stop",
    "close",
];

/// The same events under the original's names.
const EVENTS: [&str; 14] = [
    "run_started",
    "plan_created",
    "phase_error",
    "artifact_created",
    "checks_prepared",
    "evaluation_done",
    "phase_switched",
    "checks_prepared",
    "evaluation_done",
    "critique_done",
    "refinement_done",
    "iteration_advanced",
    "evaluation_done",
    "stopped",
];

impl Scene {
    /// Runs `reflex`; both agents use the same scenario of the server.
    fn reflex(&self, scenario: &str, more: &[&str]) -> Ran {
        let task = ["reflex", "new", TASK, "--template", "api", "--alias", "rooms", "--out", "rooms.md"];
        let always = ["--checks", "run", "--jobs", "2", "--yes", "--format", "json"];
        self.run(scenario, scenario, &[&task[..], &always, more].concat())
    }

    fn text(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    /// Returns the pages of a phase as the model received them.
    fn pages(&self, head: &str) -> Vec<String> {
        let requests = self.server.requests();
        requests.iter().flat_map(|request| said(&serde_json::from_str(request).unwrap(), head)).collect()
    }
}

/// Returns all texts in a request that contain these words.
fn said(request: &Value, words: &str) -> Vec<String> {
    match request {
        Value::String(text) => Some(text.clone()).filter(|text| text.contains(words)).into_iter().collect(),
        Value::Array(parts) => parts.iter().flat_map(|part| said(part, words)).collect(),
        Value::Object(parts) => parts.values().flat_map(|part| said(part, words)).collect(),
        _ => Vec::new(),
    }
}

/// Returns the tools that a request offers its model, for any interface.
fn offered(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    let each =
        tools.flat_map(|tool| tool["functionDeclarations"].as_array().cloned().unwrap_or(vec![tool.clone()]));
    each.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// Returns the names of the decisions; for a phase change, the new phase.
fn decisions(ran: &Ran) -> Vec<String> {
    let decided = ran.history.iter().filter_map(|line| line.pointer("/event/decided"));
    let named = |decision: &Value| match decision {
        Value::Object(parts) => {
            let (name, what) = parts.iter().next().unwrap();
            what.as_str().map_or_else(|| name.clone(), |what| format!("{name} {what}"))
        }
        other => other.as_str().unwrap().to_owned(),
    };
    decided.map(named).collect()
}

fn assert_passed(scene: &Scene, ran: &Ran) {
    let saved = format!("saved to {}\n", scene.path("project/rooms.md").display());
    assert_eq!((ran.code, &ran.stderr), (Some(0), &saved), "{ran:?}");
    let summary = &ran.summary;
    assert_eq!((&summary["outcome"], &summary["reason"]), (&json!("passed"), &json!("threshold_reached")));
    assert_eq!(
        (&summary["level"], &summary["iterations"], &summary["score"]),
        (&json!("B"), &json!(2), &json!(100.0))
    );
    assert_journal(ran);
    assert_files(scene, summary);
    assert_pages(scene);
}

/// Checks failures and decisions. The server answers parallel work, writing and preparing and the categories at level
/// A, only when both requests have arrived. One answer is invalid.
fn assert_journal(ran: &Ran) {
    assert_eq!(ran.failures(), ["off_schema"], "{ran:?}");
    assert_eq!(decisions(ran), DECIDED);
    let scores = ran.history.iter().filter_map(|line| line.pointer("/event/decided/evaluated/score"));
    assert_eq!(scores.collect::<Vec<_>>(), [85.7, 50.0, 100.0]);
}

fn assert_files(scene: &Scene, summary: &Value) {
    let folder = "project/.ai-factory/evolution";
    let artifact = scene.text(&format!("{folder}/rooms/artifact.md"));
    assert_eq!(artifact.matches(TOLD).count(), 8, "{artifact}");
    assert_eq!(scene.text("project/rooms.md"), artifact);
    assert_eq!(summary["artifact"]["status"], "evaluated");
    let run: Value = serde_json::from_str(&scene.text(&format!("{folder}/rooms/run.json"))).unwrap();
    assert_eq!(
        (&run["status"], &run["stop"]),
        (&json!("completed"), &json!({ "passed": true, "reason": "threshold_reached" }))
    );
    // The original knows the first eight digits.
    let (short, whole) = (run["evaluation"]["artifact_hash"].as_str(), summary["artifact"]["hash"].as_str());
    assert!(short.zip(whole).is_some_and(|(short, whole)| short == &whole[..8]), "{short:?} of {whole:?}");
    assert!(!scene.path(folder).join("current.json").exists(), "nothing is under way");
    let history = scene.text(&format!("{folder}/rooms/history.jsonl"));
    let events = history.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let events: Vec<_> = events.map(|line| line["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(events, EVENTS);
}

/// Fails if a request offers a tool that writes, or no tool that reads.
fn assert_rights(scene: &Scene) {
    for request in scene.server.requests() {
        let tools = offered(&serde_json::from_str(&request).unwrap());
        let writes = ["Write", "Edit", "NotebookEdit", "Bash", "write_file", "replace", "run_shell_command"];
        assert!(!tools.iter().any(|tool| writes.contains(&tool.as_str())), "{tools:?}");
        assert!(tools.iter().any(|tool| ["Read", "read_file"].contains(&tool.as_str())), "{tools:?}");
    }
}

/// Fails if a model sees the user's own data, a judge earlier findings, or a preparer of checks the text that they are
/// for.
fn assert_pages(scene: &Scene) {
    for request in scene.server.requests() {
        assert!(!request.contains(SECRET));
    }
    let judged = scene.pages(JUDGE);
    assert_eq!(judged.len(), 8, "two categories at each of two levels, twice");
    for page in &judged {
        assert!(page.contains(TOLD));
        for earlier in ["iteration", "Iteration", "85.7", "0.857", "50.0", MISSING] {
            assert!(!page.contains(earlier), "{earlier}: {page}");
        }
    }
    let prepared = scene.pages(PREPARE);
    assert!(prepared.iter().all(|page| !page.contains(TOLD)));
    let again: Vec<_> = prepared.iter().filter(|page| page.contains("## Once more")).collect();
    assert!(!again.is_empty());
    assert!(again.iter().all(|page| page.contains("a.correctness.schemas: sh is a shell")), "{again:?}");
}

#[test]
fn claude_in_all_roles_writes_a_text_that_passes() {
    let scene = Scene::new();
    let ran = scene.reflex("good", &["--agent", "claude:claude-sonnet-4-5"]);
    assert_passed(&scene, &ran);
    assert_rights(&scene);
    let uses = ran.replies.iter().filter_map(|reply| reply["talk"]["tools"]["StructuredOutput"].as_u64());
    assert_eq!(
        (uses.sum(), &ran.summary["cost"]["calls"]),
        (14_u64, &json!(16)),
        "all but two pages are data"
    );
}

#[test]
fn gemini_in_all_roles_writes_a_text_that_passes() {
    let scene = Scene::new();
    assert_passed(&scene, &scene.reflex("good", &["--agent", "gemini:gemini-3-pro-preview"]));
    assert_rights(&scene);
}

#[test]
fn gemini_judges_what_claude_writes() {
    let scene = Scene::new();
    assert_passed(
        &scene,
        &scene.reflex("good", &["--agent", "claude", "--evaluator", "gemini:gemini-3-pro-preview"]),
    );
    assert_rights(&scene);
    let of_gemini = |request: &String| request.contains("functionDeclarations");
    let (gemini, claude): (Vec<_>, Vec<_>) = scene.server.requests().into_iter().partition(of_gemini);
    let judged = |requests: &[String]| requests.iter().filter(|request| request.contains(JUDGE)).count();
    assert_eq!((judged(&gemini), judged(&claude)), (8, 0));
}

/// codex's requests do not show what it may write, so here the writer of the text tries to write a file.
#[test]
fn codex_in_all_roles_writes_a_text_that_passes() {
    let scene = Scene::new();
    let ran = scene.reflex("meddle", &["--agent", "codex:gpt-5.5-codex"]);
    assert_passed(&scene, &ran);
    let denied = ran.replies.iter().filter(|reply| reply["talk"]["denied"] == json!(["file_change"]));
    assert_eq!(denied.count(), 2, "{ran:?}");
    let requests = scene.server.requests().into_iter();
    let asked: Vec<Value> = requests.map(|request| serde_json::from_str(&request).unwrap()).collect();
    let forms = asked.iter().map(|asked| &asked["text"]["format"]).filter(|form| !form.is_null());
    assert_eq!((forms.clone().count(), asked.len()), (14, 18), "all but two pages are data");
    for form in forms {
        let schema = &form["schema"];
        let parts: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!((parts.len(), &schema["required"]), (2, &json!(parts)), "{schema}");
        assert_eq!((&form["strict"], &schema["additionalProperties"]), (&json!(true), &json!(false)));
    }
}
