use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;
use skilltune_phases::base::id::Digest;
use skilltune_phases::suites::checks::{Comparison, Cost, Text, Times, Tool};
use skilltune_phases::suites::transcript::{Call, Redaction};

use super::*;
use crate::snapshot::{Limits, capture};

/// A workspace before and after a trial, beside a store.
struct Scene {
    home: tempfile::TempDir,
    objects: Objects,
}

impl Scene {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("space")).unwrap();
        let objects = Objects::at(home.path().join("objects"));
        Self { home, objects }
    }

    fn space(&self) -> std::path::PathBuf {
        self.home.path().join("space")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.space().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn tree(&self) -> TreeId {
        capture(&self.objects, &self.space(), None, Limits::default()).unwrap().tree
    }

    fn keep(&self, answer: &str, transcript: Option<&Transcript>, usage: Usage) -> TreeId {
        keep(&self.objects, &Evidence { answer, transcript, usage }).unwrap()
    }

    fn tell(&self, start: Option<TreeId>, evidence: TreeId, checks: &[Check]) -> Vec<(Option<bool>, String)> {
        let results =
            tell(&self.objects, start, self.tree(), evidence, &mut checks.iter().enumerate()).unwrap();
        results.into_iter().map(|result| (result.met, result.details.into())).collect()
    }

    /// Evaluates the checks of a trial of which only the files are known.
    fn tell_files(&self, start: Option<TreeId>, checks: &[Check]) -> Vec<(Option<bool>, String)> {
        self.tell(start, self.keep("", None, Usage::default()), checks)
    }

    fn remove(&self, blob: Digest) {
        let (shard, rest) = (blob.hex()[..2].to_owned(), blob.hex()[2..].to_owned());
        fs::remove_file(self.home.path().join("objects").join(shard).join(rest)).unwrap();
    }
}

fn transcript() -> Transcript {
    let mut transcript = Transcript::default();
    transcript
        .call(|| Call::new("1", "Bash", &json!({ "command": "python fill.py\n{\"event\":\"end\"}" }), &[]));
    transcript.redacted(&Redaction::default())
}

fn pattern(pattern: &str, of: Text) -> Check {
    Check::Pattern { pattern: pattern.into(), of, times: Times::ONCE_OR_MORE }
}

fn in_files(glob: &str) -> Text {
    Text::Files(glob.into())
}

fn file(path: &str) -> Check {
    Check::File { path: path.into(), times: Times::ONCE_OR_MORE }
}

fn bash() -> Check {
    Check::Tool { call: Tool { name: "Bash".into(), input: None }, times: Times::ONCE_OR_MORE }
}

fn touches(only: &[&str]) -> Check {
    Check::Touches { only: only.iter().map(|&path| path.into()).collect() }
}

fn met(results: &[(Option<bool>, String)]) -> Vec<Option<bool>> {
    results.iter().map(|(met, _)| *met).collect()
}

#[test]
fn what_was_kept_of_a_trial_tells_its_checks_by_their_places() {
    let scene = Scene::new();
    scene.write("out/report.json", "{\"total\": 3}\n");
    scene.write("notes.md", "# Notes\n");
    let spent = Spent { ms: 61_000, input_tokens: Some(900), output_tokens: Some(30), ..Spent::default() };
    let usage = usage(&spent, Some(4), Some(SkillUse::Used));
    let evidence = scene.keep("All is done.", Some(&transcript()), usage);
    let checks = [
        pattern("is done", Text::Answer),
        pattern("fill", Text::Transcript),
        pattern("^# ", in_files("*.md")),
        file("out/*"),
        Check::Schema { path: "out/report.json".into(), schema: json!({"required": ["total"]}) },
        Check::Json {
            path: "out/report.json".into(),
            pointer: "/total".into(),
            is: Comparison::AtLeast(4.into()),
        },
        Check::Command { argv: vec!["true".into()], exit: 0, expected: "".into(), grader: None },
        touches(&["out/**"]),
        Check::Skill { used: true },
        bash(),
        Check::AtMost { of: Cost::Tokens, most: 929 },
        Check::AtMost { of: Cost::Seconds, most: 61 },
        Check::AtMost { of: Cost::Turns, most: 4 },
    ];
    let mut given = checks.iter().enumerate().map(|(at, check)| (at + 10, check));
    let results = tell(&scene.objects, None, scene.tree(), evidence, &mut given).unwrap();
    let results: Vec<_> =
        results.iter().map(|result| (result.check, result.met, result.details.as_ref())).collect();
    assert_eq!(
        results,
        [
            (10, Some(true), "the answer, line 1: All is done."),
            (11, Some(true), "a tool call, line 1: python fill.py"),
            (12, Some(true), "notes.md, line 1: # Notes"),
            (13, Some(true), "out/report.json"),
            (14, Some(true), "out/report.json matches the schema"),
            (15, Some(false), "out/report.json: the value is 3"),
            (17, Some(false), "other files were touched: notes.md"),
            (18, Some(true), "the skill was used"),
            (19, Some(true), "Bash: python fill.py {\"event\":\"end\"}"),
            (20, Some(false), "it took 930 tokens"),
            (21, Some(true), "it took 61.0 seconds"),
            (22, Some(true), "it took 4 turns"),
        ]
    );
}

