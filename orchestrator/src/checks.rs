//! Machine checks for all loops: stores the evidence of a trial, evaluates its checks, and describes how a command
//! ended.
//!
//! ```text
//! a trial --> Evidence -- keep --> tree -\
//!         \-> what it left --> tree ------+- tell --> CheckResult
//!                what it began with ----/
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use skilltune_phases::base::delivery::SkillUse;
use skilltune_phases::base::id::{BlobId, TreeId};
use skilltune_phases::runs::event::Spent;
use skilltune_phases::suites::checks::{self, Bytes, Check, CheckResult, Facts, Usage};
use skilltune_phases::suites::transcript::Transcript;

use crate::process::How;
use crate::snapshot::{Manifest, Node, ObjectError, Objects, RelPath, changes};

/// The evidence of a trial besides its files.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The agent's last message.
    pub answer: &'a str,
    /// Redacted. A transcript without events counts as none.
    pub transcript: Option<&'a Transcript>,
    pub usage: Usage,
}

const ANSWER: &str = "answer.md";
const TRANSCRIPT: &str = "transcript.jsonl";
const USAGE: &str = "usage.json";

/// A longer answer is stored but not checked.
const LONGEST_ANSWER: u64 = 4 << 20;
/// More than [`skilltune_phases::suites::transcript::MOST_EVENTS`] events can take.
const LONGEST_TRANSCRIPT: u64 = 128 << 20;
const LONGEST_USAGE: u64 = 4 << 10;

/// Returns the usage of a call, as far as the agent reported it.
pub fn usage(spent: &Spent, turns: Option<u64>, skill: Option<SkillUse>) -> Usage {
    let tokens =
        spent.input_tokens.zip(spent.output_tokens).map(|(input, output)| input.saturating_add(output));
    Usage { ms: Some(spent.ms), tokens, turns, skill }
}

pub fn keep(objects: &Objects, evidence: &Evidence<'_>) -> Result<TreeId, ObjectError> {
    let usage = serde_json::to_vec(&evidence.usage).expect("numbers have a JSON text");
    let lines = evidence.transcript.filter(|transcript| !transcript.is_empty()).map(Transcript::lines);
    let mut files = vec![(ANSWER, evidence.answer.as_bytes()), (USAGE, usage.as_slice())];
    files.extend(lines.as_ref().map(|lines| (TRANSCRIPT, lines.as_bytes())));
    objects.put_files(&files)
}

/// Returns the usage of a trial from its evidence.
pub fn usage_of(objects: &Objects, evidence: TreeId) -> Result<Usage, ObjectError> {
    kept_usage(objects, &objects.manifest(evidence)?)?.ok_or(ObjectError::Damaged(evidence.0))
}

fn kept_usage(objects: &Objects, kept: &Manifest) -> Result<Option<Usage>, ObjectError> {
    let usage = text(objects, kept, USAGE, LONGEST_USAGE)?.and_then(Result::ok);
    Ok(usage.and_then(|usage| json(&usage)))
}

/// Evaluates all checks except commands, each by its index. `start` is the workspace before the trial.
pub fn tell(
    objects: &Objects,
    start: Option<TreeId>,
    left: TreeId,
    evidence: TreeId,
    checks: &mut dyn Iterator<Item = (usize, &Check)>,
) -> Result<Vec<CheckResult>, ObjectError> {
    let trial = Trial::read(objects, start, left, evidence)?;
    let mut results = Vec::new();
    for (check, how) in checks.filter(|(_, check)| !check.is_program()) {
        let (met, details) = checks::tell(how, &trial);
        if let Some(error) = trial.error.take() {
            return Err(error);
        }
        results.push(CheckResult { check, met, details: details.into() });
    }
    Ok(results)
}

/// Returns the result of a check by a command that should exit with code `exit` within `seconds`. A command that did
/// not run to its end decides nothing.
pub fn command_result(
    check: usize,
    exit: i32,
    how: &How,
    seconds: u64,
    [stderr, stdout]: [&str; 2],
) -> CheckResult {
    let (met, end) = match how {
        How::NotStarted { why } => {
            return CheckResult { check, met: None, details: checks::line(why).into() };
        }
        How::Exited(code) => (Some(*code == exit), end_of(how, seconds)),
        How::TimedOut | How::Signalled(_) | How::Cancelled | How::OutputClosed | How::Lost { .. } => {
            (None, end_of(how, seconds))
        }
    };
    let said = [stderr, stdout].into_iter().map(checks::quote_end).find(|said| !said.is_empty());
    let details = said.map_or_else(|| end.clone(), |said| format!("{end}: {said}"));
    CheckResult { check, met, details: checks::line(&details).into() }
}

