//! Runs of `tune` and of the commands that share its loop.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Case, Made, ended};
use crate::background::{Background, Gate};
use crate::ceilings::priced;
use crate::chain;
use crate::dangers::armed;
use crate::proposing::repository::Repository;
use crate::scene::Scene;
use crate::{blocked, keep_free, outage, panel, unused};

pub(super) const CASES: &[Case] = &[
    ("tune-reached", || {
        let Repository { scene } = committed(&json!({ "40": 90 }));
        ended(&tune(&scene, &["--apply", "never"]), 0);
        for command in [&["apply"][..], &["rollback"], &["apply", "--as", "branch"]] {
            ended(&scene.run(command), 0);
        }
        scene.into()
    }),
    ("tune-start-above", || {
        let scene = Scene::new(&[("writer", 90)], &json!({}));
        ended(&tune(&scene, &["--threshold", "10"]), 0);
        scene.into()
    }),
    ("tune-stalled", || rounds(&json!({ "40": 25 }), &[], 3)),
    ("tune-oscillating", || {
        let script = json!({ "improve": { "writer": { "40": 44, "44": 40 } }, "style": "words" });
        let scene = Scene::new(&[("writer", 40)], &script);
        scene.write_settings("[tune]\nregress = 30\n");
        fs::remove_dir(scene.path("project/.git")).unwrap();
        ended(&tune(&scene, &["--apply", "branch"]), 3);
        scene.into()
    }),
    ("tune-finished", || {
        let scene = Scene::new(&[("writer", 40)], &json!({}));
        ended(&tune(&scene, &["--improver", "offline"]), 3);
        scene.into()
    }),
    ("tune-failed", || {
        let scene = Scene::new(&[("writer", 40)], &json!({ "rubbish": true }));
        ended(&tune(&scene, &[]), 4);
        scene.into()
    }),
    ("tune-lost", || {
        let script = json!({ "improve": { "writer": { "60": 50 } }, "lucky": { "50": 95 } });
        let scene = Scene::new(&[("writer", 60)], &script);
        ended(&tune(&scene, &["--threshold", "90"]), 3);
        scene.into()
    }),
    ("tune-refused", || {
        let scene = drafted(&json!({ "style": "no_skill" }), 7);
        ended(&scene.run(&[&DRAFTS[..], &["--runs", "16"]].concat()), 3);
        scene.into()
    }),
    ("tune-drafts", || {
        let scene = drafted(&json!({ "improve": { "writer": { "20": 50, "50": 80 } } }), 7);
        ended(&scene.run(&[&DRAFTS[..], &["--runs", "16", "--second-improver", "improver"]].concat()), 0);
        scene.into()
    }),
    ("tune-tested", || {
        let scene = drafted(&json!({ "improve": { "writer": { "20": 50, "50": 80 } } }), 12);
        ended(&scene.run(&[&DRAFTS[..], &["--runs", "16"]].concat()), 0);
        scene.into()
    }),
    ("tune-graded", graded),
    ("tune-chain", || {
        let scene = Scene::new(&[("outline", 90), ("writer", 40)], &chain::script());
        ended(&scene.run(&[&["tune", "outline,writer"], &TUNE[2..], &["--chain", TWO]].concat()), 3);
        scene.into()
    }),
    ("tune-panel", || {
        let scene = panel::scene("honest");
        ended(&panel::tune(&scene, &["--panel", "honest,credulous", "--jobs", "1", "--seed", "7"]), 0);
        scene.into()
    }),
    ("tune-unused", || {
        let scene = unused::scene(false);
        ended(&unused::tune(&scene, &["--jobs", "1", "--seed", "7"]), 3);
        scene.into()
    }),
    ("tune-held", held),
    ("tune-interrupted", || signalled(Signal::INT, 130)),
    ("tune-terminated", || signalled(Signal::TERM, 143)),
    ("tune-stopped", || signalled(Signal::USR1, 130)),
    ("tune-ceiling", || ceiling(&["--max-usd", "0.6"], &[])),
    ("tune-ceiling-of-tokens", || ceiling(&["--max-tokens", "1000"], &[])),
    ("tune-ceiling-of-time", || ceiling(&["--max-minutes", "0"], &[])),
    ("tune-ceiling-raised", || ceiling(&["--max-calls", "1"], &["--max-calls", "2"])),
    ("tune-blocked", || {
        let scene = blocked::with_claude();
        ended(&blocked::run(&scene, &blocked::ONCE), 4);
        scene.into()
    }),
    ("tune-waited", || {
        let scene = outage::scene(&["overloaded", "overloaded", "overloaded"], &json!({}));
        let line = [
            &TUNE[..],
            &["--apply=auto", "--agent=claude", "--delivery=inline", "--wait", "--max-iterations=1"],
        ];
        ended(&outage::run(&scene, &line.concat()), 3);
        scene.into()
    }),
    ("tune-kept-free", || {
        let scene = keep_free::scene();
        keep_free::report(&scene, "0.701", 7200);
        ended(&keep_free::tune(&scene, &["--keep-free", "30%"]), 4);
        scene.into()
    }),
    ("tune-recast", || {
        let scene = blocked::with_claude();
        ended(&blocked::run(&scene, &blocked::ONCE), 4);
        let (agent, login) = (scene.path("bin/claude"), scene.path("login"));
        let text = fs::read_to_string(&agent).unwrap();
        fs::write(&agent, text + "# an update\n").unwrap();
        fs::write(login, "").unwrap();
        ended(&blocked::run(&scene, &["resume", "--jobs", "1"]), 3);
        scene.into()
    }),
    ("tune-conflict", || {
        let Made { scene, .. } = held();
        let page = "---\nname: writer\ndescription: A person's own.\n---\n";
        fs::write(scene.skill("writer").join("SKILL.md"), page).unwrap();
        ended(&scene.run(&["resume", "--answer", "apply"]), 3);
        scene.into()
    }),
    ("tune-proposed", || {
        let Repository { scene } = committed(&json!({ "40": 60 }));
        ended(&tune(&scene, &["--apply", "branch", TWO]), 3);
        scene.into()
    }),
    ("calibrate", || {
        let scene = suited(6);
        ended(&scene.run(&[&["calibrate", "writer", "--trials", "2"], &SUITE[..]].concat()), 0);
        scene.into()
    }),
    ("compare-tied", || compared(&expecting(30), 4, 3)),
    ("compare-regressed", || {
        let demand = |nth| if nth % 5 == 0 { falling() } else { expecting(60)(nth) };
        compared(&demand, 10, 3)
    }),
    ("regrade", || {
        let Made { scene, run } = compared(&expecting(30), 4, 3);
        let demand = |nth| if nth == 1 { falling() } else { expecting(60)(nth) };
        fs::write(scene.path("project/suite.toml"), scenarios(demand, 4)).unwrap();
        let ran = scene.run(&["regrade", &run, "--yes", "--format", "json", "--jobs", "1"]);
        let run = ran.json()["run_id"].as_str().unwrap().to_owned();
        Made { scene, run }
    }),
    ("try", || {
        let scene = suited(3);
        scene.run(&["suite", "check", "suite.toml", "--try", "--yes"]);
        scene.into()
    }),
];

