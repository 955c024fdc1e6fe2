//! A finding: what is wrong, where, and the quote that shows it. Everything an agent claims about a place is looked up.

use serde::{Deserialize, Serialize};

use crate::base::id::{Digest, TreeId};

/// How bad a finding is, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// Where the quote of a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// In the file as the change leaves it.
    New,
    /// In lines that the change removes.
    Old,
    /// In the new file, where something should be that is missing.
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    pub title: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What fails, and when.
    pub what: Box<str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub suggestion: Box<str>,
    /// The files with the suggestion applied, if the reviewer gave the exact text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<TreeId>,
}

/// A quote as skilltune found it in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub path: Box<str>,
    pub side: Side,
    /// The first and the last line of the quote.
    pub lines: (u32, u32),
    pub quote: Box<str>,
    /// The code around it, with line numbers.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub code: Box<str>,
    /// Whether the change touches these lines.
    pub is_changed: bool,
}

/// A finding that does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    pub title: Box<str>,
    /// The place that it claims.
    pub place: Box<str>,
    pub quote: Box<str>,
    pub why: Box<str>,
}

/// A suppression that a person has written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    pub fingerprint: Box<str>,
    pub reason: Box<str>,
}

impl Severity {
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    pub fn of(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase();
        Self::ALL.into_iter().find(|severity| severity.word() == word)
    }
}

impl Side {
    pub const ALL: [Self; 3] = [Self::New, Self::Old, Self::Absent];

    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Old => "old",
            Self::Absent => "absent",
        }
    }
}

impl Place {
    /// Returns `path:line`.
    pub fn at(&self) -> String {
        format!("{}:{}", self.path, self.lines.0)
    }

    /// Returns the whole lines of the quote: agents quote different parts of one line. Where only a machine named the
    /// place, returns its words.
    fn text(&self) -> String {
        let (first, last) = self.lines;
        let is_quoted = |line: &&str| {
            let number = line.split_whitespace().next().and_then(|number| number.parse::<u32>().ok());
            number.is_some_and(|number| (first..=last).contains(&number))
        };
        let lines: Vec<&str> =
            self.code.lines().filter(is_quoted).filter_map(|line| line.get(NUMBERED..)).collect();
        if lines.is_empty() { self.quote.to_string() } else { lines.join("\n") }
    }

    /// Whether another quote is about the same lines.
    fn meets(&self, other: &Self) -> bool {
        self.path == other.path
            && (self.side == Side::Old) == (other.side == Side::Old)
            && self.lines.0 <= other.lines.1
            && other.lines.0 <= self.lines.1
    }
}

impl Finding {
    /// Returns a short name that stays when lines move: it depends on the file and the text of the lines alone.
    pub fn fingerprint(&self) -> String {
        let parts = match &self.place {
            Some(place) => [place.path.to_string(), place.side.word().to_owned(), place.text()],
            None => [String::new(), String::new(), self.title.to_string()],
        };
        let plain = parts.map(|part| normalised(&part));
        Digest::of_parts(plain.iter().map(String::as_bytes)).short()
    }

    /// Whether another reviewer has found the same: in the same lines, and in similar words.
    pub fn is_like(&self, other: &Self) -> bool {
        let (Some(one), Some(two)) = (&self.place, &other.place) else { return false };
        one.meets(two) && likeness(&self.words(), &other.words()) >= LIKE
    }

    fn words(&self) -> Vec<String> {
        let text = format!("{} {}", self.title, self.what).to_lowercase();
        let words =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= SHORTEST);
        let mut stems: Vec<String> = words.map(|word| word.chars().take(STEM).collect()).collect();
        stems.sort();
        stems.dedup();
        stems
    }
}

/// The columns of a line number in the code around a quote.
pub(super) const NUMBERED: usize = 7;

/// Two texts about one fault share at least this part of the shorter one's words.
const LIKE: f64 = 0.3;
/// Shorter words say little about a fault.
const SHORTEST: usize = 4;
/// Words with the same beginning count as one: `divides`, `division`.
const STEM: usize = 5;

/// Returns the share of the shorter list that the other one has too.
fn likeness(one: &[String], two: &[String]) -> f64 {
    let shared = one.iter().filter(|word| two.contains(word)).count();
    let shorter = one.len().min(two.len()).max(1);
    f64::from(u32::try_from(shared).unwrap_or(u32::MAX))
        / f64::from(u32::try_from(shorter).unwrap_or(u32::MAX))
}

/// Returns a text with each run of white space as one space.
pub(super) fn normalised(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
