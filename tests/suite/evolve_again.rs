//! What goes on from something older: a resumed run of `evolve` whose project has changed, a plan that was made before,
//! and `evolve rerun`.

use std::fs;

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use crate::proposing::repository::Repository;
use crate::scene::{Ran, Scene};

const SPEC: &str = "## Goal

There are two files.

## Acceptance criteria

- A1: the first file is there
- A2: the second file is there
";
const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
/// A person's version of the second file.
const MINE: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// A repository with a file for each of two tasks, `a` and then `b`.
pub(crate) struct Project {
    pub(crate) git: Repository,
}

impl Project {
    pub(crate) fn new() -> Self {
        let scene = Scene::new(&[], &json!({}));
        // Elsewhere commands of a model would not run without a person.
        let confine = if can_confine() { "" } else { "[limits]\nconfine = false\n" };
        scene.write_settings(confine);
        let project = Self { git: Repository::of(scene) };
        project.script(&json!({}));
        project.write("spec.md", SPEC);
        project.write("Makefile", "test:\n\t@true\n");
        project.write("a.txt", LINES);
        project.write("b.txt", LINES);
        project.git.commit("Begin");
        project
    }

    /// Sets what executors do. The second plan is for `b` alone.
    pub(crate) fn script(&self, works: &Value) {
        let task = |id: &str, covers: &str, after: &[&str]| {
            json!({
                "id": id, "title": format!("Do {id}"), "description": "Do it.", "covers": [covers], "after": after,
                "touches": [format!("{id}.txt")], "replaces": [],
            })
        };
        let (a, b) = (task("a", "A1", &[]), task("b", "A2", &["a"]));
        let play = json!({ "tasks": [[a, b], [b]], "works": works });
        self.git.scene.write_script(&json!({ "evolve": play }));
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.git.path(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.git.path(path)).unwrap()
    }

    fn evolve(&self, more: &[&str]) -> Ran {
        let usual = ["--yes", "--format", "json", "--roles", "none", "--jobs", "1"];
        let commands = ["--commands", "run", "--no-oracles"];
        self.git.scene.run(&[&["evolve"], more, &usual, &commands].concat())
    }

    /// Pauses a run after `a`, before `b`.
    fn pause(&self, more: &[&str]) {
        let ran = self.evolve(&[&["spec.md", "--max-calls", "6"], more].concat());
        assert_eq!(ran.code, Some(5), "{ran:?}");
    }

    fn resume(&self) -> Ran {
        self.git.scene.run(&["resume", "--yes", "--format", "json", "--max-calls", "40"])
    }

    /// Returns a decision of the only run, by its name.
    fn decision(&self, name: &str) -> Option<Value> {
        self.git.scene.events("decided").into_iter().find_map(|decision| decision.get(name).cloned())
    }

    /// Returns how many prompts of the only run have this text.
    fn asked(&self, text: &str) -> usize {
        self.git.scene.prompts().iter().filter(|prompt| prompt.contains(text)).count()
    }

    fn log(&self) -> String {
        self.git.git(&["log", "--format=%s", "skilltune/spec"])
    }
}

/// Returns the id of a run.
fn id(ran: &Ran) -> String {
    ran.json()["run_id"].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
}

const PLANNED_AGAIN: &str = "## The tasks to plan again";

#[test]
fn a_resumed_run_goes_on_with_the_changes_of_a_person() {
    let project = Project::new();
    project.pause(&[]);
    project.write("b.txt", MINE);
    project.write("mine.txt", "mine\n");
    let ran = project.resume();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let moved = project.decision("moved").expect("the run moves");
    assert_eq!((&moved["changed"], &moved["again"]), (&json!(["b.txt", "mine.txt"]), &json!(["b"])));
    assert_eq!(project.asked(PLANNED_AGAIN), 1);
    // The result has the changes of both, the branch only those of the tasks, and the project only those of the person.
    let copy = project.git.scene.path("copy");
    let exported = project.git.scene.run(&["export", &id(&ran), "champion", copy.to_str().unwrap()]);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    let of = |path: &str| fs::read_to_string(copy.join(path)).unwrap();
    assert_eq!((of("b.txt"), of("mine.txt")), (format!("{MINE}this meets A2\n"), "mine\n".to_owned()));
    assert_eq!(project.git.git(&["show", "skilltune/spec:b.txt"]), format!("{LINES}this meets A2\n"));
    assert_eq!(project.log(), "Do b\nDo a\nBegin\n");
    assert_eq!((project.read("a.txt"), project.read("b.txt")), (LINES.to_owned(), MINE.to_owned()));
}

