//! Sources of a run's rules: a template, the evaluator, a person at a terminal, a file.

use super::*;
use crate::terminal::{talked, terminal};

const PORTS: &str = "a.completeness.ports";
const UNITS: &str = "b.style.units";

fn proposing(play: &Value) -> Value {
    let mut play = play.clone();
    play["proposed"] = json!([(PORTS, "fail"), (UNITS, "warn")].map(rule));
    play
}

fn rule((id, severity): (&str, &str)) -> Value {
    json!({ "id": id, "severity": severity, "description": format!("It has {id}."), "check": "Look." })
}

fn rules(scene: &Scene) -> Vec<String> {
    let rules = run_json(scene)["criteria"]["rules"].as_array().unwrap().clone();
    rules.iter().map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rules_that_the_evaluator_proposes_count_like_all_others() {
    let scene = scene(&proposing(&rising()));
    let ran = new(&scene, &[]);
    assert_eq!((ran.code, &ran.json()["reason"]), (Some(0), &json!("threshold_reached")), "{ran:?}");
    assert_eq!(rules(&scene).len(), 10);
    assert!(rules(&scene).iter().any(|id| id == PORTS));
    let first = &decided(&scene, "evaluated")[0];
    assert_eq!(first["passed"], false, "the first version has no section on ports");
    assert_eq!(begun(&scene, "propose"), 1);
    fs::remove_dir_all(place(&scene)).unwrap();
    let human = scene.run(&[&NEW[..], &["--seed", "7"]].concat());
    assert!(human.stderr.contains(&format!("rules proposed for this task: {PORTS}, {UNITS}")), "{human:?}");
    assert_eq!(begun(&scene, "propose"), 1, "the same question was answered");
}

#[test]
fn nobody_is_asked_for_rules_where_none_are_wanted() {
    let scene = scene(&proposing(&rising()));
    let ran = new(&scene, &["--proposals", "0"]);
    assert_eq!((ran.code, rules(&scene).len(), begun(&scene, "propose")), (Some(0), 8, 0), "{ran:?}");
    let dry = scene.run(&["reflex", "new", TASK, "--template", "docs", "--dry-run"]);
    assert!(dry.stdout.contains("and up to 4 rules that the evaluator proposes for the task"), "{dry:?}");
}

#[test]
fn a_text_of_another_kind_is_judged_by_proposed_rules_alone() {
    let scene = scene(
        &json!({ "produced": { "1": ["a.quality.point-1", "a.quality.point-2", "a.quality.point-3", "a.quality.point-4"] } }),
    );
    let line = ["reflex", "new", TASK, "--alias", ALIAS, "--template", "other", "--yes", "--format", "json"];
    let ran = scene.run(&line);
    assert_eq!((ran.code, &ran.json()["template"]), (Some(0), &json!("other")), "{ran:?}");
    assert_eq!(
        rules(&scene),
        ["a.quality.point-1", "a.quality.point-2", "a.quality.point-3", "a.quality.point-4"]
    );
    let refused = scene.refusal(&[&line[..], &["--proposals", "0"]].concat());
    assert!(refused.contains("pass --rules FILE"), "{refused}");
}

const FILE: &str = r#"
thresholds = [60, 70]
remove = ["b.quality.audience"]

[[rules]]
id = "a.completeness.ports"
description = "Every port is named."
severity = "fail"

[[rules]]
description = "The artifact names the pump."
severity = "fail"
command = ["grep", "-q", "pump", "artifact.md"]
"#;

/// Its commands come from a person: trusted with the file, and then run without asking, unlike the evaluator's.
#[test]
fn unattended_rules_come_from_a_file_whose_commands_are_trusted_and_run() {
    let scene =
        scene(&json!({ "produced": { "1": [ACCURACY, SECTIONS, PORTS] }, "preface": "Of the pump." }));
    fs::write(scene.path("project/rules.toml"), FILE).unwrap();
    let more = ["--rules", "rules.toml"];
    let refused = scene.refusal(&begin(&more));
    assert!(refused.contains("grep") && refused.contains("trust"), "{refused}");
    let trusted = scene.run(&["trust", "rules.toml"]);
    assert!(trusted.stderr.contains(r#"rule: "grep" "-q" "pump" "artifact.md""#), "{trusted:?}");
    let ran = new(&scene, &more);
    assert_eq!((ran.code, begun(&scene, "propose")), (Some(0), 0), "{ran:?}");
    let first = &decided(&scene, "evaluated")[0];
    assert_eq!((&first["passed"], &first["score"]), (&json!(true), &json!(80.0)), "level A from 60: {first}");
    let named = first["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|result| result["rule"] == "a.task.the-artifact-names-the-pump");
    assert_eq!(named.map(|result| &result["by"]), Some(&json!("command")), "{first}");
    // The file of the accepted rules gives the same rules again.
    let written = scene.run_folder().join("rules.json");
    fs::copy(&written, scene.path("project/again.json")).unwrap();
    let first_rules = rules(&scene);
    fs::remove_dir_all(place(&scene)).unwrap();
    let line = [
        "reflex",
        "new",
        TASK,
        "--alias",
        ALIAS,
        "--rules",
        "again.json",
        "--trust",
        "--yes",
        "--format",
        "json",
    ];
    let again = scene.run(&line);
    assert_eq!((again.code, rules(&scene)), (Some(0), first_rules), "{again:?}");
}

const ENTER: &str = "\r";
/// The hint beside a question is written once; the question is redrawn with every typed letter.
const START: &str = "? lists the changes";

#[test]
fn a_person_sets_up_everything_at_the_terminal() {
    let proposed = [(PORTS, "fail"), ("a.style.tone", "warn"), (UNITS, "warn")].map(rule);
    let scene =
        scene(&json!({ "produced": { "1": [PORTS] }, "preface": "Of the pump.", "proposed": proposed }));
    fs::write(scene.path("project/NOTES.md"), "The pump has two ports.").unwrap();
    let Ok(ends) = terminal() else { return };
    let down = "\u{1b}[B";
    let output = talked(
        scene.command(&["reflex", "--alias", ALIAS]),
        ends,
        &[
            ("as you would ask somebody", "The story of the pump\r"),
            ("What kind of text is it?", &format!("{}{ENTER}", down.repeat(4))),
            ("enter to leave it open", "A page that a child understands.\r"),
            ("paths separated by spaces", "NOTES.md\r"),
            ("enter when done", "$ grep -q pump artifact.md\r"),
            ("enter when done", ENTER),
            ("enter to leave it to the rules", "A wrong port.\r"),
            (START, "2\r"),
            ("enter to keep it", " And all of them.\r"),
            ("enter to keep it", ENTER),
            ("How much does it matter?", ENTER),
            (START, "+\r"),
            ("enter to add none", "It has a hero.\r"),
            ("At which level?", ENTER),
            ("How much does it matter?", &format!("{down}{ENTER}")),
            (START, "-5\r"),
            (START, "t 50 60\r"),
            (START, "i 2\r"),
            (START, "nonsense\r"),
            ("`nonsense` is not a change", ""),
            (START, ENTER),
            ("leave empty to skip", ENTER),
        ],
    );
    let agreed = &decided(&scene, "agreed")[0];
    assert_eq!(agreed["confirmed"], "person", "{output}");
    let ids: Vec<_> =
        agreed["criteria"]["rules"].as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
    let grep = "a.task.grep-q-pump-artifact-md-succeeds";
    assert_eq!(ids, [grep, PORTS, "a.style.tone", "a.task.it-has-a-hero"], "{output}");
    assert_eq!(agreed["criteria"]["rules"][1]["description"], format!("It has {PORTS}. And all of them."));
    assert_eq!(agreed["criteria"]["thresholds"], json!({ "a": 50.0, "b": 60.0 }));
    assert_eq!(agreed["max_iterations"], 2);
    let started = &scene.events("started")[0];
    assert_eq!(
        (&started["ideal"], &started["setup"]["major"]),
        (&json!("A page that a child understands."), &json!("A wrong port."))
    );
    assert!(!started["context"].is_null(), "the page was named");
    for line in output.split("\r\n").filter(|line| !line.contains('\u{1b}')) {
        assert!(line.chars().count() <= 80, "{line:?}");
    }
}

/// The proposed rules are paid for: a run that was left or killed at the question asks only that question again.
#[test]
fn a_set_up_that_was_left_is_taken_up_at_the_question() {
    let scene = scene(&proposing(&rising()));
    let Ok(ends) = terminal() else { return };
    let line = ["reflex", "new", TASK, "--alias", ALIAS, "--template", "docs"];
    talked(scene.command(&line), ends, &[(START, "q\r")]);
    let status = scene.run(&["reflex", "status", ALIAS]);
    assert!(status.stdout.contains("confirm its rules and limits"), "{status:?}");
    let nobody = scene.run(&["reflex", "resume", ALIAS]);
    assert_ne!(nobody.code, Some(0), "nobody is there to agree: {nobody:?}");
    assert!(decided(&scene, "agreed").is_empty());
    let resumed = scene.run(&RESUME);
    assert_eq!((resumed.code, begun(&scene, "propose")), (Some(0), 1), "{resumed:?}");
    assert_eq!(rules(&scene).len(), 10);
}

#[test]
fn without_a_task_and_without_a_terminal_it_is_said_how_to_give_one() {
    let said = scene(&rising()).refusal(&["reflex", "--yes"]);
    assert!(said.contains("no task") && said.contains("skilltune reflex \"the API page"), "{said}");
}
