//! Tests the settings of the original loop, which a project has in `.moai/config/sections/design.yaml`.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{ALL, BUILD, WORKS, build, building, folder, json_file};
use crate::scene::Scene;

/// All keys of the original's own file, with the values that it ships.
const ORIGINAL: &str = "\
design:
  enabled: true
  version: 1.0.0
  default_framework: next.js
  gan_loop:
    max_iterations: 5
    pass_threshold: 0.75
    escalation_after: 3
    improvement_threshold: 0.05
    strict_mode: false
    sprint_contract:
      enabled: true
      artifact_dir: .moai/sprints
      max_negotiation_rounds: 2
      required_harness_levels: [thorough]
      optional_harness_levels: [standard]
  evaluator:
    memory_scope: per_iteration
  adaptation:
    enabled: true
    confidence_threshold: 0.7
    min_projects_for_adaptation: 5
    iteration_limits: {builder: 3, copywriter: 3, designer: 2}
  brand_context: {dir: .moai/project/brand, interview_on_first_run: true}
  claude_design: {enabled: true, fallback_path: code_based, supported_bundle_versions: ['1.0']}
  figma: {enabled: false}
  evolution:
    archive_after_evolve: true
    auto_evolve_threshold: 3
    cooldown_hours: 24
    max_active_learnings: 50
    max_evolution_rate_per_week: 3
    require_approval: true
    graduation_criteria: {consistency_ratio: 0.8, minimum_confidence: 0.8, minimum_observations: 5, staleness_window_days: 30}
";
const TRUSTING: [&str; 8] =
    ["gan", "brief.md", "--profile", "plain.yaml", "--into", "site", "--no-browser", "--trust"];
const PLACE: &str = ".moai/config/sections/design.yaml";

