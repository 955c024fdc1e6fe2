//! An agent's report of one call, in the same form for all agents: its texts, its tool calls, and their results.
//!
//! ```text
//! agent's stream --> Transcript (as printed) --> redacted --> lines (transcript.jsonl)
//!                                                         \-> digest (judge, improver)
//! ```
//!
//! All of it comes from the agent's output, which may be hostile: the number of events and the length of every text are
//! bounded. An agent that reports no events has an empty transcript; nothing is inferred.

mod digest;
mod redact;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::json;

pub(crate) use digest::one_line;
pub use redact::Redaction;
pub(crate) use redact::is_plain;

/// Later events are only counted.
pub const MOST_EVENTS: usize = 2_000;
/// The most files of one tool call.
const MOST_FILES: usize = 20;

/// An agent's report of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    events: Vec<Event>,
    end: End,
}

/// One event of an agent's report. A tool call has the agent's own id, and its result has the same id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Text { text: String },
    Call(Call),
    Result(ToolResult),
    End(End),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    pub tool: String,
    /// The command line, if the tool runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The other arguments, as JSON.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
    /// The files named in the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// The result of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub id: String,
    pub failed: bool,
    /// Set only if the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    pub output: String,
}

/// The last line of a transcript: totals, as far as the agent reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// All tool calls, including those left out.
    pub tool_calls: u64,
    /// Events after the first [`MOST_EVENTS`].
    pub left_out: u64,
}

impl Call {
    /// Creates a call with its arguments as the agent prints them. The argument `command` is a command line, and the
    /// arguments in `files` are paths.
    pub fn new(id: &str, tool: &str, arguments: &Value, files: &[&str]) -> Self {
        let mut rest = arguments.clone();
        let mut take = |key: &str| match rest.as_object_mut()?.remove(key)? {
            Value::String(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let command = take("command");
        let files = files.iter().filter_map(|key| take(key)).collect();
        let is_empty = rest.is_null() || rest.as_object().is_some_and(serde_json::Map::is_empty);
        let arguments = if is_empty { String::new() } else { rest.to_string() };
        Self { id: id.to_owned(), tool: tool.to_owned(), command, arguments, files }
    }
}

impl Transcript {
    pub fn say(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.add(|| Event::Text { text: text.to_owned() });
        }
    }

    /// Adds to the last text, for agents that print a text in parts.
    pub fn continue_text(&mut self, part: &str) {
        match self.events.last_mut() {
            Some(Event::Text { text }) if self.end.left_out == 0 => text.push_str(part),
            _ => self.say(part),
        }
    }

    pub fn call(&mut self, call: impl FnOnce() -> Call) {
        self.end.tool_calls += 1;
        self.add(|| Event::Call(call()));
    }

    pub fn result(&mut self, result: impl FnOnce() -> ToolResult) {
        self.add(|| Event::Result(result()));
    }

    /// Returns whether the call with this id was reported. Some agents report a call only with its result.
    pub fn has_call(&self, id: &str) -> bool {
        // A full transcript is not searched, because this may be called a million times.
        self.is_full()
            || self.events.iter().rev().any(|event| matches!(event, Event::Call(call) if call.id == id))
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Sets the totals that an agent reports at the end.
    pub fn total(&mut self, turns: Option<u64>, input_tokens: Option<u64>, output_tokens: Option<u64>) {
        self.end = End { turns, input_tokens, output_tokens, ..self.end.clone() };
    }

    /// Returns one JSON object per line; the last one has the totals.
    pub fn lines(&self) -> String {
        let line = |event: &Event| json::line(event) + "\n";
        let end = Event::End(self.end.clone());
        self.events.iter().chain([&end]).map(line).collect()
    }

    /// Reads a transcript from its lines. Returns `None` if they are not in the form that [`Transcript::lines`] writes.
    pub fn from_lines(lines: &str) -> Option<Self> {
        let (mut events, mut end) = (Vec::new(), None);
        for line in lines.lines() {
            match (serde_json::from_str(line).ok()?, &end) {
                (Event::End(last), None) => end = Some(last),
                (event, None) if events.len() < MOST_EVENTS => events.push(event),
                (_, None | Some(_)) => return None,
            }
        }
        Some(Self { events, end: end? })
    }

    /// Returns whether a tool call names a path in its files, its command or its arguments.
    pub fn has_opened(&self, path: &str) -> bool {
        self.events.iter().any(|event| match event {
            Event::Call(call) => {
                let texts = call.files.iter().chain(&call.command).chain([&call.arguments]);
                texts.into_iter().any(|text| text.contains(path))
            }
            Event::Text { .. } | Event::Result(_) | Event::End(_) => false,
        })
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the totals.
    pub fn end(&self) -> &End {
        &self.end
    }

    /// Returns whether all events were kept. Each may still have been shortened.
    pub fn is_whole(&self) -> bool {
        self.end.left_out == 0
    }

    fn add(&mut self, event: impl FnOnce() -> Event) {
        if self.is_full() {
            self.end.left_out += 1;
        } else {
            self.events.push(event());
        }
    }

    fn is_full(&self) -> bool {
        self.events.len() >= MOST_EVENTS
    }
}

#[cfg(test)]
mod tests;
