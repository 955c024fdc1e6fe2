//! `regrade`: judges a comparison again from the output of its trials.

use std::fs;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::finished::{Finished, copy};
use crate::scene::{FAKE_AGENT, Ran, Scene, listing, without_moments, without_padding};

/// Returns five scenarios, each with these lines; without the skill the executor reaches 50.
fn suite(demands: &str) -> String {
    let one = |nth: u32| format!("[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\n{demands}\n");
    (1..=5).map(one).collect()
}

fn expecting(least: u32) -> String {
    suite(&format!("expectations = [\"Its quality is at least {least}.\"]"))
}

fn checking(pattern: &str) -> String {
    suite(&format!("[[scenarios.checks]]\nid = \"good\"\npattern = {pattern:?}\nin = \"out.md\""))
}

fn write_suite(scene: &Scene, suite: &str) {
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
}

static CHECKED: Finished = Finished::new(|| compared_by(&checking("quality 50")));
static JUDGED: Finished = Finished::new(|| compared_by(&expecting(60)));

/// Compares a skill of quality 80 with none.
fn compared_by(suite: &str) -> Scene {
    let scene = Scene::new(&[("writer", 80)], &json!({}));
    write_suite(&scene, suite);
    let line = ["compare", "none", "writer", "--suite", "suite.toml", "--yes", "--trust", "--format", "json"];
    assert_eq!(id(&scene.run(&line)), scene.run_id());
    scene
}

/// Returns the scene of a comparison, and the run's id.
fn compared(run: &'static Finished) -> (Scene, String) {
    let scene = run.scene();
    let run = scene.run_id();
    (scene, run)
}

fn id(ran: &Ran) -> String {
    ran.json()["run_id"].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
}

fn regrade(scene: &Scene, run: &str, more: &[&str]) -> Ran {
    scene.run(&[&["regrade", run, "--yes", "--format", "json"], more].concat())
}

fn verdict(ran: &Ran) -> (Option<i32>, Value) {
    (ran.code, ran.json()["compared"]["verdict"].clone())
}

/// Returns how many executor and judge calls have begun.
fn begun(scene: &Scene) -> [usize; 2] {
    let calls = scene.calls();
    let of = |role: &str| {
        let own = calls.iter().filter(|(call, _)| call.starts_with(role));
        own.map(|(_, (begun, _))| begun).sum()
    };
    [of("executor"), of("evaluator")]
}

#[test]
fn a_check_that_was_wrong_turns_the_verdict_and_no_agent_is_called_or_has_to_be_installed() {
    let (scene, run) = compared(&CHECKED);
    let skill = listing(&scene.skill("writer"));
    let before = begun(&scene);
    assert_eq!(before, [10, 0]);
    write_suite(&scene, &checking("quality 80"));
    let ran = regrade(&scene, &run, &[]);
    assert_eq!(verdict(&ran), (Some(0), json!("won")), "{ran:?}");
    let summary = ran.json();
    let regraded = &summary["compared"]["regraded"];
    assert_eq!((&regraded["run"], &regraded["trials"]), (&json!(run), &json!(10)), "{summary}");
    let outcome = (&summary["cost"]["calls"], &summary["outcome"]);
    assert_eq!(outcome, (&json!(0), &json!("compared")), "{summary}");
    assert_eq!((begun(&scene), listing(&scene.skill("writer"))), (before, skill));
    let of = |run: &str| scene.path("project/.skilltune/runs").join(run);
    assert!(of(&id(&ran)).join("junit.xml").exists() && of(&id(&ran)).join("viewer").exists());
    // The older run is unchanged.
    let older = scene.run(&["report", &run, "--format", "json"]).json();
    assert_eq!(older["compared"]["verdict"], "lost");
    // No agent is called, so none needs to be installed.
    fs::write(scene.path("config/skilltune/skilltune.toml"), "").unwrap();
    assert_eq!(verdict(&regrade(&scene, &run, &[])), (Some(0), json!("won")));
}

