//! Decides whether a check is met, from the facts of a trial.
//!
//! The details say what was seen, never what was searched for: the improver gets them, and must not learn the check.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::{self, Unreadable};
use super::pattern::{Anchors, Found, Pattern, Work};
use super::quote::{line, quote, quoted_line};
use super::schema::{Judged, Schema};
use super::{Check, Comparison, Cost, Text, Times, Tool, fault, glob};
use crate::base::delivery::SkillUse;
use crate::suites::transcript::{Call, Event, Transcript};

/// The facts of a trial.
pub trait Facts {
    /// Returns the sorted paths of the remaining files, without folders and links.
    fn files(&self) -> Vec<&str>;
    /// Returns the bytes of a file, up to `most` of them.
    fn bytes(&self, path: &str, most: u64) -> Bytes;
    /// Returns the paths of the files and links that were created, changed or removed.
    fn touched(&self) -> Vec<&str>;
    /// Returns the agent's last message, if known.
    fn answer(&self) -> Option<&str>;
    /// Returns the transcript, or None if the agent does not report its work.
    fn transcript(&self) -> Option<&Transcript>;
    fn usage(&self) -> Usage;
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bytes {
    Whole(Vec<u8>),
    /// The file has this size.
    TooLarge(u64),
    /// The file does not exist.
    Missing,
}

/// The cost of a trial, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Input and output, cached or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// The use of the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillUse>,
}

/// The rest of a larger file is not searched.
const MOST_SEARCHED: u64 = 4 << 20;
/// The limit of work for one check: some twenty seconds in the worst case of pattern and text.
const WORK: u64 = 16 << 20;
/// Further files are only counted.
const MOST_NAMED: usize = 3;

/// Returns whether the check is met, or none if unknown, and what was seen. The caller runs and decides commands.
pub fn tell(check: &Check, facts: &dyn Facts) -> (Option<bool>, String) {
    if fault(check).is_some() {
        return unknown("the check cannot be used");
    }
    let (met, details) = match check {
        Check::Command { .. } => unknown("the command has not been run"),
        Check::Pattern { pattern, of, times } => match Pattern::compile(pattern, Anchors::Lines) {
            Ok(pattern) => of_text(&pattern, of, *times, facts),
            Err(_) => unknown("the pattern cannot be used"),
        },
        Check::File { path, times } => of_files(path, *times, facts),
        Check::Schema { path, schema } => of_json(path, facts, |value| of_schema(path, schema, value)),
        Check::Json { path, pointer, is } => {
            of_json(path, facts, |value| of_value(path, value.pointer(pointer), is))
        }
        Check::Touches { only } => of_touched(only, facts),
        Check::Skill { used } => of_skill(*used, facts.usage().skill),
        Check::Tool { call, times } => of_calls(call, *times, facts),
        Check::ToolOrder { before, after } => of_order(before, after, facts),
        Check::AtMost { of, most } => of_cost(*of, *most, facts.usage()),
    };
    (met, line(&details))
}

type Met = (Option<bool>, String);

fn unknown(why: impl Into<String>) -> Met {
    (None, why.into())
}

const NO_TRANSCRIPT: &str = "the agent does not report what it did";
const TOO_MUCH_WORK: &str = "looking for the pattern takes too long";

fn of_text(pattern: &Pattern, of: &Text, times: Times, facts: &dyn Facts) -> Met {
    let mut work = Work(WORK);
    match of {
        Text::Answer => match facts.answer() {
            Some(text) => in_text(pattern, "the answer", text, times, &mut work),
            None => unknown("the agent's last message is not known"),
        },
        Text::Transcript => match facts.transcript() {
            Some(transcript) => in_transcript(pattern, transcript, times, &mut work),
            None => unknown(NO_TRANSCRIPT),
        },
        Text::Files(glob) => in_files(pattern, glob, times, facts, &mut work),
    }
}

