//! A run that is stopped or killed: it goes on where it was, or is ended for good, as a person says.

use rustix::process::Signal;
use serde_json::json;

use super::tidy::assert_tidy;
use super::*;
use crate::background::{Background, Gate};
use crate::outcome::{Outcome, repeated};

fn gated(phase: &str) -> (Scene, Gate) {
    let scene = scene(&rising());
    let gate = scene.path("gate");
    scene.write_script(&json!({ "reflex": rising(), "gates": { phase: gate } }));
    (scene, Gate::at(gate))
}

fn undisturbed() -> Outcome {
    let scene = scene(&rising());
    let ran = new(&scene, &[]);
    Outcome::of_reflex(&scene, &ran)
}

fn assert_goes_on(scene: &Scene) {
    let ran = scene.run(&RESUME);
    Outcome::of_reflex(scene, &ran).assert_is(&undisturbed(), "taken up");
    assert_eq!(repeated(scene), 0);
    assert_tidy(scene, "taken up");
}

#[test]
fn an_interrupted_and_a_killed_run_go_on_as_if_nothing_had_been() {
    for phase in ["plan", "produce", "evaluate", "refine"] {
        for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
            let (scene, gate) = gated(phase);
            // No other call is under way: one that is ended in the instant of its answer is made again.
            let arguments = begin(&["--jobs", "1"]);
            let run = Background::start(&scene, &arguments);
            assert!(run.until(|scene| begun(scene, phase) >= 1), "{phase}");
            if signal == Signal::KILL {
                run.kill_and_see_off();
                gate.remove();
            } else {
                run.signal(signal);
                // Asked to finish, it waits for what is under way; told to end, it does not.
                let code = if signal == Signal::INT {
                    run.until_said("finishing current calls");
                    gate.open();
                    (run.wait().code, Some(130))
                } else {
                    let code = run.wait().code;
                    gate.remove();
                    (code, Some(143))
                };
                assert_eq!(code.0, code.1, "{phase}");
            }
            assert_goes_on(&scene);
        }
    }
}

#[test]
fn stop_lets_the_step_under_way_finish_and_ends_the_run_for_good() {
    let (scene, gate) = gated("evaluate");
    let arguments = begin(&[]);
    let run = Background::start(&scene, &arguments);
    assert!(run.until(|scene| begun(scene, "evaluate") >= 1));
    let stop = std::thread::scope(|scope| {
        let stop = scope.spawn(|| scene.run(&["reflex", "stop", ALIAS, "it is good enough"]));
        run.until_said("stopping: finishing");
        gate.open();
        stop.join().unwrap()
    });
    assert_eq!(stop.code, Some(0), "{stop:?}");
    assert_eq!(run.wait().code, Some(130));
    assert_stopped(&scene);
    assert_eq!(story(&scene).last().unwrap()["step"], "EVALUATE");
}

/// It is over, with the person's reason, and is not taken up.
fn assert_stopped(scene: &Scene) {
    let told = run_json(scene);
    assert_eq!((&told["status"], &told["stop"]["reason"]), (&json!("stopped"), &json!("user_stop")));
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
    let (scene, gate) = gated("critique");
    let arguments = begin(&[]);
    let run = Background::start(&scene, &arguments);
    assert!(run.until(|scene| begun(scene, "critique") >= 1));
    run.kill_and_see_off();
    gate.remove();
    let stop = scene.run(&["reflex", "stop", ALIAS, "it is good enough"]);
    assert_eq!(stop.code, Some(0), "{stop:?}");
    assert_stopped(&scene);
    assert!(meets(&artifact(&scene), &PASSES_A), "the best of what was judged stays");
}

#[test]
fn a_run_that_has_ended_is_told_again_and_makes_no_call() {
    let scene = scene(&rising());
    let first = new(&scene, &[]);
    let calls = scene.calls();
    let again = scene.run(&RESUME);
    assert_eq!((again.code, again.json()), (Some(0), first.json()), "{again:?}");
    assert_eq!(scene.calls(), calls);
    let said = scene.run(&[&RESUME[..], &["--answer", "run"]].concat());
    assert_eq!(said.code, Some(2), "whoever answers must not believe that it was heard: {said:?}");
}

#[test]
fn the_folder_of_a_task_has_one_run_at_work() {
    let (scene, gate) = gated("plan");
    let arguments = begin(&[]);
    let run = Background::start(&scene, &arguments);
    assert!(run.until(|scene| begun(scene, "plan") >= 1));
    let second = scene.run(&RESUME);
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.stderr.contains("in use by another skilltune"), "{second:?}");
    let clean = scene.run(&["reflex", "clean", ALIAS, "--yes"]);
    assert_eq!(clean.code, Some(2), "{clean:?}");
    assert!(clean.stderr.contains("is running"), "{clean:?}");
    gate.open();
    assert_eq!(run.wait().code, Some(0));
}
