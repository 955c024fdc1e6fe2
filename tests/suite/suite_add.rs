//! `suite add`: a failed trial becomes a draft, and a reviewed draft counts.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::hostile_state::forge_plan;
use crate::scene::{Ran, Scene};

fn scene() -> Scene {
    Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 80 } } }))
}

fn add(scene: &Scene, trial: &str, more: &[&str]) -> Ran {
    let run = scene.run_id();
    scene.run(&[&["suite", "add", "--from", &run, trial], more].concat())
}

/// Returns a text with the trial marks in the ids of new scenarios masked.
fn unmarked(scene: &Scene, text: &str) -> String {
    let is_mark = |word: &&str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let text = scene.normalized(text);
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_mark).collect();
    words.iter().fold(text.clone(), |text, mark| text.replace(mark, "MARK"))
}

fn suite(scene: &Scene) -> String {
    fs::read_to_string(scene.path("project/suite.toml")).unwrap()
}

fn tuned(scene: &Scene, suite: &str) -> Ran {
    let line =
        ["tune", "writer", "--this-suite-only", "--suite", suite, "--trust", "--yes", "--format", "json"];
    scene.run(&[&line[..], &["--max-iterations", "1"]].concat())
}

/// Returns the scenarios in a run's plan.
fn planned(ran: &Ran, scene: &Scene) -> Vec<Value> {
    let id = ran.json()["run_id"].as_str().unwrap().to_owned();
    let journal =
        fs::read_to_string(scene.path("project/.skilltune/runs").join(id).join("history.jsonl")).unwrap();
    let first: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    first["event"]["started"]["scenarios"].as_array().unwrap().clone()
}

