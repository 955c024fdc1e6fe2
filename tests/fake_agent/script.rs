//! What the scripted agent is told to do.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::gan;
use crate::law;
use crate::misbehave::Misbehaviour;
use crate::reflex::Play;

#[expect(clippy::struct_excessive_bools, reason = "each is something that a test turns on")]
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Script {
    pub(crate) log: PathBuf,
    pub(crate) delay_ms: u64,
    /// Up to so much more, the same for the same call.
    pub(crate) jitter_ms: u64,
    /// And so much more for one call in sixteen.
    pub(crate) slow_ms: u64,
    /// By role, or by phase of the reflex loop: a pipe that the agent waits at until the test opens it; one that is not there is an open gate.
    pub(crate) gates: BTreeMap<String, PathBuf>,
    /// A pipe that the agent waits at once it has answered and closed its output; one that is not there is an open gate.
    pub(crate) linger: PathBuf,
    /// By role: what the agent does instead of its work.
    pub(crate) misbehave: BTreeMap<String, Misbehaviour>,
    /// By skill: from which quality to which the improver goes.
    pub(crate) improve: BTreeMap<String, BTreeMap<u32, u32>>,
    pub(crate) style: Style,
    /// The improver makes no edit in so many of its first calls.
    pub(crate) unedited: usize,
    /// Qualities that are judged so much better the first time; kept in `lucky_file`.
    pub(crate) lucky: BTreeMap<u32, u32>,
    pub(crate) lucky_file: PathBuf,
    /// Answers the evaluator without criteria, as the original does.
    pub(crate) claims: bool,
    /// The member of a chain that it names for each statement that is not true.
    pub(crate) at_fault: Option<String>,
    /// How it judges statements.
    pub(crate) judges: Judges,
    /// Answers the evaluator with rubbish.
    pub(crate) rubbish: bool,
    /// What the executor comes to without a skill.
    pub(crate) unaided: u32,
    /// By skill: what the executor makes is so much better than the skill, as an agent may be that changes under the same name.
    pub(crate) shift: BTreeMap<String, i32>,
    /// By skill: how many of a hundred tries come to nothing, and the seed of that.
    pub(crate) flicker: BTreeMap<String, (u64, u64)>,
    /// The executor gives up at these qualities.
    pub(crate) executor_fails_at: Vec<u32>,
    /// By role: the files that the agent writes into besides its work, or tries to.
    pub(crate) overwrite: BTreeMap<String, Vec<PathBuf>>,
    /// What came of it, a line each.
    pub(crate) overwritten: PathBuf,
    /// By role, phase or turn: a word, and what stands in its place in all that the agent says and edits. That is the value
    /// of the variable of that name, or the text itself where the agent was given no such variable.
    pub(crate) swaps: BTreeMap<String, (String, String)>,
    /// The executor leaves no file.
    pub(crate) words_only: bool,
    /// Where each call tells what it was started with.
    pub(crate) dump: PathBuf,
    /// Repeats the prompt before the answer.
    pub(crate) parrot: bool,
    /// Begins each answer with bytes that are no text.
    pub(crate) no_text: bool,
    /// What its improver writes at the end of the page, too.
    pub(crate) learns: String,
    /// Wraps every answer in a JSON document with its cost.
    pub(crate) envelope: bool,
    /// The scenarios that it drafts.
    pub(crate) scenarios: serde_json::Value,
    /// What it does in the reflex loop.
    pub(crate) reflex: Play,
    /// What it does in the builder/evaluator loop.
    pub(crate) gan: gan::Play,
    /// A simulated world, in place of all that is told here of its work.
    pub(crate) law: Option<law::Play>,
}

/// The texts of the workspace by their paths.
fn workspace() -> BTreeMap<String, String> {
    let files = walkdir::WalkDir::new(".").into_iter().map(|entry| entry.expect("the workspace can be read"));
    let files = files.filter(|entry| entry.file_type().is_file()).filter_map(|entry| {
        let path = entry.path().strip_prefix(".").expect("it is below").display().to_string();
        Some((path, std::fs::read_to_string(entry.path()).ok()?))
    });
    files.collect()
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    #[default]
    InPlace,
    Words,
    Outside,
    NoSkill,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Judges {
    #[default]
    Honest,
    /// Everything is true.
    AllTrue,
    /// Any file is there that somebody names.
    BelievesFiles,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            log: PathBuf::new(),
            delay_ms: 0,
            jitter_ms: 0,
            slow_ms: 0,
            gates: BTreeMap::new(),
            linger: PathBuf::new(),
            misbehave: BTreeMap::new(),
            improve: BTreeMap::new(),
            style: Style::default(),
            unedited: 0,
            lucky: BTreeMap::new(),
            lucky_file: PathBuf::new(),
            claims: false,
            at_fault: None,
            judges: Judges::default(),
            rubbish: false,
            unaided: 50,
            shift: BTreeMap::new(),
            flicker: BTreeMap::new(),
            executor_fails_at: Vec::new(),
            overwrite: BTreeMap::new(),
            overwritten: PathBuf::new(),
            swaps: BTreeMap::new(),
            words_only: false,
            envelope: false,
            dump: PathBuf::new(),
            parrot: false,
            no_text: false,
            learns: String::new(),
            scenarios: serde_json::Value::Null,
            reflex: Play::default(),
            gan: gan::Play::default(),
            law: None,
        }
    }
}