#[test]
fn a_resumed_run_stays_if_a_person_changed_the_same_lines() {
    let project = Project::new();
    project.pause(&["--apply", "never"]);
    let mine = format!("{LINES}mine\n");
    project.write("a.txt", &mine);
    let ran = project.resume();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let stayed = project.decision("stayed").expect("the run stays");
    assert_eq!(stayed["changed"], json!(["a.txt"]));
    assert!(stayed["why"].as_str().unwrap().contains("a.txt (both changed the same lines)"), "{stayed}");
    assert_eq!(project.asked(PLANNED_AGAIN), 0);
    let copy = project.git.scene.path("copy");
    project.git.scene.run(&["export", &id(&ran), "champion", copy.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(copy.join("a.txt")).unwrap(), format!("{LINES}this meets A1\n"));
    assert_eq!(project.read("a.txt"), mine);
}

#[test]
fn a_resumed_run_of_an_unchanged_project_looks_at_nothing() {
    let project = Project::new();
    project.pause(&[]);
    assert_eq!(project.resume().code, Some(0));
    assert_eq!((project.decision("found"), project.asked(PLANNED_AGAIN)), (None, 0));
}

#[test]
fn a_plan_is_compared_with_the_project() {
    for (path, again) in [(None, None), (Some("mine.txt"), None), (Some("b.txt"), Some("b"))] {
        let project = Project::new();
        let ran = project.evolve(&["spec.md", "--plan-only"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let folder = project.git.scene.run_folder();
        let plan = project.git.scene.path("plan.json");
        fs::copy(folder.join("plan.json"), &plan).unwrap();
        let planned: Value = serde_json::from_slice(&fs::read(&plan).unwrap()).unwrap();
        assert!(planned["tree"].is_string(), "{planned}");
        // Without the first run, the tree that the plan was made for is still in the store.
        fs::remove_dir_all(folder).unwrap();
        if let Some(path) = path {
            project.write(path, MINE);
        }
        let ran = project.evolve(&["spec.md", "--apply", "never", "--plan", plan.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let started = project.git.scene.events("started").remove(0);
        let outdated = again.map(|id| json!([id]));
        assert_eq!(started.get("outdated"), outdated.as_ref(), "{path:?}");
        assert_eq!(project.asked(PLANNED_AGAIN), usize::from(again.is_some()), "{path:?}");
        let remarks = started["remarks"].to_string();
        let says = remarks.contains("tasks that name a changed file are planned again: b");
        assert_eq!(says, again.is_some(), "{remarks}");
    }
}

#[test]
fn a_rerun_does_a_task_again_on_the_work_of_the_earlier_run() {
    let project = Project::new();
    project.script(&json!({ "b": [{ "fails": true }] }));
    let failed = project.evolve(&["spec.md"]);
    assert_eq!((failed.code, project.log()), (Some(3), "Do a\nBegin\n".to_owned()), "{failed:?}");
    let refused = project.evolve(&["rerun", "c"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("its plan has no task \"c\"") && refused.stderr.contains("it has a, b"));
    // The executor can do it now, and the person has gone on.
    project.script(&json!({}));
    project.write("mine.txt", "mine\n");
    let ran = project.evolve(&["rerun", "b", &id(&failed)]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let tasks = ran.json()["tasks"].clone();
    let goes = |nth: usize| (tasks[nth]["state"].clone(), tasks[nth]["goes"].clone());
    assert_eq!([goes(0), goes(1)], [(json!("merged"), json!(0)), (json!("merged"), json!(1))]);
    assert_eq!(project.log(), "Do b\nDo a\nBegin\n");
    assert_eq!(project.git.git(&["show", "skilltune/spec:a.txt"]), format!("{LINES}this meets A1\n"));
    // What a person changed where the earlier run did is not lost.
    project.write("a.txt", &format!("{LINES}mine\n"));
    let refused = project.evolve(&["rerun", "b", &id(&ran)]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("a.txt (both changed the same lines)"), "{refused:?}");
}

#[test]
fn a_rerun_does_what_its_task_needs_and_the_earlier_run_did_not_do() {
    let project = Project::new();
    project.script(&json!({ "a": [{ "fails": true }] }));
    let failed = project.evolve(&["spec.md"]);
    assert_eq!(failed.code, Some(3), "{failed:?}");
    project.script(&json!({}));
    let ran = project.evolve(&["rerun", "b", &id(&failed)]);
    assert_eq!((ran.code, project.log()), (Some(0), "Do b\nDo a\nBegin\n".to_owned()), "{ran:?}");
}

#[test]
fn a_run_that_has_not_ended_is_resumed_and_not_done_again() {
    let project = Project::new();
    project.pause(&[]);
    let refused = project.evolve(&["rerun", "b"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("it has not ended"), "{refused:?}");
}
