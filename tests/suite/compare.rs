//! `compare`: two versions of a skill, compared with the test that ends a search.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::scene::{Ran, Scene, listing, without_moments, without_padding};

/// Returns five scenarios that a quality of 60 passes.
fn suite() -> String {
    let one = |nth: u32| {
        format!(
            "[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nexpectations = [\"Its quality is at least 60.\"]\n"
        )
    };
    (1..=5).map(one).collect()
}

/// Returns a scene whose executor reaches 50 without the skill.
fn scene(quality: u32) -> Scene {
    let scene = Scene::new(&[("writer", quality)], &json!({}));
    fs::write(scene.path("project/suite.toml"), suite()).unwrap();
    scene
}

fn compare(scene: &Scene, a: &str, b: &str, more: &[&str]) -> Ran {
    let line = ["compare", a, b, "--suite", "suite.toml", "--yes", "--format", "json"];
    scene.run(&[&line[..], more].concat())
}

fn verdict(ran: &Ran) -> (Option<i32>, Value) {
    (ran.code, ran.json()["compared"]["verdict"].clone())
}

/// Creates a repository: quality 40 in the first commit, `quality` in the second, and 99 in the working tree.
fn repository(quality: u32) -> Scene {
    let scene = scene(40);
    fs::remove_dir(scene.path("project/.git")).unwrap();
    scene.git(&["init", "--quiet", "--initial-branch=main"]);
    scene.commit("one");
    scene.write_skill("writer", quality);
    symlink("../../../../etc/passwd", scene.skill("writer").join("link")).unwrap();
    scene.commit("two");
    scene.write_skill("writer", 99);
    scene
}

const OLD: &str = "HEAD~1:.claude/skills/writer";
const NEW: &str = "HEAD:.claude/skills/writer";

#[test]
fn a_skill_that_helps_wins_against_none_and_one_that_harms_loses() {
    let scene = scene(80);
    let before = listing(&scene.skill("writer"));
    let ran = compare(&scene, "none", "writer", &[]);
    assert_eq!(verdict(&ran), (Some(0), json!("won")), "{ran:?}");
    let summary = ran.json();
    assert_eq!(
        (&summary["outcome"], &summary["compared"]["a_score"], &summary["compared"]["b_score"]),
        (&json!("compared"), &json!(0.0), &json!(100.0))
    );
    assert!(summary["compared"]["effect"]["lower"].as_f64().unwrap() > 0.0, "{summary}");
    assert_eq!(verdict(&compare(&scene, "writer", "none", &[])), (Some(3), json!("lost")));
    assert_eq!(listing(&scene.skill("writer")), before);
    let prompts = scene.run_folders().len();
    assert_eq!(prompts, 2);
}

