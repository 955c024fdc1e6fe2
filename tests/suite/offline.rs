//! The built-in agent in a real run: it walks through a skill, identifies itself, and can be killed like any other.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::outcome::{Outcome, assert_tidy};
use crate::scene::{Ran, Scene, listing};

const TUNE: [&str; 12] = [
    "tune",
    "writer",
    "--suite",
    "suite.toml",
    "--trust",
    "--agent",
    "offline",
    "--yes",
    "--apply",
    "auto",
    "--format",
    "json",
];

/// Creates a skill with faults that can be fixed one by one, and one that cannot.
fn flawed(scene: &Scene) {
    let folder = scene.skill("writer");
    fs::create_dir_all(folder.join("references")).unwrap();
    let again = "Be brief, and say what is: a page is read by people who have one minute, and who look for one thing.";
    let page = format!(
        "---\nname: writer\ndescription: Writes a page. Use it when a page is wanted.\n---\n\n# Writer\n\n\
                See [the style](refs/style.md).\n\n{again}\n\n{again}\n\n\
                Then run it:\n\n```sh\nsh references/none.sh\n```\n"
    );
    fs::write(folder.join("SKILL.md"), page).unwrap();
    fs::write(folder.join("references/style.md"), "# Style\r\n\r\nShort words.\r\n").unwrap();
}

