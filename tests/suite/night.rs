//! `night`: jobs that run by themselves, and the morning report.

mod alarms;
mod broken;
mod inbox;
mod month;
mod mornings;
mod retries;
mod waiting;
mod week;

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::finished::Finished;
use crate::scene::{Ran, Scene};

/// A project with skills, a suite, and a file of jobs with this content.
pub(crate) struct Nights {
    pub(crate) scene: Scene,
}

impl Nights {
    pub(crate) fn new(skills: &[(&str, u32)], script: &Value, jobs: &str) -> Self {
        let scene = Scene::new(skills, script);
        fs::write(scene.path("project/suite.toml"), suite(12)).unwrap();
        let nights = Self { scene };
        nights.write_jobs(jobs);
        nights
    }

    /// Writes the file as a person, and trusts it.
    pub(crate) fn write_jobs(&self, jobs: &str) {
        fs::write(self.scene.path("project/skilltune-night.toml"), jobs).unwrap();
        let ran = self.scene.run(&["trust", "skilltune-night.toml"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    /// Returns the command of a night that begins at half past two of the day after this one.
    pub(crate) fn command(&self, date: &str, more: &[&str]) -> Command {
        let mut command = self.scene.command(&[&["night"][..], more].concat());
        command.env("SKILLTUNE_NOW", format!("{date}T02:30:00Z")).env("TZ", "UTC");
        command
    }

    pub(crate) fn night(&self, date: &str, more: &[&str]) -> Ran {
        Ran::of(self.command(date, more).output().unwrap())
    }

    pub(crate) fn morning(&self) -> Value {
        let text = fs::read(self.scene.path("project/.skilltune/nights/skilltune-night/night.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    pub(crate) fn page(&self) -> String {
        fs::read_to_string(self.scene.path("project/.skilltune/nights/skilltune-night/night.md")).unwrap()
    }
}

/// Returns scenarios that each ask for qualities from 5 to 95.
pub(crate) fn suite(scenarios: u32) -> String {
    let one = |nth: u32| {
        let demands = (1..=19).map(|step| format!("\"Its quality is at least {}.\"", 5 * step));
        let demands = demands.collect::<Vec<_>>().join(", ");
        format!("[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nexpectations = [{demands}]\n")
    };
    (1..=scenarios).map(one).collect()
}

pub(crate) const WRITER: &str =
    "[[jobs]]\nskill = \".claude/skills/writer\"\nsuite = \"suite.toml\"\nruns = 32\napply = \"auto\"\n";

pub(crate) fn climbs() -> Value {
    json!({ "improve": { "writer": { "20": 60, "60": 80 } } })
}

/// Returns nights after a first one that applied a winner.
fn after_a_win() -> Nights {
    static WON: Finished = Finished::new(|| {
        let nights = Nights::new(&[("writer", 20)], &climbs(), WRITER);
        let ran = nights.night("2026-11-02", &[]);
        assert_eq!((ran.code, nights.scene.quality("writer")), (Some(0), 80), "{ran:?}");
        nights.scene
    });
    Nights { scene: WON.scene() }
}

#[test]
fn a_night_leaves_pages_for_a_browser_and_trend_writes_that_of_a_job_anew() {
    let nights = after_a_win();
    let folder = nights.scene.path("project/.skilltune/nights/skilltune-night");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("No. All is well.") && page.contains("href=\"series/writer.html\""), "{page}");
    let series = folder.join("series/writer.html");
    let before = fs::read_to_string(&series).unwrap();
    fs::remove_file(&series).unwrap();
    let ran = nights.scene.run(&["trend", "writer", "--open"]);
    assert_eq!((ran.code, ran.stdout.trim()), (Some(0), series.to_str().unwrap()), "{ran:?}");
    assert_eq!(fs::read_to_string(&series).unwrap(), before);
    let ran = nights.night("2026-11-03", &[]);
    assert!(ran.stdout.contains("night.md, and for a browser "), "{ran:?}");
}

#[test]
fn a_winner_is_applied_and_from_then_on_the_skill_is_only_measured() {
    let nights = after_a_win();
    let morning = nights.morning();
    assert_eq!(
        (&morning["better"][0]["job"], &morning["better"][0]["place"]),
        (&json!("writer"), &json!("applied"))
    );
    assert_eq!(morning["date"], "2026-11-01", "a night is called by its evening");
    assert!(
        nights.page().starts_with("# Night of 2026-11-01\n\n## Does anything need me?\n\nNo. All is well.\n")
    );
    // The winner was measured on all scenarios at once; from now on, four a night.
    for date in ["2026-11-03", "2026-11-04"] {
        let before = nights.scene.answered();
        let ran = nights.night(date, &[]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(nights.scene.answered() - before, 2 * 4, "an execution and a judgement each: {ran:?}");
        assert_eq!(nights.morning()["done"].as_array().unwrap().len(), 1);
    }
    let trend = nights.scene.run(&["trend", "writer", "--csv"]).stdout;
    let lines: Vec<&str> = trend.lines().collect();
    assert_eq!(lines[0], "date,score,trials,standing,verdict,new_series");
    assert!(lines[1].starts_with("2026-11-01,84.21,12,steady,win,"), "{trend}");
    assert!(lines[3].starts_with("2026-11-03,84.21,4,steady,,false"), "{trend}");
}
