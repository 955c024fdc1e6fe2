//! Runs that are stopped, paused or disturbed: they save, explain the cause, and can be resumed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::outcome::{Outcome, assert_tidy, repeated};
use crate::scene::{FAKE_AGENT, Ran, Scene, listing, survivors};

pub(crate) const TUNE: [&str; 12] = [
    "tune",
    "writer",
    "write a page",
    "--yes",
    "--format",
    "json",
    "--seed",
    "7",
    "--jobs",
    "1",
    "--max-iterations",
    "3",
];
const RESUME: [&str; 6] = ["resume", "--yes", "--format", "json", "--jobs", "1"];

fn script() -> Value {
    json!({ "improve": { "writer": { "40": 60, "60": 30 } } })
}

/// Creates a scene whose executors wait at a gate.
pub(crate) fn gated() -> (Scene, Gate) {
    let scene = Scene::new(&[("writer", 40)], &script());
    let gate = Gate::before("executor", &scene, script());
    (scene, gate)
}

static UNDISTURBED: LazyLock<Outcome> = LazyLock::new(|| {
    let scene = Scene::new(&[("writer", 40)], &script());
    let ran = scene.run(&TUNE);
    Outcome::of(&scene, &ran)
});

/// Fails unless the stopped run can be resumed and ends as an undisturbed run would.
fn assert_goes_on(scene: &Scene) {
    assert_eq!(scene.alive(), [0; 0]);
    let ran = scene.run(&RESUME);
    Outcome::of(scene, &ran).assert_is(&UNDISTURBED, "taken up");
    assert_eq!(repeated(scene), 0);
    assert_tidy(scene, "taken up");
}

fn paused(scene: &Scene) -> Value {
    scene.events("noted").pop().expect("the pause is noted")["paused"].clone()
}

#[test]
fn the_first_interrupt_finishes_what_is_under_way_and_saves() {
    let (scene, gate) = gated();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    let ran = run.interrupt(gate);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!((paused(&scene), scene.answered()), (json!("interrupted"), 1));
    assert_eq!(scene.events("done").len(), 1, "what was under way has been finished");
    assert_goes_on(&scene);
}

#[test]
fn an_answer_is_not_paid_for_again_when_the_program_is_killed_before_its_agent_has_exited() {
    let scene = Scene::new(&[("writer", 40)], &script());
    let gate = Gate::before_exit(&scene);
    let run = Background::start(&scene, &TUNE);
    assert!(run.until(|scene| scene.lingering() == 1), "an agent answers");
    run.kill_and_see_off();
    gate.remove();
    assert_eq!((scene.answered(), scene.events("done").len()), (1, 0));
    assert_goes_on(&scene);
}

#[test]
fn an_interrupt_names_the_skills_whose_runs_were_never_begun() {
    let (scene, gate) = gated();
    for other in ["editor", "outline"] {
        scene.write_skill(other, 40);
    }
    let run = Background::start(&scene, &["tune", "writer,editor,outline", "write a page", "--yes"]);
    run.until_begun(1);
    let ran = run.interrupt(gate);
    assert_eq!((ran.code, scene.run_folders().len()), (Some(130), 1), "{ran:?}");
    assert!(ran.stderr.ends_with("not started: editor, outline\n"), "{ran:?}");
}

#[test]
fn the_second_interrupt_ends_what_is_under_way_and_saves() {
    let (scene, gate) = gated();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    run.signal(Signal::INT);
    // The timeout of an executor is ten minutes, plus the time it may take to exit.
    run.until_said(
        "finishing current calls (at most 10m 03s), then saving; press Ctrl-C again to end them now",
    );
    run.signal(Signal::INT);
    let ran = run.wait();
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!((paused(&scene), scene.answered()), (json!("interrupted"), 0));
    assert_eq!(scene.events("done").len(), 0);
    gate.remove();
    assert_goes_on(&scene);
}

#[test]
fn an_interrupt_after_a_stop_ends_what_is_under_way() {
    let (scene, gate) = gated();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    run.signal(Signal::USR1);
    run.until_said("press Ctrl-C to end them now");
    run.signal(Signal::INT);
    let ran = run.wait();
    assert_eq!((ran.code, scene.answered()), (Some(130), 0), "{ran:?}");
    gate.remove();
    assert_goes_on(&scene);
}

