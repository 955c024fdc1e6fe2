//! Runs of `evolve`, one task at a time, so that a run that is recorded again has the same order.

use std::fs;

use serde_json::{Value, json};

use super::{Case, Made, ended};
use crate::evolve::{FILES, Project, SPEC, adding, after, both, meeting, saying, task, writing};

const ALONE: [&str; 2] = ["--jobs", "1"];
const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const TEST: (&str, &str) = ("tests/test_a.py", "def test_a():\n    assert True\n");

/// Lint fails while a file in `src` says BROKEN.
const LINTED: &str = "lint:\n\t@sh test.sh\ntest:\n\t@true\n";

pub(super) const CASES: &[Case] = &[
    ("evolve-planned", || {
        let project = Project::new(&json!({ "tasks": [both()] }));
        ended(&project.evolve(&["--plan-only"]), 0);
        made(project)
    }),
    ("evolve-failed", || {
        let statement = r#"{"answer_to": "CODE", "statements": ["It was never said."]}"#;
        let project = Project::new(&json!({ "instead": { "split": statement } }));
        ended(&project.evolve(&[]), 4);
        made(project)
    }),
    ("evolve-incomplete", incomplete),
    ("evolve-moved", moved),
    ("evolve-layers", layers),
    ("evolve-points-of-view", points_of_view),
    ("evolve-reached", reached),
    ("evolve-evidence", || made(evidence())),
    ("evolve-repeated", || verified(evidence(), 0)),
    ("evolve-not-repeated", || {
        let project = evidence();
        project.git.git(&["checkout", "-q", "skilltune/spec"]);
        project.write("a.txt", "nothing\n");
        project.git.commit("Take it back");
        verified(project, 3)
    }),
];

fn made(project: Project) -> Made {
    project.git.scene.into()
}

/// Returns work that meets everything, changes the readme, and makes tests say less.
fn touching() -> Value {
    json!({ "writes": {
        "a.txt": "this meets A1\nthis meets A2\n", "readme.txt": "A readme that says more.\n", "tests/test_a.py": null,
        "lib.py": "x = 1  # noqa\n",
    } })
}

fn all() -> Value {
    task("all", &["A1", "A2"], "a.txt")
}

/// Makes a result that no command can judge and that touches tests. A person approves of it, and then it cannot be
/// committed.
fn incomplete() -> Made {
    let play = json!({ "tasks": [[all()]], "works": { "all": [touching()] } });
    let project = Project::with(&play, &[&FILES[2..], &[TEST]].concat(), "");
    ended(&project.attended(&ALONE), 3);
    fs::rename(project.git.path(".git"), project.scene().path("git")).unwrap();
    ended(&project.resume(&["--answer", "approve"]), 4);
    made(project)
}

/// Pauses before the second task, where a person changes its file, and again, where a person changes lines of the first
/// one. Then the person ends the run.
fn moved() -> Made {
    let [a, b] = [task("a", &["A1"], "a.txt"), after(task("b", &["A2"], "b.txt"), &["a"])];
    let play = json!({ "tasks": [[a, b], [b]] });
    let files = [&FILES[..], &[("a.txt", LINES), ("b.txt", LINES)]].concat();
    let project = Project::with(&play, &files, "");
    // Four calls plan, one works, one looks for drift, one plans again, and one works.
    ended(&project.evolve(&[&ALONE[..], &["--max-calls", "6"]].concat()), 5);
    project.write("b.txt", &format!("mine\n{LINES}"));
    ended(&project.resume(&["--yes", "--max-calls", "7"]), 5);
    project.write("a.txt", &format!("{LINES}mine\n"));
    ended(&project.resume(&["--yes", "--max-calls", "8"]), 5);
    ended(&project.resume(&["--answer", "end"]), 3);
    made(project)
}

/// Makes a run whose tasks fail, are skipped, conflict, drift and are taken back. The evaluator adds a criterion and a
/// constraint. It runs unattended, so the other criteria stay, and it ends with its best result.
fn layers() -> Made {
    let tasks = [
        task("one", &["A1"], "a.txt"),
        task("two", &["A2"], "b.txt"),
        task("three", &[], "c.txt"),
        after(task("four", &[], "d.txt"), &["one"]),
        task("five", &[], "e.txt"),
    ];
    let works = json!({
        "one": [{ "fails": true }],
        "two": [{ "writes": { "b.txt": "this meets A2\n", "readme.txt": "Two says this.\n" } }],
        "three": [writing("readme.txt", "Three says this.\n"), adding("readme.txt", "three\n")],
        "five": [writing("src/e.txt", "BROKEN\n"), writing("src/e.txt", "mended\n")],
    });
    let amendment = json!({
        "description": "Mind the third.",
        "criteria": [{ "text": "a third thing", "priority": "low" }],
        "constraints": [{ "text": "no colours", "tasks": ["two"] }],
        "changes": [{ "id": "A1", "text": "the first is easier", "remove": false, "why": "it cannot be met" }],
    });
    let drift = json!([{ "task": "two", "what": "it uses the network", "evidence": "b.txt:1" }]);
    let play = json!({
        "tasks": [tasks, [task("extra", &["A3"], "f.txt")]], "works": works, "drift": [drift, []],
        "amendments": [amendment, saying("")],
    });
    let project = Project::with(&play, &FILES, "[evolve]\npatches = 1\n");
    ended(&project.evolve(&ALONE), 3);
    made(project)
}

