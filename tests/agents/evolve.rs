//! Runs of `evolve` with the real agents: three tasks on a small project with uncommitted changes, two of them side by
//! side. The agents write with their own tools and run the tests of the project with their own shells.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::scene::{Ran, SECRET, Scene};
use crate::server::{AGREED, DONE, PASSED, PYTHON, Project, RUST};
use crate::whole::used;

const BRANCH: &str = "skilltune/shapes";

impl Scene {
    /// Writes the project with one commit, then a change to a file of it and a file that git does not know.
    fn begin(&self, project: &Project) {
        fs::remove_dir_all(self.path("project")).unwrap();
        for (path, text) in project.files {
            fs::create_dir_all(self.path("project").join(path).parent().unwrap()).unwrap();
            self.write(&format!("project/{path}"), text);
        }
        self.write("home/.gitconfig", "[user]\nname = Ada\nemail = ada@localhost\n");
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "one"]);
        self.write("project/notes.txt", "one\ntwo");
        self.write("project/own.txt", "my own\r\n\tand no end");
        self.write("shapes.md", &project.specification());
    }

    fn evolve(&self, agent: &str) -> Ran {
        let how = ["evolve", "../shapes.md", "--agent", agent, "--jobs", "2", "--trust", "--yes"];
        self.run("good", "500", &[&how[..], &["--format", "json"]].concat())
    }

    /// Returns everything that the run must leave alone.
    fn own(&self) -> [String; 5] {
        let read = |name: &str| fs::read_to_string(self.path("project").join(name)).unwrap();
        [
            self.git(&["diff", "--binary", "HEAD"]),
            self.git(&["status", "--porcelain", "--untracked-files=all"]),
            self.git(&["log", "--format=%H", "HEAD"]),
            read("own.txt"),
            read("notes.txt"),
        ]
    }
}

fn assert_reached(scene: &Scene, project: &Project, ran: &Ran, before: &[String; 5]) {
    assert_eq!((ran.code, &ran.summary["outcome"]), (Some(0), &json!("reached")), "{ran:?}");
    assert_eq!(ran.failures(), [""; 0], "{ran:?}");
    assert_eq!(&scene.own(), before, "what is not committed stays as it is");
    assert_eq!(ran.summary["score"], json!(1.0), "{ran:?}");

    // One commit a task, with its files and nothing else.
    let subjects = scene.git(&[
        "log",
        "--reverse",
        "--format=%(trailers:key=Skilltune-Task,valueonly,separator=)",
        &format!("main..{BRANCH}"),
    ]);
    assert_eq!(subjects.lines().collect::<Vec<_>>(), ["area", "perimeter", "command"], "{subjects}");
    for (nth, mut files) in project.changed().into_iter().enumerate() {
        files.sort_unstable();
        let commit = format!("{BRANCH}~{}", 2 - nth);
        let changed = scene.git(&["diff", "--name-only", &format!("{commit}~"), &commit]);
        assert_eq!(changed.lines().collect::<Vec<_>>(), files, "{commit}");
    }

    // The branch passes its tests where nothing of the run is.
    let fresh = scene.path("fresh");
    scene.git(&["clone", "--quiet", "--branch", BRANCH, ".", &fresh.display().to_string()]);
    let mut test = Command::new(project.test[0]);
    let tested =
        test.args(&project.test[1..]).current_dir(&fresh).env_remove("CARGO_TARGET_DIR").output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
}

/// Asserts what the models were asked and told.
fn assert_asked(scene: &Scene, ran: &Ran, tests: u64) {
    assert_eq!(scene.server.asked("500"), 0, "nobody else was asked");
    let requests = scene.server.requests();
    assert!(!requests.iter().any(|request| request.contains(SECRET)));
    // The result of the tests is in the last request of each task.
    let told = requests.iter().filter(|request| request.contains(PASSED)).count();
    assert_eq!(u64::try_from(told).unwrap(), tests, "{ran:?}");
    let said = ran.history.iter().filter_map(|line| line.pointer("/event/done/outcome/worked/summary"));
    assert_eq!(said.collect::<Vec<_>>(), [DONE; 3], "{ran:?}");
    assert!(
        requests.iter().any(|request| request.contains(AGREED) && request.contains("What experts advise"))
    );
    // The copy is a repository that shows what is changed.
    assert!(
        requests.iter().any(|request| request.contains("project/README.md\\n") && request.contains(PASSED))
    );
}

#[test]
fn claude_evolves_a_python_project_with_uncommitted_changes() {
    let scene = Scene::new();
    scene.begin(&PYTHON);
    let before = scene.own();
    let ran = scene.evolve("claude:claude-sonnet-4-5");
    assert_reached(&scene, &PYTHON, &ran, &before);
    let [writes, edits, reads, commands] = PYTHON.uses();
    assert_asked(&scene, &ran, commands);
    assert_eq!((used(&ran, "Write"), used(&ran, "Edit"), used(&ran, "Bash")), (writes, edits, commands));
    // The evaluator has read the result, and what of it is committed.
    assert_eq!(used(&ran, "Read"), reads + 2);
    let talks = ran.replies.iter().map(|reply| &reply["talk"]).filter(|talk| !talk.is_null());
    let models: Vec<&Value> = talks.map(|talk| &talk["model"]).collect();
    assert_eq!(models, [&json!("claude-sonnet-4-5"); 15], "{ran:?}");
    assert!(!scene.was_started());
}

#[test]
fn codex_evolves_a_rust_project_with_uncommitted_changes() {
    let scene = Scene::new();
    scene.install_toolchain();
    scene.begin(&RUST);
    let before = scene.own();
    let ran = scene.evolve("codex:gpt-5.5-codex");
    assert_reached(&scene, &RUST, &ran, &before);
    let [writes, edits, reads, commands] = RUST.uses();
    assert_asked(&scene, &ran, commands);
    assert_eq!(used(&ran, "file_change"), writes + edits);
    // It reads with its shell.
    assert_eq!(used(&ran, "command_execution"), commands + reads + 2);
    let forms = scene.server.requests().into_iter().filter_map(|request| {
        let asked: Value = serde_json::from_str(&request).ok()?;
        Some(asked["text"]["format"].clone()).filter(|format| !format.is_null())
    });
    let forms: Vec<Value> = forms.collect();
    // Four to plan, four for advice, one a layer, and two turns of each judge.
    assert_eq!(forms.len(), 4 + 4 + 2 + 2 * 2);
    for form in forms {
        assert_eq!(form["strict"], true, "{form}");
        assert_strict(&form["schema"]);
    }
    assert!(!scene.was_started());
}

/// Asserts that codex's service takes a schema: each object names all of its keys and requires them.
fn assert_strict(schema: &Value) {
    if let Some(parts) = schema["properties"].as_object() {
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        assert_eq!(schema["required"], json!(parts.keys().collect::<Vec<_>>()), "{schema}");
        parts.values().for_each(assert_strict);
    }
    if let Some(item) = schema.get("items") {
        assert_strict(item);
    }
}
