//! Runs of `evolve` with the real agents: three tasks on a small project with uncommitted changes, two of them side by
//! side. The agents write oracles first, then change the project with their own tools and run its tests with their own
//! shells. A machine without agents repeats the receipts of the branch.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::scene::{Ran, SECRET, Scene};
use crate::server::{AGREED, DONE, PASSED, PYTHON, Project, RUST, WORK};
use crate::whole::used;

const BRANCH: &str = "skilltune/shapes";
/// What each criterion rests on. The change itself wrote what the check of the first one runs.
const WORDS: [(&str, &str); 3] = [("A1", "judged"), ("A2", "verified"), ("A3", "verified")];

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

    /// Clones the branch into a folder of this name. Returns its path.
    fn clone_branch(&self, name: &str) -> String {
        let clone = self.path(name).display().to_string();
        self.git(&["clone", "--quiet", "--branch", BRANCH, ".", &clone]);
        clone
    }

    /// Lets a person without agents repeat the receipts of the branch in a clone. Returns the exit code and the result.
    fn verify(&self, clone: &str) -> (Option<i32>, Value) {
        let how = ["evolve", "verify", BRANCH, "--in", clone, "--trust", "--format", "json"];
        let mut verify = self.command("500", "500", &how);
        let output = verify.current_dir(clone).env("HOME", self.path("another-home")).output().unwrap();
        let stderr = || json!(String::from_utf8_lossy(&output.stderr));
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| stderr()))
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

    // One commit a task, with its files and nothing else, and one with the receipts.
    let subjects = scene.git(&[
        "log",
        "--reverse",
        "--format=%(trailers:key=Skilltune-Task,valueonly,separator=)",
        &format!("main..{BRANCH}~"),
    ]);
    assert_eq!(subjects.lines().collect::<Vec<_>>(), ["area", "perimeter", "command"], "{subjects}");
    for (nth, mut files) in project.changed().into_iter().enumerate() {
        files.sort_unstable();
        let commit = format!("{BRANCH}~{}", 3 - nth);
        let changed = scene.git(&["diff", "--name-only", &format!("{commit}~"), &commit]);
        assert_eq!(changed.lines().collect::<Vec<_>>(), files, "{commit}");
    }

    // The branch passes its tests where nothing of the run is.
    let fresh = scene.clone_branch("fresh");
    let mut test = Command::new(project.test[0]);
    let tested =
        test.args(&project.test[1..]).current_dir(&fresh).env_remove("CARGO_TARGET_DIR").output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
}

/// Asserts that oracles were red before the work and are green with it, in the result and in the last commit.
fn assert_receipts(scene: &Scene, project: &Project, ran: &Ran) {
    assert_eq!(words(&ran.summary["receipts"]), WORDS, "{ran:?}");
    let subject = scene.git(&["log", "-1", "--format=%s", BRANCH]);
    assert_eq!(subject.trim(), "Add the receipts of shapes");
    let added = scene.git(&["diff", "--name-only", &format!("{BRANCH}~"), BRANCH]);
    assert_eq!(added.lines().collect::<Vec<_>>(), project.evidence());
    let receipts = scene.git(&["show", &format!("{BRANCH}:.evolve/shapes/receipts.json")]);
    let receipts: Value = serde_json::from_str(&receipts).unwrap();
    assert_eq!(words(&receipts), WORDS, "{receipts}");
    for one in receipts["criteria"].as_array().unwrap() {
        let lights = ["before", "after"].map(|when| &one["oracle"][when]["light"]);
        assert_eq!(lights, ["red", "green"], "{one}");
    }
}

/// Returns the criteria of receipts, each with its word.
fn words(receipts: &Value) -> Vec<(&str, &str)> {
    let criteria = receipts["criteria"].as_array().into_iter().flatten();
    criteria.filter_map(|one| Some((one["id"].as_str()?, one["word"].as_str()?))).collect()
}

