//! Thirty nights of five skills with all their trouble, through the real binary: two improve, one gets worse from night
//! 12 on although unchanged, one flickers, and the account of one is exhausted in night 5. Night 8 is killed, night 10
//! is missed, the disk is full in night 20, and a person edits a skill before night 25. Outside of CI the month ends
//! with night 6.
//!
//! `just nights` has twenty seeds; `SKILLTUNE_SEEDS` sets their number.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use super::Nights;
use super::broken::Processes;
use crate::background::{Background, Gate};
use crate::kill::setting;
use crate::scene::Ran;
use crate::tier::Tier;

const DONE: &str = include_str!("../../../fixtures/transcripts/claude/write.jsonl");

const NAMES: [&str; 5] = ["drifter", "first", "flicker", "limited", "second"];

fn jobs() -> String {
    let job = |name: &str| {
        let executor = if name == "limited" { "executor = \"claude:opus\"\n" } else { "" };
        format!(
            "[[jobs]]\nskill = \".claude/skills/{name}\"\nsuite = \"suite.toml\"\nruns = 32\nretries = 0\napply = \"auto\"\n{executor}\n"
        )
    };
    format!("parallel = 2\n\n{}", NAMES.into_iter().map(job).collect::<String>())
}

struct Month {
    nights: Nights,
    seed: u64,
    shift: i32,
}

impl Month {
    fn new(seed: u64) -> Self {
        let skills = [("first", 20), ("second", 30), ("drifter", 70), ("flicker", 70), ("limited", 70)];
        let nights = Nights::new(&skills, &json!({}), &jobs());
        let month = Self { nights, seed, shift: 0 };
        month.tell_agents(None);
        month.install_claude();
        month
    }

    fn script(&self) -> Value {
        json!({
            "improve": { "first": { "20": 55, "55": 80 }, "second": { "30": 60, "60": 90 } },
            "shift": { "drifter": self.shift },
            "flicker": { "flicker": [20, self.seed] },
        })
    }

    fn tell_agents(&self, gate: Option<()>) -> Option<Gate> {
        self.nights.scene.write_script(&self.script());
        gate.map(|()| Gate::before("executor", &self.nights.scene, self.script()))
    }

    /// Installs a claude that works unless its account is exhausted.
    fn install_claude(&self) {
        let scene = &self.nights.scene;
        fs::create_dir(scene.path("claude")).unwrap();
        let refused = json!({
            "type": "result", "subtype": "success", "is_error": true, "api_error_status": 429,
            "result": "You've hit your session limit · resets 3am (UTC)",
        });
        fs::write(scene.path("refused"), refused.to_string()).unwrap();
        fs::write(scene.path("done"), DONE).unwrap();
        fs::create_dir(scene.path("bin")).unwrap();
        let at = |name: &str| scene.path(name).display().to_string();
        let script = format!(
            "#!/bin/sh\nif [ -e {} ]; then cat {}; exit 1; fi\necho 'made by limited with quality 70' > out.md\ncat {}\n",
            at("used-up"),
            at("refused"),
            at("done")
        );
        fs::write(scene.path("bin/claude"), script).unwrap();
        fs::set_permissions(scene.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, night: u32) -> Command {
        self.with_claude(self.nights.command(&date(night), &["--scheduled"]))
    }

    fn with_claude(&self, mut command: Command) -> Command {
        let scene = &self.nights.scene;
        command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
        command.env("CLAUDE_CONFIG_DIR", scene.path("claude"));
        command
    }

    fn night(&self, night: u32) -> Ran {
        Ran::of(self.command(night).output().unwrap())
    }

    fn status(&self, moment: &str) -> Ran {
        let mut command = self.nights.scene.command(&["night", "status", "--format", "json"]);
        command.env("SKILLTUNE_NOW", moment).env("TZ", "UTC");
        Ran::of(command.output().unwrap())
    }

    /// Returns the skills that a night reports as worse.
    fn worse(&self) -> Vec<(String, String)> {
        let morning = self.nights.morning();
        let one = |worse: &Value| {
            (worse["job"].as_str().unwrap().to_owned(), worse["kind"].as_str().unwrap().to_owned())
        };
        morning["worse"].as_array().unwrap().iter().map(one).collect()
    }

    fn journal(&self) -> Vec<Value> {
        let path = self.nights.scene.path("project/.skilltune/nights/skilltune-night/history.jsonl");
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).expect("each line is whole")).collect()
    }

    /// Kills a night while an agent works: the agent's answer is kept, and no process survives.
    fn killed_night(&self, night: u32) {
        let gate = self.tell_agents(Some(())).expect("there is a gate");
        let scene = &self.nights.scene;
        let before: usize = scene.calls().values().map(|(begun, _)| begun).sum();
        let background = Background::spawn(scene, self.command(night));
        background.until_begun(before + 1);
        let ours = Processes::of(&background);
        background.kill();
        gate.open();
        ours.see_off();
        assert_eq!(scene.alive(), [0; 0], "seed {}", self.seed);
        self.tell_agents(None);
    }

    /// Runs a night in which no file may grow, as on a full disk.
    fn full_disk(&self, night: u32) {
        let lines = self.journal().len();
        let mut command = self.with_claude(self.nights.scene.command_of(
            "/bin/sh",
            &["-c", "ulimit -f 1; exec \"$0\" \"$@\"", crate::scene::SKILLTUNE],
            &["night", "--scheduled"],
        ));
        command.env("SKILLTUNE_NOW", format!("{}T02:30:00Z", date(night))).env("TZ", "UTC");
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("cannot write"), "{ran:?}");
        assert_eq!(self.journal().len(), lines, "what did not fit has left nothing");
    }
}

