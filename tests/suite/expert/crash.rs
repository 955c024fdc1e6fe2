//! The crash test, on a draft of an expert: one call, and then a file of the project.

use std::process::Command;

use serde_json::json;

use super::new::{ABOUT, DRAFT, FILE, written};
use super::scene;
use crate::crash::crash_everywhere;
use crate::outcome::{Outcome, assert_left_nothing};
use crate::scene::{Ran, Scene};
use crate::story::Story;

struct Drafted;

impl Story for Drafted {
    fn scene(&self) -> Scene {
        scene(&[DRAFT])
    }

    fn begin(&self, scene: &Scene) -> Command {
        scene.command(&["expert", "new", "dba", ABOUT, "--yes", "--format", "json", "--seed", "7"])
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&["resume", "--yes", "--format", "json"])
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of_draft(scene, ran)
    }

    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_left_nothing(scene, story);
        assert_eq!(written(scene).as_deref(), Some(FILE), "{story}: the draft");
    }

    fn assert_telling(&self, _: &Scene, ran: &Ran) {
        assert_eq!(ran.json()["outcome"], json!("answered"));
    }
}

#[test]
fn a_draft_aborted_at_any_durable_step_ends_as_if_it_had_not_been() {
    crash_everywhere(&Drafted).report("a draft of an expert", 20);
}