/// Checks each file; one that cannot be read leaves the result open.
fn in_files(pattern: &Pattern, glob: &str, times: Times, facts: &dyn Facts, work: &mut Work) -> Met {
    let (mut seen, mut open) = (Vec::new(), None);
    for path in facts.files().into_iter().filter(|path| glob::is_like(glob, path)) {
        let (met, details) = match facts.bytes(path, MOST_SEARCHED) {
            Bytes::Whole(bytes) => {
                in_text(pattern, &quote(path), &String::from_utf8_lossy(&bytes), times, work)
            }
            Bytes::TooLarge(size) => too_large(path, size),
            Bytes::Missing => unknown(format!("{} cannot be read", quote(path))),
        };
        match met {
            Some(true) => seen.push(details),
            Some(false) => return (met, details),
            None => open = open.or(Some(details)),
        }
        if open.is_some() && work.0 == 0 {
            break;
        }
    }
    if let Some(details) = open {
        return unknown(details);
    }
    match seen.len() {
        0 => (Some(false), NO_FILE.to_owned()),
        1 => (Some(true), seen.swap_remove(0)),
        files => (Some(true), format!("in each of {files} files; {}", seen.swap_remove(0))),
    }
}

const NO_FILE: &str = "there is no such file";

fn too_large(path: &str, size: u64) -> Met {
    unknown(format!("{} is too large to be read: {size} bytes", quote(path)))
}

fn in_text(pattern: &Pattern, place: &str, text: &str, times: Times, work: &mut Work) -> Met {
    let Some(Found { times: count, first }) = pattern.count(text, times.enough(), work) else {
        return unknown(TOO_MUCH_WORK);
    };
    let details = match (first, count) {
        (None, _) => format!("nothing was found in {place}"),
        (Some(at), 1) => format!("{place}, {}", quoted_line(text, at)),
        (Some(at), _) => format!("{place}, {count} times, first in {}", quoted_line(text, at)),
    };
    (Some(times.contain(count)), details)
}

/// Searches each text, call and result separately. Truncated or missing parts may have had more matches.
fn in_transcript(pattern: &Pattern, transcript: &Transcript, times: Times, work: &mut Work) -> Met {
    let (mut count, mut first) = (0, None);
    let mut is_whole = transcript.is_whole();
    for event in transcript.events() {
        is_whole &= event.is_whole();
        for (place, text) in texts(event) {
            let Some(found) = pattern.count(text, times.enough().saturating_sub(count), work) else {
                return unknown(TOO_MUCH_WORK);
            };
            count += found.times;
            first = first.or(found.first.map(|at| format!("{place}, {}", quoted_line(text, at))));
        }
    }
    let details = match (first, count) {
        (None, _) => "nothing was found in the transcript".to_owned(),
        (Some(first), 1) => first,
        (Some(first), _) => format!("{count} times, first in {first}"),
    };
    counted(times, count, is_whole, details)
}

fn texts(event: &Event) -> Vec<(&'static str, &str)> {
    match event {
        Event::Text { text } => vec![("a text", text.as_str())],
        Event::Call(call) => inputs(call).map(|text| ("a tool call", text)).collect(),
        Event::Result(result) => vec![("a tool's result", result.output.as_str())],
        Event::End(_) => Vec::new(),
    }
}

/// Returns the inputs of a tool call.
fn inputs(call: &Call) -> impl Iterator<Item = &str> {
    let files = call.files.iter().map(String::as_str);
    call.command.as_deref().into_iter().chain([call.arguments.as_str()]).chain(files)
}

/// Compares a count that may be too low, because some parts were not seen.
fn counted(times: Times, count: u64, is_exact: bool, details: String) -> Met {
    let is_settled = is_exact || times.max.is_some_and(|max| count > max);
    let is_enough = times.max.is_none() && count >= times.min;
    if is_settled || is_enough {
        return (Some(times.contain(count)), details);
    }
    unknown(format!("{details}; but {CUT}"))
}

