//! Runs whose calls are made by workers. Each worker has a HOME of its own in the scene, and only its settings describe
//! the agents, unless a test says otherwise.

mod exported;
mod forged;
mod hostile;
mod lost;
mod refused;

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::night::{Nights, WRITER, suite};
use crate::outcome::{assert_tidy, repeated};
use crate::scene::{FAKE_AGENT, Listing, Ran, SKILLTUNE, Scene, listing};

/// The names of the workers follow.
const TUNE: [&str; 9] =
    ["tune", "writer", "write a page", "--yes", "--format", "json", "--seed", "7", "--workers"];
const RESUME: [&str; 4] = ["resume", "--yes", "--format", "json"];

const ROLES: [&str; 3] = ["executor", "evaluator", "improver"];

fn rising() -> Value {
    json!({ "improve": { "writer": { "40": 60, "60": 90 } } })
}

/// Creates a project, and workers that have the agents.
fn scene(script: &Value, workers: &[&str]) -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    scene.write_script(script);
    for name in workers {
        describe(&scene, name, &[FAKE_AGENT], "");
    }
    let workers: Vec<_> = workers.iter().map(|name| (*name, worker(&scene, name))).collect();
    settle(&scene, &workers);
    scene
}

/// Returns the command of a worker, with nothing of the coordinator's environment.
fn worker(scene: &Scene, name: &str) -> Vec<String> {
    let home = format!("HOME={}", scene.path(name).display());
    let words = ["env", "-i", &home, "PATH=/usr/bin:/bin", SKILLTUNE, "step", "--take", "-"];
    words.map(str::to_owned).into()
}

/// Returns a command that runs this script, and then the command, if the script leaves that to it.
fn shell(script: &str, command: Vec<String>) -> Vec<String> {
    let script = format!("{script}\nexec \"$@\"");
    ["sh".to_owned(), "-c".to_owned(), script, "sh".to_owned()].into_iter().chain(command).collect()
}

/// Returns a condition of a shell that holds once the run has begun: agents are described before.
fn has_begun(scene: &Scene) -> String {
    format!("ls {}/*/history.jsonl > /dev/null 2>&1", scene.path("project/.skilltune/runs").display())
}

/// Returns the settings that describe the agents, each with these lines.
fn agents(scene: &Scene, program: &[&str], lines: &str) -> String {
    let script = scene.path("script.json").display().to_string();
    let agent = |role: &str| {
        let command = [program, &[role, &script]].concat();
        format!("[agents.{role}]\n{lines}command = {command:?}\n")
    };
    ROLES.map(agent).concat()
}

/// As many scenarios as a comparison needs, with the one of a run, and several calls at a time.
const SEVEN_MORE: [&str; 16] = [
    "--scenario",
    "b",
    "--scenario",
    "c",
    "--scenario",
    "d",
    "--scenario",
    "e",
    "--scenario",
    "f",
    "--scenario",
    "g",
    "--scenario",
    "h",
    "--search",
    "rounds",
];

/// Describes the agents in the settings of a worker.
fn describe(scene: &Scene, worker: &str, program: &[&str], lines: &str) {
    let folder = scene.path(worker).join(".config/skilltune");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("skilltune.toml"), agents(scene, program, lines)).unwrap();
}

/// Writes the coordinator's settings: which agent has which role, and the commands of the workers.
fn settle(scene: &Scene, workers: &[(&str, Vec<String>)]) {
    let roles = ROLES.map(|role| format!("{role} = {role:?}\n")).concat();
    let workers = workers.iter().map(|(name, run)| format!("[workers.{name}]\nrun = {run:?}\n"));
    let text = format!(
        "[limits]\nbackoff_ms = 1\n[roles]\n{roles}[tune]\napply = \"auto\"\n{}",
        workers.collect::<Vec<_>>().concat()
    );
    fs::write(scene.path("config/skilltune/skilltune.toml"), text).unwrap();
}

fn tune(scene: &Scene, workers: &str, more: &[&str]) -> Ran {
    scene.run(&[&TUNE[..], &[workers], more].concat())
}

/// The end of a run.
#[derive(Debug, PartialEq)]
struct End {
    code: Option<i32>,
    decided: Vec<Value>,
    skill: Listing,
}

