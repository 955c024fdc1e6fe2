//! Suites whose scenarios name commands: they run only when trusted, are judged by their exit code, and must stay
//! within their timeout and folder, leaving nothing behind.

mod formats;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::outcome::assert_tidy;
use crate::scene::{Ran, Scene};

/// Creates one round of the built-in agent on a suite with one scenario, which is this shell text.
fn scene(text: &str) -> Scene {
    with_command(&["sh", "-c", text])
}

fn with_command(command: &[&str]) -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    write_suite(&scene, command);
    scene
}

fn write_suite(scene: &Scene, command: &[&str]) {
    let suite =
        format!("[[scenarios]]\nid = \"one\"\ndescription = \"Write a page\"\ncommand = {command:?}\n");
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
}

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let line = ["tune", "writer", "--suite", "suite.toml", "--agent", "offline", "--max-iterations", "1"];
    scene.run(&[&line[..], &["--yes", "--format", "json"], more].concat())
}

/// Runs the suite with `--trust` and checks that nothing of it remains.
fn ran(scene: &Scene, more: &[&str]) -> Ran {
    let ran = tune(scene, &[&["--trust"], more].concat());
    assert_tidy(scene, "a command of a suite");
    ran
}

/// Returns the path of a file from the first trial of the first round.
fn left(scene: &Scene, name: &str) -> PathBuf {
    let trials = scene.run_folder().join("iterations/iteration-1/artifacts/writer/one");
    let mut trials = fs::read_dir(trials).unwrap().map(|trial| trial.unwrap().path());
    let trial = trials.next().expect("the trial has left something");
    trial.join(name)
}

fn how_it_ended(scene: &Scene) -> Value {
    let path = left(scene, "run.json");
    assert!(path.symlink_metadata().unwrap().is_file());
    serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap()["exit"].clone()
}

/// Returns the outcomes of all steps of a run.
fn step_outcomes(scene: &Scene) -> String {
    scene.events("done").iter().map(Value::to_string).collect()
}

