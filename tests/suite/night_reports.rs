//! Tests what a night reports: to the notify command and on the pages that stay, with secrets hidden in all of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::background::Background;
use crate::night::{Nights, WRITER, climbs};
use crate::scene::Ran;

/// Its suite is missing, so a person must act.
const BROKEN: &str = "[[jobs]]\nskill = \".claude/skills/writer\"\nsuite = \"missing-hunter2hunter2.toml\"\n";

/// Writes a project script that stores all its input.
fn write_script(nights: &Nights, more: &str) {
    let path = nights.scene.path("project/tell.sh");
    let keeps = "cat > given.json\nprintf '%s' \"$1\" > argument\nenv > given.env\necho noise\n";
    fs::write(&path, format!("#!/bin/sh\n{keeps}{more}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn given(nights: &Nights, name: &str) -> Option<String> {
    fs::read_to_string(nights.scene.path("project").join(name)).ok()
}

#[test]
fn the_command_gets_the_morning_without_a_shell_and_its_failure_is_none_of_the_night() {
    let nights = Nights::new(&[("writer", 20)], &json!({}), WRITER);
    write_script(&nights, "exit 7");
    nights.write_jobs(&format!("notify = [\"./tell.sh\", \"a  b; $(touch made) 'c\"]\n{BROKEN}"));
    let mut command = nights.command("2026-11-02", &[]);
    let ran = Ran::of(command.env("MY_API_KEY", "hunter2hunter2").env("EDITOR", "vi").output().unwrap());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr.ends_with("warning: `notify` failed: it ended with exit code 7\n")
            && !ran.stderr.contains("noise")
            && !ran.stdout.contains("noise"),
        "{ran:?}"
    );
    assert_eq!(given(&nights, "argument").unwrap(), "a  b; $(touch made) 'c");
    assert!(!nights.scene.path("project/made").exists());

    let mut morning = nights.morning();
    assert_eq!(morning["notified"], json!({ "ok": false, "error": "it ended with exit code 7" }));
    morning["notified"] = Value::Null;
    let report: Value = serde_json::from_str(&given(&nights, "given.json").unwrap()).unwrap();
    assert_eq!(report, morning, "it gets what the page says");
    assert_eq!(report["needs_you"], true);

    let environment = given(&nights, "given.env").unwrap();
    let names: Vec<&str> = environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let of_the_shell = ["PWD", "OLDPWD", "SHLVL", "_"];
    for name in &names {
        let is_passed = ["PATH", "HOME", "TZ"].contains(name) || name.starts_with("XDG_");
        assert!(is_passed || of_the_shell.contains(name), "{name}");
    }
    assert!(
        names.contains(&"HOME") && names.contains(&"TZ") && names.contains(&"XDG_STATE_HOME"),
        "{names:?}"
    );

    let journal = given(&nights, ".skilltune/nights/skilltune-night/history.jsonl").unwrap();
    let junit = given(&nights, ".skilltune/nights/skilltune-night/junit.xml").unwrap();
    assert!(junit.contains("type=\"did_not_run\""), "{junit}");
    for text in [journal, nights.page(), junit, report.to_string(), ran.stderr, ran.stdout] {
        assert!(!text.contains("hunter2"), "{text}");
    }
    assert!(nights.page().contains("missing-"), "{}", nights.page());
}

#[test]
fn a_changed_script_is_not_run_before_somebody_trusts_it_again() {
    let nights = Nights::new(&[("writer", 20)], &json!({}), WRITER);
    write_script(&nights, "");
    nights.write_jobs(&format!("notify = [\"sh\", \"tell.sh\"]\n{BROKEN}"));
    assert_eq!(nights.night("2026-11-02", &[]).code, Some(3));
    assert_eq!(nights.morning()["notified"], json!({ "ok": true, "error": null }));
    fs::remove_file(nights.scene.path("project/given.json")).unwrap();

    write_script(&nights, "# another one");
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.starts_with("error: a script that `notify` names is not trusted, or changed since\n"),
        "{ran:?}"
    );
    assert_eq!(given(&nights, "given.json"), None);

    let ran = nights.scene.run(&["trust", "skilltune-night.toml"]);
    assert!(
        nights
            .scene
            .normalized(&ran.stderr)
            .ends_with("\n  notify: \"sh\" \"tell.sh\"\n  with /project/tell.sh\n"),
        "{ran:?}"
    );
    assert_eq!(nights.night("2026-11-03", &[]).code, Some(3));
    assert!(given(&nights, "given.json").is_some());
}

