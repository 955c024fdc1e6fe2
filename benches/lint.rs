//! Linting many skills compared with its floor: reading the same bytes.
//!
//! `cargo bench -p skilltune --bench lint -- [--quick] [--in FOLDER]`. Floor and command are separate processes and
//! alternate; the floor walks the same folders and reads every file completely.
#![expect(clippy::disallowed_methods, reason = "a bench works in its own folder")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench talks to people")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

const SKILLTUNE: &str = env!("CARGO_BIN_EXE_skilltune");

/// The argument that makes this program the floor.
const READ: &str = "read";

const SKILLS: usize = 1_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [READ, folder] => read(Path::new(folder)).map(|bytes| println!("{bytes}")),
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
    let (mut times, mut folder) = (15, PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    while let [option, rest @ ..] = options {
        options = match (*option, rest) {
            ("--quick", rest) => {
                times = 5;
                rest
            }
            ("--in", [given, rest @ ..]) => {
                folder = given.into();
                rest
            }
            _ => return Err("usage: lint [--quick] [--in FOLDER]".into()),
        };
    }
    let root = tempfile::tempdir_in(folder)?;
    let skills = root.path().join("skills");
    for nth in 0..SKILLS {
        write_skill(&skills, nth)?;
    }
    let bytes = read(&skills)?;
    let mut samples = Vec::new();
    for _ in 0..times {
        let floor = seconds(Command::new(std::env::current_exe()?).arg(READ).arg(&skills))?;
        let mut lint = Command::new(SKILLTUNE);
        lint.args(["lint", "--format", "json"]).arg(&skills);
        lint.env_clear().env("HOME", root.path()).current_dir(root.path());
        samples.push((floor, seconds(&mut lint)?));
    }
    let floor = median(samples.iter().map(|(floor, _)| *floor));
    let lint = median(samples.iter().map(|(_, lint)| *lint));
    let ratio = median(samples.iter().map(|(floor, lint)| lint / floor));
    println!("{SKILLS} skills, {} files, {:.1} MB", SKILLS * 6, mega(bytes));
    println!("reading {:.1} ms, lint {:.1} ms, ratio {ratio:.2}", floor * 1e3, lint * 1e3);
    println!("lint: {:.0} us a skill, {:.0} MB/s", lint * 1e6 / 1e3, mega(bytes) / lint);
    Ok(())
}

/// Writes a typical skill: a page, three references, two scripts; every tenth has faults.
fn write_skill(root: &Path, nth: usize) -> Result<()> {
    let folder = root.join(format!("skill-{nth}"));
    fs::create_dir_all(folder.join("references"))?;
    fs::create_dir_all(folder.join("scripts"))?;
    let first = if nth.is_multiple_of(10) { "reference/a.md" } else { "references/a.md" };
    let head = format!(
        "---\nname: skill-{nth}\ndescription: Does task {nth} of many. Use when task {nth} is to be done.\n---\n\n\
         # Skill {nth}\n\nRead [the first]({first}), `references/b.md` and `references/c.md`; run `scripts/run.sh` \
         and `scripts/check.py`.\n\n"
    );
    let page = |lines: usize| {
        let step =
            |at| format!("{at}. Do step {at} of `skill-{nth}`, as **said** in [its part](#part-{at}).\n\n");
        (0..lines).map(step).collect::<String>()
    };
    fs::write(folder.join("SKILL.md"), head + &page(60))?;
    for (name, lines) in [("a", 20), ("b", 30), ("c", 40)] {
        fs::write(
            folder.join("references").join(format!("{name}.md")),
            format!("# {name}\n\n{}", page(lines)),
        )?;
    }
    fs::write(folder.join("scripts/run.sh"), "#!/bin/sh\nexec python3 scripts/check.py \"$@\"\n")?;
    fs::write(folder.join("scripts/check.py"), "import sys\n\nprint(len(sys.argv))\n".repeat(20))?;
    Ok(())
}

/// Reads every byte below a folder once.
fn read(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry?;
        if entry.file_type().is_file() {
            bytes += fs::read(entry.path())?.len() as u64;
        }
    }
    Ok(bytes)
}

fn seconds(command: &mut Command) -> Result<f64> {
    let began = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let took = began.elapsed().as_secs_f64();
    // Diagnostics have their own exit code, which is not a failure.
    match output.status.code() {
        Some(0 | 3) if !output.stdout.is_empty() => Ok(took),
        _ => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "megabytes are told with one decimal")]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
