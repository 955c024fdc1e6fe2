//! The crash test: the real binary aborted at every durable step, taken up again, and compared with a run that was
//! not.
//!
//! With one job the durable steps come in the same order every time, so that the n-th is the same one in every scene.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::chain;
use crate::outcome::{Outcome, assert_tidy, repeated};
use crate::scene::{Ran, Scene, listing};
use crate::story::Story;

/// A run that accepts a change, drops another, and promotes.
struct Tuned {
    skills: &'static [(&'static str, u32)],
    script: Value,
    tune: &'static [&'static str],
}

const ALWAYS: [&str; 6] = ["--yes", "--format", "json", "--jobs", "1", "--seed"];

impl Tuned {
    fn single() -> Self {
        Self {
            skills: &[("writer", 40)],
            script: json!({ "improve": { "writer": { "40": 60, "60": 30 } } }),
            tune: &["writer", "--max-iterations", "3"],
        }
    }

    fn chain() -> Self {
        let mut script = chain::script();
        script["improve"]["writer"] = json!({ "40": 60, "60": 20 });
        Self {
            skills: &chain::SKILLS,
            script,
            tune: &["outline,writer,editor", "--chain", "--max-iterations", "3"],
        }
    }
}

impl Story for Tuned {
    /// The skills hold what a careless copy gets wrong: an executable, a link, an empty folder.
    fn scene(&self) -> Scene {
        let scene = Scene::in_memory(self.skills, &self.script);
        for (name, _) in self.skills {
            let folder = scene.skill(name);
            fs::write(folder.join("run.sh"), "true\n").unwrap();
            fs::set_permissions(folder.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
            symlink("references/style.md", folder.join("style")).unwrap();
            fs::create_dir(folder.join("empty")).unwrap();
        }
        scene
    }

    fn begin(&self, scene: &Scene) -> Command {
        scene.command(&[&["tune", self.tune[0], "write a page"], &self.tune[1..], &ALWAYS, &["7"]].concat())
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&["resume", "--yes", "--format", "json", "--jobs", "1"])
    }

    fn assert_telling(&self, scene: &Scene, ran: &Ran) {
        let decisions = scene.events("decided");
        for decision in ["keep", "drop", "ship"] {
            assert!(decisions.iter().any(|made| made.get(decision).is_some()), "{decision}: {ran:?}");
        }
        assert_eq!(ran.json()["outcome"], "improved", "the target is replaced: {ran:?}");
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of(scene, ran)
    }

    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_tidy(scene, story);
    }
}

/// Crashes at every point up to the last, two scenes at a time; how many points there were.
pub(crate) fn crash_everywhere(story: &impl Story) -> u64 {
    let whole = story.whole();
    let next = AtomicU64::new(1);
    let visit = || {
        loop {
            let at = next.fetch_add(1, Ordering::SeqCst);
            if !crash_at(story, at, &whole) {
                return at;
            }
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(visit);
        let ended = visit();
        ended.min(other.join().expect("the other half passes")) - 1
    })
}

/// Whether there was such a point.
fn crash_at(story: &impl Story, at: u64, whole: &Outcome) -> bool {
    let told = format!("crashed at point {at}");
    let scene = story.scene();
    if !crashed(story.begin(&scene), at) {
        return false;
    }
    // Some crash once more while they are taken up.
    if at.is_multiple_of(5) {
        let had_begun = !scene.run_folders().is_empty();
        crashed(story.go_on(&scene), 1 + at * 7 % 41);
        assert!(!had_begun || !scene.run_folders().is_empty(), "{told}: the run is lost");
    }
    let ran = Ran::of(story.go_on(&scene).output().unwrap());
    assert!(ran.code.is_some(), "{told}: {ran:?}");
    story.outcome(&scene, &ran).assert_is(whole, &told);
    assert_eq!(repeated(&scene), 0, "{told}: an answered call was made again");
    story.assert_tidy(&scene, &told);
    true
}

