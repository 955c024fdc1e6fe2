//! Random rules and random files: the files that are not ignored are those that git lists.

use std::os::unix::ffi::OsStringExt;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;

const ROUNDS: usize = 200;

#[test]
fn random_rules_name_what_git_names() {
    let project = Project::new();
    let (mut runner, files) = (TestRunner::deterministic(), prop::collection::vec(file(), 40));
    let files: Vec<PathBuf> = files.new_tree(&mut runner).unwrap().current();
    let root = project.path("all");
    for file in &files {
        let path = root.join(file);
        // Skips a file whose path is a folder, or is inside a file.
        if fs::create_dir_all(path.parent().unwrap()).is_ok() {
            let _ = fs::write(path, "");
        }
    }
    let (all, mut some) = (project.listed("all").len() + 1, 0);
    for _ in 0..ROUNDS {
        let rules = prop::collection::vec(line(), 1..5).new_tree(&mut runner).unwrap().current();
        fs::write(root.join(".gitignore"), rules.join(&b'\n')).unwrap();
        let (ours, theirs) = (project.counting("all"), project.listed("all"));
        let shown: Vec<_> = rules.iter().map(|line| line.escape_ascii().to_string()).collect();
        assert_eq!(ours, theirs, "{shown:?}");
        some += usize::from((2..all).contains(&ours.len()));
    }
    assert!(some > ROUNDS / 3, "{some} rounds name some files and leave others");
}

impl Project {
    fn counting(&self, below: &str) -> Vec<String> {
        let root = self.path(below);
        let manifest = scan(&root, Some(IgnoreRules::of(&root).unwrap()), Limits::default()).unwrap();
        let files = manifest.entries().iter().filter(|entry| !entry.node.is_folder());
        files.map(|entry| entry.path.as_bytes().escape_ascii().to_string()).collect()
    }

    fn listed(&self, below: &str) -> Vec<String> {
        let listed = self.git(&["-C", below, "ls-files", "-z", "--others", "--exclude-standard"]);
        let paths = listed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        let mut paths: Vec<RelPath> = paths.map(|path| RelPath::parse(path).unwrap()).collect();
        paths.sort();
        paths.iter().map(|path| path.as_bytes().escape_ascii().to_string()).collect()
    }
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    const PARTS: [&[u8]; 32] = [
        b"a",
        b"a",
        b"b",
        b"b",
        b"1",
        b"*",
        b"*",
        b"*",
        b"?",
        b"?",
        b"[ab]",
        b"[!a]",
        b"[^-a]",
        b"[[:digit:]]",
        b"[[:alpha:]1-]",
        b"[![:space:]]",
        b"[[:x:]]",
        b"[[:a]",
        b"[]a]",
        b"[b-a]",
        b"[\\]]",
        b"[/b]",
        b"[a",
        b"\\a",
        b"\\*",
        b"\t",
        b" ",
        b"\\ ",
        b"\xff",
        "\u{e9}".as_bytes(),
        b"[\xc3-\xff]",
        b"{a,b}",
    ];
    let part = prop::sample::select(PARTS.to_vec());
    let name = prop_oneof![
        1 => Just(b"**".to_vec()),
        8 => prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat()),
    ];
    let names = prop_oneof![4 => 1..2_usize, 2 => 2..4_usize].prop_flat_map(move |most| {
        prop::collection::vec(name.clone(), most..=most).prop_map(|names| names.join(&b'/'))
    });
    let [mark, start, end] =
        [b"!", b"/", b"/"].map(|text| prop_oneof![3 => Just(Vec::new()), 1 => Just(text.to_vec())]);
    (mark, start, names, end).prop_map(|(mark, start, names, end)| [mark, start, names, end].concat())
}

fn file() -> impl Strategy<Value = PathBuf> {
    const PARTS: [&[u8]; 14] = [
        b"a",
        b"a",
        b"b",
        b"b",
        b"1",
        b"ab",
        b"\t",
        b" ",
        b"\xff",
        "\u{e9}".as_bytes(),
        b"]",
        b"*",
        b"-",
        b"{a,b}",
    ];
    let name = prop::collection::vec(prop::sample::select(PARTS.to_vec()), 1..3);
    let names = prop::collection::vec(name.prop_map(|parts| parts.concat()), 1..4);
    names.prop_map(|names| PathBuf::from(std::ffi::OsString::from_vec(names.join(&b'/'))))
}
