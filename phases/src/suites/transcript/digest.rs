//! A transcript on one page for a model: the amount of work, and the tool calls in order.

use std::collections::HashMap;

use super::redact::is_plain;
use super::{Call, Event, ToolResult, Transcript};

/// The limit of the whole digest, in bytes.
const LONGEST: usize = 4 << 10;
/// The limit of one tool call, in characters.
const MOST_OF_CALL: usize = 160;
const MOST_OF_WORDS: usize = 120;
/// The limit of the lines about all calls.
const ROOM: usize = LONGEST - 300;

impl Transcript {
    /// Returns None if the agent reported nothing.
    pub fn digest(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let calls = self.calls();
        let lines: Vec<Line> =
            calls.iter().enumerate().map(|(at, (call, result))| Line::of(at + 1, call, *result)).collect();
        let failed = lines.iter().filter(|line| line.failed).count();
        let turns = self.end.turns.map(|turns| format!("{}, ", count(turns, "turn"))).unwrap_or_default();
        let head = format!("{turns}{}, {failed} failed.\n", count(self.end.tool_calls, "tool call"));
        let more = (self.end.left_out > 0).then(|| {
            format!("(The agent reported {} more; they were not kept.)\n", count(self.end.left_out, "event"))
        });
        Some([head, fitted(&lines), more.unwrap_or_default()].concat())
    }

    /// Returns the tool calls with their results.
    fn calls(&self) -> Vec<(&Call, Option<&ToolResult>)> {
        let (mut calls, mut open) = (Vec::new(), HashMap::new());
        for event in &self.events {
            match event {
                Event::Call(call) => {
                    open.insert(call.id.as_str(), calls.len());
                    calls.push((call, None));
                }
                Event::Result(result) => {
                    if let Some(at) = open.remove(result.id.as_str()) {
                        calls[at].1 = Some(result);
                    }
                }
                Event::Text { .. } | Event::End(_) => {}
            }
        }
        calls
    }
}

struct Line {
    text: String,
    failed: bool,
}

impl Line {
    fn of(number: usize, call: &Call, result: Option<&ToolResult>) -> Self {
        let failed = result.is_some_and(|result| result.failed);
        let what = one_line(&what(call), MOST_OF_CALL);
        let ended = result.map_or_else(|| " -> no result".to_owned(), ended);
        Self { text: format!("{number}. {}: {what}{ended}\n", one_line(&call.tool, 40)), failed }
    }
}

fn what(call: &Call) -> String {
    let files = call.files.join(", ");
    match &call.command {
        Some(command) => command.clone(),
        None if files.is_empty() => call.arguments.clone(),
        None => files,
    }
}

fn ended(result: &ToolResult) -> String {
    let code = result.exit_code.map(|code| format!("exit code {code}"));
    if !result.failed {
        return code.map(|code| format!(" -> {code}")).unwrap_or_default();
    }
    let last = result.output.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let last = last.map(|line| format!(": {}", one_line(line, MOST_OF_WORDS))).unwrap_or_default();
    format!(" -> failed{}{last}", code.map(|code| format!(", {code}")).unwrap_or_default())
}

/// Joins the lines, or the first and the last ones if they do not all fit.
fn fitted(lines: &[Line]) -> String {
    let all = |lines: &[Line]| lines.iter().map(|line| line.text.as_str()).collect::<String>();
    let fits = |lines: &mut dyn Iterator<Item = &Line>, room: usize| {
        let mut left = room;
        lines
            .take_while(|line| {
                line.text.len() <= left && {
                    left -= line.text.len();
                    true
                }
            })
            .count()
    };
    if fits(&mut lines.iter(), ROOM) == lines.len() {
        return all(lines);
    }
    let (head, tail) = (fits(&mut lines.iter(), ROOM / 2), fits(&mut lines.iter().rev(), ROOM / 2));
    let (first, rest) = lines.split_at(head);
    let (middle, last) = rest.split_at(rest.len() - tail);
    let failed = middle.iter().filter(|line| line.failed).count();
    format!("{}(... {} more calls, {failed} of them failed ...)\n{}", all(first), middle.len(), all(last))
}

/// Returns one line of plain characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let plain: String = text.chars().filter(|&char| is_plain(char)).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most - 1).chain(['…']).collect()
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