/// Runs our binary up to its `at`-th durable step; false when it has ended by itself before.
fn crashed(mut command: Command, at: u64) -> bool {
    const ABORTED: i32 = 6;
    use std::os::unix::process::ExitStatusExt;
    let output = command.env("SKILLTUNE_CRASH_AT", at.to_string()).output().unwrap();
    let signal = output.status.signal();
    assert!(signal.is_none_or(|signal| signal == ABORTED), "{:?}", Ran::of(output));
    signal.is_some()
}

#[test]
fn a_single_run_aborted_at_any_durable_step_ends_as_if_it_had_not_been() {
    let points = crash_everywhere(&Tuned::single());
    eprintln!("crash test: a single run has {points} durable steps");
    assert!(points > 300, "{points}");
}

#[test]
fn a_chain_run_aborted_at_any_durable_step_ends_as_if_it_had_not_been() {
    let points = crash_everywhere(&Tuned::chain());
    eprintln!("crash test: a chain run has {points} durable steps");
    assert!(points > 500, "{points}");
}

#[test]
fn a_rollback_or_apply_aborted_at_any_durable_step_leaves_a_target_that_the_next_command_repairs() {
    let story = Tuned::single();
    let scene = story.scene();
    let skill = scene.skill("writer");
    let start = listing(&skill);
    Ran::of(story.begin(&scene).output().unwrap());
    let champion = listing(&skill);
    assert_ne!(start, champion);
    let id = scene.run_id();
    let put = |candidate, story: &str| {
        let ran = scene.run(&["apply", &id, candidate]);
        assert_eq!(ran.code, Some(0), "{story}: {ran:?}");
        assert_eq!(listing(&skill), if candidate == "start" { &start[..] } else { &champion }, "{story}");
        assert_tidy(&scene, story);
    };
    let commands: [(&[&str], _); 2] =
        [(&["rollback", &id], "champion"), (&["apply", &id, "champion"], "start")];
    let mut points = 0;
    for (command, before) in commands {
        for at in 1.. {
            let story = format!("{command:?} crashed at point {at}");
            put(before, &story);
            if !crashed(scene.command(command), at) {
                break;
            }
            points += 1;
            // The way on and the way back, from wherever the crash has left the target.
            put(if at % 2 == 0 { "champion" } else { "start" }, &story);
        }
    }
    eprintln!("crash test: rollback and apply have {points} durable steps");
    assert!(points > 30, "{points}");
}

/// An answer in the cache whose trees were half gone made every later run on the same skill fail.
#[test]
fn a_clean_aborted_at_any_durable_step_leaves_a_store_that_the_next_run_can_use() {
    let story = Tuned::single();
    let scene = story.scene();
    let never = |seed: &str| {
        let tune = ["tune", "writer", "write a page", "--max-iterations", "2", "--apply", "never"];
        Ran::of(scene.command(&[&tune, &ALWAYS[..], &[seed]].concat()).output().unwrap())
    };
    let first = never("7");
    never("8");
    let folders =
        ["project", "state"].map(|folder| (scene.path(folder), scene.path(&format!("{folder}-before"))));
    let copy = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
    };
    for (now, before) in &folders {
        copy(now, before);
    }
    let mut points = 0;
    for at in 1.. {
        for (now, before) in &folders {
            fs::remove_dir_all(now).unwrap();
            copy(before, now);
        }
        // The older run goes, and with it answers and trees that the newer one does not need.
        if !crashed(scene.command(&["clean", "--yes", "--keep", "1"]), at) {
            break;
        }
        points += 1;
        let again = never("7");
        let score = |ran: &Ran| (ran.code, ran.json()["final_score"].clone(), ran.json()["outcome"].clone());
        assert_eq!(score(&again), score(&first), "crashed at point {at}: {again:?}");
    }
    eprintln!("crash test: clean has {points} durable steps");
    assert!(points > 10, "{points}");
}
