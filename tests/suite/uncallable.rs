//! A skill that only a person can call, with an executor that would have to find it by itself.

use std::fs;

use crate::blocked::run;
use crate::output_limit::{CALLS, with_claude};
use crate::scene::Scene;

/// Creates a skill that disables calls by models.
fn scene() -> Scene {
    let scene = with_claude("");
    let page = scene.skill("writer").join("SKILL.md");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replacen("---\n", "---\ndisable-model-invocation: true\n", 1)).unwrap();
    let one = |nth: u32| {
        format!(
            "[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nexpectations = [\"It is good.\"]\n"
        )
    };
    fs::write(scene.path("project/suite.toml"), (1..=9).map(one).collect::<String>()).unwrap();
    scene
}

const LINES: [&[&str]; 3] = [&["tune", "writer"], &["compare", "writer", "none"], &["calibrate", "writer"]];

fn with(scene: &Scene, line: &[&str], more: &[&str]) -> crate::scene::Ran {
    let own = ["--suite", "suite.toml", "--executor", "claude:opus", "--yes"];
    run(scene, &[line, &own, more].concat())
}

#[test]
fn a_skill_that_no_trial_would_use_is_refused_before_anything_is_paid_for() {
    let scene = scene();
    for line in LINES {
        let refused = with(&scene, line, &[]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
            error: no trial would use the skill writer: its front matter says `disable-model-invocation: true`
            caused by: claude loads such a skill only where the prompt calls it by its name
            hint: pass --delivery slash to call it by its name
            ");
        }
        assert!(!scene.path(CALLS).exists());
    }
}

#[test]
fn it_can_be_tried_where_the_prompt_calls_it_or_holds_its_text() {
    let scene = scene();
    for line in LINES {
        for delivery in ["slash", "inline"] {
            let shown = with(&scene, line, &["--delivery", delivery, "--dry-run"]);
            assert_eq!(shown.code, Some(0), "{shown:?}");
        }
    }
}
