//! Quotes untrusted text in a single line.

use crate::skills::lint;
use crate::suites::transcript::{is_plain, one_line};

const MOST_OF_QUOTE: usize = 160;
const MOST_OF_END: usize = 300;
const MOST_OF_LINE: usize = 400;
/// The number of characters shown before a match in a long line.
const MOST_BEFORE: usize = 60;

/// Returns a short line without control characters and without keys.
pub(super) fn quote(text: &str) -> String {
    beginning(text, MOST_OF_QUOTE)
}

/// Quotes the beginning of a text, where a program names a fault.
pub fn quote_message(text: &str) -> String {
    beginning(text, MOST_OF_LINE)
}

fn beginning(text: &str, most: usize) -> String {
    // Only the beginning is read: a text may be large, and a key that is cut off at its end is not a key.
    let end = text.char_indices().nth(20 * most).map_or(text.len(), |(at, _)| at);
    one_line(&without_keys(&text[..end]), most)
}

/// Quotes the end of a text, where a program says why it failed.
pub fn quote_end(text: &str) -> String {
    let from = text.char_indices().rev().nth(20 * MOST_OF_END).map_or(0, |(at, _)| at);
    let line = one_line(&without_keys(&text[from..]), usize::MAX);
    match line.char_indices().rev().nth(MOST_OF_END - 1) {
        Some((at, _)) if at > 0 => format!("…{}", &line[at..]),
        Some(_) | None => line,
    }
}

/// Returns the last lines of a program's output, where it says what failed.
pub fn output_end(text: &str) -> String {
    const MOST: usize = 4_000;
    let from = text.char_indices().rev().nth(MOST).map_or(0, |(at, _)| at);
    // A line that is cut in its middle says little, and may begin within a key.
    let whole = if from == 0 { text } else { text[from..].split_once('\n').map_or("", |(_, rest)| rest) };
    let plain: String = whole.chars().filter(|&char| char == '\n' || is_plain(char)).collect();
    lint::without_keys(plain.trim(), "[hidden]")
}

/// Removes control characters first, because one in the middle of a key would hide the key.
fn without_keys(text: &str) -> String {
    let plain: String = text.chars().filter(|&char| is_plain(char)).collect();
    lint::without_keys(&plain, "[hidden]")
}

/// Returns the details of a check as stored.
pub fn line(details: &str) -> String {
    one_line(details, MOST_OF_LINE)
}

/// Returns the line of a position, with its number.
pub(super) fn quoted_line(text: &str, at: usize) -> String {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let number = text[..begin].matches('\n').count() + 1;
    let line = text[begin..].lines().next().unwrap_or_default();
    let before = text[begin..at].char_indices().rev().nth(MOST_BEFORE);
    match before {
        Some((from, _)) if line.len() > MOST_OF_QUOTE => format!("line {number}: …{}", quote(&line[from..])),
        Some(_) | None => format!("line {number}: {}", quote(line)),
    }
}
