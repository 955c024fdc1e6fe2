//! Runs of `review`.

use std::fs;

use serde_json::{Value, json};

use super::Case;
use crate::scene::Scene;

const BEFORE: &str =
    "def average(values):\n    if not values:\n        return 0\n    return sum(values) / len(values)\n";
const AFTER: &str = "def average(values):\n    return sum(values) / len(values)\n";

pub(super) const CASES: &[Case] =
    &[("review-proved", || reviewed("run").into()), ("review-declined", || reviewed("ask").into())];

fn reviewed(commands: &str) -> Scene {
    let proof = json!({ "argv": ["python3", "-c", "import calc; calc.average([])"], "announces": "division by zero" });
    let confirmed = json!({ "verdict": "confirmed", "why": "len([]) is 0", "proof": proof });
    let refuted = json!({ "verdict": "refuted", "why": "The caller checks.", "path": "calc.py", "line": 1, "quote": "def average(values):" });
    let script = json!({ "review": {
        "finds": {
            "security": [found("high", "An empty list divides by zero", "sum(values) / len(values)"), found("low", "Invented", "eval(values)")],
            "quality": [found("medium", "The name is unclear", "def average(values):")],
        },
        "verdicts": { "empty list": confirmed, "unclear": refuted },
    }});
    let scene = Scene::new(&[], &script);
    scene.write_settings("[commands]\nlint = [\"python3\", \"-c\", \"import calc\"]\n");
    fs::remove_dir(scene.path("project/.git")).unwrap();
    scene.git(&["init", "--quiet", "--initial-branch=main"]);
    fs::write(scene.path("project/calc.py"), BEFORE).unwrap();
    scene.commit("one");
    fs::write(scene.path("project/calc.py"), AFTER).unwrap();
    let ran = scene.run(&["review", "--with", "security,quality", "--commands", commands, "--yes"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    scene
}

fn found(severity: &str, title: &str, quote: &str) -> Value {
    json!({ "severity": severity, "title": title, "path": "calc.py", "line": 9, "side": "new", "quote": quote,
        "what": format!("{title}: it fails."), "suggestion": "Keep the check.", "replacement": "" })
}
