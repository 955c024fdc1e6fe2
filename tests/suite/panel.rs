//! The judges of a final comparison, from outside: who is reliable, who replaces them, and who decides close cases.

use std::fs;

use serde_json::{Value, json};

use crate::scene::{FAKE_AGENT, Ran, Scene};

/// Creates a scene with six scenarios of four statements each: 50 meets three of them, and 80 all.
pub(crate) fn scene(judge: &str) -> Scene {
    let scene =
        Scene::new(&[("writer", 50)], &json!({ "improve": { "writer": { "50": 80 } }, "judges": judge }));
    let demands = [10, 20, 30, 60].map(|least| format!("\"Its quality is at least {least}.\"")).join(", ");
    let one = |nth: u32| {
        format!("[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nexpectations = [{demands}]\n")
    };
    fs::write(scene.path("project/suite.toml"), (1..=6).map(one).collect::<String>()).unwrap();
    for (name, judge) in [("honest", "honest"), ("credulous", "all_true")] {
        let script = scene.path(&format!("{name}.json"));
        fs::write(&script, json!({ "judges": judge, "log": scene.path("panel.log") }).to_string()).unwrap();
        let agent = format!(
            "[agents.{name}]\ncommand = [{FAKE_AGENT:?}, \"evaluator\", {:?}]\n\n",
            script.display().to_string()
        );
        let settings = scene.path("config/skilltune/skilltune.toml");
        fs::write(&settings, fs::read_to_string(&settings).unwrap() + &agent).unwrap();
    }
    scene
}

pub(crate) fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let line =
        ["tune", "writer", "--suite", "suite.toml", "--yes", "--max-iterations", "2", "--confidence", "0.8"];
    scene.run(&[&line[..], more].concat())
}

fn report(scene: &Scene) -> Value {
    let text = fs::read_to_string(scene.run_folder().join("report.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["comparison"].clone()
}

fn counted(scene: &Scene) -> Vec<(String, bool)> {
    let judges = report(scene)["judges"].as_array().unwrap().clone();
    judges.iter().map(|one| (one["agent"].as_str().unwrap().to_owned(), one["counted"] == true)).collect()
}

#[test]
fn a_judge_that_believes_what_it_is_told_of_files_is_named_and_decides_nothing() {
    let scene = scene("believes_files");
    let ran = tune(&scene, &[]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(4), 50), "{ran:?}");
    assert!(
        ran.stderr
            .contains("the verdicts of evaluator do not count: it was wrong or silent on 6 of 12 statements"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("INDECISIVE, no judge is reliable"), "{ran:?}");
    assert_eq!(counted(&scene), [("evaluator".to_owned(), false)]);
}

#[test]
fn the_next_of_a_panel_takes_the_place_of_a_judge_that_is_not_believed() {
    let scene = scene("believes_files");
    let ran = tune(&scene, &["--panel", "honest"]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 80), "{ran:?}");
    assert_eq!(report(&scene)["verdict"], "win");
    assert_eq!(counted(&scene), [("evaluator".to_owned(), false), ("honest".to_owned(), true)]);
    let page = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(page.contains("the verdicts of evaluator do not count"), "{page}");
    assert!(page.contains("judge honest: right on 6 of 6 statements"), "{page}");
}

#[test]
fn a_whole_panel_judges_what_is_close_and_its_agreement_is_told() {
    let scene = scene("honest");
    let ran = tune(&scene, &["--panel", "honest,credulous"]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 80), "{ran:?}");
    let panel = report(&scene);
    assert_eq!(panel["close"].as_array().unwrap().len(), panel["pairs"].as_array().unwrap().len(), "{panel}");
    let expected = [("evaluator", true), ("honest", true), ("credulous", false)];
    assert_eq!(counted(&scene), expected.map(|(agent, counts)| (agent.to_owned(), counts)));
    assert_eq!(panel["agreement"], 1.0);
}

#[test]
fn more_judges_than_there_are_seats_are_refused() {
    let scene = scene("honest");
    let ran = tune(&scene, &["--panel", "honest,honest,credulous"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("at most 2 agents can judge besides the evaluator"), "{ran:?}");
}
