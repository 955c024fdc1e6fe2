//! Random triples of trees, merged by us and by git without renames.
//!
//! Many versions of `git merge-tree` ignore `-X no-renames` and `merge.renames`. At a similarity of 100 % they still
//! detect a file that was moved unchanged. Triples with one are merged by `git merge-recursive`, which can ignore
//! renames but takes one triple at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;

const TRIPLES: usize = 500;
const MOVED: usize = 60;

/// Modes and contents as git has them, by path.
type Files = BTreeMap<String, (u32, Vec<u8>)>;

#[test]
fn random_triples_give_the_tree_of_git_or_its_conflicts() {
    let place = Place::new();
    let strategy = triple().prop_filter("a file was moved", |triple| !has_move(triple));
    let mut runner = TestRunner::deterministic();
    let triples: Vec<_> = (0..TRIPLES).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();
    let ours: Vec<_> = triples.iter().map(|triple| by_us(&place.objects, triple)).collect();
    let clean: Vec<&Files> = ours.iter().filter_map(|merged| merged.as_ref().ok()).collect();
    let git = Git::new(&place.path("repository"));
    let (commits, theirs) = (git.commits(&clean), git.merged(&triples));
    let mut trees = git.trees(&commits).into_iter();
    for ((triple, ours), theirs) in triples.iter().zip(&ours).zip(theirs) {
        let ours = ours.as_ref().map(|_| trees.next().unwrap()).map_err(Clone::clone);
        assert_eq!(ours, theirs, "{:#?}", shown(triple));
    }
    assert!((TRIPLES / 4..TRIPLES * 3 / 4).contains(&clean.len()), "{} are clean", clean.len());
}

/// A move beside an edit of the same file is a conflict too, because an edited file was deleted.
#[test]
fn a_move_is_merged_as_by_git_without_renames() {
    let place = Place::new();
    let git = Git::new(&place.path("repository"));
    let strategy = triple().prop_filter("no file was moved", has_move);
    let mut runner = TestRunner::deterministic();
    let mut clean = 0;
    for _ in 0..MOVED {
        let triple = strategy.new_tree(&mut runner).unwrap().current();
        let ours = by_us(&place.objects, &triple);
        let theirs = git.merged_without_renames(&git.commits(&triple.each_ref()));
        let ours = ours.map(|files| git.trees(&git.commits(&[&files])).remove(0));
        clean += usize::from(ours.is_ok());
        assert_eq!(ours, theirs, "{:#?}", shown(&triple));
    }
    assert!((MOVED / 5..MOVED * 4 / 5).contains(&clean), "{clean} are clean");
}

fn shown(triple: &[Files; 3]) -> Vec<String> {
    let shown = |(path, (mode, bytes)): (&String, &(u32, Vec<u8>))| {
        format!("{path} {mode:o} {:?}", String::from_utf8_lossy(bytes))
    };
    triple.iter().flat_map(|files| files.iter().map(shown).chain(["--".to_owned()])).collect()
}

/// Returns the merged files, or the paths in conflict.
fn by_us(objects: &Objects, triple: &[Files; 3]) -> Result<Files, Vec<String>> {
    let [base, ours, theirs] = triple.each_ref().map(|files| stored(objects, files));
    match merge(objects, base, ours, theirs).unwrap() {
        Merged::Clean(tree) => Ok(files(objects, tree)),
        Merged::Conflicts(all) => Err(all.iter().map(|conflict| conflict.path.to_string()).collect()),
    }
}

fn stored(objects: &Objects, files: &Files) -> TreeId {
    let mut entries = BTreeMap::new();
    for (path, (mode, bytes)) in files {
        let path = RelPath::parse(path.as_bytes()).unwrap();
        let folders = path.parent().map(|parent| parent.lineage().collect::<Vec<_>>()).unwrap_or_default();
        entries.extend(folders.into_iter().map(|path| (path, Node::Folder { mode: 0o755 })));
        let node = match mode {
            0o120_000 => Node::Link { target: bytes.clone() },
            mode => Node::File {
                blob: objects.put(bytes).unwrap(),
                size: bytes.len() as u64,
                mode: mode & Node::RIGHTS,
            },
        };
        entries.insert(path, node);
    }
    let entries = entries.into_iter().map(|(path, node)| Entry { path, node }).collect();
    objects.put_manifest(&Manifest::new(entries).unwrap()).unwrap()
}

fn files(objects: &Objects, tree: TreeId) -> Files {
    let file = |Entry { path, node }: &Entry| {
        let (mode, bytes) = match node {
            Node::File { blob, mode, .. } => (0o100_000 | mode, objects.read(*blob).unwrap()),
            Node::Link { target } => (0o120_000, target.clone()),
            Node::Folder { .. } => return None,
        };
        Some((path.to_string(), (mode, bytes)))
    };
    objects.manifest(tree).unwrap().entries().iter().filter_map(file).collect()
}

