//! Tests the builder/evaluator loop end to end, with agents whose every version is scripted.

mod browser;
mod contract;
mod crash;
mod design_file;
mod endings;
mod holds;
mod levels;
mod look;
mod measured;
mod numbers;
mod preview;
mod proposing;
mod rollback;
mod sight;
mod trust;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::finished::Finished;
use crate::scene::{Ran, Scene};

pub(crate) const BRIEF: &str =
    "# A page about the pump\n\nSay how it runs, and show prices.\n\n## How it runs\n\n## Prices\n";

/// Two dimensions of equal weight; the first has a gate.
pub(crate) const PROFILE: &str = "\
name: plain
dimensions:
  - {id: substance, name: Substance, weight: 50, anchors: [none, some, most, all]}
  - {id: form, name: Form, weight: 50, anchors: [none, some, most, all]}
criteria:
  - {id: substance.works, dimension: substance, criterion: It runs., verification: Run it., must_pass: true}
  - {id: substance.prices, dimension: substance, criterion: It has prices., verification: Look., weight: 3}
  - {id: form.clear, dimension: form, criterion: It is clear., verification: Read it.}
  - {id: form.short, dimension: form, criterion: It is short., verification: Count., weight: 3}
anti_patterns:
  - {id: form.padding, dimension: form, pattern: Words that say nothing.}
";

pub(crate) const WORKS: &str = "substance.works";
pub(crate) const PRICES: &str = "substance.prices";
pub(crate) const CLEAR: &str = "form.clear";
pub(crate) const SHORT: &str = "form.short";
pub(crate) const ALL: [&str; 4] = [WORKS, PRICES, CLEAR, SHORT];

/// Creates a project with a brief, a profile, and agents whose builds meet these criteria.
pub(crate) fn building(builds: &[&[&str]]) -> Scene {
    playing(&json!({ "builds": builds }))
}

pub(crate) fn playing(play: &Value) -> Scene {
    lay(Scene::new(&[], &json!({ "gan": play })))
}

/// Adds the brief and the profile to a scene.
pub(crate) fn lay(scene: Scene) -> Scene {
    fs::write(scene.path("project/brief.md"), BRIEF).unwrap();
    fs::write(scene.path("project/plain.yaml"), PROFILE).unwrap();
    scene
}

/// Without a browser: other tests cover it, and each look takes a second.
pub(crate) const BUILD: [&str; 9] =
    ["gan", "brief.md", "--profile", "plain.yaml", "--into", "site", "--format", "json", "--no-browser"];

pub(crate) fn build(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&BUILD[..], more].concat())
}

/// Returns a scene whose first build passed.
pub(crate) fn passed() -> Scene {
    static PASSED: Finished = Finished::new(|| {
        let scene = building(&[&ALL]);
        let ran = build(&scene, &["--yes"]);
        assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(1)), "{ran:?}");
        scene
    });
    PASSED.scene()
}

/// Returns the page in the user's folder.
pub(crate) fn page(scene: &Scene) -> Option<String> {
    fs::read_to_string(scene.path("project/site/index.html")).ok()
}

/// Returns the prompts of a run's judges, except second judges.
pub(crate) fn judged(scene: &Scene) -> Vec<String> {
    scene.prompts().into_iter().filter(|prompt| prompt.starts_with("# Judge what was built")).collect()
}

/// Returns the version of the page in the user's folder.
pub(crate) fn version(scene: &Scene) -> Option<u32> {
    let text = page(scene)?;
    let (_, rest) = text.split_once("<title>Version ")?;
    rest.split_once('<')?.0.parse().ok()
}

/// Returns the folder of the only run.
pub(crate) fn folder(scene: &Scene) -> PathBuf {
    let runs = fs::read_dir(scene.path("project/.skilltune/runs")).unwrap().flatten();
    runs.map(|entry| entry.path()).find(|path| path.is_dir()).expect("there is a run")
}

pub(crate) fn json_file(scene: &Scene, below: &str) -> Value {
    let path = folder(scene).join(below);
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).expect("it is JSON")
}

/// Fails unless the journal alone gives the same outcome.
pub(crate) fn assert_replayed(scene: &Scene, ran: &Ran) {
    let status = scene.run(&["status", "--format", "json"]);
    assert_eq!(status.json()["outcome"], ran.json()["outcome"]);
    assert_eq!(status.json()["score"], ran.json()["score"]);
}
