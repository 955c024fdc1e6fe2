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
fn a_task_whose_kind_is_not_told_is_refused_and_one_that_tells_it_is_guessed() {
    let scene = scene(&rising());
    let said = scene.refusal(&["reflex", "new", TASK, "--yes"]);
    assert!(said.contains("--template"), "{said}");
    let ran = scene.run(&["reflex", "The manual of the pump", "--yes", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["template"]), (Some(0), &Value::from("docs")), "{ran:?}");
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
