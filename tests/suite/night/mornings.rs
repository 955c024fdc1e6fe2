//! The whole text of three mornings: all is well, two wins and a skill that got worse, a disaster.

use std::fs;

use serde_json::{Value, json};

use super::Nights;

fn job(name: &str, more: &str) -> String {
    format!(
        "[[jobs]]\nskill = \".claude/skills/{name}\"\nsuite = \"suite.toml\"\nruns = 32\nretries = 0\n{more}\n"
    )
}

/// Returns the page without the parts that change every time.
fn normalized_page(nights: &Nights) -> String {
    let text = nights.scene.normalized(&nights.page());
    let is_time = |word: &str| word.strip_suffix('s').is_some_and(|number| number.parse::<f64>().is_ok());
    let words = text.split(' ').map(|word| if is_time(word) { "TIME" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn script(shift: i32) -> Value {
    json!({
        "improve": { "first": { "20": 80 }, "second": { "30": 90 } },
        "shift": { "steady": shift },
    })
}

#[test]
fn a_morning_on_which_all_is_well() {
    let nights = Nights::new(&[("steady", 70)], &script(0), &job("steady", "apply = \"auto\""));
    nights.night("2026-11-02", &[]);
    let ran = nights.night("2026-11-03", &["--if-needed"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{ran:?}");
    insta::assert_snapshot!(normalized_page(&nights));
}

#[test]
fn a_morning_with_two_wins_and_a_skill_that_works_worse() {
    let steady = job("steady", "");
    let nights = Nights::new(&[("first", 20), ("second", 30), ("steady", 70)], &script(0), &steady);
    nights.night("2026-11-02", &[]);
    nights.scene.write_script(&script(-30));
    for date in ["2026-11-03", "2026-11-04", "2026-11-05"] {
        nights.night(date, &[]);
    }
    nights
        .write_jobs(&[steady, job("first", "apply = \"auto\""), job("second", "apply = \"never\"")].concat());
    let ran = nights.night("2026-11-06", &["--if-needed"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    insta::assert_snapshot!(normalized_page(&nights));
    let ack = nights.scene.run(&["night", "ack", "steady"]);
    assert_eq!(ack.code, Some(0), "{ack:?}");
    assert!(!nights.scene.run(&["night", "status"]).stdout.contains("works worse"));
}

#[test]
fn a_morning_after_a_disaster() {
    let jobs = [
        job("first", ""),
        job("second", "suite = \"other.toml\"").replacen("suite = \"suite.toml\"\n", "", 1),
        job("steady", ""),
    ];
    let nights = Nights::new(&[("first", 20), ("second", 30), ("steady", 70)], &script(0), &jobs.concat());
    let mut broken = script(0);
    broken["executor_fails_at"] = json!([20]);
    nights.scene.write_script(&broken);
    fs::remove_dir_all(nights.scene.skill("steady")).unwrap();
    let ran = nights.night("2026-11-02", &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    insta::assert_snapshot!(normalized_page(&nights));
}
