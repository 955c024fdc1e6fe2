//! A run of `expert`.

use serde_json::json;

use super::Case;
use crate::scene::Scene;

pub(super) const CASES: &[Case] = &[("expert-answered", || {
    let scene = Scene::new(&[], &json!({ "expert": ["", "# Finding\n\nThe pump needs no queue."] }));
    let ran = scene.run(&["expert", "architect", "Does the pump need a queue?", "--no-folder", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    scene.into()
})];
