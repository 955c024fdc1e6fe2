//! A search by drafts, tested from outside: what `tune` does with a large enough suite.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::crash::crash_everywhere;
use crate::kill::{assert_whole_target, kill_again_and_again, kills, skills, slowed};
use crate::outcome::{Outcome, assert_tidy};
use crate::scene::{Ran, Scene};
use crate::story::Story;

/// Returns twelve scenarios that each ask for three qualities; the improver goes from 20 to 80 in three edits.
fn scene() -> Scene {
    played(&script())
}

fn script() -> Value {
    json!({ "improve": { "writer": { "20": 40, "40": 60, "60": 80 } } })
}

fn played(script: &Value) -> Scene {
    let scene = Scene::new(&[("writer", 20)], script);
    let one = |nth: u32| {
        let demands = [30, 50, 70].map(|least| format!("\"Its quality is at least {least}.\"")).join(", ");
        format!("[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nexpectations = [{demands}]\n")
    };
    fs::write(scene.path("project/suite.toml"), (1..=12).map(one).collect::<String>()).unwrap();
    scene
}

fn tune(scene: &Scene, runs: &str, more: &[&str]) -> Ran {
    Ran::of(command(scene, runs, more).output().unwrap())
}

fn command(scene: &Scene, runs: &str, more: &[&str]) -> Command {
    let line = ["tune", "writer", "--suite", "suite.toml", "--yes", "--format", "json", "--runs", runs];
    scene.command(&[&line[..], more].concat())
}

fn executed(scene: &Scene) -> usize {
    let calls = scene.calls();
    calls.iter().filter(|(name, _)| name.starts_with("executor")).map(|(_, (_, answered))| answered).sum()
}

#[test]
fn a_suite_that_is_large_enough_is_drafted_for_and_rounds_are_there_for_who_asks_for_them() {
    let line = ["tune", "writer", "--suite", "suite.toml", "--yes", "--format", "json"];
    let of = |more: &[&str]| {
        let scene = scene();
        let shown = scene.run(&[&line[..], &["--dry-run"], more].concat()).json();
        let ran = scene.run(&[&line[..], more].concat());
        assert_eq!((ran.code, scene.quality("writer")), (Some(0), 80), "{ran:?}");
        let targets = scene.events("decided").iter().filter(|one| one.get("target").is_some()).count();
        assert!(executed(&scene) <= 48, "{}", executed(&scene));
        (shown["search"].clone(), shown["runs"].clone(), targets > 0)
    };
    assert_eq!(of(&[]), (json!("draft"), json!(48), true));
    assert_eq!(of(&["--search", "rounds"]), (json!("rounds"), json!(null), false));
    assert_eq!(of(&["--max-iterations", "5"]), (json!("rounds"), json!(null), false));
}

#[test]
fn what_a_search_may_cost_and_what_is_likely_is_told_before_it_begins() {
    let scene = scene();
    let line = ["tune", "writer", "--suite", "suite.toml", "--yes"];
    let price = scene.run(&[&line[..], &["--estimate"]].concat()).stdout;
    assert_eq!(
        price,
        "estimate: up to 144 calls if none fails (executor 48, evaluator 60, improver 36), likely 121\n  \
         cost and time unknown: no earlier run here with these agents\n"
    );
    assert!(scene.calls().is_empty(), "nobody is called for it");
    let ran = scene.run(&line);
    assert!(ran.code == Some(0) && ran.stderr.starts_with(&price), "{ran:?}");
    let estimate =
        scene.run(&[&line[..], &["--estimate", "--format", "json"]].concat()).json()["estimate"].clone();
    let (most, likely) = (&estimate["most"], &estimate["likely"]);
    assert_eq!((&most["calls"]["executor"], &likely["calls"]["executor"]), (&json!(48), &json!(48)));
    assert_eq!((&most["calls"]["improver"], &likely["calls"]["improver"]), (&json!(36), &json!(13)));
    assert_eq!(estimate["runs"], 1);
    let seconds = |of: &Value| of["seconds"].as_f64().unwrap();
    assert!(seconds(most) > seconds(likely) && seconds(likely) > 0.0, "{estimate}");
}

#[test]
fn a_setting_that_the_search_does_not_use_is_named_at_the_start() {
    let scene = scene();
    scene.write_settings("[tune]\nregress = 5\n");
    let notes = |more: &[&str]| {
        scene
            .run(&[&["tune", "writer", "--suite", "suite.toml", "--yes", "--dry-run"][..], more].concat())
            .stderr
    };
    assert_eq!(notes(&[]), "tune.regress has no effect: this run searches by drafts\n");
    assert_eq!(notes(&["--search", "rounds"]), "");
}

