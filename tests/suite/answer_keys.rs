//! Agents that are measured, and agents that improve the skill, never see the answers.

use std::fs;

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

/// Text that only the judge of the first task should know.
const ANSWER: &str = "Seven pumps stand by the old mill and their quality is at least 60.";

fn case(id: u32, files: &Value) -> Value {
    let task = format!("Write about the pumps of station {id}");
    json!({"id": id, "prompt": task, "files": files, "expectations": [format!("{ANSWER} At station {id}.")]})
}

/// Returns a scene with a skill that has its own suite. Its agents log the files that they see.
fn scene(script: &Value, evals: &Value) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let mut script = script.clone();
    script["dump"] = json!(scene.path("starts.log"));
    script["improve"] = json!({ "writer": { "40": 60, "60": 80 } });
    scene.write_script(&script);
    let skill = scene.skill("writer");
    fs::create_dir_all(skill.join("evals/files")).unwrap();
    fs::write(skill.join("evals/evals.json"), evals.to_string()).unwrap();
    fs::write(skill.join("evals/files/in.csv"), "pump,quality\n").unwrap();
    scene
}

/// Returns the workspaces of the agents in this role, each with the paths of its files.
fn workspaces(scene: &Scene, role: &str) -> Vec<Value> {
    let log = fs::read_to_string(scene.path("starts.log")).unwrap();
    let starts = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    starts.filter(|start| start["argv"][1] == role).map(|start| start["files"].clone()).collect()
}

fn tune(scene: &Scene) -> Ran {
    scene.run(&["tune", "writer", "--max-iterations", "2", "--yes", "--format", "json"])
}

fn suite_of(cases: &[Value]) -> Value {
    json!({"skill_name": "writer", "evals": cases})
}

/// Adds the tests a second time, among the pages that the skill names, as srinitude/skills `logic-audit` does.
fn with_key(scene: &Scene) -> String {
    let key = json!({"cases": [
        {"id": "a", "input": "Write about the pumps of station 1", "expect": [ANSWER]},
        {"id": "b", "input": "Write about the pumps of station 2", "expect": [ANSWER]},
    ]});
    fs::write(scene.skill("writer").join("references/eval-cases.json"), key.to_string()).unwrap();
    key.to_string()
}

#[test]
fn an_answer_key_in_the_skill_is_seen_by_no_agent_and_carried_through() {
    let scene = scene(&json!({}), &suite_of(&[case(1, &json!([]))]));
    let key = with_key(&scene);
    let ran = tune(&scene);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("improved")), "{ran:?}");
    let noted = "no agent sees references/eval-cases.json:1: it holds the answer of 1";
    assert!(ran.json()["notes"].to_string().contains(noted), "{}", ran.json()["notes"]);
    for role in ["executor", "improver"] {
        let found = workspaces(&scene, role);
        assert!(!found.is_empty());
        for files in found {
            assert!(files["skill/writer/references/style.md"].is_string(), "{files}");
            assert!(!files.to_string().contains("eval-cases"), "{role}: {files}");
        }
    }
    let judged = |prompt: &&String| prompt.starts_with("# Judge");
    let prompts = scene.prompts();
    assert!(prompts.iter().filter(|prompt| !judged(prompt)).all(|prompt| !prompt.contains("eval-cases")));
    let kept = fs::read_to_string(scene.skill("writer").join("references/eval-cases.json")).unwrap();
    assert_eq!(kept, key, "promotion leaves it as it was");
}

#[test]
fn an_improver_that_copies_the_answers_never_wins() {
    let scene = scene(&json!({ "learns": format!("\n{ANSWER}\n") }), &suite_of(&[case(1, &json!([]))]));
    with_key(&scene);
    let ran = tune(&scene);
    assert_ne!(ran.json()["outcome"], "improved", "{ran:?}");
    assert_eq!(scene.quality("writer"), 40);
}

#[test]
fn suite_check_names_the_answers_that_a_skill_holds() {
    let scene = scene(&json!({}), &suite_of(&[1, 2, 3].map(|id| case(id, &json!([])))));
    with_key(&scene);
    let page = scene.skill("writer").join("SKILL.md");
    let text = fs::read_to_string(&page).unwrap();
    let answers = format!(
        "Write about the pumps of station 1\n{ANSWER}\nWrite about the pumps of station 2\n{ANSWER}\n"
    );
    fs::write(&page, text + &answers).unwrap();
    let ran = scene.run(&["suite", "check", ".claude/skills/writer"]);
    for words in
        ["SKILL.md:11 holds the answers of 1, 2", "no agent sees references/eval-cases.json:1: it holds"]
    {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
}

#[test]
fn files_stand_where_the_task_names_them_and_the_skills_own_come_with_its_version() {
    let files = json!(["SKILL.md", "evals/files/in.csv"]);
    let mut first = case(1, &files);
    first["prompt"] = json!("Write about docs/SKILL.md with data/in.csv");
    let scene = scene(&json!({}), &suite_of(&[first]));
    let ran = tune(&scene);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("improved")), "{ran:?}");
    let found = workspaces(&scene, "executor");
    let with: Vec<&Value> = found.iter().filter(|files| files["data/in.csv"].is_string()).collect();
    let qualities = ["Quality: 40", "Quality: 60"];
    for files in &with {
        assert_eq!(files["docs/SKILL.md"], files["skill/writer/SKILL.md"], "{files}");
    }
    let has =
        |quality: &str| with.iter().any(|files| files["docs/SKILL.md"].as_str().unwrap().contains(quality));
    assert!(qualities.iter().all(|quality| has(quality)), "both versions were tried");
}