/// Asserts that a clone is enough to repeat the receipts, without any agent, and to see that they no longer hold.
fn assert_repeatable(scene: &Scene, project: &Project) {
    scene.remove_agents();
    fs::create_dir_all(scene.path("another-home")).unwrap();
    let asked = scene.server.requests().len();
    let clone = scene.clone_branch("elsewhere");
    let expected = |last: &str| {
        json!(WORDS.map(|(id, before)| {
            let now = if id == "A3" { last } else { before };
            json!({ "id": id, "before": before, "now": now })
        }))
    };
    let (code, result) = scene.verify(&clone);
    assert_eq!((code, &result["repeated"]), (Some(0), &expected("verified")), "{result}");

    let [path, line, less] = project.taken_back();
    let file = Path::new(&clone).join(path);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(line), "{text}");
    fs::write(&file, text.replace(line, less)).unwrap();
    scene.git(&["-C", &clone, "commit", "--quiet", "--all", "--message", "two"]);
    let (code, result) = scene.verify(&clone);
    assert_eq!((code, &result["repeated"]), (Some(3), &expected("not_met")), "{result}");
    assert_eq!(scene.server.requests().len(), asked, "no model was asked");
}

/// Asserts what the models were asked and told.
fn assert_asked(scene: &Scene, project: &Project, ran: &Ran) {
    assert_eq!(scene.server.asked("500"), 0, "nobody else was asked");
    let requests = scene.server.requests();
    assert!(!requests.iter().any(|request| request.contains(SECRET)));
    // The result of the tests is in the last request of each task.
    let told = requests.iter().filter(|request| request.contains(PASSED)).count();
    let [.., tests] = project.uses();
    assert_eq!(u64::try_from(told).unwrap(), tests, "{ran:?}");
    let said = ran.history.iter().filter_map(|line| line.pointer("/event/done/outcome/worked/summary"));
    assert_eq!(said.collect::<Vec<_>>(), [DONE; 3], "{ran:?}");
    assert!(
        requests.iter().any(|request| request.contains(AGREED) && request.contains("What experts advise"))
    );
    // Executors know the names that oracles use, and nothing else of them.
    let mut works = requests.iter().filter(|request| request.contains(WORK));
    assert!(works.all(|request| request.contains(project.names) && !request.contains("oracle_")));
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
    assert_receipts(&scene, &PYTHON, &ran);
    assert_asked(&scene, &PYTHON, &ran);
    assert_eq!((used(&ran, "Write"), used(&ran, "Edit"), used(&ran, "Bash")), (writes, edits, commands));
    // The evaluator has read the result, and what of it is committed.
    assert_eq!(used(&ran, "Read"), reads + 2);
    let talks = ran.replies.iter().map(|reply| &reply["talk"]).filter(|talk| !talk.is_null());
    let models: Vec<&Value> = talks.map(|talk| &talk["model"]).collect();
    assert_eq!(models, [&json!("claude-sonnet-4-5"); 18], "{ran:?}");
    assert!(!scene.was_started());
    assert_repeatable(&scene, &PYTHON);
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
    assert_receipts(&scene, &RUST, &ran);
    assert_asked(&scene, &RUST, &ran);
    assert_eq!(used(&ran, "file_change"), writes + edits);
    // It reads with its shell.
    assert_eq!(used(&ran, "command_execution"), commands + reads + 2);
    let forms = scene.server.requests().into_iter().filter_map(|request| {
        let asked: Value = serde_json::from_str(&request).ok()?;
        Some(asked["text"]["format"].clone()).filter(|format| !format.is_null())
    });
    let forms: Vec<Value> = forms.collect();
    // Four to plan, one for names, one an oracle, four for advice, one a layer, and two turns of each judge.
    assert_eq!(forms.len(), 4 + 1 + 2 + 4 + 2 + 2 * 2);
    for form in forms {
        assert_eq!(form["strict"], true, "{form}");
        assert_strict(&form["schema"]);
    }
    assert!(!scene.was_started());
    assert_repeatable(&scene, &RUST);
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
