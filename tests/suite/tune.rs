//! Tuning one skill, from the first measurement to the final comparison.

use std::fs;

use serde_json::{Value, json};

use crate::finished::won;
use crate::scene::{Scene, listing, survivors};

/// A rising quality, with one draft far below the best.
fn rising() -> Value {
    json!({ "improve": { "writer": { "40": 60, "60": 30, "30": 75, "75": 90 } } })
}

#[test]
fn a_better_draft_is_kept_a_worse_one_dropped_and_the_champion_replaces_the_target() {
    let script = json!({ "improve": { "writer": { "40": 25, "25": 60 } }, "style": "in_place" });
    let scene = Scene::new(&[("writer", 40)], &script);
    let before = listing(&scene.skill("writer"));
    let ran = scene.tune("writer", &["--max-iterations", "2"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let result = ran.json();
    assert_eq!((&result["outcome"], &result["rejected"]), (&json!("unchanged"), &json!(1)), "{result}");
    assert_eq!(listing(&scene.skill("writer")), before, "nothing ships that has not beaten the start");
}

#[test]
fn a_goal_that_is_reached_ends_the_run_with_zero_and_the_target_is_the_champion() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let ran = scene.tune("writer", &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let result = ran.json();
    assert_eq!(survivors(result["run_id"].as_str().unwrap()), [0_u32; 0], "nothing outlives its run");
    assert_eq!(result["outcome"], "improved");
    assert_eq!(result["reason"], "reached");
    assert_eq!((&result["iterations"], &result["accepted"]), (&json!(3), &json!(2)));
    assert!(result["final_score"].as_f64() > result["initial_score"].as_f64());
    assert_eq!(scene.quality("writer"), 90);
    assert_eq!(fs::read_to_string(scene.skill("writer").join("notes.md")).unwrap(), "now 90\n");
}

#[test]
fn a_draft_that_falls_far_is_dropped_and_the_search_goes_on_from_the_best() {
    let script = json!({ "improve": { "writer": { "60": 30, "30": 99 } } });
    let scene = Scene::new(&[("writer", 60)], &script);
    scene.tune("writer", &["--max-iterations", "3"]);
    let decisions = scene.events("decided");
    let drops: Vec<_> = decisions.iter().filter_map(|decision| decision.get("drop")).collect();
    assert!(!drops.is_empty(), "{decisions:?}");
    let opened: Vec<_> = decisions.iter().filter_map(|decision| decision.get("open")).collect();
    assert_eq!(opened[1]["candidate"], drops[0]["candidate"]);
}

#[test]
fn a_champion_by_luck_loses_the_final_comparison_and_the_target_stays() {
    let script = json!({ "improve": { "writer": { "60": 50 } }, "lucky": { "50": 95 } });
    let scene = Scene::new(&[("writer", 60)], &script);
    let before = listing(&scene.skill("writer"));
    let ran = scene.tune("writer", &["--threshold", "90"]);
    let result = ran.json();
    assert_eq!((ran.code, &result["outcome"]), (Some(3), &json!("unchanged")), "{result}");
    assert_eq!(scene.state()["skilltune"]["comparison"]["verdict"], "lost");
    assert_eq!(listing(&scene.skill("writer")), before);
}

#[test]
fn status_says_what_the_comparison_has_shown_and_not_what_the_search_claimed() {
    let script = json!({ "improve": { "writer": { "40": 50 } }, "lucky": { "50": 95 } });
    let scene = Scene::new(&[("writer", 40)], &script);
    let result = scene.tune("writer", &["--threshold", "90"]).json();
    let proven = result["final_score"].as_f64().unwrap();
    assert!(proven < 60.0, "the search has claimed much more: {result}");
    let status = scene.run(&["status"]).stdout;
    assert!(status.contains(&format!("\nscore    {proven:.1}, goal 90  (candidate ")), "{status}");
    assert!(status.contains("\nverdict  the candidate scored higher than the start\n"), "{status}");
    assert!(!status.contains("best"), "{status}");
}

#[test]
fn the_run_leaves_its_pages_under_the_originals_names() {
    let scene = won();
    let run = scene.run_folder();
    for name in [
        "iteration-state.json",
        "history.jsonl",
        "final-report.md",
        "report.json",
        "iterations/iteration-1/iteration-1-eval.md",
        "iterations/iteration-1/iteration-1-changes.md",
        "iterations/iteration-1/artifacts/writer/scenario-1/1/out.md",
        "iterations/iteration-2/iteration-2-eval.md",
    ] {
        assert!(run.join(name).is_file(), "{name} is missing");
    }
    let state = scene.state();
    for field in [
        "status",
        "started_at",
        "updated_at",
        "target_skills",
        "test_scenario",
        "execution_mode",
        "chain_order",
        "current_iteration",
        "max_iterations",
        "quality_threshold",
        "latest_score",
        "score_trend",
        "converged",
        "iterations",
        "errors",
        "error_count",
        "max_errors",
        "work_dir",
        "backup_dir",
        "termination_reason",
    ] {
        assert!(state.get(field).is_some(), "{field} is missing");
    }
    let backups = state["backup_dir"].as_str().unwrap();
    assert!(std::path::Path::new(backups).is_dir(), "{backups}");
    let round = &state["iterations"][0];
    for field in ["started_at", "completed_at", "artifacts_dir", "success"] {
        assert!(round["execution"].get(field).is_some(), "{field} is missing");
    }
    assert!(!state.to_string().contains("cli_command"), "agents get no command line that could be given");
    assert_eq!(round["evaluation"]["suggestions"][0]["code_snippet"], "Say it better.");
    let wanting = round["evaluation"]["dimensions"].as_array().unwrap().iter();
    let wanting: Vec<_> = wanting.filter(|dimension| dimension["score"].as_f64() < Some(100.0)).collect();
    assert!(
        !wanting.is_empty() && wanting.iter().all(|dimension| dimension["feedback"] != ""),
        "{wanting:?}"
    );
    assert_eq!(state["status"], "completed");
    let report = fs::read_to_string(run.join("final-report.md")).unwrap();
    assert!(report.contains("one scenario"), "with one scenario the report says that this shows little");
}

#[test]
fn the_next_run_on_the_same_input_makes_no_call_again_unless_fresh_is_asked_for() {
    let scene = Scene::new(&[("writer", 40)], &rising());
    scene.tune("writer", &["--apply", "never"]);
    let first = scene.answered();
    let again = scene.tune("writer", &["--apply", "never"]).json();
    assert_eq!(scene.answered(), first);
    assert_eq!((&again["cost"]["calls"], &again["outcome"]), (&json!(0), &json!("kept")));
    scene.tune("writer", &["--apply", "never", "--fresh"]);
    assert_eq!(scene.answered(), 2 * first);
}

#[test]
fn edits_in_words_are_applied_as_well_as_edits_in_place() {
    let mut script = rising();
    script["style"] = json!("words");
    script["envelope"] = json!(true);
    let scene = Scene::new(&[("writer", 75)], &script);
    let settings = fs::read_to_string(scene.path("config/skilltune/skilltune.toml")).unwrap();
    let wrapped = settings.replace("\n\n[agents.", "\noutput = \"/result\"\n\n[agents.");
    let cost = "output = \"/result\"\ncost = { usd = \"/cost/usd\", input_tokens = \"/cost/input\", output_tokens = \"/cost/output\" }\n";
    fs::write(scene.path("config/skilltune/skilltune.toml"), wrapped.trim_end().to_owned() + "\n" + cost)
        .unwrap();
    let settings = fs::read_to_string(scene.path("config/skilltune/skilltune.toml")).unwrap();
    let settings = settings.replacen("output = \"/result\"\n\n[agents.executor]", "\n[agents.executor]", 1);
    fs::write(scene.path("config/skilltune/skilltune.toml"), settings).unwrap();
    let result = scene.tune("writer", &[]).json();
    assert_eq!(result["outcome"], "improved", "{result}");
    assert_eq!(scene.quality("writer"), 90);
    assert_eq!(result["cost"]["usd"], 0.25, "only the improver tells its price");
}

#[test]
fn numbers_without_the_code_of_the_request_are_no_verdict() {
    let mut script = rising();
    script["claims"] = json!(true);
    let scene = Scene::new(&[("writer", 85)], &script);
    let ran = scene.tune("writer", &[]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let (result, state) = (ran.json(), scene.state());
    assert_eq!((&result["outcome"], &result["final_score"]), (&json!("unjudged"), &Value::Null));
    assert_eq!(state["score_trend"], json!([]));
    let why = state["errors"][0]["message"].as_str().unwrap();
    assert!(why.starts_with("`verdict_of` is missing"), "{why}");
    assert!(!scene.normalized(&ran.stderr).contains("verdict = \"original\""), "{}", ran.stderr);
}

#[test]
fn an_agent_set_to_the_originals_shape_is_marked_as_claimed_and_its_report_says_to_be_careful() {
    let mut script = rising();
    script["claims"] = json!(true);
    let scene = Scene::new(&[("writer", 85)], &script);
    let path = scene.path("config/skilltune/skilltune.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let original = settings.replace("\n\n[agents.improver]", "\nverdict = \"original\"\n\n[agents.improver]");
    assert_ne!(original, settings);
    fs::write(&path, original).unwrap();
    let ran = scene.tune("writer", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let caution = "the judge (evaluator) uses `verdict = \"original\"`: its scores carry no evidence and no code, so text in the files it reads can forge them";
    assert_eq!(ran.json()["notes"], json!([caution]));
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("text in the files it reads can forge them"), "{report}");
    let state = scene.state();
    assert_eq!(state["iterations"][0]["evaluation"]["claimed"], true);
    assert_eq!(state["iterations"][0]["evaluation"]["score"], 85.0);
    assert_eq!(state["iterations"][0]["evaluation"]["claimed_score"], 99.0);
}

#[test]
fn a_run_that_nothing_could_judge_ends_with_the_folder_of_the_last_failed_call() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "rubbish": true }));
    let ran = scene.run(&["tune", "writer", "write a page", "--yes"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let path = ran.stdout.split("last failed call:").nth(1).unwrap().trim_start().lines().next().unwrap();
    assert!(fs::read_to_string(path).unwrap().contains("It is {quite} good."), "{path}");
}

#[test]
fn rubbish_from_the_judge_is_incomplete_and_never_a_score() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "rubbish": true }));
    let ran = scene.tune("writer", &[]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let (result, state) = (ran.json(), scene.state());
    assert_eq!((&result["outcome"], &result["final_score"]), (&json!("unjudged"), &Value::Null));
    assert_eq!(state["score_trend"], json!([]));
    assert_eq!(state["errors"].as_array().unwrap().len(), 6);
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    for error in state["errors"].as_array().unwrap() {
        let output = scene.run_folder().join(error["output"].as_str().unwrap());
        assert!(fs::read_to_string(&output).unwrap().contains("It is {quite} good."), "{error}");
        assert!(report.contains(output.to_str().unwrap()), "{report}");
    }
    // Three rounds failed after two attempts each.
    assert_eq!((&state["error_count"], &state["max_errors"]), (&json!(3), &json!(3)));
    let rounds = state["iterations"].as_array().unwrap().iter();
    assert_eq!(rounds.map(|round| &round["status"]).collect::<Vec<_>>(), ["failed"; 3]);
}

