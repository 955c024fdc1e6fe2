//! A champion with dangerous edits is shown with its dangers, and waits for a person.

use serde_json::json;

use crate::commands::{data, talk};
use crate::finished::Finished;
use crate::scene::{Scene, listing};

/// Returns a scene whose improver also leaves a script in the skill.
pub(crate) fn armed() -> Scene {
    leaving(&["skill/writer/run.sh"])
}

/// Returns a scene whose improver also leaves these files.
fn leaving(paths: &[&str]) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let script = json!({
        "improve": { "writer": { "40": 60, "60": 90 } },
        "overwrite": { "improver": paths },
        "overwritten": scene.path("overwritten.log"),
    });
    scene.write_script(&script);
    scene
}

#[test]
fn a_dangerous_champion_is_kept_with_its_dangers_first_until_a_person_applies_it() {
    let scene = armed();
    let before = listing(&scene.skill("writer"));
    let ran = scene.run(&["tune", "writer", "write a page", "--apply", "auto", "--format", "json"]);
    let summary = ran.json();
    assert_eq!(
        (&summary["outcome"], &summary["dangers"][0]["class"]),
        (&json!("kept"), &json!("script")),
        "{ran:?}"
    );
    assert_eq!(listing(&scene.skill("writer")), before);
    let report = data(&scene, &["report"]);
    let lines: Vec<&str> = report.lines().skip(2).take(6).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    ## Dangerous Changes

    The champion's edits contain these changes. Review them before you apply or keep it:

    - script: run.sh: changed
    - script: run.sh:1: scribbled
    ");
    insta::assert_snapshot!(scene.normalized(&scene.run(&["diff"]).stderr), @r"
    dangerous: script: run.sh:1: scribbled
    writer: M SKILL.md, A notes.md, A run.sh
    ");
    talk(&scene, &scene.run(&["apply"]));
    assert_ne!(listing(&scene.skill("writer")), before);
}

#[test]
fn what_tools_leave_in_a_draft_is_no_part_of_it_and_no_danger() {
    let scene = leaving(&["skill/writer/__pycache__/run.pyc", "skill/writer/node_modules/x/x.js"]);
    let ran = scene.run(&["tune", "writer", "write a page", "--apply", "auto", "--format", "json"]);
    let summary = ran.json();
    assert_eq!((&summary["outcome"], &summary["dangers"]), (&json!("improved"), &json!([])), "{ran:?}");
    let left: Vec<String> = std::fs::read_dir(scene.skill("writer"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name == "__pycache__" || name == "node_modules")
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let calls = std::fs::read_to_string(scene.path("overwritten.log")).unwrap();
    assert!(calls.contains("written improver"), "{calls}");
}

#[test]
fn an_answer_that_is_given_applies_a_dangerous_champion_and_the_default_keeps_it() {
    static HELD: Finished = Finished::new(|| {
        let scene = armed();
        let held = scene.run(&["tune", "writer", "write a page", "--apply", "ask", "--format", "json"]);
        assert_eq!(held.json()["outcome"], "held", "{held:?}");
        scene
    });
    for (answer, outcome) in [(vec!["--yes"], "kept"), (vec!["--answer", "apply"], "improved")] {
        let scene = HELD.scene();
        let line = [vec!["resume", "--format", "json"], answer].concat();
        assert_eq!(scene.run(&line).json()["outcome"], outcome);
    }
}
