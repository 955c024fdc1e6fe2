//! The whole report of a run, as data. It holds the words of models, files and people unchanged; a renderer makes them
//! harmless.

use serde::Serialize;
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::run::Run;

/// The parts of a report besides the summary.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub title: Text,
    /// Shown first: a person has to read it before they do anything.
    pub warning: Option<Section>,
    /// The result, and its evidence.
    pub lead: Vec<Block>,
    /// Rows of the summary before those about the agents, and after them.
    pub about: Vec<Row>,
    pub more: Vec<Row>,
    /// A caution about the summary.
    pub remark: Option<String>,
    pub sections: Vec<Section>,
    /// `round` or `iteration`: errors are listed by it.
    pub unit: &'static str,
    /// Sections after costs and errors: locations, and commands to use them.
    pub tail: Vec<Section>,
}

pub type Row = (&'static str, Text);

#[derive(Debug, Serialize)]
pub struct Section {
    pub title: &'static str,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    Heading(String),
    Paragraph(Text),
    List(Vec<Item>),
    Table {
        head: Vec<Text>,
        rows: Vec<Vec<Text>>,
    },
    /// Lines that stay as they are.
    Verbatim(String),
}

/// An item of a list, and a list below it.
#[derive(Debug, Serialize)]
pub struct Item {
    pub text: Text,
    pub below: Vec<Text>,
}

#[derive(Debug, Default, Serialize)]
pub struct Text(pub Vec<Span>);

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// Our own words; code in them stands between backticks.
    Plain(String),
    Strong(String),
    /// Words of a model, a file or a person.
    Words(String),
    /// A name, a path or a command.
    Code(String),
}

pub fn paragraph(text: impl Into<Text>) -> Block {
    Block::Paragraph(text.into())
}

pub fn list(items: impl IntoIterator<Item = Text>) -> Block {
    Block::List(items.into_iter().map(|text| Item { text, below: Vec::new() }).collect())
}

pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<Text>>) -> Block {
    table_of(head.iter().map(|cell| (*cell).into()).collect(), rows)
}

/// Returns a table whose columns depend on the run.
pub fn table_of(head: Vec<Text>, rows: impl IntoIterator<Item = Vec<Text>>) -> Block {
    Block::Table { head, rows: rows.into_iter().collect() }
}

pub fn plain(text: impl Into<String>) -> Span {
    Span::Plain(text.into())
}

pub fn strong(text: &str) -> Span {
    Span::Strong(text.to_owned())
}

pub fn words(text: &str) -> Span {
    Span::Words(text.to_owned())
}

pub fn code(text: &str) -> Span {
    Span::Code(text.to_owned())
}

/// Joins spans by a comma or the like.
pub fn joined(spans: impl IntoIterator<Item = Span>, separator: &str) -> Text {
    let mut all = Vec::new();
    for span in spans {
        if !all.is_empty() {
            all.push(plain(separator));
        }
        all.push(span);
    }
    Text(all)
}

/// Lists the paths of a run: those that only its loop has, then those of every loop.
pub fn locations<L: Loop>(run: &Run<L>, places: Vec<(&'static str, String)>) -> Section {
    let ours = [
        ("Journal", "history.jsonl"),
        ("State", "iteration-state.json"),
        ("Calls of agents", "agents/"),
        ("This report", "final-report.md"),
        ("This report for a browser", "report.html"),
        ("This report as data", "report.json"),
    ];
    let ours = ours.map(|(what, path)| (what, format!("{}/{path}", run.plan.folder)));
    let rows = places.into_iter().chain(ours).map(|(what, path)| vec![what.into(), code(&path).into()]);
    Section { title: "Locations", blocks: vec![table(&["What", "Path"], rows)] }
}

impl From<Span> for Text {
    fn from(span: Span) -> Self {
        Self(vec![span])
    }
}

impl<const N: usize> From<[Span; N]> for Text {
    fn from(spans: [Span; N]) -> Self {
        Self(spans.into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        plain(text).into()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        plain(text).into()
    }
}