fn of_files(glob: &str, times: Times, facts: &dyn Facts) -> Met {
    let files: Vec<&str> = facts.files().into_iter().filter(|path| glob::is_like(glob, path)).collect();
    let details = if files.is_empty() { NO_FILE.to_owned() } else { named(&files) };
    (Some(times.contain(files.len() as u64)), details)
}

/// Returns the first of some paths, and the number of the others.
fn named(paths: &[&str]) -> String {
    let first: Vec<String> = paths.iter().take(MOST_NAMED).map(|path| quote(path)).collect();
    let more = paths.len() - first.len();
    if more == 0 { first.join(", ") } else { format!("{} and {more} more", first.join(", ")) }
}

fn of_json(path: &str, facts: &dyn Facts, judge: impl FnOnce(&Value) -> Met) -> Met {
    let bytes = match facts.bytes(path, json::LARGEST) {
        Bytes::Whole(bytes) => bytes,
        Bytes::TooLarge(size) => return too_large(path, size),
        Bytes::Missing => return (Some(false), NO_FILE.to_owned()),
    };
    match json::read(&bytes) {
        Ok(value) => judge(&value),
        Err(Unreadable::TooDeep) => unknown(format!("{} is nested too deeply to be read", quote(path))),
        Err(Unreadable::NoJson { line, column }) => {
            (Some(false), format!("{} is not valid JSON: line {line}, column {column}", quote(path)))
        }
    }
}

fn of_schema(path: &str, schema: &Value, value: &Value) -> Met {
    let Ok(schema) = Schema::read(schema) else { return unknown("the schema cannot be used") };
    match schema.judge(value, &mut Work(WORK)) {
        Judged::Met => (Some(true), format!("{} matches the schema", quote(path))),
        Judged::Unmet { place, value } => {
            let place = if place.is_empty() { "it".to_owned() } else { quote(&place) };
            (Some(false), format!("{} does not match the schema: {place} is {}", quote(path), quote(&value)))
        }
        Judged::TooLong => unknown(format!("comparing {} with the schema takes too long", quote(path))),
    }
}

fn of_value(path: &str, value: Option<&Value>, is: &Comparison) -> Met {
    let Some(value) = value else {
        return (Some(false), format!("{} has no such value", quote(path)));
    };
    let compared = |limit| match value {
        Value::Number(number) => Some(json::numbers(number, limit)),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let met = match is {
        Comparison::Equals(expected) => json::compare(value, expected).is_eq(),
        Comparison::AtLeast(limit) => compared(limit).is_some_and(std::cmp::Ordering::is_ge),
        Comparison::AtMost(limit) => compared(limit).is_some_and(std::cmp::Ordering::is_le),
    };
    (Some(met), format!("{}: the value is {}", quote(path), quote(&value.to_string())))
}

fn of_touched(only: &[super::Glob], facts: &dyn Facts) -> Met {
    let touched = facts.touched();
    let is_other = |path: &&str| !only.iter().any(|glob| glob::is_like(glob, path));
    let others: Vec<&str> = touched.iter().copied().filter(is_other).collect();
    match (touched.len(), others.as_slice()) {
        (0, _) => (Some(true), "no file was touched".to_owned()),
        (_, []) => (Some(true), format!("touched: {}", named(&touched))),
        (_, others) => (Some(false), format!("other files were touched: {}", named(others))),
    }
}

fn of_skill(used: bool, skill: Option<SkillUse>) -> Met {
    match skill {
        Some(skill) => (Some(used == (skill == SkillUse::Used)), format!("the skill was {}", skill.word())),
        None => unknown("the agent does not report whether it used the skill"),
    }
}

/// Returns whether a call matches; none if its cut-off part may have matched.
fn is_of(tool: &Tool, call: &Call, input: Option<&Pattern>, work: &mut Work) -> Option<bool> {
    if call.tool != *tool.name {
        return Some(false);
    }
    let Some(input) = input else { return Some(true) };
    for text in inputs(call) {
        if input.is_in(text, work)? {
            return Some(true);
        }
    }
    call.is_whole().then_some(false)
}

/// Returns for each call whether it is one of the tool.
fn calls<'a>(
    tool: &'a Tool,
    transcript: &'a Transcript,
    work: &'a mut Work,
) -> impl Iterator<Item = (&'a Call, Option<bool>)> {
    let input = tool.input.as_deref().and_then(|input| Pattern::compile(input, Anchors::Lines).ok());
    let calls = transcript.events().iter().filter_map(|event| match event {
        Event::Call(call) => Some(call),
        Event::Text { .. } | Event::Result(_) | Event::End(_) => None,
    });
    calls.map(move |call| (call, is_of(tool, call, input.as_ref(), work)))
}