impl End {
    fn of(scene: &Scene, ran: &Ran) -> Self {
        Self { code: ran.code, decided: scene.events("decided"), skill: listing(&scene.skill("writer")) }
    }

    /// Returns the end of the same run without workers.
    fn here(more: &[&str]) -> Self {
        let scene = Scene::new(&[("writer", 40)], &rising());
        let ran = scene.run(&[&TUNE[..8], more].concat());
        assert_eq!((ran.code, scene.quality("writer")), (Some(0), 90), "{ran:?}");
        Self::of(&scene, &ran)
    }
}

/// Returns the ends of all calls of the run.
fn calls(scene: &Scene) -> Vec<Value> {
    scene.events("done").into_iter().filter(|done| !done["call"].is_null()).collect()
}

/// Returns the names of the workers that made calls.
fn makers(scene: &Scene) -> BTreeSet<String> {
    let calls = calls(scene);
    let name = |call: &Value| call["machine"]["worker"].as_str().unwrap_or_default().to_owned();
    calls.iter().map(name).collect()
}

/// Returns which workers refused, and why.
fn refusals(scene: &Scene) -> Vec<(String, String)> {
    let noted = scene.events("noted").into_iter();
    let refused = noted.filter_map(|noted| noted.get("worker_refused").cloned());
    let text = |refused: &Value, field: &str| refused[field].as_str().unwrap().to_owned();
    let mut all: Vec<_> = refused.map(|one| (text(&one, "worker"), text(&one, "why"))).collect();
    all.sort();
    all
}

/// Returns how calls failed: kinds and reasons.
fn failures(scene: &Scene) -> Vec<(String, String)> {
    let calls = calls(scene);
    let failed = calls.iter().map(|call| &call["outcome"]["failed"]).filter(|failed| !failed.is_null());
    let text = |failed: &Value, field: &str| failed[field].as_str().unwrap().to_owned();
    failed.map(|failed| (text(failed, "kind"), text(failed, "why"))).collect()
}

/// Fails if a file of a call is left in the workspaces of a worker.
fn assert_cleared(scene: &Scene, worker: &str) {
    let days = fs::read_dir(scene.path(worker).join(".cache/skilltune/worker")).unwrap();
    let spaces = days.map(|day| day.unwrap().path().join("work")).filter(|work| work.exists());
    let left = spaces.flat_map(|work| listing(&work)).map(|(path, ..)| path);
    let left: Vec<_> = left.filter(|path| path.components().count() > 1).collect();
    assert!(left.is_empty(), "{worker}: {left:?}");
}

fn assert_lacks(bytes: &[u8], key: &str, what: &str) {
    assert!(!bytes.windows(key.len()).any(|part| part == key.as_bytes()), "{what} has the key");
}

