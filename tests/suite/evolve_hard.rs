//! `evolve` under crashes, kills and hostile input: four tasks at once, in a project that a person is changing.
//!
//! The run meets everything that can be cut: work that conflicts and is done again, work that is taken back because it
//! breaks a command, a criterion that only a second pass meets, a branch without the changes of the person. With oracles, it
//! also measures at the end how strong they are, and what one executor makes alone.

mod crash;
mod hostile;
mod kill;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::process::can_confine;
use skilltune_orchestrator::store::{self, Locks};
use skilltune_phases::loops::evolve::Run;
use skilltune_phases::loops::evolve::plan::Planned;

use crate::kill::slowed;
use crate::outcome::{Outcome, assert_left_nothing};
use crate::proposing::repository::Repository;
use crate::scene::{Ran, Scene};
use crate::story::Story;

const SPEC: &str = "## Goal\n\nEach of the four files says what it meets.\n\n\
    ## Constraints\n\n- K1: nothing breaks the first rule\n\n\
    ## Acceptance criteria\n\n\
    - A1 (critical): the first file is there\n\
    - A2: the second file is there\n\
    - A3: the third file is there\n  check: [\"grep\", \"-q\", \"meets A3\", \"c.txt\"]\n\
    - A4: the fourth file is there\n";
/// Fails as long as a task has left a red line.
const CHECK: &str = "#!/bin/sh\n! grep -q '^red$' c.txt 2>/dev/null\n";
const SETTINGS: &str = "[commands]\ntest = [\"./check\"]\n";
/// The last word is left out in a run with oracles.
const BEGIN: [&str; 12] = [
    "evolve",
    "spec.md",
    "--yes",
    "--trust",
    "--commands",
    "run",
    "--roles",
    "none",
    "--format",
    "json",
    "--seed=7",
    "--no-oracles",
];
/// What a person has changed and not committed.
const DIRTY: &str = " M notes\n?? new\n";

/// Four tasks of one layer.
struct Built {
    slow: bool,
    has_oracles: bool,
    jobs: &'static str,
}

impl Built {
    fn play() -> Value {
        let task = |id: &str, covers: &str| task(id, covers, &format!("{id}.txt"));
        let shared = |id: &str, file: &str, covers: &str| {
            let (text, line) = (format!("this meets {covers}\n"), format!("of {id}\n"));
            json!([{ "writes": { file: text }, "appends": { "shared.txt": line } }])
        };
        let once = |file: &str, text: &str| json!({ "writes": { file: text } });
        json!({
            "tasks": [[task("a", "A1"), task("b", "A2"), task("c", "A3"), task("d", "A4")]],
            "works": {
                "a": shared("a", "a.txt", "A1"),
                "b": shared("b", "b.txt", "A2"),
                "c": [once("c.txt", "red\n"), once("c.txt", "this meets A3\n")],
                "d": [once("d.txt", "nothing\n"), once("d.txt", "this meets A4\n")],
            },
            "oracles": { "A1": [oracle("a.txt", "A1")], "A2": [oracle("b.txt", "A2")], "A4": [oracle("d.txt", "A4")] },
            "versions": { "A1": spoiled("a.txt", "A1"), "A2": spoiled("b.txt", "A2"), "A4": spoiled("d.txt", "A4") },
        })
    }

    /// Fails unless machines saw the criteria go from red to green, and both measurements were made.
    fn assert_evident(&self, ran: &Ran) {
        let receipts = &ran.json()["receipts"];
        let measured = receipts["criteria"].as_array().into_iter().flatten().filter_map(|one| {
            let strength = one["oracle"].get("strength")?;
            Some(strength == &json!({ "rejected": 1, "passed": ["it adds a line"], "not_counted": 0 }))
        });
        let measured: Vec<bool> = measured.collect();
        if self.has_oracles {
            // The check of the specification names a file that the work wrote.
            assert_eq!(ids(&receipts["criteria"], "word"), "verified verified judged verified", "{ran:?}");
            assert_eq!(measured, [true; 3], "{ran:?}");
            let alone = ["score", "is_done", "verified"].map(|key| &receipts["control"][key]);
            assert_eq!(json!(alone), json!([0.0, false, []]), "{ran:?}");
        } else {
            assert_eq!(ids(&receipts["criteria"], "word"), "judged judged judged judged", "{ran:?}");
            assert!(measured.is_empty() && receipts["control"].is_null(), "{ran:?}");
        }
    }
}

/// Returns an oracle that is red until a file says what it meets.
fn oracle(path: &str, id: &str) -> String {
    format!("if ! grep -q 'meets {id}$' {path}; then echo SKILLTUNE_RED; exit 1; fi\necho SKILLTUNE_GREEN\n")
}

/// Returns two wrong versions of a file: its oracle rejects one.
fn spoiled(path: &str, id: &str) -> Value {
    let line = format!("this meets {id}");
    let version =
        |what: &str, new: &str| json!({ "what": what, "edits": [{ "path": path, "old": line, "new": new }] });
    json!([version("it takes the line away", "nothing"), version("it adds a line", &format!("{line}\nmore"))])
}

impl Story for Built {
    fn scene(&self) -> Scene {
        let script = json!({ "evolve": Self::play() });
        laid(&if self.slow { slowed(script) } else { script }, "")
    }

