//! The rules ignore what git ignores, apply to files that git does not track, and cannot be made to read too much.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

mod random;
use crate::snapshot::{Captured, Limits, capture, scan};

/// A repository with a skill in it, and a store.
struct Project {
    home: tempfile::TempDir,
    objects: Objects,
}

impl Project {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let objects = Objects::at(home.path().join("objects"));
        let project = Self { home, objects };
        project.git(&["init", "--quiet"]);
        project.write("skills/writer/SKILL.md", "page");
        project
    }

    fn path(&self, below: &str) -> PathBuf {
        self.home.path().join("project").join(below)
    }

    fn skill(&self) -> PathBuf {
        self.path("skills/writer")
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns git's output.
    fn git(&self, arguments: &[&str]) -> Vec<u8> {
        fs::create_dir_all(self.path("")).unwrap();
        let identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
        let mut git = Command::new("git");
        git.args(identity).args(arguments).current_dir(self.path(""));
        git.env("HOME", self.home.path()).env("GIT_CONFIG_NOSYSTEM", "1").env_remove("XDG_CONFIG_HOME");
        let ran = git.output().expect("git is here");
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
        ran.stdout
    }

    /// Returns the files below a folder of the repository that are not ignored.
    fn files(&self, below: &str) -> Vec<String> {
        let root = self.path(below);
        let manifest = scan(&root, Some(IgnoreRules::of(&root).unwrap()), Limits::default()).unwrap();
        let files = manifest.entries().iter().filter(|entry| !entry.node.is_folder());
        files.map(|entry| entry.path.to_string()).collect()
    }

    /// Returns these files as git lists them.
    fn files_of_git(&self) -> Vec<String> {
        let listed =
            self.git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]);
        let paths = listed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        let mut paths: Vec<RelPath> = paths.map(|path| RelPath::parse(path).unwrap()).collect();
        paths.sort();
        paths.iter().map(RelPath::to_string).collect()
    }

    fn captured(&self) -> Captured {
        let rules = IgnoreRules::of(&self.skill()).unwrap();
        capture(&self.objects, &self.skill(), Some(rules), Limits::default()).unwrap()
    }

    fn known(&self, version: &Manifest) -> Manifest {
        let rules = IgnoreRules::knowing(&self.skill(), &self.objects, [version]).unwrap();
        scan(&self.skill(), Some(rules), Limits::default()).unwrap()
    }
}

fn names(manifest: &Manifest) -> Vec<String> {
    manifest.entries().iter().map(|entry| entry.path.to_string()).collect()
}

/// Each rule is one that people write, or one that a matcher may read differently than git.
const RULES: &str = "\u{feff}# a comment\nnode_modules/\n*.log\n!keep.log\n/only-top\nbuild/**/out\n**/deep.txt\ndocs/*.md\n\
    trailing   \nescaped\\ \n\\#hash\n\\!bang\n{brace}\na[0-9].txt\n[unclosed\nfoo/**\nex?ct\nwith\\*star\n{{cookie}}/\r\n\
    *.tmp\n!important/*.tmp\nnot-a-folder/\n**\\\n   \n/\n!/\nx/**/y\n[]x]q\n[!a-y]{w}\n";