const TUNE: [&str; 10] =
    ["tune", "writer", "write a page", "--yes", "--format", "json", "--seed", "7", "--jobs", "1"];

const SUITE: [&str; 9] = ["--suite", "suite.toml", "--yes", "--format", "json", "--seed", "7", "--jobs", "1"];

const DRAFTS: [&str; 11] = [
    "tune",
    "writer",
    "--search=draft",
    "--suite",
    "suite.toml",
    "--yes",
    "--format",
    "json",
    "--seed",
    "7",
    "--jobs=1",
];

fn tune(scene: &Scene, more: &[&str]) -> crate::scene::Ran {
    scene.run(&[&TUNE[..], more].concat())
}

/// The flag for two rounds.
const TWO: &str = "--max-iterations=2";

/// Makes a search from quality 40 with these edits.
fn rounds(steps: &Value, more: &[&str], code: i32) -> Made {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": steps } }));
    ended(&tune(&scene, more), code);
    scene.into()
}

/// Makes a run that waits for an answer, because its edits are dangerous.
fn held() -> Made {
    let scene = armed();
    ended(&scene.run(&["tune", "writer", "write a page", "--apply", "ask", "--jobs", "1", TWO]), 3);
    scene.into()
}

/// Makes a run that receives the signal during its first trial.
fn signalled(signal: Signal, code: i32) -> Made {
    let script = json!({ "improve": { "writer": { "40": 60, "60": 90 } } });
    let scene = Scene::new(&[("writer", 40)], &script);
    let gate = Gate::before("executor", &scene, script);
    let run = Background::start(&scene, &TUNE);
    run.until_begun(1);
    run.signal(signal);
    if signal == Signal::TERM {
        ended(&run.wait(), code);
        gate.remove();
    } else {
        run.until_said("finishing current calls");
        gate.open();
        ended(&run.wait(), code);
    }
    scene.into()
}

