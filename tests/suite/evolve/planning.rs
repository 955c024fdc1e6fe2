//! The specification, the plan, and what is refused before any call.

use std::fs;

use serde_json::{Value, json};
use skilltune_phases::suites::checks::accepts;

use super::{Project, SPEC, after, both, ended, of_task, task, tasks, words};

/// The plan of two tasks, as a person could edit it.
fn plan() -> Value {
    let criterion = |id: &str, priority: &str| json!({ "id": id, "class": "essential", "priority": priority, "why": "it is asked for" });
    json!({
        "criteria": [criterion("A1", "critical"), criterion("A2", "high")],
        "tasks": both(),
        "groups": [{ "name": "all", "domain": "code", "tasks": ["one", "two"] }],
    })
}

#[test]
fn a_faulty_or_hostile_specification_is_refused_before_any_call() {
    let project = Project::new(&json!({}));
    let criteria = |text: &str| format!("## Goal\n\nAll of it.\n\n## Acceptance criteria\n\n{text}");
    let large = format!("## Goal\n\n{}\n", "x".repeat(2 << 20));
    for (name, text, why) in [
        ("goal.md", "## Acceptance criteria\n\n- A1: it is there\n".to_owned(), "no goal is there"),
        ("none.md", "## Goal\n\nAll of it.\n".to_owned(), "no criterion is there"),
        ("twice.md", criteria("- A1: one\n- A1: two\n"), "line 8: the id `A1` is there twice"),
        ("priority.md", criteria("- A1 (urgent): one\n"), "`urgent` is not a priority"),
        ("check.md", criteria("- A1: one\n  check: rm -rf /\n"), "no shell reads it"),
        ("id.md", criteria("- \"../x\" (high): one\n"), "is not an id"),
        ("escape.md", criteria("- A1: one\u{1b}[31m\n"), "U+001B is invisible"),
        ("turned.md", criteria("- A1: one\u{202e}\n"), "U+202E is invisible"),
        ("large.md", large, "larger than 1 MiB"),
        ("key.yaml", "goal: All.\nextra: 1\ncriteria: [one]\n".to_owned(), "unknown key `extra`"),
        ("deep.yaml", "[".repeat(100_000), "recursion limit exceeded"),
    ] {
        project.write(name, &text);
        let said = project.scene().refusal(&["evolve", name, "--yes"]);
        assert!(said.contains(&format!("cannot use the specification /project/{name}: ")), "{said}");
        assert!(said.contains(why), "{name}: {said}");
    }
}

#[test]
fn a_request_that_cannot_be_carried_out_is_refused_before_any_call() {
    let project = Project::new(&json!({}));
    for (more, why) in [
        (&["missing.md"][..], "missing.md does not exist"),
        (&["spec.md", "--in", "nowhere"], "cannot change /project/nowhere: it cannot be opened"),
        (&["spec.md", "--in", "readme.txt"], "it is not a folder"),
        (&["spec.md", "--in", "/"], "it holds all of your files"),
        (&["spec.md", "--roles", "archtect"], "there is no expert named \"archtect\""),
        (&["spec.md", "--apply", "maybe"], "[possible values: branch, patch, pr, tree, never]"),
    ] {
        let said = project.scene().refusal(&[&["evolve", "--yes"], more].concat());
        assert!(said.contains(why), "{more:?}: {said}");
    }
    fs::remove_dir_all(project.git.path(".git")).unwrap();
    let said = project.scene().refusal(&["evolve", "spec.md", "--yes"]);
    assert!(said.contains("/project is not in a git repository"), "{said}");
    assert!(said.contains("pass --apply never to leave the result in the run"), "{said}");
}