#[test]
fn the_files_that_count_are_those_that_git_lists() {
    let project = Project::new();
    project.write(".gitignore", RULES);
    project.write("inner/.gitignore", "!*.log\n/anchored\n*.rs\n");
    project.write("inner/deeper/.gitignore", "!special.rs\n");
    fs::write(project.path(".git/info/exclude"), "*.private\n!here.tmp\n").unwrap();
    let names = [
        "node_modules/a/b",
        "sub/node_modules/c",
        "a.log",
        "keep.log",
        "only-top",
        "sub/only-top",
        "build/out",
        "build/x/y/out",
        "sub/build/x/out",
        "p/q/deep.txt",
        "docs/a.md",
        "docs/b/c.md",
        "trailing",
        "escaped ",
        "#hash",
        "!bang",
        "{brace}",
        "brace",
        "a1.txt",
        "ab.txt",
        "[unclosed",
        "foo/x",
        "foo/y/z",
        "exact",
        "exxct",
        "with*star",
        "withXstar",
        "{{cookie}}/x",
        "cookie/x",
        "a.tmp",
        "important/b.tmp",
        "here.tmp",
        "not-a-folder",
        "sub/not-a-folder/x",
        "inner/b.log",
        "inner/anchored",
        "inner/sub/anchored",
        "inner/a.rs",
        "inner/deeper/special.rs",
        "inner/deeper/b.rs",
        "x/y",
        "x/1/2/y",
        "secret.private",
        "sub/secret.private",
        "plain",
        "]q",
        "xq",
        "aq",
        "z{w}",
        "b{w}",
        "zw",
    ];
    for name in names {
        project.write(name, name);
    }
    assert_eq!(project.files(""), project.files_of_git());
    // Tracked files are not ignored, in any folder and with any version of the index.
    project.git(&["add", "--force", "node_modules/a/b", "inner/b.log", "sub/secret.private", "foo/y/z"]);
    project.git(&["commit", "--quiet", "--message", "one"]);
    for version in ["2", "3", "4"] {
        project.git(&["update-index", "--index-version", version]);
        if version == "3" {
            project.write("a.log", "later");
            project.git(&["add", "--force", "--intent-to-add", "a.log"]);
        }
        assert_eq!(project.files(""), project.files_of_git(), "index version {version}");
    }
    project.git(&["update-index", "--split-index"]);
    project.git(&["add", "--force", "only-top"]);
    assert_eq!(project.files(""), project.files_of_git());
    assert!(project.files("").contains(&"node_modules/a/b".to_owned()));
    assert!(project.files("sub").contains(&"secret.private".to_owned()), "from a folder below");
    // Files in the shared index may be deleted or replaced.
    let split = ["-c", "splitIndex.maxPercentChange=100"];
    project.git(
        &[&split[..], &["rm", "--quiet", "--cached", "node_modules/a/b", "sub/secret.private"]].concat(),
    );
    project.write("foo/y/z", "replaced");
    project.git(&[&split[..], &["add", "--force", "foo/y/z"]].concat());
    assert_eq!(project.files(""), project.files_of_git());
    assert!(!project.files("sub").contains(&"secret.private".to_owned()));
}

#[test]
fn an_index_with_long_hashes_or_of_another_working_tree_is_read_too() {
    let project = Project::new();
    fs::remove_dir_all(project.path(".git")).unwrap();
    project.git(&["init", "--quiet", "--object-format=sha256"]);
    project.write(".gitignore", "*.log\n");
    project.write("a.log", "a");
    project.git(&["add", "--all"]);
    project.git(&["add", "--force", "a.log"]);
    project.git(&["commit", "--quiet", "--message", "one"]);
    fs::write(project.path(".git/info/exclude"), "*.private\n").unwrap();
    assert_eq!(project.files(""), project.files_of_git());
    project.git(&["worktree", "add", "--quiet", "../other"]);
    for name in ["b.log", "b.private", "b"] {
        fs::write(project.home.path().join("other").join(name), name).unwrap();
    }
    assert_eq!(
        project.files("../other"),
        [".git", ".gitignore", "a.log", "b", "skills/writer/SKILL.md"][1..]
    );
}

