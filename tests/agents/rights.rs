//! The write access of real agents and their children.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

/// Puts a script before the real program: it tries to write where no role may, and as the judge also into what it
/// judges; then it executes the real program.
fn in_front(scene: &Scene, name: &str) {
    let (program, places) = (scene.path("bin").join(name), places(scene));
    let real = fs::read_link(&program).unwrap();
    let script = format!(
        "#!/bin/sh\n\
         [ -d artifacts ] && judged='skill/haiku/SKILL.md artifacts/haiku/haiku.md notes.md'\n\
         for place in {} ../../pwned $judged; do\n\
             if (: >> \"$place\") 2>/dev/null; then echo \"written $place\"; else echo \"denied $place\"; fi\n\
         done >&2\n\
         echo mine > \"$TMPDIR/mine\" && echo \"allowed\" >&2\n\
         exec '{}' \"$@\"\n",
        places.join(" "),
        real.display(),
    );
    fs::remove_file(&program).unwrap();
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn places(scene: &Scene) -> Vec<String> {
    let outside = [
        "home/pwned",
        "project/pwned",
        "project/.claude/skills/haiku/SKILL.md",
        "project/.skilltune/pwned",
        "home/.cache/skilltune/work/pwned",
    ];
    outside.map(|place| scene.path(place).display().to_string()).to_vec()
}

fn assert_held(scene: &Scene, ran: &Ran) {
    assert_eq!((ran.code, ran.failures()), (Some(0), Vec::new()), "{ran:?}");
    assert_eq!(ran.summary["rights"]["evaluator"], "system + agent", "{ran:?}");
    let stderr = scene.agents_stderr();
    let (allowed, tries): (Vec<&str>, Vec<&str>) = stderr
        .lines()
        .filter(|line| ["written ", "denied ", "allowed"].iter().any(|word| line.starts_with(word)))
        .partition(|line| *line == "allowed");
    let written: Vec<_> = tries.iter().filter(|line| line.starts_with("written")).collect();
    assert_eq!(written, [&""; 0]);
    let judged = tries.iter().filter(|line| line.ends_with("artifacts/haiku/haiku.md")).count();
    // Two rounds and two contestants, each tried and judged, and one edit.
    assert_eq!((allowed.len(), judged, tries.len()), (9, 4, 9 * 6 + 4 * 3), "{stderr}");
    assert!(!scene.path("home/pwned").exists() && scene.skill().ends_with("Quality: 95\n"));
}

/// Asks `doctor` whether the system itself confines an executor's writes.
fn system_confines() -> bool {
    let ran = Scene::new().run("good", "good", &["doctor", "--format", "json"]);
    let agents = ran.summary["agents"].as_array().expect("doctor names the agents");
    let rights =
        |agent: &Value| agent["rights"]["executor"].as_str().is_some_and(|by| by.starts_with("system"));
    agents.iter().any(rights)
}

const OWN: &str = r#"{ "numStartups": 7 }"#;

#[test]
fn what_a_real_agent_starts_can_write_nowhere_but_where_its_role_may() {
    if !system_confines() {
        // Bypasses the test harness, which hides the output of a passing test.
        let _ = writeln!(io::stderr(), "SKIPPED: this kernel has no Landlock that holds every write");
        return;
    }
    for agent in ["claude", "gemini"] {
        let scene = Scene::new();
        in_front(&scene, agent);
        // claude would write this file in place and without its lock, because it has no write access beside it either.
        fs::write(scene.path("home/.claude.json"), OWN).unwrap();
        let model =
            if agent == "claude" { "claude:claude-sonnet-4-5" } else { "gemini:gemini-3-pro-preview" };
        assert_held(&scene, &scene.tune("good", "good", &["--agent", model]));
        assert_eq!(fs::read_to_string(scene.path("home/.claude.json")).unwrap(), OWN);
    }
}

#[test]
fn a_home_that_an_agent_has_never_seen_is_no_hindrance() {
    let scene = Scene::new();
    fs::remove_dir_all(scene.path("home/.claude")).unwrap();
    fs::remove_dir_all(scene.path("home/.gemini")).unwrap();
    let roles = ["--agent", "claude", "--evaluator", "gemini:gemini-3-pro-preview"];
    let ran = scene.tune("good", "good", &roles);
    assert_eq!((ran.code, &ran.summary["outcome"]), (Some(0), &json!("improved")), "{ran:?}");
}
