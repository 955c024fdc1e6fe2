//! Experts and reviews with the real agents: one answers as an expert, one finds a fault, another one checks it, and a
//! command proves it.

use std::fs;

use serde_json::json;

use crate::scene::{Ran, SECRET, Scene};
use crate::server::ADVICE;

const CLAUDE: &str = "claude:claude-sonnet-4-5";
const CODEX: &str = "codex:gpt-5.5-codex";

const BEFORE: &str = "exports.average = (values) => {\n  if (!values.length) return 0;\n  const sum = values.reduce((a, b) => a + b, 0);\n  return sum / values.length;\n};\n";

impl Scene {
    /// Removes the check for an empty list from a committed file, and reviews that.
    fn review(&self, reviewer: &str, verifier: &str) -> Ran {
        fs::remove_dir_all(self.path("project/.git")).unwrap();
        self.git(&["init", "--quiet"]);
        self.write("project/calc.js", BEFORE);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "one"]);
        self.write("project/calc.js", &BEFORE.replace("  if (!values.length) return 0;\n", ""));
        let who = ["--with", "quality", "--reviewer", reviewer, "--verifier", verifier];
        let how = ["--commands", "run", "--yes", "--format", "json"];
        self.run("good", "good", &[&["review"][..], &who, &how].concat())
    }
}

#[test]
fn an_expert_answers_with_each_agent() {
    for agent in [CLAUDE, CODEX] {
        let scene = Scene::new();
        let task = ["expert", "architect", "Does the pump need a queue?", "--agent", agent];
        let ran = scene.run("good", "good", &[&task[..], &["--yes", "--format", "json"]].concat());
        assert_eq!((ran.code, &ran.summary["answer"]), (Some(0), &json!(ADVICE)), "{agent}: {ran:?}");
        assert!(!scene.server.requests().iter().any(|request| request.contains(SECRET)), "{agent}");
    }
}

#[test]
fn one_agent_finds_a_fault_another_one_confirms_it_and_a_command_proves_it() {
    for (reviewer, verifier) in [(CLAUDE, CODEX), (CODEX, CLAUDE)] {
        let scene = Scene::new();
        let ran = scene.review(reviewer, verifier);
        assert_eq!((ran.code, &ran.summary["outcome"]), (Some(3), &json!("found")), "{ran:?}");
        assert_eq!(ran.failures(), [""; 0], "{ran:?}");
        assert_eq!(ran.summary["counts"]["proved"], json!(1), "{ran:?}");
        let page = fs::read_to_string(&scene.files("review.md")[0]).unwrap();
        assert!(
            page.contains("high, proved: An empty list has no average") && page.contains("`calc.js:3`"),
            "{page}"
        );
        let ended = ran.history.iter().filter_map(|line| line.pointer("/event/done/outcome/ran"));
        let ended: Vec<_> = ended.map(|end| (&end["exit"], &end["announced"])).collect();
        assert_eq!(ended, [(&json!(1), &json!(true)), (&json!(0), &json!(false))], "{ran:?}");
        let requests = scene.server.requests();
        assert!(!requests.iter().any(|request| request.contains(SECRET)), "{reviewer}");
    }
}
