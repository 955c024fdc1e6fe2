//! Command lines that pages show: each is run in a prepared project, page by page, in the order of the page.
//!
//! A comment at the end of a line, `# exits with N`, says which exit code it has. Others may end with any code but 1 and
//! 2: a page may show a goal that is missed, but no line that fails or that the program does not understand. Outside of
//! CI the lines of every third page run.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use regex::Regex;

use super::page::Page;
use super::world::World;
use crate::scene::Ran;
use crate::tier::sample;

const OURS: &str = "skilltune ";

/// Lines of other programs by how they begin, and what runs them, or why nothing does.
const OTHERS: [(&str, &str); 9] = [
    ("cargo run -- demo", "`readme` runs the demo"),
    ("cargo test --workspace --all-features", "`.ci/run` runs it"),
    ("cargo install --path cli", "it changes ~/.cargo; `.ci/run` builds the same program"),
    ("cargo uninstall skilltune", "it changes ~/.cargo"),
    ("head ~/.local/state/skilltune/", "it only shows files"),
    ("rm -r ~/.local/state/skilltune ", "`installing` and `privacy` say which folders there are"),
    ("rm -r .skilltune", "`privacy` says what is in a project"),
    ("git fetch", "it needs a server"),
    ("git show ", "it only shows a file of a branch; `evolve_verify` reads the same"),
];

/// What placeholders stand for, besides the run, which depends on the page.
const PLACEHOLDERS: [(&str, &str); 6] = [
    ("SKILL", "writer"),
    ("BRANCH", "skilltune/spec"),
    ("REV", "HEAD~1"),
    ("TASK", "parser"),
    ("FOLDER", "out"),
    ("FILE", "suite.toml"),
];

/// Returns whether a line is a command of ours or of a program that pages name.
pub(super) fn is_command(line: &str) -> bool {
    line.starts_with(OURS) || OTHERS.iter().any(|(begin, _)| line.starts_with(begin))
}

struct Shown<'p> {
    number: usize,
    line: &'p str,
}

/// Returns the lines of a page that are commands.
fn shown(page: &Page) -> Vec<Shown<'_>> {
    let fences = page.fences.iter().filter(|fence| fence.language() == "sh");
    let lines = fences.flat_map(|fence| &fence.lines);
    let lines = lines.map(|(number, line)| Shown { number: *number, line: line.trim() });
    lines.filter(|shown| !shown.line.is_empty() && !shown.line.starts_with('#')).collect()
}

/// Returns the command lines of all pages that do not do what they should.
pub(super) fn failing(pages: &[Page]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut open = Vec::new();
    for page in pages.iter().filter(|page| page.path == "README.md" || page.path.starts_with("docs/")) {
        let lines = shown(page);
        let is_known = |line: &str| is_command(line) || line.starts_with("cd ");
        wrong.extend(lines.iter().filter(|shown| !is_known(shown.line)).map(|Shown { number, line }| {
            format!("{}:{number}: `{line}` is in no table of tests/suite/pages/commands.rs", page.path)
        }));
        if lines.iter().any(|shown| shown.line.starts_with(OURS)) {
            open.push((page, lines));
        }
    }
    let (open, wrong) = (Mutex::new(VecDeque::from(sample(open, 3))), Mutex::new(wrong));
    // A page at a time in each world; it takes a few seconds to make one.
    let worlds = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(3));
    std::thread::scope(|scope| {
        for _ in 0..worlds {
            scope.spawn(|| {
                while let Some((page, lines)) = { open.lock().unwrap().pop_front() } {
                    let failed = run(page, &lines);
                    wrong.lock().unwrap().extend(failed);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong
}

/// Runs the lines of a page, and returns those that fail.
fn run(page: &Page, lines: &[Shown<'_>]) -> Vec<String> {
    let world = World::new();
    let run = world.run_of(&page.path);
    let mut folder = PathBuf::new();
    let mut failed = Vec::new();
    for Shown { number, line } in lines {
        if let Some(inner) = line.strip_prefix("cd ") {
            folder.push(inner);
            continue;
        }
        if !line.starts_with(OURS) {
            continue;
        }
        let ran = world.ran(&replaced(line, run), &folder);
        if let Some(why) = fault(line, &ran) {
            failed.push(format!("{}:{number}: {line}: {why}\n{}", page.path, ran.stderr));
        }
    }
    failed
}

/// Replaces the placeholders of a line.
fn replaced(line: &str, run: &str) -> String {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[A-Z]{3,}\b").expect("a pattern"));
    let value = |word: &str| match word {
        "RUN" => run.to_owned(),
        word => {
            let known = PLACEHOLDERS.iter().find(|(name, _)| *name == word);
            known.map_or(word, |(_, value)| value).to_owned()
        }
    };
    WORD.replace_all(line, |found: &regex::Captures<'_>| value(&found[0])).into_owned()
}

fn fault(line: &str, ran: &Ran) -> Option<String> {
    static EXIT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"# .*exits with (\d+)").expect("a pattern"));
    let promised = EXIT.captures(line).map(|found| found[1].parse::<i32>().expect("a number"));
    match (ran.code, promised) {
        (Some(code), Some(promised)) if code == promised => None,
        // `timeout` ends with 124, a shell that finds no program with 127.
        (Some(0 | 3..=99), None) => None,
        (code, _) => Some(format!("exit code {code:?}")),
    }
}

#[test]
fn placeholders_have_values_and_promised_codes_are_read() {
    assert_eq!(replaced("skilltune show RUN head --as TASKS", "1a2b"), "skilltune show 1a2b head --as TASKS");
    let ran = |code| Ran { code, stdout: String::new(), stderr: String::new() };
    for (line, code, is_wrong) in [
        ("skilltune lint", Some(3), false),
        ("skilltune lint", Some(2), true),
        ("skilltune lint", Some(127), true),
        ("skilltune lint", None, true),
        ("skilltune lint  # exits with 2: no skill", Some(2), false),
        ("skilltune lint  # exits with 3", Some(0), true),
    ] {
        assert_eq!(fault(line, &ran(code)).is_some(), is_wrong, "{line} {code:?}");
    }
}
