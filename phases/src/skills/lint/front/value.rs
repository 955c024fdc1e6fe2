//! Front matter as YAML values, as far as the rules need them.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::DuplicateKeyPolicy;

use crate::base::answer::capped;
use crate::skills::skill;

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    /// A number or a boolean.
    Scalar,
    Nothing,
    /// A list or a mapping.
    Many,
}

/// Returns the values by key, or the error and its line in the file.
pub(super) fn read(yaml: &str) -> Result<BTreeMap<String, Value>, (usize, String)> {
    // An empty line replaces the opening line, so that line numbers match the file.
    let yaml = &format!("\n{yaml}");
    let options = skill::options(DuplicateKeyPolicy::LastWins);
    let read: Result<Option<BTreeMap<String, Value>>, _> = serde_saphyr::from_str_with_options(yaml, options);
    read.map(Option::unwrap_or_default).map_err(|error| {
        let line = error.location().map_or(1, |place| usize::try_from(place.line()).unwrap_or(1));
        (line, capped(&error.to_string(), 300))
    })
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Scalar)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Value, E> {
        Ok(Value::Scalar)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Value, E> {
        Ok(Value::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Many)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart_and_the_last_of_two_counts() {
        let yaml = "a: x\nb: 1\nc: true\nd:\ne: [1, {f: g}]\nh: {1: 2}\ni: -1.5\nj: '1'\na: why\nk: >\n  l\n";
        let read = read(yaml).unwrap();
        let kinds: Vec<_> = read.into_values().collect();
        let text = |text: &str| Value::Text(text.into());
        let (scalar, many) = (Value::Scalar, Value::Many);
        assert_eq!(
            kinds,
            [
                text("why"),
                scalar.clone(),
                scalar.clone(),
                Value::Nothing,
                many.clone(),
                many,
                scalar,
                text("1"),
                text("l\n")
            ]
        );
        assert_eq!(super::read("# nothing\n"), Ok(BTreeMap::new()));
        assert!(super::read("- a\n").is_err() && super::read("a: b: c\n").is_err());
    }
}
