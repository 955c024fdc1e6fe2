//! A share of a usage window stays free: the run pauses before the call that would use it, and continues after the
//! reset. A script stands in for claude and reports its window as claude does.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::json;

use crate::night::{Nights, climbs};
use crate::scene::{Ran, Scene, without_moments};

const DONE: &str = include_str!("../../fixtures/transcripts/claude/write.jsonl");

/// Installs a claude that counts its calls and writes a page. It reports its window usage from `usage`, if that exists.
pub(crate) fn install(scene: &Scene) {
    fs::create_dir(scene.path("claude")).unwrap();
    fs::create_dir(scene.path("bin")).unwrap();
    fs::write(scene.path("done"), DONE).unwrap();
    let at = |name: &str| scene.path(name).display().to_string();
    let (calls, usage, done) = (at("claude/calls"), at("usage"), at("done"));
    let script = format!(
        "#!/bin/sh\necho call >> {calls}\nhead -n 1 {done}\nif [ -e {usage} ]; then read -r used seconds < {usage}\n\
         sed \"s/USED/$used/; s/RESETS/$(($(date +%s) + seconds))/g\" {}; fi\n\
         echo 'made by limited with quality 70' > out.md\ntail -n +2 {done}\n",
        at("event")
    );
    let event = json!({ "type": "rate_limit_event", "rate_limit_info": {
        "status": "allowed", "resetsAt": "RESETS", "rateLimitType": "five_hour", "isUsingOverage": false,
        "unifiedWindows": {
            "five_hour": { "utilization": "USED", "resetsAt": "RESETS" },
            "seven_day": { "utilization": 0.02, "resetsAt": "RESETS" },
        },
    } });
    let event = event.to_string().replace("\"RESETS\"", "RESETS").replace("\"USED\"", "USED");
    fs::write(scene.path("event"), event + "\n").unwrap();
    fs::write(scene.path("bin/claude"), script).unwrap();
    fs::set_permissions(scene.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn with_claude(scene: &Scene, mut command: Command) -> Ran {
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    command.env("CLAUDE_CONFIG_DIR", scene.path("claude"));
    Ran::of(command.output().unwrap())
}

/// Makes claude report this used share of a window that resets in `seconds`.
pub(crate) fn report(scene: &Scene, used: &str, seconds: u32) {
    fs::write(scene.path("usage"), format!("{used} {seconds}\n")).unwrap();
}

fn calls(scene: &Scene) -> usize {
    fs::read_to_string(scene.path("claude/calls")).unwrap_or_default().lines().count()
}

pub(crate) fn scene() -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 46, "46": 52 } } }));
    install(&scene);
    scene
}

fn run(scene: &Scene, arguments: &[&str]) -> Ran {
    with_claude(scene, scene.command(arguments))
}

pub(crate) fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let own = ["tune", "writer", "write a page", "--yes", "--executor", "claude", "--max-iterations", "2"];
    run(scene, &[&own[..], &["--jobs", "1"], more].concat())
}

