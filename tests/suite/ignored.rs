//! A skill in a project, with files that git ignores: none of them is stored, shown or removed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::finished::Finished;
use crate::scene::{Ran, Scene};
use crate::tier::stride;

/// The text of each ignored file, which is nowhere else.
const IGNORED: &str = "IGNORED-WORDS-OF-A-PERSON";
const FILES: [&str; 5] = [
    ".env",
    "node_modules/pkg/index.js",
    "node_modules/.bin/run",
    "references/__pycache__/style.pyc",
    "data/private/large.csv",
];

fn project() -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    // The least that git accepts as a repository.
    fs::create_dir_all(scene.path("project/.git/objects")).unwrap();
    fs::create_dir(scene.path("project/.git/refs")).unwrap();
    fs::write(scene.path("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(scene.path("project/.gitignore"), ".env\nnode_modules/\n__pycache__/\n").unwrap();
    fs::write(scene.path("project/.skilltuneignore"), "private/\n").unwrap();
    for file in ignored(&scene) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, IGNORED).unwrap();
    }
    scene
}

/// Returns the project after a run whose champion was not applied.
fn tuned() -> Scene {
    static TUNED: Finished = Finished::new(|| {
        let scene = project();
        done(&scene.tune("writer", &["--apply", "never"]));
        scene
    });
    TUNED.scene()
}

fn ignored(scene: &Scene) -> Vec<PathBuf> {
    FILES.iter().map(|name| scene.skill("writer").join(name)).collect()
}

/// Fails unless the ignored files are unchanged, and their text is nowhere else in the scene.
#[track_caller]
fn assert_untouched(scene: &Scene) {
    let mut with_words: Vec<PathBuf> = scene
        .everything()
        .into_iter()
        .filter(|(_, _, bytes)| bytes.windows(IGNORED.len()).any(|part| part == IGNORED.as_bytes()))
        .map(|(path, ..)| scene.path("").join(path))
        .collect();
    let mut expected = ignored(scene);
    with_words.sort();
    expected.sort();
    assert_eq!(with_words, expected);
}

#[track_caller]
fn done(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_git_ignores_is_not_stored_not_shown_and_not_removed() {
    let scene = project();
    done(&scene.tune("writer", &[]));
    assert_eq!(scene.quality("writer"), 90);
    assert_untouched(&scene);
    for prompt in scene.prompts() {
        assert!(!prompt.contains("node_modules") && !prompt.contains("__pycache__"), "{prompt}");
    }
    // Changes in ignored files do not change the skill.
    fs::write(scene.skill("writer").join("node_modules/new"), "new").unwrap();
    done(&scene.run(&["rollback"]));
    assert_eq!(scene.quality("writer"), 40);
    assert_untouched(&scene);
    done(&scene.run(&["apply"]));
    assert_eq!(scene.quality("writer"), 90);
    // A change in any other file is a person's edit.
    fs::write(scene.skill("writer").join("mine.md"), "mine").unwrap();
    let refused = scene.run(&["rollback"]);
    assert!(refused.stderr.contains("changed since run"), "{refused:?}");
    done(&scene.run(&["rollback", "--force"]));
    assert!(!scene.skill("writer").join("mine.md").exists());
    assert_untouched(&scene);
}

#[test]
fn a_folder_that_holds_ignored_files_stays_when_the_version_without_it_is_restored() {
    let scene = tuned();
    // A folder that a person made and used, and that the run does not know.
    let extra = scene.skill("writer").join("scripts");
    fs::create_dir_all(extra.join("__pycache__")).unwrap();
    fs::write(extra.join("run.py"), "run").unwrap();
    fs::write(extra.join("__pycache__/run.pyc"), "compiled").unwrap();
    done(&scene.run(&["rollback", "--force"]));
    assert!(!extra.join("run.py").exists());
    assert_eq!(fs::read(extra.join("__pycache__/run.pyc")).unwrap(), b"compiled");
    let again = scene.run(&["rollback"]);
    done(&again);
    assert!(again.stderr.contains("already in its state before run "), "{again:?}");
    done(&scene.run(&["apply"]));
    assert_eq!(scene.quality("writer"), 90);
    assert_untouched(&scene);
}

#[test]
fn a_promotion_that_is_killed_anywhere_leaves_the_ignored_files_alone() {
    let scene = tuned();
    let mut at = 1;
    loop {
        let output = scene.command(&["apply"]).env("SKILLTUNE_CRASH_AT", at.to_string()).output().unwrap();
        assert_untouched(&scene);
        if output.status.success() {
            break;
        }
        done(&scene.run(&["apply"]));
        assert_eq!(scene.quality("writer"), 90, "crashed at point {at}");
        assert_untouched(&scene);
        done(&scene.run(&["rollback"]));
        assert_eq!(scene.quality("writer"), 40, "crashed at point {at}");
        assert_untouched(&scene);
        at += stride(3);
    }
    assert!(at > 11, "it has ended before point {at}");
}

#[test]
fn a_file_that_git_tracks_belongs_to_the_skill_whatever_a_rule_says() {
    let scene = project();
    fs::remove_dir_all(scene.path("project/.git")).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(scene.path("project")).env("HOME", scene.path("home"));
        let ran = git.env("GIT_CONFIG_NOSYSTEM", "1").output().expect("git is here");
        assert!(ran.status.success(), "{ran:?}");
    };
    let tracked = scene.skill("writer").join("node_modules/patched.js");
    fs::write(&tracked, "tracked").unwrap();
    git(&["init", "--quiet"]);
    git(&["add", "--force", tracked.to_str().unwrap()]);
    done(&scene.tune("writer", &[]));
    assert_untouched(&scene);
    let copy = scene.path("project/copy");
    done(&scene.run(&["export", &scene.run_id(), "start", "copy"]));
    assert_eq!(fs::read(copy.join("node_modules/patched.js")).unwrap(), b"tracked");
    assert!(!copy.join("node_modules/pkg").exists() && !copy.join(".env").exists());
    // The tracked file is part of the version: a promotion would detect an edit of it, and a rollback does.
    fs::write(&tracked, "edited").unwrap();
    assert!(scene.run(&["rollback"]).stderr.contains("changed since run"));
}

#[test]
fn lint_does_not_look_into_what_git_ignores() {
    let scene = project();
    let skill = scene.skill("writer");
    fs::write(skill.join("node_modules/pkg/SKILL.md"), "# no front matter\n").unwrap();
    fs::write(skill.join("node_modules/pkg/README.md"), "[broken](missing.md)\n").unwrap();
    let before = scene.run(&["lint", "writer"]);
    fs::remove_dir_all(skill.join("node_modules")).unwrap();
    let after = scene.run(&["lint", "writer"]);
    assert_eq!((before.code, before.stdout), (after.code, after.stdout));
    fs::write(skill.join(".env"), format!("{IGNORED}\n")).unwrap();
    scene.run(&["lint", "writer", "--fix"]);
    assert_eq!(fs::read_to_string(skill.join(".env")).unwrap(), format!("{IGNORED}\n"));
}