fn write(scene: &Scene, text: &str) {
    let path = scene.path("project").join(PLACE);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn trust(scene: &Scene) -> String {
    let ran = scene.run(&["trust", PLACE]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stderr
}

/// Returns what a dry run shows.
fn sketch(scene: &Scene, more: &[&str]) -> Value {
    let ran = scene.run(&[&BUILD[..], &["--dry-run"], more].concat());
    assert_eq!(ran.code, Some(0), "{more:?}: {}", ran.stderr);
    ran.json()
}

/// Returns the notes that are about settings.
fn notes(sketch: &Value) -> String {
    let notes = sketch["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
    let is_of_settings = |note: &&str| note.contains("design.yaml") || note.contains("--contract");
    notes.filter(is_of_settings).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_originals_own_file_decides_at_each_level_whether_a_contract_is_agreed_on() {
    let scene = building(&[&ALL]);
    write(&scene, ORIGINAL);
    assert!(trust(&scene).contains("  max_iterations 5\n"));
    for (level, more, is_negotiated, effect) in [
        ("minimal", &[][..], false, ""),
        ("minimal", &["--contract"], false, "at level minimal no contract is agreed on"),
        ("standard", &[], false, ""),
        ("standard", &["--contract"], true, ""),
        ("thorough", &[], true, ""),
        ("thorough", &["--contract"], true, "at level thorough a contract is always agreed on"),
    ] {
        let sketch = sketch(&scene, &[&["--level", level][..], more].concat());
        assert_eq!(sketch["negotiated"], json!(is_negotiated), "{level} {more:?}");
        let notes = notes(&sketch);
        assert!(notes.contains(&format!("{PLACE} sets max_iterations 5")), "{notes}");
        assert!(!notes.contains("unknown keys") && !notes.contains("memory_scope"), "{notes}");
        let named = notes.lines().find(|note| note.starts_with("--contract has no effect"));
        assert_eq!(named.is_some(), !effect.is_empty(), "{level} {more:?}: {notes}");
        assert!(notes.contains(effect), "{notes}");
    }
}

#[test]
fn the_file_is_used_only_while_a_person_trusts_it() {
    let scene = building(&[&ALL]);
    let file = ORIGINAL.replace("max_iterations: 5", "max_iterations: 2");
    write(&scene, &file);
    let rounds = |more: &[&str]| {
        let sketch = sketch(&scene, more);
        (sketch["rules"]["max_rounds"].as_u64().unwrap(), notes(&sketch))
    };
    let (unused, said) = rounds(&[]);
    assert_eq!(unused, 5, "{said}");
    assert!(said.contains("is not used, because you do not trust it: it sets max_iterations 2"), "{said}");
    assert!(said.contains("`skilltune trust /"), "{said}");
    assert_eq!(rounds(&["--trust"]).0, 2, "for this run");
    let shown = || scene.run(&["config", "show"]).stdout;
    let row = |shown: &str| shown.lines().find(|row| row.starts_with("gan.max_rounds ")).unwrap().to_owned();
    assert!(row(&shown()).ends_with(" default"));
    trust(&scene);
    assert!(row(&shown()).ends_with(PLACE), "{}", shown());
    assert_eq!(rounds(&[]).0, 2);
    assert_eq!(rounds(&["--max-rounds", "4"]).0, 4, "flags go over it");
    fs::write(scene.path("project/skilltune.toml"), "[gan]\nmax_rounds = 3\n").unwrap();
    assert_eq!(rounds(&[]).0, 3, "and so does the project's own file");
    fs::remove_file(scene.path("project/skilltune.toml")).unwrap();
    write(&scene, &file.replace("max_iterations: 2", "max_iterations: 9"));
    assert_eq!(rounds(&[]).0, 5, "it is not the file that was trusted");
}

#[test]
fn a_trusted_file_below_the_floor_is_refused_and_one_that_is_not_trusted_changes_nothing() {
    let scene = building(&[&ALL]);
    write(&scene, "design: {gan_loop: {pass_threshold: 0.59}}\n");
    assert_eq!(sketch(&scene, &[])["rules"]["threshold"], json!(75.0));
    let said = scene.refusal(&TRUSTING);
    assert!(said.contains("gan_loop.pass_threshold: must be from 0.60 to 1.00"), "{said}");
    assert_eq!(scene.run(&["trust", PLACE]).code, Some(2), "and is not trusted");
    write(&scene, "design: {gan_loop: {strict_mode: true, max_iterations: 1}}\n");
    let said = scene.refusal(&TRUSTING);
    assert!(said.contains(&format!("the settings of [gan] and of {PLACE}")), "{said}");
}

#[test]
fn sprints_and_evaluations_are_in_its_artifact_dir_too() {
    let scene = building(&[&[WORKS], &ALL]);
    write(&scene, &ORIGINAL.replace("pass_threshold", "pass_threshhold"));
    trust(&scene);
    let ran = build(&scene, &["--yes"]);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(2)), "{ran:?}");
    let notes = ran.json()["notes"].to_string();
    assert!(notes.contains("unknown keys, which do nothing: gan_loop.pass_threshhold"), "{notes}");
    let kept = scene.path("project/.moai/sprints").join(scene.run_id());
    let same = |name: &str, below: &str| {
        let [here, there] = [kept.join(name), folder(&scene).join(below)].map(|path| fs::read(path).unwrap());
        assert!(here == there, "{name}");
    };
    for (number, score) in [(1, 0.25), (2, 1.0)] {
        same(&format!("sprint-{number}.json"), &format!("sprints/sprint-{number}.json"));
        let name = format!("evaluation-report-{number}.json");
        same(&name, &format!("iterations/iteration-{number}/{name}"));
        let sprint = json_file(&scene, &format!("sprints/sprint-{number}.json"));
        assert_eq!((&sprint["iteration"], &sprint["score"]), (&json!(number), &json!(score)));
    }
    let report = scene.run(&["report"]).stdout;
    assert!(report.contains(&format!(".moai/sprints/{}/", scene.run_id())), "{report}");
    for object in [&ran.json(), &json_file(&scene, "report.json")] {
        assert_eq!(object["sprints"], json!(kept), "{object}");
    }
}

#[test]
fn an_artifact_dir_behind_a_symlink_is_refused_before_anything_is_paid_for() {
    let scene = building(&[&ALL]);
    fs::create_dir(scene.path("elsewhere")).unwrap();
    symlink(scene.path("elsewhere"), scene.path("project/out")).unwrap();
    for (dir, why) in [("out", "out is a symlink or a file"), ("../elsewhere", "a folder inside the project")]
    {
        write(&scene, &format!("gan_loop: {{sprint_contract: {{artifact_dir: {dir}}}}}\n"));
        let said = scene.refusal(&TRUSTING);
        assert!(said.contains(why), "{dir}: {said}");
    }
    assert!(fs::read_dir(scene.path("elsewhere")).unwrap().next().is_none());
}

#[test]
fn levels_of_its_own_decide_and_a_contract_that_is_switched_off_can_still_be_asked_for() {
    let scene = building(&[&ALL]);
    let negotiated = |file: &str, more: &[&str]| {
        write(&scene, file);
        sketch(&scene, &[&["--trust"][..], more].concat())["negotiated"].clone()
    };
    let own =
        "gan_loop: {sprint_contract: {required_harness_levels: [minimal], optional_harness_levels: []}}\n";
    assert_eq!(negotiated(own, &["--level", "minimal"]), true);
    assert_eq!(negotiated(own, &["--contract"]), false);
    assert_eq!(negotiated(own, &["--level", "thorough"]), false);
    let off = "gan_loop: {sprint_contract: {enabled: false}}\n";
    assert_eq!(negotiated(off, &["--level", "thorough"]), false);
    assert_eq!(negotiated(off, &["--level", "thorough", "--contract"]), true);
    scene.write_settings("[gan]\ncontract = true\n");
    assert_eq!(negotiated(off, &[]), false, "the file goes over the user's settings");
}
