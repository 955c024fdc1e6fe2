//! Chains: files are passed on, the weakest member is improved, and all members are one candidate.

use std::fs;

use serde_json::{Value, json};

use crate::finished::Finished;
use crate::scene::{Scene, listing};

pub(crate) fn script() -> Value {
    json!({ "improve": {
        "outline": { "90": 95 },
        "writer": { "40": 60, "60": 92 },
        "editor": { "70": 91 },
    } })
}

pub(crate) const SKILLS: [(&str, u32); 3] = [("outline", 90), ("writer", 40), ("editor", 70)];

/// Returns a scene in which a chain was tuned until it was good.
pub(crate) fn chained() -> Scene {
    static CHAINED: Finished = Finished::new(|| {
        let scene = Scene::new(&SKILLS, &script());
        let ran = scene.tune("outline,writer,editor", &["--chain"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        scene
    });
    CHAINED.scene()
}

/// Returns a scene in which the second member of a chain failed.
pub(crate) fn failed() -> Scene {
    static FAILED: Finished = Finished::new(|| {
        let mut script = script();
        script["executor_fails_at"] = json!([40]);
        let scene = Scene::new(&SKILLS, &script);
        let ran = scene.tune("outline,writer,editor", &["--chain"]);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        scene
    });
    FAILED.scene()
}

fn artifact(scene: &Scene, round: u32, member: &str) -> String {
    let path = format!("iterations/iteration-{round}/artifacts/{member}/scenario-1/1/out.md");
    fs::read_to_string(scene.run_folder().join(path)).unwrap()
}

#[test]
fn each_member_works_on_the_files_of_the_one_before() {
    let scene = chained();
    assert_eq!(
        artifact(&scene, 1, "editor"),
        "made by editor with quality 70\nfrom: made by writer with quality 40\nfrom: made by outline with quality 90\n"
    );
}

#[test]
fn the_weakest_member_is_improved_until_the_chain_is_good_and_all_are_promoted_together() {
    let scene = chained();
    let focus: Vec<_> =
        scene.events("decided").iter().filter_map(|decision| decision.get("focus").cloned()).collect();
    assert_eq!(focus, [json!(1), json!(2)]);
    assert_eq!([scene.quality("outline"), scene.quality("writer"), scene.quality("editor")], [90, 92, 91]);
    let chain_scores = &scene.state()["iterations"][0]["evaluation"]["chain_scores"];
    assert!(chain_scores["writer"].as_f64() < chain_scores["editor"].as_f64(), "{chain_scores}");
}

#[test]
fn every_round_tells_its_number_each_members_score_and_what_the_judges_said() {
    let scene = Scene::new(&SKILLS, &script());
    let ran = scene.run(&["tune", "outline,writer,editor", "--chain", "--max-iterations", "2", "a task"]);
    let rounds: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("round ")).collect();
    assert!(rounds[0].starts_with("round 1 of 2 ") && rounds[1].starts_with("round 2 of 2 "), "{ran:?}");
    let members: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("  outline ")).collect();
    let state = scene.state();
    let score = |round: usize, member: &str| {
        let score = &state["iterations"][round]["evaluation"]["chain_scores"][member];
        format!("{:.1}", score.as_f64().unwrap())
    };
    let member_line = |round: usize, reused: &str| {
        let [outline, writer, editor] = ["outline", "writer", "editor"].map(|member| score(round, member));
        format!("  outline {outline}{reused} -> writer {writer} -> editor {editor}")
    };
    assert_eq!(members, [member_line(0, ""), member_line(1, " (reused)")], "{ran:?}");
    let notes: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("  1 suggestion; strength: SKILL.md states its quality; weakness: "))
        .collect();
    assert_eq!(notes.len(), 2, "{ran:?}");
}

#[test]
fn an_unchanged_upstream_member_is_not_run_again() {
    let scene = chained();
    let runs = scene.events("done").into_iter().filter(|done| {
        done["step"]["exercise"]["member"] == 0 && done["step"]["exercise"]["trial"]["ordinal"] == 0
    });
    assert_eq!(runs.count(), 1);
}

#[test]
fn a_member_that_fails_stops_its_followers_of_that_round() {
    let scene = failed();
    let members: Vec<_> =
        scene.events("done").iter().map(|done| done["step"]["exercise"]["member"].clone()).collect();
    assert!(members.iter().all(|member| member == 0 || member == 1), "{members:?}");
    let executions = &scene.state()["iterations"][0]["execution"]["chain_executions"];
    let results = executions.as_array().unwrap().iter();
    let results: Vec<_> = results.map(|one| (one["skill_name"].clone(), one["success"].clone())).collect();
    assert_eq!(
        results,
        [("outline", true), ("writer", false), ("editor", false)]
            .map(|(name, ran)| (json!(name), json!(ran)))
    );
}

