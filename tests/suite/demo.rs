//! `demo`: with only a home and a PATH it shows the whole loop, and changes nothing outside its folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::background::{Background, Gate};
use crate::offline::{beside, gated_shell};
use crate::readme::{said, steady};
use crate::scene::{Listing, Ran, SKILLTUNE, Scene, listing};

/// Returns `env -i HOME=... PATH=... skilltune demo` in this folder.
fn demo(scene: &Scene, folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(SKILLTUNE);
    command.arg("demo").args(more).current_dir(folder).stdin(Stdio::null());
    command.env_clear().env("HOME", scene.path("home")).env("PATH", "/usr/bin:/bin");
    command
}

fn ran(mut command: Command) -> Ran {
    Ran::of(command.output().unwrap())
}

fn folder(scene: &Scene, name: &str) -> PathBuf {
    let folder = scene.path(name);
    fs::create_dir(&folder).unwrap();
    folder
}

/// Returns the runs in a demo's folder, oldest first.
fn runs(demo: &Path) -> Vec<PathBuf> {
    let runs = fs::read_dir(demo.join(".skilltune/runs")).unwrap().map(|run| run.unwrap().path());
    let begun = |run: &PathBuf| {
        let text = fs::read_to_string(run.join("history.jsonl")).unwrap();
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        first["at"].as_str().unwrap().to_owned()
    };
    let mut runs: Vec<PathBuf> = runs.collect();
    runs.sort_by_key(begun);
    runs
}

fn decisions(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("history.jsonl")).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone());
    events.filter_map(|event| event.get("decided").cloned()).collect()
}