#[test]
fn words_alone_are_an_artifact() {
    let mut script = rising();
    script["words_only"] = json!(true);
    let scene = Scene::new(&[("writer", 85)], &script);
    scene.tune("writer", &[]);
    let answer = scene.run_folder().join("iterations/iteration-1/artifacts/writer/scenario-1/1/answer.md");
    assert_eq!(fs::read_to_string(answer).unwrap(), "made by writer with quality 85\n");
}

#[test]
fn drafts_that_are_no_valid_change_are_dropped_by_the_gates() {
    for style in ["outside", "no_skill"] {
        let mut script = rising();
        script["style"] = json!(style);
        let scene = Scene::new(&[("writer", 40)], &script);
        let before = listing(&scene.skill("writer"));
        let result = scene.tune("writer", &["--max-iterations", "2"]).json();
        assert_eq!(
            (&result["outcome"], &result["accepted"], &result["rejected"]),
            (&json!("unchanged"), &json!(0), &json!(1))
        );
        assert_eq!(listing(&scene.skill("writer")), before);
        assert!(!scene.path("project/.claude/skills/outside.md").exists());
    }
}

#[test]
fn the_same_seed_gives_the_same_decisions_at_one_job_and_at_eight() {
    let decisions = |jobs: &str| {
        let scene = Scene::new(&[("writer", 40)], &rising());
        let scenarios = ["--scenario", "b", "--scenario", "c", "--scenario", "d", "--scenario", "e"];
        let ran = scene.tune("writer", &[&scenarios[..], &["--seed", "7", "--jobs", jobs]].concat());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        scene.events("decided")
    };
    assert_eq!(decisions("1"), decisions("8"));
}

