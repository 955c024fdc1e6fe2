//! `evolve` end to end: a specification, a project in a repository, and a scripted planner, executor and judge.

mod advice;
mod copies;
mod endings;
mod flows;
mod layers;
mod planning;
mod result;

use std::fs;

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use crate::proposing::repository::Repository;
use crate::scene::{Ran, Scene};

pub(crate) const SPEC: &str = "\
## Goal

The project says that everything is met.

## Constraints

- K1: no network

## Acceptance criteria

- A1 (critical): the first thing is there
- A2: the second thing is there
";

/// Its test fails while a file in `src` says BROKEN.
pub(crate) const FILES: [(&str, &str); 4] = [
    ("Makefile", "test:\n\t@sh test.sh\n"),
    ("test.sh", "! grep -rn BROKEN src\n"),
    ("src/main.txt", "It works.\n"),
    ("readme.txt", "A readme that says little.\n"),
];

/// A project with a specification, whose agents follow a script.
pub(crate) struct Project {
    pub(crate) git: Repository,
}

impl Project {
    pub(crate) fn new(play: &Value) -> Self {
        Self::with(play, &FILES, "")
    }

    /// Commits these files and a specification, which is `SPEC` if it is not among them.
    pub(crate) fn with(play: &Value, files: &[(&str, &str)], settings: &str) -> Self {
        let scene = Scene::new(&[], &json!({ "evolve": play }));
        // Elsewhere commands that were found would not run.
        let confine = if can_confine() { "" } else { "[limits]\nconfine = false\n" };
        scene.write_settings(&[settings, confine].concat());
        let project = Self { git: Repository::of(scene) };
        for (path, text) in [("spec.md", SPEC)].iter().chain(files) {
            project.write(path, text);
        }
        project.git.commit("Begin");
        project
    }

    /// Returns the project of a scene that was restored.
    fn of(scene: Scene) -> Self {
        let git = Repository { scene };
        // The index has times and inode numbers of files, and restored files have others.
        git.git(&["update-index", "-q", "--refresh"]);
        Self { git }
    }

    pub(crate) fn scene(&self) -> &Scene {
        &self.git.scene
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.git.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.git.path(path)).ok()
    }

    /// Runs unattended: each question has its default answer.
    pub(crate) fn evolve(&self, more: &[&str]) -> Ran {
        self.attended(&[&["--yes"], more].concat())
    }

    /// Runs until a question waits for a person.
    pub(crate) fn attended(&self, more: &[&str]) -> Ran {
        self.scene().run(&[&ATTENDED[..], more].concat())
    }

    pub(crate) fn resume(&self, more: &[&str]) -> Ran {
        self.scene().run(&[&["resume", "--format", "json"], more].concat())
    }

    /// Returns the decisions of a run, each in a line. Its journal alone must give the same end.
    fn course(&self, ran: &Ran) -> Vec<String> {
        let id = id(ran);
        let status = self.scene().run(&["status", &id, "--format", "json"]).json();
        for key in ["outcome", "ending", "score", "tasks", "result"] {
            assert_eq!(status[key], ran.json()[key], "{key}: {ran:?}");
        }
        let mut trees = Trees::default();
        let decided = self.decisions(&id);
        decided.iter().filter_map(|decision| line(decision, &mut trees)).collect()
    }

    fn decisions(&self, id: &str) -> Vec<Value> {
        let journal = self.scene().path("project/.skilltune/runs").join(id).join("history.jsonl");
        let text = fs::read_to_string(journal).unwrap();
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.filter_map(|line| line["event"].get("decided").cloned()).collect()
    }

    /// Returns the prompts of a task.
    fn works(&self, task: &str) -> Vec<String> {
        let heading = "# Do one task of a larger change\n";
        let mut prompts = self.scene().prompts();
        let is_it = |text: &str| text.starts_with(heading) && text.contains(&format!("\n{task}: "));
        prompts.retain(|text| is_it(text));
        prompts
    }

    /// Returns how many calls of a page have begun.
    pub(crate) fn begun(&self, page: &str) -> usize {
        let calls = self.scene().calls().into_iter();
        let of_page = |call: &str| call.rsplit_once('-').is_some_and(|(name, _)| name == page);
        calls.filter(|(call, _)| of_page(call)).map(|(_, (begun, _))| begun).sum()
    }

    /// Returns the subjects of the commits on our branch, without the first one; none without a branch.
    pub(crate) fn commits(&self) -> Option<Vec<String>> {
        let log = self.git.output(&["log", "--reverse", "--format=%s", BRANCH]);
        let text = String::from_utf8(log.stdout).unwrap();
        log.status.success().then(|| text.lines().skip(1).map(str::to_owned).collect())
    }
}

const ATTENDED: [&str; 9] =
    ["evolve", "spec.md", "--commands", "run", "--no-oracles", "--roles", "none", "--format", "json"];
pub(crate) const BRANCH: &str = "skilltune/spec";

pub(crate) fn id(ran: &Ran) -> String {
    words(&ran.json()["run_id"]).to_owned()
}

/// Returns the exit code, the outcome, and the ending or `-`.
pub(crate) fn ended(ran: &Ran) -> String {
    let (result, code) = (ran.json(), ran.code.unwrap_or(-1));
    format!("{code} {} {}", words(&result["outcome"]), result["ending"].as_str().unwrap_or("-"))
}

