//! The types in which a loop describes a run in short: data without width, colour or markup. `status`, `list`, the header
//! of a run, JSON and the summary of a page are made of it, each by one renderer for all loops.

use serde_json::Value;
use skilltune_phases::runs::plan::Roles;

/// The state of a run in short.
#[derive(Debug)]
pub struct Summary {
    /// Such as `tune` or `compare`.
    pub kind: &'static str,
    /// The skills, the task, or the name of the result.
    pub subject: String,
    pub head: Head,
    /// The result in a sentence, or the question that the run asks.
    pub sentence: String,
    /// The progress so far and its limit.
    pub progress: String,
    /// The result so far, for a column of a table.
    pub result: String,
    /// The progress as named facts.
    pub facts: Vec<(&'static str, String)>,
    /// The roles that take part.
    pub cast: Roles,
    /// Warnings that follow from the plan: a person has to know them before they trust a result.
    pub notes: Vec<String>,
    /// Warnings found since the run began.
    pub found: Vec<String>,
    /// The next commands, for a run that is not running.
    pub next: Vec<Next>,
    pub data: Data,
}

/// The first lines about a run.
#[derive(Debug)]
pub struct Head {
    /// The task, and how it is judged.
    pub lines: Vec<Line>,
    /// How much there is to do, such as `12 scenarios`; without it, the limits follow the id of the run.
    pub size: Option<String>,
    /// How to read the figures in lines about rounds: shown before the first of them.
    pub legend: Option<&'static str>,
}

impl Head {
    /// A name, shortened if there is no room, and how it is judged.
    pub fn new(before: &str, name: String, aim: String) -> Self {
        let lines = vec![Line::Named([before.to_owned(), name, String::new()]), Line::Text(aim)];
        Self { lines, size: None, legend: None }
    }
}

/// A suggested next command and its purpose.
#[derive(Debug, PartialEq, Eq)]
pub struct Next {
    pub command: String,
    pub purpose: &'static str,
}

/// A line for people.
#[derive(Debug)]
pub enum Line {
    /// Words that may be broken into several lines.
    Text(String),
    /// A name, and the words beside it.
    Item(&'static str, String),
    /// Words, and a path or a command to copy, which is never broken.
    Copy(String, String),
    /// A name between two texts; if there is no room, the name is shortened.
    Named([String; 3]),
    /// A line that its loop has fitted and coloured.
    Drawn(String),
}

/// The keys that only this loop has, as objects. The keys of all loops are between them, in the order that scripts know.
#[derive(Debug, Default)]
pub struct Data {
    /// Before all others.
    pub first: Value,
    /// After the id of the run.
    pub subject: Value,
    /// After the limits.
    pub result: Value,
    /// After the agents.
    pub details: Value,
    /// After the cost.
    pub last: Value,
}
