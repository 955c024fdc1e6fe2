//! Answer keys: files that hold tasks of a suite together with their expected results.
//!
//! The agents that are measured, and the improver, must not see one. Tasks alone are examples, and expectations alone
//! are the rules that a suite was written from: neither is a key.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::strings;
use super::words::{are_at_least, runs, unescaped, words};
use crate::base::name::Name;
use crate::base::yaml;
use crate::suites::checks::How;
use crate::suites::demand::AS_EXPECTED;
use crate::suites::scenario::Scenario;

/// A suite, prepared for comparison with files.
#[derive(Clone, Debug)]
pub struct AnswerKeys {
    scenarios: Vec<Name>,
    phrases: Vec<Phrase>,
    /// The runs of words to search for, with the phrases that contain each.
    runs: HashMap<String, Vec<usize>>,
    /// The lengths of these runs, and their first words.
    lengths: BTreeSet<usize>,
    firsts: HashSet<String>,
    /// The words of each task.
    tasks: HashMap<String, usize>,
}

/// The part of a suite's answers that a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The scenarios whose answers the file holds.
    pub scenarios: Vec<Name>,
    /// The line of the first answer.
    pub line: usize,
    /// It has answers of two scenarios, or of one in a suite of one or two, or half of all expectations.
    pub is_key: bool,
}

#[derive(Clone, Debug)]
struct Phrase {
    scenario: usize,
    kind: Kind,
    /// The number of its runs of words.
    runs: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Task,
    /// An expectation or an expected output.
    Statement,
    /// The pattern or value of a check, and all statements as one text.
    Other,
}

/// The phrases found in a text.
#[derive(Default)]
struct Hits {
    /// The runs found of each phrase.
    runs: HashMap<usize, HashSet<String>>,
    /// The first line of each phrase.
    lines: HashMap<usize, usize>,
}

/// A task of fewer words occurs in many texts, but still counts in a data entry.
const FEWEST_WORDS: usize = 4;

impl Held {
    /// Returns whether it must be hidden from the trials of a scenario: it is a key, or has the scenario's answer.
    pub fn is_for(&self, scenario: &Name) -> bool {
        self.is_key || self.scenarios.contains(scenario)
    }
}

/// Fewer statements may be in a page by chance, whatever their share is.
const FEWEST_STATEMENTS: usize = 3;

impl AnswerKeys {
    /// Prepares a suite. Text in `shown`, which agents see anyway, is not secret.
    pub fn new(scenarios: &[Scenario], shown: &str) -> Self {
        let texts = scenarios.iter().map(task).chain([shown.to_owned()]);
        let known: HashSet<String> =
            texts.flat_map(|text| runs(&text).map(|(_, run)| run).collect::<Vec<_>>()).collect();
        let mut keys = Self {
            scenarios: scenarios.iter().map(|scenario| scenario.id.clone()).collect(),
            phrases: Vec::new(),
            runs: HashMap::new(),
            lengths: BTreeSet::new(),
            firsts: HashSet::new(),
            tasks: HashMap::new(),
        };
        for (at, scenario) in scenarios.iter().enumerate() {
            let task = joined(&scenario.description);
            let mut cut: BTreeSet<String> = runs(&scenario.description).map(|(_, run)| run).collect();
            if cut.is_empty() && are_at_least(&task, FEWEST_WORDS) {
                cut.insert(task.clone());
            }
            keys.add(at, Kind::Task, cut);
            keys.tasks.insert(task, at);
            for (kind, text) in secrets(scenario) {
                let cut = runs(&text).map(|(_, run)| run).filter(|run| !known.contains(run));
                keys.add(at, kind, cut.collect());
            }
        }
        keys
    }

    fn add(&mut self, scenario: usize, kind: Kind, runs: BTreeSet<String>) {
        if runs.is_empty() {
            return;
        }
        let phrase = self.phrases.len();
        self.phrases.push(Phrase { scenario, kind, runs: runs.len() });
        for run in runs {
            self.lengths.insert(run.split(' ').count());
            self.firsts.extend(run.split(' ').next().map(str::to_owned));
            self.runs.entry(run).or_default().push(phrase);
        }
    }

