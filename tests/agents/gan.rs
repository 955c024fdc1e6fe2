//! Whole runs of `gan`: one real agent builds a landing page, another one judges it, and a real browser looks at it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::scene::{Ran, SECRET, Scene, target};
use crate::server::{FIX, NOTES, OWN};

const JUDGE: &str = "# Judge what was built";

impl Scene {
    /// Runs `gan` with the brief of `fixtures/pages` and its texts and tokens. Both agents use the same scenario of the
    /// server.
    fn gan(&self, more: &[&str]) -> Ran {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/pages/clean");
        for name in ["brief.md", "copy.json", "tokens.json"] {
            fs::copy(fixtures.join(name), self.path("project").join(name)).unwrap();
        }
        // The path at which a user's npm installs it.
        let axe = target().join("axe/node_modules/axe-core/axe.min.js");
        let modules = self.path("home/.local/lib/node_modules/axe-core");
        fs::create_dir_all(&modules).unwrap();
        fs::copy(axe, modules.join("axe.min.js")).expect("tests/programs installs axe-core");
        let task = ["gan", "brief.md", "--copy", "copy.json", "--tokens", "tokens.json", "--into", "site"];
        let always = ["--contract", "--jobs", "2", "--yes", "--format", "json"];
        self.run("good", "good", &[&task[..], &always, more].concat())
    }

    fn json(&self, name: &str) -> Value {
        let files = self.files(name);
        assert_eq!(files.len(), 1, "{name}");
        serde_json::from_slice(&fs::read(&files[0]).unwrap()).unwrap()
    }
}

/// Returns the finding of a report for a criterion.
fn finding<'r>(report: &'r Value, id: &str) -> &'r Value {
    report["criteria"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap()
}

/// Fails unless the browser finds two faults of the first build and the judge one, and the second build has none.
fn assert_built(scene: &Scene, ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!((&ran.summary["outcome"], &ran.summary["rounds"]), (&json!("passed"), &json!(2)), "{ran:?}");
    assert_eq!(ran.failures(), [""; 0], "{ran:?}");
    let clean = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/pages/clean/site");
    for name in ["index.html", "style.css", "thanks.html", "loaf.svg"] {
        let built = fs::read(scene.path("project/site").join(name)).unwrap();
        assert!(built == fs::read(clean.join(name)).unwrap(), "{name}");
    }
    assert_found(&scene.json("evaluation-report-1.json"), &scene.json("evaluation-report-2.json"));
    for picture in ["index-1280x720.png", "index-375x667.png", "thanks-375x667.png"] {
        assert_eq!(scene.files(picture).len(), 2, "{picture}: one of each round");
    }
    assert_agreed(&scene.json("sprint-1.json"));
    assert_judged(scene, &scene.json("evaluation-report-1.json"));
}

fn assert_found(first: &Value, second: &Value) {
    let by = |report: &Value, id: &str| {
        let found = finding(report, id);
        (found["status"].as_str().unwrap().to_owned(), found["by"].as_str().unwrap().to_owned())
    };
    let (failed, passed) = ("failed".to_owned(), "passed".to_owned());
    // One of the given texts is a field's placeholder: no screenshot can prove that it is visible.
    for (id, who) in [("completeness.copy", "judge"), ("functionality.narrow", "machine")] {
        assert_eq!(by(first, id), (failed.clone(), "machine".to_owned()), "{id}");
        assert_eq!(by(second, id), (passed.clone(), who.to_owned()), "{id}");
    }
    assert_eq!(by(first, "design.consistent"), (failed, "judge".to_owned()));
    assert_eq!(first["verdict"], "fail");
    for id in ["design.contrast", "functionality.accessible"] {
        assert_eq!(by(second, id), (passed.clone(), "machine".to_owned()));
        assert!(finding(second, id)["evidence"].as_str().unwrap().contains("axe-core"), "{second:#}");
    }
    let ordered = finding(second, OWN);
    assert_eq!(by(second, OWN), (passed, "machine".to_owned()));
    assert!(ordered["evidence"].as_str().unwrap().contains("see “Your loaf is kept”"), "{ordered}");
    assert_eq!((&second["verdict"], &second["overall"]), (&json!("pass"), &json!(1.0)), "{second:#}");
}

/// Fails unless the builder asked for less and the brief's words decided against it.
fn assert_agreed(sprint: &Value) {
    let checklist = sprint["acceptance_checklist"].as_array().unwrap();
    assert!(checklist.iter().any(|one| one["id"] == OWN && one["must_pass"] == true), "{checklist:?}");
    let said: Vec<_> = sprint["negotiation_history"].as_array().unwrap().iter().collect();
    assert_eq!(said[2]["ruled"][0]["is_accepted"], false, "{said:?}");
}

/// Fails unless a judge sees the page's screenshot, and no earlier score or verdict and no builder's notes.
fn assert_judged(scene: &Scene, first: &Value) {
    let requests = scene.server.requests();
    assert!(!requests.iter().any(|request| request.contains(SECRET)));
    let judged: Vec<_> = requests.iter().filter(|request| request.contains(JUDGE)).collect();
    assert!(judged.iter().any(|request| request.contains("image/png")), "nobody has looked at a picture");
    let points = |key: &str| format!("{:.1}", first[key].as_f64().unwrap() * 100.0);
    let earlier = [points("overall"), points("passed_share"), FIX.to_owned(), NOTES.to_owned()];
    assert!(earlier.iter().all(|score| score.len() > 3 && score != "100.0"), "{earlier:?}");
    for request in judged {
        assert_eq!(earlier.iter().find(|score| request.contains(score.as_str())), None);
    }
}

#[test]
fn gemini_judges_the_page_that_claude_builds() {
    let scene = Scene::new();
    let ran =
        scene.gan(&["--builder", "claude:claude-sonnet-4-5", "--evaluator", "gemini:gemini-3-pro-preview"]);
    assert_built(&scene, &ran);
}

#[test]
fn claude_judges_the_page_that_gemini_builds() {
    let scene = Scene::new();
    let ran =
        scene.gan(&["--builder", "gemini:gemini-3-pro-preview", "--evaluator", "claude:claude-sonnet-4-5"]);
    assert_built(&scene, &ran);
}
