//! The inbox: weaknesses that a night found and no suite tests yet, for a person to review.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Nights;
use crate::finished::Finished;
use crate::scene::Ran;

const JOB: &str = "[[jobs]]\nskill = \".claude/skills/writer\"\nsuite = \"suite.toml\"\npreset = \"quick\"\nretries = 0\nsample = 10\napply = \"never\"\n";

/// Two scenarios without statements, one with statements, one of the same task as that one, and five that are held out.
const SUITE: &str = r#"
[[scenarios]]
id = "bare"
description = "Write a page"
files = ["sales.csv"]

[[scenarios]]
id = "other"
description = "Write a letter"

[[scenarios]]
id = "asked"
description = "Write a poem"
expectations = ["Its quality is at least 90."]

[[scenarios]]
id = "again"
description = "Write a poem"
"#;

fn nights() -> Nights {
    let nights =
        Nights::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 30, "45": 30 } } }), JOB);
    fs::write(nights.scene.path("project/sales.csv"), "1,2\n").unwrap();
    let held_out = (1..=5).map(|nth| {
        format!("[[scenarios]]\nid = \"secret-{nth}\"\ndescription = \"Task {nth}\"\nheld_out = true\n")
    });
    fs::write(nights.scene.path("project/suite.toml"), SUITE.to_owned() + &held_out.collect::<String>())
        .unwrap();
    nights
}

/// Returns these nights after the first one.
fn after_one_night() -> Nights {
    static ONE: Finished = Finished::new(|| {
        let nights = nights();
        quiet_night(&nights, "2026-11-02");
        nights.scene
    });
    Nights { scene: ONE.scene() }
}

fn inbox(nights: &Nights) -> PathBuf {
    nights.scene.path("project/.skilltune/nights/skilltune-night/inbox.toml")
}

fn text(nights: &Nights) -> String {
    fs::read_to_string(inbox(nights)).unwrap()
}

/// Returns the drafts that the last night added: scenario and id.
fn new(nights: &Nights) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let drafts = nights.morning()["drafts"].as_array().unwrap().clone();
    drafts.iter().map(|draft| (word(&draft["scenario"]), word(&draft["id"]))).collect()
}

/// Runs a night that finds no better version.
fn quiet_night(nights: &Nights, date: &str) -> Ran {
    let ran = nights.night(date, &[]);
    assert!(ran.code == Some(0) && !ran.stderr.contains("warning"), "{ran:?}");
    assert_eq!(nights.morning()["needs_you"], false, "{ran:?}");
    ran
}

fn scenarios(new: &[(String, String)]) -> Vec<&str> {
    new.iter().map(|(scenario, _)| scenario.as_str()).collect()
}

fn cases(nights: &Nights) -> Vec<String> {
    let folder = fs::read_dir(inbox(nights).with_file_name("cases")).unwrap();
    folder.map(|case| case.unwrap().file_name().into_string().unwrap()).collect()
}

/// Replaces the trial's mark in the ids of drafts.
fn unmarked(text: &str, drafts: &[(String, String)]) -> String {
    drafts.iter().fold(text.to_owned(), |text, (scenario, id)| text.replace(id, &format!("{scenario}-MARK")))
}

#[test]
fn what_no_suite_asks_becomes_one_draft_however_many_nights_see_it_and_stays_deleted() {
    let nights = after_one_night();
    let drafts = new(&nights);
    assert_eq!(scenarios(&drafts), ["bare", "other"]);
    let first = text(&nights);
    let shown = unmarked(&first, &drafts);
    assert!(
        shown.contains(
            "[[scenarios]]\nid = \"bare-MARK\"\ndescription = \"Write a page\"\ndraft = true\n\
             files = [\"cases/bare-MARK/files/sales.csv\"]\nexpectations = ["
        ) && shown.contains("does not have this fault: SKILL.md: the quality is only 40"),
        "{shown}"
    );
    assert_eq!(cases(&nights), [drafts[0].1.clone()]);
    let line = "2 new drafts of scenarios, from trials that fell short: `skilltune suite add --from ";
    assert!(nights.page().contains(line), "{}", nights.page());
    let path = inbox(&nights).display().to_string();
    let checked = nights.scene.run(&["suite", "check", &path, "--format", "json"]).json();
    assert_eq!(checked["drafts"], json!([drafts[0].1, drafts[1].1]), "{checked}");
    assert_eq!((&checked["scenarios"], &checked["vacuous"]), (&json!([]), &json!([])), "{checked}");
    for date in ["2026-11-03", "2026-11-04"] {
        quiet_night(&nights, date);
        assert!(nights.morning()["done"][0]["work"] == "measured" && new(&nights).is_empty());
        assert!(!nights.page().contains("draft"), "{}", nights.page());
        assert_eq!(text(&nights), first);
    }
    // A person deletes the first draft.
    let (_, other) = first.rsplit_once("\n#").unwrap();
    let kept = format!("# Mine.\n#{other}");
    fs::write(inbox(&nights), &kept).unwrap();
    quiet_night(&nights, "2026-11-05");
    assert_eq!((new(&nights).len(), text(&nights)), (0, kept.clone()));
    // With another version the same task counts as new; the waiting draft stays the only one of its task.
    nights.scene.write_skill("writer", 45);
    quiet_night(&nights, "2026-11-06");
    let later = new(&nights);
    assert_eq!(scenarios(&later), ["bare"]);
    assert_ne!(later[0].1, drafts[0].1);
    assert!(text(&nights).starts_with(&kept) && text(&nights).contains("only 45"), "{}", text(&nights));
    assert_eq!(cases(&nights), [later[0].1.clone()], "the files of what was deleted are gone");
}

