//! The cost that skilltune adds to the real agents: the same prompts given to the bare program, and whole rounds of
//! `tune`.
//!
//! `tests/agents/run bench` installs the agents and blocks the network. They talk to the tests' model server, which
//! answers at once; with a real model the shares are smaller, because the model takes longer.
#![expect(clippy::disallowed_methods, reason = "a bench works in its own folder")]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench talks to people, and stops where it fails"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use scene::{Ran, Scene};
use serde_json::Value;
use skilltune_orchestrator::agent::{Agent, Real, Slots};
use skilltune_phases::base::role::Rights;

#[path = "../tests/agents/scene.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod scene;
#[path = "../tests/agents/server/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests need more of it")]
mod server;

const AGENTS: [(&str, Option<&str>); 4] = [
    ("claude", None),
    ("gemini", Some("gemini-3-pro-preview")),
    ("codex", Some("gpt-5.5-codex")),
    ("opencode", Some("openai-compatible/large")),
];
/// Each task is executed once and judged once.
const TASKS: u32 = 6;

fn main() {
    println!("agent      calls   alone, a call   in skilltune   between calls   share of the agents' time");
    for (name, model) in AGENTS {
        let scene = Scene::new();
        let (whole, ran) = tune(&scene, name, model);
        let inside: Vec<f64> = ran.history.iter().filter_map(milliseconds).collect();
        let calls = 2 * TASKS;
        assert_eq!((ran.code, inside.len()), (Some(3), calls as usize), "{ran:?}");
        let sum: f64 = inside.iter().sum();
        let judged = median(ran.history.iter().filter(|line| is_judged(line)).filter_map(milliseconds));
        let alone = median((0..TASKS).map(|_| alone(&scene, name, model)));
        let between = (whole - sum) / f64::from(calls);
        let share = 100.0 * (whole - sum) / sum;
        println!(
            "{name:<9} {calls:>6}   {alone:>10.0} ms   {judged:>9.0} ms   {between:>10.1} ms   {share:>20.1} %"
        );
    }
}

/// Runs one round, one call at a time, and times it with our own start and end.
fn tune(scene: &Scene, name: &str, model: Option<&str>) -> (f64, Ran) {
    let agent = model.map_or(name.to_owned(), |model| format!("{name}:{model}"));
    let tasks: Vec<String> = (1..=TASKS).map(|nth| format!("write one about leaf {nth}")).collect();
    let mut arguments = vec!["tune", "./.claude/skills/haiku", "--yes", "--format", "json", "--jobs", "1"];
    arguments.extend(["--max-iterations", "1", "--agent", &agent]);
    arguments.extend(tasks.iter().flat_map(|task| ["--scenario", task]));
    let began = Instant::now();
    let ran = scene.run("good", "good", &arguments);
    (began.elapsed().as_secs_f64() * 1e3, ran)
}

/// Gives a judge's prompt of that round directly to the program, as skilltune would, and returns the time.
fn alone(scene: &Scene, name: &str, model: Option<&str>) -> f64 {
    let ambient: BTreeMap<String, String> = scene
        .command("good", "good", &[])
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.to_owned())))
        .collect();
    let program = scene.path("bin").join(name);
    let agent = Agent::real(Real::named(name).unwrap(), model.map(str::to_owned), program, &ambient);
    // The model server recognizes a workspace by its path.
    let desk = scene.path("home/.cache/skilltune/work/bench/alone");
    let _ = fs::remove_dir_all(&desk);
    let (space, temp) = (desk.join("space"), desk.join("tmp"));
    for folder in [&space, &temp] {
        fs::create_dir_all(folder).unwrap();
    }
    for fitting in agent.agent_files(Rights::Read, false, "") {
        fs::create_dir_all(space.join(fitting.folder)).unwrap();
        fs::write(space.join(fitting.folder).join(fitting.file), fitting.text).unwrap();
    }
    let prompt = judges_prompt(scene);
    let slots = Slots {
        rights: Rights::Read,
        workspace: &space,
        temp: &temp,
        prompt_file: &prompt,
        skills: false,
        usd: None,
        schema: None,
    };
    let argv = agent.argv(slots);
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).env_clear().envs(agent.env(Rights::Read, &temp, [])).current_dir(&space);
    command.stdin(File::open(&prompt).unwrap()).stderr(Stdio::null());
    command.stdout(File::create(desk.join("stdout")).unwrap());
    let began = Instant::now();
    let status = command.status().unwrap();
    let took = began.elapsed().as_secs_f64() * 1e3;
    assert!(status.success(), "{}", fs::read_to_string(desk.join("stdout")).unwrap());
    took
}

fn judges_prompt(scene: &Scene) -> PathBuf {
    let prompts = scene.files("prompt.md").into_iter();
    let mut judges = prompts.filter(|path| fs::read_to_string(path).unwrap().starts_with("# Judge"));
    judges.next().unwrap()
}

fn is_judged(line: &Value) -> bool {
    line.pointer("/event/done/outcome/judged").is_some()
}

fn milliseconds(line: &Value) -> Option<f64> {
    line.pointer("/event/done/spent/ms")?.as_f64()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
