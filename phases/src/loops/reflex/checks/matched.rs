//! Pattern checks of the artifact.

use super::{Check, CheckKind, CheckResult, PAGE};
use crate::suites::checks::{self, Bytes, Facts, Usage};
use crate::suites::transcript::Transcript;

/// Runs all pattern checks on the artifact's text.
pub fn matched(text: &str, checks: &[Check]) -> Vec<CheckResult> {
    let patterns = checks.iter().enumerate().filter_map(|(at, check)| match check.kind()? {
        CheckKind::Pattern { pattern, .. } => Some((at, pattern, check.how.check()?)),
        CheckKind::Command { .. } | CheckKind::Question(_) => None,
    });
    patterns
        .map(|(check, pattern, how)| {
            let (met, seen) = checks::tell(how, &Page(text));
            // The agent that refines a text may see the pattern: this is not an exam.
            let details = if met == Some(true) { seen } else { format!("{seen} (pattern: {pattern})") };
            CheckResult { check, met, details: checks::line(&details).into() }
        })
        .collect()
}

/// A page of which only the artifact's text is known.
struct Page<'a>(&'a str);

impl Facts for Page<'_> {
    fn files(&self) -> Vec<&str> {
        vec![PAGE]
    }

    fn bytes(&self, path: &str, most: u64) -> Bytes {
        match self.0.len() as u64 {
            _ if path != PAGE => Bytes::Missing,
            size if size > most => Bytes::TooLarge(size),
            _ => Bytes::Whole(self.0.as_bytes().to_vec()),
        }
    }

    fn touched(&self) -> Vec<&str> {
        vec![PAGE]
    }

    fn answer(&self) -> Option<&str> {
        None
    }

    fn transcript(&self) -> Option<&Transcript> {
        None
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Times, command, pattern};
    use super::*;
    use crate::suites::checks::How;

    const PRESENT: Times = Times::ONCE_OR_MORE;
    const ABSENT: Times = Times::NEVER;

    fn check(how: How) -> Check {
        Check { rule: "r".into(), how }
    }

    fn tell(text: &str, search: &str, times: Times) -> (Option<bool>, String) {
        let result = matched(text, &[check(pattern(search, times))]).remove(0);
        (result.met, result.details.into())
    }

    const TEXT: &str = "# Bookings\r\n\r\n## GET /rooms\r\nToken: none\r\n";

    #[test]
    fn what_is_found_is_quoted_with_its_line() {
        let found = (Some(true), "artifact.md, line 3: ## GET /rooms".into());
        assert_eq!(tell(TEXT, r"^## GET /\w+$", PRESENT), found);
        let found = (Some(false), "artifact.md, line 4: Token: none (pattern: (?i)token)".into());
        assert_eq!(tell(TEXT, "(?i)token", ABSENT), found);
    }

    #[test]
    fn what_is_not_found_is_said_to_be_absent() {
        let nothing = "nothing was found in artifact.md";
        assert_eq!(tell(TEXT, "POST", PRESENT), (Some(false), format!("{nothing} (pattern: POST)")));
        assert_eq!(tell(TEXT, "POST", ABSENT), (Some(true), nothing.to_owned()));
        assert_eq!(tell("", r"\A\z", ABSENT).0, Some(false));
    }

    #[test]
    fn a_pattern_that_cannot_be_used_tells_nothing() {
        assert_eq!(tell(TEXT, "(", ABSENT), (None, "the check cannot be used (pattern: ()".to_owned()));
    }

    #[test]
    fn only_patterns_are_held_against_the_text_and_each_keeps_its_place() {
        let checks = [
            check(How::Question { text: "Is it?".into() }),
            check(pattern("GET", PRESENT)),
            check(command(vec!["true".into()], 0, "")),
            check(pattern("GET", ABSENT)),
        ];
        let places: Vec<_> = matched(TEXT, &checks).iter().map(|result| (result.check, result.met)).collect();
        assert_eq!(places, [(1, Some(true)), (3, Some(false))]);
    }
}