fn skills() -> Listing {
    listing(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/demo/skills"))
}

/// Returns the decisions of a demo, and its skills afterwards.
fn outcome(demo: &Path) -> (Vec<Vec<Value>>, Listing) {
    (runs(demo).iter().map(|run| decisions(run)).collect(), listing(&demo.join("skills")))
}

#[test]
fn in_an_empty_folder_it_reads_like_a_story() {
    let scene = Scene::empty();
    let place = folder(&scene, "place");
    let output = said(&mut demo(&scene, &place, &[]));
    insta::assert_snapshot!(steady(&output, &place), @r"
    Copied a flawed skill and a chain of two into skilltune-demo.
    The built-in agent tunes them: no model, no key, no network. It checks structure only.

    One skill with a broken link, a script that is not executable, and a long file without a table of contents. Not every fix helps: the scenarios run the script, which shows the fixes that break it.

    $ skilltune tune skills/release-notes --suite suite.toml --threshold 97 --max-iterations 8 --trust --yes
    tune release-notes: goal 97 in up to 8 rounds
    offline (structural) in all roles
    run RUN, 6 scenarios, 4 of them held out for the final comparison
    limits: 224 calls (default)

    round 1 of 8  63.8            baseline
      weakness: SKILL.md:14: broken link to `refs/style-guide.md` (link-dangling)
    round 2 of 8  88.8 (+25.0)    kept        edit of wording, structure
      weakness: references/style-guide.md:1: the file has 107 lines and no table of contents (contents-missing)
    round 3 of 8  95.0 (+6.2)     kept        edit of script
      weakness: references/style-guide.md:1: the file has 107 lines and no table of contents (contents-missing)
    round 4 of 8  77.5 (-17.5)    dropped     paragraph-repeated: Keep the first copy and remove the others.
      weakness: references/style-guide.md:1: the file has 107 lines and no table of contents (contents-missing)
    round 5 of 8  97.5 (+2.5)     kept        edit of wording, structure
      weakness: references/template.md:9: duplicate of line 5 (paragraph-repeated)
    comparing 0408f67c2d24 with the start on fresh trials of 4 held-out scenarios

    verdict: WIN, 63.8 -> 97.5 on 4 scenarios that the search has not seen: better by at least 33.7 (at most 1 useless candidate in 10 gets this far)
    release-notes: 63.8 -> 97.5 (+33.7), goal 97 reached

    round 1  #########################              |   63.8   baseline
    round 2  ###################################    |   88.8   kept
    round 3  ###################################### |   95.0   kept
    round 4  ###############################        |   77.5   dropped
    round 5  #######################################|   97.5   kept
                                                    goal 97

    The champion beat the start and was applied.
    The search stopped: goal reached.
    The champion changes +14 -1 in 3 files.
      effort    5 rounds, 3 kept, 1 dropped; 40 calls, TIME of agent time, $0.00
    to see what changed: skilltune diff RUN
    to undo it: skilltune rollback RUN
    report: /tmp/tour/skilltune-demo/.skilltune/runs/RUN/report.html

    A chain of two skills: the second works on the output of the first.

    $ skilltune tune skills/gather-facts,skills/write-brief --chain --suite chain.toml --threshold 95 --trust --yes
    tune gather-facts -> write-brief: goal 95 in up to 5 rounds
    offline (structural) in all roles
    run RUN, 5 scenarios, 4 of them held out for the final comparison
    limits: 256 calls (default)

    round 1 of 5  72.5            baseline
      gather-facts 75.0 -> write-brief 72.5
      weakness: SKILL.md:10: broken link to `reference/rules.md` (link-dangling)
    round 2 of 5  72.5 (±0.0)     kept        write-brief, edit of wording, structure
      gather-facts 75.0 (reused) -> write-brief 97.5
      weakness: SKILL.md:10: broken link to `reference/rules.md` (link-dangling)
    round 3 of 5  97.5 (+25.0)    kept        gather-facts, edit of wording, structure
      gather-facts 100.0 -> write-brief 97.5
      weakness: SKILL.md:14: duplicate of line 8 (paragraph-repeated)
    comparing 86298e59b773 with the start on fresh trials of 4 held-out scenarios

    verdict: WIN, 72.5 -> 97.5 on 4 scenarios that the search has not seen: better by at least 25.0 (at most 1 useless candidate in 10 gets this far)
    gather-facts -> write-brief: 72.5 -> 97.5 (+25.0), goal 95 reached

    round 1  #############################         |    72.5   baseline
    round 2  #############################         |    72.5   kept
    round 3  #######################################    97.5   kept
                                                   goal 95

    The champion beat the start and was applied.
    The search stopped: goal reached.
    The champion changes +2 -2 in 2 files.
      effort    3 rounds, 2 kept, 0 dropped; 33 calls, TIME of agent time, $0.00
    to see what changed: skilltune diff RUN
    to undo it: skilltune rollback RUN
    report: /tmp/tour/skilltune-demo/.skilltune/runs/RUN/report.html

    Look at the result, then tune your own skill:

      cd skilltune-demo
      skilltune diff                             show what the last run changed
      skilltune history                          show what happened, and why
      skilltune rollback                         undo the last run
      skilltune tune YOUR-SKILL --agent offline  tune your own skill
    ");
}

#[test]
fn every_target_is_better_afterwards_and_every_page_says_who_looked_at_what() {
    let scene = Scene::empty();
    let place = folder(&scene, "place");
    assert_eq!(ran(demo(&scene, &place, &[])).code, Some(0));
    let demo = place.join("skilltune-demo");
    let runs = runs(&demo);
    assert_eq!(runs.len(), 2);
    for run in &runs {
        let state = fs::read_to_string(run.join("iteration-state.json")).unwrap();
        for page in ["final-report.md", "report.json", "iteration-state.json"] {
            let text = fs::read_to_string(run.join(page)).unwrap();
            assert!(text.contains("offline (structural)"), "{page}");
        }
        let scores: Value = serde_json::from_str(&state).unwrap();
        let scores = scores["score_trend"].as_array().unwrap();
        assert!(scores.last().unwrap().as_f64() > scores[0].as_f64(), "{scores:?}");
    }
    let first = decisions(&runs[0]);
    let count = |kind: &str| first.iter().filter(|decision| decision.get(kind).is_some()).count();
    assert!(count("keep") >= 2 && count("drop") >= 1, "{first:?}");
    let (before, after) = (skills(), listing(&demo.join("skills")));
    for skill in ["release-notes", "gather-facts", "write-brief"] {
        let of = |all: &Listing| {
            all.iter().filter(|(path, ..)| path.starts_with(skill)).cloned().collect::<Vec<_>>()
        };
        assert_ne!(of(&before), of(&after), "{skill} has changed");
    }
    assert_eq!(scene.alive(), [0; 0]);
    let beside: Vec<_> = fs::read_dir(&place).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing stands beside the demo");
}

#[test]
fn what_it_says_to_type_next_can_be_typed() {
    let scene = Scene::empty();
    let place = folder(&scene, "place");
    let output = ran(demo(&scene, &place, &["my demo"])).stdout;
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    assert!(lines.contains(&"cd 'my demo'"), "{output}");
    let next = lines.iter().filter_map(|line| line.strip_prefix("skilltune ")?.split_once("   ")?.0.into());
    let next: Vec<&str> = next.collect();
    assert_eq!(next, ["diff", "history", "rollback"]);
    let mine = place.join("my demo");
    let tuned = listing(&mine.join("skills"));
    for line in next {
        let mut command = scene.command(&[line]);
        command.current_dir(&mine).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
        let ran = ran(command);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    }
    assert_ne!(listing(&mine.join("skills")), tuned, "the last run was rolled back");
}

#[test]
fn a_folder_that_is_not_empty_or_none_is_left_as_it_is() {
    let scene = Scene::empty();
    let place = folder(&scene, "place");
    fs::create_dir(place.join("mine")).unwrap();
    fs::write(place.join("mine/file"), "mine").unwrap();
    symlink(scene.path("nowhere"), place.join("link")).unwrap();
    let before = scene.everything();
    for (dir, why) in [
        ("mine", "/place/mine is not empty"),
        (".", "/place/. is not empty"),
        ("mine/file", "Not a directory"),
        ("mine/file/below", "Not a directory"),
        ("link", "File exists"),
    ] {
        let ran = ran(demo(&scene, &place, &[dir]));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{dir}: {ran:?}");
        assert!(scene.normalized(&ran.stderr).contains(why), "{dir}: {ran:?}");
    }
    assert_eq!(scene.everything(), before);
}

#[test]
fn without_a_home_or_a_folder_that_can_be_written_it_says_so() {
    let scene = Scene::empty();
    let place = folder(&scene, "place");
    let before = scene.everything();
    let mut homeless = demo(&scene, &place, &[]);
    let refused = Ran::of(homeless.env_remove("HOME").output().unwrap());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("HOME is set to an absolute path"), "{refused:?}");
    // No user can create a folder there, not even root.
    let refused = ran(demo(&scene, Path::new("/proc"), &[]));
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    assert!(refused.stderr.contains("cannot write the example to /proc/skilltune-demo"), "{refused:?}");
    assert_eq!(scene.everything(), before);
}

#[test]
fn it_ends_alike_in_two_folders_and_at_any_number_of_jobs() {
    let scene = Scene::empty();
    let settings = scene.path("home/.config/skilltune");
    fs::create_dir_all(&settings).unwrap();
    let outcomes = ["1", "8", "8"].iter().enumerate().map(|(at, jobs)| {
        fs::write(settings.join("skilltune.toml"), format!("[calls]\njobs = {jobs}\n")).unwrap();
        let place = folder(&scene, &format!("place-{at}"));
        assert_eq!(ran(demo(&scene, &place, &["here"])).code, Some(0));
        outcome(&place.join("here"))
    });
    let outcomes: Vec<_> = outcomes.collect();
    assert_eq!(outcomes[0].0.len(), 2);
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[1], outcomes[2]);
}

#[test]
fn ctrl_c_stops_it_and_the_run_can_be_taken_up() {
    let scene = Scene::empty();
    let place = folder(&scene, "place");
    gated_shell(&scene);
    let gate = Gate::at(scene.path("gate"));
    let run = Background::spawn(&scene, beside(&scene, &["demo"], &place));
    run.until_begun(1);
    let ran = run.interrupt(gate);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(
        ran.stdout.contains("\nto continue: skilltune resume ")
            && ran.stdout.contains("\n  cd skilltune-demo\n")
    );
    assert_eq!(scene.alive(), [0; 0]);
    let demo = place.join("skilltune-demo");
    assert_eq!(runs(&demo).len(), 1, "the chain has not begun");
    assert_eq!(listing(&demo.join("skills")).len(), skills().len());
    let resumed = Ran::of(beside(&scene, &["resume", "--trust"], &demo).output().unwrap());
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains("release-notes: 63.8 -> 97.5"), "{resumed:?}");
}
