//! Runs of `gan` without a browser, because its findings depend on the machine.

use std::fs;

use serde_json::{Value, json};

use super::{Case, Made, ended};
use crate::gan::{ALL, CLEAR, PRICES, SHORT, WORKS, build, building, playing};
use crate::proposing::repository::Repository;
use crate::scene::Scene;

const ONCE: &str = "--max-rounds=1";

pub(super) const CASES: &[Case] = &[
    ("gan-stagnation", || {
        let scene = building(&[&[WORKS]]);
        scene.write_settings("[gan]\nstandstill = 1\n");
        ended(&build(&scene, &["--yes"]), 3);
        scene.into()
    }),
    ("gan-escalated", || {
        let rising: &[&[&str]] = &[&[CLEAR], &[CLEAR, WORKS], &[WORKS, PRICES, SHORT], &ALL];
        built(rising, &["--yes", "--threshold", "100"], 0)
    }),
    ("gan-held", || built(&[&[WORKS]], &[ONCE], 3)),
    ("gan-forced", || answered(&[&["force"]])),
    ("gan-ended", || answered(&[&["end"]])),
    ("gan-aborted", || answered(&[&["abort"]])),
    ("gan-guided", || {
        answered(&[
            &["guide", "--with", "Show the prices"],
            &["amend", "--with", "changes.json"],
            &["accept"],
        ])
    }),
    ("gan-failed", || played(&json!({ "rubbish": ["judge"], "builds": [ALL] }), &["--yes"], 4)),
    ("gan-agreed", agreed),
    ("gan-commands", || commands(&["--yes", "--commands", "run"], 0)),
    ("gan-commands-held", || commands(&[], 3)),
    ("gan-commands-skipped", || {
        let Made { scene, .. } = commands(&[], 3);
        ended(&scene.run(&["resume", "--answer", "skip"]), 0);
        scene.into()
    }),
    ("gan-judged-twice", || {
        let polite = criterion("form.polite", false);
        let second = json!({ "form.short": "failed" });
        let play = json!({ "builds": [ALL], "drafted": [polite], "second": second });
        played(&play, &["--yes", "--level", "thorough", "--max-rounds", "1"], 3)
    }),
    ("gan-ceiling", || built(&[&[WORKS]], &["--yes", "--max-calls", "3"], 5)),
    ("gan-conflict", || {
        let scene = building(&[&[WORKS]]);
        ended(&build(&scene, &[ONCE]), 3);
        fs::create_dir_all(scene.path("project/site")).unwrap();
        fs::write(scene.path("project/site/index.html"), "<p>mine</p>\n").unwrap();
        scene.run(&["resume", "--answer", "accept"]);
        scene.into()
    }),
    ("gan-not-proposed", || {
        let Repository { scene } = committed(&[WORKS]);
        ended(&build(&scene, &["--apply", "branch", ONCE]), 3);
        fs::rename(scene.path("project/.git"), scene.path("git")).unwrap();
        scene.run(&["resume", "--answer", "accept"]);
        scene.into()
    }),
    ("gan-proposed", || {
        let Repository { scene } = committed(&ALL);
        ended(&build(&scene, &["--yes", "--apply", "branch"]), 0);
        scene.into()
    }),
];

fn built(builds: &[&[&str]], more: &[&str], code: i32) -> Made {
    played(&json!({ "builds": builds }), more, code)
}

fn played(play: &Value, more: &[&str], code: i32) -> Made {
    let scene = playing(play);
    ended(&build(&scene, more), code);
    scene.into()
}

fn committed(built: &[&str]) -> Repository {
    let repository = Repository::of(building(&[built]));
    repository.commit("Begin");
    repository
}

/// Makes a run at its last round, and gives these answers.
fn answered(answers: &[&[&str]]) -> Made {
    let scene = building(&[&[WORKS]]);
    let added = json!({ "id": "form.kind", "dimension": "form", "criterion": "It is kind.", "verification": "Read it." });
    let changes = json!([{ "drop": { "criterion": SHORT } }, { "add": added }]);
    fs::write(scene.path("project/changes.json"), changes.to_string()).unwrap();
    ended(&build(&scene, &[ONCE]), 3);
    for answer in answers {
        ended(&scene.run(&[&["resume", "--answer"], *answer].concat()), 3);
    }
    scene.into()
}

fn criterion(id: &str, must_pass: bool) -> Value {
    json!({
        "id": id, "dimension": "form", "criterion": "It is so.", "verification": "Read.",
        "must_pass": must_pass, "weight": 2,
    })
}

/// Makes two rounds of proposals and rulings.
fn agreed() -> Made {
    let drop = json!({ "change": "drop", "id": "form.polite", "why": "nobody asked for it" });
    let soften = json!({ "change": "must_pass", "id": "form.polite", "must_pass": false, "why": "too hard" });
    let wanted = json!([{ "id": "form.colour", "text": "It has colour.", "verification": "Look." }]);
    let builds = [vec![WORKS, "shows: form.padding"], [&ALL[..], &["form.polite"]].concat()];
    let play = json!({
        "builds": builds, "drafted": [criterion("form.polite", true)], "proposed": [[drop], [soften]], "wanted": wanted,
        "ruled": [[[false, "Say how it runs"]], [[true, "show prices"]]],
    });
    played(&play, &["--yes", "--contract"], 0)
}

/// Makes a run with a test scenario that a command decides.
fn commands(more: &[&str], code: i32) -> Made {
    let test = json!({
        "id": "says", "criterion": "form.says", "description": "The page says it.", "tool": "command",
        "steps": [], "argv": ["grep", "-q", "note: here it is", "index.html"],
    });
    let builds = [[&ALL[..], &["form.says", "note: here it is"]].concat()];
    let play = json!({ "builds": builds, "drafted": [criterion("form.says", true)], "tests": [test] });
    let scene: Scene = playing(&play);
    ended(&build(&scene, &[&["--contract"], more].concat()), code);
    scene.into()
}