fn ceiling(low: &[&str], high: &[&str]) -> Made {
    let scene = priced(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 95 } } }));
    ended(&tune(&scene, low), 5);
    if !high.is_empty() {
        ended(&scene.run(&[&["resume", "--yes", "--jobs", "1"], high].concat()), 5);
    }
    scene.into()
}

/// Creates a repository with a skill that is edited in these steps.
fn committed(steps: &Value) -> Repository {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": steps } }));
    let repository = Repository::of(scene);
    repository.commit("Add the skill");
    repository
}

fn scenarios(demands: impl Fn(u32) -> String, count: u32) -> String {
    let one = |nth: u32| {
        format!("[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\n{}\n", demands(nth))
    };
    (1..=count).map(one).collect()
}

fn expecting(least: u32) -> impl Fn(u32) -> String {
    move |_| format!("expectations = [\"Its quality is at least {least}.\"]")
}

/// Returns an expectation that only the worse version meets.
fn falling() -> String {
    r#"expectations = ["The result says \"with quality 50\"."]"#.to_owned()
}

/// Compares no skill, which reaches quality 50, with one of quality 80.
fn compared(demands: &dyn Fn(u32) -> String, count: u32, code: i32) -> Made {
    let scene = Scene::new(&[("writer", 80)], &json!({}));
    fs::write(scene.path("project/suite.toml"), scenarios(demands, count)).unwrap();
    ended(&scene.run(&[&["compare", "none", "writer"], &SUITE[..]].concat()), code);
    scene.into()
}

fn suited(count: u32) -> Scene {
    let scene = Scene::new(&[("writer", 80)], &json!({}));
    let demand = |nth| {
        let least = if nth % 2 == 0 { 90 } else { 45 };
        format!("expectations = [\"Its quality is at least 60.\", \"Its quality is at least {least}.\"]")
    };
    fs::write(scene.path("project/suite.toml"), scenarios(demand, count)).unwrap();
    scene
}

/// Creates a suite for a search by drafts.
fn drafted(script: &Value, many: u32) -> Scene {
    let scene = Scene::new(&[("writer", 20)], script);
    let least = |nth| if nth % 2 == 0 { 40 } else { 70 };
    let suite = scenarios(|nth| expecting(least(nth))(nth), many);
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    scene
}

/// Makes a run with checks of each kind, a setup, and a grading command.
fn graded() -> Made {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 80 } } }));
    fs::write(scene.path("project/count.sh"), "grep -q 'quality [6-9]' out.md\n").unwrap();
    let suite = "[[scenarios]]\nid = \"one\"\ndescription = \"Write it\"\nsetup = [\"sh\", \"-c\", \"echo x > in.md\"]\n\
                 [[scenarios.checks]]\nid = \"made\"\nfile = \"out.md\"\n\
                 [[scenarios.checks]]\nid = \"counted\"\ncommand = [\"sh\", \"{grader}/count.sh\"]\ngrader = [\"count.sh\"]\nweight = 2\n\
                 [[scenarios.checks]]\nid = \"said\"\npattern = \"(?i)done\"\nin = \"answer\"\n\
                 [[scenarios]]\nid = \"two\"\ndescription = \"Write it again\"\nexpectations = [\"Its quality is at least 80.\"]\n";
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    let more = ["--trust", TWO, "--threshold", "100", "--this-suite-only"];
    ended(&scene.run(&[&["tune", "writer"], &SUITE[..], &more].concat()), 3);
    scene.into()
}
