//! The README's tour, command by command: its examples must match the program's output.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::scene::Scene;

/// Returns the lines of the tour: a command, then its output, which may look like a command itself.
fn tour() -> Vec<String> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let blocks = readme.split("```console\n").skip(1);
    blocks
        .flat_map(|block| block.split_once("```").expect("a block ends").0.lines())
        .map(str::to_owned)
        .collect()
}

/// Returns the program's output on both streams, in order.
pub(crate) fn said(command: &mut Command) -> String {
    let (mut reader, writer) = std::io::pipe().expect("a pipe can be made");
    command.stdout(writer.try_clone().expect("a pipe can be shared")).stderr(writer);
    let mut child = command.spawn().expect("our binary starts");
    // The command itself keeps the pipe's other end open.
    *command = Command::new("true");
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("our output is text");
    child.wait().expect("it was started");
    text
}

/// Removes what differs between runs: the id and times.
pub(crate) fn steady(text: &str, folder: &Path) -> String {
    let text = text.replace(&folder.display().to_string(), "/tmp/tour");
    let is_id = |word: &str| word.len() == 20 && word.as_bytes()[4] == b'-' && word.as_bytes()[13] == b'-';
    let is_time = |word: &str| word.ends_with('s') && word[..word.len() - 1].parse::<f64>().is_ok();
    let steadied =
        text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '-' && c != '.').map(|piece| {
            let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            let rest = &piece[word.len()..];
            match word {
                word if is_id(word) => format!("RUN{rest}"),
                word if is_time(word) => format!("TIME{rest}"),
                word => format!("{word}{rest}"),
            }
        });
    steadied.collect()
}

#[test]
fn the_files_that_the_readme_says_have_the_originals_names_have_them() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let (_, differences) = readme.split_once("## Differences from skill-iter-tune").expect("it has the part");
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60 } } }));
    scene.tune("writer", &["--max-iterations", "2", "--threshold", "95"]);
    for (name, folder) in [
        ("iteration-state.json", ""),
        ("final-report.md", ""),
        ("iteration-N-eval.md", "iterations/iteration-N"),
        ("iteration-N-changes.md", "iterations/iteration-N"),
        ("artifacts/", "iterations/iteration-N"),
    ] {
        assert!(differences.contains(&format!("`{name}`")), "{name}");
        let path = scene.run_folder().join(folder.replace('N', "1")).join(name.replace('N', "1"));
        assert!(path.exists(), "{}", path.display());
    }
}

#[test]
fn the_tour_of_the_readme_is_what_happens() {
    let scene = Scene::empty();
    let mut folder = scene.path("tour");
    fs::create_dir(&folder).unwrap();
    let root = folder.clone();
    let tour = tour();
    let (mut rest, mut tried) = (tour.as_slice(), 0);
    while let [line, after @ ..] = rest {
        rest = after;
        let words: Vec<&str> = line.strip_prefix("$ ").expect("a command comes next").split(' ').collect();
        let arguments = match words.as_slice() {
            ["cd", inner] => {
                folder.push(inner);
                continue;
            }
            ["cargo", "run", "--", arguments @ ..] | ["skilltune", arguments @ ..] => arguments,
            other => panic!("nobody knows how to try {other:?}"),
        };
        let mut command = scene.command(arguments);
        command.current_dir(&folder).env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8");
        let said = said(&mut command);
        let shown;
        (shown, rest) = rest.split_at(said.lines().count().min(rest.len()));
        assert_eq!(steady(&said, &root), steady(&(shown.join("\n") + "\n"), &root), "{line}");
        tried += 1;
    }
    assert!(tried >= 4, "the tour has lost its commands");
}
