//! A verdict that stays open: the next nights add trials to its comparison, as often as the job says.

use std::fs;

use serde_json::{Value, json};

use super::Nights;
use super::broken::works;

/// A job that is tuned and never measured, so that each call of a night belongs to its comparison.
const JOB: &str = "[[jobs]]\nskill = \".claude/skills/writer\"\nsuite = \"suite.toml\"\nruns = 48\napply = \"auto\"\nsample = 0\n";

/// The search fixes the skill from quality 20 to 60. All skills work better by `shift`.
fn script(shift: i32) -> Value {
    json!({ "improve": { "writer": { "20": 60 } }, "shift": { "writer": shift } })
}

/// Four scenarios for the search, and six held-out ones: the candidate is better on three, and equal on the others.
fn suite() -> String {
    let all = [("s", 4, 40, false), ("lower", 3, 40, true), ("higher", 3, 90, true)];
    let scenario = |name: &str, nth: u32, least: u32, held_out: bool| {
        format!(
            "[[scenarios]]\nid = \"{name}-{nth}\"\ndescription = \"Task {name} {nth}\"\nheld_out = {held_out}\n\
             expectations = [\"Its quality is at least {least}.\"]\n"
        )
    };
    all.into_iter()
        .flat_map(|(name, count, least, held_out)| {
            (1..=count).map(move |nth| scenario(name, nth, least, held_out))
        })
        .collect()
}

/// Returns nights after a first one that left the verdict open.
fn undecided() -> Nights {
    let nights = Nights::new(&[("writer", 20)], &script(0), JOB);
    fs::write(nights.scene.path("project/suite.toml"), suite()).unwrap();
    let ran = nights.night("2026-11-02", &[]);
    assert_eq!(nights.morning()["undecided"][0]["job"], "writer", "{ran:?}");
    nights
}

/// Returns the comparison of the run, as its report has it.
fn comparison(nights: &Nights, run: &str) -> Value {
    nights.scene.run(&["report", run, "--format", "json"]).json()["comparison"].clone()
}

fn run_id(nights: &Nights) -> String {
    nights.morning()["undecided"][0]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_retry_adds_trials_to_the_comparison_of_the_night_before_and_decides_by_all_of_them() {
    let nights = undecided();
    let (run, before) = (run_id(&nights), nights.scene.answered());
    let first = comparison(&nights, &run);
    let trials = first["trials_each"].as_u64().unwrap();
    assert_eq!(first["looks"], json!({ "made": 1, "planned": 2 }));
    // From now on the candidate is also better where it was equal, and equal where it was better.
    nights.scene.write_script(&script(30));
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!((ran.code, works(&nights)), (Some(0), vec!["compared again".to_owned()]), "{ran:?}");
    let morning = nights.morning();
    assert_eq!(
        (&morning["better"][0]["run_id"], &morning["better"][0]["place"]),
        (&json!(run), &json!("applied"))
    );
    assert_eq!(nights.scene.quality("writer"), 60);
    // As many trials again of each version on each scenario, each judged, and the anchors of the look.
    let (calls, most) = ((nights.scene.answered() - before) as u64, 2 * 2 * 6 * trials);
    assert!((most..=most + 3).contains(&calls), "{calls} calls: {ran:?}");
    assert!(morning["cost"]["calls"].as_u64().unwrap() >= most, "{morning}");
    assert_eq!(nights.scene.run_folders().len(), 1, "the same run");
    let second = comparison(&nights, &run);
    assert_eq!(second["trials_each"].as_u64(), Some(2 * trials));
    assert_eq!(second["looks"], json!({ "made": 2, "planned": 2 }));
}

#[test]
fn a_verdict_that_stays_open_is_retried_as_often_as_the_job_says() {
    let nights = undecided();
    let before = nights.scene.answered();
    let retry = " The next night compares again, on more trials.";
    let dismiss = " `skilltune night dismiss writer` if it need not be decided.\n";
    let page = nights.page();
    assert!(page.contains(retry) && page.contains(dismiss), "{page}");
    nights.night("2026-11-03", &[]);
    assert_eq!(works(&nights), ["compared again"]);
    let page = nights.page();
    assert!(!page.contains(retry) && page.contains(dismiss), "{page}");
    let run = run_id(&nights);
    let after = nights.scene.answered();
    assert!(after > before);
    let ran = nights.night("2026-11-04", &[]);
    assert_eq!((works(&nights).len(), nights.scene.answered()), (0, after), "{ran:?}");
    let refused = nights.scene.run(&["resume", "--extend", &run]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("has no comparison that can be extended"), "{refused:?}");
    assert_eq!(nights.scene.answered(), after);
}

#[test]
fn a_run_of_somebody_else_and_one_on_other_terms_are_not_extended() {
    let nights = undecided();
    let before = nights.scene.answered();
    nights.write_jobs(&JOB.replace("\"auto\"", "\"never\""));
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!((works(&nights).len(), nights.scene.answered()), (0, before), "{ran:?}");
    nights.write_jobs(JOB);
    let listed = || nights.scene.run(&["night", "list"]).stdout;
    assert!(listed().contains("on more trials"), "{}", listed());
    let owned = nights.scene.path("state/skilltune/runs");
    fs::remove_dir_all(owned).unwrap();
    let ran = nights.night("2026-11-04", &[]);
    assert_eq!((works(&nights).len(), nights.scene.answered()), (0, before), "{ran:?}");
}

#[test]
fn an_open_verdict_that_a_person_dismissed_costs_nothing_more() {
    let nights = undecided();
    let before = nights.scene.answered();
    let listed = || nights.scene.run(&["night", "list"]).stdout;
    assert!(listed().contains("on more trials"), "{}", listed());
    let dismissed = nights.scene.run(&["night", "dismiss", "writer"]);
    assert!(dismissed.stderr.ends_with(" is dismissed; no night compares it again\n"), "{dismissed:?}");
    assert!(!listed().contains("on more trials"), "{}", listed());
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!((ran.code, works(&nights).len()), (Some(0), 0), "{ran:?}");
    assert_eq!((nights.scene.answered(), &nights.morning()["undecided"]), (before, &json!([])), "{ran:?}");
}

#[test]
fn the_command_that_dismisses_an_open_verdict_leaves_the_winner_of_its_job() {
    let job = JOB.replace("\"auto\"", "\"never\"\nconfidence = 0.95");
    let nights = Nights::new(&[("writer", 20)], &script(0), &job);
    let ran = nights.night("2026-11-02", &[]);
    assert_eq!(nights.morning()["waiting"][0]["job"], "writer", "{ran:?}");
    // Another suite does not tell the two versions apart.
    fs::write(nights.scene.path("project/suite.toml"), suite()).unwrap();
    let ran = nights.night("2026-11-03", &[]);
    let (run, page) = (run_id(&nights), nights.page());
    let winner = nights.morning()["waiting"][0]["run_id"].as_str().unwrap().to_owned();
    assert_ne!(run, winner, "{ran:?}");
    let command = |run: &str| format!("`skilltune night dismiss --run {run} writer` if ");
    assert!(page.contains(&(command(&winner) + "you do not want it.")), "{page}");
    assert!(page.contains(&(command(&run) + "it need not be decided.")), "{page}");
    let dismissed = nights.scene.run(&["night", "dismiss", "--run", &run, "writer"]);
    assert_eq!(dismissed.code, Some(0), "{dismissed:?}");
    let morning = nights.scene.run(&["night", "status", "--format", "json"]).json();
    assert_eq!((&morning["waiting"][0]["run_id"], &morning["undecided"]), (&json!(winner), &json!([])));
}
