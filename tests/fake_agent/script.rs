//! The script of the scripted agent.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::evolve;
use crate::gan;
use crate::law;
use crate::misbehave::Misbehaviour;
use crate::reflex::Play;
use crate::review;

#[expect(clippy::struct_excessive_bools, reason = "each is something that a test turns on")]
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Script {
    pub(crate) log: PathBuf,
    pub(crate) delay_ms: u64,
    /// The maximum random delay, the same for the same call.
    pub(crate) jitter_ms: u64,
    /// An extra delay for one call in sixteen.
    pub(crate) slow_ms: u64,
    /// By role, or by phase of the reflex loop: a pipe at which the agent waits until the test opens it; a missing pipe
    /// is an open gate.
    pub(crate) gates: BTreeMap<String, PathBuf>,
    /// A pipe at which the agent waits after it has answered and closed its output; a missing pipe is an open gate.
    pub(crate) linger: PathBuf,
    /// By role: what the agent does instead of its work.
    pub(crate) misbehave: BTreeMap<String, Misbehaviour>,
    /// By skill: the improver's steps from one quality to the next.
    pub(crate) improve: BTreeMap<String, BTreeMap<u32, u32>>,
    pub(crate) style: Style,
    /// The number of first calls in which the improver makes no edit.
    pub(crate) unedited: usize,
    /// The bonus that a quality gets when it is first judged; recorded in `lucky_file`.
    pub(crate) lucky: BTreeMap<u32, u32>,
    pub(crate) lucky_file: PathBuf,
    /// Whether the evaluator answers without criteria, as the original does.
    pub(crate) claims: bool,
    /// The member of a chain that the judge blames for each false statement.
    pub(crate) at_fault: Option<String>,
    /// How the judge evaluates statements.
    pub(crate) judges: Judges,
    /// Whether the evaluator answers with rubbish.
    pub(crate) rubbish: bool,
    /// The executor's quality without a skill.
    #[serde(rename = "unaided")]
    pub(crate) without_skill: u32,
    /// By skill: how much better the executor's output is than the skill, for an agent that changes under the same
    /// name.
    pub(crate) shift: BTreeMap<String, i32>,
    /// By skill: how many of a hundred attempts fail, and the seed.
    pub(crate) flicker: BTreeMap<String, (u64, u64)>,
    /// The qualities at which the executor fails.
    pub(crate) executor_fails_at: Vec<u32>,
    /// By role: the files outside its work that the agent tries to write.
    pub(crate) overwrite: BTreeMap<String, Vec<PathBuf>>,
    /// The file with the results of these attempts, one per line.
    pub(crate) overwritten: PathBuf,
    /// By role, phase or turn: a word and its replacement in all that the agent says and edits. The replacement is the
    /// value of the variable of that name, or the text itself if the agent has no such variable.
    pub(crate) swaps: BTreeMap<String, (String, String)>,
    /// Whether the executor leaves no file.
    pub(crate) words_only: bool,
    /// The file in which each call records how it was started.
    pub(crate) dump: PathBuf,
    /// Whether to repeat the prompt before the answer.
    pub(crate) parrot: bool,
    /// Whether to begin each answer with bytes that are not text.
    pub(crate) no_text: bool,
    /// The text that the improver adds at the end of the page.
    pub(crate) learns: String,
    /// Whether to wrap every answer in a JSON document with its cost.
    pub(crate) envelope: bool,
    /// The scenarios that the agent drafts.
    pub(crate) scenarios: serde_json::Value,
    /// The script for the reflex loop.
    pub(crate) reflex: Play,
    /// The script for the builder/evaluator loop.
    pub(crate) gan: gan::Play,
    /// The answers of the expert, one for each call; the last one is repeated. By default it names the files that it has.
    pub(crate) expert: Vec<String>,
    /// The script for runs of `evolve`.
    pub(crate) evolve: evolve::Play,
    /// The script for reviews.
    pub(crate) review: review::Play,
    /// A simulated world, which replaces the rest of the work script.
    pub(crate) law: Option<law::Play>,
}

/// Returns the texts of the workspace by their paths.
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
    /// Every statement is true.
    AllTrue,
    /// Every named file exists.
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
            without_skill: 50,
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
            expert: Vec::new(),
            evolve: evolve::Play::default(),
            review: review::Play::default(),
            law: None,
        }
    }
}