#[test]
fn faults_are_edited_after_each_trial_and_the_result_wins_within_its_runs() {
    let scene = scene();
    let ran = tune(&scene, "24", &[]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 80), "{ran:?}");
    assert!(executed(&scene) <= 24, "{}", executed(&scene));
    let decided: Vec<Value> = scene.events("decided");
    let targets: Vec<usize> =
        decided.iter().filter_map(|one| one["target"]["criteria"].as_array().map(Vec::len)).collect();
    assert_eq!(targets.first(), Some(&3), "each fault once, however many scenarios name it: {targets:?}");
}

#[test]
fn the_verdict_says_that_the_start_was_tried_on_other_scenarios() {
    let ran =
        scene().run(&["tune", "writer", "--suite", "suite.toml", "--yes", "--runs", "24", "--seed", "7"]);
    let verdict = ran.stdout.lines().find(|line| line.starts_with("verdict: WIN, ")).unwrap_or_default();
    assert!(verdict.contains(" scenarios -> "), "{ran:?}");
    assert!(verdict.contains(" others, each tried before an edit for it: better by at least "), "{ran:?}");
    // With more runs, they are trials of the candidate alone.
    let ran =
        scene().run(&["tune", "writer", "--suite", "suite.toml", "--yes", "--runs", "48", "--seed", "7"]);
    let verdict = ran.stdout.lines().find(|line| line.starts_with("verdict: WIN, ")).unwrap_or_default();
    assert!(verdict.contains(" others, which the search has not seen: better by at least "), "{ran:?}");
}

#[test]
fn the_report_says_of_each_round_what_it_edited_and_how_sure_it_was() {
    let scene = scene();
    assert_eq!(tune(&scene, "24", &[]).code, Some(0));
    let text = fs::read(scene.run_folder().join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&text).unwrap();
    let first = &report["rounds"][0];
    assert_eq!(first["left_alone"], json!([]));
    let targets = first["targets"].as_array().unwrap();
    let keys: Vec<&String> = targets[0].as_object().unwrap().keys().collect();
    let chances = ["chance_before", "chance_after", "at_fault", "looked_at_again"];
    assert_eq!(keys, [&["statement", "criterion", "passed", "failed"][..], &chances].concat());
    let [mended, other, last] = &targets[..] else { panic!("three faults are named: {targets:?}") };
    assert_eq!(mended["statement"], "Its quality is at least 30.");
    assert_eq!((&mended["passed"], &mended["looked_at_again"]), (&json!(0), &json!(2)));
    let after = |target: &Value| target["chance_after"].as_f64().unwrap();
    assert!(after(mended) > mended["chance_before"].as_f64().unwrap(), "{mended}");
    assert!(after(mended) > after(other) && after(mended) > after(last), "the first edit mended the first");
    let page = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(page.contains("- **To Edit**: 3\n  - Its quality is at least 30. ("), "{page}");
}

#[test]
fn two_improvers_take_turns_and_the_report_says_what_each_has_earned() {
    let scene = scene();
    let ran = tune(&scene, "24", &["--second-improver", "improver"]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 80), "{ran:?}");
    let text = fs::read(scene.run_folder().join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&text).unwrap();
    let rounds = report["rounds"].as_array().unwrap();
    let edited: Vec<&Value> = rounds.iter().filter(|round| !round["draft"].is_null()).collect();
    assert!(edited.iter().all(|round| round["edit_kinds"][0] == "wording"), "{edited:?}");
    let improvers = report["improvers"].as_array().unwrap();
    for (nth, role) in ["improver", "improver-2"].into_iter().enumerate() {
        let own = edited.iter().filter(|round| round["edited_by"] == role).count();
        assert!(own > 0 && improvers[nth]["role"] == role && improvers[nth]["edits"] == own, "{improvers:?}");
    }
    let page = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(page.contains("| Improvers | ") && page.contains(" (wording"), "{page}");
}

/// The runs that try the start on all scenarios of the search at once, so that only edits remain.
const TRIED_AT_ONCE: &str = "64";

#[test]
fn after_a_failed_edit_another_one_is_made_and_the_search_goes_on() {
    let mut script = script();
    // Both attempts at the first edit fail.
    script["unedited"] = json!(2);
    let scene = played(&script);
    let ran = tune(&scene, TRIED_AT_ONCE, &[]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 80), "{ran:?}");
    let failed = scene.events("decided").iter().filter(|one| one.get("no_draft").is_some()).count();
    assert_eq!(failed, 1);
}