#[test]
fn the_run_stops_before_the_call_that_would_use_what_stays_free_and_says_when_it_may_go_on() {
    let scene = scene();
    report(&scene, "0.7", 7200);
    let whole = tune(&scene, &["--keep-free", "30%"]);
    let needed = calls(&scene);
    assert!(whole.code.is_some_and(|code| code != 4) && needed > 1, "what is left is enough: {whole:?}");
    report(&scene, "0.701", 7200);
    let left = tune(&scene, &["--keep-free", "30%", "--fresh"]);
    assert_eq!((left.code, calls(&scene)), (Some(4), needed + 1), "{left:?}");
    let message = without_moments(&scene.normalized(&left.stderr));
    assert!(
        message.contains("limits: 18 calls (default), 30% of each usage window stays free\n"),
        "{message}"
    );
    let (_, end) = message.split_once("run RUN is paused").unwrap();
    insta::assert_snapshot!(end, @"
    ; progress is saved
    running writer on scenario-1: reached its usage limit: 71% of its five-hour window is used, and 30% has to stay free
    hint: resume after MOMENT, when the limit resets; `skilltune resume RUN --wait` waits for it
    ");
    let again = run(&scene, &["resume", "--yes", "--format", "json"]);
    assert_eq!((again.code, calls(&scene)), (Some(4), needed + 1), "nothing has reset: {again:?}");
    assert_eq!(again.json()["blocked"]["kind"], "usage_limit");
    assert_eq!(again.json()["limits"]["keep_free"], "30%");
    let rest = run(&scene, &["resume", "--yes", "--keep-free", "1%"]);
    assert_eq!((rest.code, calls(&scene)), (whole.code, 2 * needed), "{rest:?}");
}

#[test]
fn a_run_that_waits_goes_on_when_the_window_has_reset() {
    let scene = scene();
    report(&scene, "0.71", 2);
    let ran = tune(&scene, &["--keep-free", "30%", "--wait"]);
    assert!(ran.code.is_some_and(|code| code != 4), "{ran:?}");
    let noted = scene.events("noted");
    let waits = noted.iter().filter(|signal| signal.get("waiting").is_some()).count();
    let held = noted.iter().filter(|signal| signal.get("kept_free").is_some()).count();
    assert!(waits > 0 && waits == held, "{noted:?}");
}

#[test]
fn an_agent_that_reports_no_window_is_named_once() {
    let scene = scene();
    let ran = tune(&scene, &["--keep-free", "30%"]);
    let note = "claude reports no usage window";
    assert_eq!((ran.stderr.matches(note).count(), calls(&scene) > 1), (1, true), "{ran:?}");
    assert!(!tune(&scene, &["--fresh"]).stderr.contains(note), "nobody asked");
    let bad = tune(&scene, &["--keep-free", "30"]);
    assert!(bad.code == Some(2) && bad.stderr.contains("such as 30%"), "{bad:?}");
}

#[test]
fn a_night_leaves_the_jobs_of_that_agent_for_the_next_one_and_does_the_others() {
    let job = |name: &str, more: &str| {
        format!(
            "[[jobs]]\nskill = \".claude/skills/{name}\"\nsuite = \"suite.toml\"\nruns = 32\napply = \"auto\"\n{more}\n"
        )
    };
    let claude = "executor = \"claude\"\npriority = 2\n";
    let jobs = [job("first", claude), job("second", claude), job("writer", "")].concat();
    let skills = [("first", 20), ("second", 20), ("writer", 20)];
    let nights = Nights::new(&skills, &climbs(), &format!("keep_free = \"30%\"\n{jobs}"));
    let scene = &nights.scene;
    install(scene);
    report(scene, "0.71", 7200);
    let night = |date: &str| with_claude(scene, nights.command(date, &[]));
    let ran = night("2026-11-02");
    let morning = nights.morning();
    assert_eq!((ran.code, scene.quality("writer")), (Some(5), 80), "{ran:?}");
    let begun = calls(scene);
    assert!((1..=4).contains(&begun), "as many as are under way at a time: {begun}");
    assert_eq!(
        (&morning["paused"][0]["job"], &morning["paused"][0]["by"]),
        (&"first".into(), &"away".into())
    );
    assert_eq!(morning["left"][0]["job"], "second");
    let page = without_moments(&nights.page());
    let (_, section) = page.split_once("`keep_free` has no effect").unwrap();
    let (section, _) = section.split_once("## What was done?").unwrap();
    insta::assert_snapshot!(section, @"
     on agents that do not report a usage window: evaluator, executor, improver.

    ## What could not run, and why?

    - first: paused until the next night: claude: 71% of its five-hour window is used, and 30% has to stay free; it resets MOMENT
    - second: not begun: its agent is at its limit or down; retried next night
    ");
    // The next night starts before the reset.
    let ran = night("2026-11-03");
    assert_eq!((ran.code, calls(scene)), (Some(5), begun), "{ran:?}");
    let jobs = jobs.replace("priority = 2", "priority = 3");
    nights.write_jobs(&format!("keep_free = \"1%\"\n{jobs}"));
    let ran = night("2026-11-04");
    assert!(ran.code != Some(5) && calls(scene) > begun, "{ran:?}");
}