#[test]
fn with_one_scenario_it_is_said_that_this_shows_little_also_when_nothing_was_compared() {
    let scene = Scene::new(&[("writer", 90)], &json!({}));
    let ran = scene.run(&["tune", "writer", "write a page", "--yes", "--threshold", "10"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("none, the search made no candidate"), "{report}");
    for text in [&report, &ran.stdout] {
        assert_eq!(text.matches("Weak evidence: one scenario").count(), 1, "{text}");
    }
    let second = [
        "tune",
        "writer",
        "--this-suite-only",
        "write a page",
        "--scenario",
        "and another",
        "--yes",
        "--threshold",
        "10",
    ];
    assert!(!scene.run(&second).stdout.contains("shows little"), "two scenarios are not one");
}

#[test]
fn what_begins_with_a_dash_is_a_value_where_a_text_is_wanted() {
    let scene = Scene::new(&[("writer", 90)], &json!({}));
    let texts = [
        "--scenario",
        "- a bullet",
        "--test",
        "--another",
        "--success-criteria",
        "--good",
        "--requirements",
        "-x,-y",
        "--this-suite-only",
    ];
    let ran = scene.tune("writer", &texts);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let journal = fs::read_to_string(scene.run_folder().join("history.jsonl")).unwrap();
    for text in ["\"- a bullet\"", "\"--another\"", "\"--good\"", "\"-x\"", "\"-y\""] {
        assert!(journal.contains(text), "{text} is not in {journal}");
    }
    assert!(scene.run(&["tune", "--help"]).stdout.contains("[alias: --test]"));
}