    /// Returns the answers that a file holds, if any.
    pub fn held(&self, path: &str, text: &str) -> Option<Held> {
        let hits = self.hits(text);
        let answered = self.answered(&hits, path, text);
        let is_enough = self.are_enough(answered.len());
        match self.most_statements(&hits).filter(|_| !is_enough) {
            Some(stated) => self.name(&hits, &stated, true),
            None => self.name(&hits, &answered, is_enough),
        }
    }

    /// Returns the answers that a skill's page holds: a task and its answer in the same section. Pages have examples in
    /// one section and rules in another.
    pub fn held_by_page(&self, text: &str) -> Option<Held> {
        let held = sections(text).filter_map(|(above, section)| {
            let hits = self.hits(&section);
            let held = self.name(&hits, &self.answered(&hits, "", &section), false)?;
            Some(Held { line: above + held.line, ..held })
        });
        let mut whole = held.reduce(|mut whole, held| {
            whole.scenarios.extend(held.scenarios);
            whole
        })?;
        whole.scenarios.sort_unstable();
        whole.scenarios.dedup();
        Some(Held { is_key: self.are_enough(whole.scenarios.len()), ..whole })
    }

    fn name(&self, hits: &Hits, scenarios: &BTreeSet<usize>, is_key: bool) -> Option<Held> {
        let line_of = |chosen: &dyn Fn(&Phrase) -> bool| {
            let is_chosen = |phrase: &Phrase| scenarios.contains(&phrase.scenario) && chosen(phrase);
            let lines = hits.lines.iter().filter(|(phrase, _)| is_chosen(&self.phrases[**phrase]));
            lines.map(|(_, line)| *line).min()
        };
        let line = line_of(&|phrase| phrase.kind == Kind::Task).or_else(|| line_of(&|_| true)).unwrap_or(1);
        let named: Vec<Name> = scenarios.iter().map(|&at| self.scenarios[at].clone()).collect();
        (!named.is_empty()).then_some(Held { scenarios: named, line, is_key })
    }

    /// Marks files that are a key together: an author may keep one file per scenario.
    pub fn unite(&self, held: &mut [&mut Held]) {
        let all: BTreeSet<&Name> = held.iter().flat_map(|held| &held.scenarios).collect();
        if self.are_enough(all.len()) {
            for held in held {
                held.is_key = true;
            }
        }
    }

    /// Returns whether answers of this many scenarios are more than a coincidence.
    fn are_enough(&self, scenarios: usize) -> bool {
        scenarios >= if self.scenarios.len() > 2 { 2 } else { 1 }
    }

    /// Returns the scenarios whose task is in a text together with something that only their judges should know.
    fn answered(&self, hits: &Hits, path: &str, text: &str) -> BTreeSet<usize> {
        let (mut tasks, mut secrets) = (BTreeSet::new(), BTreeSet::new());
        for (phrase, found) in &hits.runs {
            let Phrase { scenario, kind, runs } = self.phrases[*phrase];
            match kind {
                Kind::Task if found.len() * 2 >= runs => tasks.insert(scenario),
                Kind::Task => false,
                Kind::Statement | Kind::Other => secrets.insert(scenario),
            };
        }
        let mut answered: BTreeSet<usize> = tasks.intersection(&secrets).copied().collect();
        if let Some(value) = structured(path, text) {
            self.entries(&value, &mut answered);
        }
        answered
    }

