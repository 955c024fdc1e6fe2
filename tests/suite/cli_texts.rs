//! The texts of the command line that people and scripts read: help, man pages, completions, settings, first files.
//!
//! Help, settings and their schema are pages in `docs`; the others are stored in `fixtures/cli`. After an intended
//! change, rewrite them with `just cli-texts` and commit the diff.

mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use skilltune_phases::base::id::Digest;

use crate::scene::{Ran, Scene};

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Returns the program's output without agents, a terminal or a home, in the width of a pipe.
fn printed(scene: &Scene, arguments: &[&str]) -> String {
    let mut command = scene.command(arguments);
    let ran = Ran::of(command.env("PATH", scene.path("bin")).output().expect("our binary starts"));
    assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    unversioned(&scene.normalized(&ran.stdout))
}

/// Replaces the version, so that a release does not change the texts.
fn unversioned(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

/// Returns each command, the program itself first, with its help.
fn helps(scene: &Scene, command: &[&str]) -> Vec<(String, String)> {
    let help = printed(scene, &[command, &["--help"]].concat());
    let below: Vec<_> =
        subcommands(&help).flat_map(|name| helps(scene, &[command, &[name]].concat())).collect();
    let name = [&["skilltune"], command].concat().join(" ");
    [vec![(name, help)], below].concat()
}

pub(crate) fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let (_, list) = help.split_once("\nCommands:\n").unwrap_or_default();
    let names = list.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !matches!(*name, "" | "help"))
}

/// Returns hashes: man pages and completions follow from the help, so their hashes are enough.
fn digests(scene: &Scene) -> String {
    let short = |text: &str| Digest::of(text.as_bytes()).short();
    printed(scene, &["man", "--out", "man"]);
    let mut files: Vec<PathBuf> =
        fs::read_dir(scene.path("project/man")).unwrap().map(|page| page.unwrap().path()).collect();
    files.sort();
    let page = |file: &PathBuf| {
        let text = unversioned(&fs::read_to_string(file).unwrap());
        format!("man --out {} {}\n", file.file_name().unwrap().display(), short(&text))
    };
    let script = |shell| format!("completions {shell} {}\n", short(&printed(scene, &["completions", shell])));
    let pages = files.iter().map(page);
    let whole = format!("man {}\n", short(&printed(scene, &["man"])));
    pages.chain([whole]).chain(SHELLS.map(script)).collect()
}

/// Returns the files of a new project.
fn first_files(scene: &Scene) -> [(&'static str, String); 2] {
    printed(scene, &["init", "--suite", "Write release notes"]);
    [("fixtures/cli/skilltune.toml", "skilltune.toml"), ("fixtures/cli/suite.toml", "suite.toml")]
        .map(|(stored, name)| (stored, fs::read_to_string(scene.path("project").join(name)).unwrap()))
}

/// Returns the first line in which two texts differ; of a long line, only the part around the difference.
pub(crate) fn difference(old: &str, new: &str) -> Option<String> {
    let (mut old_lines, mut new_lines) = (old.lines(), new.lines());
    for number in 1.. {
        let (one, other) = match (old_lines.next(), new_lines.next()) {
            (None, None) => break,
            (one, other) if one == other => continue,
            (one, other) => (one.unwrap_or(NOTHING), other.unwrap_or(NOTHING)),
        };
        let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        let around =
            |line: &str| line.chars().skip(same.saturating_sub(BEFORE)).take(AROUND).collect::<String>();
        return Some(format!("line {number}\n  old: {}\n  new: {}", around(one), around(other)));
    }
    (old != new).then(|| "the end of the last line".to_owned())
}

const NOTHING: &str = "(nothing)";
const BEFORE: usize = 100;
const AROUND: usize = 400;

#[test]
fn help_man_pages_completions_settings_and_first_files_are_the_stored_ones() {
    let scene = Scene::empty();
    fs::create_dir(scene.path("bin")).unwrap();
    let help = helps(&scene, &[]);
    assert!(
        help.iter().any(|(name, _)| name == "skilltune night install"),
        "commands below commands are found"
    );
    let schema = printed(&scene, &["config", "schema"]);
    let texts = [
        ("docs/commands.md", reference::commands(&help)),
        ("docs/settings.md", reference::settings(&serde_json::from_str(&schema).unwrap())),
        ("docs/schemas/settings.schema.json", schema),
        ("fixtures/cli/digests.txt", digests(&scene)),
        ("fixtures/cli/config-show.txt", printed(&scene, &["config", "show"])),
        ("fixtures/cli/config-show.json", printed(&scene, &["config", "show", "--format", "json"])),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let is_renewed = std::env::var_os("SKILLTUNE_RENEW").is_some();
    let mut differences = Vec::new();
    for (name, present) in texts.into_iter().chain(first_files(&scene)) {
        let path = root.join(name);
        if is_renewed {
            fs::write(&path, &present).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        let difference = difference(&stored, &present);
        differences.extend(difference.map(|difference| format!("{name}: {difference}")));
    }
    let all = differences.join("\n");
    assert!(all.is_empty(), "{all}\nif this is intended, run `just cli-texts` and commit the diff");
}

#[test]
fn a_changed_word_a_missing_line_and_a_missing_end_are_differences() {
    assert_eq!(difference("a\nb\n", "a\nb\n"), None);
    for (old, new, line) in
        [("a\nb\n", "a\nc\n", "line 2"), ("a\nb\n", "a\n", "line 2"), ("a\n", "a", "the end")]
    {
        let found = difference(old, new).unwrap_or_default();
        assert!(found.starts_with(line), "{found}");
    }
}
