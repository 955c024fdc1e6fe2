//! Tests a user's own server that renders the output as pages.

use std::fs;

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use super::look::{browser, findings, look, verdict};
use super::{build, building, json_file};
use crate::scene::{FAKE_AGENT, Ran, SKILLTUNE, Scene};

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
    let files = [("_.txt", HOME), ("_prices.txt", PRICES)];
    let ran = look(&scene, &browser, &files, &served(&SERVE, "/", 20, &test), "60");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let inspection = findings(&scene);
    assert_eq!(verdict(&inspection, "sections"), "passed", "{inspection:#}");
    assert_eq!(verdict(&inspection, "interactions"), "failed", "{inspection:#}");
    let evidence = inspection["told"].to_string();
    assert!(evidence.contains("prices:1 <a href=\\\"/gone\\\"> leads nowhere"), "{evidence}");
    assert!(!evidence.contains("/order"), "{evidence}");
    assert_eq!(inspection["tried"][0]["verdict"], "passed", "{inspection:#}");
    for page in ["index", "prices"] {
        assert!(scene.path(&format!("desk/screens/{page}-1280x720.png")).is_file());
    }
}

#[test]
fn each_link_of_a_server_leads_where_a_browser_would_come_to() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let home = "<h1>Home</h1><h2>Prices</h2><a href=\"/about\">About</a> <a href=\"/list?page=2\">More</a> <a href=\"/about#team\">Team</a>\
        <script src=\"/odd.js\"></script><form method=post><button>Save</button></form>\
        <form method=post action=\"/login\"><label>Name <input name=n></label><button>Enter</button></form>";
    let about = "<h1 id=team>About</h1><a href=\"people/\">People</a> <a href=\"../\">Home</a> <a href=\"?all\">All</a>";
    let files = [
        ("_.txt", home),
        ("_about.txt", "-> /about/"),
        ("_about_.txt", about),
        ("_about_-all.txt", "<h1>All of us</h1>"),
        ("_about_people_.txt", "<h1>People</h1>"),
        ("_list-page=2.txt", "<h1>The second page</h1>"),
    ];
    let test = json!([
        { "act": "fill", "on": "Name", "text": "Ada" },
        { "act": "click", "on": "Enter" },
        { "act": "see", "on": "You: n=Ada" },
    ]);
    let ran = look(&scene, &browser, &files, &served(&SERVE, "/", 20, &test), "60");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let inspection = findings(&scene);
    for check in ["interactions", "console", "sections", "narrow"] {
        assert_eq!(verdict(&inspection, check), "passed", "{check}: {inspection:#}");
    }
    assert_eq!(
        inspection["tried"][0]["verdict"], "passed",
        "its origin, its cookie and its redirect: {inspection:#}"
    );
    for page in ["index", "about_index", "about_people_index", "list_page_2"] {
        assert!(scene.path(&format!("desk/screens/{page}-1280x720.png")).is_file(), "{page}");
    }
}

#[test]
fn what_a_server_could_not_give_is_no_fault_of_a_page() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let home = "<h1>Home</h1><link rel=stylesheet href=\"/endless.css\"><img src=\"data:,\">";
    let test = json!([{ "act": "see", "on": "Elsewhere" }]);
    let ran = look(&scene, &browser, &[("_.txt", home)], &served(&SERVE, "/", 20, &test), "60");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let inspection = findings(&scene);
    for check in ["alt_texts", "console", "sections", "narrow", "interactions"] {
        assert_eq!(verdict(&inspection, check), "unverified", "{check}: {inspection:#}");
    }
    assert_eq!(inspection["tried"][0]["verdict"], "unverified", "{inspection:#}");
    assert!(
        inspection["notes"].to_string().contains("/endless.css: the answer has no end"),
        "{inspection:#}"
    );
}

#[test]
fn a_development_server_that_wants_a_socket_keeps_its_other_checks() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let home = "<h1>Home</h1><h2>Prices</h2><script>\
        new WebSocket(`ws://${location.host}/hot`).onerror = () => console.error('no socket')</script>";
    let test = json!([{ "act": "see", "on": "Home" }]);
    let ran = look(&scene, &browser, &[("_.txt", home)], &served(&SERVE, "/", 20, &test), "60");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let inspection = findings(&scene);
    assert_eq!(verdict(&inspection, "console"), &Value::Null, "{inspection:#}");
    assert!(inspection["notes"].to_string().contains("WebSockets are not forwarded"), "{inspection:#}");
    assert_eq!(
        (verdict(&inspection, "sections"), &inspection["tried"][0]["verdict"]),
        (&json!("passed"), &json!("passed"))
    );
}