#[test]
fn a_plan_is_made_edited_and_carried_out() {
    let tasks_of_plan = [
        task("one", &["A1"], "a.txt"),
        task("two", &["A2"], "a.txt"),
        after(task("three", &[], "c.txt"), &["one"]),
    ];
    let project = Project::new(&json!({ "tasks": [tasks_of_plan] }));
    let dry = project.evolve(&["--dry-run"]);
    assert_eq!((dry.code, &dry.json()["finds_commands"]), (Some(0), &json!(true)), "{dry:?}");
    assert_eq!(project.scene().calls().len(), 0);

    let planned = project.evolve(&["--plan-only"]);
    assert_eq!(ended(&planned), "0 planned planned", "{planned:?}");
    assert_eq!(tasks(&planned), "one pending, two pending, three pending");
    let graph = &planned.json()["graph"];
    // Two tasks of a layer that expect the same file are done one after the other.
    assert_eq!(graph["layers"], json!([["one"], ["two", "three"]]));
    assert_eq!(
        (&graph["critical_path"], &graph["apart"]),
        (&json!(["one", "three"]), &json!([["two", "one"]]))
    );
    assert_eq!(project.scene().answered(), 4, "one call for each step of the plan, and no command");
    assert_eq!(project.commits(), None);

    let run = project.scene().run_folder();
    let text = fs::read_to_string(run.join("plan.json")).unwrap();
    let schema = serde_json::from_str(include_str!("../../../docs/schemas/evolve-plan.schema.json")).unwrap();
    let mut edited: Value = serde_json::from_str(&text).unwrap();
    assert!(accepts(&schema, &edited), "it breaks the published schema: {text}");
    let shown = |part: &str| project.scene().run(&["show", &project.scene().run_id(), part]).stdout;
    assert_eq!((shown("plan").trim_end(), shown("spec").trim_end()), (text.trim_end(), SPEC.trim_end()));
    let next = project.scene().run(&["status"]).stdout;
    assert!(next.contains("spec.md --plan ") && next.contains("(carry out the plan)"), "{next}");

    edited["tasks"][0]["title"] = json!("A better title");
    edited["tasks"][1]["touches"] = json!(["b.txt"]);
    project.write("edited.json", &edited.to_string());
    let ran = project.evolve(&["--plan", "edited.json"]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(of_task(&ran, "one", "title"), json!("A better title"));
    assert_eq!(ran.json()["graph"]["layers"], json!([["one", "two"], ["three"]]));
    assert_eq!(project.commits().unwrap(), ["A better title", "Do two", "Do three"]);
    let again = ["classify", "divide", "group", "task-one"].map(|page| project.begun(page));
    assert_eq!(again, [1; 4], "the plan is not made again");
}

#[test]
fn an_edited_plan_that_does_not_hold_is_refused_by_its_reason() {
    let project = Project::new(&json!({}));
    for (path, value, why) in [
        ("/tasks/0/after", json!(["two"]), "tasks depend on each other in a circle: one -> two -> one"),
        ("/tasks/1/covers", json!([]), "no task covers the criterion `A2`"),
        ("/tasks/1/id", json!("one"), "`one` is the id of two tasks"),
        ("/tasks/1/after", json!(["two"]), "the task `two`: it depends on itself"),
        ("/tasks/1/after", json!(["nobody"]), "`after` has `nobody`, which does not exist"),
        ("/tasks/0/touches", json!(["../x"]), "`touches` has `../x`"),
        ("/tasks/0/extra", json!(1), "unknown field `extra`"),
        ("/groups/0/tasks", json!(["one"]), "the task `two` is in no group"),
        ("/criteria/0/priority", json!("low"), "the specification says that the criterion `A1` is critical"),
        ("/criteria/0/class", json!("supplementary"), "supplementary criteria never are"),
    ] {
        let mut edited = plan();
        let (parent, key) = path.rsplit_once('/').unwrap();
        edited.pointer_mut(parent).unwrap()[key] = value;
        if why.contains("circle") {
            edited["tasks"][1]["after"] = json!(["one"]);
        }
        project.write("plan.json", &edited.to_string());
        let said = project.scene().refusal(&["evolve", "spec.md", "--plan", "plan.json", "--yes"]);
        assert!(
            said.contains("cannot use the plan /project/plan.json") && said.contains(why),
            "{path}: {said}"
        );
    }
    project.write("plan.json", "no plan");
    let said = project.scene().refusal(&["evolve", "spec.md", "--plan", "plan.json", "--yes"]);
    assert!(said.contains("hint: `skilltune config schema evolve-plan` prints the form of a plan"), "{said}");
}

#[test]
fn a_planner_whose_answer_does_not_fit_is_asked_once_more_with_the_reason() {
    let [one, two] = both();
    let circle = json!([after(one.clone(), &["two"]), after(two, &["one"])]);
    let uncovered = json!([one]);
    for (faulty, why) in [
        (&circle, "tasks depend on each other in a circle: one -> two -> one"),
        (&uncovered, "no task covers the criterion `A2`"),
    ] {
        let project = Project::new(&json!({ "tasks": [faulty, both()] }));
        let ran = project.evolve(&[]);
        assert_eq!((ended(&ran).as_str(), project.begun("divide")), ("0 reached success", 2), "{ran:?}");
        let prompts = project.scene().prompts();
        let again: Vec<&String> = prompts.iter().filter(|text| text.contains("## Once more")).collect();
        assert!(again.len() == 1 && again[0].contains(why), "{why}: {again:?}");
    }
    let quote = json!({ "split": r#"{"answer_to": "CODE", "statements": ["It was never said."]}"# });
    let groups = json!({ "group": r#"{"answer_to": "CODE", "groups": []}"# });
    for (play, page, why) in [
        (json!({ "tasks": [circle] }), "divide", "in a circle"),
        (json!({ "classes": { "A1": ["essential", "low"] } }), "classify", "`A1` is critical, not low"),
        (json!({ "classes": { "A1": ["supplementary", "critical"] } }), "classify", "never are"),
        (json!({ "instead": quote }), "split", "is not a quote of the goal"),
        (json!({ "instead": groups }), "group", "is in no group"),
    ] {
        let project = Project::new(&play);
        let ran = project.evolve(&[]);
        assert_eq!((ended(&ran).as_str(), project.begun(page)), ("4 incomplete failed", 2), "{ran:?}");
        assert!(words(&ran.json()["note"]).contains(why), "{why}: {ran:?}");
    }
}
