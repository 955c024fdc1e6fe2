//! The trace of a case: everything that the program printed, showed afterwards and wrote, as named texts.
//!
//! Only what differs between any two runs is masked: times, run ids, process ids, and the hashes that cover them. With
//! parallel calls the order of journal lines and printed lines is random, so these lines are sorted.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::case::{Act, Case, Chance};
use super::hashes::{self, Hashes};
use crate::cli_texts;
use crate::scene::{Ran, Scene, listing};

pub(super) struct Trace {
    /// The ending of the newest run, for the tally.
    pub(super) ending: String,
    parts: Vec<Part>,
}

struct Part {
    name: String,
    text: String,
}

impl Part {
    /// Returns whether this is a page of a run, or output printed while it worked.
    fn names_failures(&self) -> bool {
        let is_page = || self.name.starts_with(RUNS) && !self.name.contains("/agents/");
        let is_printed = self.name.starts_with(WORKED) || self.name == "view show";
        is_printed || (is_page() && !self.name.ends_with(JOURNAL))
    }
}

/// The views of the newest run that people and scripts ask for.
const VIEWS: [&[&str]; 7] = [
    &["status"],
    &["status", "--format", "json"],
    &["list"],
    &["list", "--format", "json"],
    &["show"],
    &["history"],
    &["diff"],
];

/// The prefix of names for the output of the case's commands.
const WORKED: &str = "command ";
const JOURNAL: &str = "history.jsonl";
const OBJECTS: &str = "project/.skilltune/objects/";
/// The files of runs come first: they explain most of a difference.
const FOLDERS: [&str; 5] = [RUNS, "project", "home", "state", "cache"];
const RUNS: &str = "project/.skilltune/runs";
/// The number of differing parts to name besides the first one.
const NAMED: usize = 8;
/// The key is random.
const CACHE_KEY: &str = "state/skilltune/cache-key";
/// An index lists only files that have been unchanged for a moment.
const INDEXES: &str = "cache/skilltune/indexes";