#[test]
fn evidence_is_a_tree_of_plain_files_without_a_transcript_where_there_is_none() {
    let scene = Scene::new();
    let names = |tree| -> Vec<String> {
        let manifest = scene.objects.manifest(tree).unwrap();
        manifest.entries().iter().map(|entry| entry.path.to_string()).collect()
    };
    let whole = scene.keep("Done.", Some(&transcript()), Usage::default());
    assert_eq!(names(whole), ["answer.md", "transcript.jsonl", "usage.json"]);
    let silent = scene.keep("", Some(&Transcript::default()), Usage::default());
    assert_eq!(names(silent), ["answer.md", "usage.json"]);
    assert_eq!(silent, scene.keep("", None, Usage::default()));
    assert!(scene.objects.contains_tree(whole));
}

#[test]
fn what_the_agent_does_not_report_is_not_told() {
    let scene = Scene::new();
    let spent = Spent { ms: 5, input_tokens: Some(1), ..Spent::default() };
    let evidence = scene.keep("", None, usage(&spent, None, None));
    let at_most = |of| Check::AtMost { of, most: 1 };
    let checks = [
        bash(),
        pattern("a", Text::Transcript),
        Check::Skill { used: false },
        at_most(Cost::Tokens),
        at_most(Cost::Turns),
    ];
    assert_eq!(met(&scene.tell(None, evidence, &checks)), [None; 5]);
    assert_eq!(met(&scene.tell(None, evidence, &[at_most(Cost::Seconds)])), [Some(true)]);
}

#[test]
fn made_changed_and_removed_files_are_told_from_those_of_the_start() {
    let scene = Scene::new();
    for path in ["same", "changed", "removed", "run.sh", "was/file"] {
        scene.write(path, path);
    }
    let start = scene.tree();
    assert_eq!(
        scene.tell_files(Some(start), &[touches(&[])]),
        [(Some(true), "no file was touched".to_owned())]
    );
    scene.write("changed", "other");
    scene.write("made/new", "new");
    fs::create_dir(scene.space().join("empty")).unwrap();
    fs::remove_file(scene.space().join("removed")).unwrap();
    fs::remove_dir_all(scene.space().join("was")).unwrap();
    fs::set_permissions(scene.space().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", scene.space().join("link")).unwrap();
    let all = ["changed", "made/*", "removed", "run.sh", "was/file", "link"];
    assert_eq!(met(&scene.tell_files(Some(start), &[touches(&all)])), [Some(true)]);
    for left_out in 0..all.len() {
        let others: Vec<&str> =
            all.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, path)| *path).collect();
        let results = scene.tell_files(Some(start), &[touches(&others)]);
        let path = all[left_out].replace('*', "new");
        assert_eq!(results, [(Some(false), format!("other files were touched: {path}"))]);
    }
    let results = scene.tell_files(None, &[touches(&["made/*"])]);
    assert_eq!(results[0].0, Some(false), "without a start all was made: {results:?}");
}

#[test]
fn a_link_is_no_file_and_leads_nowhere() {
    let scene = Scene::new();
    let outside = scene.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.json"), "{\"secret\": 1}").unwrap();
    symlink(outside.join("secret.json"), scene.space().join("link.json")).unwrap();
    symlink(&outside, scene.space().join("folder")).unwrap();
    for path in ["link.json", "folder/secret.json"] {
        let checks = [
            file(path),
            pattern("secret", in_files(path)),
            Check::Schema { path: path.into(), schema: json!({}) },
        ];
        let missing = (Some(false), "there is no such file".to_owned());
        assert_eq!(scene.tell_files(None, &checks), vec![missing; 3], "{path}");
    }
    let results = scene.tell_files(None, &[pattern("secret", in_files("**"))]);
    assert_eq!(results[0].0, Some(false));
}

