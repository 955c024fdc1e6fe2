//! A real agent runs a command that never ends: however the run ends, all processes end, and the run can be resumed.
//!
//! Of the built-in agents only codex gives its model a shell; the others are configured as commands, as a user who
//! wants one would do.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::scene::Scene;
use crate::server::LISTENING;

/// Far longer than any step takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const AGENTS: &str = r#"
[agents.claude-with-a-shell]
command = ["claude", "-p", "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--setting-sources="]
env.pass = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]

[agents.gemini-with-a-shell]
command = ["gemini", "--approval-mode", "yolo", "--model", "gemini-3-pro-preview"]
env.pass = ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"]
env.set = { GEMINI_CLI_TRUST_WORKSPACE = "true" }
"#;

/// A run whose executors wait: each has written a byte into a pipe that it and its command keep open.
struct Held {
    scene: Scene,
    run: Child,
    pipe: File,
    jobs: usize,
}

impl Held {
    fn new(agent: &str, jobs: usize, timeout: &str) -> Self {
        let scene = Scene::new();
        scene.write("project/skilltune.toml", AGENTS);
        let path = scene.path("pipe");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        // Opening does not wait for a writer, but a later read does.
        let pipe: OwnedFd =
            open(&path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let tasks: Vec<String> =
            (1..=jobs).map(|nth| format!("write leaf {nth}. {LISTENING}{} .", path.display())).collect();
        let jobs_text = jobs.to_string();
        let mut arguments = vec![
            "tune",
            "./.claude/skills/haiku",
            "--this-suite-only",
            "--trust",
            "--yes",
            "--format",
            "json",
            "--jobs",
            &jobs_text,
        ];
        arguments.extend(["--timeout", timeout, "--max-iterations", "1"]);
        arguments.extend(["--executor", agent, "--evaluator", "claude", "--improver", "claude"]);
        arguments.extend(tasks.iter().flat_map(|task| ["--scenario", task]));
        let run =
            scene.command("long", "long", &arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        Self { run: run.unwrap(), scene, pipe: File::from(pipe), jobs }
    }

    /// Waits until every command is running.
    fn until_all_hold_on(&mut self) {
        let said = self.hear(self.jobs);
        assert_eq!(said, self.jobs, "{:?}", self.scene.history());
    }

    /// Reads this many bytes, or fewer if all writers are gone.
    fn hear(&mut self, most: usize) -> usize {
        let mut heard = 0;
        while heard < most {
            let patience = Timespec::try_from(PATIENCE).unwrap();
            let ready = poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&patience)).unwrap();
            assert_eq!(ready, 1, "something lives on, or never began: {:?}", self.scene.history());
            let mut words = [0; 64];
            let room = words.len().min(most - heard);
            match self.pipe.read(&mut words[..room]) {
                Ok(0) => break,
                Ok(count) => heard += count,
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
            }
        }
        heard
    }

    /// Fails unless all agents and their commands are gone: only they hold the pipe open.
    fn assert_nothing_is_left(&mut self) {
        self.hear(usize::MAX);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.run), signal).unwrap();
    }

    /// Fails unless the run ends normally once the service answers.
    fn assert_goes_on(&self) {
        self.scene.server.relent();
        let ran = self.scene.run("long", "long", &["resume", "--trust", "--yes", "--format", "json"]);
        assert_eq!(ran.code, Some(3), "one round, and nothing better: {ran:?}");
        assert_eq!(ran.failures(), [""; 0], "{ran:?}");
    }
}

fn each(mut check: impl FnMut(&str, usize)) {
    for agent in ["claude-with-a-shell", "gemini-with-a-shell", "codex:gpt-5.5-codex"] {
        for jobs in [1, 4] {
            check(agent, jobs);
        }
    }
}

#[test]
fn a_kill_of_our_own_leaves_no_command_of_an_agent_and_the_run_goes_on() {
    each(|agent, jobs| {
        let mut held = Held::new(agent, jobs, "600");
        held.until_all_hold_on();
        held.run.kill().unwrap();
        held.run.wait().unwrap();
        held.assert_nothing_is_left();
        held.assert_goes_on();
    });
}

#[test]
fn an_interrupt_leaves_no_command_of_an_agent_and_the_run_goes_on() {
    each(|agent, jobs| {
        let mut held = Held::new(agent, jobs, "600");
        held.until_all_hold_on();
        let mut lines = BufReader::new(held.run.stderr.take().unwrap()).lines();
        for words in ["finishing current calls", "ending current calls"] {
            held.signal(Signal::INT);
            assert!(lines.any(|line| line.unwrap().contains(words)), "it has not said that it is {words}");
        }
        assert_eq!(held.run.wait().unwrap().code(), Some(130));
        held.assert_nothing_is_left();
        held.assert_goes_on();
    });
}

#[test]
fn a_deadline_leaves_no_command_of_an_agent() {
    // In parallel, because most of it is waiting.
    std::thread::scope(|threads| {
        each(|agent, jobs| {
            let agent = agent.to_owned();
            threads.spawn(move || assert_ends_at_its_deadline(&agent, jobs));
        });
    });
}

fn assert_ends_at_its_deadline(agent: &str, jobs: usize) {
    // Enough time to reach the command on a busy machine.
    let mut held = Held::new(agent, jobs, "30");
    let code = held.run.wait().unwrap().code();
    // Their bytes are still in the pipe; after them it must be closed.
    assert!(held.hear(usize::MAX) > 0, "none of them came to its command in time");
    // The failure kind depends on whether the agent prints the model's words before it runs their command.
    let history = held.scene.history();
    let failed = |kind: &str| {
        let of = |line: &&Value| line.pointer("/event/done/outcome/failed/kind") == Some(&Value::from(kind));
        history.iter().filter(of).count()
    };
    // A trial that timed out at work scores 0; one without a response was retried once and is missing.
    let (at_work, silent) = (failed("timed_out"), failed("no_response"));
    assert_eq!((at_work + silent / 2, silent % 2), (jobs, 0), "{at_work} and {silent}");
    assert_eq!(code, Some(if silent == 0 { 3 } else { 4 }), "{at_work} and {silent}");
}
