//! A real agent in the middle of a command that never ends: whatever ends the run ends all of it, and the run goes on.
//!
//! Of the agents that we know only codex gives its model a shell; the others are described as commands, as a user would
//! who wants one.

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

/// Far longer than anything takes, on a machine with other things to do.
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

/// A run whose executors hold on: each has said a word into a pipe that it and its command keep open.
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
        // Without waiting for a writer, but afterwards a read waits.
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

    /// Waits until every command is under way.
    fn until_all_hold_on(&mut self) {
        let said = self.hear(self.jobs);
        assert_eq!(said, self.jobs, "{:?}", self.scene.history());
    }

    /// Reads so many words, or fewer if all who could speak are gone.
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

    /// Whoever holds the pipe open is an agent's command, or one who started it.
    fn assert_nothing_is_left(&mut self) {
        self.hear(usize::MAX);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.run), signal).unwrap();
    }

    /// With a service that answers, it ends as if nothing had been.
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
        let mut told = BufReader::new(held.run.stderr.take().unwrap()).lines();
        for words in ["finishing current calls", "ending current calls"] {
            held.signal(Signal::INT);
            assert!(told.any(|line| line.unwrap().contains(words)), "it has not said that it is {words}");
        }
        assert_eq!(held.run.wait().unwrap().code(), Some(130));
        held.assert_nothing_is_left();
        held.assert_goes_on();
    });
}

#[test]
fn a_deadline_leaves_no_command_of_an_agent() {
    // Side by side, for most of it is waiting.
    std::thread::scope(|threads| {
        each(|agent, jobs| {
            let agent = agent.to_owned();
            threads.spawn(move || assert_ends_at_its_deadline(&agent, jobs));
        });
    });
}

fn assert_ends_at_its_deadline(agent: &str, jobs: usize) {
    // Time enough to come to the command, on a machine with other things to do.
    let mut held = Held::new(agent, jobs, "30");
    let code = held.run.wait().unwrap().code();
    // Their words are still in the pipe; then nobody is there to say another.
    assert!(held.hear(usize::MAX) > 0, "none of them came to its command in time");
    // Which of the two it is depends on whether the agent shows the model's words before it runs their command.
    let history = held.scene.history();
    let failed = |kind: &str| {
        let of = |line: &&Value| line.pointer("/event/done/outcome/failed/kind") == Some(&Value::from(kind));
        history.iter().filter(of).count()
    };
    // The one that was at work scores 0; the other was tried once more, and is missing.
    let (at_work, silent) = (failed("timed_out"), failed("no_response"));
    assert_eq!((at_work + silent / 2, silent % 2), (jobs, 0), "{at_work} and {silent}");
    assert_eq!(code, Some(if silent == 0 { 3 } else { 4 }), "{at_work} and {silent}");
}