    /// Collects data entries that have a task and more about it, like the entries of suites.
    fn entries(&self, value: &Value, answered: &mut BTreeSet<usize>) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.entries(value, answered)),
            Value::Object(entry) => {
                answered.extend(self.task_of(entry));
                // promptfoo keeps the task among variables, next to the asserts.
                for (key, value) in entry {
                    let inner = value.as_object();
                    let task = inner.and_then(|inner| inner.values().find_map(|value| self.task(value)));
                    answered.extend(task.filter(|_| has_more(entry, key)));
                    self.entries(value, answered);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn task_of(&self, entry: &Map<String, Value>) -> Option<usize> {
        let (key, task) = entry.iter().find_map(|(key, value)| Some((key, self.task(value)?)))?;
        has_more(entry, key).then_some(task)
    }

    fn task(&self, value: &Value) -> Option<usize> {
        self.tasks.get(&joined(value.as_str()?)).copied()
    }

    /// Returns the scenarios whose statements a text repeats in full, if those are half of all statements.
    fn most_statements(&self, hits: &Hits) -> Option<BTreeSet<usize>> {
        let statements = || (0..).zip(&self.phrases).filter(|(_, phrase)| phrase.kind == Kind::Statement);
        let is_whole = |(at, phrase): &(usize, &Phrase)| {
            hits.runs.get(at).is_some_and(|found| found.len() == phrase.runs)
        };
        let whole: Vec<usize> = statements().filter(is_whole).map(|(_, phrase)| phrase.scenario).collect();
        let is_most = whole.len() >= FEWEST_STATEMENTS && whole.len() * 2 >= statements().count();
        is_most.then(|| whole.into_iter().collect())
    }

    fn hits(&self, text: &str) -> Hits {
        let mut hits = Hits::default();
        self.scan(text, &mut hits);
        if text.contains('\\') {
            self.scan(&unescaped(text), &mut hits);
        }
        hits
    }

    fn scan(&self, text: &str, hits: &mut Hits) {
        let words = words(text);
        for (at, (line, _)) in words.iter().enumerate().filter(|(_, (_, word))| self.firsts.contains(word)) {
            for words in self.lengths.iter().filter_map(|length| words.get(at..at + length)) {
                let run = words.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ");
                for phrase in self.runs.get(&run).into_iter().flatten() {
                    hits.runs.entry(*phrase).or_default().insert(run.clone());
                    let known = hits.lines.entry(*phrase).or_insert(*line);
                    *known = (*known).min(*line);
                }
            }
        }
    }
}

/// Returns the sections of a page, each with the number of lines above it.
fn sections(page: &str) -> impl Iterator<Item = (usize, String)> {
    let lines: Vec<&str> = page.lines().collect();
    let mut begins: Vec<usize> =
        (0..).zip(&lines).filter(|(_, line)| line.starts_with('#')).map(|(at, _)| at).collect();
    begins.insert(0, 0);
    begins.push(lines.len());
    let parts: Vec<(usize, String)> =
        begins.windows(2).map(|ends| (ends[0], lines[ends[0]..ends[1]].join("\n"))).collect();
    parts.into_iter()
}

/// Returns everything that an agent gets of its task.
fn task(scenario: &Scenario) -> String {
    let texts = [&scenario.description, &scenario.input_args, &scenario.success_criteria];
    texts.into_iter().chain(&scenario.requirements).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Returns what only judges and checks should know of a scenario. Statements are also read as one text, because in a
/// key the short ones follow each other too.
fn secrets(scenario: &Scenario) -> Vec<(Kind, String)> {
    let mut secrets: Vec<(Kind, String)> = Vec::new();
    secrets.extend(scenario.expected.iter().map(|text| (Kind::Statement, text.to_string())));
    for demand in &scenario.demands {
        match &demand.how {
            How::Question { text } if **text == *AS_EXPECTED => {}
            How::Question { text } => secrets.push((Kind::Statement, text.to_string())),
            How::Check(check) => {
                let check = serde_json::to_value(check).expect("a check has a JSON text");
                secrets.extend(strings(&check).into_iter().map(|text| (Kind::Other, text)));
            }
        }
    }
    let statements = secrets.iter().filter(|(kind, _)| *kind == Kind::Statement);
    let together = statements.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
    secrets.push((Kind::Other, together));
    secrets
}

fn joined(text: &str) -> String {
    words(text).into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// Words that do not reveal an answer.
const NEUTRAL: [&str; 22] = [
    "id",
    "name",
    "title",
    "eval_name",
    "eval_id",
    "description",
    "tags",
    "category",
    "kind",
    "type",
    "files",
    "skill",
    "skills",
    "skill_name",
    "note",
    "notes",
    "comment",
    "source",
    "language",
    "difficulty",
    "priority",
    "role",
];

/// Returns whether an entry has more than its task, which is under `key`.
fn has_more(entry: &Map<String, Value>, key: &str) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    let mut others = entry.iter().filter(|(name, _)| *name != key);
    others.any(|(name, value)| !NEUTRAL.contains(&name.as_str()) && !is_empty(value))
}

/// Parses JSON or lines of JSON, and TOML or YAML if the file name says so, because nearly every text is YAML.
fn structured(path: &str, text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("jsonl") => {
            Some(text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect())
        }
        Some("toml") => toml::from_str(text).ok(),
        Some("yaml" | "yml") => yaml::value(text).ok(),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests;
