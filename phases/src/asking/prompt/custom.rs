//! Custom prompt pages: a user's templates instead of the built-in ones, with the same variables.
//!
//! A run stores their texts, so that it continues with the pages it began with. Before a run begins, every page is
//! rendered with all of its optional parts and with none, to find what it would leave out. A page that fails later is
//! an error, not a panic.

mod check;
mod language;
mod samples;

use std::fmt;
use std::io;

use minijinja::Error;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::{EvaluateBrief, ExecuteBrief, ImproveBrief, TaskBrief};
use super::{environment, evaluate, execute, improve, task};

pub use check::check;

/// The prompt pages that a user can replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Execute,
    Task,
    Evaluate,
    Improve,
}

/// The custom pages, as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluate: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub improve: Option<String>,
}

/// The error in a page, and its line, if known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the prompt `{page}`{}: {what}", in_line(*.line))]
pub struct Faulty {
    pub page: Page,
    pub line: Option<usize>,
    pub what: String,
}

fn in_line(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

impl Page {
    pub const ALL: [Self; 4] = [Self::Execute, Self::Task, Self::Evaluate, Self::Improve];

    pub fn word(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Task => "task",
            Self::Evaluate => "evaluate",
            Self::Improve => "improve",
        }
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Prompts {
    pub fn of(&self, page: Page) -> Option<&str> {
        match page {
            Page::Execute => self.execute.as_deref(),
            Page::Task => self.task.as_deref(),
            Page::Evaluate => self.evaluate.as_deref(),
            Page::Improve => self.improve.as_deref(),
        }
    }

    pub fn set(&mut self, page: Page, text: String) {
        let own = match page {
            Page::Execute => &mut self.execute,
            Page::Task => &mut self.task,
            Page::Evaluate => &mut self.evaluate,
            Page::Improve => &mut self.improve,
        };
        *own = Some(text);
    }

    /// Returns the custom pages.
    pub fn pages(&self) -> impl Iterator<Item = Page> {
        Page::ALL.into_iter().filter(|page| self.of(*page).is_some())
    }

    /// Returns whether there are no custom pages.
    pub fn is_empty(&self) -> bool {
        self.pages().next().is_none()
    }

    pub fn execute(&self, brief: &ExecuteBrief<'_>) -> Result<String, Faulty> {
        self.render(Page::Execute, execute::values(brief))
    }

    pub fn task(&self, brief: &TaskBrief<'_>) -> Result<String, Faulty> {
        self.render(Page::Task, task::values(brief))
    }

    pub fn evaluate(&self, brief: &EvaluateBrief<'_>) -> Result<String, Faulty> {
        self.render(Page::Evaluate, evaluate::values(brief))
    }

    pub fn improve(&self, brief: &ImproveBrief<'_>) -> Result<String, Faulty> {
        self.render(Page::Improve, improve::values(brief))
    }

    fn render(&self, page: Page, values: impl Serialize) -> Result<String, Faulty> {
        match self.of(page) {
            None => Ok(super::render(page.word(), values)),
            Some(text) => render(page, text, values),
        }
    }
}

/// Many more steps than a page needs.
const MOST_STEPS: u64 = 1_000_000;
/// More bytes than any model reads.
const MOST_BYTES: usize = 64 << 20;

fn render(page: Page, text: &str, values: impl Serialize) -> Result<String, Faulty> {
    language::check(page, text)?;
    let mut templates = environment();
    templates.set_fuel(Some(MOST_STEPS));
    let wrong = |error| faulty(page, text, &error);
    let template = templates.template_from_named_str(page.word(), text).map_err(wrong)?;
    let mut written = Bounded(Vec::new());
    template.render_captured_to(Serde(values), &mut written).map_err(wrong)?;
    Ok(String::from_utf8(written.0).expect("a template writes text"))
}

fn faulty(page: Page, text: &str, error: &Error) -> Faulty {
    let kind = error.kind();
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    let place = error.range().and_then(|range| text.get(range)).filter(|place| !place.contains('\n'));
    let place = place.filter(|_| detail.is_empty()).map(|place| format!(": `{place}`")).unwrap_or_default();
    Faulty { page, line: error.line(), what: format!("{kind}{detail}{place}") }
}

/// A text of at most `MOST_BYTES`.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_BYTES {
            return Err(io::Error::other(format!("longer than {} MiB", MOST_BYTES >> 20)));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
