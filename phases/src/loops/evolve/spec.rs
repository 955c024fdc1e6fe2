//! A specification: what a run has to reach, from the file of a person.
//!
//! A reader for each form (`markdown`, `yaml`) gives a draft, and `Draft::specification` refuses what no run can work with,
//! so the rules are the same for both. In Markdown, sections of other names and text outside of items are ignored. HTML
//! comments are dropped: an agent must not read what a person does not see.

mod markdown;
#[cfg(test)]
mod tests;
mod yaml;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::answer::says_something;
use crate::base::json::is_invisible;
use crate::suites::transcript::one_line;

/// The id of a constraint, a criterion or a task: see `is_id`.
pub type Id = Box<str>;

/// The largest file, in bytes.
pub const LARGEST: usize = 1 << 20;
pub const MOST_CRITERIA: usize = 200;
pub const MOST_CONSTRAINTS: usize = 100;
pub const MOST_TERMS: usize = 200;
/// The most statements that a goal is split into.
pub const MOST_STATEMENTS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Specification {
    pub goal: Box<str>,
    #[serde(default)]
    pub constraints: Vec<Constraint>,
    pub criteria: Vec<Criterion>,
    #[serde(default)]
    pub vocabulary: Vec<Term>,
}

/// What always has to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraint {
    pub id: Id,
    pub text: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    pub id: Id,
    pub text: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The program and the arguments that decide it, without a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// The place that a criterion was taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub file: Box<str>,
    pub line: u32,
}

/// A word of the specification, and its meaning there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    pub word: Box<str>,
    pub meaning: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    Critical,
    High,
    Medium,
    Low,
}

/// The reason why a file is not a specification, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("line {line}: {what}")]
    Line { line: u64, what: Box<str> },
    #[error("{0}")]
    File(Box<str>),
}

impl Priority {
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    pub fn word(self) -> &'static str {
        ["critical", "high", "medium", "low"][self as usize]
    }

    /// Returns how much a criterion counts in the score.
    pub fn weight(self) -> u32 {
        4 - self as u32
    }

    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word().eq_ignore_ascii_case(word.trim()))
    }
}

impl Specification {
    /// Returns the canonical Markdown. `read` gives the same specification from it.
    pub fn markdown(&self) -> String {
        markdown::written(self)
    }
}

/// Returns whether it is 1 to 64 ASCII letters, digits, `.`, `_` and `-`, of which the first is a letter or a digit.
pub fn is_id(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_part)
}