#[test]
fn a_search_that_made_no_candidate_says_so_and_what_ended_it() {
    let mut script = script();
    script["style"] = json!("no_skill");
    let scene = played(&script);
    let line = ["tune", "writer", "--suite", "suite.toml", "--yes", "--runs", TRIED_AT_ONCE];
    let ran = scene.run(&line);
    assert!(ran.stdout.contains("verdict: none, the search made no candidate"), "{ran:?}");
    assert!(ran.stdout.contains("The search stopped: too many invalid edits in a row."), "{ran:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("| Outcome | EDITS REFUSED |"), "{report}");
    let failed = scene.events("decided").iter().filter(|one| one.get("no_draft").is_some()).count();
    assert_eq!(failed, 3, "as many as `max_errors` allows");
}

#[test]
fn a_win_is_judged_anew_by_the_trials_that_it_rests_on_and_nothing_is_executed() {
    judged_anew("24", "on each the first trial of the version that was newest then");
    judged_anew("48", "of the candidate on each");
}

fn judged_anew(runs: &str, trials: &str) {
    let scene = scene();
    let ran = tune(&scene, runs, &["--apply", "never"]);
    assert_eq!(ran.json()["verdict"], "win", "{ran:?}");
    let (run, before) = (scene.run_id(), executed(&scene));
    let same = scene.run(&["regrade", &run, "--yes"]);
    assert_eq!((same.code, executed(&scene)), (Some(0), before), "{same:?}");
    assert!(
        same.stdout.contains(trials) && same.stdout.contains(", against the start's first trials of"),
        "{same:?}"
    );
    assert!(same.stdout.contains("\nA 0.0 s") && same.stdout.contains("\nB 100.0 s"), "{same:?}");
    let suite = fs::read_to_string(scene.path("project/suite.toml")).unwrap();
    fs::write(scene.path("project/suite.toml"), suite.replace("at least 70", "at least 90")).unwrap();
    let stricter = scene.run(&["regrade", &run, "--yes", "--format", "json"]).json();
    let compared = &stricter["compared"];
    assert_eq!((compared["verdict"].as_str(), executed(&scene)), (Some("won"), before), "{stricter}");
    assert!(compared["b_score"].as_f64().unwrap() < 70.0, "two of three statements are true: {stricter}");
    let trials = compared["scenarios"].as_array().unwrap();
    assert!(trials.iter().any(|one| one["a"].is_null()) && trials.iter().any(|one| one["b"].is_null()));
}

#[test]
fn one_call_and_eight_at_a_time_decide_the_same() {
    let with = |jobs: &str| {
        let scene = scene();
        let ran = tune(&scene, "24", &["--jobs", jobs, "--seed", "5"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        scene.events("decided")
    };
    assert_eq!(with("1"), with("8"));
}

#[test]
fn runs_that_the_comparison_alone_would_take_are_refused_with_how_many_it_needs() {
    let scene = scene();
    let refused = tune(&scene, "7", &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("7 runs of the executor are not enough"), "{refused:?}");
    assert!(refused.stderr.contains("pass --runs 8 or more"), "{refused:?}");
    assert_eq!(tune(&scene, "8", &["--dry-run"]).code, Some(0));
    let alone = scene.run(&["tune", "writer", "--scenario", "Write.", "--yes", "--runs", "24"]);
    assert!(
        alone.stderr.contains("needs at least 2 scenarios to search with, and this run has 1"),
        "{alone:?}"
    );
}

/// A search that makes several drafts; the last one replaces the skill.
struct Drafted {
    script: Value,
    jobs: &'static str,
}

impl Story for Drafted {
    fn scene(&self) -> Scene {
        played(&self.script)
    }

    fn begin(&self, scene: &Scene) -> Command {
        command(scene, "16", &["--seed", "7", "--jobs", self.jobs])
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&["resume", "--yes", "--format", "json", "--jobs", self.jobs])
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of(scene, ran)
    }

    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_tidy(scene, story);
    }

    fn assert_telling(&self, scene: &Scene, ran: &Ran) {
        let decisions = scene.events("decided");
        let count = |of: &str| decisions.iter().filter(|made| made.get(of).is_some()).count();
        assert!(count("draft") > 1 && count("compare") > 0 && count("ship") > 0, "{decisions:?}");
        assert_eq!(ran.json()["outcome"], "improved", "the target is replaced: {ran:?}");
    }
}

#[test]
fn a_search_by_single_trials_that_crashes_at_any_durable_step_ends_as_if_it_had_not() {
    crash_everywhere(&Drafted { script: script(), jobs: "1" }).report("a search by single trials", 300);
}

#[test]
fn a_search_by_single_trials_killed_again_and_again_ends_as_if_it_had_not_been() {
    let kills = kills() / 4;
    let story = |jobs| Drafted { script: slowed(script()), jobs };
    let (whole, start) = (story("1").whole(), skills(&story("1").scene()));
    let of_jobs = &|jobs| {
        let is_whole = |scene: &Scene, whole: &Outcome| assert_whole_target(scene, &start, whole);
        let figures = kill_again_and_again(&story(jobs), &whole, kills, is_whole);
        eprintln!("random kills: a search by single trials, {jobs} jobs: {figures:?}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| of_jobs("1"));
        of_jobs("8");
    });
}