/// Generates a base and two edits of it.
fn triple() -> impl Strategy<Value = [Files; 3]> {
    let base = prop::collection::btree_map(path(), leaf(), 1..5);
    let edits = || prop::collection::vec(edit(), 1..4);
    (base, edits(), edits()).prop_map(|(base, ours, theirs)| {
        let base = fitting(base);
        let [ours, theirs] = [ours, theirs].map(|edits| {
            let mut side = base.clone();
            for edit in &edits {
                edit.apply(&mut side);
            }
            fitting(side)
        });
        [base, ours, theirs]
    })
}

fn has_move([base, ours, theirs]: &[Files; 3]) -> bool {
    has_moved(base, ours) || has_moved(base, theirs)
}

fn has_moved(base: &Files, side: &Files) -> bool {
    let mut gone = base.iter().filter(|(path, _)| !side.contains_key(*path));
    gone.any(|(_, old)| side.iter().any(|(path, new)| !base.contains_key(path) && old.1 == new.1))
}

/// Few names, so that files and folders often have the same name.
fn path() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "d", "d/a", "d/b", "d/a/c"]).prop_map(str::to_owned)
}

fn leaf() -> impl Strategy<Value = (u32, Vec<u8>)> {
    let text =
        (prop::collection::vec(line(), 0..30), prop::bool::weighted(0.9)).prop_map(|(lines, is_ended)| {
            let text = lines.concat();
            if is_ended { text } else { text.trim_end_matches('\n').to_owned() }
        });
    let mode = prop::sample::select(vec![0o100_644, 0o100_644, 0o100_755]);
    prop_oneof![
        12 => (mode, text).prop_map(|(mode, text)| (mode, text.into_bytes())),
        1 => prop::sample::select(vec!["a", "d"]).prop_map(|target| (0o120_000, target.into())),
        1 => prop::sample::select(vec!["\0", "a\0"]).prop_map(|bytes| (0o100_644, bytes.into())),
    ]
}

/// Few different lines, so that hunks can slide and runs are repeated.
fn line() -> impl Strategy<Value = String> {
    let lines = ["\n", "\n", "}\n", "a\n", "b\n", "c\n", "d\n", "  e\n", "f\r\n", "g\n", "h\n"];
    prop::sample::select(lines.to_vec()).prop_map(str::to_owned)
}

#[derive(Clone, Debug)]
enum Edit {
    Lines { file: Index, at: Index, gone: usize, put: Vec<String> },
    Delete(Index),
    Mode(Index),
    Put(String, (u32, Vec<u8>)),
    Move(Index, String),
}

fn edit() -> impl Strategy<Value = Edit> {
    let lines = (any::<Index>(), any::<Index>(), 0_usize..4, prop::collection::vec(line(), 0..4));
    prop_oneof![
        16 => lines.prop_map(|(file, at, gone, put)| Edit::Lines { file, at, gone, put }),
        1 => any::<Index>().prop_map(Edit::Delete),
        1 => any::<Index>().prop_map(Edit::Mode),
        2 => (path(), leaf()).prop_map(|(path, leaf)| Edit::Put(path, leaf)),
        2 => (any::<Index>(), path()).prop_map(|(nth, path)| Edit::Move(nth, path)),
    ]
}

impl Edit {
    fn apply(&self, files: &mut Files) {
        let at = |files: &Files, nth: &Index| files.keys().nth(nth.index(files.len().max(1))).cloned();
        match self {
            Self::Put(path, leaf) => drop(files.insert(path.clone(), leaf.clone())),
            Self::Move(nth, to) => {
                let file = at(files, nth).and_then(|path| files.remove(&path));
                files.extend(file.map(|file| (to.clone(), file)));
            }
            Self::Delete(nth) => drop(at(files, nth).and_then(|path| files.remove(&path))),
            Self::Mode(nth) => {
                let file = at(files, nth).and_then(|path| files.get_mut(&path));
                file.into_iter().filter(|file| file.0 != 0o120_000).for_each(|file| file.0 ^= 0o111);
            }
            Self::Lines { file, at: line, gone, put } => {
                let Some((mode, bytes)) = at(files, file).and_then(|path| files.get_mut(&path)) else {
                    return;
                };
                if *mode == 0o120_000 {
                    return;
                }
                let mut lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                let start = line.index(lines.len() + 1);
                let end = (start + gone).min(lines.len());
                lines.splice(start..end, put.iter().map(|line| line.clone().into_bytes()));
                *bytes = lines.concat();
            }
        }
    }
}

/// Removes the files at the path of a folder.
fn fitting(mut files: Files) -> Files {
    let paths: Vec<String> = files.keys().cloned().collect();
    files.retain(|path, _| !paths.iter().any(|other| other.starts_with(&format!("{path}/"))));
    files
}