#[test]
fn it_is_told_by_what_it_is_wherever_runs_are_told() {
    let (scene, run) = compared(&JUDGED);
    write_suite(&scene, &expecting(90));
    let stable_lines = |text: &str| {
        let text = text.replace(&run, "OLDER");
        let is_timed = |line: &str| line.contains("agent time") || line.contains("at best");
        let lines = text.lines().filter(|line| !is_timed(line)).collect::<Vec<_>>();
        without_moments(&scene.normalized(&lines.join("\n")))
    };
    let line = ["regrade", &run, "--yes"];
    let dry = scene.run(&[&line[..], &["--dry-run"]].concat());
    insta::assert_snapshot!(stable_lines(&dry.stdout), @r"
    regrade run OLDER: is B = writer better than A = none? 10 stored trials, confidence 0.9; nothing is executed again, and the judge evaluates 10 of them in at most 38 calls
    5 scenarios
    first steps:
      judging s2
      judging s2
      judging s4
      judging s4
      judging s5
    at most 38 calls: 38 by the evaluator (evaluator)
    limits: 38 calls (default)
    estimate: up to 19 calls if none fails (evaluator 19)
      from the mean of 13 earlier calls in 1 run
    ");
    let ran = scene.run(&line);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    insta::assert_snapshot!(stable_lines(&ran.stderr), @r"
    regrade run OLDER: is B = writer better than A = none? 10 stored trials, confidence 0.9; nothing is executed again, and the judge evaluates 10 of them in at most 38 calls
    evaluator evaluator
    run RUN, 5 scenarios
    limits: 38 calls (default)
    ");
    insta::assert_snapshot!(stable_lines(&ran.stdout), @r"
    B: TIE, the difference is between +0.0 and +0.0 points at confidence 0.9
    A 0.0, B 0.0: 5 scenarios, 1 stored trial of each version on each
    = +0.0 s1 (0.0 -> 0.0)
    = +0.0 s2 (0.0 -> 0.0)
    = +0.0 s3 (0.0 -> 0.0)
    = +0.0 s4 (0.0 -> 0.0)
    = +0.0 s5 (0.0 -> 0.0)
    to see what B changes: skilltune diff RUN HASH
    report: /project/.skilltune/runs/RUN/report.html
    ");
    insta::assert_snapshot!(without_padding(&stable_lines(&scene.run(&["list"]).stdout)), @r"
    RUN  KIND  STATUS  PROGRESS  RESULT  UPDATED  SUBJECT
    RUN  regrade  completed  5 scenarios  0.0 -> 0.0  MOMENT  writer with none
    OLDER  compare  completed  5 scenarios  0.0 -> 100.0  MOMENT  writer with none
    ");
    insta::assert_snapshot!(stable_lines(&scene.run(&["status"]).stdout), @r"
    run      RUN  regrade of writer with none
    status   The stored trials were regraded; nothing was changed.
    A        none
    B        writer
    trials   10 of run OLDER, by executor
    verdict  TIE, the difference is between +0.0 and +0.0 points at confidence 0.9
    updated  MOMENT
    next     skilltune diff RUN HASH   (see what B changes)
    ");
    let report = scene.run(&["report"]).stdout;
    let (page, _) = report.split_once("## Cost").unwrap();
    let is_same =
        |line: &&str| !["| Started", "| Completed", "| Rights"].iter().any(|one| line.contains(one));
    insta::assert_snapshot!(stable_lines(&page.lines().filter(is_same).collect::<Vec<_>>().join("\n")), @r"
    # Regrade: writer

    **B**: TIE, the difference is between +0.0 and +0.0 points at confidence 0.9.

    ## Summary

    | Field | Value |
    | --- | --- |
    | Run | `RUN` (regrade) |
    | A | `none` |
    | B | `writer` |
    | Suite | `/project/suite.toml` |
    | Trials | 10 of run OLDER, by executor |
    | Note | One side has no skill, so skill use was not checked on either side. |
    | Agents | evaluator evaluator |
    | Confidence | 0.9 |

    ## Scenarios

    Based on 5 scenarios, 1 stored trial of each version on each.

    | Scenario | A | B | Difference |
    | --- | --- | --- | --- |
    | s1 | 0.0 | 0.0 | = +0.0 |
    | s2 | 0.0 | 0.0 | = +0.0 |
    | s3 | 0.0 | 0.0 | = +0.0 |
    | s4 | 0.0 | 0.0 | = +0.0 |
    | s5 | 0.0 | 0.0 | = +0.0 |
    ");
    assert!(scene.run(&["show"]).stdout.contains("B: TIE"));
    let history = scene.run(&["history"]).stdout;
    let taken_over = history.lines().filter(|line| line.ends_with("(taken over from an older run)"));
    assert_eq!(taken_over.count(), 10, "{history}");
}

#[test]
fn a_changed_expectation_asks_the_judge_alone_and_an_unchanged_suite_nobody() {
    let (scene, run) = compared(&JUDGED);
    let older = scene.run(&["report", &run, "--format", "json"]).json();
    // Three trials are judged twice, to check whether the judge is reliable.
    assert_eq!(begun(&scene), [10, 13]);
    let same = regrade(&scene, &run, &[]);
    assert_eq!(verdict(&same), (Some(0), json!("won")), "{same:?}");
    let effect = |summary: &Value| summary["compared"]["effect"].clone();
    assert_eq!((effect(&same.json()), begun(&scene)), (effect(&older), [10, 13]));
    write_suite(&scene, &expecting(90));
    assert_eq!(verdict(&regrade(&scene, &run, &[])), (Some(3), json!("tied")));
    assert_eq!(begun(&scene), [10, 26]);
    // In another order and with one missing: each is known by its name.
    let parts: Vec<String> = expecting(60).split("[[").map(|part| format!("[[{part}")).collect();
    write_suite(&scene, &parts[2..].iter().rev().cloned().collect::<String>());
    let fewer = regrade(&scene, &run, &[]);
    let [executed, judged] = begun(&scene);
    assert_eq!((verdict(&fewer), executed), ((Some(0), json!("won")), 10), "{fewer:?}");
    assert!(judged <= 26 + 3, "no trial is judged again but to see whether the judge can be believed");
    let left_out = &fewer.json()["compared"]["regraded"]["left_out"];
    assert_eq!(left_out, &json!([{ "scenario": "s1", "why": "gone" }]));
    // Stored verdicts do not count.
    assert_eq!(verdict(&regrade(&scene, &run, &["--fresh"])), (Some(0), json!("won")));
    assert_eq!(begun(&scene), [10, judged + 8 + 3]);
}

#[test]
fn another_judge_judges_what_the_first_one_could_not() {
    let scene = Scene::new(&[("writer", 80)], &json!({ "rubbish": true }));
    write_suite(&scene, &suite(""));
    let line = ["compare", "writer", "none", "--suite", "suite.toml", "--yes"];
    assert!(
        scene.refusal(&line).contains("no scenario to try"),
        "the judge's own criteria are about a skill"
    );
    scene.write_skill("better", 95);
    let line = [
        "compare",
        "writer",
        "better",
        "--suite",
        "suite.toml",
        "--yes",
        "--delivery",
        "inline",
        "--format",
        "json",
    ];
    let first = scene.run(&line);
    assert_eq!(verdict(&first), (Some(4), json!("unjudged")), "{first:?}");
    scene.write_script(&json!({}));
    let settings = scene.path("config/skilltune/skilltune.toml");
    let script = scene.path("script.json").display().to_string();
    let other = format!("[agents.other]\ncommand = [{FAKE_AGENT:?}, \"evaluator\", {script:?}, \"other\"]\n");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text + &other).unwrap();
    let [executed, _] = begun(&scene);
    let ran = regrade(&scene, &id(&first), &["--evaluator", "other"]);
    assert_eq!(verdict(&ran), (Some(0), json!("won")), "{ran:?}");
    assert_eq!(begun(&scene)[0], executed);
    let summary = ran.json();
    let agents = (&summary["agents"]["executor"], &summary["agents"]["evaluator"]);
    assert_eq!(agents, (&json!("executor"), &json!("other")), "{summary}");
}

/// Runs a search whose comparison holds out five of twelve scenarios.
fn tuned(skills: &[(&str, u32)], more: &[&str]) -> (Scene, String) {
    let script = json!({ "improve": { "writer": { "40": 70 } } });
    let scene = Scene::new(skills, &script);
    let one = |nth: u32| {
        format!(
            "[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nexpectations = [\"Its quality is at least 60.\"]\n"
        )
    };
    write_suite(&scene, &(1..=12).map(one).collect::<String>());
    let line =
        ["--suite", "suite.toml", "--max-iterations", "2", "--apply", "never", "--yes", "--format", "json"];
    let ran = scene.run(&[&["tune"], more, &line].concat());
    assert_eq!(ran.json()["verdict"], "win", "{ran:?}");
    (scene, id(&ran))
}

#[test]
fn a_win_of_a_search_says_how_to_apply_it_and_that_its_held_out_scenarios_decided_again() {
    let (scene, run) = tuned(&[("writer", 40)], &["writer"]);
    let [executed, judged] = begun(&scene);
    let ran = scene.run(&["regrade", &run, "--yes"]);
    assert_eq!((ran.code, begun(&scene)), (Some(0), [executed, judged]), "{ran:?}");
    assert!(ran.stdout.contains("5 held-out scenarios, 1 stored trial of each version on each"), "{ran:?}");
    assert!(ran.stdout.contains("These held-out scenarios have decided 2 times"), "{ran:?}");
    assert!(ran.stderr.contains(&format!("= {run}/start?")), "{ran:?}");
    let lead = "to apply B: skilltune ";
    let command = ran.stdout.lines().find_map(|line| line.strip_prefix(lead)).expect("it says how");
    assert!(command.starts_with(&format!("apply {run} ")), "{ran:?}");
    let anew = scene.run(&["status", "--format", "json"]).json()["run_id"].as_str().unwrap().to_owned();
    let refused = scene.run(&["apply", &anew]);
    assert!(
        refused.code == Some(2) && refused.stderr.contains(&format!("skilltune apply {run}")),
        "{refused:?}"
    );
    assert_eq!(scene.quality("writer"), 40, "nothing was applied so far");
    let applied = scene.run(&command.split(' ').collect::<Vec<_>>());
    assert_eq!((applied.code, scene.quality("writer")), (Some(0), 70), "{applied:?}");
    let third = scene.run(&["regrade", &anew, "--yes"]);
    assert!(third.stderr.contains(&format!("regrade run {run}")), "{third:?}");
    assert!(third.stdout.contains("have decided 3 times"), "{third:?}");
    let line =
        ["tune", "writer", "--suite", "suite.toml", "--max-iterations", "2", "--apply", "never", "--yes"];
    scene.write_skill("writer", 40);
    let tuned = scene.run(&[&line[..], &["--fresh"]].concat());
    assert!(tuned.stdout.contains("have decided 4 times"), "a search counts them too: {tuned:?}");
}

/// The initial files of its workspace are not output of the executor.
#[test]
fn the_files_and_the_set_up_of_a_scenario_are_there_for_its_checks_and_are_not_made_again() {
    let scene = Scene::new(&[("writer", 80)], &json!({}));
    fs::write(scene.path("project/data.txt"), "1\n").unwrap();
    let noted = scene.path("set-up");
    let brought = |may_change: &str| {
        let set_up = format!("echo x >> {}; cp data.txt copy.txt", noted.display());
        let check = format!("[[scenarios.checks]]\nonly_changes = [{may_change:?}]");
        suite(&format!("files = [\"data.txt\"]\nsetup = [\"sh\", \"-c\", {set_up:?}]\ngit = true\n{check}"))
    };
    let settings = fs::read_to_string(scene.path("config/skilltune/skilltune.toml")).unwrap();
    let settings = format!("{settings}\n[limits]\nconfine = false\n");
    fs::write(scene.path("config/skilltune/skilltune.toml"), settings).unwrap();
    write_suite(&scene, &brought("nothing.md"));
    let line = ["compare", "none", "writer", "--suite", "suite.toml", "--yes", "--trust", "--format", "json"];
    let first = scene.run(&line);
    assert_eq!(
        (verdict(&first), fs::read(&noted).unwrap().len()),
        ((Some(3), json!("tied")), 10),
        "{first:?}"
    );
    assert_eq!(first.json()["compared"]["b_score"], 0.0);
    write_suite(&scene, &brought("out.md"));
    let anew = regrade(&scene, &id(&first), &["--trust"]);
    assert_eq!((verdict(&anew), fs::read(&noted).unwrap().len()), ((Some(3), json!("tied")), 10), "{anew:?}");
    assert_eq!(anew.json()["compared"]["b_score"], 100.0);
    fs::write(scene.path("project/data.txt"), "2\n").unwrap();
    let refused = scene.refusal(&["regrade", &id(&first), "--trust", "--yes"]);
    assert!(refused.contains("s1, its files have changed"), "{refused}");
    assert_eq!(begun(&scene), [10, 0]);
}

#[test]
fn a_chain_is_judged_anew_whole() {
    let skills = [("outline", 90), ("writer", 40), ("editor", 70)];
    let scene =
        Scene::new(&skills, &json!({ "improve": { "outline": {}, "writer": {}, "editor": { "70": 80 } } }));
    let held_out = |nth: u32| {
        format!(
            "[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nheld_out = {}\n[[scenarios.checks]]\nfile = \"out.md\"\n",
            nth > 1
        )
    };
    let ours = |pattern: &str| {
        let check = format!("pattern = {pattern:?}\nin = \"out.md\"");
        (1..=6).map(held_out).collect::<String>().replace("file = \"out.md\"", &check)
    };
    write_suite(&scene, &ours("by editor with quality 80"));
    let line = ["tune", "outline,writer,editor", "--chain", "--suite", "suite.toml", "--max-iterations", "2"];
    let ran = scene.run(&[&line[..], &["--apply", "never", "--yes", "--format", "json"]].concat());
    assert_eq!(ran.json()["verdict"], "win", "{ran:?}");
    let before = begun(&scene);
    write_suite(&scene, &ours("by editor with quality 70"));
    let anew = regrade(&scene, &id(&ran), &[]);
    assert_eq!((verdict(&anew), begun(&scene)), ((Some(3), json!("lost")), before), "{anew:?}");
    write_suite(&scene, &ours("from: made by writer with quality 40"));
    let anew = regrade(&scene, &id(&ran), &[]);
    assert_eq!((verdict(&anew), begun(&scene)), ((Some(3), json!("tied")), before), "{anew:?}");
}

#[test]
fn a_scenario_whose_task_has_changed_is_named_and_too_few_are_refused() {
    let (scene, run) = compared(&CHECKED);
    let before = begun(&scene);
    let changed = checking("quality 80").replace("\"Task 2\"", "\"Another task\"");
    write_suite(
        &scene,
        &(changed.clone()
            + "[[scenarios]]\nid = \"s6\"\ndescription = \"Task 6\"\n[[scenarios.checks]]\nfile = \"x\"\n"),
    );
    let ran = scene.run(&["regrade", &run, "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let note = "note: left out: s2 (its task has changed), s6 (not in that comparison)";
    assert!(ran.stderr.contains(note) && ran.stdout.contains("4 scenarios, 1 stored trial"), "{ran:?}");
    write_suite(&scene, &changed.replace("\"Task 3\"", "\"A third task\""));
    insta::assert_snapshot!(scene.refusal(&["regrade", &run, "--yes"]), @r"
    error: 3 scenarios cannot show a difference at confidence 0.9: it takes at least 4
    caused by: left out: s2, its task has changed
    caused by: left out: s3, its task has changed
    hint: to try them again, run `skilltune compare none writer --suite /project/suite.toml`
    ");
    let fewer = regrade(&scene, &run, &["--confidence", "0.8"]);
    assert_eq!((verdict(&fewer), begun(&scene)), ((Some(0), json!("won")), before), "{fewer:?}");
}

#[test]
fn a_check_that_runs_a_program_needs_trust_and_is_made_with_what_the_suite_brings_now() {
    let grader = "[[scenarios.checks]]\nid = \"counted\"\ncommand = [\"sh\", \"{grader}/count.sh\"]\ngrader = [\"count.sh\"]";
    let scene = Scene::new(&[("writer", 80)], &json!({}));
    let count = |least: u32| format!("n=$(sed -n 's/.*quality //p' out.md)\ntest \"$n\" -ge {least}\n");
    fs::write(scene.path("project/count.sh"), count(90)).unwrap();
    write_suite(&scene, &suite(grader));
    let line = ["compare", "none", "writer", "--suite", "suite.toml", "--yes", "--trust", "--format", "json"];
    let first = scene.run(&line);
    assert_eq!(verdict(&first), (Some(3), json!("tied")), "{first:?}");
    fs::write(scene.path("project/count.sh"), count(60)).unwrap();
    let refused = scene.refusal(&["regrade", &id(&first), "--yes"]);
    assert!(refused.contains("trust"), "{refused}");
    assert_eq!(verdict(&regrade(&scene, &id(&first), &["--trust"])), (Some(0), json!("won")));
    assert_eq!(begun(&scene), [10, 0]);
}

#[test]
fn what_has_no_comparison_is_refused_in_one_line_that_says_what_to_do() {
    let (scene, run) = compared(&CHECKED);
    write_suite(&scene, &checking("quality 80"));
    let refused = |run: &str| {
        let message = scene.refusal(&["regrade", run, "--yes"]);
        assert_eq!(message.lines().next().map(|line| line.starts_with("error: ")), Some(true), "{message}");
        assert!(message.contains("hint: "), "{message}");
        message
    };
    assert!(refused("nobody").contains("no run matches"));
    let own =
        id(&scene.run(&["tune", "writer", "Write", "--max-iterations", "1", "--yes", "--format", "json"]));
    assert!(refused(&own).contains("its search found no better candidate"));
    let text = ["reflex", "Write about the pump", "--alias", "pump", "--template", "docs", "--yes"];
    scene.run(&text);
    assert!(refused("pump").contains("regrade cannot judge run RUN: it wrote a text"));
    let tried = ["calibrate", "writer", "--suite", "suite.toml", "--yes", "--format", "json"];
    assert!(refused(&id(&scene.run(&tried))).contains("it calibrated a suite"));
    // A run of another user, and lost objects of the store.
    let theirs = Scene::new(&[("writer", 80)], &json!({}));
    copy(&scene.path("project/.skilltune"), &theirs.path("project"));
    copy(&scene.path("project/suite.toml"), &theirs.path("project"));
    let foreign = theirs.refusal(&["regrade", &run, "--yes"]);
    assert!(foreign.contains("was not started by you on this machine"), "{foreign}");
    fs::rename(scene.path("project/suite.toml"), scene.path("project/other.toml")).unwrap();
    assert!(refused(&run).contains("does not exist"));
    fs::rename(scene.path("project/other.toml"), scene.path("project/suite.toml")).unwrap();
    fs::rename(scene.path("project/.skilltune/objects"), scene.path("lost")).unwrap();
    assert!(refused(&run).contains("the store is missing output of the trials"));
    fs::rename(scene.path("lost"), scene.path("project/.skilltune/objects")).unwrap();
    let journal = scene.path("project/.skilltune/runs").join(&run).join("history.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("scenario", "sCenario", 9)).unwrap();
    assert!(refused(&run).contains("is damaged"));
}

#[test]
fn a_regrade_that_was_killed_is_taken_up_and_executes_nothing_and_an_unfinished_run_is_refused() {
    let (scene, run) = compared(&JUDGED);
    write_suite(&scene, &expecting(90));
    let gate = Gate::before("evaluator", &scene, json!({}));
    let running = Background::start(&scene, &["regrade", &run, "--yes"]);
    running.until_begun(25);
    running.kill_and_see_off();
    let left = scene.run(&["status", "--format", "json"]).json();
    let anew = left["run_id"].as_str().unwrap().to_owned();
    assert_ne!(anew, run);
    let unfinished = scene.run(&["regrade", &anew, "--yes"]);
    assert!(
        unfinished.code == Some(2) && unfinished.stderr.contains(&format!("run {anew} has not ended")),
        "{unfinished:?}"
    );
    assert!(unfinished.stderr.contains(&format!("`skilltune resume {anew}` continues it")), "{unfinished:?}");
    // A search on the same skill does not offer the regrade run.
    let dry =
        scene.run(&["tune", "writer", "--suite", "suite.toml", "--this-suite-only", "--yes", "--dry-run"]);
    assert!(!dry.stderr.contains("unfinished run"), "{dry:?}");
    gate.open();
    let resumed = scene.run(&["resume", &anew, "--yes", "--format", "json"]);
    assert_eq!(verdict(&resumed), (Some(3), json!("tied")), "{resumed:?}");
    assert_eq!(begun(&scene)[0], 10);
}

#[test]
fn it_pauses_at_a_ceiling_and_goes_on_and_what_it_took_over_outlives_the_older_run() {
    let (scene, run) = compared(&JUDGED);
    write_suite(&scene, &expecting(90));
    let left = regrade(&scene, &run, &["--max-calls", "3"]);
    assert_eq!((left.code, begun(&scene)), (Some(5), [10, 16]), "{left:?}");
    assert_eq!(scene.run(&["clean", &run, "--yes"]).code, Some(0));
    let resumed = scene.run(&["resume", &id(&left), "--yes", "--max-calls", "20", "--format", "json"]);
    assert_eq!((verdict(&resumed), begun(&scene)), ((Some(3), json!("tied")), [10, 26]), "{resumed:?}");
    write_suite(&scene, &expecting(70));
    assert_eq!(verdict(&regrade(&scene, &id(&left), &[])), (Some(0), json!("won")));
    assert_eq!(begun(&scene), [10, 39]);
}

#[test]
fn what_it_would_take_is_told_without_a_call() {
    let (scene, run) = compared(&JUDGED);
    let before = (begun(&scene), scene.run_folders().len());
    let estimate = scene.run(&["regrade", &run, "--estimate"]);
    assert!(estimate.stdout.starts_with("estimate: up to 19 calls"), "{estimate:?}");
    let dry = scene.run(&["regrade", &run, "--dry-run", "--format", "json"]).json();
    assert_eq!(dry["most_calls"], json!({ "all": 38, "evaluator": 38 }), "{dry}");
    assert_eq!((begun(&scene), scene.run_folders().len()), before);
}