/// Puts a shell first on the PATH that logs, and waits at a gate if there is one. It is not confined, because it logs
/// where no command of a suite may write.
pub(crate) fn gated_shell(scene: &Scene) {
    fs::write(scene.path("config/skilltune/skilltune.toml"), "[limits]\nconfine = false\n").unwrap();
    let shell = scene.path("bin/sh");
    fs::create_dir_all(shell.parent().unwrap()).unwrap();
    let (log, gate) = (scene.path("calls.log"), scene.path("gate"));
    let (log, gate) = (log.display(), gate.display());
    let text = format!(
        "#!/bin/sh\necho start sh-$$ >> {log}\nif [ -p {gate} ]; then read opened < {gate}; fi\nexec /bin/sh \"$@\"\n"
    );
    fs::write(&shell, text).unwrap();
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns our command with that shell on its PATH.
pub(crate) fn beside(scene: &Scene, arguments: &[&str], folder: &Path) -> Command {
    let mut command = scene.command(arguments);
    command.current_dir(folder).env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    command
}

#[test]
fn without_a_suite_it_walks_through_the_skill_and_says_what_it_is() {
    let scene = Scene::empty();
    flawed(&scene);
    let ran = scene.run(&["tune", "writer", "--agent", "offline", "--yes"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_tidy(&scene, "a walk");
    assert!(ran.stderr.contains("\noffline (structural) in all roles\n"), "{ran:?}");
    let rounds = listing(&scene.run_folder().join("iterations"));
    let walks = rounds.iter().filter(|(path, ..)| path.ends_with("walk.md"));
    let walks: Vec<_> = walks.map(|(_, _, bytes)| String::from_utf8_lossy(bytes)).collect();
    assert!(walks.len() >= 2, "a walk a round: {}", walks.len());
    assert!(walks.iter().all(|walk| walk.contains("SKILL.md") && walk.contains("references/style.md")));
    for page in ["final-report.md", "report.json", "iteration-state.json"] {
        let text = fs::read_to_string(scene.run_folder().join(page)).unwrap();
        assert!(text.contains("offline (structural)"), "{page}");
    }
    let page = fs::read_to_string(scene.skill("writer").join("SKILL.md")).unwrap();
    assert!(page.contains("(references/style.md)") && page.matches("Be brief").count() == 1, "{page}");
    assert!(page.contains("references/none.sh"), "what nobody knows is not made up");
}

/// A task that never ran must not be called reached or passed, and a run ends when nothing is left to fix.
#[test]
fn without_a_command_a_run_tells_of_structure_only_and_ends_when_nothing_is_left_to_repair() {
    let scene = Scene::new(&[], &json!({}));
    let sound = "---\nname: writer\ndescription: Writes a page. Use it when a page is wanted.\n---\n\n# Writer\n\nWrite it.\n";
    fs::create_dir_all(scene.skill("writer")).unwrap();
    fs::write(scene.skill("writer").join("SKILL.md"), sound).unwrap();
    let line = ["tune", "writer", "write a page", "--agent", "offline", "--yes"];
    let clean = scene.run(&[&line[..], &["--threshold", "60"]].concat());
    assert_eq!(clean.code, Some(0), "{clean:?}");
    let left = |ran: &Ran| ran.stdout.lines().find(|line| line.starts_with("writer: ")).unwrap().to_owned();
    assert_eq!(
        left(&clean),
        "writer: 100.0 -> 100.0 (±0.0), no structural findings left; the task was not run"
    );
    assert!(clean.stderr.contains("structure only; the task was not run"), "{clean:?}");
    flawed(&scene);
    let found = scene.run(&line);
    assert_eq!(found.code, Some(3), "{found:?}");
    assert!(left(&found).ends_with(", structural findings left; the task was not run"), "{found:?}");
    assert!(
        found.stdout.contains("The search stopped: the improver finds nothing more to change."),
        "{found:?}"
    );
    assert!(found.stdout.contains("\nLeft for you: "), "{found:?}");
    let mut pages = vec![clean.stdout, clean.stderr, found.stdout, found.stderr];
    pages.extend(
        scene.run_folders().iter().map(|run| fs::read_to_string(run.join("final-report.md")).unwrap()),
    );
    for page in pages {
        for word in ["PASSED", "goal", "unchanged  ", "Weak evidence"] {
            assert!(!page.contains(word), "{word}: {page}");
        }
    }
}

#[test]
fn the_same_skill_is_decided_alike_every_time_at_any_number_of_jobs() {
    let decisions = |jobs: &str| {
        let scene = Scene::empty();
        flawed(&scene);
        let line = ["tune", "writer", "--agent", "offline", "--yes", "--seed", "7", "--jobs", jobs];
        let ran = scene.run(&[&line[..], &["--scenario", "one", "--scenario", "two"]].concat());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        (scene.events("decided"), listing(&scene.skill("writer")))
    };
    let one = decisions("1");
    assert!(one.0.iter().any(|decision| decision.get("ship").is_some()), "{:?}", one.0);
    assert_eq!(decisions("1"), one);
    assert_eq!(decisions("8"), one);
}

/// Creates a scene whose scenario has a command that waits at a gate.
fn gated() -> (Scene, Gate) {
    let scene = Scene::empty();
    flawed(&scene);
    gated_shell(&scene);
    let suite = "[[scenarios]]\ndescription = \"Write a page\"\ncommand = [\"sh\", \"-c\", \"echo page > page.md\"]\n";
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    let gate = Gate::at(scene.path("gate"));
    (scene, gate)
}

#[test]
fn a_run_that_was_killed_in_a_command_is_taken_up_and_ends_as_it_would_have() {
    let run =
        |scene: &Scene, line: &[&str]| Ran::of(beside(scene, line, &scene.path("project")).output().unwrap());
    let undisturbed = {
        let (scene, gate) = gated();
        gate.remove();
        let ran = run(&scene, &TUNE);
        Outcome::of(&scene, &ran)
    };
    let (scene, gate) = gated();
    let killed = Background::spawn(&scene, beside(&scene, &TUNE, &scene.path("project")));
    killed.until_begun(1);
    killed.kill_and_see_off();
    assert_eq!(scene.alive(), [0; 0], "its command has ended with it");
    gate.remove();
    let ran = run(&scene, &["resume", "--trust", "--yes", "--format", "json"]);
    Outcome::of(&scene, &ran).assert_is(&undisturbed, "taken up");
    assert_tidy(&scene, "taken up");
    assert_eq!(ran.json()["outcome"], json!("improved"), "{ran:?}");
}

#[test]
fn nobody_is_given_it_unasked() {
    let scene = Scene::empty();
    flawed(&scene);
    insta::assert_snapshot!(scene.refusal(&["tune", "writer", "--yes"]), @r#"
    error: no agent for the role executor
    hint: install claude and log in: npm install -g @anthropic-ai/claude-code; `skilltune doctor` lists other agents
    hint: or pass --agent offline: it needs no model and checks structure only
    hint: or describe your own in skilltune.toml, then pass --agent mine:

        [agents.mine]
        command = ["program", "argument"]
    "#);
    assert!(scene.refusal(&["tune", "writer", "--agent", "offline:large"]).contains("has no models"));
    let none: [Value; 0] = [];
    assert_eq!(scene.run(&["list", "--format", "json"]).json(), json!(none));
}
