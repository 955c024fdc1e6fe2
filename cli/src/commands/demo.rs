//! `skilltune demo`: a flawed skill and a chain of two, tuned offline with everything on show.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Parser as _;

use crate::args::{Cli, Command, DemoArgs};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::{Surroundings, Terminal};
use crate::printer::Printer;

use super::tune;

macro_rules! files {
    ($($path:literal)*) => {
        [$(($path, include_str!(concat!("../../../fixtures/demo/", $path)))),*]
    };
}

/// The example, as it is copied.
const FILES: [(&str, &str); 16] = files! {
    "chain.toml"
    "skills/gather-facts/SKILL.md"
    "skills/gather-facts/references/rules.md"
    "skills/gather-facts/references/sample-notes.md"
    "skills/gather-facts/scripts/run.sh"
    "skills/release-notes/SKILL.md"
    "skills/release-notes/assets/changes.txt"
    "skills/release-notes/references/style-guide.md"
    "skills/release-notes/references/template.md"
    "skills/release-notes/scripts/notes.sh"
    "skills/write-brief/SKILL.md"
    "skills/write-brief/references/example.md"
    "skills/write-brief/scripts/run.sh"
    "suite.toml"
    "skilltune.toml"
    "README.md"
};

/// What is run in the example's folder, as anybody could type it.
const LINES: [&[&str]; 2] = [
    &[
        "tune",
        "skills/release-notes",
        "--suite",
        "suite.toml",
        "--threshold",
        "97",
        "--max-iterations",
        "8",
        "--trust",
        "--yes",
    ],
    &[
        "tune",
        "skills/gather-facts,skills/write-brief",
        "--chain",
        "--suite",
        "chain.toml",
        "--threshold",
        "95",
        "--trust",
        "--yes",
    ],
];

pub fn run(args: &DemoArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let given = around.cwd.join(&args.dir);
    let folder = set_up(&given)?;
    printer.data(&format!(
        "Copied a flawed skill and a chain of two into {}.\n\
         They are tuned by the built-in agent: no model, no key, no network. It looks at structure only.",
        args.dir.display()
    ))?;
    let there = Surroundings {
        cwd: folder,
        terminal: Terminal { stdin: false, ..around.terminal },
        ..around.clone()
    };
    let mut worst = Exit::Reached;
    for line in LINES {
        printer.data(&format!("\n{}", printer.data.bold(&format!("$ skilltune {}", line.join(" ")))))?;
        let words = ["skilltune"].iter().chain(line);
        let Ok(Command::Tune(args)) = Cli::try_parse_from(words).map(|cli| cli.command) else {
            unreachable!("the lines of the demo are lines of tune");
        };
        let exit = tune::run(&args, &there, printer)?;
        if matches!(exit, Exit::Interrupted | Exit::Terminated) {
            return Ok(exit);
        }
        worst = Exit::worst(worst, exit);
    }
    printer.data(&format!("\n{}", next(&args.dir)))?;
    Ok(worst)
}

/// What to type now.
fn next(dir: &Path) -> String {
    format!(
        "Look around, then try it on a skill of yours:\n\
         \n  cd {}\
         \n  skilltune diff                     what has changed in the last run\
         \n  skilltune history                  what happened in it, and why\
         \n  skilltune rollback                 bring back what was there before\
         \n  skilltune tune YOUR-SKILL --agent offline",
        dir.display()
    )
}

/// Writes the example into a folder that is new or empty; its real path.
fn set_up(folder: &Path) -> Result<PathBuf, Complaint> {
    let cannot = |error: io::Error| {
        Complaint::input(format!("cannot write the example into {}", folder.display())).caused_by(error)
    };
    match fs::read_dir(folder).map(Iterator::count) {
        Ok(0) => {}
        Ok(_) => {
            return Err(Complaint::input(format!("{} is not empty", folder.display()))
                .hint("give another folder: `skilltune demo DIR`"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot(error)),
    }
    fs::create_dir_all(folder).map_err(cannot)?;
    let real = folder.canonicalize().map_err(cannot)?;
    for (path, text) in FILES {
        let path = real.join(path);
        fs::create_dir_all(path.parent().expect("a file of the example is in its folder")).map_err(cannot)?;
        fs::write(path, text).map_err(cannot)?;
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_holds_every_file_of_the_example() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/demo");
        let entries = walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap);
        let files = entries.filter(|entry| entry.file_type().is_file());
        let mut there: Vec<String> =
            files.map(|file| file.path().strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect();
        there.sort();
        let mut held = FILES.map(|(path, _)| path.to_owned());
        held.sort();
        assert_eq!(there, held);
    }

    #[test]
    fn a_folder_with_something_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), "text").unwrap();
        assert!(set_up(folder.path()).unwrap_err().what.ends_with("is not empty"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