#[test]
fn an_inbox_that_is_full_or_broken_is_left_alone_and_the_night_is_as_good_as_ever() {
    let nights = nights();
    let one = |nth: u32| {
        format!(
            "[[scenarios]]\nid = \"d{nth}\"\ndescription = \"Draft {nth}\"\ndraft = true\nexpectations = [\"It is short.\"]\n"
        )
    };
    let full: String = (1..=50).map(one).collect();
    fs::create_dir_all(inbox(&nights).parent().unwrap()).unwrap();
    for (nth, (content, why)) in [
        (full.as_str(), "has 50 drafts already"),
        ("[[scenarios]\n", "unclosed array"),
        ("format = 7", "format"),
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(inbox(&nights), content).unwrap();
        let ran = nights.night(&format!("2026-11-0{}", nth + 2), &[]);
        assert_eq!((ran.code, text(&nights).as_str()), (Some(0), content), "{ran:?}");
        let warning = ran.stderr.lines().find(|line| line.starts_with("warning: ")).unwrap_or_default();
        assert!(
            warning.contains("could not add all drafts to the inbox: ") && warning.contains(why),
            "{ran:?}"
        );
        assert!(new(&nights).is_empty());
    }
    fs::remove_file(inbox(&nights)).unwrap();
    let elsewhere = nights.scene.path("elsewhere.toml");
    std::os::unix::fs::symlink(&elsewhere, inbox(&nights)).unwrap();
    let ran = nights.night("2026-11-06", &[]);
    assert!(ran.code == Some(0) && ran.stderr.contains("is a symlink") && !elsewhere.exists(), "{ran:?}");
    // A draft without room for its files does not block others, and is added once there is room.
    fs::remove_file(inbox(&nights)).unwrap();
    let cases = inbox(&nights).with_file_name("cases");
    fs::write(&cases, "").unwrap();
    let ran = nights.night("2026-11-07", &[]);
    assert!(ran.code == Some(0) && ran.stderr.contains("could not add all drafts"), "{ran:?}");
    assert_eq!(scenarios(&new(&nights)), ["other"]);
    fs::remove_file(&cases).unwrap();
    quiet_night(&nights, "2026-11-08");
    assert_eq!(scenarios(&new(&nights)), ["bare"]);
}

#[test]
fn a_key_that_a_judge_repeats_does_not_get_into_the_inbox() {
    let nights = nights();
    let mut command = nights.command("2026-11-02", &["--if-needed"]);
    let ran = Ran::of(command.env("MY_API_KEY", "the quality is only 40").output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = text(&nights);
    assert!(text.contains("this fault: SKILL.md: ") && !text.contains("the quality is only 40"), "{text}");
}

#[test]
fn a_draft_is_taken_out_of_the_inbox_with_its_files_and_its_task_is_no_draft_again() {
    let nights = after_one_night();
    let drafts = new(&nights);
    let path = inbox(&nights).display().to_string();
    let add = |more: &[&str]| nights.scene.run(&[&["suite", "add", "--from", &path], more].concat());
    let unnamed = add(&[]);
    assert_eq!(unnamed.code, Some(2), "{unnamed:?}");
    insta::assert_snapshot!(unmarked(&nights.scene.normalized(&unnamed.stderr), &drafts), @r"
    error: no scenario given
    hint: scenarios:
      bare-MARK  2 demands  Write a page
      other-MARK  2 demands  Write a letter
    hint: `skilltune suite add --from /project/.skilltune/nights/skilltune-night/inbox.toml ID` adds one of them
    ");
    let wrong = add(&["nothing"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("has no scenario \"nothing\""), "{wrong:?}");
    let added = add(&[&drafts[0].1]);
    assert_eq!(added.code, Some(0), "{added:?}");
    insta::assert_snapshot!(unmarked(&nights.scene.normalized(&added.stderr), &drafts), @r#"
    added `bare-MARK` to /project/suite.toml as a draft that requires:
      The result does not have this fault: SKILL.md: "Quality"
      The result does not have this fault: SKILL.md: the quality is only 40
    note: it stays in /project/.skilltune/nights/skilltune-night/inbox.toml until you delete it there
    review it, then remove `draft = true`; runs do not count drafts
    "#);
    let again = add(&[&drafts[0].1]);
    assert!(again.code == Some(0) && again.stderr.contains("nothing was added"), "{again:?}");
    let suite = nights.scene.path("project/suite.toml");
    let taken = fs::read_to_string(&suite).unwrap();
    assert!(taken.contains(&format!("files = [\"cases/{}/files/sales.csv\"]", drafts[0].1)), "{taken}");
    let copy = nights.scene.path("project/cases").join(&drafts[0].1).join("files/sales.csv");
    assert_eq!(fs::read_to_string(copy).unwrap(), "1,2\n");
    // From now on the suite tests it, with each version.
    fs::write(&suite, taken.replace("draft = true\n", "")).unwrap();
    fs::remove_file(inbox(&nights)).unwrap();
    nights.scene.write_skill("writer", 45);
    quiet_night(&nights, "2026-11-03");
    assert_eq!(scenarios(&new(&nights)), ["other"]);
}