#[test]
fn the_third_interrupt_leaves_at_once_and_the_guardians_end_the_deaf() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "misbehave": { "executor": "deaf" } }));
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    for words in ["finishing current calls", "ending current calls"] {
        run.signal(Signal::INT);
        run.until_said(words);
    }
    run.signal(Signal::INT);
    let ran = run.wait();
    assert_eq!(ran.code, Some(130), "{ran:?}");
    let left = scene.run_id();
    // The next command waits for the guardians before it goes on.
    let run = Background::start(&scene, &RESUME);
    run.until_begun(2);
    // The new process becomes a shell and then the program that waits; in between it shows no environment.
    let seen = loop {
        let seen = survivors(&left);
        if !seen.is_empty() {
            break seen;
        }
        assert!(!run.ends_within(Duration::from_millis(20)), "it waits for its call");
    };
    assert_eq!(seen.len(), 1, "the new call, and not the one that was left");
    run.signal(Signal::TERM);
    assert_eq!(run.wait().code, Some(143));
    assert_eq!(scene.alive(), [0; 0]);
}

#[test]
fn being_told_to_end_ends_what_is_under_way_and_saves() {
    let (scene, gate) = gated();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    run.signal(Signal::TERM);
    let ran = run.wait();
    assert_eq!(ran.code, Some(143), "{ran:?}");
    assert_eq!((paused(&scene), scene.events("done").len()), (json!("terminated"), 0));
    gate.remove();
    assert_goes_on(&scene);
}

#[test]
fn a_service_manager_that_ends_every_process_at_once_loses_nothing() {
    let (scene, gate) = gated();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    for pid in scene.alive() {
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        let _ = rustix::process::kill_process(pid, Signal::TERM);
    }
    let ran = run.wait();
    assert_eq!(ran.code, Some(143), "{ran:?}");
    gate.remove();
    assert_goes_on(&scene);
}

#[test]
fn a_guardian_that_somebody_kills_costs_its_call_and_not_the_run() {
    let (scene, gate) = gated();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    for guardian in run.guardians() {
        // In a namespace, killing the first guardian ends the other one too.
        let _ = rustix::process::kill_process(guardian, Signal::KILL);
    }
    run.until_begun(2);
    gate.open();
    let ran = run.wait();
    Outcome::of(&scene, &ran).assert_ends_as(&UNDISTURBED, "a guardian was killed");
    let failed = scene.events("done").into_iter().filter(|done| done["outcome"].get("failed").is_some());
    assert_eq!(failed.count(), 1, "the call is the one that failed, and was made again");
    assert_tidy(&scene, "a guardian was killed");
}

#[test]
fn stop_asks_a_run_to_finish_what_is_under_way() {
    let (scene, gate) = gated();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    let stop = scene.run(&["stop"]);
    assert_eq!(stop.code, Some(0), "{stop:?}");
    assert!(stop.stderr.contains("skilltune resume"), "{stop:?}");
    run.until_said("press Ctrl-C to end them now");
    gate.open();
    let ran = run.wait();
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!((paused(&scene), scene.events("done").len()), (json!("stopped"), 1));
    assert!(scene.run(&["stop"]).stderr.contains("is not running"));
    assert_goes_on(&scene);
}

