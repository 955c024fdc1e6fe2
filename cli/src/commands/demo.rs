//! `skilltune demo`: tunes a flawed skill and a chain of two offline, with all output shown.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use fs_extra::dir::create_all;
use fs_extra::error::{Error, ErrorKind};
use fs_extra::file::write_all;

use crate::args::runs::DemoArgs;
use crate::commands::cli::{Cli, Command};
use crate::terminal::columns;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::{Environment, Terminal};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::{pictured, shell_path};
use crate::text::width::{fitted, flowed};

macro_rules! files {
    ($($path:literal)*) => {
        [$(($path, include_str!(concat!("../../../fixtures/demo/", $path)))),*]
    };
}

/// The files of the example.
const FILES: [(&str, &str); 27] = files! {
    "chain.toml"
    "logs/autumn.txt"
    "logs/first.txt"
    "logs/spring.txt"
    "logs/summer.txt"
    "logs/urgent.txt"
    "logs/winter.txt"
    "notes/choir.md"
    "notes/garden.md"
    "notes/harbour.md"
    "notes/mill.md"
    "notes/school.md"
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

/// The commands that the demo explains and then runs in the example's folder; users can type them too.
const ACTS: [(&str, &str); 2] = [
    (
        "One skill with a broken link, a script that is not executable, and a long file without a table of contents. \
         Not every fix helps: the scenarios run the script, which shows the fixes that break it.",
        "tune skills/release-notes --suite suite.toml --threshold 97 --max-iterations 8 --trust --yes",
    ),
    (
        "A chain of two skills: the second works on the output of the first.",
        "tune skills/gather-facts,skills/write-brief --chain --suite chain.toml --threshold 95 --trust --yes",
    ),
];

const NEXT: [(&str, &str); 4] = [
    ("skilltune diff", "show what the last run changed"),
    ("skilltune history", "show what happened, and why"),
    ("skilltune rollback", "undo the last run"),
    ("skilltune tune YOUR-SKILL --agent offline", "tune your own skill"),
];

pub fn run(args: &DemoArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let width = columns::data_width(env);
    let say = |text: &str| printer.data(&fitted(text, width));
    let folder = set_up(&env.cwd.join(&args.dir))?;
    say(&format!("Copied a flawed skill and a chain of two into {}.", pictured(&shell_path(&args.dir))))?;
    say("The built-in agent tunes them: no model, no key, no network. It checks structure only.")?;
    let there =
        Environment { cwd: folder, terminal: Terminal { stdin: false, ..env.terminal }, ..env.clone() };
    let mut worst = Exit::Reached;
    for (intro, line) in ACTS {
        say(&format!("\n{intro}\n"))?;
        printer.data(&printer.data.bold(&typed(line, width)))?;
        let words = ["skilltune"].into_iter().chain(line.split(' '));
        let Ok(Some(Command::Loop(command))) = Cli::try_parse_from(words).map(|cli| cli.command) else {
            unreachable!("the lines of the demo begin runs");
        };
        let exit = command.run(&there, printer, super::run_command)?;
        worst = Exit::worst(worst, exit);
        if matches!(exit, Exit::Interrupted | Exit::Terminated) {
            break;
        }
    }
    say(&format!("\n{}", next(&args.dir, width)))?;
    Ok(worst)
}

/// Formats a command for typing, on several lines if it is too long for one.
fn typed(line: &str, width: usize) -> String {
    const GOES_ON: &str = " \\\n";
    let room = width.saturating_sub(GOES_ON.trim_end().len());
    flowed(&format!("$ skilltune {line}"), room, "    ").join(GOES_ON)
}

/// Lists the next commands, each with its purpose beside it, or below it where the line is too narrow.
fn next(dir: &Path, width: usize) -> String {
    let column = NEXT.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    let fits = NEXT.iter().all(|(_, why)| 2 + column + 2 + why.len() <= width);
    let line = |(command, why): (&str, &str)| {
        if fits { format!("  {command:column$}  {why}") } else { format!("  {command}\n      {why}") }
    };
    let mut lines = vec![
        "Look at the result, then tune your own skill:".to_owned(),
        String::new(),
        format!("  cd {}", pictured(&shell_path(dir))),
    ];
    lines.extend(NEXT.map(line));
    lines.join("\n")
}

/// Writes the example into a new or empty folder and returns its real path.
#[expect(clippy::disallowed_methods, reason = "nothing is in the folder yet, and the person named it")]
fn set_up(folder: &Path) -> Result<PathBuf, Complaint> {
    let cannot = |error: Error| {
        Complaint::input(format!("cannot write the example to {}", folder.display()))
            .caused_by(cause(&error))
            .hint("pass a folder that you may write: `skilltune demo DIR`")
    };
    match fs::read_dir(folder).map(Iterator::count) {
        Ok(0) => {}
        Ok(_) => {
            return Err(Complaint::input(format!("{} is not empty", folder.display()))
                .hint("pass another folder: `skilltune demo DIR`"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot(error.into())),
    }
    create_all(folder, false).map_err(cannot)?;
    let real = folder.canonicalize().map_err(|error| cannot(error.into()))?;
    for (path, text) in FILES {
        let path = real.join(path);
        create_all(path.parent().expect("a file of the example is in its folder"), false).map_err(cannot)?;
        write_all(path, text).map_err(cannot)?;
    }
    Ok(real)
}

/// Describes the error. The package puts most of the cause into the error's kind alone.
fn cause(error: &Error) -> String {
    match &error.kind {
        ErrorKind::Io(cause) => cause.to_string(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use fs_extra::dir::{get_dir_content, get_size};

    use super::*;

    #[test]
    fn the_whole_example_is_written() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/demo").canonicalize().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let written = set_up(&folder.path().join("new")).unwrap();
        let names = |root: &Path| {
            let files = get_dir_content(root).unwrap().files.into_iter();
            let mut names: Vec<_> = files.map(|file| file.replace(root.to_str().unwrap(), "")).collect();
            names.sort();
            names
        };
        assert_eq!(names(&written), names(&root));
        assert_eq!(get_size(&written).unwrap(), get_size(&root).unwrap());
    }

    #[test]
    fn its_commands_can_be_copied_from_a_terminal_of_any_width() {
        assert_eq!(typed("tune a --yes", 80), "$ skilltune tune a --yes");
        assert_eq!(typed("tune a --yes", 18), "$ skilltune tune \\\n    a --yes");
        let most = |width| next(Path::new("demo"), width).lines().map(str::len).max().unwrap_or_default();
        assert_eq!((most(100), most(75), most(74)), (75, 75, 45));
    }

    #[test]
    fn a_folder_with_something_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), "text").unwrap();
        assert!(set_up(folder.path()).unwrap_err().what.ends_with("is not empty"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let below_a_file = set_up(&folder.path().join("mine/demo")).unwrap_err();
        assert!(below_a_file.hints[0].ends_with("`skilltune demo DIR`"), "{below_a_file:?}");
    }
}