#[test]
fn a_folder_dot_git_that_is_no_repository_does_not_end_the_search_for_one() {
    let project = Project::new();
    project.write(".gitignore", "*.log\n");
    project.write("skills/writer/a.log", "a");
    fs::create_dir(project.path("skills/.git")).unwrap();
    assert_eq!(project.files("skills/writer"), ["SKILL.md"]);
    project.write("skills/.git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir(project.path("skills/.git/objects")).unwrap();
    assert_eq!(project.files("skills/writer"), ["SKILL.md"]);
    fs::create_dir(project.path("skills/.git/refs")).unwrap();
    assert_eq!(project.files("skills/writer"), ["SKILL.md", "a.log"], "now it is one, without rules");
}

#[test]
fn our_own_rules_go_before_those_of_git_and_hold_without_a_repository() {
    let project = Project::new();
    project.write(".gitignore", "*.log\n");
    project.write(".skilltuneignore", "notes/\n!wanted.log\n");
    for name in ["a.log", "wanted.log", "notes/a", "b"] {
        project.write(&format!("skills/writer/{name}"), name);
    }
    assert_eq!(project.files("skills/writer"), ["SKILL.md", "b", "wanted.log"]);
    fs::remove_dir_all(project.path(".git")).unwrap();
    assert_eq!(project.files("skills/writer"), ["SKILL.md", "a.log", "b", "notes/a", "wanted.log"]);
    project.write("skills/writer/.skilltuneignore", "b\n");
    assert!(!project.files("skills/writer").contains(&"b".to_owned()));
}

#[test]
fn rules_that_name_the_skill_itself_do_not_hold_in_it() {
    for rules in ["skills/", "/skills/**", "skills/*", "writer", "*"] {
        let project = Project::new();
        project.write(".gitignore", rules);
        project.write("skills/writer/.gitignore", "*.log\n");
        project.write("skills/writer/a.log", "a");
        project.write("skills/writer/b.md", "b");
        assert_eq!(project.files("skills/writer"), [".gitignore", "SKILL.md", "b.md"], "{rules}");
    }
}

#[test]
fn the_page_of_a_skill_counts_whatever_the_rules_say_and_a_nested_repository_does_not() {
    let project = Project::new();
    project.write("skills/writer/.gitignore", "*.md\n");
    project.write("skills/writer/notes.md", "n");
    project.write("skills/writer/vendor/.git/HEAD", "ref");
    project.write("skills/writer/vendor/code", "c");
    assert_eq!(project.files("skills/writer"), [".gitignore", "SKILL.md", "vendor/code"]);
}

#[test]
fn what_a_version_has_is_never_ignored_and_its_rules_still_hold() {
    let project = Project::new();
    project.write("skills/writer/.gitignore", "secret\n");
    project.write("skills/writer/data/a", "a");
    project.write("skills/writer/secret", "s");
    let Captured { manifest, .. } = project.captured();
    assert_eq!(names(&manifest), [".gitignore", "SKILL.md", "data", "data/a"]);
    project.write("skills/writer/.gitignore", "data/\n");
    project.write("skills/writer/data/b", "b");
    // `data/b` is new and ignored by the current rules; `secret` was ignored only by the old ones.
    assert_eq!(names(&project.known(&manifest)), names(&manifest));
    assert_eq!(names(&project.captured().manifest), [".gitignore", "SKILL.md", "secret"]);
}

#[test]
fn a_folder_with_nothing_but_ignored_files_is_there_or_not_as_a_version_has_it() {
    let project = Project::new();
    project.write(".gitignore", "*.log\n");
    project.write("skills/writer/logs/deep/a", "a");
    let before = project.captured().manifest;
    fs::remove_file(project.path("skills/writer/logs/deep/a")).unwrap();
    let empty = project.captured().manifest;
    assert_eq!(names(&empty), ["SKILL.md", "logs", "logs/deep"], "an empty folder counts");
    project.write("skills/writer/logs/deep/a.log", "a");
    let indexes = crate::snapshot::Indexes::at(&project.path("../indexes"));
    let rules = IgnoreRules::of(&project.skill()).unwrap();
    let state = indexes.scan(&project.skill(), Some(rules), Limits::default()).unwrap();
    assert_eq!(names(&state.manifest), ["SKILL.md"]);
    assert_eq!(state.as_in(&empty), empty);
    assert_eq!(state.as_in(&state.manifest), state.manifest);
    assert_eq!(names(&state.as_in(&before)), names(&empty));
}

#[test]
fn hostile_rule_files_are_refused_or_passed_over_and_never_followed() {
    let project = Project::new();
    let at = project.skill().join(".gitignore");
    let outside = project.home.path().join("outside");
    fs::write(&outside, "*\n").unwrap();
    project.write("skills/writer/a", "a");
    symlink(&outside, &at).unwrap();
    assert_eq!(project.files("skills/writer"), [".gitignore", "SKILL.md", "a"], "a symlink has no rules");
    fs::remove_file(&at).unwrap();
    fs::create_dir(&at).unwrap();
    assert_eq!(project.files("skills/writer"), ["SKILL.md", "a"]);
    fs::remove_dir(&at).unwrap();
    for odd in [
        "*".repeat(4000),
        "[".repeat(4000),
        "**/".repeat(1000),
        format!("{}a", "*a".repeat(2000)),
        "{".repeat(4000),
        "\0".to_owned(),
        "a".repeat(5000),
        "\\".to_owned(),
    ] {
        fs::write(&at, format!("{odd}\n\u{1}\n")).unwrap();
        assert!(project.files("skills/writer").contains(&"SKILL.md".to_owned()), "{}", &odd[..1]);
    }
    fs::write(&at, [b"\xff\xfe\n".as_slice(), b"a\n"].concat()).unwrap();
    assert_eq!(project.files("skills/writer"), [".gitignore", "SKILL.md"], "the other lines hold");
    let refused = |text: String| {
        fs::write(&at, text).unwrap();
        let rules = IgnoreRules::of(&project.skill()).unwrap();
        scan(&project.skill(), Some(rules), Limits::default()).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused("*a*\n".repeat(20_000)).contains("too large"));
    let many = "x\n".repeat(30_000);
    for nth in 0..12 {
        project.write(&format!("skills/writer/d{nth}/.gitignore"), &many);
    }
    assert!(refused(many).contains("too large"), "all rule files together");
}

#[test]
fn a_bitmap_takes_no_more_memory_than_an_index_can_have_entries() {
    let bitmap = |words: &[u64]| {
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let count = u32::try_from(words.len() / 8).unwrap();
        [&[0, 0, 0, 99], &count.to_be_bytes()[..], &words, &[0; 4]].concat()
    };
    let (ones, longest) = (1_u64, u64::from(u32::MAX) << 1);
    assert_eq!(tracked::bits(&bitmap(&[ones | 2 << 1 | 1 << 33, 5])).unwrap(), [u64::MAX, u64::MAX, 5]);
    assert!(tracked::bits(&bitmap(&[longest | ones, longest])).unwrap().len() < 100_000);
    assert_eq!(tracked::bits(&bitmap(&[2 << 33, 5])), None, "fewer words than it says");
    let whole = bitmap(&[1 << 33, 5]);
    for cut in 0..whole.len() - 4 {
        assert_eq!(tracked::bits(&whole[..cut]), None, "cut at {cut}");
    }
}

#[test]
fn an_index_that_git_did_not_write_is_an_error_and_takes_no_memory() {
    let project = Project::new();
    project.write(".gitignore", "*.log\n");
    project.write("skills/writer/a.log", "a");
    project.git(&["add", "--all"]);
    let index = fs::read(project.path(".git/index")).unwrap();
    let read = |bytes: &[u8]| {
        fs::write(project.path(".git/index"), bytes).unwrap();
        tracked::below(&project.path(".git"), b"skills/")
    };
    assert_eq!(read(&index).unwrap().len(), 2);
    for cut in 0..index.len() {
        assert!(read(&index[..cut]).is_err(), "cut at {cut}");
    }
    let many = [&b"DIRC\0\0\0\x04\xff\xff\xff\xff"[..], &[0; 200]].concat();
    assert!(read(&many).is_err());
    let endless = [&b"DIRC\0\0\0\x04\0\0\0\x01"[..], &[0; 62], &[0xff; 100]].concat();
    assert!(read(&endless).is_err());
    fs::remove_file(project.path(".git/index")).unwrap();
    assert_eq!(project.files("skills/writer"), ["SKILL.md"], "a repository without a commit tracks nothing");
}
