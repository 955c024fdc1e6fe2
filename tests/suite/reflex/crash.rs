//! The crash test and the random kills, on a run that refines, drops a worse version, rewrites, and reaches level B.

use std::process::Command;

use serde_json::{Value, json};

use super::tidy::assert_tidy;
use super::*;
use crate::crash::crash_everywhere;
use crate::kill::{kill_again_and_again, kills, slowed};
use crate::outcome::Outcome;
use crate::story::Story;

struct Written {
    slow: bool,
    jobs: &'static str,
}

impl Written {
    /// The refined version is worse and is dropped; the one before it is rewritten, and the result passes both levels.
    fn script(&self) -> Value {
        let pattern = |rule: &str| {
            let search = format!("^met: {}$", rule.replace('.', "\\."));
            (rule.to_owned(), json!([{ "type": "content", "search": search, "expected": "present" }]))
        };
        // Patterns cost no calls; a few rules are left to the judge.
        let patterns: serde_json::Map<_, _> =
            [SECTIONS, EXAMPLES, STRUCTURE, REFERENCES].into_iter().map(pattern).collect();
        let play = json!({
            "produced": { "1": [ACCURACY, EXAMPLES], "3": ALL },
            "refined": { "1": [EXAMPLES] },
            "checks": patterns,
        });
        let script = json!({ "reflex": play });
        if self.slow { slowed(script) } else { script }
    }
}

/// A run is named by its task and the second in which it began, and its processes are found by that name, so parallel
/// stories need different tasks.
fn alias(scene: &Scene) -> String {
    let root = scene.path("");
    let name = root.file_name().and_then(|name| name.to_str()).expect("the root has a name");
    format!("{ALIAS}-{}", name.trim_start_matches('.').to_lowercase())
}

impl Story for Written {
    fn scene(&self) -> Scene {
        Scene::new(&[], &self.script())
    }

    fn begin(&self, scene: &Scene) -> Command {
        let alias = alias(scene);
        let task = ["reflex", "new", TASK, "--template", "docs", "--alias", &alias];
        scene.command(
            &[&task[..], &["--yes", "--format", "json", "--seed", "7", "--jobs", self.jobs]].concat(),
        )
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&["reflex", "resume", "--yes", "--format", "json", "--jobs", self.jobs])
    }

    fn assert_telling(&self, scene: &Scene, ran: &Ran) {
        for kind in ["switch", "drop", "refined"] {
            assert!(!decided(scene, kind).is_empty(), "{kind}: {ran:?}");
        }
        assert_eq!((ran.code, &ran.json()["iterations"]), (Some(0), &json!(3)), "{ran:?}");
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of_reflex(scene, ran)
    }

    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_tidy(scene, story);
    }
}

#[test]
fn a_run_aborted_at_any_durable_step_ends_as_if_it_had_not_been() {
    crash_everywhere(&Written { slow: false, jobs: "1" }).report("a reflex run", 200);
}

#[test]
fn a_run_killed_again_and_again_ends_as_if_it_had_not_been() {
    // The artifact is one whole version at any moment.
    let assert_whole = |scene: &Scene, _: &Outcome| {
        let there = fs::read_to_string(place(scene).join("artifact.md")).unwrap_or_default();
        let whole = [&[ACCURACY, EXAMPLES][..], &[EXAMPLES], &ALL];
        assert!(there.is_empty() || whole.iter().any(|rules| meets(&there, rules)), "{there}");
    };
    let story = Written { slow: true, jobs: "2" };
    let figures = kill_again_and_again(&story, &story.whole(), kills() / 3, assert_whole);
    eprintln!("random kills: {figures:?} of reflex, 0 runs lost");
}
