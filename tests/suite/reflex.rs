//! The reflex loop end to end: one text for a task, with agents whose every version is scripted.

mod asked;
mod beside_tune;
pub(crate) mod checks;
mod crash;
mod endings;
mod files;
mod foreign;
mod hostile;
mod interrupted;
mod jobs;
mod reporting;
mod settings;
mod setup;
mod tidy;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use skilltune_phases::loops::reflex::original::{artifact_hash, short};

use crate::background::{Background, Gate};
use crate::finished::Finished;
use crate::scene::{Ran, Scene};

pub(crate) const ACCURACY: &str = "a.correctness.accuracy";
pub(crate) const SECTIONS: &str = "a.completeness.sections";
pub(crate) const EXAMPLES: &str = "a.completeness.examples";
pub(crate) const CLARITY: &str = "a.quality.clarity";
const STRUCTURE: &str = "b.quality.structure";
const REFERENCES: &str = "b.completeness.cross-refs";
const CONSISTENCY: &str = "b.style.consistency";
const AUDIENCE: &str = "b.quality.audience";

/// The first two block; they weigh 2 each, the others 1: level A passes with five of six, level B with nine of ten.
pub(crate) const PASSES_A: [&str; 3] = [ACCURACY, SECTIONS, EXAMPLES];
pub(crate) const ALL: [&str; 8] =
    [ACCURACY, SECTIONS, EXAMPLES, CLARITY, STRUCTURE, REFERENCES, CONSISTENCY, AUDIENCE];

pub(crate) const TASK: &str = "Write about the pump";
const ALIAS: &str = "pump";

/// Creates a project in which the agents play the reflex loop like this.
fn scene(play: &Value) -> Scene {
    Scene::new(&[], &playing(play))
}

fn playing(play: &Value) -> Value {
    json!({ "reflex": play })
}

/// Returns a script that passes level A at once, and level B after a refinement.
fn rising() -> Value {
    json!({ "produced": { "1": PASSES_A } })
}

/// Returns a scene in which the run of `rising` has ended.
fn written() -> Scene {
    static WRITTEN: Finished = Finished::new(|| {
        let scene = scene(&rising());
        let ran = new(&scene, &[]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        fs::write(scene.path("summary.json"), &ran.stdout).unwrap();
        scene
    });
    WRITTEN.scene()
}

/// Returns what the run of `written` printed at its end.
fn summary(scene: &Scene) -> Value {
    serde_json::from_slice(&fs::read(scene.path("summary.json")).unwrap()).unwrap()
}

pub(crate) const NEW: [&str; 8] = ["reflex", "new", TASK, "--alias", ALIAS, "--template", "docs", "--yes"];

fn new(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&begin(more))
}

fn begin<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&NEW[..], &["--format", "json", "--seed", "7"], more].concat()
}

/// Starts a run whose agent waits at this phase; otherwise the agents follow the script.
fn waiting_at<'a>(scene: &'a Scene, script: Value, phase: &str, more: &[&str]) -> (Gate, Background<'a>) {
    let gate = Gate::before(phase, scene, script);
    let run = Background::start(scene, &begin(more));
    assert!(run.until(|scene| begun(scene, phase) >= 1), "{phase}");
    (gate, run)
}

const RESUME: [&str; 6] = ["reflex", "resume", ALIAS, "--yes", "--format", "json"];

/// Returns the folder of the original's files of the task.
fn place(scene: &Scene) -> PathBuf {
    let folder = scene.path("project/.ai-factory/evolution");
    let aliases = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let ours =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(ALIAS));
    aliases.filter(ours).min().unwrap_or_else(|| folder.join(ALIAS))
}

fn run_json(scene: &Scene) -> Value {
    let text = fs::read(place(scene).join("run.json")).expect("run.json is there");
    serde_json::from_slice(&text).expect("run.json is JSON")
}

/// Returns the lines of the original's history.
fn story(scene: &Scene) -> Vec<Value> {
    let text = fs::read_to_string(place(scene).join("history.jsonl")).expect("the history is there");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn artifact(scene: &Scene) -> String {
    fs::read_to_string(place(scene).join("artifact.md")).expect("the artifact is there")
}

fn hash(text: &str) -> String {
    artifact_hash(text.as_bytes())
}

/// Returns whether a text has the sections of exactly these rules.
fn meets(text: &str, rules: &[&str]) -> bool {
    ALL.iter().all(|rule| rules.contains(rule) == text.contains(&format!("met: {rule}\n")))
}

/// Returns the decisions of a kind.
fn decided(scene: &Scene, kind: &str) -> Vec<Value> {
    scene.events("decided").iter().filter_map(|decision| decision.get(kind).cloned()).collect()
}

/// Returns the outcomes of a kind.
fn came_to(scene: &Scene, kind: &str) -> Vec<Value> {
    scene.events("done").iter().filter_map(|done| done["outcome"].get(kind).cloned()).collect()
}

/// Returns the number of calls of a phase that have begun.
fn begun(scene: &Scene, phase: &str) -> usize {
    let of_phase = |call: &String| call.rsplit_once('-').is_some_and(|(name, _)| name == phase);
    scene.calls().iter().filter(|(call, _)| of_phase(call)).map(|(_, (begun, _))| begun).sum()
}
