//! The types of settings: how each is read, described and shown.

use std::str::FromStr as _;

use clap::builder::ValueParser;
use serde_json::{Value as Json, json};
use skilltune_orchestrator::agent::Wrap;
use skilltune_orchestrator::snapshot::{RESERVED, RelPath};
use skilltune_phases::base::window::Percent;
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::Score;
use toml::de::DeValue;

use crate::settings::range::{ANY, Range};
use crate::settings::setting::{Readable, number, path_schema, readable_words, texts, texts_schema};
use crate::settings::values::{
    AGENT_NAME, AgentSpec, IsolationName, Panel, UnpricedName, ViaName, WrapWords,
};

/// Reads a whole number that is written as one.
fn whole<T: TryFrom<u64>>(value: &DeValue<'_>, range: Range) -> Option<T> {
    let integer = value.as_integer()?;
    within(u64::from_str_radix(integer.as_str(), integer.radix()).ok()?, range)
}

fn within<T: TryFrom<u64>>(whole: u64, range: Range) -> Option<T> {
    #[expect(clippy::cast_precision_loss, reason = "no range ends where floats are coarse")]
    range.has(whole as f64).then(|| T::try_from(whole).ok())?
}

/// Each type with the mark that a flag may have between digits.
macro_rules! whole_numbers {
    ($($name:ty: $mark:literal),*) => {$(
        impl Readable for $name {
            fn read(value: &DeValue<'_>, range: Range) -> Option<Self> {
                whole(value, range)
            }

            fn must_be(range: Range) -> String {
                format!("a whole number {range}")
            }

            fn schema(range: Range) -> Json {
                range.schema("integer")
            }

            fn json(&self) -> Json {
                (*self).into()
            }

            fn typed(text: &str, range: Range) -> Option<Self> {
                within(text.replace($mark, "").parse().ok()?, range)
            }
        }
    )*};
}

whole_numbers!(u32: "", u64: "_", usize: "");

impl Readable for f64 {
    fn read(value: &DeValue<'_>, range: Range) -> Option<Self> {
        number(value, range)
    }

    fn must_be(range: Range) -> String {
        format!("a number {range}")
    }

    fn schema(range: Range) -> Json {
        range.schema("number")
    }

    fn json(&self) -> Json {
        (*self).into()
    }

    fn typed(text: &str, range: Range) -> Option<Self> {
        text.parse().ok().filter(|number| range.has(*number))
    }
}

impl Readable for bool {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        value.as_bool()
    }

    fn must_be(_: Range) -> String {
        "true or false".to_owned()
    }

    fn schema(_: Range) -> Json {
        json!({ "type": "boolean" })
    }

    fn json(&self) -> Json {
        (*self).into()
    }
}

impl Readable for Confidence {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        number(value, ANY).and_then(|number| Self::try_from(number).ok())
    }

    fn must_be(_: Range) -> String {
        "0.8, 0.9 or 0.95".to_owned()
    }

    fn schema(_: Range) -> Json {
        json!({ "enum": Self::ALL.map(f64::from) })
    }

    fn json(&self) -> Json {
        f64::from(*self).into()
    }

    fn parser(_: Range) -> ValueParser {
        ValueParser::from(Self::from_str)
    }
}

impl Readable for Score {
    fn read(value: &DeValue<'_>, range: Range) -> Option<Self> {
        number(value, range).and_then(Self::new)
    }

    fn must_be(range: Range) -> String {
        f64::must_be(range)
    }

    fn schema(range: Range) -> Json {
        f64::schema(range)
    }

    fn json(&self) -> Json {
        self.points().into()
    }

    fn typed(text: &str, range: Range) -> Option<Self> {
        f64::typed(text, range).and_then(Self::new)
    }
}

impl Readable for Percent {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        value.as_str()?.parse().ok()
    }

    fn must_be(_: Range) -> String {
        "a whole percentage from \"1%\" to \"99%\"".to_owned()
    }

    fn schema(_: Range) -> Json {
        json!({ "type": "string", "pattern": "^0*[1-9][0-9]?%$" })
    }

    fn json(&self) -> Json {
        self.to_string().into()
    }

    fn parser(_: Range) -> ValueParser {
        ValueParser::from(Self::from_str)
    }

    /// The value is the share that stays free, so less is looser.
    fn exceeds(&self, ceiling: &Self) -> bool {
        self < ceiling
    }
}

readable_words!(IsolationName, UnpricedName, ViaName);

impl Readable for AgentSpec {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        value.as_str()?.parse().ok()
    }

    fn must_be(_: Range) -> String {
        "the name of an agent, or \"NAME:MODEL\"".to_owned()
    }

    fn schema(_: Range) -> Json {
        json!({ "type": "string", "pattern": format!("{AGENT_NAME}(:[^-].*)?$") })
    }

    fn json(&self) -> Json {
        self.to_string().into()
    }

    fn parser(_: Range) -> ValueParser {
        ValueParser::from(Self::from_str)
    }
}

impl Readable for Panel {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        let specs: Result<Vec<AgentSpec>, _> = texts(value)?.iter().map(|text| text.parse()).collect();
        specs.ok().filter(|specs| specs.len() <= Self::MOST).map(Self)
    }

    fn must_be(_: Range) -> String {
        format!("a list of at most {} agents, each \"NAME\" or \"NAME:MODEL\"", Self::MOST)
    }

    fn schema(range: Range) -> Json {
        json!({ "type": "array", "items": AgentSpec::schema(range), "maxItems": Self::MOST })
    }

    fn json(&self) -> Json {
        self.0.iter().map(ToString::to_string).collect()
    }

    fn parser(_: Range) -> ValueParser {
        ValueParser::from(Self::from_str)
    }
}

/// Two wrappers cannot be compared, so every wrapper other than the user's own counts as looser.
impl Readable for WrapWords {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        Self::new(texts(value)?)
    }

    fn must_be(_: Range) -> String {
        let placeholders = Wrap::PLACEHOLDERS.join(", ");
        format!("a list of strings, a program and its arguments; the placeholders are {placeholders}")
    }

    fn schema(_: Range) -> Json {
        texts_schema()
    }

    fn json(&self) -> Json {
        self.0.clone().into()
    }

    fn exceeds(&self, ceiling: &Self) -> bool {
        self != ceiling
    }
}

/// A loop's folder for its files: a project's file must not point it to files of others.
impl Readable for RelPath {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        let text = value.as_str().filter(|text| !text.contains(char::is_control))?;
        let path = Self::parse(text.as_bytes()).ok()?;
        let is_theirs = path.lineage().any(|folder| RESERVED.iter().any(|name| folder.name() == *name));
        (!is_theirs).then_some(path)
    }

    fn must_be(_: Range) -> String {
        format!("a folder inside the project, and outside {}", RESERVED.join(" and "))
    }

    fn schema(_: Range) -> Json {
        let reserved = RESERVED.map(|name| name.replace('.', r"\.")).join("|");
        json!({ "allOf": [path_schema(), { "not": { "pattern": format!("(^|/)({reserved})(/|$)") } }] })
    }

    fn json(&self) -> Json {
        self.as_path().display().to_string().into()
    }
}
