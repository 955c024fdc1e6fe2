//! `suite check --try`: an agent does the scenarios without the skill.

use std::fs;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::scene::{Ran, Scene, listing, without_moments, without_padding};
use crate::terminal::{terminal, typed};

const SUITE: &str = r#"
[[scenarios]]
id = "easy"
description = "Write it"
expectations = ["Its quality is at least 45."]

[[scenarios]]
id = "hard"
description = "Write it well"
held_out = true
expectations = ["Its quality is at least 45.", "Its quality is at least 60."]

[[scenarios]]
id = "used"
description = "Write a page"
[[scenarios.checks]]
skill_used = true
[[scenarios.checks]]
file = "out.md"

[[scenarios]]
id = "only-used"
description = "Write two pages"
[[scenarios.checks]]
skill_used = true

[[scenarios]]
id = "silent"
description = "Write three pages"

[[scenarios]]
id = "draft"
description = "Write four pages"
draft = true
"#;

fn scene() -> Scene {
    scene_with(&json!({ "improve": { "writer": { "40": 90 } } }))
}

fn scene_with(script: &Value) -> Scene {
    let scene = Scene::new(&[("writer", 40)], script);
    fs::write(scene.path("project/suite.toml"), SUITE).unwrap();
    scene
}

const TRY: [&str; 5] = ["suite", "check", "suite.toml", "--try", "--yes"];

fn check(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&["suite", "check", "suite.toml", "--format", "json"], more].concat())
}

/// Returns the text without the lines that differ between runs.
fn without(text: &str, words: &[&str]) -> String {
    let is_same = |line: &&str| words.iter().all(|word| !line.contains(word));
    text.lines().filter(is_same).collect::<Vec<_>>().join("\n")
}

fn passing(ran: &Ran) -> Vec<String> {
    let report = ran.json();
    let of_kind = report["vacuous"].as_array().unwrap().iter().filter(|one| one["kind"] == "passes-without");
    of_kind
        .map(|one| format!("{}: {}", one["scenario"].as_str().unwrap(), one["text"].as_str().unwrap()))
        .collect()
}

