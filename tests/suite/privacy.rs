//! File owners and permissions: permissions of a skill survive, skilltune's files are readable by their owner only, and
//! a write that the system refuses leaves nothing behind.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::scene::{Scene, listing};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_permissions_of_a_private_skill_survive_and_new_files_are_as_private() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let skill = scene.skill("writer");
    set_mode(&skill.join("SKILL.md"), 0o600);
    set_mode(&skill.join("references/style.md"), 0o400);
    let ran =
        scene.run_limited("umask 022", &["tune", "writer", "write a page", "--yes", "--format", "json"]);
    assert_eq!(ran.json()["outcome"], "improved", "{ran:?}");
    assert_eq!(scene.quality("writer"), 90);
    for (file, kept) in [("SKILL.md", 0o600), ("references/style.md", 0o400), ("notes.md", 0o600)] {
        assert_eq!(mode(&skill.join(file)), kept, "{file}");
    }
    scene.run(&["rollback"]);
    scene.run(&["apply"]);
    assert_eq!(mode(&skill.join("SKILL.md")), 0o600, "after apply");
}

#[test]
fn what_skilltune_keeps_is_its_owners_alone_whatever_the_umask() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60 } } }));
    scene.run_limited("umask 000", &["tune", "writer", "write a page", "--yes", "--format", "json"]);
    for folder in ["project/.skilltune", "cache/skilltune", "state/skilltune"] {
        assert_eq!(mode(&scene.path(folder)), 0o700, "{folder}");
    }
    assert_eq!(mode(&scene.path("state/skilltune/cache-key")), 0o600);
}

/// Characters that control a terminal or reverse a line, and that a reader would not see.
const HIDDEN: [char; 4] = ['\u{202e}', '\u{9b}', '\u{7f}', '\u{2066}'];

#[test]
fn no_json_that_skilltune_writes_hides_a_character() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let task: String = HIDDEN.iter().flat_map(|hidden| ['a', *hidden]).collect();
    let ran = scene.run(&["tune", "writer", &task, "--yes", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut count = 0;
    for entry in walkdir::WalkDir::new(scene.path("project/.skilltune")) {
        let path = entry.unwrap().into_path();
        if path.is_file() && path.extension().is_some_and(|end| end == "json" || end == "jsonl") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains(HIDDEN), "{}", path.display());
            count += usize::from(text.contains("a\\u202ea\\u009ba\\u007fa\\u2066"));
        }
    }
    assert!(count >= 2, "journal and state tell the task: {count}");
}

#[test]
fn a_copy_of_a_skill_has_no_set_id_bits_and_the_skill_keeps_its_own() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let script = scene.skill("writer").join("run.sh");
    fs::write(&script, "true\n").unwrap();
    set_mode(&script, 0o6755);
    scene.tune("writer", &[]);
    assert_eq!(mode(&script), 0o6755, "nobody has changed the skill's own");
    let out = scene.path("out");
    let ran = scene.run(&["export", &scene.run_id(), "champion", out.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mode(&out.join("run.sh")), 0o755);
}

/// Restores a file larger than `ulimit -f` allows: the write fails in the middle, as on a full disk.
#[test]
fn a_write_beyond_the_file_size_limit_is_an_error_and_leaves_nothing_behind() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let skill = scene.skill("writer");
    fs::write(skill.join("large"), vec![b'x'; 2 << 20]).unwrap();
    scene.tune("writer", &[]);
    fs::remove_file(skill.join("large")).unwrap();
    let before = listing(&skill);
    let ran = scene.run_limited("ulimit -f 512", &["rollback", "--force"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("File too large"), "{ran:?}");
    assert_eq!(listing(&skill), before, "the target is as it was, with nothing beside it");
    let ran = scene.run(&["rollback", "--force"]);
    assert_eq!((ran.code, mode(&skill.join("large"))), (Some(0), 0o644), "{ran:?}");
}
