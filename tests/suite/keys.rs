//! Keys that agents were given or have found: no edit adds one, and no stored or shown answer has one.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::gan::{self, BUILD};
use crate::reflex;
use crate::scene::{Ran, Scene, listing};

const KEY: &str = "q7rt2xw9-of-a-service";
/// The name does not suggest a key.
const VARIABLE: &str = "SERVICE_LOGIN";

const TUNE: [&str; 8] =
    ["tune", "writer", "write a page", "--yes", "--format", "json", "--max-iterations", "2"];

/// Returns text that looks like a key. It is built here so that scanners do not report this file.
fn likely(last: char) -> String {
    ["ghp", "_", &"q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(2)[..35], &last.to_string()].concat()
}

/// Returns the scene, and gives the key to all its agents.
fn with_key(scene: Scene) -> Scene {
    let path = scene.path("config/skilltune/skilltune.toml");
    let text = fs::read_to_string(&path).unwrap();
    let passing = format!("env.pass = [\"{VARIABLE}\"]\ncommand = ");
    fs::write(&path, text.replace("command = ", &passing)).unwrap();
    scene
}

fn run(scene: &Scene, arguments: &[&str]) -> Ran {
    Ran::of(scene.command(arguments).env(VARIABLE, KEY).output().unwrap())
}

/// Returns whether a file is as the agent left it: printed output in the call folders, and all files in the store.
fn is_raw(path: &Path) -> bool {
    let is_below = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    is_below("objects") || is_below("agents") && (path.ends_with("stdout") || path.ends_with("stderr"))
}

fn assert_nowhere(key: &str, scene: &Scene, ran: &Ran) {
    assert!(!ran.stdout.contains(key) && !ran.stderr.contains(key), "it is shown: {ran:?}");
    for folder in ["project", "state", "cache"] {
        for (path, _, bytes) in listing(&scene.path(folder)) {
            let has_key = bytes.windows(key.len()).any(|part| part == key.as_bytes());
            assert!(!has_key || is_raw(&path), "{folder}/{}", path.display());
        }
    }
}

/// Returns why calls failed.
fn failures(scene: &Scene, kind: &str) -> Vec<String> {
    let failed = scene.events("done").into_iter().map(|done| done["outcome"]["failed"].clone());
    let of_kind = failed.filter(|failed| failed["kind"] == kind);
    of_kind.map(|failed| failed["why"].as_str().unwrap().to_owned()).collect()
}

fn refusal(place: &str) -> String {
    format!("{place} has a key that was not there before; write a placeholder in its place")
}

fn tuning(mut script: Value) -> Scene {
    script["improve"] = json!({ "writer": { "40": 60 } });
    Scene::new(&[("writer", 40)], &script)
}

#[test]
fn an_edit_that_adds_a_key_that_an_agent_was_given_is_refused() {
    for (style, word, place) in [("in_place", "now", "notes.md:1"), ("words", "Quality: 60", "SKILL.md:8")] {
        let script = json!({ "style": style, "swaps": { "improver": [word, VARIABLE] } });
        let scene = with_key(tuning(script));
        let before = listing(&scene.skill("writer"));
        let ran = run(&scene, &TUNE);
        assert_eq!(listing(&scene.skill("writer")), before, "{ran:?}");
        let refused = failures(&scene, "gate");
        assert!(
            !refused.is_empty() && refused.iter().all(|why| *why == refusal(place)),
            "{refused:?}: {ran:?}"
        );
        assert_nowhere(KEY, &scene, &ran);
    }
}

#[test]
fn an_edit_that_adds_what_looks_like_a_key_is_refused_and_one_that_moves_it_is_not() {
    let (old, new) = (likely('8'), likely('9'));
    for (added, is_refused) in [(&old, false), (&new, true)] {
        let scene = tuning(json!({ "swaps": { "improver": ["now", added] } }));
        let page = format!("Be brief. The old key was {old}.\n");
        fs::write(scene.skill("writer").join("references/style.md"), page).unwrap();
        let ran = run(&scene, &TUNE);
        let refused = failures(&scene, "gate");
        assert_eq!(refused.first().cloned(), is_refused.then(|| refusal("notes.md:1")), "{ran:?}");
        assert_eq!(scene.skill("writer").join("notes.md").exists(), !is_refused, "{ran:?}");
        assert_nowhere(&new, &scene, &ran);
    }
}

#[test]
fn what_a_judge_says_is_stored_and_shown_without_keys() {
    // The answer is JSON, where a character can be written as its code.
    let spelled = KEY.replacen('q', "\\u0071", 1);
    for said in [VARIABLE, &spelled] {
        let script = json!({ "swaps": { "evaluator": ["raise the quality", said] } });
        let scene = with_key(tuning(script));
        let ran = run(&scene, &TUNE);
        let journal = fs::read_to_string(scene.run_folder().join("history.jsonl")).unwrap();
        assert!(journal.contains("\"description\":\"[hidden]\""), "{said}: {journal}");
        assert_nowhere(KEY, &scene, &ran);
    }
}

#[test]
fn why_an_agent_failed_is_told_without_keys() {
    let script = json!({ "executor_fails_at": [40], "swaps": { "executor": ["luck", VARIABLE] } });
    let scene = with_key(tuning(script));
    let ran = run(&scene, &TUNE);
    let failed = failures(&scene, "crashed");
    assert_eq!(failed.first().map(String::as_str), Some("exit code 3: no [hidden] today"), "{ran:?}");
    assert_nowhere(KEY, &scene, &ran);
}

#[test]
fn a_text_of_reflex_that_adds_a_key_is_refused() {
    let play = json!({ "produced": { "1": reflex::ALL }, "preface": "Log in with WORD.\n" });
    let script = json!({ "reflex": play, "swaps": { "produce": ["WORD", VARIABLE] } });
    let scene = with_key(Scene::new(&[], &script));
    let ran =
        run(&scene, &["reflex", "new", reflex::TASK, "--template", "docs", "--yes", "--format", "json"]);
    let refused = failures(&scene, "gate");
    assert!(!refused.is_empty() && refused.iter().all(|why| *why == refusal("artifact.md:3")), "{ran:?}");
    assert_nowhere(KEY, &scene, &ran);
}

#[test]
fn a_build_of_gan_that_adds_a_key_is_refused() {
    let script = json!({ "gan": { "builds": [gan::ALL] }, "swaps": { "build": ["Version", VARIABLE] } });
    let scene = with_key(gan::lay(Scene::new(&[], &script)));
    let ran = run(&scene, &[&BUILD[..], &["--yes"]].concat());
    let refused = failures(&scene, "gate");
    assert!(!refused.is_empty() && refused.iter().all(|why| *why == refusal("index.html:2")), "{ran:?}");
    assert_eq!(gan::page(&scene), None);
    assert_nowhere(KEY, &scene, &ran);
}

#[test]
fn the_settings_are_shown_without_the_keys_among_the_arguments_of_commands() {
    let scene = Scene::new(&[], &json!({}));
    let more = format!(
        "[agents.mine]\ncommand = [\"mine\", \"--api-key={KEY}\", \"--token\", \"{KEY}\", \"{}\"]\n",
        likely('8')
    );
    scene.write_settings(&more);
    for format in ["human", "json"] {
        let ran = scene.run(&["config", "show", "--format", format]);
        assert!(ran.stdout.contains("--api-key=[hidden]"), "{ran:?}");
        assert_nowhere(KEY, &scene, &ran);
        assert_nowhere(&likely('8'), &scene, &ran);
    }
}
