//! Patterns and the work that looking for them may take.
//!
//! The engine is linear in the text for one search, and by the square of it for all matches; both by the size of the pattern as
//! compiled. So a pattern has a price a byte, and whoever searches has a number of bytes to spend: what that does not suffice
//! for cannot be told.

use regex::{Regex, RegexBuilder};

/// In characters.
const LONGEST: usize = 1000;
/// Sizes as compiled, with the price of a byte that such a pattern is held against. Larger ones are refused.
const SIZES: [(usize, u64); 3] = [(16 << 10, 1), (64 << 10, 4), (256 << 10, 16)];

#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    price: u64,
}

/// What `^` and `$` stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchors {
    Lines,
    Text,
}

/// What may still be spent, in bytes that a small pattern is held against.
#[derive(Debug)]
pub(super) struct Work(pub(super) u64);

/// How often a pattern was found, as far as that was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) times: u64,
    /// Where the first one begins.
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

    /// Whether it occurs; none if that takes too much work.
    pub(super) fn is_in(&self, text: &str, work: &mut Work) -> Option<bool> {
        Some(self.count(text, 1, work)?.times > 0)
    }

    /// Counts up to `enough`.
    pub(super) fn count(&self, text: &str, enough: u64, work: &mut Work) -> Option<Found> {
        let mut found = Found::default();
        let mut matches = self.regex.find_iter(text);
        let mut from = 0;
        while found.times < enough {
            // A search may look at all that is left, wherever its match ends.
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
    /// None if it does not suffice: then nothing is left of it.
    pub(super) fn take(&mut self, cost: u64) -> Option<()> {
        let left = self.0.checked_sub(cost);
        self.0 = left.unwrap_or(0);
        left.map(drop)
    }
}

/// The last line says it; those before point at the place with spaces, which one line would not keep.
fn reason(why: &regex::Error) -> String {
    let said = why.to_string();
    let last = said.lines().last().unwrap_or_default();
    crate::answer::capped(last.strip_prefix("error: ").unwrap_or(last), 200)
}
