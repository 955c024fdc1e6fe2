//! Whole runs: one real agent tries a skill, which is judged, improved, compared and replaced.

use serde_json::{Value, json};

use crate::scene::{Ran, SECRET, Scene};

/// Fails unless the real agents improved the skill and it was applied.
pub(crate) fn assert_improved(scene: &Scene, ran: &Ran) {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(ran.summary["outcome"], "improved", "{ran:?}");
    assert_eq!(ran.failures(), [""; 0], "{ran:?}");
    assert!(scene.skill().ends_with("Quality: 95\n"), "{}", scene.skill());
    for request in scene.server.requests() {
        let leak = request.find(SECRET).map(|at| &request[at.saturating_sub(400)..at + 40]);
        assert_eq!(leak, None, "a model has heard of what is the user's own");
    }
    assert!(!scene.was_started(), "a server or a hook of the user's was started");
}

/// Returns how often a tool was used in all calls.
pub(crate) fn used(ran: &Ran, tool: &str) -> u64 {
    ran.replies.iter().filter_map(|reply| reply["talk"]["tools"][tool].as_u64()).sum()
}

#[test]
fn claude_in_all_roles_improves_a_skill() {
    let scene = Scene::new();
    let ran = scene.tune("good", "500", &["--agent", "claude:claude-sonnet-4-5"]);
    assert_improved(&scene, &ran);
    // One trial in each of two rounds, one of each of two contestants; one edit after a read.
    assert_eq!((used(&ran, "Write"), used(&ran, "Read"), used(&ran, "Edit")), (4, 1, 1), "{:?}", ran.replies);
    assert_eq!(used(&ran, "StructuredOutput"), 4, "every verdict is given in the form that is asked for");
    // The agent found the skill in its skills folder and used it for the task.
    assert_eq!((used(&ran, "Skill"), ran.skills()), (4, vec!["used"; 4]));
    assert!(ran.summary["cost"]["usd"].as_f64().unwrap() > 0.0);
    assert_eq!(ran.summary["cost"]["unpriced"], 0);
    assert!(ran.replies.iter().all(|reply| reply["talk"]["model"] == "claude-sonnet-4-5"));
    assert_eq!(scene.server.asked("500"), 0);
}

