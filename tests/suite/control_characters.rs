//! Control characters in text from others are made visible and have no effect, also in a pipe.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::scene::{Ran, Scene};

/// Returns a finished run whose skill has these lines after the one that it changes.
fn won(more: &str) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 90 } } }));
    let page = scene.skill("writer").join("SKILL.md");
    let text = fs::read_to_string(&page).unwrap().replace("Quality: 40\n", &format!("Quality: 40{more}"));
    fs::write(&page, text).unwrap();
    assert_eq!(scene.tune("writer", &[]).code, Some(0));
    scene
}

fn unseen(text: &str) -> Vec<char> {
    let is_unseen = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(is_unseen).collect()
}

#[test]
fn a_diff_in_a_pipe_shows_what_a_terminal_would_act_on() {
    let scene = won("\n\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m \u{202e}txt.exe\u{2066}\u{61c}\u{7f}\n");
    let ran = scene.run(&["diff"]);
    assert_eq!((ran.code, unseen(&ran.stdout)), (Some(0), vec![]), "{ran:?}");
    let line = " ␛[2J␛]0;owned␇<U+009B>31m <U+202E>txt.exe<U+2066><U+061C>␡\n";
    assert!(ran.stdout.contains(line), "{ran:?}");
    assert!(ran.stderr.contains("`skilltune export` copies the files unchanged"), "{ran:?}");
}

#[test]
fn a_diff_of_ordinary_files_can_be_applied_whatever_ends_their_lines() {
    let scene = won("\r\n\r\n\tTabbed, and with blanks.  \r\n\u{feff}Marked.\r\n\n");
    let ran = scene.run(&["diff"]);
    let changes = "writer: M SKILL.md, A notes.md\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), changes), "{ran:?}");
    assert!(
        ran.stdout.contains("-Quality: 40\r\n+Quality: 90\r\n \r\n \tTabbed, and with blanks.  \r\n"),
        "{ran:?}"
    );
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("seen: no patch was applied: git is not here");
        return;
    }
    let skill = scene.skill("writer");
    let champion = fs::read(skill.join("SKILL.md")).unwrap();
    assert_eq!(scene.run(&["rollback"]).code, Some(0));
    assert_ne!(fs::read(skill.join("SKILL.md")).unwrap(), champion);
    let patch = scene.path("patch");
    fs::write(&patch, &ran.stdout).unwrap();
    let mut apply = Command::new("git");
    apply.arg("apply").arg(&patch).current_dir(&skill).env("GIT_CEILING_DIRECTORIES", scene.path(""));
    let applied = Ran::of(apply.output().unwrap());
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert!(skill.join("notes.md").exists());
    assert_eq!(fs::read(skill.join("SKILL.md")).unwrap(), champion);
}

#[test]
fn an_improvers_words_are_shown_and_json_escapes_them() {
    let scene = won("\n");
    let name = "a\u{202e}b\u{9b}.md";
    fs::write(scene.skill("writer").join(name), "[x](gone.md)\n").unwrap();
    for (format, shown) in [("human", "a<U+202E>b<U+009B>.md"), ("github", "a<U+202E>b<U+009B>.md")] {
        let ran = scene.run(&["lint", "writer", "--format", format]);
        assert!(ran.stdout.contains(shown) && unseen(&ran.stdout).is_empty(), "{format}: {ran:?}");
    }
    let ran = scene.run(&["lint", "writer", "--format", "json"]);
    assert_eq!(unseen(&ran.stdout), []);
    let diagnostics = ran.json()["skills"][0]["findings"].as_array().unwrap().clone();
    assert!(diagnostics.iter().any(|diagnostic| diagnostic["path"] == name), "{diagnostics:?}");
}
