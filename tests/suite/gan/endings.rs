//! Tests each way in which a run of `gan` ends by itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::{
    ALL, CLEAR, PRICES, SHORT, WORKS, assert_replayed, build, building, folder, json_file, judged, page,
    playing, version,
};

#[test]
fn what_passes_at_once_is_put_into_the_folder() {
    let scene = building(&[&ALL]);
    let ran = build(&scene, &["--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let summary = ran.json();
    assert_eq!(summary["outcome"], "passed");
    assert_eq!(
        (&summary["score"], &summary["rounds"], &summary["promoted"]),
        (&json!(100.0), &json!(1), &json!(true))
    );
    assert_eq!(version(&scene), Some(1));
    assert_replayed(&scene, &ran);
}

#[test]
fn a_strict_run_passes_in_its_second_round_at_the_earliest() {
    let scene = building(&[&ALL, &ALL]);
    let ran = build(&scene, &["--yes", "--strict"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.json()["rounds"], 2);
    let first = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    assert_eq!(first["kept_from_passing_by"], json!(["a strict run judges at least 2 rounds"]));
    assert_replayed(&scene, &ran);
}

/// The builder may have no more work: a strict run still asks for a second judgement.
#[test]
fn what_the_builder_leaves_as_it_is_is_judged_anew_in_each_round() {
    let page = |met: &[&str]| met.iter().map(|id| format!("<p>met: {id}</p>")).collect::<Vec<_>>().join("\n");
    let scene = playing(&json!({ "pages": [page(&ALL)] }));
    let words = ["gan", "brief.md", "--profile", "plain.yaml", "--into", "site", "--no-browser", "--yes"];
    let ran = scene.run(&[&words[..], &["--strict"]].concat());
    assert_eq!((ran.code, judged(&scene).len()), (Some(0), 2), "{}", ran.stderr);
    assert!(ran.stderr.contains("the builder has changed nothing"), "{}", ran.stderr);
    let sprint = json_file(&scene, "sprints/sprint-1.json");
    assert_eq!(sprint["acceptance_checklist"][0]["status"], "passed");
    let scene = playing(&json!({ "pages": [page(&[WORKS])] }));
    let ran = build(&scene, &["--yes"]);
    assert_eq!(
        (ran.code, &ran.json()["outcome"], judged(&scene).len()),
        (Some(3), &json!("short"), 3),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.json()["rounds"], 3);
    assert!(scene.run(&["report"]).stdout.contains("gained less than"));
    assert_replayed(&scene, &ran);
}

#[test]
fn a_must_pass_criterion_ends_in_a_gate_however_high_the_score() {
    // Three quarters of one dimension and all of the other: 87.5 of 75.
    let scene = building(&[&[PRICES, CLEAR, SHORT]]);
    let ran = build(&scene, &["--yes", "--max-rounds", "1"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let summary = ran.json();
    assert_eq!((&summary["outcome"], &summary["score"]), (&json!("short"), &json!(87.5)));
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    assert_eq!(report["kept_from_passing_by"], json!(["substance.works must pass, but failed"]));
    assert_eq!(version(&scene), None, "what has not passed goes nowhere");
    assert_replayed(&scene, &ran);
}

#[test]
fn a_round_says_why_it_does_not_pass_and_the_end_why_a_higher_score_did_not_count() {
    let scene = building(&[&[WORKS], &[PRICES, CLEAR, SHORT]]);
    let line = ["gan", "brief.md", "--profile", "plain.yaml", "--into", "site", "--no-browser", "--yes"];
    let ran = scene.run(&[&line[..], &["--max-rounds", "2"]].concat());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let unwrapped = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let talk = unwrapped(&ran.stderr);
    for line in [
        "round 1 of 2: not passed (the score is 25, but must reach 75); score 25,",
        "round 2 of 2: not passed (substance.works must pass, but failed; substance.works passed before, but no longer does); score 87.5,",
    ] {
        assert!(talk.contains(line), "{line}: {talk}");
    }
    let why = "substance.works must pass, but failed; substance.works passed before, but no longer does";
    let sentence = format!("ighest score: round 2, 87.5; it did not count: {why}");
    assert!(unwrapped(&ran.stdout).contains(&sentence), "{}", ran.stdout);
    let report = scene.run(&["report"]).stdout;
    assert!(report.contains(&sentence), "{report}");
    let higher = &scene.run(&["status", "--format", "json"]).json()["higher_score"];
    assert_eq!((&higher["round"], &higher["score"]), (&json!(2), &json!(87.5)));
    assert_eq!(higher["did_not_count"].as_array().unwrap().len(), 2);
}

#[test]
fn what_had_passed_and_fell_is_a_gate_and_the_next_build_goes_on_from_the_best() {
    let first: &[&str] = &[WORKS, CLEAR];
    let second: &[&str] = &[WORKS, PRICES, SHORT];
    let scene = building(&[first, second, &ALL]);
    let ran = build(&scene, &["--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json_file(&scene, "iterations/iteration-2/evaluation-report-2.json");
    assert_eq!(report["regressions"], json!([CLEAR]));
    assert_eq!(scene.run(&["export", &scene.run_id(), "2", "second"]).code, Some(0));
    let second = fs::read_to_string(scene.path("project/second/index.html")).unwrap();
    assert!(second.contains("Version 2"), "{second}");
    assert_eq!(report["kept_from_passing_by"], json!(["form.clear passed before, but no longer does"]));
    assert_eq!(version(&scene), Some(3));
    assert_replayed(&scene, &ran);
}

#[test]
fn an_anti_pattern_caps_its_dimension() {
    let padded = [&ALL[..], &["shows: form.padding"]].concat();
    let scene = building(&[&padded]);
    let ran = build(&scene, &["--yes", "--max-rounds", "1", "--minimums", "form=75"]);
    assert_eq!((ran.code, &ran.json()["score"]), (Some(3), &json!(75.0)), "{}", ran.stderr);
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    assert_eq!(report["kept_from_passing_by"], json!(["form is at 50, but must reach 75"]));
    assert_eq!(report["dimensions"][1]["capped_by"], json!(["form.padding"]));
    assert_eq!(report["dimensions"][1]["level_cited_by_the_evaluator"], json!(1.0));
}

#[test]
fn two_rounds_without_gain_end_a_run_that_nobody_watches() {
    let scene = building(&[&[WORKS], &[WORKS], &[WORKS]]);
    let ran = build(&scene, &["--yes"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let summary = ran.json();
    assert_eq!((&summary["outcome"], &summary["rounds"]), (&json!("short"), &json!(3)));
    assert_eq!(summary["answered_by"], "default");
    assert_eq!(version(&scene), None);
    assert_replayed(&scene, &ran);
}

#[test]
fn the_last_round_ends_a_run_that_gains_and_does_not_pass() {
    let scene = building(&[&[CLEAR], &[CLEAR, WORKS], &[CLEAR, WORKS]]);
    let ran = build(&scene, &["--yes", "--max-rounds", "2"]);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(3), &json!(2)), "{}", ran.stderr);
    let report = fs::read_to_string(folder(&scene).join("final-report.md")).unwrap();
    assert!(report.contains("**MAX ROUNDS**"), "{report}");
    let result = ran.json()["result"].as_str().unwrap().to_owned();
    assert!(fs::read_to_string(format!("{result}/index.html")).unwrap().contains("Version 2"));
}

#[test]
fn an_escalation_that_nobody_answers_goes_on_with_another_dimension() {
    let scene = building(&[&[CLEAR], &[CLEAR, WORKS], &[CLEAR, WORKS, PRICES], &ALL]);
    let ran = build(&scene, &["--yes", "--threshold", "100"]);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(4)), "{}", ran.stderr);
    assert_eq!(ran.json()["answered_by"], "default");
    let third = json_file(&scene, "sprints/sprint-3.json");
    let fourth = json_file(&scene, "sprints/sprint-4.json");
    assert_ne!(third["priority_dimension"], fourth["priority_dimension"]);
}

#[test]
fn a_pass_that_a_second_judge_does_not_see_is_none_at_level_thorough() {
    let play = json!({
        "builds": [ALL],
        "drafted": [{
            "id": "form.polite", "dimension": "form", "criterion": "It is polite.", "verification": "Read.",
            "must_pass": false, "weight": 1,
        }],
        "second": { "form.short": "failed" },
    });
    let scene = playing(&play);
    let ran = build(&scene, &["--yes", "--level", "thorough", "--max-rounds", "1"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    assert_eq!((&report["judged_twice"], &report["verdict"]), (&json!(true), &json!("fail")));
    assert_eq!(
        (&report["overall"], &report["judgements_apart"]),
        (&json!(0.625), &json!(0.25)),
        "the lower stands"
    );
}

#[test]
fn a_judge_whose_answers_nobody_can_use_ends_the_run() {
    let scene = playing(&json!({ "rubbish": ["judge"], "builds": [ALL] }));
    let ran = build(&scene, &["--yes"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(4), &json!("unjudged")), "{}", ran.stderr);
    assert_eq!(page(&scene), None);
    assert_replayed(&scene, &ran);
}

#[test]
fn settings_that_an_agent_would_act_on_are_no_part_of_what_is_built() {
    let acting = |path: &str| format!("agents, editors or shells read {path} by themselves");
    for (path, why) in [
        (".claude/settings.json", acting(".claude/settings.json")),
        ("AGENTS.md", acting("AGENTS.md")),
        ("docs/Claude.md", acting("docs/Claude.md")),
        (".bashrc", acting(".bashrc")),
        ("opencode.jsonc", acting("opencode.jsonc")),
        ("mise.toml", acting("mise.toml")),
        ("git~1/config", "would make a git repository".to_owned()),
        (".g\u{200c}it/config", "would make a git repository".to_owned()),
    ] {
        let scene = playing(&json!({ "pages": ["<p>x</p>"], "leaves": path }));
        let ran = build(&scene, &["--yes"]);
        assert_eq!(
            (ran.code, &ran.json()["outcome"]),
            (Some(4), &json!("unjudged")),
            "{path}: {}",
            ran.stderr
        );
        let report = scene.run(&["report"]).stdout;
        assert!(report.contains(&why), "{path}: {report}");
        assert_eq!(page(&scene), None);
    }
}

#[test]
fn a_set_id_bit_of_a_builder_is_not_put_into_the_folder_and_a_persons_own_stays() {
    let scene = playing(&json!({ "builds": [ALL], "leaves": "tool", "leaves_mode": 0o6755 }));
    let (site, own) = (scene.path("project/site"), scene.path("project/site/own"));
    fs::create_dir(&site).unwrap();
    fs::write(&own, "mine").unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o2750)).unwrap();
    let ran = build(&scene, &["--yes"]);
    assert_eq!((ran.code, version(&scene)), (Some(0), Some(1)), "{}", ran.stderr);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&site.join("tool")), mode(&own)), (0o755, 0o2750));
}

#[test]
fn a_run_that_began_with_yes_answers_by_default_when_it_is_taken_up() {
    let scene = building(&[&[WORKS], &[WORKS], &[WORKS]]);
    let ran = build(&scene, &["--yes", "--max-calls", "3"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    let ran = scene.run(&["resume", "--max-calls", "20", "--format", "json"]);
    let summary = ran.json();
    assert_eq!(
        (&summary["outcome"], &summary["answered_by"]),
        (&json!("short"), &json!("default")),
        "{ran:?}"
    );
}

#[test]
fn a_ceiling_pauses_a_run_and_a_higher_one_goes_on() {
    let scene = building(&[&[WORKS, PRICES, CLEAR], &ALL]);
    let ran = build(&scene, &["--yes", "--max-calls", "3", "--threshold", "100"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    let ran = scene.run(&["resume", "--yes", "--max-calls", "10", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("passed")), "{}", ran.stderr);
    assert_eq!(version(&scene), Some(2));
}