#[test]
fn a_file_of_100_mb_is_not_read() {
    let scene = Scene::new();
    let huge = fs::File::create(scene.space().join("huge.json")).unwrap();
    huge.set_len(100 << 20).unwrap();
    let checks = [
        file("huge.json"),
        pattern("a", in_files("huge.json")),
        Check::Schema { path: "huge.json".into(), schema: json!({}) },
        Check::Json { path: "huge.json".into(), pointer: "".into(), is: Comparison::Equals(json!(1)) },
    ];
    let tree = scene.tree();
    let results = scene.tell_files(None, &checks);
    assert_eq!(met(&results), [Some(true), None, None, None], "{results:?}");
    // The size comes from the store, not from the manifest, which somebody else may have written.
    let Node::File { blob, .. } = scene.objects.manifest(tree).unwrap().entries()[0].node else { panic!() };
    assert_eq!(scene.objects.read_at_most(blob, 4 << 20).unwrap(), Err(100 << 20));
    assert_eq!(
        scene.objects.read_at_most(scene.objects.put(b"abc").unwrap(), 3).unwrap(),
        Ok(b"abc".to_vec())
    );
}

#[test]
fn names_that_are_no_text_and_hostile_ones_are_told_on_one_clean_line() {
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::new();
    for name in [&b"a\xff.txt"[..], b"a\x1b[2J\n.txt"] {
        fs::write(scene.space().join(Path::new(std::ffi::OsStr::from_bytes(name))), "found").unwrap();
    }
    let checks = [file("a*.txt"), pattern("found", in_files("*.txt")), touches(&[])];
    for (_, details) in scene.tell_files(None, &checks) {
        assert!(!details.contains(char::is_control) && details.contains("a[2J .txt"), "{details:?}");
    }
}

#[test]
fn a_store_that_has_lost_something_is_an_error_and_no_verdict() {
    let scene = Scene::new();
    scene.write("a.md", "some text");
    let (left, evidence) = (scene.tree(), scene.keep("Done.", Some(&transcript()), Usage::default()));
    let tell = |evidence, check: Check| {
        super::tell(&scene.objects, None, left, evidence, &mut std::iter::once((0, &check)))
    };
    assert!(tell(evidence, pattern("x", in_files("*"))).is_ok());
    scene.remove(Digest::of(b"some text"));
    // The store caches recent reads: another store of the same folder has to read the disk.
    let fresh = Objects::at(scene.home.path().join("objects"));
    let check = pattern("x", in_files("*"));
    let results = super::tell(&fresh, None, left, evidence, &mut std::iter::once((0, &check)));
    assert!(
        matches!(results, Err(ObjectError::Missing(id)) if id == Digest::of(b"some text")),
        "{results:?}"
    );
    for forged in [
        &[("answer.md", &b"Done."[..])][..],
        &[("answer.md", b"Done."), ("usage.json", b"[1,")],
        &[("usage.json", b"{}"), ("transcript.jsonl", b"{\"event\":\"end\",\"tool_calls\":0}")],
        &[("usage.json", b"{}"), ("transcript.jsonl", b"")],
    ] {
        let forged = scene.objects.put_files(forged).unwrap();
        let results = tell(forged, file("a.md"));
        assert!(matches!(results, Err(ObjectError::Damaged(id)) if id == forged.0), "{results:?}");
    }
}

#[test]
fn the_end_of_a_command_tells_its_check() {
    let result = |how, stdout, stderr| {
        let result = command_result(3, 1, &how, 7, [stderr, stdout]);
        assert_eq!(result.check, 3);
        (result.met, result.details.to_string())
    };
    let said = |met: Option<bool>, details: &str| (met, details.to_owned());
    assert_eq!(result(How::Exited(1), "", ""), said(Some(true), "exit code 1"));
    assert_eq!(result(How::Exited(0), "fine\n", " \n"), said(Some(false), "exit code 0: fine"));
    assert_eq!(result(How::Exited(1), "out", "one\n two"), said(Some(true), "exit code 1: one two"));
    assert_eq!(result(How::TimedOut, "", ""), said(None, "it did not end within 7 seconds"));
    assert_eq!(result(How::Signalled(9), "", ""), said(None, "ended by signal 9"));
    assert_eq!(result(How::Cancelled, "", ""), said(None, "it was cancelled"));
    let why = "no\nsuch \u{1b}program".to_owned();
    let ours = "skilltune: not started: no such program";
    assert_eq!(result(How::NotStarted { why }, "", ours), said(None, "no such program"), "it is said once");
    let lost = How::Lost { why: "its guardian was killed".to_owned() };
    assert_eq!(result(lost, "", ""), said(None, "its guardian was killed"));
    let key = ["ghp", "_", &"q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(2)[..36]].concat();
    let flood = format!("{}\u{1b}[2J {key}\u{202e}\nAssertionError: 3 != 4\n", "x ".repeat(1 << 20));
    let (_, details) = result(How::Exited(1), &flood, "");
    assert!(
        details.starts_with("exit code 1: …") && details.ends_with("AssertionError: 3 != 4"),
        "{details}"
    );
    assert!(!details.contains(char::is_control) && !details.contains(&key[..10]), "{details}");
    assert!(details.chars().count() <= 400, "{details}");
}
