//! `review` end to end: changes in a repository, scripted reviewers and verifiers, and real commands of the change.

mod crash;
mod hostile;
mod machines;
mod planted;
mod proofs;
mod stopping;
mod subjects;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;
use skilltune_phases::suites::checks::accepts;

use crate::proposing::repository::Repository;
use crate::scene::{Ran, Scene};

/// Prints the litres a minute of a pump: `pump LITRES MINUTES`. The guard is far from the line that divides.
const PUMP: &str = "#!/bin/sh\n[ \"$2\" = 0 ] && exit 0\n\n\n\n\n\n\necho $(($1 / $2))\n";
/// The same without the guard, and with a line that the change touches: `pump 10 0` fails.
const BROKEN: &str = "#!/bin/sh\n\n\n\n\n\n\necho $((0 + $1 / $2))\n";
/// The line of the broken pump that divides.
const DIVIDES: &str = "echo $((0 + $1 / $2))";

/// A repository whose reviewers and verifier follow a script.
struct Project {
    git: Repository,
}

impl Project {
    fn new(play: &Value) -> Self {
        Self::with_settings(play, "")
    }

    fn with_settings(play: &Value, settings: &str) -> Self {
        let scene = Scene::new(&[], &json!({ "review": play }));
        // Elsewhere commands of a model would not run without a person.
        let confine = if can_confine() { "" } else { "[limits]\nconfine = false\n" };
        scene.write_settings(&[settings, confine].concat());
        Self { git: Repository::of(scene) }
    }

    /// Commits the pump, and breaks it.
    fn broken(play: &Value) -> Self {
        let project = Self::new(play);
        project.write("pump", PUMP);
        project.git.commit("Begin");
        project.write("pump", BROKEN);
        project
    }

    fn scene(&self) -> &Scene {
        &self.git.scene
    }

