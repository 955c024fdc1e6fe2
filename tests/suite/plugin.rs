//! A skill of a plugin: which parts of the plugin its trials get. A script replaces the real agent.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::blocked::run;
use crate::scene::Scene;

const DONE: &str = include_str!("../../fixtures/transcripts/claude/write.jsonl");

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates a plugin with a skill that names one of its scripts, and a claude that runs it and leaves its findings.
fn scene() -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let plugin = scene.path("project/plug");
    fs::create_dir_all(plugin.join("skills")).unwrap();
    fs::rename(scene.skill("writer"), plugin.join("skills/writer")).unwrap();
    let page = plugin.join("skills/writer/SKILL.md");
    let text = fs::read_to_string(&page).unwrap();
    let named = "Run `sh ${CLAUDE_PLUGIN_ROOT}/scripts/a.sh`, `${CLAUDE_PLUGIN_ROOT}/skills/writer/own.sh` and `${CLAUDE_PLUGIN_ROOT}/hooks/h.sh`.";
    fs::write(&page, format!("{text}\n{named}\n")).unwrap();
    write(&plugin.join(".claude-plugin/plugin.json"), "{}");
    write(&plugin.join("scripts/a.sh"), "echo the script has run\n");
    write(&plugin.join("scripts/other.sh"), "echo unnamed\n");
    write(&plugin.join("skills/writer/own.sh"), "echo its own script\n");
    write(&plugin.join("skills/other/SKILL.md"), "another skill\n");
    write(&plugin.join("hooks/h.sh"), "echo a hook\n");
    write(&plugin.join(".mcp.json"), "{}");
    fs::create_dir(scene.path("bin")).unwrap();
    fs::write(scene.path("done"), DONE).unwrap();
    let script = format!(
        "#!/bin/sh\nsh \"$CLAUDE_PLUGIN_ROOT/scripts/a.sh\" > page.md\nsh \"$CLAUDE_PLUGIN_ROOT/skills/writer/own.sh\" >> page.md\n\
         cat .claude/skills/writer/SKILL.md >> page.md\n(cd \"$CLAUDE_PLUGIN_ROOT\" && find . -type f | sort) >> page.md\ncat {}\n",
        scene.path("done").display()
    );
    fs::write(scene.path("bin/claude"), script).unwrap();
    fs::set_permissions(scene.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    scene
}

#[test]
fn a_trial_has_the_files_of_the_plugin_that_the_skill_names_and_nothing_that_acts_by_itself() {
    let scene = scene();
    let line = ["tune", "plug/skills/writer", "write a page", "--yes", "--executor", "claude:opus"];
    let ran = run(&scene, &[&line[..], &["--max-iterations", "1"]].concat());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let left = scene.run_folder().join("iterations/iteration-1/artifacts/writer/scenario-1/1");
    let names: Vec<_> = fs::read_dir(&left).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["page.md"], "the plugin is no work of the agent");
    let page = fs::read_to_string(left.join("page.md")).unwrap();
    assert!(page.starts_with("the script has run\nits own script\n"), "{page}");
    assert!(
        page.contains("/.plugin/writer/scripts/a.sh`") && !page.contains("${CLAUDE_PLUGIN_ROOT}"),
        "{page}"
    );
    let (_, files) = page.split_once("h.sh`.\n").unwrap();
    let files: Vec<&str> = files.lines().filter(|line| !line.starts_with("./skills/writer/")).collect();
    assert_eq!(files, ["./scripts/a.sh"], "{page}");
    let output = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "trials lack these parts of the plugin of writer: .mcp.json, hooks, hooks/h.sh, skills/other";
    assert!(output.contains(note), "{ran:?}");
}
