//! The places of faults in the output of compilers, linters, test runners and scanners.
//!
//! The output is hostile: it quotes the files under review. It is read once, line by line, in linear time, and no place is
//! believed before the caller knows its file.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::commands::plain_path;
use crate::suites::checks::quote_message;

/// A fault that a program reports in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Relative to the folder where the program started.
    pub path: Box<str>,
    /// The first line is 1.
    pub line: u32,
    /// One line, without control characters and keys.
    pub message: Box<str>,
}

/// Later ones are dropped: they rarely say more.
const MOST: usize = 50;

/// Returns the diagnostics in the output of a program, in its order, each once. The place of a fault that has no message
/// in its line has that of the last headline, as `rustc` prints it.
pub fn diagnostics(output: &str, is_file: impl Fn(&str) -> bool) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut headline: Option<&str> = None;
    for line in output.lines() {
        let arrow = line.trim_start().strip_prefix("--> ");
        let place = match arrow {
            Some(place) => headline.and_then(|message| Some(Place::of(place)?.with(message))),
            None => Place::of(line).or_else(|| Place::of_secret(line)),
        };
        if let Some(diagnostic) = place.and_then(|place| place.known(&is_file)) {
            if arrow.is_some() {
                // Later places of the same headline belong to its notes.
                headline = None;
            }
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        } else if is_headline(line) {
            headline = Some(line);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// Returns whether a line is the message of the next place: `error[E0308]: mismatched types`.
fn is_headline(line: &str) -> bool {
    line.starts_with("error") || line.starts_with("warning")
}

/// A place as it is printed.
struct Place<'t> {
    path: &'t str,
    line: u32,
    message: Cow<'t, str>,
}

impl<'t> Place<'t> {
    /// Reads `path:line:column: message`, in which the column and the colon before the message may be missing.
    fn of(text: &'t str) -> Option<Self> {
        let (path, rest) = text.trim_start().split_once(':')?;
        let (line, rest) = number(rest)?;
        let column = rest.strip_prefix(':').and_then(number).map(|(_, rest)| rest).filter(|rest| ends(rest));
        let rest = column.unwrap_or(rest);
        ends(rest).then(|| Self { path, line, message: rest.trim_start_matches(':').into() })
    }

    /// Reads `Fingerprint: path:rule:line`, with which gitleaks names a secret.
    fn of_secret(text: &'t str) -> Option<Self> {
        let (place, line) = text.strip_prefix("Fingerprint:")?.trim().rsplit_once(':')?;
        let (path, rule) = place.rsplit_once(':')?;
        Some(Self { path, line: line.parse().ok()?, message: format!("possible secret: {rule}").into() })
    }

    fn with(self, message: &'t str) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Returns the diagnostic if its file is known and it has a message.
    fn known(self, is_file: impl Fn(&str) -> bool) -> Option<Diagnostic> {
        let path = plain_path(self.path).filter(|path| is_file(path))?;
        let message = quote_message(&self.message);
        // A tool that means a whole file says 0.
        let line = self.line.max(1);
        (!message.is_empty()).then(|| Diagnostic { path: path.into(), line, message: message.into() })
    }
}

/// Splits a number from the text after it.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Returns whether a place is over where this text begins.
fn ends(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(|char: char| char == ':' || char.is_whitespace())
}

#[cfg(test)]
mod tests;