#[test]
fn gemini_in_all_roles_improves_a_skill() {
    let scene = Scene::new();
    let ran = scene.tune("500", "good", &["--agent", "gemini:gemini-3-pro-preview"]);
    assert_improved(&scene, &ran);
    assert_eq!((used(&ran, "write_file"), used(&ran, "replace")), (4, 1), "{:?}", ran.replies);
    assert_eq!((used(&ran, "activate_skill"), ran.skills()), (4, vec!["used"; 4]));
    // gemini reports tokens but no price.
    assert_eq!(ran.summary["cost"]["unpriced"], ran.summary["cost"]["calls"]);
    assert!(ran.summary["cost"]["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(scene.server.asked("500"), 0);
}

#[test]
fn what_gemini_costs_is_estimated_by_the_model_that_it_really_asked() {
    let scene = Scene::new();
    let once = ["--agent", "gemini:gemini-3-pro-preview", "--max-iterations", "1"];
    let ran = scene.tune("500", "good", &once);
    let model = ran.replies[0]["talk"]["model"].as_str().unwrap();
    let price = format!("[prices.{model:?}]\ninput = 1000\noutput = 1000\ncached = 0\n");
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("home/.config/skilltune")).unwrap();
    scene.write("home/.config/skilltune/skilltune.toml", &price);
    let ran = scene.tune("500", "good", &once);
    let cost = &ran.summary["cost"];
    assert_eq!((&cost["estimated"], &cost["unpriced"]), (&cost["calls"], &json!(0)), "{ran:?}");
    // The server reports 1,000 input tokens, of which 200 are cached, and 50 output tokens for every request.
    let asked = u32::try_from(scene.server.asked("good")).unwrap();
    let usd = cost["usd"].as_f64().unwrap();
    assert!((usd - 0.85 * f64::from(asked)).abs() < 1e-9, "{usd} for {asked} questions");
}

#[test]
fn codex_in_all_roles_improves_a_skill() {
    let scene = Scene::new();
    let ran = scene.tune("good", "500", &["--agent", "codex:gpt-5.5-codex"]);
    assert_improved(&scene, &ran);
    // Four trials and an edit, each after its shell read the skill that it found or has to edit.
    assert_eq!((used(&ran, "file_change"), used(&ran, "command_execution")), (5, 5), "{:?}", ran.replies);
    assert_eq!(ran.skills(), ["used"; 4]);
    assert_eq!(verdicts_in_form(&scene), 4, "every verdict is asked for in a form, and nothing else");
    let suggested =
        |request: &String| request.contains("# Improve an agent skill") && request.contains("Name the leaf.");
    assert!(scene.server.requests().iter().any(suggested), "what it gives in that form is read");
    // codex reports tokens but no price.
    assert_eq!(ran.summary["cost"]["unpriced"], ran.summary["cost"]["calls"]);
    assert!(ran.summary["cost"]["input_tokens"].as_u64().unwrap() > 0);
}

/// Returns the number of conversations in which codex requested an answer in a schema, as its service expects one.
fn verdicts_in_form(scene: &Scene) -> usize {
    let requests = scene.server.requests().into_iter();
    let asked = requests.map(|request| serde_json::from_str::<Value>(&request).unwrap());
    let asked: Vec<Value> = asked.filter(|asked| !asked["text"]["format"].is_null()).collect();
    for asked in &asked {
        let format = &asked["text"]["format"];
        assert_eq!((&format["type"], &format["strict"]), (&json!("json_schema"), &json!(true)));
        let schema = &format["schema"];
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        let criteria = schema.pointer("/properties/criteria/items/properties/id/enum").unwrap();
        // Two of the nineteen are about information that this scenario does not contain.
        assert_eq!(criteria.as_array().unwrap().len(), 17);
        assert!(asked["input"].to_string().contains("# Judge an agent skill"));
    }
    asked.len()
}

#[test]
fn opencode_in_all_roles_improves_a_skill() {
    let scene = Scene::new();
    let ran = scene.tune("good", "500", &["--agent", "opencode:openai-compatible/large", "--jobs", "2"]);
    assert_improved(&scene, &ran);
    assert_eq!((used(&ran, "write"), used(&ran, "read"), used(&ran, "edit")), (4, 1, 1), "{:?}", ran.replies);
    assert_eq!((used(&ran, "skill"), ran.skills()), (4, vec!["used"; 4]));
    assert_eq!(ran.summary["cost"]["unpriced"], ran.summary["cost"]["calls"]);
    assert!(ran.summary["cost"]["input_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn gemini_judges_what_claude_does() {
    let scene = Scene::new();
    let roles = ["--agent", "claude", "--evaluator", "gemini:gemini-3-pro-preview", "--jobs", "2"];
    let ran = scene.tune("good", "good", &roles);
    assert_improved(&scene, &ran);
    assert_eq!((used(&ran, "Write"), used(&ran, "write_file")), (4, 0));
}

#[test]
fn who_judges_is_not_let_change_what_is_judged() {
    let cases = [
        ("claude", "Write", 2),
        ("gemini:gemini-3-pro-preview", "write_file", 2),
        // A refused patch does not count as a tool use.
        ("codex:gpt-5.5-codex", "file_change", 1),
        ("opencode:openai-compatible/large", "write", 2),
    ];
    for (agent, tool, times) in cases {
        let scene = Scene::new();
        let ran = scene.tune("meddle", "meddle", &["--agent", agent, "--max-iterations", "1"]);
        assert_eq!((ran.code, ran.failures()), (Some(3), Vec::new()), "{ran:?}");
        assert_eq!(used(&ran, tool), times, "one of the executor's and one of the judge's: {ran:?}");
        let denied = ran.replies.iter().filter(|reply| reply["talk"]["denied"] == json!([tool]));
        assert_eq!(denied.count(), 1, "{ran:?}");
    }
}

#[test]
fn a_limit_in_the_middle_stops_the_run_and_what_was_paid_for_is_kept() {
    let scene = Scene::new();
    let roles = ["--agent", "claude", "--evaluator", "gemini:gemini-3-pro-preview"];
    let blocked = scene.tune("good", "401", &roles);
    assert_eq!((blocked.code, &blocked.summary["outcome"]), (Some(4), &json!("paused")), "{blocked:?}");
    assert_eq!(blocked.failures(), ["authentication"]);
    assert_eq!(blocked.summary["blocked"]["mend"], "start `gemini` and log in, or set GEMINI_API_KEY");
    let asked = scene.server.asked("good");
    // Nothing has changed: the call is retried once, and the run stops again. The trial is not repeated.
    let again = scene.run("good", "401", &["resume", "--format", "json"]);
    assert_eq!((again.code, again.failures().len()), (Some(4), 2), "{again:?}");
    assert_eq!(scene.server.asked("good"), asked);
}

#[test]
fn doctor_has_each_agent_answer_one_word_or_says_why_not() {
    let scene = Scene::new();
    let before = scene.server.requests().len();
    let ran = scene.run("good", "401", &["doctor", "--probe", "--timeout", "2m", "--format", "json"]);
    assert_eq!(ran.code, Some(3), "a failed call is a fault: {ran:?}");
    let agent = |name: &str| {
        let agents = ran.summary["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["name"] == name).unwrap().clone()
    };
    let (claude, gemini) = (agent("claude"), agent("gemini"));
    assert_eq!(claude["probe"]["answered"], true, "{claude}");
    assert!(claude["probe"]["usd"].as_f64().unwrap() > 0.0, "{claude}");
    assert_eq!(claude["login"], json!({ "key": "ANTHROPIC_API_KEY" }));
    assert_eq!(
        (&claude["remark"], &gemini["remark"]),
        (&json!(null), &json!(null)),
        "they are those that are pinned"
    );
    assert_eq!(
        (&gemini["probe"]["kind"], &gemini["usable"]),
        (&json!("authentication"), &json!(false)),
        "{gemini}"
    );
    assert!(!ran.summary.to_string().contains("a-key-of-nobody"));
    let asked = scene.server.requests();
    assert!(asked[before..].iter().any(|request| request.contains("single word: ready")), "it was asked");
}
