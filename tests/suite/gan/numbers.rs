//! Each number of `[gan]` matters: another value changes the run.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use serde_json::{Value, json};

use super::{ALL, BUILD, CLEAR, PRICES, SHORT, WORKS, build, building, folder, json_file, lay};
use crate::scene::{Ran, Scene};

/// A key, a value other than its default, and the results of both runs.
struct Case {
    key: &'static str,
    value: &'static str,
    play: Value,
    outcome: fn(&Scene, &Ran) -> String,
    default: &'static str,
    changed: &'static str,
    /// Other settings for both runs.
    with: &'static str,
    flags: &'static [&'static str],
}

/// Only a run with a browser shows these: `suite/gan/browser` and `suite/gan/preview` test them.
const OF_BROWSER: [&str; 5] = ["browser", "browser_seconds", "preview", "preview_path", "preview_seconds"];

fn table() -> Vec<Case> {
    let case = |key, value, play, outcome, default, changed| {
        let flags: &[&str] = &["--yes"];
        Case { key, value, play, outcome, default, changed, with: "", flags }
    };
    let (agreed, nearly, rising) = (agreed(), || builds(&[&NEARLY, &ALL]), || builds(&RISING));
    vec![
        case("level", "\"thorough\"", agreed.clone(), calls, "2 calls", "5 calls"),
        case("contract", "true", agreed.clone(), calls, "2 calls", "4 calls"),
        case("threshold", "90", nearly(), end, "passed, round 1, 87.5", "passed, round 2, 100"),
        case("minimums", "\"form=100\"", nearly(), end, "passed, round 1, 87.5", "passed, round 2, 100"),
        case("strict", "true", builds(&[&ALL]), end, "passed, round 1, 100", "passed, round 2, 100"),
        case("strict_rounds", "3", builds(&[&ALL]), end, "passed, round 2, 100", "passed, round 3, 100")
            .with("strict = true"),
        case("max_rounds", "2", rising(), end, "passed, round 4, 100", "short, round 2, 25"),
        case("escalate_after", "2", rising(), end, "held, round 3, 62.5", "held, round 2, 25").flags(&[]),
        case(
            "gain",
            "40",
            rising(),
            why,
            "Passed with 100 (75 needed).",
            "2 rounds in a row gained less than 40 points.",
        ),
        case(
            "standstill",
            "1",
            still(),
            why,
            "Passed with 100 (75 needed).",
            "1 round gained less than 5 points.",
        ),
        case("cap", "40", padded(), end, "passed, round 1, 75", "passed, round 2, 100"),
        case("negotiation_rounds", "1", disputed(), calls, "7 calls", "5 calls").with("contract = true"),
        case("apart", "40", doubted(), disagreement, "37.5 apart", "no difference")
            .with("level = \"thorough\""),
        case("extra_items", "1", curious(), extra, "form.colour, form.sound", "form.colour"),
        case("apply", "\"never\"", builds(&[&ALL]), place, "in the folder", "only in the run"),
        case("commands", "\"run\"", commanded(&["true"]), teller, "judge", "machine").with("contract = true"),
        case("command_seconds", "1", commanded(&["sleep", "3"]), teller, "machine", "judge")
            .with("contract = true\ncommands = \"run\""),
        case("retries", "0", json!({ "rubbish": ["judge"], "builds": [ALL] }), calls, "3 calls", "2 calls"),
    ]
}

impl Case {
    fn with(self, with: &'static str) -> Self {
        Self { with, ..self }
    }

