//! A server of the user's own that makes pages of what was built.

use std::fs;

use serde_json::{Value, json};

use super::browser::{browser, look, told, verdict};
use super::{build, building, json_file};
use crate::scene::{FAKE_AGENT, Scene};

fn served(argv: &[&str], path: &str, seconds: u64, test: &Value) -> Value {
    json!({
        "given": { "copy": [], "tokens": [], "sections": ["Home", "Prices"] },
        "test_scenarios": [{ "id": "t", "criterion": "c", "description": "d", "run": { "browser": test } }],
        "preview": { "argv": argv, "path": path, "seconds": seconds },
    })
}

const SERVE: [&str; 3] = [FAKE_AGENT, "serve", "{port}"];
const HOME: &str = "<h1>Home</h1><a href=\"/prices\">Prices</a>\
    <form method=post action=\"/order\"><label>Name <input name=n></label><button>Order</button></form>";
const PRICES: &str = "<h2>Prices</h2><a href=\"/\">Home</a> <a href=\"/gone\">More</a>";

#[test]
fn the_pages_of_a_server_are_looked_at_from_its_first_one_on() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let test = json!([
        { "act": "click", "on": "Prices" },
        { "act": "click", "on": "Home" },
        { "act": "fill", "on": "Name", "text": "Ada" },
        { "act": "click", "on": "Order" },
        { "act": "see", "on": "Ordered: n=Ada" },
    ]);
    let files = [("home.txt", HOME), ("prices.txt", PRICES)];
    let ran = look(&scene, &browser, &files, &served(&SERVE, "/", 20, &test), "60");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = told(&scene);
    assert_eq!(verdict(&told, "sections"), "passed", "{told:#}");
    assert_eq!(verdict(&told, "interactions"), "failed", "{told:#}");
    let evidence = told["told"].to_string();
    assert!(evidence.contains("prices:1 <a href=\\\"/gone\\\">: there is no such file"), "{evidence}");
    assert!(!evidence.contains("/order"), "{evidence}");
    assert_eq!(told["tried"][0]["verdict"], "passed", "{told:#}");
    for page in ["index", "prices"] {
        assert!(scene.path(&format!("desk/screens/{page}-1280x720.png")).is_file());
    }
}

#[test]
fn a_preview_that_ends_or_never_answers_tells_why() {
    let Some(browser) = browser() else { return };
    let look = |argv: &[&str], path: &str| {
        let scene = Scene::empty();
        let test = json!([{ "act": "see", "on": "x" }]);
        let ran = look(&scene, &browser, &[("home.txt", HOME)], &served(argv, path, 1, &test), "60");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        ran.stderr
    };
    let ended = look(&["/bin/ls", "/nowhere/at/all"], "/");
    assert!(ended.contains("it ended: exit status") && ended.contains("No such file"), "{ended}");
    let silent = look(&["/bin/tail", "-f", "/dev/null"], "/");
    assert!(silent.contains("did not answer within 1 seconds"), "{silent}");
    let missing = look(&["/nowhere/server"], "/");
    assert!(missing.contains("it did not start"), "{missing}");
}

#[test]
fn a_preview_of_the_users_own_settings_runs_and_one_of_a_project_needs_trust() {
    if browser().is_none() {
        return;
    }
    let preview = format!("[gan]\npreview = [{FAKE_AGENT:?}, \"serve\", \"{{port}}\"]\n");
    let limits = |settings: &str| {
        let scene = building(&[&super::ALL]);
        scene.write_settings(&format!("{preview}{settings}"));
        let line =
            ["gan", "brief.md", "--profile", "plain.yaml", "--into", "site", "--format", "json", "--yes"];
        let ran = scene.run(&line);
        assert_eq!(ran.code, Some(0), "what a browser cannot tell the judge decides: {}", ran.stderr);
        let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
        report["not_looked_at"].to_string()
    };
    let served = limits("");
    assert!(!served.contains("preview"), "{served}");
    let astray = limits("preview_path = \"/nowhere\"\npreview_seconds = 1\n");
    assert!(astray.contains("gan.preview: it answers 404 to /nowhere"), "{astray}");
    let theirs = building(&[&super::ALL]);
    fs::write(theirs.path("project/skilltune.toml"), &preview).unwrap();
    let ran = build(&theirs, &["--yes"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("gan.preview") && ran.stderr.contains("trust"), "{}", ran.stderr);
}
