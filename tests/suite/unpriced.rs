//! A cost limit covers every agent that a run calls: only the user can lower a price, and a run does not begin with an
//! agent of unknown cost. A script plays gemini, which reports tokens and no cost.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::night::{Nights, climbs};
use crate::scene::{Ran, Scene};

const WRITTEN: &str = include_str!("../../fixtures/transcripts/gemini/write.jsonl");

/// With its 2,000 and 100 tokens each call costs three dollars.
const DEAR: &str = "input = 1000\noutput = 10000\n";

fn scene(own: &str, projects: &str) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    scene.write_settings(own);
    install_gemini(&scene);
    write_projects(&scene, projects);
    scene
}

fn write_projects(scene: &Scene, settings: &str) {
    fs::write(scene.path("project/skilltune.toml"), settings).unwrap();
}

fn install_gemini(scene: &Scene) {
    fs::create_dir(scene.path("bin")).unwrap();
    fs::write(scene.path("done"), WRITTEN).unwrap();
    let (program, done) = (scene.path("bin/gemini"), scene.path("done"));
    let log = scene.path("gemini-calls");
    let script = format!(
        "#!/bin/sh\necho words > page.md\necho call >> {}\nexec cat {}\n",
        log.display(),
        done.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(scene: &Scene, arguments: &[&str]) -> Ran {
    let mut command = scene.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    Ran::of(command.output().unwrap())
}

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let line =
        ["tune", "writer", "write a page", "--yes", "--max-iterations", "1", "--format", "json", "--fresh"];
    run(scene, &[&line[..], more].concat())
}

const GEMINI: [&str; 2] = ["--executor", "gemini:asked"];

#[test]
fn a_project_that_is_not_trusted_neither_lowers_a_price_nor_adds_one() {
    let own =
        format!("[budget]\nusd = 3\n\n[prices.\"gemini-3.1-pro-preview\"]\n{DEAR}\n[prices.asked]\n{DEAR}");
    let free = "[prices.\"gemini-3.1-pro-preview\"]\ninput = 0\noutput = 0\n\n[prices.asked]\ninput = 1001\noutput = 10000\n";
    let scene = scene(&own, free);
    let held = tune(&scene, &GEMINI);
    assert_eq!((held.code, &held.json()["cost"]["usd"]), (Some(5), &json!(3.0)), "{held:?}");
    insta::assert_snapshot!(scene.normalized(&held.stderr), @r#"prices.gemini-3.1-pro-preview stays at your own value {"input":1000.0,"output":10000.0}: /project/skilltune.toml asks for {"input":0.0,"output":0.0}; `skilltune trust /project/skilltune.toml` would allow it"#);
    let price_rows = || {
        let rows = run(&scene, &["config", "show", "--format", "json"]).json();
        let row = |model: &str| {
            let key = format!("prices.{model}.input");
            let row = rows.as_array().unwrap().iter().find(|row| row["key"] == key).unwrap();
            json!([row["value"], row["origin"], row["ceiling"]])
        };
        json!([row("asked"), row("gemini-3.1-pro-preview")])
    };
    assert_eq!(price_rows(), json!([[1001.0, "project_file", null], [1000.0, "user_file", 1000.0]]));
    assert_eq!(run(&scene, &["trust", "."]).code, Some(0));
    assert_eq!(tune(&scene, &GEMINI).json()["cost"]["usd"], 0.0, "trusted, it says what is paid");
    assert_eq!(price_rows(), json!([[1001.0, "project_file", null], [0.0, "project_file", 1000.0]]));
}

#[test]
fn a_price_that_only_a_project_gives_counts_as_none_until_it_is_trusted() {
    let prices = format!("[prices.asked]\n{DEAR}");
    let scene = scene("[budget]\nusd = 3\n", &prices);
    let refused = run(&scene, &["tune", "writer", "write a page", "--yes", "--executor", "gemini:asked"]);
    assert_eq!(refused.code, Some(2));
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r#"
    prices.asked stays unset: /project/skilltune.toml asks for {"input":1000.0,"output":10000.0}; `skilltune trust /project/skilltune.toml` would allow it
    error: cannot enforce the limit of $3.00: the cost of some calls would be unknown
    caused by: executor: gemini reports only tokens, and the price of asked in /project/skilltune.toml is not trusted
    hint: add the price of a million tokens to your own skilltune.toml:

        [prices."asked"]
        input = DOLLARS
        output = DOLLARS

    hint: or run without counting these calls: pass --unpriced allow, or set budget.unpriced = "allow" in your own skilltune.toml
    "#);
    assert!(!scene.path("gemini-calls").exists());
    assert_eq!(run(&scene, &["trust", "."]).code, Some(0));
    let ran = tune(&scene, &GEMINI);
    assert_eq!((ran.code, &ran.json()["cost"]["usd"]), (Some(5), &json!(3.0)), "{ran:?}");
    assert!(!ran.stderr.contains("prices"), "it takes the place of nothing: {ran:?}");
}

#[test]
fn with_a_limit_in_money_an_agent_that_it_cannot_count_is_refused_before_any_call() {
    let scene = scene(
        &format!("[budget]\nusd = 3\n\n[prices.asked]\n{DEAR}"),
        "[roles]\nexecutor = \"gemini:other\"\n",
    );
    let plain = |more: &[&str]| run(&scene, &[&["tune", "writer", "write a page", "--yes"], more].concat());
    insta::assert_snapshot!(scene.normalized(&plain(&[]).stderr), @r#"
    error: cannot enforce the limit of $3.00: the cost of some calls would be unknown
    caused by: executor: gemini reports only tokens, and other has no price
    hint: add the price of a million tokens to your own skilltune.toml:

        [prices."other"]
        input = DOLLARS
        output = DOLLARS

    hint: or run without counting these calls: pass --unpriced allow, or set budget.unpriced = "allow" in your own skilltune.toml
    "#);
    insta::assert_snapshot!(scene.normalized(&plain(&["--executor", "gemini"]).stderr), @r#"
    error: cannot enforce the limit of $3.00: the cost of some calls would be unknown
    caused by: executor: gemini reports only tokens, and its price is unknown without a model
    hint: add the price of a million tokens to your own skilltune.toml:

        [prices."MODEL"]
        input = DOLLARS
        output = DOLLARS

    hint: name the model: use gemini:MODEL instead of gemini
    hint: or run without counting these calls: pass --unpriced allow, or set budget.unpriced = "allow" in your own skilltune.toml
    "#);
    for line in [&["--dry-run"][..], &["--estimate"]] {
        assert_eq!(tune(&scene, line).code, Some(2), "{line:?}");
    }
    fs::write(scene.path("project/suite.toml"), crate::night::suite(12)).unwrap();
    let compared = run(&scene, &["compare", "writer", "none", "--suite", "suite.toml", "--yes"]);
    assert_eq!(compared.code, Some(2), "{compared:?}");
    assert!(!scene.path("gemini-calls").exists());
    let counted = tune(&scene, &GEMINI);
    assert_eq!((counted.code, &counted.json()["paused"]["limit"]), (Some(5), &json!("usd")), "{counted:?}");
}

#[test]
fn only_the_user_lets_a_limit_in_money_not_count_an_agent() {
    let scene = scene("[budget]\nusd = 3\n", "[budget]\nunpriced = \"allow\"\n");
    let theirs = run(&scene, &["tune", "writer", "write a page", "--yes", "--executor", "gemini:asked"]);
    assert_eq!(theirs.code, Some(2), "{theirs:?}");
    insta::assert_snapshot!(scene.normalized(&theirs.stderr), @r#"
    error: /project/skilltune.toml: only your own settings may set `budget.unpriced = "allow"`, which lets calls of unknown cost exceed a cost limit
    hint: remove it there, or set it in your own skilltune.toml
    "#);
    write_projects(&scene, "");
    let allowed = |more: &[&str]| {
        let ran = tune(&scene, &[&GEMINI[..], more].concat());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.json()["cost"]["unpriced"].as_u64().unwrap() > 0);
    };
    allowed(&["--unpriced", "allow"]);
    scene.write_settings("[budget]\nusd = 3\nunpriced = \"allow\"\n");
    allowed(&[]);
    assert_eq!(tune(&scene, &[&GEMINI[..], &["--unpriced", "refuse"]].concat()).code, Some(2));
}

#[test]
fn a_run_that_is_taken_up_with_a_limit_in_money_is_asked_the_same_and_keeps_what_was_allowed() {
    let scene = scene("", "");
    let left = tune(&scene, &[&GEMINI[..], &["--max-calls", "1"]].concat());
    assert_eq!(left.code, Some(5), "{left:?}");
    let resume = |more: &[&str]| run(&scene, &[&["resume", "--yes", "--format", "json"], more].concat());
    let refused = resume(&["--max-usd", "3", "--max-calls", "2"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("asked has no price"), "{refused:?}");
    let allowed = resume(&["--max-usd", "3", "--unpriced", "allow"]);
    assert_eq!((allowed.code, &allowed.json()["paused"]["limit"]), (Some(5), &json!("calls")), "{allowed:?}");
    let again = resume(&["--max-calls", "50"]);
    assert_eq!(again.code, Some(3), "{again:?}");
}

#[test]
fn agents_without_a_price_of_any_kind_stop_no_run() {
    let scene = scene("[budget]\nusd = 3\n", "");
    let own = tune(&scene, &[]);
    assert_eq!(own.code, Some(3), "commands that are told no model: {own:?}");
    let built_in = tune(&scene, &["--agent", "offline"]).json();
    assert!(built_in["cost"]["calls"].as_u64().unwrap() > 0, "{built_in}");
    assert_eq!((&built_in["cost"]["usd"], &built_in["cost"]["unpriced"]), (&json!(0.0), &json!(0)));
}

#[test]
fn a_night_says_beforehand_that_its_limit_in_money_cannot_count_an_agent() {
    let job =
        "[[jobs]]\nskill = \".claude/skills/writer\"\nsuite = \"suite.toml\"\nagent = \"gemini:asked\"\n";
    let nights = Nights::new(&[("writer", 20)], &climbs(), job);
    let scene = &nights.scene;
    install_gemini(scene);
    let jobs = || {
        let checks = run(scene, &["night", "doctor", "--format", "json"]).json()["checks"].clone();
        let checks = checks.as_array().unwrap().iter().filter(|check| check["about"] == "jobs");
        checks.map(|check| format!("{}: {}", check["state"], check["text"])).collect::<Vec<_>>().join("\n")
    };
    assert!(jobs().starts_with("\"fine\""), "{}", jobs());
    for limit in ["[night]\nmax_usd = 5.0\n", "[week]\nmax_usd = 5.0\n"] {
        nights.write_jobs(&format!("{limit}{job}"));
        let found = jobs();
        assert!(found.starts_with("\"broken\"") && found.contains("asked has no price"), "{found}");
    }
    nights.write_jobs(&format!("{job}limits = {{ max_usd = 5.0 }}\n"));
    assert!(jobs().starts_with("\"broken\""), "{}", jobs());
    nights.write_jobs(&format!("[night]\nmax_usd = 5.0\n{}", job.replace("gemini:asked", "executor")));
    assert!(jobs().starts_with("\"fine\""), "{}", jobs());
    scene.write_settings("[budget]\nusd = 5\n");
    write_projects(scene, "[roles]\nexecutor = \"gemini:asked\"\n");
    fs::write(scene.path("project/skilltune-night.toml"), "").unwrap();
    let added = run(scene, &["night", "add", ".claude/skills/writer", "--suite", "suite.toml"]);
    assert!(added.stderr.contains("it cannot run yet: cannot enforce the limit of $5.00"), "{added:?}");
}
