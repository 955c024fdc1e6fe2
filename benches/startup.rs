//! The startup cost of a command: ours on a small skill, compared with a program that does nothing.
//!
//! `cargo bench -p skilltune --bench startup -- [--quick] [--in FOLDER]`. The commands alternate, each with the floor
//! of the same moment: this program, started again to exit at once.
#![expect(clippy::disallowed_methods, reason = "a bench works in its own folder")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench talks to people")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use tempfile::TempDir;

const SKILLTUNE: &str = env!("CARGO_BIN_EXE_skilltune");

/// The measured commands; each must succeed.
const COMMANDS: [&[&str]; 3] = [&["--version"], &["status"], &["lint", "./writer"]];

/// The argument that makes this program the floor.
const NOTHING: &str = "nothing";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [NOTHING] => return ExitCode::SUCCESS,
        options => compare(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(mut options: &[&str]) -> Result<()> {
    let (mut times, mut folder) = (501, PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    while let [option, rest @ ..] = options {
        options = match (*option, rest) {
            ("--quick", rest) => {
                times = 51;
                rest
            }
            ("--in", [given, rest @ ..]) => {
                folder = given.into();
                rest
            }
            _ => return Err("usage: startup [--quick] [--in FOLDER]".into()),
        };
    }
    let scene = Scene::new(&folder)?;
    let mut samples = vec![Vec::new(); COMMANDS.len()];
    for _ in 0..times {
        for (command, samples) in COMMANDS.iter().zip(&mut samples) {
            let floor = milliseconds(Command::new(std::env::current_exe()?).arg(NOTHING))?;
            samples.push((floor, milliseconds(scene.skilltune().args(*command))?));
        }
    }
    println!("                     floor     command   more   ratio");
    for (command, samples) in COMMANDS.iter().zip(&samples) {
        let floor = median(samples.iter().map(|(floor, _)| *floor));
        let took = median(samples.iter().map(|(_, took)| *took));
        let more = median(samples.iter().map(|(floor, took)| took - floor));
        let ratio = median(samples.iter().map(|(floor, took)| took / floor));
        println!("{:<16} {floor:>6.2} ms   {took:>6.2} ms  {more:>5.2}  {ratio:>6.2}", command.join(" "));
    }
    Ok(())
}

fn milliseconds(command: &mut Command) -> Result<f64> {
    let began = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    if output.status.success() {
        return Ok(took);
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into())
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// A home and a project with one small skill and one run of it.
struct Scene {
    root: TempDir,
}

impl Scene {
    fn new(folder: &Path) -> Result<Self> {
        let scene = Self { root: tempfile::tempdir_in(folder)? };
        for folder in ["home/.config/skilltune", "project/.git", "project/writer"] {
            fs::create_dir_all(scene.root.path().join(folder))?;
        }
        scene.write(
            "project/writer/SKILL.md",
            "---\nname: writer\ndescription: Writes a line. Use when a line is to be written.\n---\n\nWrite it.\n",
        )?;
        // The agent gives no answer: the run fails but exists.
        scene.write("home/.config/skilltune/skilltune.toml", &agent()?)?;
        let tune = ["tune", "./writer", "Write a line", "--yes", "--agent", "mute"];
        scene.skilltune().args(tune).stdin(Stdio::null()).output()?;
        Ok(scene)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.root.path().join(path), text)?)
    }

    fn skilltune(&self) -> Command {
        let mut command = Command::new(SKILLTUNE);
        command.current_dir(self.root.path().join("project"));
        command.env_clear().env("HOME", self.root.path().join("home"));
        command
    }
}

fn agent() -> Result<String> {
    let exe = std::env::current_exe()?;
    Ok(format!("[agents.mute]\ncommand = [{:?}, {NOTHING:?}]\n", exe.to_str().ok_or("an odd path")?))
}
