//! A run that is stopped or killed: it resumes where it was, or ends for good, as the person chooses.

use std::sync::LazyLock;

use rustix::process::Signal;
use serde_json::json;

use super::tidy::assert_tidy;
use super::*;
use crate::outcome::{Outcome, repeated};

static UNDISTURBED: LazyLock<Outcome> = LazyLock::new(|| {
    let scene = scene(&rising());
    let ran = new(&scene, &[]);
    Outcome::of_reflex(&scene, &ran)
});

fn assert_goes_on(scene: &Scene) {
    let ran = scene.run(&RESUME);
    Outcome::of_reflex(scene, &ran).assert_is(&UNDISTURBED, "taken up");
    assert_eq!(repeated(scene), 0);
    assert_tidy(scene, "taken up");
}

#[test]
fn an_interrupted_and_a_killed_run_go_on_as_if_nothing_had_been() {
    for phase in ["plan", "produce", "evaluate", "refine"] {
        for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
            let scene = Scene::new(&[], &playing(&rising()));
            // Other calls are running: a call that is ended just as it answers is not repeated.
            let (gate, run) = waiting_at(&scene, playing(&rising()), phase, &[]);
            if signal == Signal::KILL {
                run.kill_and_see_off();
                gate.remove();
            } else if signal == Signal::INT {
                assert_eq!(run.interrupt(gate).code, Some(130), "{phase}");
            } else {
                // On SIGTERM it does not wait for calls.
                run.signal(signal);
                assert_eq!(run.wait().code, Some(143), "{phase}");
                gate.remove();
            }
            assert_goes_on(&scene);
        }
    }
}

#[test]
fn a_run_that_began_with_yes_agrees_by_default_when_it_is_taken_up() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "propose", &["--proposals", "2"]);
    run.kill_and_see_off();
    gate.remove();
    let ran = scene.run(&["reflex", "resume", ALIAS, "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("passed")), "{ran:?}");
}

#[test]
fn stop_lets_the_step_under_way_finish_and_ends_the_run_for_good() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "evaluate", &[]);
    let stop = std::thread::scope(|scope| {
        let stop = scope.spawn(|| scene.run(&["reflex", "stop", ALIAS, "it is good enough"]));
        run.until_said("stopping: finishing");
        gate.open();
        stop.join().unwrap()
    });
    assert_eq!(stop.code, Some(0), "{stop:?}");
    assert_eq!(run.wait().code, Some(3));
    assert_stopped(&scene);
    assert_eq!(story(&scene).last().unwrap()["step"], "EVALUATE");
}

/// Stops a run while this phase waits at the gate. Returns the ends of the stop command and of the run.
fn stopped_in(scene: &Scene, phase: &str, more: &[&str]) -> (Ran, Ran) {
    let (gate, run) = waiting_at(scene, playing(&rising()), phase, more);
    let stop = std::thread::scope(|scope| {
        let stop = scope.spawn(|| scene.run(&["reflex", "stop", ALIAS, "it is good enough"]));
        run.until_said("stopping: finishing");
        gate.open();
        stop.join().unwrap()
    });
    (stop, run.wait())
}

#[test]
fn stop_keeps_what_was_paid_for() {
    // With one job the checks are not prepared yet when the text is written.
    for (phase, jobs, events) in [
        ("plan", "2", &["plan_created"][..]),
        ("produce", "1", &["plan_created", "artifact_created"]),
        ("produce", "2", &["plan_created", "artifact_created", "checks_prepared"]),
    ] {
        let scene = scene(&rising());
        let (stop, ran) = stopped_in(&scene, phase, &["--jobs", jobs, "--out", "out.md"]);
        assert_eq!((stop.code, ran.code), (Some(0), Some(3)), "{phase}: {stop:?} {ran:?}");
        assert_stopped(&scene);
        let kinds: Vec<_> = story(&scene).iter().map(|line| line["event"].clone()).collect();
        assert_eq!(kinds, [&["run_started"], events, &["stopped"]].concat(), "{phase}");
        if phase == "produce" {
            assert!(meets(&artifact(&scene), &PASSES_A), "{phase}: the text stands in its file");
            assert_eq!(fs::read_to_string(scene.path("project/out.md")).unwrap(), artifact(&scene));
            let summary = ran.json();
            assert_eq!(summary["artifact"]["status"], "unevaluated", "{phase}: {summary}");
        }
    }
}

#[test]
fn a_refined_text_that_nobody_judged_is_kept_beside_the_best() {
    let scene = scene(&rising());
    let (stop, ran) = stopped_in(&scene, "refine", &[]);
    assert_eq!((stop.code, ran.code), (Some(0), Some(3)), "{stop:?} {ran:?}");
    assert_stopped(&scene);
    assert!(meets(&artifact(&scene), &PASSES_A), "the best of what was judged stands in the file");
    let status = scene.run(&["status"]).stdout;
    assert!(status.contains(&format!("skilltune show {} head", scene.run_id())), "{status}");
    let head = scene.run(&["show", &scene.run_id(), "head"]).stdout;
    assert!(meets(&head, &ALL), "{head}");
}