#[test]
fn two_workers_decide_as_one_machine_and_journal_and_report_say_which_made_each_call() {
    const MORE: [&str; 16] = SEVEN_MORE;
    let scene = scene(&rising(), &["attic", "den"]);
    let here = scene.refusal(&[&TUNE[..8], &MORE].concat());
    assert!(here.contains("unknown agent `executor`"), "this machine has no agent: {here}");
    let ran = tune(&scene, "attic,den", &MORE);
    assert_eq!(End::of(&scene, &ran), End::here(&MORE), "{ran:?}");
    assert_tidy(&scene, "two workers");
    assert_eq!(repeated(&scene), 0);
    for worker in ["attic", "den"] {
        assert_cleared(&scene, worker);
    }

    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let calls = calls(&scene);
    assert_eq!(makers(&scene), BTreeSet::from(["attic".to_owned(), "den".to_owned()]));
    assert!(calls.iter().all(|call| call["machine"]["host"] == host.as_str()), "{calls:?}");
    let report = fs::read_to_string(scene.run_folder().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let machines = report["workers"].as_array().unwrap();
    let of = |worker: &str| {
        let own = machines.iter().filter(|machine| machine["worker"] == worker);
        own.map(|machine| machine["calls"].as_u64().unwrap()).sum::<u64>()
    };
    assert!(of("attic") > 0 && of("den") > 0, "{machines:?}");
    assert_eq!(of("attic") + of("den"), calls.len() as u64, "{machines:?}");
    assert!(machines.iter().all(|machine| machine["host"] == host.as_str()), "{machines:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("\n## Machines\n") && report.contains("| den |"), "{report}");
    let history = scene.run(&["history"]).stdout;
    assert!(history.contains(&format!("on attic ({host})")), "{history}");
}

/// `srun` passes on whole lines only, and a payload has no reason to end with one.
#[test]
fn a_launcher_that_passes_on_whole_lines_is_a_worker() {
    let scene = scene(&rising(), &["attic"]);
    let lines = "\"$@\" | grep --text --line-buffered ''\nexit";
    settle(&scene, &[("attic", shell(lines, worker(&scene, "attic")))]);
    let ran = tune(&scene, "attic", &[]);
    assert_eq!(End::of(&scene, &ran), End::here(&[]), "{ran:?}");
    assert!(calls(&scene).iter().all(|call| call["machine"]["lost"].is_null()), "{:?}", calls(&scene));
}

#[test]
fn the_jobs_of_a_night_are_made_by_workers() {
    let nights = Nights { scene: scene(&rising(), &["attic"]) };
    fs::write(nights.scene.path("project/suite.toml"), suite(12)).unwrap();
    nights.write_jobs(WRITER);
    let ran = nights.night("2026-11-02", &["--workers", "attic"]);
    assert_eq!((ran.code, nights.scene.quality("writer")), (Some(0), 90), "{ran:?}");
    for run in fs::read_dir(nights.scene.path("project/.skilltune/runs")).unwrap() {
        let journal = fs::read_to_string(run.unwrap().path().join("history.jsonl")).unwrap();
        let events = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let calls: Vec<Value> =
            events.map(|line| line["event"]["done"].clone()).filter(|done| !done["call"].is_null()).collect();
        assert!(
            !calls.is_empty() && calls.iter().all(|call| call["machine"]["worker"] == "attic"),
            "{calls:?}"
        );
    }
}

#[test]
fn a_key_of_a_workers_agent_does_not_leave_its_machine() {
    const KEY: &str = "q7rt2xw9-of-a-service";
    const VARIABLE: &str = "SERVICE_LOGIN";
    for script in [
        json!({ "improve": { "writer": { "40": 60 } }, "swaps": { "evaluator": ["raise the quality", VARIABLE] } }),
        json!({ "executor_fails_at": [40], "swaps": { "executor": ["luck", VARIABLE] } }),
    ] {
        let scene = scene(&script, &["den"]);
        describe(&scene, "den", &[FAKE_AGENT], &format!("env.set.{VARIABLE} = {KEY:?}\n"));
        let recording = format!("\"$@\" | tee -a {}\nexit", scene.path("wire").display());
        settle(&scene, &[("den", shell(&recording, worker(&scene, "den")))]);
        let ran = tune(&scene, "den", &["--max-iterations", "2"]);
        let journal = fs::read_to_string(scene.run_folder().join("history.jsonl")).unwrap();
        assert!(journal.contains("[hidden]"), "the agent told its key: {ran:?}");
        assert_lacks(ran.stdout.as_bytes(), KEY, "stdout");
        assert_lacks(ran.stderr.as_bytes(), KEY, "stderr");
        let wire = fs::read(scene.path("wire")).unwrap();
        assert!(String::from_utf8_lossy(&wire).contains("[hidden]"), "the worker hides it");
        assert_lacks(&wire, KEY, "the stream");
        for folder in ["project", "config", "state", "cache"] {
            for (path, _, bytes) in listing(&scene.path(folder)) {
                assert_lacks(&bytes, KEY, &format!("{folder}/{}", path.display()));
            }
        }
    }
}

#[test]
fn a_project_neither_describes_nor_chooses_workers() {
    for settings in ["[workers.mine]\nrun = [\"touch\", \"here\"]\n", "[calls]\nworkers = [\"den\"]\n"] {
        let scene = scene(&rising(), &["den"]);
        fs::write(scene.path("project/skilltune.toml"), settings).unwrap();
        let refused = scene.refusal(&[&TUNE[..], &["den"]].concat());
        assert!(refused.contains("only your own settings may set"), "{refused}");
        assert!(refused.contains("which sends calls to other machines"), "{refused}");
    }
}
