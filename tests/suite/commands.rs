//! Every command after a real run: data on stdout, messages on stderr, the documented exit code.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::store;
use skilltune_phases::loops::tune::Run;
use skilltune_phases::loops::tune::results::state_file;

use crate::chain::{SKILLS, chained, failed};
use crate::finished::{held, won};
use crate::readme::steady;
use crate::scene::{Ran, Scene, listing, without_moments, without_padding};

/// Returns a script whose scores go up and down, and never reach the goal of 80.
fn script() -> Value {
    json!({ "improve": { "writer": { "40": 60, "60": 30, "30": 92 } } })
}

pub(crate) fn talk(scene: &Scene, ran: &Ran) -> String {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    scene.normalized(&ran.stderr)
}

pub(crate) fn data(scene: &Scene, line: &[&str]) -> String {
    let ran = scene.run(line);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line:?}: {ran:?}");
    without_moments(&scene.normalized(&ran.stdout))
}

#[test]
fn a_run_in_a_pipe_is_told_in_plain_lines() {
    let scene = Scene::new(&[("writer", 40)], &script());
    let ran = scene.run(&["tune", "writer", "write a page", "--yes"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "no colour, no cursor in a pipe");
    insta::assert_snapshot!(scene.normalized(&ran.stderr), @r#"
    estimate: up to 18 calls if none fails (executor 7, evaluator 7, improver 4)
      cost and time unknown: no earlier run here with these agents
    tune writer: goal 80 in up to 5 rounds
    executor executor, evaluator evaluator, improver improver
    run RUN, 1 scenario
    limits: 36 calls (default)

    round 1 of 5  39.6            baseline
      1 suggestion; strength: SKILL.md states its quality; weakness: SKILL.md: the quality is only 40
    round 2 of 5  60.4 (+20.8)    kept        edit of wording, structure
      1 suggestion; strength: SKILL.md states its quality; weakness: SKILL.md: the quality is only 60
    round 3 of 5  25.8 (-34.6)    dropped     quality 60 becomes 30
      1 suggestion; strength: SKILL.md states its quality; weakness: SKILL.md: the quality is only 30
    round 4 of 5  25.8 (-34.6)    dropped     quality 60 becomes 30
      1 suggestion; strength: SKILL.md states its quality; weakness: SKILL.md: the quality is only 30
    comparing HASH with the start on fresh trials
    "#);
    insta::assert_snapshot!(steady(&scene.normalized(&ran.stdout), scene.path("").as_path()), @r#"
    verdict: the candidate scored higher than the start (39.6 -> 60.4 on 1 scenario)
    writer: 39.6 -> 60.4, goal 80 not reached

    round 1  ###############                 |          39.6   baseline
    round 2  ########################        |          60.4   kept
    round 3  ##########                      |          25.8   dropped
    round 4  ##########                      |          25.8   dropped
                                             goal 80

    The champion scored higher than the start and was applied, as you said.
    The search stopped: the best score stopped rising.
    Weak evidence: one scenario. Other tasks may show a different result.
    The champion changes +2 -1 in 2 files.
      effort    4 rounds, 1 kept, 2 dropped; 13 calls, TIME of agent time, cost unknown
    to see what changed: skilltune diff RUN
    to undo it: skilltune rollback RUN
    report: /project/.skilltune/runs/RUN/report.html
    "#);
    // The cost estimate is only for the user who starts the run.
    let output = scene.normalized(&(ran.stderr + &ran.stdout));
    let (_, output) = output.split_once("\ntune writer: ").unwrap();
    assert_eq!(data(&scene, &["show"]), format!("tune writer: {output}"), "show tells it again");
}

#[test]
fn a_run_without_a_task_says_so_on_the_first_screen_in_the_report_and_in_json() {
    const NOTE: &str = "no task given: the agent makes one up for each skill, which is weak evidence";
    let scene = Scene::new(&[("writer", 40)], &script());
    let line = ["tune", "writer", "--max-iterations", "1"];
    let ran = scene.run(&line);
    assert!(unwrapped(&ran.stderr).contains(&format!("note: {NOTE}")), "{ran:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains(NOTE), "{report}");
    let notes = |more: &[&str]| scene.run(&[&line, more].concat()).json()["notes"].clone();
    assert_eq!(notes(&["--format", "json"]), json!([NOTE]));
    assert_eq!(notes(&["--format", "json", "--dry-run"]), json!([NOTE]));
    assert_eq!(notes(&["a task", "--format", "json", "--dry-run"]), json!([]));
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_is_looked_at_from_all_sides() {
    let scene = won();
    insta::assert_snapshot!(data(&scene, &["status"]), @r#"
    run      RUN  tune of writer
    status   The champion scored higher than the start and was applied, as you said.
    search   round 3 of 5
    verdict  the candidate scored higher than the start
    score    89.6, goal 80  (candidate HASH)
    updated  MOMENT
    next     skilltune diff RUN   (see what changed)
    next     skilltune rollback RUN   (undo it)
    "#);
    insta::assert_snapshot!(without_padding(&data(&scene, &["list"])), @r"
    RUN  KIND  STATUS  PROGRESS  RESULT  UPDATED  SUBJECT
    RUN  tune  completed  round 3 of 5  39.6 -> 89.6  MOMENT  writer
    ");
    let status = scene.run(&["status", "--format", "json"]).json();
    assert_eq!((&status["standing"], &status["iterations"]), (&json!("ended"), &json!(3)), "{status}");
    assert!(status["next"][0].as_str().unwrap().starts_with("skilltune diff "), "{status}");
    let report = scene.run(&["report", "--format", "json"]).json();
    let written = std::fs::read_to_string(scene.run_folder().join("report.json")).unwrap();
    assert_eq!(
        report,
        serde_json::from_str::<Value>(&written).unwrap(),
        "the file and the command say the same"
    );
    let id = scene.run_id();
    insta::assert_snapshot!(data(&scene, &["show", &id[..4], "best"]).lines().take(4).collect::<Vec<_>>().join("\n"), @r"
    candidate 00025734f142aadb89db233d3f3529ed85efda308144ef6adcd92a2cd374e263
    made in round 2 from HASH; edits writer (wording)
    summary: quality 60 becomes 90
    search score 89.6
    ");
    let round = data(&scene, &["show", &id, "1"]);
    assert!(round.contains("# Iteration 1 Evaluation") && round.contains("# Iteration 1 Changes"), "{round}");
    assert_eq!(data(&scene, &["show", "1"]), round, "a lone number is a round of the latest run");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert_eq!(data(&scene, &["report"]), scene.normalized(&report));
    let diff = scene.run(&["diff"]);
    assert_eq!((diff.code, diff.stderr.as_str()), (Some(0), "writer: M SKILL.md, A notes.md\n"));
    insta::assert_snapshot!(diff.stdout, @r"
    modified SKILL.md
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,6 +5,6 @@
     
     # writer
     
    -Quality: 40
    +Quality: 90
     
     See references/style.md.
    added notes.md
    --- /dev/null
    +++ b/notes.md
    @@ -0,0 +1 @@
    +now 90
    ");
    let start = scene.run(&["diff", &id, "start"]);
    assert_eq!((start.code, start.stdout.as_str()), (Some(0), ""), "{start:?}");
}

#[test]
fn the_history_tells_every_event_in_words() {
    let scene = won();
    let output = data(&scene, &["history"]);
    // Times and durations differ between runs.
    let lines = output.lines().map(|line| {
        let words = line.split_at(28).1;
        words
            .rsplit_once(" (")
            .map_or(words, |(before, took)| if took.ends_with("s)") { before } else { words })
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    run RUN started: writer
    round 1: try HASH
    running writer on scenario-1: wrote 2 files (HASH)
    judging scenario-1: scored 39.6
    round score 39.6
    keep HASH
    improving writer: made HASH
    draft HASH
    round 2: try HASH
    running writer on scenario-1: wrote 2 files (HASH)
    judging scenario-1: scored 60.4
    round score 60.4
    keep HASH
    improving writer: made HASH
    draft HASH
    round 3: try HASH
    running writer on scenario-1: wrote 2 files (HASH)
    judging scenario-1: scored 89.6
    round score 89.6
    keep HASH
    search stopped: goal reached
    compare HASH with the start
    running writer on scenario-1: wrote 2 files (HASH)
    judging scenario-1: scored 89.6
    running writer on scenario-1: wrote 2 files (HASH)
    judging scenario-1: scored 39.6
    verdict the candidate scored higher than the start (HASH)
    applying the champion: champion applied
    run ended: champion applied
    "#);
}

#[test]
fn the_newest_run_is_meant_when_none_is_named_and_a_beginning_is_enough() {
    let scene = won();
    let first = scene.run_id();
    scene.run(&["rollback"]);
    let newest = scene.tune("writer", &["--apply", "never", "--fresh"]).json()["run_id"].clone();
    let newest = newest.as_str().unwrap();
    assert!(scene.run(&["status"]).stdout.contains(newest));
    assert!(scene.run(&["status", &first[..4]]).stdout.contains(&first));
    let listed = scene.run(&["list", "--format", "json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed.len(), scene.run_folders().len());
    assert_eq!(listed[0]["run_id"], json!(newest));
}

#[test]
fn the_object_at_the_end_has_exactly_the_documented_keys() {
    for scene in [won(), held().0] {
        let ran = scene.run(&["list", "--format", "json"]);
        let listed: Value = serde_json::from_str(&ran.stdout).unwrap();
        let keys: Vec<_> = listed[0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys.join(", "), format!("{KEYS}, updated_at, rolled_back"));
    }
    let scene = Scene::new(&SKILLS, &crate::chain::script());
    let ran = scene.tune("outline,writer,editor", &["--chain"]);
    assert_eq!(
        ran.json().as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        KEYS
    );
    assert_eq!(ran.stdout.lines().count(), 1);
}

const KEYS: &str = "verdict, dangers, run_id, loop, target, outcome, reason, blocked, paused, limits, initial_score, final_score, threshold, fail_on, agents, models, notes, rights, structural, \
                    delivery, tools, search, runs, iterations, accepted, rejected, champion, proposal, report, page, state, cost";

#[test]
fn jsonl_is_the_journal_line_by_line_and_then_the_summary() {
    let scene = Scene::new(&SKILLS, &crate::chain::script());
    let line = [
        "tune",
        "outline,writer,editor",
        "a page",
        "--scenario",
        "another page",
        "--this-suite-only",
        "--chain",
        "--yes",
        "--format",
        "jsonl",
    ];
    let ran = scene.run(&line);
    let mut lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = lines.pop().unwrap();
    assert_eq!(summary["outcome"], "kept", "two tasks are too few to apply anything unattended");
    let journal = fs::read_to_string(scene.run_folder().join("history.jsonl")).unwrap();
    let journal = journal.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("sum");
        line
    });
    assert_eq!(lines, journal.collect::<Vec<_>>());
}

#[test]
fn the_journal_replayed_gives_the_state_file_byte_for_byte() {
    let single = won();
    single.run(&["rollback"]);
    let chain = Scene::new(&SKILLS, &crate::chain::script());
    chain.tune("outline,writer,editor", &["--chain", "--scenario", "another page", "--this-suite-only"]);
    for scene in [single, chain, failed(), held().0] {
        let folder = scene.run_folder();
        let history = store::read(&SafePath::below(&folder, "history.jsonl")).unwrap();
        let replayed = state_file::text(&Run::replay(&history.records).unwrap());
        let state = fs::read_to_string(folder.join("iteration-state.json")).unwrap();
        let differ = state.lines().zip(replayed.lines()).find(|(state, replayed)| state != replayed);
        assert!(state == replayed, "{differ:?}");
    }
}

#[test]
fn several_scenarios_are_judged_in_every_round_and_named_in_the_report() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    scene.tune(
        "writer",
        &[
            "--scenario",
            "two pages",
            "--test",
            "three pages",
            "--requirements",
            "short,plain",
            "--this-suite-only",
        ],
    );
    let state = scene.state();
    assert_eq!(state["skilltune"]["scenarios"].as_array().unwrap().len(), 3);
    assert_eq!(state["test_scenario"]["requirements"], json!(["short", "plain"]));
    for round in state["iterations"].as_array().unwrap() {
        assert_eq!((&round["evaluation"]["judged"], &round["evaluation"]["of"]), (&json!(3), &json!(3)));
    }
    assert!(data(&scene, &["report"]).contains("scenario-3"));
}

#[test]
fn a_skill_reached_through_a_link_is_worked_on_at_its_real_place() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    fs::create_dir_all(scene.path("project/.agents")).unwrap();
    let link = scene.path("project/.agents/skills");
    symlink("../.claude/skills", &link).unwrap();
    let ran = scene.tune("writer", &[]);
    assert_eq!(ran.code, Some(0), "one skill, whatever leads to it: {ran:?}");
    assert_eq!(ran.json()["target"][0]["path"], json!(scene.skill("writer").to_str().unwrap()));
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(scene.quality("writer"), 90);
}

#[test]
fn git_and_our_own_folder_inside_a_skill_are_not_touched() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let git = scene.skill("writer").join(".git");
    fs::create_dir_all(git.join("objects")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let before = listing(&git);
    // A user may set a skill as its own project: then its runs are stored in the skill.
    let skill = scene.skill("writer");
    let ran = scene.tune(".claude/skills/writer", &["--project", skill.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(scene.quality("writer"), 90);
    assert_eq!(listing(&git), before);
    assert!(skill.join(".skilltune/runs").is_dir());
    let rolled = scene.run(&["--project", skill.to_str().unwrap(), "rollback"]);
    assert_eq!(rolled.code, Some(0), "{rolled:?}");
    assert_eq!((scene.quality("writer"), listing(&git)), (40, before));
}

#[test]
fn a_dry_run_shows_the_first_steps_and_the_most_calls_and_writes_nothing() {
    let scene = Scene::new(&SKILLS, &json!({}));
    let before = scene.everything();
    let single = data(
        &scene,
        &[
            "tune",
            "writer",
            "--this-suite-only",
            "a",
            "--dry-run",
            "--scenario",
            "b",
            "--preset",
            "quick",
            "--seed",
            "7",
        ],
    );
    let chain = data(&scene, &["tune", "outline,writer,editor", "a", "--dry-run", "--chain"]);
    assert_eq!(scene.everything(), before);
    insta::assert_snapshot!(single + &chain, @r#"
    tune writer: up to 3 rounds, goal 70
    2 scenarios
    first steps:
      running writer on scenario-2
      running writer on scenario-1
    at most 44 calls: 20 by the executor (executor), 20 by the evaluator (evaluator), 4 by the improver (improver)
    limits: 44 calls (default)
    estimate: up to 22 calls if none fails (executor 10, evaluator 10, improver 2)
      cost and time unknown: no earlier run here with these agents
    tune outline -> writer -> editor: up to 5 rounds, goal 80
    1 scenario
    first steps:
      running outline on scenario-1
    at most 64 calls: 42 by the executor (executor), 14 by the evaluator (evaluator), 8 by the improver (improver)
    limits: 64 calls (default)
    estimate: up to 32 calls if none fails (executor 21, evaluator 7, improver 4)
      cost and time unknown: no earlier run here with these agents
    "#);
}

#[test]
fn what_a_run_calls_is_within_what_the_dry_run_said() {
    let before = Scene::new(&SKILLS, &crate::chain::script());
    let output = data(&before, &["tune", "outline,writer,editor", "write a page", "--dry-run", "--chain"]);
    let most: usize = output.split("at most ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let scene = chained();
    assert!(scene.answered() <= most, "{} of {most}", scene.answered());
}

#[test]
fn settings_tell_their_value_and_where_it_comes_from() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    fs::write(scene.path("project/skilltune.toml"), "[tune]\npreset = \"quick\"\n[calls]\njobs = 2\n")
        .unwrap();
    let output = data(&scene, &["config", "show"]);
    let is_shown = |line: &&str| line.starts_with("tune.") || line.starts_with("calls.");
    let shown: Vec<_> = output.lines().filter(is_shown).map(str::trim_end).collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    calls.jobs                           2                                         project file /project/skilltune.toml
    calls.workers                        []                                        default
    calls.at_once                        []                                        default
    calls.wait                           false                                     default
    calls.wait_hours                     12                                        default
    calls.isolation                      partial                                   default
    calls.via                            direct                                    default
    calls.wrap                           []                                        default
    tune.preset                          quick                                     project file /project/skilltune.toml
    tune.search                          -                                         default
    tune.runs                            16                                        preset quick, project file /project/skilltune.toml
    tune.max_iterations                  3                                         preset quick, project file /project/skilltune.toml
    tune.threshold                       70                                        preset quick, project file /project/skilltune.toml
    tune.regress                         10                                        default
    tune.stall_window                    2                                         default
    tune.stall_gain                      2                                         default
    tune.max_errors                      3                                         default
    tune.confirm                         1                                         default
    tune.confidence                      0.9                                       default
    tune.held_out                        40                                        default
    tune.coverage                        0.8                                       default
    tune.delivery                        auto                                      default
    tune.tools                           files                                     default
    tune.apply                           auto                                      user file /config/skilltune/skilltune.toml
    ");
    let rows: Value = serde_json::from_str(&data(&scene, &["config", "show", "--format", "json"])).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), output.lines().count());
}

#[test]
fn clean_deletes_runs_and_what_only_they_need() {
    let scene = won();
    let skill = listing(&scene.skill("writer"));
    talk(&scene, &scene.run(&["rollback"]));
    let plan = scene.run(&["clean", "--dry-run"]);
    assert_eq!((plan.code, scene.run_folders().len()), (Some(0), 1), "{plan:?}");
    talk(&scene, &scene.run(&["apply"]));
    let kept = scene.run(&["clean", "--keep", "1", "--yes"]);
    assert_eq!((kept.code, kept.stderr.as_str()), (Some(0), "nothing to clean\n"));
    let cleaned = scene.run(&["clean", "--all", "--yes"]);
    assert_eq!((cleaned.code, cleaned.stdout.as_str()), (Some(0), ""), "{cleaned:?}");
    assert_eq!(scene.run_folders().len(), 0);
    let left = listing(&scene.path("project/.skilltune"));
    let files = left.iter().filter(|(path, ..)| scene.path("project/.skilltune").join(path).is_file());
    assert_eq!(files.map(|(path, ..)| path.to_str().unwrap()).collect::<Vec<_>>(), [".gitignore", "lock"]);
    assert_eq!(listing(&scene.skill("writer")), skill);
}

#[test]
fn clean_leaves_a_run_that_can_be_taken_up() {
    let (scene, _) = held();
    insta::assert_snapshot!(talk(&scene, &scene.run(&["clean", "--yes"])), @r"
    keeping 1 run that can be resumed (`skilltune clean --all` deletes all runs, `skilltune clean RUN` one)
    nothing to clean
    ");
    assert_eq!(scene.run(&["resume", "--answer", "apply"]).code, Some(0));
}

#[test]
fn what_has_ended_is_neither_taken_up_nor_stopped() {
    let scene = won();
    let again = scene.run(&["resume"]);
    assert!(again.stdout.contains("writer: 39.6 -> 89.6"), "what has ended is told once more: {again:?}");
    insta::assert_snapshot!(scene.normalized(&again.stderr), @"run RUN has ended and cannot be resumed; `skilltune report RUN` shows it, `skilltune tune SKILL` starts a new run");
    insta::assert_snapshot!(talk(&scene, &scene.run(&["stop"])), @"run RUN is not running");
}

#[test]
fn resume_names_the_older_run_that_has_not_ended() {
    let scene = Scene::new(&[("writer", 40)], &script());
    let line = ["tune", "writer", "write a page", "--yes"];
    assert_eq!(scene.run(&[&line[..], &["--max-calls", "1"]].concat()).code, Some(5));
    let older = scene.run_id();
    scene.run(&["tune", "writer", "write a page", "--yes", "--fresh"]);
    let answered = scene.answered();
    let ran = scene.run(&["resume", "--yes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains(&format!("`skilltune resume {older}` continues")), "{ran:?}");
    assert_eq!(scene.answered(), answered);
}