impl Script {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read(path).expect("the script can be read");
        serde_json::from_slice(&text).expect("the script is well formed")
    }

    /// What the executor makes in this call of a skill of that quality. The same call made again may come to something else.
    pub(crate) fn made(&self, skill: &str, quality: u32, call: &str) -> u32 {
        let shifted = quality.saturating_add_signed(self.shift.get(skill).copied().unwrap_or_default());
        let Some(&(share, seed)) = self.flicker.get(skill) else { return shifted };
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let nth = log.lines().filter(|line| line.starts_with(&format!("start {call} "))).count();
        let mut hasher = DefaultHasher::new();
        (seed, call, nth).hash(&mut hasher);
        if hasher.finish() % 100 < share { 0 } else { shifted }
    }

    /// What it drafts, under the code that the prompt asks for.
    pub(crate) fn draft(&self, prompt: &str) -> String {
        let code = prompt.rsplit_once("\"answer_to\": \"").and_then(|(_, rest)| rest.split_once('"'));
        let (code, _) = code.expect("a code is asked for");
        serde_json::json!({ "answer_to": code, "scenarios": self.scenarios }).to_string()
    }

    /// The quality to go to; without a script, ever a little higher.
    pub(crate) fn next(&self, skill: &str, quality: u32) -> Option<u32> {
        if self.improve.is_empty() {
            return Some((quality + 22).min(95));
        }
        self.improve.get(skill)?.get(&quality).copied()
    }

    /// Arguments, environment and the length of the prompt, as a line of JSON.
    pub(crate) fn tell_start(&self, prompt: &str) {
        if self.dump.as_os_str().is_empty() {
            return;
        }
        let told = serde_json::json!({
            "argv": std::env::args().collect::<Vec<_>>(),
            "env": std::env::vars().collect::<BTreeMap<_, _>>(),
            "prompt": prompt.len(),
            "files": workspace(),
        });
        append(&self.dump, &format!("{told}\n"));
    }

    /// Writes where it has no business to, by a child of its own, and tells whether that was let.
    pub(crate) fn overwrite(&self, role: &str) {
        for path in self.overwrite.get(role).into_iter().flatten() {
            let ours = std::env::current_exe().expect("we are somewhere");
            let done = std::process::Command::new(ours).arg("scribble").arg(path).status();
            let told = if done.expect("we can be started").success() { "written" } else { "denied" };
            append(&self.overwritten, &format!("{told} {role} {}\n", path.display()));
        }
    }

    /// The text as an agent in that part says it.
    pub(crate) fn swapped(&self, part: &str, text: &str) -> String {
        let Some((word, other)) = self.swaps.get(part) else { return text.to_owned() };
        text.replace(word, &std::env::var(other).unwrap_or_else(|_| other.clone()))
    }

    /// The same in the files that the agent edits.
    pub(crate) fn swap_in_files(&self, part: &str) {
        for folder in self.swaps.get(part).into_iter().flat_map(|_| edited_folders()) {
            for file in std::fs::read_dir(folder).expect("it is a folder").flatten() {
                if let Ok(text) = std::fs::read_to_string(file.path()) {
                    std::fs::write(file.path(), self.swapped(part, &text)).expect("the copy can be written");
                }
            }
        }
    }

    /// Whether this is the first request of its kind. Asked the same again, it is answered the same.
    pub(crate) fn is_first(&self, kind: &str, request: &str) -> bool {
        let path = self.lucky_file.with_extension(kind);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => std::fs::write(&path, request).map(|()| true).expect("the file can be written"),
            Err(_) => std::fs::read_to_string(&path).is_ok_and(|first| first == request),
        }
    }

    /// How many other calls of this kind there were before this one, by the log. Asked the same again, it is the same number.
    pub(crate) fn nth(&self, kind: &str, call: &str) -> usize {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let begun = log.lines().filter_map(|line| line.strip_prefix("start ")?.split(' ').next());
        let mut known: Vec<&str> = Vec::new();
        for name in begun.filter(|name| name.starts_with(&format!("{kind}-"))) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        known.iter().position(|name| *name == call).expect("this call has begun")
    }

    /// One line in one write, so that the lines of several agents do not mix.
    pub(crate) fn note(&self, what: &str, call: &str) {
        if self.log.as_os_str().is_empty() {
            return;
        }
        let line = format!("{what} {call} {}\n", std::process::id());
        append(&self.log, &line);
    }
}

/// The copies in the workspace that an agent may edit.
fn edited_folders() -> impl Iterator<Item = PathBuf> {
    let skills = std::fs::read_dir("skill").into_iter().flatten().flatten().map(|skill| skill.path());
    skills.chain(Some(PathBuf::from("artifact")).filter(|artifact| artifact.is_dir()))
}

pub(crate) fn append(path: &Path, line: &str) {
    let mut log = OpenOptions::new().append(true).create(true).open(path).expect("the log can be opened");
    log.write_all(line.as_bytes()).expect("the log can be written");
}

pub(crate) fn envelope(answer: &str) -> String {
    let cost = serde_json::json!({ "usd": 0.25, "input": 1000, "output": 200 });
    serde_json::json!({ "result": answer, "cost": cost }).to_string()
}
