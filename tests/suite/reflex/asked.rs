//! Tests the consent before a run begins: by a person, or by a flag.

use super::*;

const UNASKED: [&str; 5] = ["reflex", "new", TASK, "--template", "docs"];

#[test]
fn without_a_terminal_the_terms_are_told_and_nothing_begins() {
    let scene = scene(&rising());
    let said = scene.refusal(&UNASKED);
    for part in ["a.correctness.accuracy", "75 of 100", "85 of 100", "4 iterations", "pass --yes"] {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
    assert_eq!(scene.calls().len(), 0);
}

#[test]
fn a_dry_run_tells_the_terms_and_the_most_calls_and_writes_nothing() {
    let scene = scene(&rising());
    let before = scene.everything();
    let ran = scene.run(&[&UNASKED[..], &["--dry-run", "--max-iterations", "2"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("2 iterations") && ran.stdout.contains("calls"), "{ran:?}");
    assert_eq!(scene.everything(), before);
}

#[test]
fn who_has_agreed_is_written_down() {
    let scene = written();
    let agreed = &decided(&scene, "agreed")[0];
    assert_eq!(agreed["confirmed"], "declared");
    assert_eq!(agreed["criteria"]["rules"].as_array().unwrap().len(), 8);
}

#[test]
fn the_kind_of_a_text_is_guessed_from_its_task_and_one_of_no_known_kind_is_other() {
    let points = [1, 2, 3, 4].map(|nth| format!("a.quality.point-{nth}"));
    for (task, template, sections) in [
        ("The manual of the pump", "docs", json!(PASSES_A)),
        // Nothing shows its kind.
        (TASK, "other", json!(points)),
        // Its words show several kinds.
        ("The API, the docs and the config of the pump", "other", json!(points)),
    ] {
        let scene = scene(&json!({ "produced": { "1": sections } }));
        let ran = scene.run(&["reflex", task, "--yes", "--format", "json"]);
        assert_eq!((ran.code, &ran.json()["template"]), (Some(0), &Value::from(template)), "{task}: {ran:?}");
        let dry = scene.run(&["reflex", "new", task, "--dry-run"]);
        assert!(dry.stdout.contains(&format!("rules ({template}):")), "{task}: {dry:?}");
    }
    let said = scene(&rising()).refusal(&["reflex", TASK, "--yes", "--proposals", "0"]);
    assert!(said.contains("another --template"), "{said}");
}

#[test]
fn the_built_in_agent_and_an_empty_task_are_refused() {
    let scene = scene(&rising());
    let said = scene.refusal(&[&NEW[..], &["--agent", "offline"]].concat());
    assert!(said.contains("built-in agent"), "{said}");
    scene.refusal(&["reflex", "new", " ", "--template", "docs", "--yes"]);
}

#[test]
fn a_project_does_not_choose_agents_or_commands_that_nobody_has_trusted() {
    let scene = scene(&rising());
    let settings = scene.path("project/skilltune.toml");
    fs::write(&settings, "[reflex]\nchecks = \"run\"\n").unwrap();
    let said = scene.refusal(&NEW);
    assert!(said.contains("reflex.checks"), "{said}");
    fs::write(&settings, "[agents.theirs]\ncommand = [\"true\"]\n[roles]\nexecutor = \"theirs\"\n").unwrap();
    let said = scene.refusal(&NEW);
    assert!(said.contains("trust"), "{said}");
}
