//! A skill that its executor never uses: nothing is promoted on work done without the skill. The scripted agent prints
//! claude's output.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use crate::scene::{FAKE_AGENT, Ran, Scene, listing};

pub(crate) fn scene(uses_skill: bool) -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    scene.write_script(&json!({ "improve": { "writer": { "40": 90 } } }));
    fs::create_dir(scene.path("bin")).unwrap();
    symlink(FAKE_AGENT, scene.path("bin/claude")).unwrap();
    let stage = json!({ "script": scene.path("script.json"), "uses_skill": uses_skill });
    fs::write(scene.path("bin/wrapped.json"), stage.to_string()).unwrap();
    // The agent logs its calls in its own file.
    fs::write(scene.path("config/skilltune/skilltune.toml"), "[limits]\nconfine = false\n").unwrap();
    scene
}

pub(crate) fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let tune = ["tune", "writer", "write a page", "--yes", "--apply", "auto", "--agent", "claude"];
    let mut command = scene.command(&[&tune[..], &["--max-iterations", "3"], more].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    Ran::of(command.output().unwrap())
}

/// Returns the verdicts on the skill's effectiveness over all judgements.
fn effects(scene: &Scene) -> Vec<String> {
    let done = scene.events("done");
    let judged = done.iter().filter_map(|done| done.pointer("/outcome/judged/whole/findings")?.as_array());
    let of_effect =
        judged.flatten().filter(|one| one["criterion"].as_str().unwrap().starts_with("effectiveness."));
    let mut verdicts: Vec<String> =
        of_effect.map(|one| one["verdict"].as_str().unwrap().to_owned()).collect();
    verdicts.sort();
    verdicts.dedup();
    verdicts
}

fn comparison(scene: &Scene) -> Value {
    scene.state()["skilltune"]["comparison"]["verdict"].clone()
}

#[test]
fn a_skill_that_is_used_in_no_trial_is_not_replaced_and_the_first_round_says_so() {
    let scene = scene(false);
    let before = listing(&scene.skill("writer"));
    let ran = tune(&scene, &[]);
    assert_eq!((ran.code, comparison(&scene)), (Some(3), json!("unused")), "{ran:?}");
    assert_eq!((listing(&scene.skill("writer")), effects(&scene)), (before, vec!["unverified".to_owned()]));
    let (first, _) = ran.stderr.split_once("round 2").expect("there is a second round");
    let said = first.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("The skill was used in 0 of 1 trial: its effect is `unverified`, and an unused version cannot win."),
        "{}", ran.stderr
    );
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("No trial used the best candidate"), "{}", ran.stdout);
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("no trial of the candidate used the skill"), "{report}");
    let prompts = walkdir::WalkDir::new(scene.run_folder().join("agents")).into_iter().flatten();
    let prompts = prompts.filter(|entry| entry.file_name() == "prompt.md");
    let prompts: Vec<String> = prompts.map(|entry| fs::read_to_string(entry.path()).unwrap()).collect();
    let mut judges = prompts.iter().filter(|prompt| prompt.contains("# Judge an agent skill")).peekable();
    assert!(
        judges.peek().is_some() && judges.all(|prompt| prompt.contains("did not use `writer` in this trial"))
    );
}

#[test]
fn the_same_skill_is_replaced_when_it_is_used() {
    let scene = scene(true);
    let ran = tune(&scene, &["--format", "json"]);
    assert_eq!((ran.code, comparison(&scene)), (Some(0), json!("won")), "{ran:?}");
    assert_eq!((scene.quality("writer"), effects(&scene).contains(&"unverified".to_owned())), (90, false));
}

#[test]
fn an_executor_without_a_shell_is_said_to_run_no_scripts() {
    let scripts: [(&str, &str, u32); 3] = [
        ("check", "#!/bin/sh\n", 0o644),
        ("check.py", "print()\n", 0o755),
        ("scripts/check.py", "print()\n", 0o644),
    ];
    let notes = |scene: &Scene| tune(scene, &["--dry-run", "--format", "json"]).json()["notes"].to_string();
    let about = "has no shell: it cannot run the scripts of writer";
    for (path, text, mode) in scripts {
        let scene = scene(true);
        let plain = scene.skill("writer").join("references/table.csv");
        fs::write(plain, "# no script\n").unwrap();
        assert!(!notes(&scene).contains(about), "nothing here is a script");
        let script = scene.skill("writer").join(path);
        fs::create_dir_all(script.parent().unwrap()).unwrap();
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(mode)).unwrap();
        assert!(notes(&scene).contains(about), "{path}: {}", notes(&scene));
    }
}

#[test]
fn scripts_that_nobody_runs_are_told_at_the_start_and_of_no_agent_of_ones_own() {
    let about = "has no shell: it cannot run the scripts of writer";
    let scene = scene(true);
    fs::write(scene.skill("writer").join("check"), "#!/bin/sh\n").unwrap();
    let ran = tune(&scene, &[]);
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(about), "{ran:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains(about), "{report}");
    let own = Scene::new(&[("writer", 40)], &json!({}));
    fs::write(own.skill("writer").join("check"), "#!/bin/sh\n").unwrap();
    let notes = own.tune("writer", &["--dry-run"]).json()["notes"].clone();
    assert_eq!(notes, json!([]));
}
