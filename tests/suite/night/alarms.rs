//! Alarms: agents that break for nights, a person's bad edit, updates that cost something or nothing, and recoveries.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{Nights, WRITER, after_a_win};
use crate::scene::Ran;

const DONE: &str = include_str!("../../../fixtures/transcripts/claude/write.jsonl");

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

/// Returns a script whose improver finds no better version, and by which the skill `steady` scores this much more.
fn steady(points: i32) -> Value {
    json!({ "improve": { "another": {} }, "shift": { "steady": points } })
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
fn an_agent_that_breaks_all_jobs_for_three_nights_needs_a_person_who_is_notified_and_can_acknowledge_it() {
    let names = ["first", "second", "third"];
    let broken = json!({ "executor_fails_at": [20] });
    let nights = Nights::new(&names.map(|name| (name, 20)), &broken, "");
    fs::write(nights.scene.path("project/tell.sh"), "cat > given.json\n").unwrap();
    nights.write_jobs(&format!("notify = [\"sh\", \"tell.sh\"]\n\n{}", names.map(job).concat()));
    let given = nights.scene.path("project/given.json");
    for (day, nth) in [(2, "first"), (3, "second")] {
        let ran = nights.night(&date(day), &[]);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        let expected = format!(
            "No. All 3 jobs could not be judged (agent executor exits with 3, {nth} night); the next night retries them."
        );
        assert_eq!(headline(&nights), expected);
        assert!(!given.exists());
    }
    let ran = nights.night(&date(4), &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let morning = nights.morning();
    assert_eq!(
        morning["headline"],
        "Yes: all 3 jobs could not be judged (agent executor exits with 3, third night)."
    );
    let why = "agent executor exits with 3, third night";
    let first = json!({ "job": "first", "nights": 3, "since": "2026-11-01", "why": why });
    assert_eq!(morning["not_judged"][0], first);
    assert_eq!(morning["notified"], json!({ "ok": true, "error": null }));
    let report: Value = serde_json::from_str(&fs::read_to_string(&given).unwrap()).unwrap();
    assert_eq!(report["headline"], morning["headline"]);
    let page = nights.page();
    assert!(
        page.contains("\n- first, second, third could not be judged since 2026-11-01, third night: agent executor exits with 3. `skilltune night doctor` looks for the fault; `skilltune night ack JOB` if you know it already\n"),
        "{page}"
    );
    let path = nights.scene.path("project/.skilltune/nights/skilltune-night/junit.xml");
    let junit = fs::read_to_string(path).unwrap();
    let error = format!("<error message=\"{why}\" type=\"not_judged\"/>");
    assert_eq!(junit.matches(&error).count(), 3, "{junit}");

    for name in names {
        let ack = nights.night(&date(4), &["ack", name]);
        assert!(ack.code == Some(0) && ack.stderr.contains("reports it again only when"), "{ack:?}");
    }
    let ran = nights.night(&date(5), &[]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(headline(&nights).contains("fourth night"), "{}", headline(&nights));
    nights.scene.write_script(&steady(0));
    let ran = nights.night(&date(6), &[]);
    assert_eq!((ran.code, headline(&nights).as_str()), (Some(0), "No. All is well."), "{ran:?}");
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
    // What a morning names stays.
    let cleaned = nights.scene.run(&["clean", "--yes"]);
    let kept = format!("keeping {run}: it has the version before an edit that made a skill worse");
    assert!(cleaned.code == Some(0) && cleaned.stderr.contains(&kept), "{cleaned:?}");
    assert_eq!(nights.scene.run(&["export", run, "start", "again"]).code, Some(0));

    nights.scene.write_skill("writer", 80);
    let ran = nights.night(&date(5), &[]);
    assert_eq!((ran.code, kinds(&nights)), (Some(0), Vec::new()), "{ran:?}");
    let mut recovered = nights.morning()["recovered"].take();
    let now = recovered[0]["now"].take();
    let expected = json!([{ "job": "writer", "kind": "edit", "since": "2026-11-03", "now": null }]);
    assert_eq!(recovered, expected);
    assert!(now["points"].as_f64().unwrap().abs() < 0.1 && now["lower"].as_f64().unwrap() < 0.0, "{now}");
    let page = nights.page();
    let again = "\n- writer: again as good as before its skill was edited (seen on 2026-11-03), as far as its last trials show: ";
    assert!(page.contains(again) && !page.contains("points since its skill"), "{page}");
}

#[test]
fn a_winner_that_repairs_a_bad_edit_in_part_names_the_score_of_the_version_before_it() {
    let nights = after_a_win();
    assert_eq!(nights.night(&date(3), &[]).code, Some(0));
    nights.scene.write_script(&json!({ "improve": { "writer": { "40": 60 } } }));
    nights.write_jobs(&WRITER.replace("\"auto\"", "\"never\""));
    nights.scene.write_skill("writer", 40);
    let ran = nights.night(&date(4), &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(headline(&nights), "Yes: 1 skill that works worse, 1 winner to look at.");
    let note = " Note: the version before the edit seen on 2026-11-03 scored 84.2.\n";
    assert!(nights.page().contains(note), "{}", nights.page());
}

#[test]
fn a_winner_that_is_older_than_a_bad_edit_names_the_score_of_the_version_before_the_edit() {
    let script = json!({ "improve": { "writer": { "40": 60 } } });
    let nights = Nights::new(&[("writer", 40)], &script, &WRITER.replace("\"auto\"", "\"never\""));
    nights.night(&date(2), &[]);
    assert_eq!(nights.morning()["waiting"][0]["since"], "2026-11-01");
    nights.scene.write_skill("writer", 80);
    nights.night(&date(3), &[]);
    assert_eq!(nights.morning()["waiting"], json!([]), "{}", nights.page());
    nights.scene.write_skill("writer", 40);
    nights.night(&date(4), &[]);
    assert_eq!(kinds(&nights), ["edit"]);
    assert_eq!(nights.morning()["waiting"][0]["since"], "2026-11-01");
    let note = " Note: the version before the edit seen on 2026-11-03 scored 84.2.\n";
    assert!(nights.page().contains(note), "{}", nights.page());
}

#[test]
fn a_winner_that_is_found_after_an_update_names_the_score_before_it_and_later_that_the_skill_recovered() {
    let nights = Nights::new(&[("steady", 70)], &steady(0), &job("steady"));
    assert_eq!(nights.night(&date(2), &[]).code, Some(0));
    let script = |shift: i32| json!({ "improve": { "steady": { "70": 80 } }, "shift": { "steady": shift } });
    update_executor(&nights, "2");
    nights.scene.write_script(&script(-30));
    nights.night(&date(3), &[]);
    assert_eq!(kinds(&nights), ["update"]);
    let note = " Note: before its agents changed (seen on 2026-11-02) the skill scored 73.7.\n";
    assert!(nights.page().contains(note), "{}", nights.page());
    nights.scene.write_script(&script(0));
    let recovered = (4..10).find(|day| {
        nights.night(&date(*day), &[]);
        kinds(&nights).is_empty()
    });
    let day = recovered.expect("the fall ends") - 1;
    let note = format!(
        " Note: its scores are from a fall that was seen on 2026-11-02 and ended on 2026-11-{day:02}; before that fall the skill scored 73.7.\n"
    );
    assert!(nights.page().contains(&note), "{}", nights.page());
    assert!(!nights.page().contains("before its agents changed (seen on 2026-11-02) the skill"));
}

#[test]
fn a_bad_edit_that_is_repaired_in_part_is_reported_with_what_is_still_missing() {
    let nights = after_a_win();
    assert_eq!(nights.night(&date(3), &[]).code, Some(0));
    nights.scene.write_skill("writer", 40);
    assert_eq!(nights.night(&date(4), &[]).code, Some(3));
    assert_eq!(nights.morning()["worse"][0]["now"], Value::Null);
    nights.scene.write_skill("writer", 65);
    for day in 5..9 {
        let ran = nights.night(&date(day), &[]);
        assert_eq!((ran.code, kinds(&nights)), (Some(3), vec!["edit".to_owned()]), "{ran:?}");
        assert_eq!(headline(&nights), "Yes: 1 skill that works worse.");
    }
    let worse = nights.morning()["worse"][0].take();
    assert!(worse["effect"]["points"].as_f64().unwrap() < -40.0, "{worse}");
    let now = &worse["now"];
    let (points, upper) = (now["points"].as_f64().unwrap(), now["upper"].as_f64().unwrap());
    assert!(-20.0 < points && points < -10.0 && upper < 0.0, "{worse}");
    let page = nights.page();
    assert!(
        page.contains(" on the same scenarios. Average of the last 4 nights: -15.8 points, between -"),
        "{page}"
    );
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

/// Runs a night with a claude that reports this model. The program stays the same.
fn night_with_claude(nights: &Nights, day: u32, model: &str) -> Ran {
    let scene = &nights.scene;
    fs::create_dir_all(scene.path("claude")).unwrap();
    fs::create_dir_all(scene.path("bin")).unwrap();
    fs::write(scene.path("done"), DONE.replace("claude-opus-5-5", model)).unwrap();
    let done = scene.path("done");
    let script =
        format!("#!/bin/sh\necho 'made by steady with quality 70' > out.md\ncat {}\n", done.display());
    fs::write(scene.path("bin/claude"), script).unwrap();
    fs::set_permissions(scene.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = nights.command(&date(day), &[]);
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    command.env("CLAUDE_CONFIG_DIR", scene.path("claude"));
    Ran::of(command.output().unwrap())
}

#[test]
fn a_search_after_the_model_behind_a_name_changed_uses_no_stored_answers_of_the_old_one_and_is_made_once() {
    let job = job("steady") + "executor = \"claude:opus\"\n";
    let nights = Nights::new(&[("steady", 70)], &steady(0), &job);
    for day in [2, 3] {
        let ran = night_with_claude(&nights, day, "opus-old");
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let ran = night_with_claude(&nights, 4, "opus-new");
    assert_eq!(works(&nights), ["measured", "tuned"], "{ran:?}");
    let morning = nights.morning();
    let run = morning["done"][1]["run_id"].as_str().unwrap();
    let report = nights.scene.run(&["report", run, "--format", "json"]).json();
    let models = report["models"]["executor"].as_object().unwrap();
    assert_eq!(models.keys().collect::<Vec<_>>(), ["opus-new"], "{report}");
    let what = "model of the executor: opus-old, now opus-new";
    let unmoved = &morning["unmoved"][0];
    assert_eq!((&unmoved["job"], &unmoved["what"]), (&json!("steady"), &json!([what])));
    let named = format!(
        "\n- steady: no sure effect on its scores since its agents changed ({what}; seen on 2026-11-03): "
    );
    let page = nights.page();
    let (_, done) = page.split_once("## What was done?").unwrap();
    assert!(done.contains(&named) && done.contains(" It was tuned for them.\n"), "{page}");
    for day in [5, 6] {
        let ran = night_with_claude(&nights, day, "opus-new");
        assert_eq!(works(&nights), ["measured"], "{ran:?}");
        assert_eq!(nights.morning()["unmoved"], json!([]), "it is named once");
    }
}

fn shift(nights: &Nights, points: i32) {
    nights.scene.write_script(&steady(points));
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
    let nights = Nights::new(&[("steady", 70)], &steady(0), &job("steady"));
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
