//! The evidence of `evolve` end to end: what each criterion of a result rests on. Oracles are scripts of the test, and only
//! one that goes from red to green verifies a criterion.

mod cheats;
mod languages;
mod measures;
mod reach;
mod words;

use serde_json::{Value, json};

use crate::evolve::{Project, task};
use crate::scene::Ran;

const SPEC: &str = "\
## Goal

The program greets.

## Acceptance criteria

- A1 (critical): `sh greet.sh NAME` prints hello and the name
";
/// A project whose program greets no name.
const FILES: [(&str, &str); 5] = [
    ("spec.md", SPEC),
    ("Makefile", "test:\n\t@sh test.sh\n"),
    ("test.sh", "true\n"),
    ("greet.sh", "echo nothing\n"),
    ("readme.txt", "A readme that says little.\n"),
];
const RIGHT: &str = "name=$1\necho \"hello $name\"\n";

/// Is red while `greet.sh` greets otherwise. If it cannot run, that is no assertion.
const GREETS: &str = "\
for name in Ada Bob; do
  said=$(sh greet.sh $name) || exit 9
  if [ \"$said\" != \"hello $name\" ]; then echo \"SKILLTUNE_RED: $said\"; exit 1; fi
done
echo SKILLTUNE_GREEN
";

/// A result that falls short is not worked on again.
const SHORT: &str = "[evolve]\npatches = 0\n";
const RUN: [&str; 8] = ["evolve", "spec.md", "--commands", "run", "--roles", "none", "--format", "json"];

const DISPUTED: &str = "its oracle fails, and the evaluator finds it met: a person has to decide";
const SILENT: &str = "its oracle ended without saying that it passed";
const ESCALATED: &str = "3 not_reached human_escalation";

/// Returns a script with one task, which is worked on like this each time.
fn play(covers: &[&str], works: &[Value], oracles: &Value) -> Value {
    json!({
        "tasks": [[task("all", covers, "greet.sh")]], "works": { "all": works }, "oracles": oracles,
    })
}

/// Returns a project with these files besides its own.
fn project(play: &Value, files: &[(&str, &str)], settings: &str) -> Project {
    Project::with(play, &[&FILES[..], files].concat(), settings)
}

/// Returns a specification with a second criterion.
fn with_second(text: &str) -> String {
    format!("{SPEC}- A2 (low): {text}\n")
}

/// Runs until a question waits for a person.
fn attended(project: &Project) -> Ran {
    project.scene().run(&RUN)
}

/// Runs unattended.
fn alone(project: &Project, more: &[&str]) -> Ran {
    project.scene().run(&[&RUN[..], &["--yes"], more].concat())
}

/// Returns the receipt of a criterion.
fn receipt(ran: &Ran, id: &str) -> Value {
    let result = ran.json();
    let mut all = result["receipts"]["criteria"].as_array().into_iter().flatten();
    all.find(|one| one["id"] == json!(id)).unwrap_or_else(|| panic!("no receipt of {id}: {ran:?}")).clone()
}

/// Returns the word of a criterion, and why it is no better one.
fn word(ran: &Ran, id: &str) -> [String; 2] {
    let receipt = receipt(ran, id);
    ["word", "why"].map(|key| receipt[key].as_str().unwrap_or_default().to_owned())
}

/// Returns the prompts that begin with a heading.
fn prompts(project: &Project, heading: &str) -> Vec<String> {
    let mut prompts = project.scene().prompts();
    prompts.retain(|prompt| prompt.starts_with(heading));
    prompts
}

const DIVIDE: &str = "# Divide work into tasks\n";
const JUDGE: &str = "# Judge whether a project meets its specification\n";
const ORACLE: &str = "# Say how a machine tells that a criterion is met\n";
const WORK: &str = "# Do one task of a larger change\n";