/// The patterns and their replacements.
static MASKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let masks = [
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?", "MOMENT"),
        // The column after a duration begins where the longest duration ends.
        (r"\b(\d+h \d\dm|\d+m \d\ds|\d+(\.\d)?s)\b *", "TIME "),
        (
            r#""((?:\w+_)?ms|seconds|(?:total_duration|time|completed_phase)_seconds|pid)": ?[\d.]+"#,
            r#""$1":N"#,
        ),
        (r#""time_seconds": (\{[^}]*\}|"[^"]*")"#, r#""time_seconds": N"#),
        (r#"\btime="[\d.]+""#, "time=N"),
        (r#""(seal|sum)": ?"[0-9a-f]+""#, r#""$1":H"#),
        (r#""program": ?"[^"]*""#, r#""program":V"#),
        // The order of lines gives the same information.
        (r#""seq": ?\d+"#, r#""seq":N"#),
    ];
    masks.map(|(pattern, mask)| (Regex::new(pattern).expect("it is a pattern"), mask)).into()
});

/// The number of a record in the `history` view.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^ *\d+  ").expect("it is a pattern"));

impl Trace {
    /// Runs a whole case with this binary. The folder has the same name each time.
    pub(super) fn of(binary: &str, seed: u64, case: &Case) -> Self {
        let name = format!("same-{}-{seed}", std::process::id());
        let mut stage = Stage {
            scene: Scene::named(&name, &case.skills, &case.script),
            binary,
            case,
            runs: Vec::new(),
            codes: Vec::new(),
            printed: Vec::new(),
            hashes: Hashes::default(),
            parts: Vec::new(),
        };
        for act in &case.acts {
            stage.act(act);
        }
        let ending = stage.ending();
        for view in VIEWS {
            let arguments: Vec<_> = view.iter().map(|word| (*word).to_owned()).collect();
            let ran = stage.run(&arguments);
            stage.print(format!("view {}", view.join(" ")), &ran, view == ["history"]);
        }
        let plain = |text: &str| masked(&stage.without_ids(text));
        stage.hashes = Hashes::read(&stage.scene.path("project/.skilltune"), &stage.runs, plain);
        // Other differences follow from these.
        stage.keep("exit codes", &format!("{:?}", stage.codes), false);
        stage.decisions();
        for Printed { name, text, is_journal } in std::mem::take(&mut stage.printed) {
            stage.keep(&name, &text, is_journal);
        }
        stage.files();
        let mut parts = stage.parts;
        if case.chance == Chance::FirstFailure {
            parts.retain(|part| !part.names_failures());
        }
        Self { ending, parts }
    }

    /// Returns the names of the parts that differ, and the first differing line of the first part.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let (old, new) = (self.by_name(), other.by_name());
        let all = self.parts.iter().chain(&other.parts).map(|part| part.name.as_str());
        let mut names: Vec<&str> = Vec::new();
        for name in all.filter(|name| old.get(name) != new.get(name)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let first = names.first()?;
        let [old, new] =
            [old, new].map(|of| of.get(first).map_or("(nothing)".to_owned(), |texts| texts.concat()));
        let line = cli_texts::difference(&old, &new).unwrap_or_default();
        let others = names.iter().skip(1).take(NAMED).map(|name| format!("\n  also {name}"));
        let more = names.len().saturating_sub(1 + NAMED);
        Some(format!("  {first}, {line}{}\n  and {more} more", others.collect::<String>()))
    }

    fn by_name(&self) -> HashMap<&str, Vec<&str>> {
        let mut texts = HashMap::<&str, Vec<&str>>::new();
        for part in &self.parts {
            texts.entry(&part.name).or_default().push(&part.text);
        }
        texts
    }
}

/// A case in progress.
struct Stage<'a> {
    scene: Scene,
    binary: &'a str,
    case: &'a Case,
    /// The run ids, oldest first.
    runs: Vec<String>,
    /// The exit codes of the case's own commands.
    codes: Vec<Option<i32>>,
    printed: Vec<Printed>,
    hashes: Hashes,
    parts: Vec<Part>,
}

/// The output of a command.
struct Printed {
    name: String,
    text: String,
    /// Whether the lines follow the records of a run.
    is_journal: bool,
}

impl Stage<'_> {
    fn run(&self, arguments: &[String]) -> Ran {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let mut command = self.scene.command_of(self.binary, &[], &arguments);
        // The help text contains the program's name.
        Ran::of(command.arg0("skilltune").output().expect("the binary starts"))
    }

    fn act(&mut self, act: &Act) {
        let arguments = match act {
            Act::Write(path, text) => return fs::write(self.scene.path("project").join(path), text).unwrap(),
            Act::Run(arguments) => arguments,
        };
        let newest = self.runs.last().map_or("none", String::as_str);
        let arguments: Vec<_> = arguments.iter().map(|word| word.replace("{run}", newest)).collect();
        let ran = self.run(&arguments);
        let folders = self.scene.run_folders();
        let ids = folders.iter().filter_map(|folder| folder.file_name()?.to_str());
        let new: Vec<_> =
            ids.filter(|id| !self.runs.iter().any(|known| known == id)).map(str::to_owned).collect();
        self.runs.extend(new);
        self.codes.push(ran.code);
        self.print(format!("{WORKED}{}: {}", self.codes.len(), arguments.join(" ")), &ran, true);
    }

    /// Stores all output of a command.
    fn print(&mut self, name: String, ran: &Ran, is_journal: bool) {
        let text = format!("exit code {:?}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
        self.printed.push(Printed { name, text, is_journal });
    }

    /// Returns the ending of the newest run.
    fn ending(&self) -> String {
        if self.runs.is_empty() {
            return "refused".to_owned();
        }
        let status = self.run(&["status".to_owned(), "--format".to_owned(), "json".to_owned()]).json();
        let fields = ["/outcome", "/reason", "/verdict", "/compared/verdict"];
        let fields = fields.iter().filter_map(|field| status.pointer(field)?.as_str());
        fields.collect::<Vec<_>>().join(", ")
    }

    /// Stores the decisions of the loops and their requests to agents.
    fn decisions(&mut self) {
        for id in self.runs.clone() {
            let folder = self.scene.path(RUNS).join(&id);
            let journal = fs::read_to_string(folder.join(JOURNAL)).unwrap();
            let events = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let events: Vec<_> = events.map(|mut line| line["event"].take()).collect();
            let decided = events.iter().filter_map(|event| event.get("decided").map(Value::to_string));
            self.keep(&format!("decisions of {id}"), &decided.collect::<Vec<_>>().join("\n"), false);
            for done in events.iter().filter_map(|event| event.get("done")) {
                let Some(call) = done["call"].as_str() else { continue };
                let prompt = folder.join("agents").join(&call[..hashes::SHORT]).join("prompt.md");
                let name = format!("prompt of {id}: {} {}", done["step"], done["attempt"]);
                self.keep(&name, &fs::read_to_string(prompt).unwrap_or_default(), false);
            }
        }
    }

    fn files(&mut self) {
        for folder in FOLDERS {
            let root = self.scene.path(folder);
            // A case without a run has no `runs` folder.
            let files = if root.is_dir() { listing(&root) } else { Vec::new() };
            for (path, mode, bytes) in files {
                let name = format!("{folder}/{}", path.display());
                let is_shard = name.starts_with(OBJECTS) && root.join(&path).is_dir();
                if name == CACHE_KEY || name.starts_with(INDEXES) || is_shard {
                    continue;
                }
                let link = fs::read_link(root.join(&path)).ok();
                let text = String::from_utf8(bytes).unwrap_or_else(|error| format!("{:?}", error.as_bytes()));
                let is_journal = name.ends_with(JOURNAL);
                let name = name.strip_prefix(OBJECTS).map_or(name.clone(), |hash| hash.replace('/', ""));
                self.keep(&name, &format!("{mode:o} {link:?}\n{text}"), is_journal);
            }
        }
    }

    /// Stores a text with everything masked that differs between two runs.
    fn keep(&mut self, name: &str, text: &str, is_journal: bool) {
        let [name, text] = [name, text].map(|text| self.hashes.replaced(&self.without_ids(text)));
        let mut text = masked(&text);
        if is_journal {
            text = self.settled(&text);
        }
        // Two objects that differ only in a time become equal after masking.
        if !self.parts.iter().any(|part| (&part.name, &part.text) == (&name, &text)) {
            self.parts.push(Part { name, text });
        }
    }

    /// Returns the lines of a journal without random order and repeats.
    fn settled(&self, text: &str) -> String {
        let mut lines: Vec<_> = text.lines().map(|line| NUMBER.replace(line, "")).collect();
        if !self.case.is_ordered() {
            lines.sort_unstable();
        }
        if self.case.chance == Chance::SameEvidence {
            let mut known = HashSet::new();
            lines.retain(|line| known.insert(line.clone()));
        }
        lines.join("\n")
    }

    fn without_ids(&self, text: &str) -> String {
        let ids = (1..).zip(&self.runs);
        ids.fold(text.to_owned(), |text, (nth, id)| text.replace(id, &format!("RUN-{nth}")))
    }
}

fn masked(text: &str) -> String {
    MASKS.iter().fold(text.to_owned(), |text, (pattern, mask)| pattern.replace_all(&text, *mask).into_owned())
}
