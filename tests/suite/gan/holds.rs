//! A run that has not passed asks how to continue, and each answer has its effect.

use std::fs;

use serde_json::{Value, json};

use super::{ALL, CLEAR, PRICES, SHORT, WORKS, assert_replayed, build, building, json_file, version};
use crate::finished::Finished;
use crate::scene::{Ran, Scene};

/// Returns a scene whose run makes no progress for three rounds, and waits. The next build would pass.
fn standing_still() -> Scene {
    static STILL: Finished = Finished::new(|| standing_still_before(&ALL));
    STILL.scene()
}

/// Creates such a scene whose next build meets these criteria.
fn standing_still_before(next: &[&str]) -> Scene {
    let scene = building(&[&[WORKS], &[WORKS], &[WORKS], next]);
    let ran = build(&scene, &[]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(3), &json!("held")), "{}", ran.stderr);
    scene
}

fn answer(scene: &Scene, answer: &[&str]) -> Ran {
    let resume = ["resume", "--format", "json", "--answer"];
    scene.run(&[&resume[..], answer].concat())
}

fn outcome(ran: &Ran) -> (Option<i32>, Value) {
    (ran.code, ran.json()["outcome"].clone())
}

#[test]
fn forced_and_accepted_results_are_taken_and_are_not_reached() {
    for (name, said) in [("force", "forced"), ("accept", "accepted")] {
        let scene = standing_still();
        let ran = answer(&scene, &[name]);
        assert_eq!(outcome(&ran), (Some(3), json!(said)), "{}", ran.stderr);
        assert_eq!(ran.json()["answered_by"], "person");
        assert_eq!(version(&scene), Some(1), "the best of equals is the first");
        let report = scene.run(&["report"]).stdout;
        assert!(report.contains("a person"), "{report}");
        assert_replayed(&scene, &ran);
    }
}

#[test]
fn an_end_keeps_the_best_outside_of_the_folder_and_an_abort_takes_nothing() {
    let scene = standing_still();
    let ran = answer(&scene, &["end"]);
    assert_eq!(outcome(&ran), (Some(3), json!("short")), "{}", ran.stderr);
    assert!(ran.json()["result"].as_str().is_some() && version(&scene).is_none());
    let scene = standing_still();
    let ran = answer(&scene, &["abort"]);
    assert_eq!(outcome(&ran), (Some(3), json!("aborted")), "{}", ran.stderr);
    assert_eq!((ran.json()["result"].clone(), version(&scene)), (Value::Null, None));
    assert_replayed(&scene, &ran);
}

#[test]
fn guidance_reaches_the_builder_and_the_run_goes_on() {
    let scene = standing_still();
    let ran = answer(&scene, &["guide", "--with", "Show the prices in euros"]);
    assert_eq!(outcome(&ran), (Some(0), json!("passed")), "{}", ran.stderr);
    let prompts = scene.prompts();
    let has_guidance = |prompt: &String| prompt.contains("Show the prices in euros");
    assert_eq!(prompts.iter().filter(|prompt| has_guidance(prompt)).count(), 1, "the builder, and no judge");
    assert_replayed(&scene, &ran);
}

#[test]
fn another_dimension_comes_first_if_that_is_the_answer() {
    let scene = standing_still();
    let wrong = answer(&scene, &["refocus", "--with", "colour"]);
    assert_eq!(wrong.code, Some(3), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("it has substance, form"), "{}", wrong.stderr);
    let ran = answer(&scene, &["refocus", "--with", "form"]);
    assert_eq!(outcome(&ran), (Some(0), json!("passed")), "{}", ran.stderr);
    assert_eq!(json_file(&scene, "sprints/sprint-4.json")["priority_dimension"], "form");
}

