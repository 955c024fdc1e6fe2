//! Nights: their journal, and the pages of the last one.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};
use walkdir::WalkDir;

use super::stored::Texts;
use super::{JSON, anonymous};
use crate::background::{Background, Gate};
use crate::keep_free;
use crate::night::Nights;
use crate::proposing::repository::Repository;

/// The name of stored nights, and the function that makes them.
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
    ("night-proposing", || {
        let jobs = [job("first", "apply = \"branch\""), job("second", "apply = \"patch\"")].concat();
        let repository = Repository::of(nights(&jobs, 0).scene);
        repository.commit("Begin");
        let nights = Nights { scene: repository.scene };
        nights.night("2026-11-02", &[]);
        nights.night("2026-11-03", &["--changed-since", "HEAD"]);
        nights
    }),
    ("night-away", || {
        let claude = "executor = \"claude\"\npriority = 2\n";
        let jobs = [job("first", claude), job("second", claude), job("steady", "")].concat();
        let nights = nights(&format!("keep_free = \"30%\"\n{jobs}"), 0);
        keep_free::install(&nights.scene);
        keep_free::report(&nights.scene, "0.71", 7200);
        keep_free::with_claude(&nights.scene, nights.command("2026-11-02", &[]));
        nights
    }),
    ("night-interrupted", || {
        let jobs = [job("first", ""), job("steady", "")].concat();
        let nights = nights(&format!("until = \"06:30\"\n{jobs}"), 0);
        let clock = nights.scene.path("clock");
        fs::write(&clock, "2026-11-02T02:30:00Z").unwrap();
        let gate = Gate::before("executor", &nights.scene, script(0));
        let mut command = nights.command("2026-11-02", &[]);
        command.env("SKILLTUNE_NOW", &clock);
        let night = Background::spawn(&nights.scene, command);
        night.until_begun(1);
        fs::write(&clock, "2026-11-02T06:30:00Z").unwrap();
        night.until_said("it is time to stop");
        gate.open();
        night.wait();
        let begun: usize = nights.scene.calls().values().map(|(begun, _)| begun).sum();
        let gate = Gate::before("executor", &nights.scene, script(0));
        let night = Background::spawn(&nights.scene, nights.command("2026-11-03", &[]));
        night.until_begun(begun + 1);
        night.signal(Signal::TERM);
        night.wait();
        gate.remove();
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

/// Returns the journal of all nights, the pages of each, and the trend of each job.
pub(super) fn stored(nights: &Nights) -> Texts {
    let scene = &nights.scene;
    let at = ".skilltune/nights/skilltune-night";
    let read = |name: &str| {
        anonymous(scene, &fs::read_to_string(scene.path("project").join(at).join(name)).unwrap())
    };
    let mut texts = Texts::from([("journal".to_owned(), read("history.jsonl"))]);
    let mornings = WalkDir::new(scene.path("project").join(at).join("mornings")).into_iter().flatten();
    let is_text = |path: &Path| path.extension().is_some_and(|end| end != "html");
    for page in mornings.filter(|entry| entry.file_type().is_file() && is_text(entry.path())) {
        let name = format!("mornings/{}", page.file_name().to_str().unwrap());
        texts.insert(format!("files/{at}/{name}"), read(&name));
    }
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
