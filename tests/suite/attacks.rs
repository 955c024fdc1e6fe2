//! Agents that attack the processes that watch them, with namespaces and without: their call fails, never the run, and
//! nothing of them is left.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::background::Background;
use crate::outcome::assert_left_nothing;
use crate::scene::Scene;
use crate::tier::sample;

const TUNE: [&str; 10] = [
    "tune",
    "writer",
    "write a page",
    "--yes",
    "--max-iterations",
    "1",
    "--timeout",
    "1",
    "--format",
    "json",
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum World {
    Namespaces,
    None,
}

const WORLDS: [World; 2] = [World::Namespaces, World::None];

fn scene(kind: &str) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({ "misbehave": { "executor": kind } }));
    fs::create_dir(scene.path("precious")).unwrap();
    fs::write(scene.path("precious/file"), "of the user").unwrap();
    scene
}

/// Returns `tune` in this world, or none if namespaces cannot be disabled here.
fn commands(scene: &Scene, world: World) -> Option<Command> {
    let without = scene.command_without_namespaces(&TUNE)?;
    Some(if world == World::None { without } else { scene.command(&TUNE) })
}

/// Runs an executor that does this, and returns why its two calls failed.
fn failures(kind: &str, world: World) -> Option<Vec<String>> {
    let scene = scene(kind);
    let run = Background::spawn(&scene, commands(&scene, world)?);
    let ran = run.wait();
    assert_eq!(ran.code, Some(4), "{kind} {world:?}: {ran:?}");
    // A timeout without output may mean that the service is down: then the run pauses.
    let outcome = ran.json()["outcome"].clone();
    assert!(outcome == "unjudged" || outcome == "paused", "{kind} {world:?}: {outcome}");
    let failed = scene.events("done").into_iter().filter_map(|done| done["outcome"].get("failed").cloned());
    let why: Vec<_> = failed.map(|failed| failed["why"].as_str().expect("it says why").to_owned()).collect();
    eprintln!("attack: {kind:14} {world:?}: {} left alive: {why:?}", scene.alive().len());
    assert_left_nothing(&scene, kind);
    assert_eq!(fs::read_to_string(scene.path("precious/file")).unwrap(), "of the user", "{kind} {world:?}");
    assert_eq!(why.len(), 2, "{kind} {world:?}: tried, and tried again: {why:?}");
    Some(why)
}

fn both(kind: &str, says: [&str; 2]) {
    in_worlds(kind, WORLDS.into_iter().zip(says));
}

fn in_worlds<'a>(kind: &str, worlds: impl Iterator<Item = (World, &'a str)>) {
    for (world, says) in worlds {
        let Some(all) = failures(kind, world) else { continue };
        assert!(all.iter().all(|why| why.contains(says)), "{kind} {world:?}: {all:?}");
    }
}

#[test]
fn a_fork_storm_is_a_timeout_of_its_call() {
    // Each storm has all processors for seconds.
    in_worlds("storm", sample(WORLDS, 2).into_iter().zip(["after "; 2]));
}

#[test]
fn an_agent_that_kills_its_guardian_loses_its_call() {
    both("kill_guardian", ["after ", "its guardian was killed"]);
}

#[test]
fn an_agent_that_stops_its_guardian_loses_its_call() {
    both("stop_guardian", ["after ", "its guardian was stopped or hangs"]);
}

#[test]
fn an_agent_that_would_kill_all_of_us_and_leave_a_child_finds_nobody_to_kill() {
    // Without namespaces the agent can kill us, and `doctor` says so.
    let all = failures("kill_all", World::Namespaces);
    assert!(all.is_some_and(|all| all.iter().all(|why| why.contains("after "))));
}

#[test]
fn an_agent_whose_workspace_is_gone_or_leads_elsewhere_has_failed_alone() {
    for kind in ["link_desk", "remove_desk", "link_space"] {
        both(kind, ["its workspace is no longer a folder"; 2]);
    }
}

#[test]
fn doctor_says_what_ends_the_processes_of_a_call() {
    let scene = Scene::empty();
    let report = |mut command: Command| -> Value {
        serde_json::from_slice(&command.output().unwrap().stdout).expect("an object on stdout")
    };
    let doctor = ["doctor", "--format", "json"];
    let Some(without) = scene.command_without_namespaces(&doctor) else { return };
    assert_eq!(report(scene.command(&doctor))["processes"], json!({ "by": "kernel" }));
    let without = report(without)["processes"].clone();
    assert_eq!(without["by"], "search");
    assert!(without["why"].as_str().is_some_and(|why| !why.is_empty()), "{without}");
}

#[test]
fn an_agent_reads_no_variable_that_it_was_not_given() {
    for world in [World::Namespaces, World::None] {
        let scene = scene("spy");
        let Some(mut command) = commands(&scene, world) else { continue };
        let output = command.env("SOMEBODYS_KEY", "not-for-agents").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(answer.is_object(), "{answer}");
        let environs = fs::read(scene.path("environs")).unwrap();
        let has = |needle: &str| environs.windows(needle.len()).any(|part| part == needle.as_bytes());
        assert!(has("SKILLTUNE_RUN="), "{world:?}: it reads its own");
        assert!(!has("not-for-agents"), "{world:?}: it reads ours");
    }
}
