//! The workflow for GitHub Actions: its caches hold what the next night needs, and no key.

use std::fs;

use serde_json::json;

use crate::night::{Nights, WRITER, climbs};

/// The state folder of a runner.
const STATE: &str = "~/.local/state/skilltune/";

/// Returns the paths that the steps with this action of GitHub cache.
fn cached(workflow: &str, action: &str) -> Vec<String> {
    let action = format!("uses: actions/cache/{action}@");
    let steps = workflow.split("\n      - ").filter(|step| step.contains(&action));
    let paths = |step: &str| -> Vec<String> {
        let (_, paths) = step.split_once("\n          path: ").unwrap();
        let (paths, _) = paths.split_once("\n          key: ").unwrap();
        let paths = paths.trim_start_matches('|').lines().map(str::trim);
        paths.filter(|path| !path.is_empty()).map(str::to_owned).collect()
    };
    steps.flat_map(paths).collect()
}

#[test]
fn the_caches_hold_what_the_next_night_needs_and_no_key() {
    let nights = Nights::new(&[("writer", 20)], &climbs(), &format!("[night]\nmax_calls = 20\n\n{WRITER}"));
    let ran = nights.night("2026-11-02", &[]);
    assert_eq!((ran.code, &nights.morning()["paused"][0]["by"]), (Some(5), &json!("budget")), "{ran:?}");
    let printed = nights.scene.run(&["night", "install", "--print", "github"]);
    let saved = cached(&printed.stdout, "save");
    assert!(saved.len() > 2 && saved == cached(&printed.stdout, "restore"), "{printed:?}");
    let of_home: Vec<&str> = saved.iter().map(String::as_str).filter(|path| path.starts_with('~')).collect();
    let below: Vec<&str> = of_home.iter().filter_map(|path| path.strip_prefix(STATE)).collect();
    assert_eq!(below.len(), of_home.len(), "the whole state folder would hold the key: {of_home:?}");
    // The runner of the next night has of the state folder only what was cached.
    let (state, old) = (nights.scene.path("state/skilltune"), nights.scene.path("old"));
    fs::rename(&state, &old).unwrap();
    fs::create_dir(&state).unwrap();
    let before = fs::read(old.join("cache-key")).unwrap();
    for path in below.into_iter().filter(|path| old.join(path).exists()) {
        fs::rename(old.join(path), state.join(path)).unwrap();
    }
    assert!(!state.join("cache-key").exists());
    nights.write_jobs(&format!("[night]\nmax_calls = 400\n\n{WRITER}"));
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!((ran.code, nights.scene.quality("writer")), (Some(0), 80), "{ran:?}");
    assert_eq!(nights.morning()["done"][0]["work"], "resumed");
    assert_ne!(fs::read(state.join("cache-key")).unwrap(), before, "this night has a key of its own");
}