/// Reads a specification: YAML where the name of the file ends like YAML or JSON, else Markdown.
pub fn read(file_name: &str, text: &str) -> Result<Specification, Fault> {
    if text.len() > LARGEST {
        return Err(too_large());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    for (line, words) in (1..).zip(text.split('\n')) {
        refuse_invisible(Place::Line(line), words)?;
    }
    let ending = file_name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let draft = match ending.as_deref() {
        Some("yaml" | "yml" | "json") => yaml::read(&text)?,
        _ => markdown::read(&text)?,
    };
    draft.specification()
}

/// Returns the reason why the statements are not parts of the goal, for the agent that gave them. Each has to be a quote of
/// the goal. White space does not matter.
pub fn statements_fault(goal: &str, statements: &[impl AsRef<str>]) -> Option<String> {
    let count = statements.len();
    if !(1..=MOST_STATEMENTS).contains(&count) {
        return Some(format!("{count} statements were given; give 1 to {MOST_STATEMENTS}"));
    }
    let normalised = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (goal, mut earlier) = (normalised(goal), BTreeSet::new());
    for (number, statement) in (1_usize..).zip(statements) {
        let statement = normalised(statement.as_ref());
        let why = if !says_something(&statement) {
            "is empty; leave it out, or quote the goal"
        } else if !goal.contains(&statement) {
            "is not a quote of the goal; copy the words of the goal exactly"
        } else if !earlier.insert(statement) {
            "is there twice; give each statement once"
        } else {
            continue;
        };
        return Some(format!("statement {number} {why}"));
    }
    None
}

/// The place of an entry: a line of Markdown, or its number in a list of YAML.
#[derive(Clone, Copy, Debug)]
enum Place {
    File,
    Line(u64),
    Entry(&'static str, usize),
}

impl Place {
    fn fault(self, what: impl Into<Box<str>>) -> Fault {
        let what = what.into();
        match self {
            Self::File => Fault::File(what),
            Self::Line(line) => Fault::Line { line, what },
            Self::Entry(list, number) => Fault::File(format!("{list} {number}: {what}").into()),
        }
    }
}

/// A specification as a reader found it.
#[derive(Debug, Default)]
struct Draft {
    goal: Option<(Place, String)>,
    constraints: Vec<Entry>,
    criteria: Vec<Entry>,
    /// The words, each as the id of its meaning.
    terms: Vec<Entry>,
}

/// An entry of a list as a reader found it.
#[derive(Debug)]
struct Entry {
    place: Place,
    id: Option<String>,
    text: String,
    priority: Option<String>,
    check: Option<Vec<String>>,
    source: Option<Source>,
}

impl Entry {
    fn new(place: Place) -> Self {
        Self { place, id: None, text: String::new(), priority: None, check: None, source: None }
    }
}

impl Draft {
    fn specification(self) -> Result<Specification, Fault> {
        self.refuse_too_much()?;
        let taken = self.ids()?;
        let Some((place, goal)) = self.goal else {
            return Err(Place::File.fault(
                "no goal is there: write what the run has to reach below `## Goal`, or in YAML as `goal: ...`",
            ));
        };
        let goal = required(place, "the goal", &goal)?;
        if self.criteria.is_empty() {
            return Err(Place::File.fault(
                "no criterion is there: write each as a list item below `## Acceptance criteria`, or in YAML as an entry of `criteria`",
            ));
        }
        let mut free = free_ids('K', &taken);
        let constraints = self.constraints.into_iter().map(|entry| -> Result<Constraint, Fault> {
            let text = required(entry.place, "this constraint", &entry.text)?;
            Ok(Constraint { id: entry.id.map(Id::from).or_else(|| free.next()).expect(NO_END), text })
        });
        let constraints = constraints.collect::<Result<_, Fault>>()?;
        let mut free = free_ids('A', &taken);
        let criteria = self.criteria.into_iter().map(|entry| -> Result<Criterion, Fault> {
            let text = required(entry.place, "this criterion", &entry.text)?;
            let priority = entry.priority.map(|word| priority(entry.place, &word)).transpose()?;
            let id = entry.id.map(Id::from).or_else(|| free.next()).expect(NO_END);
            Ok(Criterion { id, text, priority, check: entry.check, source: entry.source })
        });
        let criteria = criteria.collect::<Result<_, Fault>>()?;
        let vocabulary = self.terms.iter().map(term).collect::<Result<_, Fault>>()?;
        Ok(Specification { goal, constraints, criteria, vocabulary })
    }

    fn refuse_too_much(&self) -> Result<(), Fault> {
        for (what, count, most) in [
            ("constraints", self.constraints.len(), MOST_CONSTRAINTS),
            ("criteria", self.criteria.len(), MOST_CRITERIA),
            ("words in the vocabulary", self.terms.len(), MOST_TERMS),
        ] {
            if count > most {
                return Err(Place::File.fault(format!("{count} {what} are too many: write at most {most}")));
            }
        }
        // A few lines of YAML can repeat a long text many times.
        let entries = self.constraints.iter().chain(&self.criteria).chain(&self.terms);
        let length: usize = entries.map(|entry| entry.text.len()).sum();
        if length > LARGEST { Err(too_large()) } else { Ok(()) }
    }

    /// Returns the ids that are given. None of them may be there twice.
    fn ids(&self) -> Result<BTreeSet<String>, Fault> {
        let mut ids = BTreeSet::new();
        for entry in self.constraints.iter().chain(&self.criteria) {
            let Some(id) = &entry.id else { continue };
            if !is_id(id) {
                return Err(entry.place.fault(not_an_id(id)));
            }
            if !ids.insert(id.clone()) {
                let why = "is there twice: give each entry an id of its own";
                return Err(entry.place.fault(format!("the id `{id}` {why}")));
            }
        }
        Ok(ids)
    }
}

const NO_END: &str = "numbers have no end";

/// Returns the ids that no entry has, the lowest number first.
fn free_ids(letter: char, taken: &BTreeSet<String>) -> impl Iterator<Item = Id> {
    let all = (1_u32..).map(move |number| format!("{letter}{number}"));
    all.filter(move |id| !taken.contains(id)).map(Id::from)
}

fn priority(place: Place, word: &str) -> Result<Priority, Fault> {
    Priority::of(word).ok_or_else(|| {
        let word = one_line(word, 40);
        place.fault(format!("`{word}` is not a priority: write critical, high, medium or low"))
    })
}

fn term(entry: &Entry) -> Result<Term, Fault> {
    let word = entry.id.as_deref().unwrap_or_default().trim();
    refuse_invisible(entry.place, word)?;
    if word.is_empty() || word.contains('\n') || word.starts_with("**") || word_end(word).is_some() {
        let why = "a word is one line without `: `, and not bold: write `word: meaning`";
        return Err(entry.place.fault(why));
    }
    Ok(Term { word: word.into(), meaning: required(entry.place, "this meaning", &entry.text)? })
}

/// Returns the position of the colon that ends a word: white space follows it.
fn word_end(text: &str) -> Option<usize> {
    let mut colons = text.match_indices(':').map(|(at, _)| at);
    colons.find(|at| text[at + 1..].starts_with(char::is_whitespace))
}

/// Reads `FILE:LINE`.
fn source(place: Place, text: &str) -> Result<Source, Fault> {
    let read = text.trim().rsplit_once(':').and_then(|(file, line)| {
        let is_file = !file.trim().is_empty() && !file.contains('\n');
        is_file.then_some(Source { file: file.trim().into(), line: line.parse().ok()? })
    });
    refuse_invisible(place, text)?;
    read.ok_or_else(|| {
        place.fault(format!("`{}` is not a file and its line: write `from: FILE:LINE`", one_line(text, 40)))
    })
}

/// Reads the command of a check.
fn command(place: Place, value: &Value) -> Result<Vec<String>, Fault> {
    let Value::Array(all) = value else {
        return Err(place.fault(
            "write the command of `check` as a list of words, such as `[\"cargo\", \"test\"]`, because no shell reads it",
        ));
    };
    let mut words = Vec::new();
    for (number, word) in (1_usize..).zip(all) {
        let Value::String(word) = word else {
            return Err(place.fault(format!("word {number} of `check` is not text: put it in quotes")));
        };
        refuse_invisible(place, word)?;
        words.push(word.clone());
    }
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(place.fault("`check` is empty: write a program and its arguments, or delete it"));
    }
    Ok(words)
}

/// Returns a text without white space at its ends and at the ends of its lines. Fails if it says nothing.
fn required(place: Place, what: &str, text: &str) -> Result<Box<str>, Fault> {
    let text = text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    if !says_something(&text) {
        return Err(place.fault(format!("{what} is empty: write what it says in words")));
    }
    refuse_invisible(place, &text)?;
    Ok(text.into())
}

fn refuse_invisible(place: Place, text: &str) -> Result<(), Fault> {
    match text.chars().find(|c| is_invisible(*c)) {
        Some(c) => Err(place.fault(format!("U+{:04X} is invisible: delete it", u32::from(c)))),
        None => Ok(()),
    }
}

fn not_an_id(word: &str) -> String {
    let word = one_line(word, 40);
    format!(
        "`{word}` is not an id: write up to 64 letters, digits, `.`, `_` and `-`, a letter or a digit first"
    )
}

fn too_large() -> Fault {
    let why = format!("the text is larger than {} MiB: keep to what the run has to reach", LARGEST >> 20);
    Fault::File(why.into())
}
