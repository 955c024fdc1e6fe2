//! Reads untrusted YAML into JSON values, within limits.

use std::borrow::Cow;

use serde_json::Value;
use serde_saphyr::{DuplicateKeyPolicy, Localizer, Location, UserMessageFormatter};

use crate::base::answer::capped;

/// The error in a text, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Fault {
    pub line: u64,
    pub what: Box<str>,
}

/// Larger than any suite needs. A text of a few lines may hold a million copies of one line.
const LARGEST: usize = 2 << 20;
const LARGEST_EXPANDED: usize = 32 << 20;

/// Returns the value of a text with one document.
pub fn value(text: &str) -> Result<Value, Fault> {
    if text.len() > LARGEST {
        return Err(Fault { line: 1, what: format!("YAML of more than {} MiB", LARGEST >> 20).into() });
    }
    // Each repetition of a part adds at most the whole text.
    let repeated = (LARGEST_EXPANDED / text.len().max(1)).min(10_000);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 64,
            max_events: 400_000,
            max_nodes: 200_000,
            max_aliases: repeated,
            max_anchors: 1_000,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: repeated },
        duplicate_keys: DuplicateKeyPolicy::Error,
        // `yes` and `no` are strings, as in YAML 1.2.
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| Fault {
        line: error.location().map_or(1, |place| place.line()),
        what: capped(&error.render_with_formatter(&UserMessageFormatter.with_localizer(&NoPlaces)), 300)
            .into(),
    })
}

/// Leaves the place out of a message: a `Fault` has the line.
struct NoPlaces;

impl Localizer for NoPlaces {
    fn attach_location<'a>(&self, message: Cow<'a, str>, _: Location) -> Cow<'a, str> {
        message
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_lists_and_mappings_become_those_of_json() {
        let read = value("a: 1\nb: [x, 2.5, true, ~, '1']\nc: |\n  two\n  lines\n1: one\nd: yes\n").unwrap();
        assert_eq!(
            read,
            json!({"a": 1, "b": ["x", 2.5, true, null, "1"], "c": "two\nlines\n", "1": "one", "d": "yes"})
        );
        assert_eq!(value("").unwrap(), Value::Null);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        assert_eq!(value("a: 1\nb: [x,\nc: d: e\n").unwrap_err().line, 3);
        let twice = value("a: 1\na: 2\n").unwrap_err().to_string();
        assert_eq!(twice, "line 2: duplicate mapping key `a` is not allowed here");
    }

    #[test]
    fn a_bomb_is_refused_before_it_takes_memory() {
        let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (name, before) in ('b'..='k').zip('a'..) {
            let copies = vec![format!("*{before}"); 9].join(",");
            writeln!(bomb, "{name}: &{name} [{copies}]").unwrap();
        }
        value(&bomb).unwrap_err();
        let large = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), ["*a"; 200].join(","));
        value(&large).unwrap_err();
        value(&"[".repeat(10_000)).unwrap_err();
        value(&"a".repeat(LARGEST + 1)).unwrap_err();
    }

    #[test]
    fn a_part_that_is_repeated_a_few_times_is_read() {
        let read = value("a: &a {x: 1}\nb: [*a, *a]\nc:\n  <<: *a\n  y: 2\n").unwrap();
        assert_eq!(read["b"], json!([{"x": 1}, {"x": 1}]));
        assert_eq!(read["c"], json!({"x": 1, "y": 2}));
    }
}
