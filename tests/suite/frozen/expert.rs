//! Runs of `expert`: an answer, and the draft of a specification.

use serde_json::json;

use super::{Case, ended};
use crate::evolve_draft::{DRAFT, FROM, scene};
use crate::scene::Scene;

pub(super) const CASES: &[Case] = &[
    ("expert-answered", || {
        let scene = Scene::new(&[], &json!({ "expert": ["", "# Finding\n\nThe pump needs no queue."] }));
        let ran = scene.run(&["expert", "architect", "Does the pump need a queue?", "--no-folder", "--yes"]);
        ended(&ran, 0);
        scene.into()
    }),
    ("expert-specification", || {
        let scene = scene(&[DRAFT]);
        ended(&scene.run(&FROM), 3);
        scene.into()
    }),
];