#[test]
fn where_all_is_well_the_command_is_started_only_if_it_is_asked_for_always() {
    let nights = Nights::new(&[("writer", 20)], &climbs(), WRITER);
    write_script(&nights, "");
    nights.write_jobs(&format!("notify = [\"./tell.sh\"]\n{WRITER}"));
    assert_eq!(nights.night("2026-11-02", &[]).code, Some(0));
    assert_eq!((given(&nights, "given.json"), &nights.morning()["notified"]), (None, &Value::Null));
    nights.write_jobs(&format!("notify = [\"./tell.sh\"]\nnotify_always = true\n{WRITER}"));
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!((ran.code, &nights.morning()["notified"]["ok"]), (Some(0), &json!(true)), "{ran:?}");
    let report: Value = serde_json::from_str(&given(&nights, "given.json").unwrap()).unwrap();
    assert_eq!(report["headline"], "No. All is well.");
}

#[test]
fn a_command_that_does_not_end_is_ended_with_the_night() {
    let nights = Nights::new(&[("writer", 20)], &json!({}), WRITER);
    write_script(&nights, "trap '' TERM\nmkfifo never\n: > ../begun\nread _ < never");
    nights.write_jobs(&format!("notify = [\"./tell.sh\"]\n{BROKEN}"));
    for (signal, word) in [(Signal::TERM, "terminated"), (Signal::INT, "interrupted")] {
        let night = Background::spawn(&nights.scene, nights.command("2026-11-02", &[]));
        assert!(night.until(|scene| scene.path("begun").exists()));
        night.signal(signal);
        let ran = night.wait();
        assert_eq!((ran.code, nights.scene.alive()), (Some(3), vec![]), "{ran:?}");
        assert_eq!(nights.morning()["notified"], json!({ "ok": false, "error": word }));
        for left in ["begun", "project/never"] {
            fs::remove_file(nights.scene.path(left)).unwrap();
        }
    }
}

#[test]
fn each_night_that_ends_has_a_heartbeat_whatever_it_found() {
    let nights = Nights::new(&[("writer", 20)], &climbs(), WRITER);
    fs::write(nights.scene.path("project/beat.sh"), "printf . >> beats\n").unwrap();
    let beats = || given(&nights, "beats").unwrap_or_default().len();
    for (jobs, date, code) in [(WRITER, "2026-11-02", 0), (BROKEN, "2026-11-03", 3)] {
        nights.write_jobs(&format!("heartbeat = [\"sh\", \"beat.sh\"]\n{jobs}"));
        let before = beats();
        let ran = nights.night(date, &["--scheduled"]);
        assert_eq!((ran.code, beats()), (Some(code), before + 1), "{ran:?}");
        assert_eq!(nights.morning()["heartbeat"], json!({ "ok": true, "error": null }));
        let ran = nights.night(date, &["--scheduled"]);
        assert_eq!(beats(), before + 1, "a second start in the same night does nothing: {ran:?}");
    }
    assert_eq!(nights.night("2026-11-04", &["--shard", "1/1"]).code, Some(3));
    assert_eq!(beats(), 2, "the merged night has it");
    let trusted = nights.scene.run(&["trust", "skilltune-night.toml"]);
    let expected = "\n  heartbeat: \"sh\" \"beat.sh\"\n  with /project/beat.sh\n";
    assert!(nights.scene.normalized(&trusted.stderr).ends_with(expected), "{trusted:?}");
    nights.write_jobs(&format!("heartbeat = [\"sh\", \"-c\", \"exit 7\"]\n{BROKEN}"));
    let ran = nights.night("2026-11-05", &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.ends_with("warning: `heartbeat` failed: it ended with exit code 7\n"), "{ran:?}");
}