fn date(night: u32) -> String {
    format!("2026-11-{:02}", night + 1)
}

/// Returns the first night that reports this kind for a job.
fn first(fallen: &[(u32, String, String)], job: &str, kind: &str) -> Option<u32> {
    fallen.iter().find(|(_, name, word)| name == job && word == kind).map(|(night, _, _)| *night)
}

/// Returns whether the job that only flickers was reported as drifting.
fn month(seed: u64) -> bool {
    let mut month = Month::new(seed);
    let (mut fallen, mut edited) = (Vec::new(), String::new());
    let is_whole = Tier::of_this_run() != Tier::First;
    for night in 1..=if is_whole { 29 } else { 6 } {
        let context = || format!("seed {seed}, night {night}");
        match night {
            8 => {
                month.killed_night(night);
                continue;
            }
            10 => {
                let late = month.status("2026-11-11T12:00:00Z");
                assert_eq!(late.code, Some(4), "{}: {late:?}", context());
                assert!(late.json()["overdue_seconds"].as_u64().unwrap() > 26 * 3600, "{}", context());
                continue;
            }
            20 => {
                month.full_disk(night);
                continue;
            }
            5 => fs::write(month.nights.scene.path("used-up"), "").unwrap(),
            6 => fs::remove_file(month.nights.scene.path("used-up")).unwrap(),
            12 => {
                month.shift = -30;
                month.tell_agents(None);
            }
            25 => {
                let page = month.nights.scene.skill("second").join("SKILL.md");
                edited = fs::read_to_string(&page).unwrap() + "\nA person's own line.\n";
                fs::write(&page, &edited).unwrap();
            }
            _ => {}
        }
        let ran = month.night(night);
        let morning = month.nights.morning();
        let done = morning["done"].as_array().unwrap();
        let of = |job: &str| done.iter().filter(|one| one["job"] == job).count();
        assert!(NAMES.iter().all(|job| of(job) > 0), "{}: each job has its turn: {ran:?}", context());
        for (job, kind) in month.worse() {
            fallen.push((night, job, kind));
        }
        match night {
            1 => {
                assert_eq!(ran.code, Some(0), "{}: {ran:?}", context());
                let better: Vec<_> =
                    morning["better"].as_array().unwrap().iter().map(|one| one["job"].clone()).collect();
                assert_eq!(better.len(), 2, "{}: {better:?}", context());
                assert_eq!(
                    (month.nights.scene.quality("first"), month.nights.scene.quality("second")),
                    (80, 90)
                );
            }
            5 => {
                assert_eq!(morning["paused"][0]["job"], "limited", "{}: {ran:?}", context());
                assert_eq!(morning["paused"][0]["by"], "away");
                assert_eq!(ran.code, Some(5), "{}: it goes on by itself: {ran:?}", context());
            }
            25 => {
                let tuned =
                    done.iter().filter(|one| one["job"] == "second" && one["work"] == "tuned").count();
                assert_eq!(tuned, 1, "{}: what a person has edited is tuned again", context());
                let page = fs::read_to_string(month.nights.scene.skill("second").join("SKILL.md")).unwrap();
                assert_eq!(page, edited, "{}", context());
            }
            _ => {}
        }
        if night > 1 && night != 25 {
            let tuned = done.iter().filter(|one| one["work"] == "tuned").collect::<Vec<_>>();
            assert!(tuned.is_empty(), "{}: nothing has changed: {tuned:?}", context());
        }
    }
    assert!(
        fallen.iter().all(|(_, job, _)| !["first", "second", "limited"].contains(&job.as_str())),
        "{fallen:?}"
    );
    if !is_whole {
        return false;
    }
    let watched = first(&fallen, "drifter", "watch").unwrap_or(99);
    assert!((12..=15).contains(&watched), "seed {seed}: watched from night {watched} on");
    let drifts = first(&fallen, "drifter", "drift").unwrap_or(99);
    assert!((14..=19).contains(&drifts), "seed {seed}: drift from night {drifts} on");
    let began = month.journal().iter().filter(|line| line["event"].get("began").is_some()).count();
    assert_eq!(began, 27, "all but the missed one and that of the full disk");
    first(&fallen, "flicker", "drift").is_some()
}

#[test]
fn thirty_nights_decide_what_they_should_whatever_comes_in_between() {
    let (first, seeds) = (setting("SKILLTUNE_SEED", 0), setting("SKILLTUNE_SEEDS", 1));
    let false_drifts = (first..first + seeds).filter(|&seed| month(seed)).count();
    eprintln!("{seeds} months: a skill that only flickers seemed to drift in {false_drifts}");
    assert!(u64::try_from(false_drifts).unwrap() <= seeds / 20);
}