fn of_calls(tool: &Tool, times: Times, facts: &dyn Facts) -> Met {
    let Some(transcript) = facts.transcript() else { return unknown(NO_TRANSCRIPT) };
    let (mut count, mut is_exact, mut first) = (0, transcript.is_whole(), None);
    let mut work = Work(WORK);
    for (call, is_one) in calls(tool, transcript, &mut work) {
        match is_one {
            Some(true) => {
                count += 1;
                first.get_or_insert(call);
            }
            Some(false) => {}
            None => is_exact = false,
        }
    }
    let details = match (first, count) {
        (None, _) => "there was no such call".to_owned(),
        (Some(call), 1) => described(call),
        (Some(call), _) => format!("{count} calls, first {}", described(call)),
    };
    counted(times, count, is_exact, details)
}

fn described(call: &Call) -> String {
    let input = inputs(call).find(|text| !text.is_empty()).map(|text| format!(": {}", quote(text)));
    format!("{}{}", quote(&call.tool), input.unwrap_or_default())
}

/// Compares the first calls. All events before the later tool's are kept, because only the last events are left out.
fn of_order(before: &Tool, after: &Tool, facts: &dyn Facts) -> Met {
    let Some(transcript) = facts.transcript() else { return unknown(NO_TRANSCRIPT) };
    let (mut work, mut more) = (Work(WORK), Work(WORK));
    let mut earlier = None;
    // Calls that may or may not match.
    let (mut maybe_before, mut maybe_after) = (false, false);
    let both = calls(before, transcript, &mut work).zip(calls(after, transcript, &mut more));
    for ((call, is_before), (_, is_after)) in both {
        match (is_after, earlier) {
            (Some(true), Some(earlier)) => {
                return (Some(true), format!("{}, and then {}", described(earlier), described(call)));
            }
            (Some(true), None) if maybe_before => return unknown(CUT),
            (Some(true), None) => return (Some(false), format!("{} came first", described(call))),
            (None, None) => return unknown(CUT),
            // In both cases, whether this is the first call or a later one, it comes after the earlier tool.
            (None, Some(_)) => maybe_after = true,
            (Some(false), _) => {}
        }
        match is_before {
            Some(true) => earlier = earlier.or(Some(call)),
            Some(false) => {}
            None => maybe_before = true,
        }
    }
    if maybe_after || !transcript.is_whole() {
        return unknown(CUT);
    }
    (Some(false), "at least one of the two calls is missing".to_owned())
}

const CUT: &str = "the transcript is incomplete";

fn of_cost(of: Cost, most: u64, usage: Usage) -> Met {
    let within = |took: Option<u64>, what: &str| match took {
        Some(took) => (Some(took <= most), format!("it took {took} {what}")),
        None => unknown(format!("the number of {what} is unknown")),
    };
    match of {
        Cost::Tokens => within(usage.tokens, "tokens"),
        Cost::Turns => within(usage.turns, "turns"),
        Cost::Seconds => match usage.ms {
            Some(ms) => {
                let met = ms <= most.saturating_mul(1000);
                (Some(met), format!("it took {}.{} seconds", ms / 1000, ms % 1000 / 100))
            }
            None => within(None, "seconds"),
        },
    }
}

#[cfg(test)]
mod tests;
