//! Patterns held against the artifact.

use regex::{Regex, RegexBuilder};

use super::{Check, How, Presence, Told};
use crate::answer::capped;

// Matching takes time by the size of the pattern as compiled: with this one, and a text made for it, some seconds for a
// hundred kilobytes; without an aim to waste time, milliseconds.
const MOST_COMPILED: usize = 256 << 10;
const LONGEST_EXCERPT: usize = 200;

/// Compiles a pattern, in which `^` and `$` stand for the ends of lines.
pub(super) fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .crlf(true)
        .size_limit(MOST_COMPILED)
        .dfa_size_limit(2 * MOST_COMPILED)
        .nest_limit(50)
        .build()
}

/// Makes all pattern checks on the artifact's text.
pub fn matched(text: &str, checks: &[Check]) -> Vec<Told> {
    let patterns = checks.iter().enumerate().filter_map(|(at, check)| match &check.how {
        How::Pattern { pattern, expected } => Some((at, pattern, *expected)),
        How::Command { .. } | How::Question { .. } => None,
    });
    patterns
        .map(|(check, pattern, expected)| {
            let (met, details) = told(text, pattern, expected);
            Told { check, met, details: details.into() }
        })
        .collect()
}

fn told(text: &str, pattern: &str, expected: Presence) -> (Option<bool>, String) {
    let Ok(regex) = compiled(pattern) else {
        return (None, format!("the pattern cannot be used: {pattern}"));
    };
    match (regex.find(text), expected) {
        (Some(found), expected) => (Some(expected == Presence::Present), excerpt(text, found.start())),
        (None, expected) => (Some(expected == Presence::Absent), format!("nothing matches {pattern}")),
    }
}

/// The line of a place, with its number.
fn excerpt(text: &str, at: usize) -> String {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let number = text[..begin].matches('\n').count() + 1;
    let line = text[begin..].lines().next().unwrap_or_default();
    format!("line {number}: {}", capped(line, LONGEST_EXCERPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expected: Presence) -> Check {
        Check { rule: "r".into(), how: How::Pattern { pattern: pattern.into(), expected } }
    }

    fn tell(text: &str, pattern: &str, expected: Presence) -> (Option<bool>, String) {
        let told = matched(text, &[check(pattern, expected)]).remove(0);
        (told.met, told.details.into())
    }

    const TEXT: &str = "# Bookings\r\n\r\n## GET /rooms\r\nToken: none\r\n";

    #[test]
    fn what_is_found_is_quoted_with_its_line() {
        assert_eq!(
            tell(TEXT, r"^## GET /\w+$", Presence::Present),
            (Some(true), "line 3: ## GET /rooms".into())
        );
        assert_eq!(tell(TEXT, "(?i)token", Presence::Absent), (Some(false), "line 4: Token: none".into()));
    }

    #[test]
    fn what_is_not_found_is_said_to_be_absent() {
        assert_eq!(tell(TEXT, "POST", Presence::Present), (Some(false), "nothing matches POST".into()));
        assert_eq!(tell(TEXT, "POST", Presence::Absent), (Some(true), "nothing matches POST".into()));
        assert_eq!(tell("", r"\A\z", Presence::Absent), (Some(false), "line 1: ".into()));
    }

    #[test]
    fn a_pattern_that_cannot_be_used_tells_nothing() {
        let (met, details) = tell(TEXT, "(", Presence::Absent);
        assert_eq!((met, details.as_str()), (None, "the pattern cannot be used: ("));
    }

    #[test]
    fn a_long_line_is_cut_and_one_with_control_characters_is_cleaned() {
        let (_, details) = tell(&format!("\u{1b}[2J{}", "ä".repeat(5000)), "ä", Presence::Present);
        assert!(
            details.starts_with("line 1: [2Jä") && details.ends_with('…') && details.chars().count() < 220
        );
    }

    #[test]
    fn only_patterns_are_held_against_the_text_and_each_keeps_its_place() {
        let question = Check { rule: "r".into(), how: How::Question { text: "Is it?".into() } };
        let command = How::Command { argv: vec!["true".into()], exit: 0, expected: "".into() };
        let checks = [
            question,
            check("GET", Presence::Present),
            Check { rule: "r".into(), how: command },
            check("GET", Presence::Absent),
        ];
        let places: Vec<_> = matched(TEXT, &checks).iter().map(|told| (told.check, told.met)).collect();
        assert_eq!(places, [(1, Some(true)), (3, Some(false))]);
    }

    #[test]
    fn a_pattern_made_to_be_large_or_deep_is_refused() {
        assert!(compiled(r"\w{1,2000}").is_err());
        assert!(compiled(&"(".repeat(200)).is_err());
        assert!(compiled(&format!("{}a{}", "(".repeat(100), ")".repeat(100))).is_err());
        assert!(compiled(r"(?m)^\|\s*`?[A-Z_]+`?\s*\|").is_ok());
        assert!(compiled(r"\b\w+@\w+\b").is_ok());
    }
}