    /// Writes a file. A text that begins with `#!` is a program.
    fn write(&self, path: &str, text: &str) {
        let path = self.git.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns the prompts of all runs.
    fn prompts(&self) -> Vec<String> {
        let folders = self.scene().run_folders().into_iter().map(|run| run.join("agents"));
        let calls = folders.flat_map(|calls| fs::read_dir(calls).into_iter().flatten());
        calls.filter_map(|call| fs::read_to_string(call.unwrap().path().join("prompt.md")).ok()).collect()
    }

    fn review(&self, more: &[&str]) -> Ran {
        self.scene().run(&[&["review", "--yes", "--format", "json"], more].concat())
    }
}

/// Returns a repository with the broken pump, which the reviewers and the verifier find.
pub(crate) fn broken() -> Repository {
    Project::broken(&reporting(&confirmed())).git
}

/// Returns a finding as a reviewer reports it.
fn finding(severity: &str, title: &str, (path, line): (&str, u32), quote: &str, what: &str) -> Value {
    json!({
        "severity": severity, "title": title, "path": path, "line": line, "side": "new", "quote": quote, "what": what,
        "suggestion": "Mend it.", "replacement": "",
    })
}

/// Returns the finding about the broken pump.
fn division() -> Value {
    finding("high", "Division by zero", ("pump", 8), DIVIDES, "Zero minutes end it with an error.")
}

/// Returns a script in which the security reviewer reports the broken pump, with this answer of the verifier.
fn reporting(verdict: &Value) -> Value {
    json!({ "finds": { "security": [division()] }, "verdicts": { "Division": verdict } })
}

fn confirmed() -> Value {
    json!({ "verdict": "confirmed", "why": "Nothing guards it." })
}

/// Returns a confirmation with a command that shows the broken pump.
fn shown() -> Value {
    json!({
        "verdict": "confirmed", "why": "Nothing guards it.",
        "proof": { "argv": ["./pump", "10", "0"], "announces": "division by" },
    })
}

/// Returns the exit code and the outcome.
fn ended(ran: &Ran) -> (Option<i32>, Value) {
    (ran.code, ran.json()["outcome"].clone())
}

fn entries(ran: &Ran) -> Vec<Value> {
    let schema = serde_json::from_str(include_str!("../../docs/schemas/review.schema.json")).unwrap();
    assert!(accepts(&schema, &ran.json()), "it breaks the published schema: {ran:?}");
    ran.json()["findings"].as_array().unwrap_or_else(|| panic!("no findings: {ran:?}")).clone()
}

/// Returns the finding whose title has this word.
fn entry(ran: &Ran, word: &str) -> Value {
    let is_it = |entry: &Value| words(&entry["finding"]["title"]).contains(word);
    entries(ran).into_iter().find(is_it).unwrap_or_else(|| panic!("{word}: {ran:?}"))
}

/// Returns a line for each finding: its grade, severity, title and place, who reports it, and why it counts apart.
fn table(ran: &Ran) -> Vec<String> {
    let line = |entry: &Value| {
        let finding = &entry["finding"];
        let place = &finding["place"];
        let at = place["path"].as_str().map(|path| format!("{path}:{}", place["lines"][0]));
        let by: Vec<&str> = entry["by"].as_array().unwrap().iter().map(words).collect();
        let older = if entry["is_older"] == json!(true) { ", older" } else { "" };
        let suppressed = if entry["suppressed"].is_null() { "" } else { ", suppressed" };
        let (grade, severity) = (words(&entry["grade"]), words(&finding["severity"]));
        let (title, at) = (words(&finding["title"]), at.unwrap_or_else(|| "-".to_owned()));
        format!("{grade} {severity}: {title} | {at} | {}{older}{suppressed}", by.join(" "))
    };
    entries(ran).iter().map(line).collect()
}

/// Returns a line for each command of the project: why it did not run, or its exit codes after and before the change.
fn machines(ran: &Ran) -> Vec<String> {
    let result = ran.json();
    let all = result["machines"].as_array().unwrap();
    // Scanners may be installed or not.
    let own = all.iter().filter(|one| ["lint", "build", "test"].contains(&words(&one["name"])));
    let line = |one: &Value| match one["skipped"].as_str() {
        Some(why) => format!("{}: SKIPPED: {why}", words(&one["name"])),
        None => format!("{}: {} {}", words(&one["name"]), one["after"]["exit"], one["before"]["exit"]),
    };
    own.map(line).collect()
}

/// Returns the exit codes of a proof: with the change, without it, and with the suggestion.
fn exits(entry: &Value) -> [Value; 3] {
    ["after", "before", "fixed"].map(|side| entry["proof"][side]["exit"].clone())
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn a_clean_review_says_who_looked_at_what() {
    let project = Project::broken(&json!({}));
    let ran = project.review(&[]);
    assert_eq!(ended(&ran), (Some(0), json!("clean")), "{ran:?}");
    let result = ran.json();
    assert_eq!((&result["files"], &result["findings"]), (&json!(["pump"]), &json!([])));
    let reviewers: Vec<&str> =
        result["reviewers"].as_array().unwrap().iter().map(|one| words(&one["name"])).collect();
    assert_eq!(reviewers, ["security", "performance", "quality"]);
    assert_eq!(project.scene().answered(), 3, "one call for each reviewer");
    let shown = project.scene().run(&["review", "--yes"]).stdout;
    for part in ["pump", "security", "quality", "test: SKIPPED"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let dry = project.review(&["--dry-run"]).json();
    assert_eq!((&dry["files"], &dry["parts"]), (&json!(["pump"]), &json!(1)));
    assert_eq!(dry["most_calls"], json!({ "all": 126, "reviewer": 6, "verifier": 120 }));
    project.git.commit("Break");
    let nothing = project.scene().run(&["review", "--yes"]);
    assert!(nothing.stdout.contains("nothing changed") && !nothing.stdout.contains("0 ()"), "{nothing:?}");
    assert!(!nothing.stderr.contains("estimate"), "{nothing:?}");
}

#[test]
fn a_certain_finding_fails_a_review_only_from_the_severity_on_that_it_was_asked_for() {
    let project = Project::broken(&reporting(&confirmed()));
    for (more, code) in [
        (&[][..], 3),
        (&["--fail-on", "critical"], 0),
        (&["--fail-on", "low"], 3),
        (&["--with", "quality"], 0),
    ] {
        let ran = project.review(more);
        let outcome = if code == 3 { "found" } else { "clean" };
        assert_eq!(ended(&ran), (Some(code), json!(outcome)), "{more:?}: {ran:?}");
    }
}

#[test]
fn a_reviewer_that_fails_or_findings_that_were_not_verified_make_a_review_incomplete() {
    let rubbish = Project::broken(&json!({ "finds": { "security": "I found nothing worth a word." } }));
    let ran = rubbish.review(&[]);
    assert_eq!(ended(&ran), (Some(4), json!("incomplete")), "{ran:?}");
    let failed = &ran.json()["failed_reviews"];
    assert_eq!((words(&failed[0]["by"]), words(&failed[0]["kind"])), ("security", "off_schema"));
    assert_eq!(rubbish.scene().answered(), 4, "it was asked once more");

    let silent = Project::broken(&reporting(&json!("I would rather not say.")));
    let ran = silent.review(&[]);
    assert_eq!(ended(&ran), (Some(4), json!("incomplete")), "{ran:?}");
    assert_eq!(table(&ran), ["not_verified high: Division by zero | pump:8 | security"]);
}