#[test]
fn without_the_skill_a_task_about_its_files_is_left_out() {
    let mut first = case(1, &json!(["SKILL.md"]));
    first["prompt"] = json!("Write about SKILL.md");
    let scene = scene(&json!({}), &suite_of(&[first, case(2, &json!(["evals/files/in.csv"]))]));
    let ran =
        scene.run(&["suite", "check", ".claude/skills/writer", "--try", "--yes", "--agent", "executor"]);
    assert!(
        ran.stderr.contains("not tried without a skill: 1 (its task is about files of the skill)"),
        "{ran:?}"
    );
    let found = workspaces(&scene, "executor");
    assert!(
        !found.is_empty() && found.iter().all(|files| !files.to_string().contains("SKILL.md")),
        "{found:?}"
    );
}

#[test]
fn a_scenario_whose_set_up_leaves_its_answers_is_never_tried() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let script = json!({"dump": scene.path("starts.log"), "improve": { "writer": { "40": 60 } }});
    scene.write_script(&script);
    let key = format!("Write about the pumps of station 1: {ANSWER}");
    let suite = format!(
        "[[scenarios]]\nid = \"leaks\"\ndescription = \"Write about the pumps of station 1\"\n\
         setup = [\"sh\", \"-c\", \"echo '{key}' > notes.md\"]\nexpectations = [\"{ANSWER}\"]\n\
         [[scenarios]]\nid = \"sound\"\ndescription = \"Write about the wells\"\n\
         expectations = [\"Its quality is at least 60.\"]\n"
    );
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    let line = ["tune", "writer", "--suite", "suite.toml", "--trust", "--yes", "--max-iterations", "2"];
    let ran = scene.run(&[&line[..], &["--this-suite-only", "--format", "json"]].concat());
    assert_eq!(
        (ran.code, &ran.json()["final_score"]),
        (Some(0), &json!(100.0)),
        "the other one counts: {ran:?}"
    );
    let note = "leaks is left out: the set-up left notes.md, which holds the answer of its scenario";
    assert!(ran.json()["notes"].to_string().contains(note), "{ran:?}");
    let found = workspaces(&scene, "executor");
    assert!(!found.is_empty() && found.iter().all(|files| files["notes.md"].is_null()), "{found:?}");
}

/// Returns two versions of the skill, and a suite of five tasks with this expectation.
fn versions(expected: &str) -> Scene {
    let cases = [1, 2, 3, 4, 5].map(|id| {
        let mut case = case(id, &json!([]));
        case["expectations"] = json!([expected]);
        case
    });
    let scene = scene(&json!({}), &suite_of(&cases));
    let old = scene.path("project/old/writer");
    fs::create_dir_all(old.join("notes")).unwrap();
    let page = fs::read_to_string(scene.skill("writer").join("SKILL.md")).unwrap();
    fs::write(old.join("SKILL.md"), page.replace("Quality: 40", "Quality: 30")).unwrap();
    let answers = [1, 2].map(|id| format!("Write about the pumps of station {id}: {ANSWER}\n"));
    fs::write(old.join("notes/answers.md"), answers.concat()).unwrap();
    scene
}

fn compare(scene: &Scene) -> Ran {
    let suite = ".claude/skills/writer/evals/evals.json";
    scene.run(&["compare", "old/writer", "writer", "--suite", suite, "--yes", "--format", "json"])
}

#[test]
fn a_comparison_shows_the_answers_that_either_version_holds_to_nobody() {
    let scene = versions(ANSWER);
    with_key(&scene);
    let ran = compare(&scene);
    assert!(ran.json()["notes"].to_string().contains("no agent sees notes/answers.md:1"), "{ran:?}");
    assert!(
        ran.json()["notes"].to_string().contains("no agent sees references/eval-cases.json:1"),
        "{ran:?}"
    );
    let found = workspaces(&scene, "executor");
    let shows =
        |files: &Value| files.to_string().contains("answers.md") || files.to_string().contains("eval-cases");
    assert!(!found.is_empty() && !found.iter().any(shows), "{found:?}");
}

#[test]
fn a_regrade_says_which_answers_its_trials_could_see() {
    let scene = versions("Its quality is at least 35.");
    let ran = compare(&scene);
    assert!(!ran.json()["notes"].to_string().contains("answers.md"), "no key by that suite: {ran:?}");
    let evals = scene.skill("writer").join("evals/evals.json");
    let text = fs::read_to_string(&evals).unwrap();
    fs::write(&evals, text.replace("Its quality is at least 35.", ANSWER)).unwrap();
    let again = scene.run(&["regrade", &scene.run_id(), "--yes", "--format", "json"]);
    let notes = again.json()["notes"].to_string();
    assert!(notes.contains("could see notes/answers.md, which holds answers"), "{again:?}");
}