/// Returns the state of each task.
fn tasks(ran: &Ran) -> String {
    let result = ran.json();
    let one = |task: &Value| format!("{} {}", words(&task["id"]), words(&task["state"]));
    result["tasks"].as_array().unwrap().iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns a part of a task in the result.
pub(crate) fn of_task(ran: &Ran, id: &str, key: &str) -> Value {
    let result = ran.json();
    let mut all = result["tasks"].as_array().unwrap().iter();
    all.find(|task| task["id"] == json!(id)).map_or(Value::Null, |task| task[key].clone())
}

/// Returns what the first command of the result says.
fn verdict(ran: &Ran) -> String {
    words(&ran.json()["commands"][0]["verdict"]).to_owned()
}

pub(crate) fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(crate) fn list(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(words).collect()
}

/// The trees of a run, in the order in which its decisions name them.
#[derive(Default)]
struct Trees(Vec<Value>);

impl Trees {
    fn name(&mut self, tree: &Value) -> String {
        let known = self.0.iter().position(|known| known == tree);
        let at = known.unwrap_or_else(|| {
            self.0.push(tree.clone());
            self.0.len() - 1
        });
        format!("T{at}")
    }
}

/// Returns a decision in a line. The plan, an empty batch and the last decision have none.
fn line(decision: &Value, trees: &mut Trees) -> Option<String> {
    let (kind, what) = decision.as_object()?.iter().next()?;
    Some(match kind.as_str() {
        "pass" => pass(what, trees),
        "batch" => batch(what),
        "taken_back" => format!("take back {}", words(&what["task"])),
        "integrated" => integrated(what, trees)?,
        "evaluated" => match what["evaluation"]["score"].as_f64() {
            Some(score) => format!("{} scores {score:.2}", trees.name(&what["tree"])),
            None => format!("{} red {}", trees.name(&what["tree"]), list(&what["red"]).join(" ")),
        },
        "amended" => amended(what, trees),
        "ended" => format!("end {}", words(&what["ending"])),
        _ => return None,
    })
}

fn pass(what: &Value, trees: &mut Trees) -> String {
    let kind = what["kind"].as_str().unwrap_or_else(|| words(&what["kind"]["pivot"]["persona"]));
    let layers = what["layers"].as_array().into_iter().flatten();
    let layers: Vec<String> = layers.map(|layer| list(layer).join(" ")).collect();
    format!("{kind} from {}: {}", trees.name(&what["from"]), layers.join(" | "))
}

fn batch(what: &Value) -> String {
    let again = |due: &Value| if due["again"].is_null() { "" } else { " again" };
    let due = what["tasks"].as_array().into_iter().flatten();
    let due = due.map(|due| format!(" {}{}", words(&due["task"]), again(due))).collect::<Vec<_>>().concat();
    let skipped = list(&what["skipped"]).iter().map(|task| format!(" {task}")).collect::<Vec<_>>().concat();
    let parts = [("do", due), ("skip", skipped)].into_iter().filter(|(_, tasks)| !tasks.is_empty());
    parts.map(|(what, tasks)| format!("{what}{tasks}")).collect::<Vec<_>>().join(", ")
}

fn integrated(what: &Value, trees: &mut Trees) -> Option<String> {
    let ends = what["ends"].as_array().filter(|ends| !ends.is_empty())?;
    let word = |end: &Value| match end.as_object().and_then(|end| end.keys().next()) {
        Some(word) => word.clone(),
        None => words(end).to_owned(),
    };
    let ends = ends.iter().map(|end| format!("{} {}", words(&end["task"]), word(&end["end"])));
    Some(format!("{}: {}", ends.collect::<Vec<_>>().join(", "), trees.name(&what["tree"])))
}

fn amended(what: &Value, trees: &mut Trees) -> String {
    let by = what["persona"].as_str().unwrap_or("patch");
    let said = match what["approved"].as_bool() {
        Some(true) => ", approved",
        Some(false) => ", refused",
        None => "",
    };
    let layers = what["pass"]["layers"].as_array().into_iter().flatten();
    let again: Vec<&str> = layers.flat_map(list).collect();
    if again.is_empty() {
        return format!("{by}{said}: nothing");
    }
    format!("{by}{said}: {} from {}", again.join(" "), trees.name(&what["pass"]["from"]))
}

/// Returns a task that names one file.
pub(crate) fn task(id: &str, covers: &[&str], path: &str) -> Value {
    json!({
        "id": id, "title": format!("Do {id}"), "description": "Do it.", "covers": covers, "after": [],
        "touches": [path], "replaces": [],
    })
}

pub(crate) fn after(mut task: Value, needs: &[&str]) -> Value {
    task["after"] = json!(needs);
    task
}

/// Returns two tasks, one for each criterion.
pub(crate) fn both() -> [Value; 2] {
    [task("one", &["A1"], "a.txt"), task("two", &["A2"], "b.txt")]
}

/// Returns work that adds the lines for which these criteria are met.
pub(crate) fn meeting(path: &str, criteria: &[&str]) -> Value {
    let lines: String = criteria.iter().flat_map(|id| ["this meets ", id, "\n"]).collect();
    adding(path, &lines)
}

pub(crate) fn adding(path: &str, lines: &str) -> Value {
    json!({ "appends": { path: lines } })
}

pub(crate) fn writing(path: &str, text: &str) -> Value {
    json!({ "writes": { path: text } })
}

/// Returns an amendment that changes no criterion.
pub(crate) fn saying(description: &str) -> Value {
    json!({ "description": description, "criteria": [], "constraints": [], "changes": [] })
}