/// Describes how a program with a limit of `seconds` ended.
pub fn end_of(how: &How, seconds: u64) -> String {
    match how {
        How::Exited(code) => format!("exit code {code}"),
        How::TimedOut => format!("it did not end within {seconds} seconds"),
        How::Signalled(signal) => format!("ended by signal {signal}"),
        How::Cancelled | How::OutputClosed => "it was cancelled".to_owned(),
        How::NotStarted { why } | How::Lost { why } => why.clone(),
    }
}

/// Returns the exit code of a command in the way of shells and of `timeout`: a command that crashes or hangs has failed.
/// None if it could not start, or was cancelled.
pub fn exit_code(how: &How) -> Option<i32> {
    match how {
        How::Exited(code) => Some(*code),
        How::Signalled(signal) => Some(128 + signal),
        How::TimedOut => Some(124),
        How::Cancelled | How::OutputClosed | How::NotStarted { .. } | How::Lost { .. } => None,
    }
}

/// A trial as read from the store.
struct Trial<'a> {
    objects: &'a Objects,
    files: BTreeMap<String, BlobId>,
    touched: Vec<String>,
    answer: Option<String>,
    transcript: Option<Transcript>,
    usage: Usage,
    /// The error that kept the store from returning a file's content.
    error: RefCell<Option<ObjectError>>,
}

impl<'a> Trial<'a> {
    fn read(
        objects: &'a Objects,
        start: Option<TreeId>,
        left: TreeId,
        evidence: TreeId,
    ) -> Result<Self, ObjectError> {
        let start = start.map(|start| objects.manifest(start)).transpose()?.unwrap_or_default();
        let (left, kept) = (objects.manifest(left)?, objects.manifest(evidence)?);
        let answer = text(objects, &kept, ANSWER, LONGEST_ANSWER)?.and_then(Result::ok);
        let lines = text(objects, &kept, TRANSCRIPT, LONGEST_TRANSCRIPT)?;
        let damaged = || ObjectError::Damaged(evidence.0);
        let parsed = |lines: Result<String, u64>| Transcript::from_lines(&lines.ok()?);
        let transcript = lines.map(|lines| parsed(lines).ok_or_else(damaged)).transpose()?;
        let usage = kept_usage(objects, &kept)?.ok_or_else(damaged)?;
        let (files, touched) = (files(&left), touched(&start, &left));
        Ok(Self { objects, files, touched, answer, transcript, usage, error: RefCell::default() })
    }
}

impl Facts for Trial<'_> {
    fn files(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    fn bytes(&self, path: &str, most: u64) -> Bytes {
        let Some(blob) = self.files.get(path) else { return Bytes::Missing };
        match self.objects.read_at_most(*blob, most) {
            Ok(Ok(bytes)) => Bytes::Whole(bytes),
            Ok(Err(size)) => Bytes::TooLarge(size),
            Err(error) => {
                self.error.replace(Some(error));
                Bytes::Missing
            }
        }
    }

    fn touched(&self) -> Vec<&str> {
        self.touched.iter().map(String::as_str).collect()
    }

    fn answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    fn transcript(&self) -> Option<&Transcript> {
        self.transcript.as_ref()
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

/// Symlinks are not followed and do not count as files.
fn files(left: &Manifest) -> BTreeMap<String, BlobId> {
    let file = |entry: &crate::snapshot::Entry| match entry.node {
        Node::File { blob, .. } => Some((lossy(entry.path.as_bytes()), blob)),
        Node::Folder { .. } | Node::Link { .. } => None,
    };
    left.entries().iter().filter_map(file).collect()
}

fn touched(start: &Manifest, left: &Manifest) -> Vec<String> {
    let start = start.copied();
    let is_file = |node: Option<&Node>| node.is_some_and(|node| !node.is_folder());
    let changed = changes(&start, left).into_iter();
    let changed =
        changed.filter(|change| is_file(start.get(&change.path)) || is_file(left.get(&change.path)));
    let changed = changed.filter(|change| !is_by_the_way(&start, &change.path));
    changed.map(|change| lossy(change.path.as_bytes())).collect()
}

/// Returns true for files that we ask an executor for besides its work, and for files that Python leaves after running
/// a script.
fn is_by_the_way(start: &Manifest, path: &RelPath) -> bool {
    let is_asked_for = matches!(path.as_bytes(), b"manifest.json" | b"run.json") && start.get(path).is_none();
    is_asked_for || path.as_bytes().split(|byte| *byte == b'/').any(|name| name == b"__pycache__")
}

fn lossy(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Returns the text of one of our files, or its size if it is larger than `most`; `None` if the file is missing.
fn text(
    objects: &Objects,
    kept: &Manifest,
    name: &str,
    most: u64,
) -> Result<Option<Result<String, u64>>, ObjectError> {
    let entry = kept.entries().iter().find(|entry| entry.path.as_bytes() == name.as_bytes());
    let Some(Node::File { blob, .. }) = entry.map(|entry| &entry.node) else { return Ok(None) };
    let bytes = objects.read_at_most(*blob, most)?;
    Ok(Some(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())))
}

fn json<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests;
