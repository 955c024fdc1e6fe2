//! Alarms: a person's bad edit, updates that cost something or nothing, and recoveries.

use std::fs;

use serde_json::json;

use super::{Nights, after_a_win};

fn job(name: &str) -> String {
    format!(
        "[[jobs]]\nskill = \".claude/skills/{name}\"\nsuite = \"suite.toml\"\nruns = 32\nretries = 0\napply = \"never\"\n\n"
    )
}

fn date(day: u32) -> String {
    format!("2026-11-{day:02}")
}

fn headline(nights: &Nights) -> String {
    nights.morning()["headline"].as_str().unwrap().to_owned()
}

/// Returns the kinds of the falls that the last morning reports.
fn kinds(nights: &Nights) -> Vec<String> {
    let morning = nights.morning();
    let worse = morning["worse"].as_array().unwrap().iter();
    worse.map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

fn works(nights: &Nights) -> Vec<String> {
    let morning = nights.morning();
    let done = morning["done"].as_array().unwrap().iter();
    done.map(|one| one["work"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_persons_edit_that_makes_a_skill_worse_is_named_with_the_version_before_it_until_it_is_taken_back() {
    let nights = after_a_win();
    assert_eq!(nights.night(&date(3), &[]).code, Some(0));
    nights.scene.write_skill("writer", 40);
    let ran = nights.night(&date(4), &[]);
    assert_eq!((ran.code, kinds(&nights)), (Some(3), vec!["edit".to_owned()]), "{ran:?}");
    assert_eq!(works(&nights), ["measured", "measured again", "tuned"]);
    let morning = nights.morning();
    assert_eq!(morning["headline"], "Yes: 1 skill that works worse.");
    assert!(morning["worse"][0]["effect"]["points"].as_f64().unwrap() < -40.0, "{morning}");
    let page = nights.page();
    assert!(
        page.contains("\n- writer: -42.1 points since its skill was edited (seen on 2026-11-03), between "),
        "{page}"
    );
    let run = morning["worse"][0]["run_before"].as_str().unwrap();
    let export = format!("`skilltune export {run} start DIR` copies the version before.");
    assert!(page.contains(&export), "{page}");
    let copied = nights.scene.run(&["export", run, "start", "before"]);
    assert_eq!(copied.code, Some(0), "{copied:?}");
    let before = fs::read_to_string(nights.scene.path("project/before/SKILL.md")).unwrap();
    assert!(before.contains("Quality: 80\n"), "{before}");

    nights.scene.write_skill("writer", 80);
    let ran = nights.night(&date(5), &[]);
    assert_eq!((ran.code, kinds(&nights)), (Some(0), Vec::new()), "{ran:?}");
    let recovered = json!([{ "job": "writer", "kind": "edit", "since": "2026-11-03" }]);
    assert_eq!(nights.morning()["recovered"], recovered);
    let page = nights.page();
    assert!(page.contains("\n- writer: again as good as before its skill was edited.\n"), "{page}");
}

/// Installs another version of the executor, with this name.
fn update_executor(nights: &Nights, version: &str) {
    let path = nights.scene.path("config/skilltune/skilltune.toml");
    let text = fs::read_to_string(&path).unwrap();
    let command = format!("\"executor\", {:?}", nights.scene.path("script.json").display().to_string());
    let (before, after) = text.split_once(&command).unwrap();
    let (_, after) = after.split_once(']').unwrap();
    fs::write(path, format!("{before}{command}, {version:?}]{after}")).unwrap();
}

fn shift(nights: &Nights, points: i32) {
    nights.scene.write_script(&json!({ "shift": { "steady": points } }));
}

/// Runs nights from this day on until a morning reports no fall. Returns the day after the last of them.
fn until_recovered(nights: &Nights, first: u32) -> u32 {
    for day in first..first + 6 {
        let ran = nights.night(&date(day), &[]);
        if kinds(nights).is_empty() {
            assert_eq!(ran.code, Some(0), "{ran:?}");
            return day + 1;
        }
        assert_eq!(ran.code, Some(3), "{ran:?}");
    }
    panic!("the alarm does not end: {}", nights.page());
}

#[test]
fn an_update_answers_for_its_own_fall_alone_and_every_alarm_ends_when_the_skill_has_recovered() {
    let nights = Nights::new(&[("steady", 70)], &json!({}), &job("steady"));
    assert_eq!(nights.night(&date(2), &[]).code, Some(0));
    shift(&nights, -30);
    assert_eq!(nights.night(&date(3), &[]).code, Some(0));
    assert_eq!(headline(&nights), "No, but 1 skill scored low and is watched.");
    nights.night(&date(4), &[]);
    assert_eq!((nights.night(&date(5), &[]).code, kinds(&nights)), (Some(3), vec!["drift".to_owned()]));

    // This update costs nothing, and the drift before it is still there.
    update_executor(&nights, "2");
    assert_eq!((nights.night(&date(6), &[]).code, kinds(&nights)), (Some(3), vec!["drift".to_owned()]));
    let morning = nights.morning();
    let drift = &morning["worse"][0];
    assert_eq!((&drift["since"], &drift["what"]), (&json!("2026-11-02"), &json!([])));
    let page = nights.page();
    assert!(page.contains("points since 2026-11-02, although nothing had changed then, between"), "{page}");
    shift(&nights, 0);
    let next = until_recovered(&nights, 7);
    assert_eq!(nights.morning()["recovered"][0]["kind"], "drift");

    // This one costs 30 points, and the service recovers later.
    update_executor(&nights, "3");
    shift(&nights, -30);
    let ran = nights.night(&date(next), &[]);
    assert_eq!((ran.code, kinds(&nights)), (Some(3), vec!["update".to_owned()]), "{ran:?}");
    assert!(nights.page().contains("points since its agents changed (executor: "), "{}", nights.page());
    assert_eq!(nights.night(&date(next + 1), &[]).code, Some(3), "it stays while the skill is low");
    shift(&nights, 0);
    let next = until_recovered(&nights, next + 2);
    assert_eq!(nights.morning()["recovered"][0]["kind"], "update");
    assert_eq!(nights.night(&date(next), &[]).code, Some(0));
    assert_eq!(headline(&nights), "No. All is well.");
}