    fn flags(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    /// Returns the result of a run with these settings of `[gan]`. Cases with the same input share a run.
    fn result(&self, setting: &str, runs: &mut HashMap<String, (Scene, Ran)>) -> String {
        let settings = [self.with, setting].join("\n");
        let settings = settings.trim();
        let input = format!("{} {settings} {:?}", self.play, self.flags);
        let (scene, ran) = runs.entry(input).or_insert_with(|| {
            let scene = lay(Scene::new(&[], &json!({ "gan": self.play })));
            scene.write_settings(&format!("[gan]\n{settings}\n"));
            let ran = build(&scene, self.flags);
            (scene, ran)
        });
        assert!(matches!(ran.code, Some(0 | 3 | 4)), "{} {setting}: {ran:?}", self.key);
        (self.outcome)(scene, ran)
    }
}

/// Meets three quarters of the second dimension, and all of the first.
const NEARLY: [&str; 3] = [WORKS, PRICES, SHORT];

/// Each round gains some, and the fourth passes.
const RISING: [&[&str]; 4] = [&[CLEAR], &[CLEAR, WORKS], &[CLEAR, WORKS, PRICES], &ALL];

fn builds(builds: &[&[&str]]) -> Value {
    json!({ "builds": builds })
}

fn still() -> Value {
    builds(&[&[WORKS], &[WORKS], &ALL])
}

fn padded() -> Value {
    builds(&[&[&ALL[..], &["shows: form.padding"]].concat(), &ALL])
}

/// Lets the evaluator draft a criterion that each build meets.
fn agreed() -> Value {
    let polite = json!({
        "id": "form.polite", "dimension": "form", "criterion": "It is polite.", "verification": "Read it.",
        "must_pass": false, "weight": 1,
    });
    json!({ "drafted": [polite], "builds": [[WORKS, PRICES, CLEAR, SHORT, "form.polite"]] })
}

/// Lets a test scenario with a command decide that criterion.
fn commanded(argv: &[&str]) -> Value {
    let mut play = agreed();
    play["tests"] = json!([{
        "id": "polite", "criterion": "form.polite", "description": "It ends.", "tool": "command", "steps": [],
        "argv": argv,
    }]);
    play
}

/// Lets the builder propose in each round to drop it; the evaluator always declines.
fn disputed() -> Value {
    let mut play = agreed();
    let drop = json!({ "change": "drop", "id": "form.polite", "why": "nobody asked for it" });
    play["proposed"] = json!([[drop], [drop], [drop]]);
    play["ruled"] = json!([[[false, "show prices"]], [[false, "show prices"]], [[false, "show prices"]]]);
    play
}

/// Lets the second judge disagree with the first one.
fn doubted() -> Value {
    let mut play = agreed();
    play["second"] = json!({ SHORT: "failed" });
    play
}

/// Lets the judge ask for two more items.
fn curious() -> Value {
    let item = |id: &str| json!({ "id": id, "text": "It has it.", "verification": "Look." });
    let mut play = builds(&[&[WORKS], &ALL]);
    play["wanted"] = json!([item("form.colour"), item("form.sound")]);
    play
}

fn end(_: &Scene, ran: &Ran) -> String {
    let summary = ran.json();
    let outcome = summary["outcome"].as_str().unwrap();
    assert_eq!(ran.code == Some(0), outcome == "passed", "{ran:?}");
    format!("{outcome}, round {}, {}", summary["rounds"], summary["score"].as_f64().unwrap())
}

fn calls(_: &Scene, ran: &Ran) -> String {
    format!("{} calls", ran.json()["cost"]["calls"])
}

/// Returns the reason in the head of the report.
fn why(scene: &Scene, _: &Ran) -> String {
    let report = fs::read_to_string(folder(scene).join("final-report.md")).unwrap();
    let line = report.lines().find(|line| line.starts_with("**")).unwrap();
    let (_, sentence) = line.split_once("**. ").unwrap();
    let reason = sentence.split_once(": ").map_or(sentence, |(_, reason)| reason);
    reason.replace(" The best round is kept.", "")
}

fn disagreement(scene: &Scene, _: &Ran) -> String {
    let report = fs::read_to_string(folder(scene).join("final-report.md")).unwrap();
    let difference = report.split_once("two judgements ").map(|(_, rest)| rest.split(" |").next().unwrap());
    difference.unwrap_or("no difference").to_owned()
}

fn place(scene: &Scene, _: &Ran) -> String {
    if super::page(scene).is_some() { "in the folder" } else { "only in the run" }.to_owned()
}

/// Returns who decided the criterion of the test scenario.
fn teller(scene: &Scene, _: &Ran) -> String {
    let report = json_file(scene, "iterations/iteration-1/evaluation-report-1.json");
    let criteria = report["criteria"].as_array().unwrap();
    criteria.iter().find(|one| one["id"] == "form.polite").unwrap()["by"].as_str().unwrap().to_owned()
}

/// Returns the items that the second round adds to the contract.
fn extra(scene: &Scene, _: &Ran) -> String {
    let sprint = json_file(scene, "sprints/sprint-2.json");
    let items = sprint["extra_checklist"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap()).collect::<Vec<_>>().join(", ")
}

#[test]
fn another_value_of_each_key_makes_another_run() {
    let mut runs = HashMap::new();
    let faults = table().into_iter().filter_map(|case| {
        let Case { key, value, default, changed, .. } = case;
        assert_ne!(default, changed, "{key}");
        let changed_setting = format!("{key} = {value}");
        let results = ["", &changed_setting].map(|setting| case.result(setting, &mut runs));
        (results != [default, changed]).then(|| format!("{key}: {results:?}, not {:?}", [default, changed]))
    });
    assert_eq!(faults.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_key_of_the_settings_is_in_the_table() {
    let rows = Scene::new(&[], &json!({})).run(&["config", "show", "--format", "json"]).json();
    let keys = rows.as_array().unwrap().iter().filter_map(|row| row["key"].as_str()?.strip_prefix("gan."));
    let keys: BTreeSet<_> = keys.collect();
    let known: BTreeSet<_> = table().iter().map(|case| case.key).chain(OF_BROWSER).collect();
    assert_eq!(keys, known);
}

/// Returns the levels of the dimensions in a round, and the score.
fn levels(scene: &Scene, round: u32) -> (Vec<f64>, f64) {
    let report = json_file(scene, &format!("iterations/iteration-{round}/evaluation-report-{round}.json"));
    let dimensions = report["dimensions"].as_array().unwrap().iter();
    let levels = dimensions.map(|dimension| dimension["score"].as_f64().unwrap());
    (levels.collect(), report["overall"].as_f64().unwrap())
}

fn profile(scene: &Scene, text: &str) {
    fs::write(scene.path("project/plain.yaml"), text).unwrap();
}

#[test]
fn a_level_is_one_of_four_and_follows_from_the_share_that_passed() {
    let criteria = ["a.one", "a.two", "a.three", "a.four"];
    let scene = building(&[0, 1, 2, 3, 4].map(|some| &criteria[..some]));
    let criterion =
        |id: &&str| format!("  - {{id: {id}, dimension: a, criterion: It is., verification: Look.}}\n");
    let listed: String = criteria.iter().map(criterion).collect();
    let head =
        "name: plain\ndimensions:\n  - {id: a, name: A, weight: 1, anchors: [none, some, most, all]}\n";
    profile(&scene, &format!("{head}criteria:\n{listed}"));
    scene.write_settings("[gan]\nescalate_after = 9\nthreshold = 90\n");
    let ran = build(&scene, &["--yes"]);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(5)), "{}", ran.stderr);
    let scores: Vec<_> = (1..=5).map(|round| levels(&scene, round).1).collect();
    assert_eq!(scores, [0.25, 0.25, 0.5, 0.75, 1.0], "though the evaluator cites 1.00 each time");
}

#[test]
fn weights_of_dimensions_and_criteria_decide_the_score() {
    let plain = super::PROFILE;
    let heavier = plain.replace("Substance, weight: 50", "Substance, weight: 90");
    let heavier = heavier.replace("Form, weight: 50", "Form, weight: 10");
    let lighter = plain.replace("verification: Count., weight: 3", "verification: Count.");
    for (text, met, expected) in [
        (plain, &[WORKS, PRICES][..], ("short", vec![1.0, 0.25], 0.625)),
        (&heavier, &[WORKS, PRICES], ("passed", vec![1.0, 0.25], 0.925)),
        (plain, &[WORKS, PRICES, CLEAR], ("short", vec![1.0, 0.25], 0.625)),
        (&lighter, &[WORKS, PRICES, CLEAR], ("passed", vec![1.0, 0.5], 0.75)),
    ] {
        let scene = building(&[met]);
        profile(&scene, text);
        let ran = build(&scene, &["--yes", "--max-rounds", "1"]);
        let (levels, score) = levels(&scene, 1);
        let outcome = ran.json()["outcome"].clone();
        assert_eq!((outcome.as_str().unwrap(), levels, score), expected, "{text}");
    }
}

#[test]
fn no_threshold_is_below_60() {
    // 62.5 points.
    let scene = building(&[&[WORKS, PRICES]]);
    for (refused, hint) in [
        (&["--threshold", "59.9"][..], "must be from 60 to 100"),
        (&["--threshold", "0"], "must be from 60 to 100"),
        (&["--profile", "low.yaml"], "low.yaml: gan_loop.pass_threshold: must be from 0.60 to 1.00"),
    ] {
        fs::write(scene.path("project/low.yaml"), "gan_loop:\n  pass_threshold: 0.5\n").unwrap();
        let said = scene.refusal(&[&["gan", "brief.md"], refused].concat());
        assert!(said.contains(hint), "{said}");
    }
    scene.write_settings("[gan]\nthreshold = 59.9\n");
    let said = scene.refusal(&["gan", "brief.md"]);
    assert!(said.contains("from 60 to 100"), "{said}");
    scene.write_settings("[gan]\nthreshold = 60\n");
    let ran = build(&scene, &["--yes"]);
    assert_eq!((ran.code, &ran.json()["score"]), (Some(0), &json!(62.5)), "{}", ran.stderr);
}

#[test]
fn each_dimension_reaches_its_minimum_or_the_run_does_not_pass() {
    // All of substance, and three quarters of form.
    for (minimums, kept_by) in [
        ("form=75", json!([])),
        ("substance=100, form=75", json!([])),
        ("form=76", json!(["form is at 75, but must reach 76"])),
        ("form=100,substance=100", json!(["form is at 75, but must reach 100"])),
    ] {
        let scene = building(&[&NEARLY]);
        // A flag overrides the settings.
        scene.write_settings("[gan]\nminimums = \"substance=100, form=90\"\n");
        let ran = build(&scene, &["--yes", "--max-rounds", "1", "--minimums", minimums]);
        let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
        assert_eq!(report["kept_from_passing_by"], kept_by, "{minimums}");
        assert_eq!(ran.code, Some(if kept_by == json!([]) { 0 } else { 3 }), "{minimums}");
        let minimum = json_file(&scene, "sprints/sprint-1.json")["pass_conditions"]["form"].clone();
        assert!(minimum.as_f64() >= Some(0.75), "{minimums}: {minimum}");
    }
}

#[test]
fn a_dry_run_shows_the_rules_as_data() {
    let scene = building(&[&ALL]);
    scene.write_settings("[gan]\nstandstill = 4\ngain = 2.5\nminimums = \"form=70\"\n");
    let ran = scene.run(&[&BUILD[..], &["--dry-run"]].concat());
    let rules = &ran.json()["rules"];
    assert_eq!((&rules["standstill"], &rules["gain"]), (&json!(4), &json!(2.5)), "{}", ran.stderr);
    assert_eq!(rules["minimums"], json!({ "form": 70.0 }));
}
