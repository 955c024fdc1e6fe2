//! Commands that verifiers propose: what shows a fault, and what only seems to.

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use super::{Project, entries, finding, table, words};
use crate::outcome::assert_left_nothing;

/// A program that fails only with the change, after these lines.
fn program(lines: &str) -> String {
    format!("#!/bin/sh\n[ \"$(cat version)\" = old ] && exit 0\n{lines}\n")
}

/// Reviews a change of `version` in which each finding has one of these commands, and returns the findings by title with
/// their grades.
fn graded(project: &Project, cases: &[(&str, &[&str], &str)]) -> Vec<(String, String)> {
    let items: Vec<String> =
        cases.iter().map(|(name, ..)| format!("The item {name} is listed.\n\n\n\n\n\n")).collect();
    let items = items.concat();
    project.write("items", "");
    project.write("version", "old\n");
    project.git.commit("Begin");
    project.write("items", &items);
    project.write("version", "new\n");
    let found = |(name, ..): &(&str, &[&str], &str)| {
        finding("low", name, ("items", 1), &format!("The item {name} is listed."), name)
    };
    let verdict = |(name, argv, announces): &(&str, &[&str], &str)| {
        let proof = json!({ "argv": argv, "announces": announces });
        ((*name).to_owned(), json!({ "verdict": "confirmed", "why": "So it is.", "proof": proof }))
    };
    let found: Vec<Value> = cases.iter().map(found).collect();
    let verdicts: serde_json::Map<String, Value> = cases.iter().map(verdict).collect();
    let play = json!({ "finds": { "security": found }, "verdicts": verdicts });
    project.scene().write_script(&json!({ "review": play }));
    let ran = project.review(&["--with", "security", "--commands", "run"]);
    let graded = entries(&ran);
    assert_eq!(graded.len(), cases.len(), "{ran:?}");
    let line =
        |entry: &Value| (words(&entry["finding"]["title"]).to_owned(), words(&entry["grade"]).to_owned());
    graded.iter().map(line).collect()
}

/// Fails unless all of these commands have proved their finding, or none.
fn assert_all(graded: &[(String, String)], grade: &str) {
    for (title, given) in graded {
        assert_eq!(given, grade, "{title}");
    }
}

#[test]
fn a_command_that_would_fail_anyway_or_only_looks_proves_nothing() {
    let project = Project::new(&json!({}));
    project.write("fails-now", &program("echo it fails now; exit 1"));
    project.write("fails-always", "#!/bin/sh\necho it fails always; exit 1\n");
    let outside = project.scene().path("outside").display().to_string();
    project.write("writes", &format!("#!/bin/sh\necho it fails; touch {outside} || exit 1\n"));
    let graded = graded(
        &project,
        &[
            ("nothing", &["false"], "it fails now"),
            ("shell", &["sh", "-c", "echo it fails now; exit 1"], "it fails now"),
            ("looking", &["grep", "-q", "old", "version"], "it fails now"),
            ("lines", &["mawk", "/new/ { print \"it fails now\"; exit 1 }", "version"], "it fails now"),
            ("opening", &["python3", "-cimport sys; sys.exit(open('version').read())"], "it fails now"),
            ("always", &["./fails-always"], "it fails always"),
            ("silent", &["./fails-now"], ""),
            ("mistaken", &["./fails-now"], "division by zero"),
            ("missing", &["./no-such-program"], "it fails now"),
            ("leaving", &["../../../../bin/false"], "it fails now"),
            ("writing", &["./writes"], "it fails"),
        ],
    );
    assert_all(&graded, "confirmed");
    assert!(!can_confine() || !project.scene().path("outside").exists(), "it wrote outside of its copy");
}

#[test]
fn a_failure_a_crash_and_a_hang_prove_a_finding_and_leave_nothing_running() {
    let project = Project::with_settings(&json!({}), "[commands]\nseconds = 10\n");
    project.write("fails", &program("echo it fails now; exit 1"));
    project.write("crashes", &program("echo it fails now; kill -SEGV $$"));
    project.write("hangs", &program("echo it fails now; while :; do sleep 0.1; done"));
    project.write("leaves", &program("sleep 4242 > /dev/null 2>&1 & echo it fails now; exit 1"));
    let all = ["fails", "crashes", "hangs", "leaves"];
    let argv = all.map(|name| [format!("./{name}")]);
    let argv: Vec<[&str; 1]> = argv.iter().map(|[word]| [word.as_str()]).collect();
    let cases: Vec<(&str, &[&str], &str)> =
        all.iter().zip(&argv).map(|(name, argv)| (*name, &argv[..], "It fails  now")).collect();
    assert_all(&graded(&project, &cases), "proved");
    assert_left_nothing(project.scene(), "after the proofs");
}

#[test]
fn a_fault_that_a_command_ties_to_the_change_is_no_older_one() {
    let project = Project::new(&json!({}));
    project.write("fails", &program("echo it fails now; exit 1"));
    project.write("version", "old\n");
    project.git.commit("Begin");
    project.write("version", "new\n");
    let quote = "[ \"$(cat version)\" = old ] && exit 0";
    let found = finding("high", "Only one version works", ("fails", 2), quote, "It fails with the new one.");
    let ended = |argv: &str, seed: &str| {
        let proof = json!({ "argv": [argv], "announces": "it fails now" });
        let verdict = json!({ "verdict": "confirmed", "why": "So it is.", "proof": proof });
        let play = json!({ "finds": { "security": [found] }, "verdicts": { "Only one": verdict } });
        project.scene().write_script(&json!({ "review": play }));
        let ran = project.review(&["--with", "security", "--commands", "run", "--seed", seed]);
        (ran.code, table(&ran))
    };
    let line = |grade, older| format!("{grade} high: Only one version works | fails:2 | security{older}");
    assert_eq!(ended("./missing", "1"), (Some(0), vec![line("confirmed", ", older")]));
    assert_eq!(ended("./fails", "2"), (Some(3), vec![line("proved", "")]));
}