#[test]
fn commands_run_once_a_person_has_trusted_the_suite_and_only_as_it_was() {
    let scene = scene("echo done > page.md");
    let refused = tune(&scene, &[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
    error: the programs of /project/suite.toml are not trusted: sh
    hint: read the file, then run `skilltune trust /project/suite.toml`
    hint: or pass --trust to trust them for this run
    ");
    assert!(scene.run_folders().is_empty(), "nothing has begun");
    assert_ne!(tune(&scene, &["--trust"]).code, Some(2));
    assert_eq!(tune(&scene, &[]).code, Some(2), "once is not remembered");
    let trusted = scene.run(&["trust", "suite.toml"]);
    assert_eq!((trusted.code, trusted.stdout.as_str()), (Some(0), ""), "{trusted:?}");
    insta::assert_snapshot!(scene.normalized(&trusted.stderr), @r#"
    trusted: /project/suite.toml
      scenario one: "sh" "-c" "echo done > page.md"
    "#);
    assert_ne!(tune(&scene, &[]).code, Some(2));
    let suite = scene.path("project/suite.toml");
    let text = fs::read_to_string(&suite).unwrap();
    fs::write(&suite, text.clone() + "\n").unwrap();
    assert_eq!(tune(&scene, &[]).code, Some(2), "another byte, another file");
    fs::write(&suite, text).unwrap();
    assert_ne!(tune(&scene, &[]).code, Some(2));
    assert_eq!(scene.alive(), [0; 0]);
}

#[test]
fn a_script_of_the_project_that_a_suite_names_is_trusted_with_it_and_only_as_it_was() {
    let scene = scene("true");
    let script = scene.path("project/tools/check.sh");
    fs::create_dir(script.parent().unwrap()).unwrap();
    fs::write(&script, "echo done > page.md\n").unwrap();
    write_suite(&scene, &["sh", script.to_str().unwrap()]);
    let trusted = scene.run(&["trust", "suite.toml"]);
    assert!(scene.normalized(&trusted.stderr).ends_with("\n  with /project/tools/check.sh\n"), "{trusted:?}");
    assert_ne!(tune(&scene, &[]).code, Some(2));
    fs::write(&script, "touch \"$HOME/owned\"\n").unwrap();
    let refused = tune(&scene, &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let message = scene.normalized(&refused.stderr);
    assert!(message.contains("caused by: /project/tools/check.sh changed since you trusted it"), "{message}");
    assert_ne!(tune(&scene, &["--trust"]).code, Some(2));
}

#[test]
fn a_command_that_fails_costs_the_criterion_of_success() {
    let (good, bad) = (scene("echo hello"), scene("echo half > page.md; exit 3"));
    let scores = [&good, &bad].map(|scene| ran(scene, &[]).json()["initial_score"].as_f64().unwrap());
    assert!(scores[0] > scores[1], "{scores:?}");
    assert_eq!((how_it_ended(&good), how_it_ended(&bad)), (json!(0), json!(3)));
    assert_eq!(fs::read_to_string(left(&good, "stdout.txt")).unwrap(), "hello\n");
    assert_eq!(fs::read_to_string(left(&bad, "page.md")).unwrap(), "half\n");
    assert!(!left(&bad, "stdout.txt").exists(), "it has printed nothing");
    assert!(
        step_outcomes(&good).contains("ended with exit code 0")
            && step_outcomes(&bad).contains("ended with exit code 3")
    );
    // A signal is not an exit code and not a success.
    let killed = scene("kill -9 $$");
    let score = ran(&killed, &[]).json()["initial_score"].as_f64().unwrap();
    assert_eq!((how_it_ended(&killed), score.to_bits()), (Value::Null, scores[1].to_bits()));
}

#[test]
fn of_what_a_command_prints_the_first_megabyte_is_kept_and_it_never_waits() {
    let scene = scene("head -c 5000000 /dev/zero | tr '\\0' x; echo the end >&2; exit 0");
    ran(&scene, &[]);
    assert_eq!(how_it_ended(&scene), json!(0));
    let kept = fs::read(left(&scene, "stdout.txt")).unwrap();
    assert!(kept.len() == 1 << 20 && kept.iter().all(|&byte| byte == b'x'), "{} bytes", kept.len());
}

#[test]
fn a_grandchild_in_a_session_of_its_own_that_holds_the_output_delays_nothing_and_does_not_survive() {
    // The grandchild's first line, printed before the command ends, is part of its output; nothing more is waited for.
    let scene =
        scene("mkfifo up; setsid sh -c 'echo up; echo > up; sleep 600' & read x < up; rm up; echo down");
    let ran = ran(&scene, &[]);
    assert_eq!(
        (how_it_ended(&scene), ran.json()["outcome"].clone()),
        (json!(0), json!("unchanged")),
        "{ran:?}"
    );
    assert_eq!(fs::read_to_string(left(&scene, "stdout.txt")).unwrap(), "up\ndown\n");
}

#[test]
fn a_command_that_hangs_is_ended_at_its_deadline() {
    let scene = scene("trap '' TERM INT; setsid sleep 600 & sleep 600");
    let ran = ran(&scene, &["--timeout", "1"]);
    let summary = ran.json();
    assert_eq!(
        (ran.code, &summary["outcome"], &summary["initial_score"]),
        (Some(3), &json!("unchanged"), &json!(0.0))
    );
}

#[test]
fn a_link_in_the_place_of_our_own_files_is_replaced_and_never_written_through() {
    let precious = Scene::empty();
    let file = precious.path("precious");
    fs::write(&file, "precious").unwrap();
    let file = file.display();
    let scene = scene(&format!("ln -s '{file}' run.json; ln -s '{file}' stdout.txt; echo overwritten"));
    ran(&scene, &[]);
    assert_eq!(fs::read_to_string(precious.path("precious")).unwrap(), "precious");
    assert_eq!(how_it_ended(&scene), json!(0));
    assert!(left(&scene, "stdout.txt").symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_to_string(left(&scene, "stdout.txt")).unwrap(), "overwritten\n");
}

#[test]
fn what_cannot_be_run_or_told_is_no_score_and_says_why() {
    for (command, why) in [
        (&["no-such-program", "x"][..], "could not run \"no-such-program\": No such file or directory"),
        (&["./no-such-program"], "could not run \"./no-such-program\": No such file or directory"),
        (&["sh", "-c", "mkdir -p run.json/x"], "run.json"),
    ] {
        let scene = with_command(command);
        let ran = ran(&scene, &[]);
        assert_eq!((ran.code, &ran.json()["outcome"]), (Some(4), &json!("unjudged")), "{command:?}: {ran:?}");
        let outcomes = step_outcomes(&scene);
        assert!(outcomes.contains(&why.replace('"', "\\\"")), "{command:?}: {outcomes}");
    }
    // A shell that does not find its script has run, and failed.
    let scene = with_command(&["sh", "{skill}/scripts/none.sh"]);
    ran(&scene, &[]);
    assert!(how_it_ended(&scene).as_i64().is_some_and(|code| code != 0));
}

#[test]
fn a_suite_that_is_missing_or_wrong_is_refused_before_anything_is_written() {
    let scene = scene("true");
    let line = ["tune", "writer", "--agent", "offline", "--yes", "--suite"];
    insta::assert_snapshot!(scene.refusal(&[&line[..], &["none.toml"]].concat()), @r"
    error: suite /project/none.toml does not exist
    hint: `skilltune suite new SKILL` drafts a suite
    ");
    assert!(scene.refusal(&[&line[..], &["."]].concat()).contains("no suite in this folder"));
    let page = scene.refusal(&[&line[..], &[".claude/skills/writer/SKILL.md"]].concat());
    assert!(page.contains("nor YAML") && page.contains("hint: pass a suite.toml, an evals.json"), "{page}");
    let up = "[[scenarios]]\nid = \"../up\"\ndescription = \"a\"\n";
    fs::write(scene.path("project/suite.toml"), up).unwrap();
    insta::assert_snapshot!(scene.refusal(&[&line[..], &["suite.toml"]].concat()), @"error: /project/suite.toml: invalid id `../up`: use up to 64 letters, digits, `-` and `_`");
}

#[test]
fn a_check_that_runs_a_program_is_trusted_with_its_grader_and_only_as_they_were() {
    let scene = scene("true");
    fs::create_dir(scene.path("project/graders")).unwrap();
    fs::write(scene.path("project/graders/check.sh"), "true\n").unwrap();
    let suite = "[[scenarios]]\nid = \"one\"\ndescription = \"Write a page\"\n[[scenarios.checks]]\n\
                 command = [\"sh\", \"{grader}/graders/check.sh\"]\ngrader = [\"graders\"]\n";
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    let refused = tune(&scene, &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("suite.toml are not trusted: sh"), "{refused:?}");
    let trusted = scene.run(&["trust", "suite.toml"]);
    insta::assert_snapshot!(scene.normalized(&trusted.stderr), @r#"
    trusted: /project/suite.toml
      check command-1 of one: "sh" "{grader}/graders/check.sh"
      with /project/graders
    "#);
    fs::write(scene.path("project/graders/more.sh"), "touch \"$HOME/owned\"\n").unwrap();
    let refused = tune(&scene, &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let message = scene.normalized(&refused.stderr);
    assert!(message.contains("caused by: /project/graders changed since you trusted it"), "{message}");
}

#[test]
fn a_suite_that_brings_too_much_is_refused_before_it_is_read() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let scenario = |files: &str| {
        let suite = format!("[[scenarios]]\nid = \"a\"\ndescription = \"Write.\"\nfiles = [{files}]\n");
        fs::write(scene.path("project/suite.toml"), suite).unwrap();
    };
    fs::File::create(scene.path("project/huge")).unwrap().set_len(5 << 30).unwrap();
    fs::create_dir(scene.path("project/many")).unwrap();
    (0..20_001).for_each(|nth| fs::write(scene.path("project/many").join(nth.to_string()), "").unwrap());
    for named in ["huge", "many"] {
        scenario(&format!("{named:?}"));
        for line in
            [&["suite", "check", "suite.toml"][..], &["tune", "writer", "--suite", "suite.toml", "--dry-run"]]
        {
            let ran = scene.run(line);
            let message = "is too large: a suite can have at most 20000 files and 256 MiB";
            assert!(ran.code == Some(2) && ran.stderr.contains(message), "{named}, {line:?}: {ran:?}");
        }
    }
}