/// Requirement 7 of the issue: a failing trial becomes a draft, which does not count; a person removes the mark, and it
/// counts.
#[test]
fn a_failing_trial_becomes_a_draft_which_counts_once_a_person_has_removed_the_mark() {
    let scene = scene();
    assert_eq!(scene.tune("writer", &["--max-iterations", "1"]).code, Some(3));
    let mine = "# Mine, as it is.\n[[scenarios]]\nid = \"own\"   # first of all\ndescription = \"Write it\"\n\
                expectations = [\"Its quality is at least 40.\"]";
    fs::write(scene.path("project/suite.toml"), mine).unwrap();
    let added = add(&scene, "scenario-1", &[]);
    assert_eq!((added.code, added.stdout.as_str()), (Some(0), ""), "{added:?}");
    let text = suite(&scene);
    let rest = text.strip_prefix(mine).expect("what was there stays as it was");
    insta::assert_snapshot!(unmarked(&scene, rest), @r#"


    # From run RUN: `scenario-1` in round 1, version HASH.
    [[scenarios]]
    id = "scenario-1-MARK"
    description = "write a page"
    draft = true
    expectations = [
      'The result does not have this fault: SKILL.md: "Quality"',
      "The result does not have this fault: SKILL.md: the quality is only 40",
    ]
    "#);
    insta::assert_snapshot!(unmarked(&scene, &added.stderr), @r#"
    added `scenario-1-MARK` to /project/suite.toml as a draft that requires:
      The result does not have this fault: SKILL.md: "Quality"
      The result does not have this fault: SKILL.md: the quality is only 40
    review it, then remove `draft = true`; runs do not count drafts
    "#);
    // Drafts are listed but not counted.
    let before = tuned(&scene, "suite.toml");
    let scenarios = planned(&before, &scene);
    assert_eq!(scenarios.len(), 1, "{scenarios:?}");
    assert!(before.json()["notes"].to_string().contains("draft"), "{before:?}");
    fs::write(scene.path("project/suite.toml"), text.replace("draft = true\n", "")).unwrap();
    let after = tuned(&scene, "suite.toml");
    let scenarios = planned(&after, &scene);
    assert_eq!(scenarios.len(), 2, "{scenarios:?}");
    assert_eq!(scenarios[1]["description"], "write a page");
    assert_eq!(scenarios[1]["demands"].as_array().unwrap().len(), 2);
    assert!(after.json()["initial_score"].is_number(), "{after:?}");
}

#[test]
fn the_same_trial_is_added_once_even_if_a_person_has_rewritten_it() {
    let scene = scene();
    scene.tune("writer", &["--max-iterations", "1"]);
    assert_eq!(add(&scene, "scenario-1", &[]).code, Some(0));
    let text = suite(&scene).replace("has this fault", "has that fault");
    fs::write(scene.path("project/suite.toml"), &text).unwrap();
    let again = add(&scene, "scenario-1@1", &[]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stderr.contains("nothing was added"), "{again:?}");
    assert_eq!(suite(&scene), text);
    // Under another id it is still a duplicate.
    let renamed = text.replace("id = \"scenario-1-", "id = \"other-");
    fs::write(scene.path("project/suite.toml"), &renamed).unwrap();
    assert!(add(&scene, "scenario-1", &[]).stderr.contains("nothing was added"));
    assert_eq!(suite(&scene), renamed);
}

const GRADED: &str = r#"
[[scenarios]]
id = "one"
description = "Write it"
files = ["data/sales.csv", "data/more"]
setup = ["sh", "-c", "echo ready > ready.txt"]
git = true
tags = ["a \"quoted\" tag"]
tools = "shell"
requirements = ["brief"]

[[scenarios.checks]]
file = "out.md"

[[scenarios.checks]]
command = ["sh", "{grader}/count.sh", "60"]
grader = ["graders/count.sh"]
weight = 2
must_pass = true

[[scenarios]]
id = "two"
description = "Write it again"
held_out = true
expectations = ["Its quality is at least 30.", "Its quality is at least 90."]
"#;

fn graded() -> Scene {
    let scene = scene();
    for (path, text) in [
        ("data/sales.csv", "1,2\n"),
        ("data/more/deep.txt", "deep\n"),
        ("graders/count.sh", "n=$(sed -n 's/.*quality //p' out.md)\ntest \"$n\" -ge \"$1\"\n"),
        ("suites/suite.toml", GRADED),
    ] {
        let path = scene.path("project/suites").join(path.trim_start_matches("suites/"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scene
}

#[test]
fn what_failed_is_kept_as_it_is_with_files_set_up_and_grader() {
    let scene = graded();
    let ran = tuned(&scene, "suites/suite.toml");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    // The run's suite already has this scenario.
    let known = add(&scene, "one", &[]);
    assert_eq!(known.code, Some(0), "{known:?}");
    assert!(known.stderr.contains("/suites/suite.toml already has this as `one`"), "{known:?}");
    let added = add(&scene, "one", &["--to", "new.toml"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let text = fs::read_to_string(scene.path("project/new.toml")).unwrap();
    insta::assert_snapshot!(unmarked(&scene, &text), @r#"
    # Tasks to try a skill on: `skilltune tune SKILL --suite suite.toml`.

    # From run RUN: `one` in round 1, version HASH.
    [[scenarios]]
    id = "one-MARK"
    description = "Write it"
    draft = true
    tags = ['a "quoted" tag']
    requirements = ["brief"]
    files = ["cases/one-MARK/files/more", "cases/one-MARK/files/sales.csv"]
    setup = ["sh", "-c", "echo ready > ready.txt"]
    git = true
    tools = "shell"

    [[scenarios.checks]]
    weight = 2
    must_pass = true
    command = ["sh", "{grader}/count.sh", "60"]
    grader = ["cases/one-MARK/graders/command-1/count.sh"]
    "#);
    let cases = scene.path("project/cases");
    let [case] = &fs::read_dir(&cases).unwrap().map(|case| case.unwrap().path()).collect::<Vec<_>>()[..]
    else {
        panic!("one case")
    };
    assert_eq!(fs::read_to_string(case.join("files/sales.csv")).unwrap(), "1,2\n");
    assert_eq!(fs::read_to_string(case.join("files/more/deep.txt")).unwrap(), "deep\n");
    fs::write(scene.path("project/new.toml"), text.replace("draft = true\n", "")).unwrap();
    let counted = tuned(&scene, "new.toml");
    let scenarios = planned(&counted, &scene);
    assert_eq!(scenarios[0]["demands"].as_array().unwrap().len(), 1, "{scenarios:?}");
    assert_eq!(counted.json()["initial_score"], json!(0.0), "the grader still fails it: {counted:?}");
}

#[test]
fn a_scenario_that_was_held_out_is_added_and_said_to_be_known() {
    let scene = graded();
    let more = ["three", "four", "five"].map(|id| {
        format!(
            "\n[[scenarios]]\nid = \"{id}\"\ndescription = \"Write it\"\nheld_out = true\n\
             expectations = [\"Its quality is at least 90.\"]\n"
        )
    });
    fs::write(scene.path("project/suites/suite.toml"), [GRADED, &more.concat()].concat()).unwrap();
    let line = ["tune", "writer", "--suite", "suites/suite.toml", "--trust", "--yes", "--format", "json"];
    assert_eq!(scene.run(&[&line[..], &["--max-iterations", "2"]].concat()).code, Some(3));
    let added = add(&scene, "two", &["--to", "new.toml"]);
    assert!(added.stderr.contains("`two` was held out in that run"), "{added:?}");
    let text = fs::read_to_string(scene.path("project/new.toml")).unwrap();
    assert!(
        text.contains("at least 90.") && !text.contains("at least 30.") && !text.contains("held_out"),
        "{text}"
    );
    assert!(text.contains("the final comparison"), "{text}");
}

#[test]
fn a_scenario_of_another_suite_is_added_as_a_draft_with_all_that_it_brings() {
    let scene = graded();
    fs::write(scene.path("project/suite.toml"), "[[scenarios]]\nid = \"own\"\ndescription = \"Write it\"\n")
        .unwrap();
    let add = |id: &str| scene.run(&["suite", "add", "--from", "suites/suite.toml", id]);
    for id in ["one", "two"] {
        let added = add(id);
        assert_eq!(added.code, Some(0), "{added:?}");
        assert!(added.stderr.contains("it stays in "), "{added:?}");
    }
    let text = suite(&scene);
    assert_eq!(text.matches("draft = true").count(), 2, "{text}");
    assert!(text.contains("grader = [\"cases/one/graders/command-1/count.sh\"]"), "{text}");
    assert!(text.contains("held_out = true\n"), "what is held out stays so: {text}");
    for (copy, original) in
        [("files/more/deep.txt", "data/more/deep.txt"), ("graders/command-1/count.sh", "graders/count.sh")]
    {
        let copy = fs::read(scene.path("project/cases/one").join(copy)).unwrap();
        assert_eq!(copy, fs::read(scene.path("project/suites").join(original)).unwrap());
    }
    let again = add("one");
    assert!(again.code == Some(0) && again.stderr.contains("nothing was added"), "{again:?}");
    assert_eq!(suite(&scene), text);
}

#[test]
fn a_chain_names_the_member_that_a_fault_is_about() {
    let scene = Scene::new(&[("first", 90), ("second", 30)], &json!({}));
    scene.tune("first,second", &["--chain", "--max-iterations", "1"]);
    let added = add(&scene, "scenario-1", &[]);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(suite(&scene).contains("member = \"second\""), "{}", suite(&scene));
}

#[test]
fn without_a_trial_or_with_one_that_did_well_the_failing_ones_are_listed() {
    let scene = graded();
    tuned(&scene, "suites/suite.toml");
    let run = scene.run_id();
    insta::assert_snapshot!(scene.refusal(&["suite", "add", "--from", &run]), @r#"
    error: no trial given
    hint: trials with faults:
      two@1  50.0  1 fault  version HASH
      one@1  0.0  1 fault  version HASH
    hint: `skilltune suite add --from RUN TRIAL` adds one of them
    "#);
    insta::assert_snapshot!(scene.refusal(&["suite", "add", "--from", &run, "one@7"]), @r#"
    error: run RUN has no trial "one@7" with faults
    hint: trials with faults:
      two@1  50.0  1 fault  version HASH
      one@1  0.0  1 fault  version HASH
    "#);
    insta::assert_snapshot!(scene.refusal(&["suite", "add", "--from", "nothing", "one"]), @r#"
    error: no run matches "nothing"
    hint: newest runs: RUN
    hint: list runs with `skilltune list`; name a round or a candidate after its run
    "#);
}

#[test]
fn no_file_that_is_there_is_broken_or_written_over() {
    let scene = graded();
    tuned(&scene, "suites/suite.toml");
    let run = scene.run_id();
    let refused = |to: &str| scene.refusal(&["suite", "add", "--from", &run, "one", "--to", to]);
    fs::write(scene.path("project/faulty.toml"), "[[scenarios]\n").unwrap();
    assert!(refused("faulty.toml").contains("faulty.toml"));
    // Tables cannot be added to an inline array.
    fs::write(scene.path("project/inline.toml"), "scenarios = [{ description = \"a\" }]\n").unwrap();
    assert!(refused("inline.toml").contains("nothing was changed"), "{}", refused("inline.toml"));
    fs::write(scene.path("project/evals.json"), r#"[{"prompt": "a", "expected_output": "b"}]"#).unwrap();
    assert!(refused("evals.json").contains("suite convert"));
    symlink(scene.path("project/suites/suite.toml"), scene.path("project/link.toml")).unwrap();
    assert!(refused("link.toml").contains("is a symlink"));
    symlink(scene.path("nowhere"), scene.path("project/dangling.toml")).unwrap();
    assert!(refused("dangling.toml").contains("is a symlink"));
    // Existing files in the way of the copies are kept.
    assert_eq!(add(&scene, "one", &["--to", "new.toml"]).code, Some(0));
    fs::remove_file(scene.path("project/new.toml")).unwrap();
    assert_eq!(add(&scene, "one", &["--to", "new.toml"]).code, Some(0), "the same copies are used again");
    let case = fs::read_dir(scene.path("project/cases")).unwrap().next().unwrap().unwrap().path();
    fs::write(case.join("files/sales.csv"), "mine\n").unwrap();
    fs::remove_file(scene.path("project/new.toml")).unwrap();
    assert!(refused("new.toml").contains("already exists"));
    // A folder that is a symlink is not followed.
    fs::rename(scene.path("project/cases"), scene.path("elsewhere")).unwrap();
    fs::remove_dir_all(&case).ok();
    symlink(scene.path("elsewhere"), scene.path("project/cases")).unwrap();
    fs::remove_dir_all(scene.path("elsewhere")).unwrap();
    fs::create_dir(scene.path("elsewhere")).unwrap();
    let refused = scene.run(&["suite", "add", "--from", &run, "one", "--to", "new.toml"]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(fs::read_dir(scene.path("elsewhere")).unwrap().next().is_none());
    assert!(!scene.path("project/new.toml").exists());
}

/// A run prepared by someone else: its plan can contain anything.
#[test]
fn a_prepared_run_can_neither_choose_another_file_nor_write_toml_of_its_own() {
    let scene = scene();
    scene.tune("writer", &["--max-iterations", "1"]);
    let evil = "x\"]\n[[scenarios]]\nid = \"pwned\"\ndescription = \"\u{1b}[31m\"\ncommand = [\"sh\"]\n#";
    let outside = scene.path("home/suite.toml");
    let own = "[[scenarios]]\ndescription = \"private\"\n";
    fs::write(&outside, own).unwrap();
    forge_plan(&scene.run_folder().join("history.jsonl"), &|plan| {
        plan["suite"] = json!({ "path": outside, "found": false, "drafts": [], "notes": [] });
        let scenario = &mut plan["scenarios"][0];
        scenario["id"] = "a\n[[scenarios]]\u{1b}[2J".into();
        scenario["description"] = evil.into();
        scenario["tags"] = json!([evil]);
        scenario["input_args"] = evil.into();
    });
    let name = "a\n[[scenarios]]\u{1b}[2J";
    let added = add(&scene, name, &[]);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(!added.stderr.contains('\u{1b}'), "{added:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), own);
    let written: toml::Table = suite(&scene).parse().unwrap();
    let scenarios = written["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), 1, "{}", suite(&scene));
    assert_eq!(scenarios[0]["description"].as_str(), Some(evil));
    assert!(scenarios[0].get("command").is_none() && scenarios[0]["draft"].as_bool() == Some(true));
    assert!(!suite(&scene).contains('\u{1b}'));
}