impl Script {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read(path).expect("the script can be read");
        serde_json::from_slice(&text).expect("the script is well formed")
    }

    /// Returns the quality of the executor's output in this call with a skill of that quality. A repeated call can
    /// differ.
    pub(crate) fn made(&self, skill: &str, quality: u32, call: &str) -> u32 {
        let shifted = quality.saturating_add_signed(self.shift.get(skill).copied().unwrap_or_default());
        let Some(&(share, seed)) = self.flicker.get(skill) else { return shifted };
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let nth = log.lines().filter(|line| line.starts_with(&format!("start {call} "))).count();
        let mut hasher = DefaultHasher::new();
        (seed, call, nth).hash(&mut hasher);
        if hasher.finish() % 100 < share { 0 } else { shifted }
    }

    /// Returns the answer of an expert. `CODE` in it becomes the code from the prompt, if the prompt has one.
    pub(crate) fn as_expert(&self, prompt: &str, call: &str) -> String {
        let answers = self.expert.get(self.nth("expert", call)).or(self.expert.last());
        let code = prompt.rsplit_once("\"answer_to\": \"").and_then(|(_, rest)| rest.split_once('"'));
        let coded = |answer: &String| code.map_or(answer.clone(), |(code, _)| answer.replace("CODE", code));
        let files = || workspace().into_keys().collect::<Vec<_>>().join(", ");
        answers.map_or_else(|| format!("I read: {}", files()), coded)
    }

    /// Returns the drafted scenarios with the code from the prompt.
    pub(crate) fn draft(&self, prompt: &str) -> String {
        let code = prompt.rsplit_once("\"answer_to\": \"").and_then(|(_, rest)| rest.split_once('"'));
        let (code, _) = code.expect("a code is asked for");
        serde_json::json!({ "answer_to": code, "scenarios": self.scenarios }).to_string()
    }

    /// Returns the next quality; without a script always a little higher.
    pub(crate) fn next(&self, skill: &str, quality: u32) -> Option<u32> {
        if self.improve.is_empty() {
            return Some((quality + 22).min(95));
        }
        self.improve.get(skill)?.get(&quality).copied()
    }

    /// Records arguments, environment, prompt length and files as a line of JSON.
    pub(crate) fn tell_start(&self, prompt: &str) {
        if self.dump.as_os_str().is_empty() {
            return;
        }
        let start = serde_json::json!({
            "argv": std::env::args().collect::<Vec<_>>(),
            "env": std::env::vars().collect::<BTreeMap<_, _>>(),
            "prompt": prompt.len(),
            "files": workspace(),
        });
        append(&self.dump, &format!("{start}\n"));
    }

    /// Tries to write forbidden files with a child process, and records whether that succeeded.
    pub(crate) fn overwrite(&self, role: &str) {
        for path in self.overwrite.get(role).into_iter().flatten() {
            let ours = std::env::current_exe().expect("we are somewhere");
            let done = std::process::Command::new(ours).arg("scribble").arg(path).status();
            let word = if done.expect("we can be started").success() { "written" } else { "denied" };
            append(&self.overwritten, &format!("{word} {role} {}\n", path.display()));
        }
    }

    /// Returns the text with this part's replacement.
    pub(crate) fn swapped(&self, part: &str, text: &str) -> String {
        let Some((word, other)) = self.swaps.get(part) else { return text.to_owned() };
        text.replace(word, &std::env::var(other).unwrap_or_else(|_| other.clone()))
    }

    /// Makes the same replacement in the files that the agent edits.
    pub(crate) fn swap_in_files(&self, part: &str) {
        for folder in self.swaps.get(part).into_iter().flat_map(|_| edited_folders()) {
            for file in std::fs::read_dir(folder).expect("it is a folder").flatten() {
                if let Ok(text) = std::fs::read_to_string(file.path()) {
                    std::fs::write(file.path(), self.swapped(part, &text)).expect("the copy can be written");
                }
            }
        }
    }

    /// Returns whether this is the first request of its kind. The answer is the same for a repeated request.
    pub(crate) fn is_first(&self, kind: &str, request: &str) -> bool {
        let path = self.lucky_file.with_extension(kind);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => std::fs::write(&path, request).map(|()| true).expect("the file can be written"),
            Err(_) => std::fs::read_to_string(&path).is_ok_and(|first| first == request),
        }
    }

    /// Returns the number of earlier calls of this kind in the log. The answer is the same for a repeated call.
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

    /// Logs one line in one write, so that the lines of several agents do not mix.
    pub(crate) fn note(&self, what: &str, call: &str) {
        if self.log.as_os_str().is_empty() {
            return;
        }
        let line = format!("{what} {call} {}\n", std::process::id());
        append(&self.log, &line);
    }
}

/// Returns the copies in the workspace that an agent may edit.
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