    fn begin(&self, scene: &Scene) -> Command {
        let begin: Vec<&str> = if self.has_oracles {
            [&BEGIN[..BEGIN.len() - 1], &["--strength", "--control"]].concat()
        } else {
            BEGIN.into()
        };
        scene.command(&[&begin[..], &["--jobs", self.jobs]].concat())
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&["resume", "--yes", "--format", "json", "--jobs", self.jobs])
    }

    fn assert_telling(&self, scene: &Scene, ran: &Ran) {
        assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("reached")), "{ran:?}");
        let layers = scene.events("decided").into_iter().filter_map(|made| made.get("batch").cloned());
        let layers: Vec<String> = layers.map(|batch| ids(&batch["tasks"], "task")).collect();
        // One conflicts and one is red: both are done again. Then what one criterion lacks.
        assert_eq!(layers, ["a b c d", "b c", "d"]);
        assert!(commits(scene).contains("this meets A4"), "{ran:?}");
        self.assert_evident(ran);
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of_evolve(scene, ran, &commits(scene))
    }

    /// Fails unless the files of the run match the journal, and those of the person are as they were.
    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_left_nothing(scene, story);
        assert_untouched(scene, story);
        let history = store::read(&SafePath::below(&scene.run_folder(), "history.jsonl"))
            .expect("the journal can be read");
        let run = Run::replay(&history.records).expect("the journal is that of a run");
        assert!(run.closed_at.is_some(), "{story}: the run is not over");
        let state = scene.state();
        assert_eq!(
            (&state["outcome"], &state["tasks"]),
            (&json!(run.outcome()), &json!(run.tasks())),
            "{story}: the state"
        );
        let plan = fs::read(scene.run_folder().join("plan.json")).expect("there is a plan");
        let plan: Value = serde_json::from_slice(&plan).expect("a plan is JSON");
        assert_eq!(plan, json!(run.state.plan.as_ref().map(Planned::as_planned)), "{story}: the plan");
        let holder = Locks::at(&scene.path("state/skilltune")).holder(&scene.path("project"));
        assert_eq!(holder.expect("the lock can be read"), None, "{story}: the lock is held");
    }
}

/// Creates a repository with the specification and a check, in which a person has changed one file and added another.
fn laid(script: &Value, settings: &str) -> Scene {
    let scene = Scene::new(&[], script);
    // Elsewhere commands would not run without a person.
    let confine = if can_confine() { "" } else { "[limits]\nconfine = false\n" };
    scene.write_settings(&[SETTINGS, settings, confine].concat());
    let repository = Repository::of(scene);
    for (path, text) in
        [("spec.md", SPEC), ("shared.txt", "one\ntwo\n"), ("notes", "committed\n"), ("check", CHECK)]
    {
        fs::write(repository.path(path), text).unwrap();
    }
    fs::set_permissions(repository.path("check"), fs::Permissions::from_mode(0o755)).unwrap();
    repository.commit("Begin");
    fs::write(repository.path("notes"), "mine\n").unwrap();
    fs::write(repository.path("new"), "not added\n").unwrap();
    repository.scene
}

fn task(id: &str, covers: &str, touches: &str) -> Value {
    json!({
        "id": id, "title": format!("Write {touches}"), "description": "Write it.", "covers": [covers], "after": [],
        "touches": [touches], "replaces": [],
    })
}

/// Runs git in the project, and returns what it prints.
fn git(scene: &Scene, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(scene.path("project")).env_clear().env("PATH", "/usr/bin:/bin");
    let ran =
        git.env("HOME", scene.path("home")).env("GIT_OPTIONAL_LOCKS", "0").output().expect("git is here");
    assert!(ran.status.success(), "{arguments:?}: {ran:?}");
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// Returns the commits of the result with their messages and changes; nothing without a branch. A line with the hashes of a
/// file is left out: the receipts have the id of their run.
fn commits(scene: &Scene) -> String {
    if git(scene, &["branch", "--list", "skilltune/spec"]).is_empty() {
        return String::new();
    }
    let log = git(scene, &["log", "--reverse", "--patch", "--format=%s%n%b", "main..skilltune/spec"]);
    // Receipts name their run, so hashes of trees with them differ.
    let is_hash = |line: &&str| {
        ["index ", "Skilltune-Candidate: ", "Skilltune-Tree: "].iter().any(|head| line.starts_with(head))
    };
    log.split_inclusive('\n').filter(|line| !is_hash(line)).collect()
}

/// Fails unless the person's files, index and branch are as they were.
fn assert_untouched(scene: &Scene, story: &str) {
    assert_eq!(git(scene, &["status", "--porcelain"]), DIRTY, "{story}");
    let read = |path: &str| fs::read_to_string(scene.path(&format!("project/{path}"))).unwrap();
    assert_eq!((read("notes").as_str(), read("new").as_str()), ("mine\n", "not added\n"), "{story}");
    assert_eq!(git(scene, &["log", "--format=%s", "HEAD"]), "Begin\n", "{story}");
}

/// Returns these values of all entries of a list.
fn ids(list: &Value, key: &str) -> String {
    let entries = list.as_array().into_iter().flatten().filter_map(|entry| entry[key].as_str());
    entries.collect::<Vec<_>>().join(" ")
}