struct Git(PathBuf);

impl Git {
    fn new(repository: &Path) -> Self {
        fs::create_dir(repository).unwrap();
        let git = Self(repository.to_owned());
        git.run(&["init", "--quiet", "--bare", "--template="], b"");
        git
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git is here");
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        output.stdout
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(&self.0).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        git.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("HOME", "/nonexistent")]);
        git
    }

    /// Creates a commit of each.
    fn commits(&self, all: &[&Files]) -> Vec<String> {
        let mut stream = Vec::new();
        for (nth, files) in all.iter().enumerate() {
            write!(stream, "commit refs/heads/x{nth}\nmark :{}\ncommitter n <e> 0 +0000\ndata 0\n", nth + 1)
                .unwrap();
            for (path, (mode, bytes)) in *files {
                write!(stream, "M {mode:o} inline {path}\ndata {}\n", bytes.len()).unwrap();
                stream.extend([bytes.as_slice(), b"\n"].concat());
            }
            stream.push(b'\n');
        }
        self.run(&["fast-import", "--quiet", "--force", "--export-marks=marks"], &stream);
        let marks = fs::read_to_string(self.0.join("marks")).unwrap();
        let mut marks: Vec<(usize, String)> = marks
            .lines()
            .map(|line| line.trim_start_matches(':').split_once(' ').unwrap())
            .map(|(mark, commit)| (mark.parse().unwrap(), commit.to_owned()))
            .collect();
        marks.sort();
        marks.into_iter().map(|(_, commit)| commit).collect()
    }

    /// Returns the merged tree of a base and two sides, or the paths in conflict.
    fn merged_without_renames(&self, commits: &[String]) -> Result<String, Vec<String>> {
        let [base, ours, theirs] = commits else { panic!("three commits") };
        let work = self.0.join("work");
        fs::create_dir(&work).unwrap();
        let _ = fs::remove_file(self.0.join("index"));
        let at_work = ["--git-dir=.", "--work-tree=work"];
        self.run(&[&at_work[..], &["read-tree", "--reset", "-u", ours]].concat(), b"");
        let merge = ["merge-recursive", "--no-renames", base, "--", ours, theirs];
        // Its exit code reports conflicts or a failure; after a failure nothing has changed.
        let merged = self.command(&[&at_work[..], &merge].concat()).output().expect("git is here");
        assert!(matches!(merged.status.code(), Some(0 | 1)), "{merged:?}");
        let unmerged = String::from_utf8(self.run(&["ls-files", "--unmerged", "-z"], b"")).unwrap();
        fs::remove_dir_all(&work).unwrap();
        if unmerged.is_empty() {
            assert!(merged.status.success(), "{merged:?}");
            return Ok(String::from_utf8(self.run(&["write-tree"], b"")).unwrap().trim().to_owned());
        }
        let path = |entry: &str| plain(entry.split_once('\t').unwrap().1);
        let paths: BTreeSet<String> = unmerged.split_terminator('\0').map(path).collect();
        Err(paths.into_iter().collect())
    }

    fn trees(&self, commits: &[String]) -> Vec<String> {
        let asked: Vec<String> = commits.iter().map(|commit| format!("{commit}^{{tree}}\n")).collect();
        let found = self.run(&["cat-file", "--batch-check=%(objectname)"], asked.concat().as_bytes());
        String::from_utf8(found).unwrap().lines().map(str::to_owned).collect()
    }

    /// Returns the merged trees, or the paths in conflict.
    fn merged(&self, triples: &[[Files; 3]]) -> Vec<Result<String, Vec<String>>> {
        let all: Vec<&Files> = triples.iter().flatten().collect();
        let commits = self.commits(&all);
        let asked: Vec<String> =
            commits.chunks(3).map(|three| format!("{} -- {} {}\n", three[0], three[1], three[2])).collect();
        let arguments = [
            "merge-tree",
            "--write-tree",
            "--stdin",
            "-Xfind-renames=100%",
            "-z",
            "--name-only",
            "--no-messages",
        ];
        let said = String::from_utf8(self.run(&arguments, asked.concat().as_bytes())).unwrap();
        let mut words = said.split('\0');
        commits.chunks(3).map(|_| one(&mut words)).collect()
    }
}

/// Parses `1 TREE`, or `0 TREE PATH...`, and an empty word.
fn one<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<String, Vec<String>> {
    let (is_clean, tree) = (words.next().unwrap(), words.next().unwrap());
    let paths: BTreeSet<String> = words.take_while(|path| !path.is_empty()).map(plain).collect();
    if is_clean == "1" { Ok(tree.to_owned()) } else { Err(paths.into_iter().collect()) }
}

/// If a folder is at the file's path, git appends the name of the commit to the file's name.
fn plain(path: &str) -> String {
    path.split('~').next().unwrap().to_owned()
}
