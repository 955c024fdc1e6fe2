//! Patterns and the work that a search for them may take.
//!
//! The engine is linear in the text for one search, and quadratic for all matches; both also depend on the size of the
//! compiled pattern. So a pattern has a price per byte, and the caller has a budget of bytes: if it is too small, the
//! result is unknown.

use regex::{Regex, RegexBuilder};

/// The limit of a pattern, in characters.
const LONGEST: usize = 1000;
/// Compiled sizes, each with the price of a searched byte. Larger patterns are rejected. A pattern and a text made to
/// waste time take a microsecond per unit of price, others a thousandth of that.
const SIZES: [(usize, u64); 4] = [(16 << 10, 1), (64 << 10, 4), (256 << 10, 16), (1 << 20, 64)];

#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    price: u64,
}

/// The positions that `^` and `$` match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchors {
    Lines,
    Text,
}

/// The rest of the budget, in bytes searched for a small pattern.
#[derive(Debug)]
pub(super) struct Work(pub(super) u64);

/// The matches of a pattern, as far as they were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) times: u64,
    /// The start of the first match.
    pub(super) first: Option<usize>,
}

impl Pattern {
    pub(super) fn compile(pattern: &str, anchors: Anchors) -> Result<Self, String> {
        if pattern.is_empty() {
            return Err("the pattern is empty".to_owned());
        }
        if pattern.chars().count() > LONGEST {
            return Err(format!("the pattern is longer than {LONGEST} characters"));
        }
        let at_most = |size: usize| {
            let mut builder = RegexBuilder::new(pattern);
            let by_lines = anchors == Anchors::Lines;
            builder.multi_line(by_lines).crlf(by_lines).nest_limit(50);
            builder.size_limit(size).dfa_size_limit(2 * size).build()
        };
        let mut compiled = SIZES.iter().map(|&(size, price)| Ok(Self { regex: at_most(size)?, price }));
        let last = |result: Result<Self, regex::Error>, next: Result<Self, regex::Error>| result.or(next);
        let compiled = compiled.next().map(|first| compiled.fold(first, last));
        compiled
            .expect("there are sizes")
            .map_err(|why| format!("the pattern cannot be used: {}", reason(&why)))
    }

    pub(super) fn matches_nothing_at_all(&self) -> bool {
        self.regex.is_match("")
    }

    /// Returns whether the pattern occurs, or None if that takes too much work.
    pub(super) fn is_in(&self, text: &str, work: &mut Work) -> Option<bool> {
        Some(self.count(text, 1, work)?.times > 0)
    }

    /// Counts matches up to `enough`.
    pub(super) fn count(&self, text: &str, enough: u64, work: &mut Work) -> Option<Found> {
        let mut found = Found::default();
        let mut matches = self.regex.find_iter(text);
        let mut from = 0;
        while found.times < enough {
            // A search may read the whole rest, wherever its match ends.
            work.take((text.len() - from).max(1) as u64 * self.price)?;
            let Some(next) = matches.next() else { break };
            found.first.get_or_insert(next.start());
            found.times += 1;
            from = next.end();
        }
        Some(found)
    }
}

impl Work {
    /// Takes work from the budget. Returns None and empties it if it is too small.
    pub(super) fn take(&mut self, cost: u64) -> Option<()> {
        let left = self.0.checked_sub(cost);
        self.0 = left.unwrap_or(0);
        left.map(drop)
    }
}

/// Returns the last line of the error. The lines before point at the place with spaces, which one line would not keep.
fn reason(why: &regex::Error) -> String {
    if matches!(why, regex::Error::CompiledTooBig(_)) {
        return "it is too large; write smaller counts than in `a{1000}`, or fewer of them".to_owned();
    }
    let said = why.to_string();
    let last = said.lines().last().unwrap_or_default();
    crate::base::answer::capped(last.strip_prefix("error: ").unwrap_or(last), 200)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn compile(pattern: &str) -> Result<Pattern, String> {
        Pattern::compile(pattern, Anchors::Lines)
    }

    #[test]
    fn a_pattern_made_to_be_large_or_deep_is_refused_at_once() {
        let begun = Instant::now();
        for pattern in [
            r"\w{1,2000}".to_owned(),
            r"((\w{50}){50}){50}".to_owned(),
            "(((a{100}){100}){100}){100}".to_owned(),
            format!("{}a{}", "(".repeat(100), ")".repeat(100)),
            "(".repeat(200),
        ] {
            assert!(compile(&pattern).unwrap_err().starts_with("the pattern cannot be used: "), "{pattern}");
        }
        assert!(compile(&"x".repeat(1001)).unwrap_err().contains("longer than 1000"));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        for pattern in [r"(?m)^\|\s*`?[A-Z_]+`?\s*\|", r"\b\w+@\w+\b", r"\w{3,20}"] {
            assert!(compile(pattern).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn a_larger_pattern_costs_more_a_byte() {
        let price = |pattern: &str| compile(pattern).unwrap().price;
        assert_eq!([price("GET"), price(r"\w"), price(r"\w{5}"), price(r"\w{20}")], [1, 4, 16, 64]);
    }

    /// With a backtracking engine these would practically never end.
    #[test]
    fn patterns_that_explode_elsewhere_are_searched_in_linear_time() {
        let begun = Instant::now();
        let text = "a".repeat(20_000) + "!";
        for pattern in ["(a+)+$", "(a|aa)+$", "(a|b|ab)*c", "(.*a){20}$"] {
            assert_eq!(compile(pattern).unwrap().is_in(&text, &mut Work(1 << 30)), Some(false), "{pattern}");
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    #[test]
    fn all_matches_of_a_pattern_are_counted_as_far_as_the_work_goes() {
        let pattern = compile("^a").unwrap();
        let count = |enough, work| pattern.count("a\nb\r\na\na", enough, &mut Work(work));
        assert_eq!(count(9, 100), Some(Found { times: 3, first: Some(0) }));
        assert_eq!(count(2, 100), Some(Found { times: 2, first: Some(0) }));
        assert_eq!(count(0, 0), Some(Found::default()));
        assert_eq!(count(9, 15), None);
        // Every search of this pattern reads the whole rest of the text.
        let (pattern, text) = (compile(".*[^A-Z]|[A-Z]").unwrap(), "A".repeat(1 << 18));
        let begun = Instant::now();
        assert_eq!(pattern.count(&text, u64::MAX, &mut Work(4 << 20)), None);
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    #[test]
    fn the_ends_are_those_of_lines_or_of_the_text() {
        let is_in = |anchors| Pattern::compile("^b$", anchors).unwrap().is_in("a\r\nb\r\nc", &mut Work(99));
        assert_eq!([is_in(Anchors::Lines), is_in(Anchors::Text)], [Some(true), Some(false)]);
    }
}