#[test]
fn an_amendment_makes_another_contract_and_judges_the_best_again() {
    let scene = standing_still_before(&[WORKS, PRICES, CLEAR, "form.kind"]);
    let first = json_file(&scene, "sprints/sprint-1.json")["contract"].clone();
    let added = json!({ "id": "form.kind", "dimension": "form", "criterion": "It is kind.", "verification": "Read it." });
    let changes = json!([{ "drop": { "criterion": SHORT } }, { "add": added }]);
    fs::write(scene.path("project/changes.json"), changes.to_string()).unwrap();
    let ran = answer(&scene, &["amend", "--with", "changes.json"]);
    assert_eq!(outcome(&ran), (Some(0), json!("passed")), "{}", ran.stderr);
    let again = json_file(&scene, "iterations/iteration-4/evaluation-report-4.json");
    assert_eq!(again["sprint"], 1, "the best of the old series");
    assert_ne!(again["contract"], first);
    let sprint = json_file(&scene, "sprints/sprint-4.json");
    assert_eq!(sprint["contract"], again["contract"]);
    let added = &sprint["acceptance_checklist"][3];
    assert_eq!(
        (&added["id"], &added["origin"], &added["weight"]),
        (&json!("form.kind"), &json!("amended"), &json!(1))
    );
    assert_replayed(&scene, &ran);
}

#[test]
fn a_run_that_waits_says_why_and_which_answers_there_are() {
    let scene = building(&[&[WORKS], &[WORKS], &[WORKS]]);
    let ran = scene.run(&["gan", "brief.md", "--profile", "plain.yaml", "--into", "site", "--no-browser"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let output = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let question = "2 rounds in a row gained less than 5 points. How should the run continue?";
    assert!(output.contains(question), "{output}");
    for answer in ["end", "refocus --with DIMENSION", "guide --with TEXT", "amend --with FILE", "accept"] {
        assert!(
            output.contains(&format!("skilltune resume {} --answer {answer}", scene.run_id())),
            "{output}"
        );
    }
    let status = scene.run(&["status"]).stdout;
    assert!(status.contains("round") && status.contains("3 of 5"), "{status}");
}

#[test]
fn an_answer_that_does_not_fit_changes_nothing() {
    let scene = standing_still();
    for (wrong, why) in [
        (&["guide"][..], "add --with TEXT"),
        (&["apply"], "asks how to continue"),
        (&["amend", "--with", "nowhere.json"], "cannot use the changes"),
    ] {
        let ran = answer(&scene, wrong);
        assert_eq!(ran.code, Some(2), "{wrong:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{wrong:?}: {}", ran.stderr);
    }
    assert_eq!(scene.run(&["status", "--format", "json"]).json()["outcome"], "held");
}

#[test]
fn an_escalation_takes_no_end_and_the_last_round_no_other_focus() {
    let scene = building(&[&[CLEAR], &[CLEAR, WORKS], &[CLEAR, WORKS], &ALL]);
    let ran = build(&scene, &["--threshold", "100", "--max-rounds", "4"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let wrong = answer(&scene, &["end"]);
    assert!(
        wrong.code == Some(3) && wrong.stderr.contains("is not an answer to this question"),
        "{}",
        wrong.stderr
    );
    let scene = building(&[&[CLEAR]]);
    assert_eq!(build(&scene, &["--max-rounds", "1"]).code, Some(3));
    let wrong = answer(&scene, &["refocus", "--with", "form"]);
    assert!(
        wrong.code == Some(3) && wrong.stderr.contains("is not an answer to this question"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn an_answer_that_goes_on_raises_the_limit_of_calls_that_nobody_set() {
    let scene = building(&[&[CLEAR], &ALL]);
    scene.write_settings("[gan]\nretries = 0\n");
    assert_eq!(build(&scene, &["--max-rounds", "1"]).code, Some(3));
    let ran = answer(&scene, &["guide", "--with", "Show the prices"]);
    assert_eq!(outcome(&ran), (Some(0), json!("passed")), "{}", ran.stderr);
}