#[test]
fn it_is_told_by_what_it_is_wherever_runs_are_told() {
    let scene = scene(80);
    let ran = scene.run(&["compare", "none", "writer", "--suite", "suite.toml", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let without_time = |text: &str| {
        let lines = text.lines().filter(|line| !line.contains("agent time")).collect::<Vec<_>>();
        without_moments(&scene.normalized(&lines.join("\n")))
    };
    insta::assert_snapshot!(without_time(&ran.stderr), @r"
    compare A = none with B = writer: is B better? 1 trial of each per scenario, confidence 0.9
    executor executor, evaluator evaluator
    run RUN, 5 scenarios
    limits: 178 calls (default)
    ");
    insta::assert_snapshot!(without_time(&ran.stdout), @r"
    B: WIN, better by 100.0 points, by at least 100.0 at confidence 0.9
    A 0.0, B 100.0: 5 scenarios, 1 fresh trial of each version on each
    ↑ +100.0 s1 (0.0 -> 100.0)
    ↑ +100.0 s2 (0.0 -> 100.0)
    ↑ +100.0 s3 (0.0 -> 100.0)
    ↑ +100.0 s4 (0.0 -> 100.0)
    ↑ +100.0 s5 (0.0 -> 100.0)
    to see what B changes: skilltune diff RUN HASH
    report: /project/.skilltune/runs/RUN/report.html
    ");
    insta::assert_snapshot!(without_padding(&without_time(&scene.run(&["list"]).stdout)), @r"
    RUN  KIND  STATUS  PROGRESS  RESULT  UPDATED  SUBJECT
    RUN  compare  completed  5 scenarios  0.0 -> 100.0  MOMENT  writer with none
    ");
    insta::assert_snapshot!(without_time(&scene.run(&["status"]).stdout), @r"
    run      RUN  compare of writer with none
    status   The two versions were compared; nothing was changed.
    A        none
    B        writer
    verdict  WIN, better by 100.0 points, by at least 100.0 at confidence 0.9
    updated  MOMENT
    next     skilltune diff RUN HASH   (see what B changes)
    ");
    let report = scene.run(&["report"]).stdout;
    let (page, _) = report.split_once("## Cost").unwrap();
    let lines: Vec<_> = page
        .lines()
        .filter(|line| {
            !line.contains("| Started") && !line.contains("| Completed") && !line.contains("| Rights")
        })
        .collect();
    insta::assert_snapshot!(scene.normalized(&lines.join("\n")), @r"
    # Comparison: writer

    **B**: WIN, better by 100.0 points, by at least 100.0 at confidence 0.9.

    ## Summary

    | Field | Value |
    | --- | --- |
    | Run | `RUN` (compare) |
    | A | `none` |
    | B | `writer` |
    | Suite | `/project/suite.toml` |
    | Note | One side has no skill, so skill use was not checked on either side. |
    | Agents | executor executor, evaluator evaluator |
    | Confidence | 0.9 |

    ## Scenarios

    Based on 5 scenarios, 1 fresh trial of each version on each.

    | Scenario | A | B | Difference |
    | --- | --- | --- | --- |
    | s1 | 0.0 | 100.0 | ↑ +100.0 |
    | s2 | 0.0 | 100.0 | ↑ +100.0 |
    | s3 | 0.0 | 100.0 | ↑ +100.0 |
    | s4 | 0.0 | 100.0 | ↑ +100.0 |
    | s5 | 0.0 | 100.0 | ↑ +100.0 |
    ");
    assert!(scene.run(&["show"]).stdout.contains("B: WIN"));
    let before = scene.everything();
    let refused = scene.run(&["apply", &scene.run_id(), "--force"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("compared two versions"), "{refused:?}");
    assert_eq!(scene.everything(), before);
}

#[test]
fn two_revisions_are_read_from_git_and_the_folder_stays_as_it_is() {
    let scene = repository(80);
    let before = listing(&scene.path("project/.git"));
    let ran = compare(&scene, OLD, NEW, &[]);
    assert_eq!(verdict(&ran), (Some(0), json!("won")), "{ran:?}");
    assert_eq!(listing(&scene.path("project/.git")), before, "git has written nothing");
    assert_eq!(scene.quality("writer"), 99);
    // A symlink is exported as a symlink, and not followed.
    let id = scene.run_id();
    let exported = scene.run(&["export", &id, "champion", "copy"]);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    let link = scene.path("project/copy/link");
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("../../../../etc/passwd"));
    assert_eq!(verdict(&compare(&scene, NEW, OLD, &[])), (Some(3), json!("lost")));
    let same = compare(&scene, "main:.claude/skills/writer", NEW, &[]);
    assert!(same.code == Some(2) && same.stderr.contains("are the same version"), "{same:?}");
}

#[test]
fn a_revision_that_is_no_skill_or_would_be_an_option_is_refused() {
    let scene = repository(80);
    for (given, why) in [
        ("HEAD~7:.claude/skills/writer", "cannot read HEAD~7"),
        ("HEAD:nowhere", "cannot read HEAD:nowhere"),
        ("HEAD:.claude", "it has no SKILL.md"),
        ("--output=x:y", "unexpected argument"),
        (":writer", "is not a git revision"),
    ] {
        let ran = scene.run(&["compare", given, "writer", "--suite", "suite.toml", "--yes"]);
        assert!(ran.code == Some(2) && ran.stderr.contains(why), "{given}: {ran:?}");
    }
    let option = scene.run(&["compare", "--suite", "suite.toml", "--", "--help:x", "writer"]);
    assert!(option.stderr.contains("is not a git revision"), "{option:?}");
    let module = format!("160000,{},.claude/skills/writer/vendor", "a".repeat(40));
    scene.git(&["update-index", "--add", "--cacheinfo", &module]);
    scene.git(&["commit", "--quiet", "--message", "three"]);
    let ran = compare(&scene, OLD, NEW, &[]);
    assert!(ran.code == Some(2) && ran.stderr.contains("submodule"), "{ran:?}");
}

#[test]
fn a_repository_that_sets_commands_starts_none_of_them() {
    let scene = repository(80);
    let trap = scene.path("trap");
    let command = format!("touch {}", trap.display());
    for name in [
        "core.pager",
        "core.sshCommand",
        "core.fsmonitor",
        "diff.external",
        "filter.x.smudge",
        "core.hooksPath",
    ] {
        scene.git(&["config", name, &command]);
    }
    fs::write(scene.path("project/.gitattributes"), "* filter=x diff=x\n").unwrap();
    scene.commit("traps");
    let _ = fs::remove_file(&trap);
    // Git would fetch a missing object.
    for (name, value) in [
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ssh://h/x"),
        ("remote.origin.promisor", "true"),
    ] {
        scene.git(&["config", name, value]);
    }
    let page = Command::new("git")
        .args(["rev-parse", "HEAD~2:.claude/skills/writer/SKILL.md"])
        .current_dir(scene.path("project"))
        .output()
        .unwrap();
    let id = String::from_utf8(page.stdout).unwrap();
    let (shard, rest) = id.trim().split_at(2);
    fs::remove_file(scene.path("project/.git/objects").join(shard).join(rest)).unwrap();
    let ran = compare(&scene, "HEAD~2:.claude/skills/writer", NEW, &[]);
    assert!(ran.code == Some(1) || ran.code == Some(2), "{ran:?}");
    assert_eq!(verdict(&compare(&scene, "none", NEW, &[])), (Some(0), json!("won")));
    assert!(!trap.exists(), "a command of the repository ran");
}

#[test]
fn candidates_of_a_run_are_compared_by_their_names() {
    let scene = scene(40);
    scene.write_script(&json!({ "improve": { "writer": { "40": 80 } } }));
    let tuned = scene.tune("writer", &["--max-iterations", "2", "--apply", "never"]);
    let run = tuned.json()["run_id"].as_str().unwrap().to_owned();
    let (start, best) = (format!("{}/start", &run[..4]), format!("{run}/best"));
    assert_eq!(verdict(&compare(&scene, &start, &best, &[])), (Some(0), json!("won")));
    let ran = compare(&scene, &best, "writer", &[]);
    assert_eq!(verdict(&ran), (Some(3), json!("lost")), "{ran:?}");
    let unknown = compare(&scene, &format!("{run}/nobody"), "writer", &[]);
    assert!(unknown.stderr.contains("has no candidate \"nobody\""), "{unknown:?}");
}

#[test]
fn what_could_show_nothing_is_refused_before_anybody_is_called() {
    let scene = scene(80);
    fs::write(scene.path("project/few.toml"), suite().split("[[scenarios]]\nid = \"s4\"").next().unwrap())
        .unwrap();
    insta::assert_snapshot!(scene.refusal(&["compare", "none", "writer", "--suite", "few.toml", "--yes"]), @r"
    error: 3 scenarios cannot show a difference at confidence 0.9: it takes at least 4
    hint: add 1 more; `skilltune suite new` drafts some
    ");
    insta::assert_snapshot!(scene.refusal(&["compare", "none", "none", "--suite", "suite.toml"]), @r"
    error: cannot compare two versions: both sides are `none`
    hint: pass a skill on one side
    ");
    insta::assert_snapshot!(scene.refusal(&["compare", "writer", "writer", "--suite", "suite.toml"]), @r"
    error: writer and writer are the same version
    hint: name two versions that differ
    ");
    insta::assert_snapshot!(scene.refusal(&["compare", "none", "writer"]), @r"
    error: no suite of tasks
    hint: pass --suite FILE; `skilltune suite new` drafts one
    ");
    let unknown = scene.refusal(&["compare", "wxyz/start", "writer", "--suite", "suite.toml"]);
    assert!(unknown.contains("hint: no run here is named \"wxyz\" either"), "{unknown}");
    let offline =
        scene.refusal(&["compare", "none", "writer", "--suite", "suite.toml", "--agent", "offline"]);
    assert!(offline.contains("does nothing without a skill"), "{offline}");
    assert!(scene.calls().is_empty());
    let fewer = [
        "compare",
        "none",
        "writer",
        "--suite",
        "few.toml",
        "--confidence",
        "0.8",
        "--seed",
        "1",
        "--dry-run",
    ];
    let dry = scene.run(&fewer);
    assert_eq!(dry.code, Some(0), "{dry:?}");
    insta::assert_snapshot!(dry.stdout, @r"
    compare A = none with B = writer: is B better? 1 trial of each per scenario, confidence 0.8
    3 scenarios
    first steps:
      running writer on s1
      trying s1 without a skill
      running writer on s3
      trying s3 without a skill
      trying s2 without a skill
    at most 114 calls: 48 by the executor (executor), 66 by the evaluator (evaluator)
    limits: 114 calls (default)
    estimate: up to 57 calls if none fails (executor 24, evaluator 33)
      cost and time unknown: no earlier run here with these agents
    ");
}

#[test]
fn a_skills_own_suite_is_found_and_what_only_a_skill_can_be_asked_is_left_out_against_none() {
    let scene = scene(80);
    let evals: Vec<Value> = (1..=5)
        .map(|nth| json!({ "id": nth, "prompt": format!("Task {nth}"), "expectations": ["Its quality is at least 60."] }))
        .collect();
    fs::create_dir(scene.skill("writer").join("evals")).unwrap();
    let own = json!({ "skill_name": "writer", "evals": evals });
    fs::write(scene.skill("writer").join("evals/evals.json"), own.to_string()).unwrap();
    let ran = scene.run(&["compare", "none", "writer", "--yes", "--format", "json"]);
    assert_eq!(verdict(&ran), (Some(0), json!("won")), "{ran:?}");
    let used = "\n[[scenarios.checks]]\nskill_used = true\n";
    let silent = "\n[[scenarios]]\nid = \"silent\"\ndescription = \"Write\"\n";
    fs::write(scene.path("project/suite.toml"), [&suite(), used, silent].concat()).unwrap();
    let ran = compare(&scene, "none", "writer", &[]);
    assert_eq!(verdict(&ran), (Some(0), json!("won")), "{ran:?}");
    assert!(ran.stderr.contains("left out: silent (no checks and no expectations)"), "{ran:?}");
    assert!(ran.stderr.contains("skipped for both versions: checks that the skill is used"), "{ran:?}");
}

#[test]
fn a_comparison_that_was_killed_is_taken_up_and_one_that_was_made_costs_nothing_again() {
    let scene = scene(80);
    let gate = Gate::before("evaluator", &scene, json!({}));
    let line = ["compare", "none", "writer", "--suite", "suite.toml", "--yes"];
    let running = Background::start(&scene, &line);
    running.until_begun(4);
    running.kill_and_see_off();
    gate.open();
    let resumed = scene.run(&["resume", "--yes", "--format", "json"]);
    assert_eq!(verdict(&resumed), (Some(0), json!("won")), "{resumed:?}");
    let calls = scene.answered();
    assert_eq!(verdict(&compare(&scene, "none", "writer", &[])), (Some(0), json!("won")));
    assert_eq!(scene.answered(), calls, "all its answers are kept");
    let three = compare(&scene, "none", "writer", &["--trials", "3"]);
    assert_eq!(
        (verdict(&three).0, scene.answered() - calls),
        (Some(0), 2 * 2 * 5 * 2 + 2),
        "two more of each, and two other anchors"
    );
}

#[test]
fn a_revision_is_named_from_the_top_of_its_repository_wherever_one_stands() {
    let scene = repository(60);
    let suite = scene.path("project/suite.toml");
    let line = ["compare", OLD, "HEAD:.claude/skills/writer", "--suite", suite.to_str().unwrap()];
    let mut command = scene.command(&[&line[..], &["--yes", "--format", "json"]].concat());
    command.current_dir(scene.path("project/.claude/skills"));
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(verdict(&ran), (Some(0), json!("won")), "{ran:?}");
}
