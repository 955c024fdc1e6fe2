//! Replays stored runs and compares every state file, report, page and command output with the stored one, byte by byte.
//!
//! A file of `fixtures/frozen` holds one run: its journal, the stored objects, the files that the run left, and the
//! output of commands about it. `tests/suite/frozen` records new ones. `just freeze` replaces the expected texts and
//! keeps journals and objects: use it only in a separate commit that changes texts or formats on purpose.

mod browser;
mod covered;
mod nights;
mod run;
mod stored;

use std::fs;
use std::path::{Path, PathBuf};

use covered::Covered;
use stored::{Texts, parse, print};

/// The project folder of every stored run.
const PROJECT: &str = "/frozen/project";

/// The texts that a run is replayed from. All other texts of a stored run are expected results.
const JOURNAL: &str = "journal";
const OBJECTS: &str = "objects/";

/// The texts that this program writes for a stored journal, and the variants that the journal covers.
struct Replayed {
    texts: Texts,
    covered: Covered,
}

/// A stored run: the texts that it is replayed from, the expected ones, and those of this program.
struct Stored {
    given: Texts,
    expected: Texts,
    replayed: Replayed,
}

#[test]
fn stored_runs_leave_the_same_files_and_words_as_when_they_were_recorded() {
    let writes = std::env::var_os("SKILLTUNE_FREEZE").is_some_and(|what| what == "write");
    let (mut covered, mut differences) = (Covered::default(), Vec::new());
    for (name, path, stored) in replay_all() {
        let Stored { given, expected, replayed } = stored;
        covered.extend(replayed.covered);
        if writes {
            fs::write(path, print(&given.into_iter().chain(replayed.texts).collect())).unwrap();
        } else {
            differences.extend(difference(&name, &expected, &replayed.texts));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(
        covered::missing(&covered),
        covered::NOT_STORED,
        "kinds of events and endings in no stored run"
    );
}

#[test]
fn the_first_line_that_differs_is_named() {
    let texts = |text: &str| Texts::from([("files/final-report.md".to_owned(), text.to_owned())]);
    let shown = |was, is| difference("a run", &texts(was), &texts(is));
    let line = |number, was: &str, is: &str| {
        Some(format!("a run: files/final-report.md, line {number}\n  was {was}\n  is  {is}"))
    };
    assert_eq!(shown("a\nb\nc\n", "a\nB\nc\n"), line(2, r#""b\n""#, r#""B\n""#));
    assert_eq!(shown("a\n", "a"), line(1, r#""a\n""#, r#""a""#));
    assert_eq!(shown("a\nb\n", "a\n"), line(2, r#""b\n""#, "nothing"));
    assert_eq!(shown("a\n", "a\n"), None);
    let gone = difference("a run", &texts("a\n"), &Texts::new());
    assert_eq!(gone.as_deref(), Some("a run: files/final-report.md is not there"));
    let new = difference("a run", &Texts::new(), &texts("a\nb\n"));
    assert_eq!(new.as_deref(), Some("a run: files/final-report.md is new: a"));
}

#[test]
fn a_stored_run_is_read_as_it_was_written() {
    let texts = [
        ("a", "one\ntwo\n"),
        ("b", ""),
        ("c", "cut"),
        ("d --format json", "one\ntwo\n"),
        ("e", "\n"),
        ("f", ""),
    ];
    let texts: Texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    assert_eq!(parse(&print(&texts)), texts);
    assert_eq!(print(&texts).matches("two").count(), 1);
}

/// Returns the names and files of all stored runs.
fn stored_runs() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/frozen");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let runs = paths.filter(|path| path.extension().is_some_and(|end| end == "txt"));
    let mut runs: Vec<_> =
        runs.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path)).collect();
    runs.sort();
    runs
}

/// Separates the texts that a run is replayed from and the expected texts.
fn divided(texts: Texts) -> (Texts, Texts) {
    texts.into_iter().partition(|(name, _)| name == JOURNAL || name.starts_with(OBJECTS))
}

/// Whether a file is a page for a browser: those follow from the JSON beside them, and `browser` looks at them.
fn is_page(name: &str) -> bool {
    match name.split('/').collect::<Vec<_>>()[..] {
        ["files", ".skilltune", "runs", _, "report.html"]
        | ["files", ".skilltune", "runs", _, "data", ..] => true,
        ["files", ".skilltune", "nights", ..] => Path::new(name).extension().is_some_and(|end| end == "html"),
        _ => false,
    }
}

/// Replays each run on a thread that is named after it, so that a panic names it too.
fn replay_all() -> Vec<(String, PathBuf, Stored)> {
    std::thread::scope(|scope| {
        let threads = stored_runs().into_iter().map(|(name, path)| {
            let text = fs::read_to_string(&path).unwrap();
            let is_night = name.starts_with("night-");
            let replay = move || {
                let (given, expected) = divided(parse(&text));
                let mut replayed = if is_night { nights::replay(&given) } else { run::replay(&given) };
                replayed.texts.retain(|name, _| !is_page(name));
                Stored { given, expected, replayed }
            };
            let thread = std::thread::Builder::new().name(name.clone()).spawn_scoped(scope, replay).unwrap();
            (name, path, thread)
        });
        let threads: Vec<_> = threads.collect();
        let replayed = threads.into_iter().map(|(name, path, thread)| {
            let stored = thread.join().unwrap_or_else(|_| panic!("{name} cannot be replayed"));
            (name, path, stored)
        });
        replayed.collect()
    })
}

/// Returns the first line that differs of each changed text.
fn difference(name: &str, expected: &Texts, found: &Texts) -> Option<String> {
    let one = |text: &String| match (expected.get(text), found.get(text)) {
        (Some(_), None) => Some(format!("{name}: {text} is not there")),
        (None, new) => {
            let line = new.and_then(|new| new.lines().next()).unwrap_or_default();
            Some(format!("{name}: {text} is new: {line}"))
        }
        (Some(was), Some(is)) if was == is => None,
        (Some(was), Some(is)) => {
            let [was, is] = [was, is].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
            let at = (0..was.len().max(is.len())).find(|&at| was.get(at) != is.get(at))?;
            let [was, is] =
                [was, is].map(|lines| lines.get(at).map_or("nothing".to_owned(), |line| format!("{line:?}")));
            Some(format!("{name}: {text}, line {}\n  was {was}\n  is  {is}", at + 1))
        }
    };
    let new = found.keys().filter(|text| !expected.contains_key(*text));
    let differences: Vec<_> = expected.keys().chain(new).filter_map(one).collect();
    (!differences.is_empty()).then(|| differences.join("\n"))
}
