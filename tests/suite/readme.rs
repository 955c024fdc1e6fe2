//! The sessions that README.md, the tour and the picture show, command by command: they must be what the program prints.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::scene::Scene;

/// Stands for any lines that a page leaves out.
const ELISION: &str = "...";

fn page(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path))
        .expect("the page is there")
}

/// Returns the sessions of a page: lines that begin with a command, followed by its output, which may look like a
/// command itself.
fn sessions(path: &str) -> Vec<Vec<String>> {
    let page = page(path);
    if page.starts_with("<svg") {
        return vec![texts(&page)];
    }
    let blocks =
        page.split("```console\n").skip(1).map(|block| block.split_once("```").expect("a block ends").0);
    blocks.map(|block| block.lines().map(str::to_owned).collect()).collect()
}

/// Returns the text of each `text` element of an SVG picture.
fn texts(picture: &str) -> Vec<String> {
    let elements =
        picture.split("<text").skip(1).map(|text| text.split_once("</text>").expect("a text ends").0);
    let plain =
        |text: &str| text.split('<').filter_map(|piece| Some(piece.split_once('>')?.1)).collect::<String>();
    elements.map(|text| plain(text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).collect()
}

/// Splits the lines after a command into its output and the rest. A session that leaves lines out has one command.
fn split_output(rest: &[String], printed: usize) -> (&[String], &[String]) {
    let is_elided = rest.iter().any(|line| line == ELISION);
    rest.split_at(if is_elided { rest.len() } else { printed.min(rest.len()) })
}

/// Returns the first line of the shown ones that the printed ones do not have at its place.
fn first_wrong(shown: &str, printed: &str) -> Option<String> {
    let mut printed = printed.lines();
    let mut is_elided = false;
    for line in shown.lines() {
        if line == ELISION {
            is_elided = true;
            continue;
        }
        let is_there =
            if is_elided { printed.any(|other| other == line) } else { printed.next() == Some(line) };
        if !is_there {
            return Some(line.to_owned());
        }
        is_elided = false;
    }
    let unshown = if is_elided { None } else { printed.next() };
    unshown.map(|line| format!("not shown: {line}"))
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
fn the_files_that_the_guide_says_have_the_originals_names_have_them() {
    let guide = page("docs/tune.md");
    let (_, differences) = guide.split_once("## Differences from skill-iter-tune").expect("it has the part");
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

/// Runs the commands of a page in a folder of its own, and returns how many there were.
fn try_page(path: &str) -> usize {
    let scene = Scene::empty();
    let mut folder = scene.path("tour");
    fs::create_dir(&folder).unwrap();
    let root = folder.clone();
    let mut tried = 0;
    for session in sessions(path) {
        let mut rest = session.as_slice();
        while let [line, after @ ..] = rest {
            let words: Vec<&str> =
                line.strip_prefix("$ ").expect("a command comes next").split(' ').collect();
            let arguments = match words.as_slice() {
                ["cd", inner] => {
                    folder.push(inner);
                    rest = after;
                    continue;
                }
                ["cargo", "run", "--", arguments @ ..] | ["skilltune", arguments @ ..] => arguments,
                other => panic!("{path}: a session may not have {other:?}"),
            };
            let mut command = scene.command(arguments);
            command.current_dir(&folder).env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8");
            let printed = said(&mut command);
            let shown;
            (shown, rest) = split_output(after, printed.lines().count());
            let wrong = first_wrong(&steady(&shown.join("\n"), &root), &steady(&printed, &root));
            assert_eq!(wrong, None, "{path}: {line}\n{printed}");
            tried += 1;
        }
    }
    tried
}

#[test]
fn the_sessions_of_the_pages_are_what_happens() {
    for (path, commands) in [("README.md", 1), ("docs/tour.md", 4), ("docs/demo.svg", 1)] {
        assert!(try_page(path) >= commands, "{path} has lost its commands");
    }
}

#[test]
fn lines_may_be_left_out_only_where_a_page_says_so() {
    for (shown, wrong) in [
        ("a\nb\nc", None),
        ("...\nb\n...", None),
        ("a\n...", None),
        ("a\n...\nd", Some("d")),
        ("a\nc", Some("c")),
        ("a\nb", Some("not shown: c")),
        ("...\nb\na\n...", Some("a")),
    ] {
        assert_eq!(first_wrong(shown, "a\nb\nc\n").as_deref(), wrong, "{shown}");
    }
}

#[test]
fn the_readme_takes_two_minutes_to_read() {
    assert!(page("README.md").len() <= 9_000);
}