#[test]
fn after_a_stop_everything_says_that_the_run_cannot_be_resumed() {
    let scene = scene(&rising());
    let (stop, ran) = stopped_in(&scene, "critique", &[]);
    assert!(stop.stderr.contains("has ended for good: The run is stopped (user_stop)"), "{stop:?}");
    let summary = ran.json();
    let words = |key: &str| summary[key].as_str().unwrap_or_default().to_owned();
    assert_eq!(["outcome", "status", "reason"].map(words), ["short", "stopped", "user_stop"]);
    assert_eq!(summary["note"], "it is good enough");
    assert_eq!(run_json(&scene)["stop"]["message"], "it is good enough");
    assert_eq!(run_json(&scene)["critique"]["issues"][0]["rule_id"], CLARITY, "the critique was paid for");
    let id = scene.run_id();
    let commands = [
        &["status", &id][..],
        &["status", &id, "--format", "json"],
        &["report", &id],
        &["list"],
        &["history", &id],
    ];
    let said = commands.map(|command| scene.run(command)).map(|ran| (ran.stdout, ran.stderr));
    for (stdout, stderr) in said.into_iter().chain([(ran.stdout, ran.stderr), (stop.stdout, stop.stderr)]) {
        assert!(!stdout.contains("resume") && !stderr.contains("resume"), "{stdout}{stderr}");
    }
    assert!(scene.run(&["list"]).stdout.contains("  stopped  "));
    let again = scene.run(&RESUME);
    assert!(again.stderr.contains("has ended and cannot be resumed"), "{again:?}");
}

#[test]
fn an_interrupt_hastens_a_stop_and_leaves_it_a_stop() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "produce", &["--jobs", "1"]);
    let stop = std::thread::scope(|scope| {
        let stop = scope.spawn(|| scene.run(&["reflex", "stop", ALIAS, "it is good enough"]));
        run.until_said("then ending the run for good; press Ctrl-C to end them now: without their answers");
        run.signal(Signal::INT);
        stop.join().unwrap()
    });
    gate.remove();
    let ran = run.wait();
    assert_eq!(
        (stop.code, ran.code, &ran.json()["reason"]),
        (Some(0), Some(3), &json!("user_stop")),
        "{ran:?}"
    );
    assert_stopped(&scene);
    assert!(!ran.stderr.contains("resume"), "{ran:?}");
}

/// Fails unless the run has ended with the person's reason and does not resume.
fn assert_stopped(scene: &Scene) {
    let run = run_json(scene);
    assert_eq!((&run["status"], &run["stop"]["reason"]), (&json!("stopped"), &json!("user_stop")));
    assert_tidy(scene, "stopped");
    let status = scene.run(&["reflex", "status", ALIAS]).stdout;
    assert!(status.contains("it is good enough"), "{status}");
    let calls = scene.calls();
    let ran = scene.run(&RESUME);
    assert_eq!((ran.code, &ran.json()["reason"]), (Some(3), &json!("user_stop")), "{ran:?}");
    assert!(ran.stderr.contains("has ended"), "{ran:?}");
    assert_eq!(scene.calls(), calls, "nothing is asked any more");
    let again = scene.run(&["reflex", "stop", ALIAS]);
    assert!(again.stderr.contains("has already ended"), "{again:?}");
}

#[test]
fn stop_ends_a_run_that_nobody_works_on_too() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "critique", &[]);
    run.kill_and_see_off();
    gate.remove();
    let stop = scene.run(&["reflex", "stop", ALIAS, "it is good enough"]);
    assert_eq!(stop.code, Some(0), "{stop:?}");
    assert_stopped(&scene);
    assert!(meets(&artifact(&scene), &PASSES_A), "the best of what was judged stays");
}

#[test]
fn a_run_that_can_be_resumed_is_deleted_only_by_name_or_with_all() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "critique", &[]);
    assert_eq!(run.interrupt(gate).code, Some(130));
    for bare in [&["clean", "--yes"][..], &["reflex", "clean", "--yes"], &["clean", "--keep", "0", "--yes"]] {
        let ran = scene.run(bare);
        assert!(
            ran.stderr.starts_with("keeping 1 run that can be resumed (`skilltune clean --all`"),
            "{ran:?}"
        );
        assert_eq!((ran.code, scene.run_folders().len()), (Some(0), 1), "{ran:?}");
    }
    let current = scene.path("project/.ai-factory/evolution/current.json");
    assert!(current.exists(), "the run is not over");
    let ran = scene.run(&["clean", ALIAS, "--yes"]);
    assert_eq!((ran.code, scene.run_folders().len(), place(&scene).exists()), (Some(0), 0, false), "{ran:?}");
    assert!(!current.exists(), "it names a run that is gone");
}

#[test]
fn a_run_that_has_ended_is_told_again_and_makes_no_call() {
    let scene = written();
    let calls = scene.calls();
    let again = scene.run(&RESUME);
    assert_eq!((again.code, again.json()), (Some(0), summary(&scene)), "{again:?}");
    assert_eq!(scene.calls(), calls);
    let human = scene.run(&RESUME[..4]);
    assert!(human.stderr.contains("`skilltune reflex TASK` starts a new run"), "{human:?}");
    assert!(human.stdout.contains("artifact.md") && !human.stdout.contains("met: "), "{human:?}");
    let said = scene.run(&[&RESUME[..], &["--answer", "run"]].concat());
    assert_eq!(said.code, Some(2), "whoever answers must not believe that it was heard: {said:?}");
}

#[test]
fn the_folder_of_a_task_has_one_run_at_work() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "plan", &[]);
    let second = scene.run(&RESUME);
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.stderr.contains("in use by another skilltune"), "{second:?}");
    let clean = scene.run(&["reflex", "clean", ALIAS, "--yes"]);
    assert_eq!(clean.code, Some(2), "{clean:?}");
    assert!(clean.stderr.contains("is running"), "{clean:?}");
    gate.open();
    assert_eq!(run.wait().code, Some(0));
}