/// Makes a run with a fix, each pattern of the scores and each point of view. At the end a person gives guidance.
fn points_of_view() -> Made {
    let [one, mut two] = both();
    two["replaces"] = json!(["one"]);
    let in_vain = |number: u32| writing("a.txt", &format!("nothing of it: {number}\n"));
    let works = json!({
        "two": [
            writing("src/x.txt", "BROKEN\n"), adding("notes.txt", "try\n"), in_vain(1), in_vain(2), in_vain(1), in_vain(3),
            in_vain(4), meeting("b.txt", &["A2"]),
        ],
        "fix-1": [adding("src/y.txt", "try\n")],
    });
    let play =
        json!({ "tasks": [[one, two]], "works": works, "amendments": [saying("Go at it from elsewhere.")] });
    let files = [&FILES[1..], &[("Makefile", LINTED)]].concat();
    let project = Project::with(&play, &files, "[evolve]\nfixes = 1\ndrift = false\n");
    ended(&project.attended(&ALONE), 3);
    ended(&project.resume(&["--answer", "guide", "--with", "Use the pump."]), 0);
    made(project)
}

/// Makes a result with advice and a check, which is merged with what a person has changed meanwhile.
fn reached() -> Made {
    let relevant = |expert: &str, relevance: f64| json!({ "task": "all", "expert": expert, "domains": ["design"], "relevance": relevance, "why": "It helps." });
    let conflict =
        json!({ "about": "keys", "between": ["architect", "security-reviewer"], "settled": "two keys" });
    let play = json!({
        "tasks": [[all()]], "works": { "all": [touching()] },
        "relevant": [relevant("architect", 0.9), relevant("security-reviewer", 0.7)],
        "perspectives": {
            "a software architect": ["Build it of stone.", 0.8], "a security reviewer": ["Lock the door.", 0.6],
        },
        "consensus": { "consensus": "A stone house with a lock.", "conflicts": [conflict] },
    });
    let settings = "[commands]\nsetup = [\"true\"]\ntest = [\"make\", \"test\"]\n";
    let project = Project::with(&play, &[&FILES[..], &[TEST]].concat(), settings);
    let check = "is there\n  check: [\"test\", \"-e\", \"a.txt\"]\n- A2";
    project.write("spec.md", &SPEC.replace("is there\n- A2", check));
    project.git.commit("Check it");
    let roles = ["--roles", "architect,security-reviewer"];
    let start = [&["evolve", "spec.md", "--no-oracles", "--apply", "tree"], &roles[..]].concat();
    ended(&project.scene().run(&[&start[..], &ALONE].concat()), 3);
    ended(&project.resume(&["--answer", "run"]), 3);
    project.write("mine.txt", "mine\n");
    ended(&project.resume(&["--answer", "approve"]), 0);
    made(project)
}

const VERIFY: [&str; 6] = ["evolve", "verify", "skilltune/spec", "--trust", "--format", "json"];

/// Repeats the receipts, which ends with this code.
fn verified(project: Project, code: i32) -> Made {
    let ran = project.scene().run(&VERIFY);
    ended(&ran, code);
    let run = ran.json()["run_id"].as_str().expect("a run has an id").to_owned();
    Made { scene: project.git.scene, run }
}

/// Makes a result with oracles, of which one needs a stub and one is wrong. A person settles the dispute. Wrong versions of the
/// result and the work of one executor are measured.
fn evidence() -> Project {
    let script = |id: &str, text: &str| {
        let path = format!("oracle-{id}.sh");
        json!({
            "argv": ["sh", path], "files": [{ "path": path, "text": text }], "uses_names": true, "shows": "It is there.",
            "why_not": "",
        })
    };
    let there = "[ -e a.txt ] || exit 9\nif grep -q A1 a.txt; then echo SKILLTUNE_GREEN; else echo SKILLTUNE_RED; exit 1; fi\n";
    let wrong = "[ -e never.txt ] || { echo 'never: SKILLTUNE_RED'; exit 1; }\necho SKILLTUNE_GREEN\n";
    let edit = json!({ "path": "a.txt", "old": "this meets A1", "new": "nothing" });
    let play = json!({
        "tasks": [[all()]],
        "names": { "note": "a.txt: a line for each thing", "stub": [{ "path": "a.txt", "text": "\n" }] },
        "oracles": { "A1": [script("A1", there)], "A2": [script("A2", wrong)] },
        "versions": { "A1": [{ "what": "the first is gone", "edits": [edit] }] },
    });
    let project = Project::with(&play, &FILES, "");
    let start = [
        "evolve",
        "spec.md",
        "--commands",
        "run",
        "--roles",
        "none",
        "--strength",
        "--control",
        "--format",
        "json",
    ];
    ended(&project.scene().run(&[&start[..], &ALONE].concat()), 3);
    ended(&project.resume(&["--answer", "holds"]), 0);
    project
}