/// Tunes a chain on twelve scenarios. Each has one statement: what `broken` adds to the last member's output.
fn searched(broken: &str, script: &Value) -> Scene {
    let quality = |name| if name == broken { 20 } else { 90 };
    let scene = Scene::new(&["outline", "writer", "editor"].map(|name| (name, quality(name))), script);
    let one = |nth: u32| {
        let statement = format!("The result says \\\"made by {broken} with quality 80\\\".");
        format!(
            "[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nexpectations = [\"{statement}\"]\n"
        )
    };
    fs::write(scene.path("project/suite.toml"), (1..=12).map(one).collect::<String>()).unwrap();
    let line =
        ["tune", "outline,writer,editor", "--chain", "--suite", "suite.toml", "--yes", "--format", "json"];
    let ran = scene.run(&[&line[..], &["--runs", "72"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    scene
}

#[test]
fn a_member_that_the_judge_names_is_edited_first_though_the_statement_is_about_the_last() {
    let scene =
        searched("outline", &json!({ "improve": { "outline": { "20": 80 } }, "at_fault": "outline" }));
    let decided = scene.events("decided");
    let members: Vec<&Value> = decided.iter().filter_map(|one| one["target"].get("member")).collect();
    assert_eq!(members[0], &json!(0), "{decided:?}");
    assert_eq!(["outline", "writer", "editor"].map(|name| scene.quality(name)), [80, 90, 90]);
    let text = fs::read(scene.run_folder().join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&text).unwrap();
    let first = &report["rounds"][0];
    assert_eq!(first["edited_member"], "outline");
    let at_fault = &first["targets"][0]["at_fault"];
    let share = |name: &str| at_fault[name].as_f64().unwrap();
    assert!(share("outline") > share("writer") && share("outline") > share("editor"), "{at_fault}");
    let page = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(page.contains("- **At Fault**: outline "), "{page}");
}

#[test]
fn a_search_by_single_trials_runs_no_member_again_that_is_before_the_edited_one() {
    let scene = searched("editor", &json!({ "improve": { "editor": { "20": 80 } }, "at_fault": "editor" }));
    assert_eq!(["outline", "writer", "editor"].map(|name| scene.quality(name)), [90, 90, 80]);
    let done = scene.events("done");
    let searched = done.iter().map(|one| &one["step"]["exercise"]);
    let searched: Vec<&Value> = searched.filter(|one| one["trial"]["ordinal"] == 0).collect();
    let scenarios = |member: u32| {
        let of_member = searched.iter().filter(|one| one["member"] == member);
        of_member.map(|one| one["trial"]["scenario"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let (mut first, last) = (scenarios(0), scenarios(2));
    assert!(first.len() < last.len(), "the last one is tried again: {first:?} {last:?}");
    first.sort_unstable();
    assert!(first.is_sorted_by(|one, next| one < next), "the first one is run once on each: {first:?}");
}

#[test]
fn words_alone_are_no_artifact_in_a_chain() {
    let mut script = script();
    script["words_only"] = json!(true);
    let scene = Scene::new(&SKILLS, &script);
    let ran = scene.tune("outline,writer,editor", &["--chain"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let members: Vec<_> =
        scene.events("done").iter().map(|done| done["step"]["exercise"]["member"].clone()).collect();
    assert!(members.iter().all(|member| member == 0), "nothing is handed on: {members:?}");
    let state = scene.state();
    let error = (&state["errors"][0]["kind"], &state["errors"][0]["message"]);
    assert_eq!(error, (&json!("empty"), &json!("it left no files; in a chain, words alone do not count")));
}

#[test]
fn several_skills_without_a_chain_are_tuned_one_by_one() {
    let scene = Scene::new(&SKILLS, &script());
    let ran = scene.tune("writer,editor", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(scene.run_folders().len(), 2);
    assert_eq!([scene.quality("writer"), scene.quality("editor")], [92, 91]);
}

#[test]
fn a_chain_that_loses_leaves_every_member_as_it_was() {
    let script = json!({ "improve": { "writer": { "40": 20 }, "outline": {}, "editor": {} } });
    let scene = Scene::new(&SKILLS, &script);
    let before: Vec<_> = SKILLS.iter().map(|(name, _)| listing(&scene.skill(name))).collect();
    let ran = scene.tune("outline,writer,editor", &["--chain", "--max-iterations", "2"]);
    assert_eq!(ran.json()["outcome"], "unchanged");
    let after: Vec<_> = SKILLS.iter().map(|(name, _)| listing(&scene.skill(name))).collect();
    assert_eq!(before, after);
}