#[test]
fn the_second_run_on_a_target_is_told_who_works_on_it_and_what_to_do() {
    let (scene, gate) = gated();
    // The same folder under another name, as people share one between agents.
    fs::create_dir_all(scene.path("project/.agents/skills")).unwrap();
    symlink("../../.claude/skills/writer", scene.path("project/.agents/skills/writer")).unwrap();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    for skill in ["writer", ".agents/skills/writer", ".claude/skills/writer"] {
        let refused = scene.tune(skill, &[]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        let id = scene.run_id();
        for part in [
            format!("{} is in use by another skilltune", scene.skill("writer").display()),
            format!("process {} on {host} has held the lock since 20", run.pid()),
            format!("skilltune stop {id}"),
        ] {
            assert!(refused.stderr.contains(&part), "{part:?} is not in {}", refused.stderr);
        }
        assert!(!refused.stderr.contains("was left"), "it was not left: {}", refused.stderr);
    }
    gate.open();
    assert_eq!(run.wait().code, Some(3));
    assert_eq!(scene.run_folders().len(), 1, "whoever was refused has begun nothing");
    let twice = scene.tune("writer,.agents/skills/writer", &["--chain"]);
    assert_eq!(twice.code, Some(2), "{twice:?}");
}

#[test]
fn the_lock_of_a_killed_run_is_stale_and_taken() {
    let (scene, gate) = gated();
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    run.kill();
    gate.remove();
    let status = scene.run(&["status"]);
    assert!(status.stdout.contains("cut off; can be resumed"), "{status:?}");
    let listed = scene.run(&["list"]);
    assert!(listed.stdout.contains("  cut off "), "the list says the same: {listed:?}");
    let ran = scene.run(&RESUME);
    Outcome::of(&scene, &ran).assert_is(&UNDISTURBED, "taken up");
    assert_tidy(&scene, "taken up");
}

#[test]
fn an_edit_made_during_the_run_is_kept_and_so_is_the_champion() {
    let (scene, gate) = gated();
    let page = scene.skill("writer").join("SKILL.md");
    let run = Background::start(&scene, &[&TUNE[..4], &TUNE[6..]].concat());
    run.until_begun(1);
    let theirs = fs::read_to_string(&page).unwrap() + "\nMy own words.\n";
    fs::write(&page, &theirs).unwrap();
    let edited = listing(&scene.skill("writer"));
    gate.open();
    let ran = run.wait();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(listing(&scene.skill("writer")), edited, "theirs stands where they wrote it");
    let words = command_suggested(&ran, "apply");
    let applied = scene.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(applied.code, Some(0), "the command that was told applies ours: {words:?} {applied:?}");
    assert_eq!(scene.quality("writer"), 60);
    let kept = applied.stderr.split(" is kept as ").nth(1).and_then(|rest| rest.split(';').next());
    let kept = kept.unwrap_or_else(|| panic!("it is not told where theirs is: {applied:?}"));
    let back = scene.run(&["rollback"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert_eq!(
        scene.quality("writer"),
        40,
        "rollback leads to what the run found, whatever stood there since"
    );
    let theirs = scene.run(&["apply", &scene.run_id(), kept]);
    assert_eq!(theirs.code, Some(0), "{theirs:?}");
    assert_eq!(listing(&scene.skill("writer")), edited, "and theirs can be had back");
}

/// Returns the words after `skilltune` of a suggested command.
fn command_suggested(ran: &Ran, verb: &str) -> Vec<String> {
    let start = format!("skilltune {verb}");
    let line = ran.stdout.lines().find_map(|line| line.split_once(&start));
    let rest = line.unwrap_or_else(|| panic!("no {start:?} in {ran:?}")).1;
    std::iter::once(verb.to_owned()).chain(rest.split_whitespace().map(str::to_owned)).collect()
}

/// A small file system mounted over a folder, unmounted on drop.
struct Mounted(PathBuf);

impl Mounted {
    /// Mounts it; returns `None` without the privilege to mount, which a test need not have.
    fn over(folder: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        mount(&["-t", "tmpfs", "-o", options, "tmpfs"], folder).then(|| Self(folder.to_owned()))
    }

    fn remount(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}")], &self.0));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(arguments: &[&str], folder: &Path) -> bool {
    let output = Command::new("mount").args(arguments).arg(folder).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn a_full_disk_stops_the_run_with_the_cause_and_what_was_before_it_is_intact() {
    let scene = Scene::new(&[("writer", 40)], &script());
    let start = listing(&scene.skill("writer"));
    let Some(disk) = Mounted::over(&scene.path("project/.skilltune"), "size=200k") else {
        eprintln!("stopping: no full disk was tried: a file system cannot be mounted here");
        return;
    };
    let ran = scene.run(&TUNE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("No space left on device"), "{ran:?}");
    assert_eq!(ran.json()["outcome"], "error", "{ran:?}");
    assert!(ran.stderr.contains("skilltune resume"), "{ran:?}");
    assert_eq!(listing(&scene.skill("writer")), start);
    assert_eq!(scene.alive(), [0; 0]);
    let still = scene.run(&RESUME);
    assert_eq!(still.code, Some(1), "it is still full: {still:?}");
    disk.remount("size=64m");
    assert_goes_on(&scene);
}

#[test]
fn a_journal_that_may_not_grow_stops_the_run_and_is_whole() {
    let scene = Scene::new(&[("writer", 40)], &script());
    // The limit is per file, in blocks of 512 bytes; only the journal reaches it.
    let ran = scene.run_limited("trap '' XFSZ; ulimit -f 40", &TUNE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("history.jsonl"), "{ran:?}");
    let text = fs::read_to_string(scene.run_folder().join("history.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "no line is torn");
    assert_goes_on(&scene);
}

#[test]
fn a_target_that_cannot_be_written_is_as_it_was_and_replaced_when_it_can() {
    let scene = Scene::new(&[("writer", 40)], &script());
    let folder = scene.skill("writer");
    let Some(disk) = Mounted::over(&folder, "size=1m") else {
        eprintln!("stopping: no read-only target was tried: a file system cannot be mounted here");
        return;
    };
    scene.write_skill("writer", 40);
    disk.remount("ro");
    let start = listing(&folder);
    let ran = scene.run(&TUNE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("cannot replace the skill; it is unchanged"), "{ran:?}");
    assert!(ran.stderr.contains("Read-only file system"), "{ran:?}");
    assert_eq!((&ran.json()["outcome"], &ran.json()["accepted"]), (&json!("error"), &json!(1)), "{ran:?}");
    assert_eq!(listing(&folder), start);
    disk.remount("rw");
    let ran = scene.run(&RESUME);
    assert_eq!((ran.code, scene.quality("writer")), (Some(3), 60), "{ran:?}");
    assert_tidy(&scene, "taken up");
}

#[test]
fn a_run_whose_workspaces_and_answers_have_vanished_goes_on() {
    for vanished in ["cache/skilltune", "project/.skilltune/cache"] {
        let (scene, gate) = gated();
        let run = Background::start(&scene, &TUNE);
        run.until_begun(1);
        run.kill_and_see_off();
        gate.remove();
        fs::remove_dir_all(scene.path(vanished)).unwrap();
        let ran = scene.run(&RESUME);
        Outcome::of(&scene, &ran).assert_is(&UNDISTURBED, vanished);
        assert_tidy(&scene, vanished);
    }
}

/// Creates a scene whose claude answers and then does not exit, until `behaving` changes that.
fn lingering() -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    scene.write_script(&script());
    fs::create_dir(scene.path("bin")).unwrap();
    symlink(FAKE_AGENT, scene.path("bin/claude")).unwrap();
    fs::write(scene.path("config/skilltune/skilltune.toml"), "[limits]\nconfine = false\n").unwrap();
    behaving(&scene, "lingers");
    scene
}

fn behaving(scene: &Scene, child: &str) {
    let stage = json!({ "script": scene.path("script.json"), "child": child, "met": scene.path("answered") });
    fs::write(scene.path("bin/wrapped.json"), stage.to_string()).unwrap();
}

fn with_claude(scene: &Scene, arguments: &[&str]) -> Command {
    let mut command = scene.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    command
}

/// The agent had already marked the end of its answer, so the answer is paid for and kept.
#[test]
fn an_answer_that_was_whole_when_its_call_was_ended_is_kept() {
    let begin = [&TUNE[..], &["--agent", "claude", "--delivery", "inline"]].concat();
    let calls = |scene: &Scene| fs::read_to_string(scene.path("bin/started.jsonl")).unwrap().lines().count();
    let undisturbed = lingering();
    behaving(&undisturbed, "good");
    let whole = Ran::of(with_claude(&undisturbed, &begin).output().unwrap());
    for signal in [Signal::TERM, Signal::INT] {
        let scene = lingering();
        let run = Background::spawn(&scene, with_claude(&scene, &begin));
        assert!(run.until(|scene| scene.path("answered").exists()));
        if signal == Signal::INT {
            run.signal(signal);
            run.until_said("finishing current calls");
        }
        run.signal(signal);
        let left = run.wait();
        assert!(matches!(left.code, Some(130 | 143)), "{left:?}");
        assert_eq!((scene.events("done").len(), scene.alive()), (1, vec![]), "{left:?}");
        behaving(&scene, "good");
        let ran = Ran::of(with_claude(&scene, &RESUME).output().unwrap());
        assert_eq!(ran.json()["final_score"], whole.json()["final_score"], "{ran:?}");
        assert_eq!(calls(&scene), calls(&undisturbed), "no call was made again");
    }
}

/// A program can exit with its own code when it is asked to end, as gemini does.
#[test]
fn a_failure_after_the_word_to_end_is_not_held_against_a_call() {
    let scene = lingering();
    let (claude, under_way, gate) = (scene.path("bin/claude"), scene.path("under_way"), scene.path("gate"));
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    fs::remove_file(&claude).unwrap();
    let script = format!("#!/bin/sh\n: > {}\nread _ < {}\nexit 0\n", under_way.display(), gate.display());
    fs::write(&claude, script).unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let begin = [&TUNE[..], &["--agent", "claude", "--delivery", "inline"]].concat();
    let run = Background::spawn(&scene, with_claude(&scene, &begin));
    assert!(run.until(|scene| scene.path("under_way").exists()));
    run.signal(Signal::TERM);
    run.until_said("terminating");
    // Opening for both reading and writing does not block if the reader is already gone.
    let opened = fs::OpenOptions::new().read(true).write(true).open(&gate).unwrap();
    rustix::io::write(&opened, b"go\n").unwrap();
    let ran = run.wait();
    drop(opened);
    assert_eq!((ran.code, paused(&scene)), (Some(143), json!("terminated")), "{ran:?}");
    assert_eq!((scene.events("done"), scene.alive()), (vec![], vec![]));
}
