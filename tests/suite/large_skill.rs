//! A skill with more text than an edit needs: what an improver gets of it, and where a person reads that a page is too
//! long. The scripted agent plays claude, whose tools open files, and a command, of which that is unknown.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::scene::{FAKE_AGENT, Ran, Scene};

/// Adds eight long references to the skill.
fn with_references(scene: &Scene) {
    for nth in 1..=8 {
        let path = scene.skill("writer").join(format!("references/part-{nth}.md"));
        fs::write(path, format!("Rule of part {nth}.\n").repeat(300)).unwrap();
    }
}

fn with_claude() -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    scene.write_script(&json!({ "improve": { "writer": { "40": 90 } } }));
    fs::create_dir(scene.path("bin")).unwrap();
    symlink(FAKE_AGENT, scene.path("bin/claude")).unwrap();
    let stage = json!({ "script": scene.path("script.json"), "uses_skill": true });
    fs::write(scene.path("bin/wrapped.json"), stage.to_string()).unwrap();
    // The agent logs its calls in its own file.
    fs::write(scene.path("config/skilltune/skilltune.toml"), "[limits]\nconfine = false\n").unwrap();
    scene
}

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let tune = ["tune", "writer", "write a page", "--yes", "--format", "json", "--max-iterations", "3"];
    let mut command = scene.command(&[&tune[..], more].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    Ran::of(command.output().unwrap())
}

/// Returns the prompt of the first edit.
fn edit_prompt(scene: &Scene) -> String {
    let mut prompts = scene.prompts().into_iter();
    let prompt = prompts.find(|prompt| prompt.starts_with("# Improve an agent skill"));
    prompt.expect("the skill was edited")
}

#[test]
fn an_improver_that_opens_files_gets_the_page_and_a_list_and_its_edit_is_accepted_as_before() {
    let claude = with_claude();
    let command = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 90 } } }));
    let accepted = [(&claude, &["--agent", "claude"][..]), (&command, &[][..])].map(|(scene, agent)| {
        with_references(scene);
        let ran = tune(scene, agent);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.json()["accepted"].as_u64()
    });
    assert_eq!(accepted, [Some(1); 2]);
    let (some, all) = (edit_prompt(&claude), edit_prompt(&command));
    for shown in ["Quality: 40", "\n- references/part-8.md: 4800 bytes\n"] {
        assert!(some.contains(shown), "{shown}: {some}");
    }
    assert!(!some.contains("Rule of part") && !some.contains("Be brief."), "{some}");
    assert!(all.contains("Rule of part 8.") && !all.contains("only lists"), "{all}");
    assert!(2 * some.len() < all.len(), "{} of {} bytes", some.len(), all.len());
}

#[test]
fn a_page_that_is_too_long_for_a_prompt_is_named_when_a_run_begins_and_in_the_prompt() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let page = scene.skill("writer").join("SKILL.md");
    let text = fs::read_to_string(&page).unwrap() + &"One more line about pages.\n".repeat(2000);
    fs::write(&page, &text).unwrap();
    let bytes = text.len();
    let note = format!(
        "SKILL.md of writer is too long for a prompt: {},{:03} bytes, at most 49,152; agents get only its path",
        bytes / 1000,
        bytes % 1000
    );
    for more in [&["--dry-run"][..], &[]] {
        let ran = tune(&scene, more);
        assert!(ran.json()["notes"].to_string().contains(&note), "{note}: {ran:?}");
    }
    let warning = format!("`skill/writer/SKILL.md` is too long for this page: it has {bytes} bytes.");
    assert!(edit_prompt(&scene).contains(&warning), "{warning}");
}