#[test]
fn the_pictures_are_the_browsers_whatever_a_server_leaves_behind() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let outside = scene.path("outside");
    fs::create_dir(&outside).unwrap();
    let files = [("_.txt", HOME), ("forge", outside.to_str().unwrap())];
    let ran = look(
        &scene,
        &browser,
        &files,
        &served(&SERVE, "/", 20, &json!([{ "act": "see", "on": "Home" }])),
        "60",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(scene.alive(), [0; 0], "it had a process in a session of its own");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
    let screens = scene.path("desk/screens");
    assert!(!screens.is_symlink());
    assert!(fs::read(screens.join("index-375x667.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_preview_that_ends_or_never_answers_tells_why() {
    let Some(browser) = browser() else { return };
    let look = |argv: &[&str], path: &str| {
        let scene = Scene::empty();
        let test = json!([{ "act": "see", "on": "x" }]);
        let ran = look(&scene, &browser, &[("_.txt", HOME)], &served(argv, path, 1, &test), "60");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        ran.stderr
    };
    let ended = look(&["/bin/ls", "/nowhere/at/all"], "/");
    assert!(ended.contains("it exited: exit status") && ended.contains("No such file"), "{ended}");
    let silent = look(&["/bin/tail", "-f", "/dev/null"], "/");
    assert!(silent.contains("did not answer within 1 seconds"), "{silent}");
    let missing = look(&["/nowhere/server"], "/");
    assert!(missing.contains("it did not start"), "{missing}");
}

/// The process that starts the preview may write into `/proc`, for the browser's sandbox.
#[test]
fn a_preview_that_is_confined_writes_nowhere_but_in_the_workspace() {
    let Some(browser) = browser() else { return };
    if !can_confine() {
        return;
    }
    let scene = Scene::empty();
    let outside = scene.path("outside");
    let script = format!("echo x > inside && echo x > {}", outside.display());
    let test = json!([{ "act": "see", "on": "x" }]);
    let mut given = served(&["/bin/sh", "-c", &script], "/", 20, &test);
    given["confined"] = json!(true);
    let ran = look(&scene, &browser, &[("_.txt", HOME)], &given, "60");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("Permission denied") && !outside.exists(), "{}", ran.stderr);
    assert!(scene.path("desk/site/inside").exists());
}

#[test]
fn a_preview_of_the_users_own_settings_runs_and_one_of_a_project_needs_trust() {
    let Some(_browser) = browser() else { return };
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
    // The seconds are those in which a busy machine starts the server: its first answer is enough.
    let astray = limits("preview_path = \"/nowhere\"\npreview_seconds = 10\n");
    assert!(astray.contains("gan.preview: it answers 404 to /nowhere"), "{astray}");
    let theirs = building(&[&super::ALL]);
    fs::write(theirs.path("project/skilltune.toml"), &preview).unwrap();
    let ran = build(&theirs, &["--yes"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("gan.preview") && ran.stderr.contains("trust"), "{}", ran.stderr);
    // A program of the project is trusted by its bytes.
    fs::copy(FAKE_AGENT, theirs.path("project/serve")).unwrap();
    let own = theirs.path("project/serve");
    fs::write(theirs.path("project/skilltune.toml"), preview.replace(FAKE_AGENT, own.to_str().unwrap()))
        .unwrap();
    let trusted = theirs.run(&["trust", "skilltune.toml"]);
    assert_eq!((trusted.code, trusted.stderr.contains("gan.preview: \"")), (Some(0), true), "{trusted:?}");
    fs::write(&own, "#!/bin/sh\n").unwrap();
    assert_eq!(build(&theirs, &["--yes"]).code, Some(2), "it is another program");
}

#[test]
fn a_preview_that_nobody_would_look_at_is_refused_unless_no_browser_is_wanted() {
    let scene = building(&[&super::ALL]);
    scene.write_settings("[gan]\npreview = [\"/bin/true\"]\n");
    let run = |more: &[&str]| {
        let line =
            [&["gan", "brief.md", "--profile", "plain.yaml", "--into", "site", "--dry-run"], more].concat();
        Ran::of(scene.command_of(SKILLTUNE, &[], &line).env("PATH", scene.path("bin")).output().unwrap())
    };
    let refused = run(&[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("cannot preview: there is no Chromium or Chrome on your PATH"),
        "{}",
        refused.stderr
    );
    let fine = run(&["--no-browser"]);
    assert_eq!(fine.code, Some(0), "{}", fine.stderr);
}