#[test]
fn what_an_agent_does_as_well_without_the_skill_is_named_now_and_later() {
    let scene = scene();
    let skill = listing(&scene.skill("writer"));
    let ran = scene.run(&TRY);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    insta::assert_snapshot!(scene.normalized(&ran.stdout), @r"
    /project/suite.toml
      suite.toml: 5 scenarios, 3 checks, 3 expectations, 1 held out, 1 draft, 3 tried without a skill

    notes:
      draft: a draft: not counted until `draft = true` is removed

    proves nothing:
      silent: it asks nothing of the result: add `expectations` or checks
      easy: passes without a skill
      used: passes without a skill

    too few for `skilltune tune`: it takes at least 4 held-out scenarios; add 3 more

    one round of one skill: 5 calls of the executor, 3 calls of the judge
    ");
    insta::assert_snapshot!(without(&scene.normalized(&ran.stderr), &["agent time"]), @r"
    not tried without a skill: silent (no checks and no expectations)
    not tried without a skill: only-used (it asks only whether the skill is used)
    trying 3 scenarios without a skill, 1 trial each: at most 10 calls: 6 by the executor (executor), 4 by the evaluator (evaluator)
    try suite without a skill
    executor executor, evaluator evaluator
    run RUN, 3 scenarios
    limits: 10 calls (default)


    2 of 3 scenarios pass without a skill: easy, used.
    report: /project/.skilltune/runs/RUN/report.html
    ");
    assert_eq!(listing(&scene.skill("writer")), skill);
    let prompts = scene.prompts();
    assert!(prompts.iter().any(|prompt| prompt.trim() == "Write it"), "the task alone: {prompts:?}");
    let calls = scene.answered();
    assert_eq!(calls, 5, "three executions, and two with expectations");
    // The result is in a journal and stays valid while the suite is unchanged.
    let later = check(&scene, &[]);
    assert_eq!(passing(&later), ["easy: passes without a skill", "used: passes without a skill"]);
    assert_eq!((&later.json()["runs"], &later.json()["tried_without_skill"]), (&json!(0), &json!(3)));
    let again = check(&scene, &["--try", "--yes"]);
    assert_eq!((passing(&again).len(), scene.answered()), (2, calls), "its answers are kept");
    fs::write(scene.path("project/suite.toml"), SUITE.replace("Write it\"", "Write it again\"")).unwrap();
    assert_eq!(passing(&check(&scene, &[])), ["used: passes without a skill"]);
}

#[test]
fn every_trial_must_pass_and_the_newest_run_counts() {
    let scene = scene();
    let twice = check(&scene, &["--try", "--yes", "--trials", "2"]);
    assert_eq!(
        passing(&twice),
        ["easy: passes without a skill, in all 2 trials", "used: passes without a skill, in all 2 trials"]
    );
    assert_eq!(scene.answered(), 10);
    scene.write_script(&json!({ "unaided": 20 }));
    let fresh = check(&scene, &["--try", "--yes", "--agent", "executor"]);
    assert_eq!(fresh.code, Some(4), "an executor is no judge: {fresh:?}");
    assert_eq!(
        passing(&fresh),
        ["easy: passes without a skill, in all 2 trials", "used: passes without a skill"]
    );
}

#[test]
fn runs_of_the_skill_and_without_it_are_kept_apart_and_are_called_what_they_are() {
    let scene = scene();
    // These agents do not report whether a skill was used.
    let (about_results, _) = SUITE.split_once("[[scenarios]]\nid = \"used\"").unwrap();
    fs::write(scene.path("project/suite.toml"), about_results).unwrap();
    let tuned = scene.run(&[
        "tune",
        "writer",
        "--this-suite-only",
        "--suite",
        "suite.toml",
        "--yes",
        "--format",
        "json",
    ]);
    assert_eq!(tuned.json()["outcome"], "kept", "{tuned:?}");
    let before = check(&scene, &[]).json();
    let tried = check(&scene, &["--try", "--yes"]);
    assert_eq!(passing(&tried).len(), 1);
    let kinds = |report: &Value| {
        let all = report["vacuous"].as_array().unwrap().iter();
        all.filter(|one| one["kind"] != "passes-without").cloned().collect::<Vec<_>>()
    };
    assert_eq!((kinds(&tried.json()), &tried.json()["runs"]), (kinds(&before), &before["runs"]));
    let listed = scene.run(&["list"]);
    insta::assert_snapshot!(without_padding(&without_moments(&scene.normalized(&listed.stdout))), @r"
    RUN  KIND  STATUS  PROGRESS  RESULT  UPDATED  SUBJECT
    RUN  try  completed  2 of 2 trials  1 passes  MOMENT  suite without a skill
    RUN  tune  completed  round 2 of 5  0.0 -> 100.0  MOMENT  writer
    ");
    let status = scene.run(&["status"]);
    insta::assert_snapshot!(without_moments(&scene.normalized(&status.stdout)), @r"
    run      RUN  try of suite without a skill
    status   The scenarios were tried without a skill.
    tried    2 of 2 trials
    shown    1 of 2 scenarios pass without a skill: easy.
    updated  MOMENT
    next     skilltune suite check /project/suite.toml   (see which checks prove nothing)
    ");
    let report = scene.run(&["report"]);
    let (page, _) = report.stdout.split_once("## Cost").unwrap();
    insta::assert_snapshot!(without(&scene.normalized(page), &["| Started", "| Completed", "| Rights"]), @r"
    # Without a Skill: suite

    1 of 2 scenarios pass without a skill: easy.

    ## Summary

    | Field | Value |
    | --- | --- |
    | Run | `RUN` (try) |
    | Suite | `/project/suite.toml` |
    | Agents | executor executor, evaluator evaluator |
    | Trials | 2 of 2 trials |

    ## Scenarios

    | Scenario | Passes | Scores |
    | --- | --- | --- |
    | easy | yes | 100.0 |
    | hard | no | 50.0 |

    Verdicts and evidence of each scenario's first trial: `/project/.skilltune/runs/RUN/iterations/iteration-1/iteration-1-eval.md`
    ");
    let shown = scene.run(&["show"]);
    assert!(shown.stdout.contains("pass without a skill: easy."), "{shown:?}");
    let refused = scene.run(&["suite", "add", "--from", &id(&scene)]);
    assert!(refused.stderr.contains("has no trials with faults"), "{refused:?}");
    // Commands that replace a skill take the run that has one.
    assert_eq!(scene.run(&["apply"]).code, Some(0));
    assert_eq!(scene.quality("writer"), 90);
    assert_eq!(scene.run(&["rollback"]).code, Some(0));
    assert_eq!(scene.quality("writer"), 40);
    let before = scene.everything();
    for verb in ["apply", "rollback"] {
        let refused = scene.run(&[verb, &id(&scene), "--force"]);
        assert!(refused.code == Some(2) && refused.stderr.contains("without a skill"), "{refused:?}");
    }
    assert_eq!(scene.everything(), before);
}

/// Returns the id of the newest run.
fn id(scene: &Scene) -> String {
    let listed = scene.run(&["list", "--format", "json"]).json();
    listed[0]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_is_called_before_somebody_has_agreed_to_the_price() {
    let scene = scene();
    insta::assert_snapshot!(scene.refusal(&TRY[..4]), @r"
    not tried without a skill: silent (no checks and no expectations)
    not tried without a skill: only-used (it asks only whether the skill is used)
    trying 3 scenarios without a skill, 1 trial each: at most 10 calls: 6 by the executor (executor), 4 by the evaluator (evaluator)
    error: cannot ask whether to make these calls: not a terminal
    hint: pass --yes to make them
    ");
    let refused = scene.refusal(&[&TRY[..], &["--agent", "offline"]].concat());
    assert!(refused.contains("the built-in agent does nothing without a skill"), "{refused}");
    let bare = "[[scenarios]]\nid = \"a\"\ndescription = \"Write\"\n";
    fs::write(scene.path("project/bare.toml"), bare).unwrap();
    insta::assert_snapshot!(scene.refusal(&["suite", "check", "bare.toml", "--try", "--yes"]), @r"
    error: /project/bare.toml: no scenario to try without a skill
    caused by: a (no checks and no expectations)
    hint: add `expectations` or checks of the result
    ");
    let alone = scene.run(&["suite", "check", "suite.toml", "--trials", "2"]);
    assert!(alone.stderr.contains("--try"), "{alone:?}");
    let program = format!("{SUITE}\n[[scenarios.checks]]\ncommand = [\"true\"]\n");
    fs::write(scene.path("project/program.toml"), program.replace("draft = true", "")).unwrap();
    let line = ["suite", "check", "program.toml", "--try", "--yes"];
    assert!(scene.refusal(&line).contains("not trusted: true"));
    assert!(scene.calls().is_empty());
    let ran = scene.run(&[&line[..], &["--trust"]].concat());
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

#[test]
fn a_person_at_a_terminal_is_asked_and_may_say_no() {
    for (keys, is_tried) in [("\r", false), ("y\r", true)] {
        let Ok(ends) = terminal() else { return };
        let scene = scene();
        let output = typed(scene.command(&TRY[..4]), ends, keys);
        assert!(output.contains("at most") && output.contains("Make these calls?"), "{output}");
        assert_eq!((scene.calls().is_empty(), scene.run_folders().len()), (!is_tried, usize::from(is_tried)));
    }
}

#[test]
fn a_run_that_was_killed_is_taken_up_and_the_suite_then_shows_it() {
    let scene = scene();
    let gate = Gate::before("evaluator", &scene, json!({}));
    let running = Background::start(&scene, &TRY);
    running.until_begun(4);
    running.kill_and_see_off();
    gate.open();
    let executed = |scene: &Scene| scene.calls().keys().filter(|call| call.starts_with("executor")).count();
    let before = executed(&scene);
    let resumed = scene.run(&["resume", "--yes", "--format", "json"]);
    assert_eq!((resumed.code, &resumed.json()["outcome"]), (Some(0), &json!("tried")), "{resumed:?}");
    let passes: Vec<_> =
        resumed.json()["without_skill"].as_array().unwrap().iter().map(|one| one["passes"].clone()).collect();
    assert_eq!(passes, [json!(true), json!(false), json!(true)]);
    assert_eq!(executed(&scene), before, "what was done is not done again");
    assert_eq!(passing(&check(&scene, &[])).len(), 2);
}

#[test]
fn what_could_not_be_judged_is_not_known_and_said_so() {
    let scene = scene_with(&json!({ "executor_fails_at": [50] }));
    let ran = scene.run(&TRY);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("Unknown, trials are missing: easy, hard, used."), "{ran:?}");
    assert!(!ran.stdout.contains("tried without a skill"), "{ran:?}");
}
