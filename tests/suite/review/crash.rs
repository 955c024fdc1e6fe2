//! The crash test and the random kills, on a review with machines, a merge, verifications and proofs.

use std::process::Command;

use serde_json::{Value, json};
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::store;
use skilltune_phases::loops::review::{Ended, Run};

use super::{BROKEN, DIVIDES, PUMP, Project, division, finding, shown, table};
use crate::crash::crash_everywhere;
use crate::kill::{kill_again_and_again, kills, slowed};
use crate::outcome::{Outcome, assert_left_nothing};
use crate::scene::{Ran, Scene};
use crate::story::Story;

struct Reviewed {
    slow: bool,
    jobs: &'static str,
}

impl Reviewed {
    fn play() -> Value {
        let refuted = json!({ "verdict": "refuted", "why": "It is read.", "path": "pump", "line": 1, "quote": DIVIDES });
        let page = finding("high", "The page is lost", ("page", 1), "A page about it.", "It is only here.");
        let same = finding(
            "medium",
            "Dividing by zero minutes",
            ("pump", 8),
            DIVIDES,
            "Zero minutes end it with an error.",
        );
        json!({
            "finds": { "security": [division()], "code reviewer": [same, page] },
            "verdicts": { "Division": shown(), "The page": refuted },
        })
    }
}

impl Story for Reviewed {
    fn scene(&self) -> Scene {
        let project = Project::new(&Self::play());
        if self.slow {
            project.scene().write_script(&slowed(json!({ "review": Self::play() })));
        }
        project.write("pump", PUMP);
        project.write("check", "#!/bin/sh\n./pump 10 0\n");
        project.write("skilltune.toml", "[commands]\ntest = [\"./check\"]\n");
        project.git.commit("Begin");
        project.write("pump", BROKEN);
        project.write("page", "A page about it.\n");
        project.git.scene
    }

    fn begin(&self, scene: &Scene) -> Command {
        let line = ["review", "--trust", "--commands", "run", "--yes", "--format", "json", "--seed", "7"];
        scene.command(&[&line[..], &["--with", "security,quality", "--jobs", self.jobs]].concat())
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&["resume", "--yes", "--format", "json", "--jobs", self.jobs])
    }

    fn assert_telling(&self, _: &Scene, ran: &Ran) {
        assert_eq!(
            table(ran),
            [
                "proved high: Division by zero | pump:8 | security quality",
                "machine high: test fails | - | test",
                "refuted high: The page is lost | page:1 | quality",
            ]
        );
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of_review(scene, ran)
    }

    /// Fails unless the state file matches the journal.
    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_left_nothing(scene, story);
        let history = store::read(&SafePath::below(&scene.run_folder(), "history.jsonl"))
            .expect("the journal can be read");
        let run = Run::replay(&history.records).expect("the journal is that of a run");
        assert_eq!(run.outcome(), Ended::Found, "{story}: the run is not over");
        let state = scene.state();
        assert_eq!(
            (&state["outcome"], &state["counts"]),
            (&json!("found"), &json!(run.counts())),
            "{story}: the state"
        );
    }
}

#[test]
fn a_review_aborted_at_any_durable_step_ends_as_if_it_had_not_been() {
    crash_everywhere(&Reviewed { slow: false, jobs: "1" }).report("a review", 200);
}

#[test]
fn a_review_killed_again_and_again_ends_as_if_it_had_not_been() {
    let story = Reviewed { slow: true, jobs: "2" };
    let figures = kill_again_and_again(&story, &story.whole(), kills() / 3, |_, _| ());
    eprintln!("random kills: {figures:?} of review, 0 runs lost");
}
