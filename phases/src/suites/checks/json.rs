//! Untrusted JSON: read within limits, and compared by value.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// The limit of a file, in bytes.
pub(super) const LARGEST: u64 = 4 << 20;
/// Below the limit of the parser, so that recursion through any value is safe.
pub(super) const DEEPEST: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    TooDeep,
    NoJson { line: usize, column: usize },
}

pub(super) fn read(bytes: &[u8]) -> Result<Value, Unreadable> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if is_deep(bytes) {
        return Err(Unreadable::TooDeep);
    }
    serde_json::from_slice(bytes).map_err(|why| Unreadable::NoJson { line: why.line(), column: why.column() })
}

/// Counts the brackets outside strings.
fn is_deep(bytes: &[u8]) -> bool {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// Returns whether a value from elsewhere is deeper than this module reads.
pub(super) fn is_too_deep(value: &Value) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > DEEPEST {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

/// Returns the fault of a JSON pointer.
pub(super) fn pointer_fault(pointer: &str) -> Option<String> {
    let has_odd_tilde = || pointer.split('~').skip(1).any(|after| !after.starts_with(['0', '1']));
    let why = if pointer.len() > 1000 {
        "the JSON pointer is longer than 1000 bytes"
    } else if !pointer.is_empty() && !pointer.starts_with('/') {
        "a JSON pointer starts with `/`; an empty one means the whole file"
    } else if has_odd_tilde() {
        "in a JSON pointer, write `~` as `~0`, and a `/` in a name as `~1`"
    } else {
        return None;
    };
    Some(why.to_owned())
}

/// Compares any two values. Numbers are equal if their values are, and objects if their members are.
pub(super) fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Number(one), Value::Number(other)) => numbers(one, other),
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Array(one), Value::Array(other)) => each(one.iter(), other.iter(), compare),
        (Value::Object(one), Value::Object(other)) => {
            let sorted = |members: &serde_json::Map<String, Value>| {
                let mut members: Vec<_> =
                    members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                members.sort_by(|one, other| one.0.cmp(&other.0));
                members
            };
            let (one, other) = (sorted(one), sorted(other));
            let both = |one: &(String, Value), other: &(String, Value)| {
                one.0.cmp(&other.0).then_with(|| compare(&one.1, &other.1))
            };
            each(one.iter(), other.iter(), both)
        }
        (one, other) => rank(one).cmp(&rank(other)),
    }
}

fn each<T>(
    one: impl ExactSizeIterator<Item = T>,
    other: impl ExactSizeIterator<Item = T>,
    compare: impl Fn(T, T) -> Ordering,
) -> Ordering {
    let lengths = one.len().cmp(&other.len());
    one.zip(other).map(|(one, other)| compare(one, other)).find(|order| order.is_ne()).unwrap_or(lengths)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// Compares exactly, even if a float cannot hold the whole number.
pub(super) fn numbers(one: &Number, other: &Number) -> Ordering {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        // One number has a fraction, so it is small enough to be an exact float, or it is outside the range of whole
        // numbers.
        _ => float(one).total_cmp(&float(other)),
    }
}

pub(super) fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::MAX)
}

/// Returns the value of a number without a fraction, in any notation.
pub(super) fn whole(number: &Number) -> Option<i128> {
    if let Some(whole) = number.as_i128() {
        return Some(whole);
    }
    let float = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is far below the largest")]
    (float.fract() == 0.0 && float.abs() < 1e37).then_some(float as i128)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_equal_by_what_they_are() {
        for (one, other) in [
            (json!(1), json!(1.0)),
            (json!(0.0), json!(-0.0)),
            (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1})),
            (json!(1e3), json!(1000)),
        ] {
            assert_eq!(compare(&one, &other), Ordering::Equal, "{one} {other}");
        }
        for (less, more) in [
            (json!(1), json!(2)),
            (json!(9_007_199_254_740_992_i64), json!(9_007_199_254_740_993_i64)),
            (json!(-0.5), json!(0)),
            (json!(u64::MAX), json!(1e300)),
            (json!("a"), json!("b")),
            (json!([1]), json!([1, 0])),
            (json!({"a": 1}), json!({"a": 2})),
            (json!({"a": 1}), json!({"b": 0})),
            (json!(null), json!(false)),
            (json!(true), json!(1)),
        ] {
            assert_eq!(compare(&less, &more), Ordering::Less, "{less} {more}");
            assert_eq!(compare(&more, &less), Ordering::Greater, "{less} {more}");
        }
    }

    #[test]
    fn what_is_deep_is_told_from_what_is_no_json() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(nested(DEEPEST).as_bytes()).is_ok());
        assert_eq!(read(nested(DEEPEST + 1).as_bytes()), Err(Unreadable::TooDeep));
        assert_eq!(read("[".repeat(4 << 20).as_bytes()), Err(Unreadable::TooDeep));
        assert_eq!(read(format!("{:?}", nested(500)).as_bytes()), Ok(nested(500).into()));
        assert_eq!(read(b"{\n  oops }"), Err(Unreadable::NoJson { line: 2, column: 3 }));
        assert_eq!(read(b"\xef\xbb\xbf1"), Ok(json!(1)));
        assert!(matches!(read(b"\xff"), Err(Unreadable::NoJson { .. })));
    }
}
