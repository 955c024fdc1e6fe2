//! Nights: their journal, and the pages of the last one.

use std::fs;

use serde_json::{Value, json};

use super::stored::Texts;
use super::{JSON, anonymous};
use crate::night::Nights;

/// The name of stored nights, and how they are made.
type Case = (&'static str, fn() -> Nights);

pub(super) const CASES: &[Case] = &[
    ("night-worse-and-better", || {
        let steady = job("steady", "");
        let nights = nights(&steady, 0);
        nights.night("2026-11-02", &[]);
        nights.scene.write_script(&script(-30));
        for date in ["2026-11-03", "2026-11-04", "2026-11-05"] {
            nights.night(date, &[]);
        }
        nights.scene.run(&["night", "ack", "steady"]);
        let more = [job("first", "apply = \"auto\""), job("second", "apply = \"never\"")];
        nights.write_jobs(&[&steady, &*more.concat()].concat());
        nights.night("2026-11-06", &[]);
        nights
    }),
    ("night-disaster", || {
        let without_suite =
            job("second", "suite = \"other.toml\"").replacen("suite = \"suite.toml\"\n", "", 1);
        let nights = nights(&[job("first", ""), without_suite, job("steady", "")].concat(), 0);
        let mut broken = script(0);
        broken["executor_fails_at"] = json!([20]);
        nights.scene.write_script(&broken);
        fs::remove_dir_all(nights.scene.skill("steady")).unwrap();
        nights.night("2026-11-02", &[]);
        nights
    }),
    ("night-out-of-budget", || {
        let jobs = [job("first", ""), job("steady", "")].concat();
        let nights = nights(&format!("[night]\nmax_calls = 60\n\n{jobs}"), 0);
        nights.night("2026-11-02", &[]);
        nights.write_jobs(&jobs);
        nights.night("2026-11-03", &[]);
        nights.write_jobs(&format!("[week]\nmax_calls = 1\n\n{jobs}"));
        nights.night("2026-11-04", &[]);
        nights
    }),
];

fn nights(jobs: &str, shift: i32) -> Nights {
    Nights::new(&[("first", 20), ("second", 30), ("steady", 70)], &script(shift), jobs)
}

fn script(shift: i32) -> Value {
    json!({
        "improve": { "first": { "20": 80 }, "second": { "30": 90 } },
        "shift": { "steady": shift },
    })
}

fn job(name: &str, more: &str) -> String {
    format!(
        "[[jobs]]\nskill = \".claude/skills/{name}\"\nsuite = \"suite.toml\"\nruns = 32\nretries = 0\n{more}\n"
    )
}

/// The journal of all nights, the pages of the last one, and the trend of each job.
pub(super) fn stored(nights: &Nights) -> Texts {
    let scene = &nights.scene;
    let at = ".skilltune/nights/skilltune-night";
    let read = |name: &str| {
        anonymous(scene, &fs::read_to_string(scene.path("project").join(at).join(name)).unwrap())
    };
    let mut texts = Texts::from([("journal".to_owned(), read("history.jsonl"))]);
    texts.extend(
        ["night.md", "night.json", "junit.xml"].map(|name| (format!("files/{at}/{name}"), read(name))),
    );
    for job in ["first", "second", "steady"] {
        for form in ["--csv", JSON] {
            let ran = scene.run(&["trend", job, form]);
            if ran.code == Some(0) {
                let name = format!("said/trend {job} {}", form.replace('=', " "));
                texts.insert(name, anonymous(scene, &ran.stdout));
            }
        }
    }
    texts
}
