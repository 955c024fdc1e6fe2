//! One setting: a value with its origin and range, and its parsers for TOML and for a flag.

use clap::ArgMatches;
use clap::builder::ValueParser;
use serde_json::{Value as Json, json};
use toml::de::DeValue;

use crate::settings::origin::Origin;
use crate::settings::range::{ANY, Range};

#[derive(Clone, Debug)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
    range: Range,
    /// A project may only tighten the user's value; a lower number is tighter.
    is_limit: bool,
    /// The value from the user's own file, or the value in force until it sets one.
    ceiling: Option<(T, Origin)>,
    /// The project's value that was refused.
    refused: Option<(T, Origin)>,
}

/// A project's value that is looser than the user's limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    pub ceiling: Json,
    pub asked: Json,
    pub asks: Origin,
    /// Whether it is in force because the project's file is trusted.
    pub is_allowed: bool,
}

/// A setting of any type.
pub trait Slot {
    /// Sets the value, or returns what it must be.
    fn read(&mut self, value: &DeValue<'_>, origin: &Origin) -> Result<(), String>;
    /// Describes the valid values.
    fn must_be(&self) -> String;
    /// Returns a JSON schema of the valid values.
    fn schema(&self) -> Json;
    fn json(&self) -> Json;
    fn origin(&self) -> &Origin;
    /// Restores the user's own limit if the project asks for more and is not trusted.
    fn hold(&mut self, is_trusted: &dyn Fn() -> bool);
    /// Returns the project's value if it exceeds the user's own limit.
    fn over(&self) -> Option<Over>;
    /// Returns the parser of its flag.
    fn parser(&self) -> ValueParser;
    /// Sets the value of its flag, which the command line has.
    fn take(&mut self, matches: &ArgMatches, id: &str, flag: &'static str);
}

/// A type that a setting can have.
pub trait Readable: Sized + Clone + Send + Sync + 'static {
    fn read(value: &DeValue<'_>, range: Range) -> Option<Self>;
    fn must_be(range: Range) -> String;
    /// Returns a JSON schema. It accepts every value that `read` does, and refuses what a schema can.
    fn schema(range: Range) -> Json;
    fn json(&self) -> Json;

    /// Reads the text of a flag. Returns no value if the text is wrong, or if no flag has values of this type.
    fn typed(_text: &str, _range: Range) -> Option<Self> {
        None
    }

    /// Returns the parser of a flag.
    fn parser(range: Range) -> ValueParser {
        let typed = move |text: &str| {
            Self::typed(text, range).ok_or_else(|| format!("must be {}", Self::must_be(range)))
        };
        ValueParser::from(typed)
    }

    /// Returns the value of a flag.
    fn taken(matches: &ArgMatches, id: &str) -> Option<Self> {
        matches.get_one::<Self>(id).cloned()
    }

    /// Returns true if the value is looser than a limit. An unset value has no limit.
    fn exceeds(&self, ceiling: &Self) -> bool {
        let amount = |value: &Self| value.json().as_f64().unwrap_or(f64::INFINITY);
        amount(self) > amount(ceiling)
    }
}

impl<T: Clone> Setting<T> {
    pub fn new(value: T) -> Self {
        Self::within(ANY, value)
    }

    pub fn within(range: Range, value: T) -> Self {
        Self { value, origin: Origin::Default, range, is_limit: false, ceiling: None, refused: None }
    }

    /// Creates a limit on the cost or the access of agents: once the user has set it, a project can only tighten it.
    pub fn limit(range: Range, value: T) -> Self {
        Self { is_limit: true, ..Self::within(range, value) }
    }

    /// Creates a limit that an untrusted project cannot loosen, even if the user has set nothing.
    pub fn reserved(range: Range, value: T) -> Self {
        Self { ceiling: Some((value.clone(), Origin::Default)), ..Self::limit(range, value) }
    }

    pub fn set(&mut self, value: T, origin: Origin) {
        if self.is_limit && origin.is_users() {
            self.ceiling = Some((value.clone(), origin.clone()));
        }
        self.value = value;
        self.origin = origin;
    }
}

impl<T: Readable> Setting<T> {
    fn exceeds(&self, ceiling: &T) -> bool {
        self.origin.is_projects() && self.value.exceeds(ceiling)
    }
}

impl<T: Readable> Slot for Setting<T> {
    fn read(&mut self, value: &DeValue<'_>, origin: &Origin) -> Result<(), String> {
        let read = T::read(value, self.range).ok_or_else(|| self.must_be())?;
        self.set(read, origin.clone());
        Ok(())
    }

    fn must_be(&self) -> String {
        T::must_be(self.range)
    }

    fn schema(&self) -> Json {
        T::schema(self.range)
    }

    fn json(&self) -> Json {
        self.value.json()
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn hold(&mut self, is_trusted: &dyn Fn() -> bool) {
        let exceeded = self.ceiling.clone().filter(|(ceiling, _)| self.exceeds(ceiling));
        if let Some((ceiling, own)) = exceeded.filter(|_| !is_trusted()) {
            let asked = std::mem::replace(&mut self.value, ceiling);
            self.refused = Some((asked, std::mem::replace(&mut self.origin, own)));
        }
    }

    fn over(&self) -> Option<Over> {
        let (ceiling, own) = self.ceiling.as_ref()?;
        let (asked, asks, is_allowed) = match &self.refused {
            Some((asked, asks)) if self.origin == *own => (asked, asks, false),
            None if self.exceeds(ceiling) => (&self.value, &self.origin, true),
            Some(_) | None => return None,
        };
        Some(Over { ceiling: ceiling.json(), asked: asked.json(), asks: asks.clone(), is_allowed })
    }

    fn parser(&self) -> ValueParser {
        T::parser(self.range)
    }

    fn take(&mut self, matches: &ArgMatches, id: &str, flag: &'static str) {
        if let Some(value) = T::taken(matches, id) {
            self.set(value, Origin::Flag(flag));
        }
    }
}

/// Describes a value for messages; shows only the type of a long or large one.
pub fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.len() <= 40 => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
        DeValue::String(_) => "a long text".to_owned(),
        DeValue::Datetime(_) => "a date".to_owned(),
    }
}

/// Reads a list of such texts.
pub fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| plain(item.get_ref())).collect()
}

/// Returns the schema of such a list.
pub fn texts_schema() -> Json {
    json!({ "type": "array", "items": { "type": "string" } })
}

/// Returns the schema of a path inside a folder.
pub fn path_schema() -> Json {
    json!({ "type": "string", "minLength": 1, "not": { "pattern": r"^/|/$|//|(^|/)\.\.?(/|$)" } })
}

/// Reads a text that can be passed to a program.
pub fn plain(value: &DeValue<'_>) -> Option<String> {
    value.as_str().filter(|text| !text.contains('\0')).map(str::to_owned)
}

pub(super) fn number(value: &DeValue<'_>, range: Range) -> Option<f64> {
    let number: f64 = match value {
        DeValue::Float(number) => number.as_str().parse().ok()?,
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok()?,
        _ => return None,
    };
    range.has(number).then_some(number)
}

impl<T: Readable> Readable for Option<T> {
    fn read(value: &DeValue<'_>, range: Range) -> Option<Self> {
        T::read(value, range).map(Some)
    }

    fn must_be(range: Range) -> String {
        T::must_be(range)
    }

    fn schema(range: Range) -> Json {
        T::schema(range)
    }

    fn json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::json)
    }

    fn exceeds(&self, ceiling: &Self) -> bool {
        match (self, ceiling) {
            (Some(value), Some(ceiling)) => value.exceeds(ceiling),
            (None, Some(_)) => true,
            (Some(_) | None, None) => false,
        }
    }

    fn parser(range: Range) -> ValueParser {
        T::parser(range)
    }

    fn taken(matches: &ArgMatches, id: &str) -> Option<Self> {
        T::taken(matches, id).map(Some)
    }
}

/// Parses values of these types by their names on the command line.
macro_rules! readable_words {
    ($($name:ty),*) => {$(
        impl $crate::settings::setting::Readable for $name {
            fn read(value: &toml::de::DeValue<'_>, _: $crate::settings::range::Range) -> Option<Self> {
                <Self as clap::ValueEnum>::from_str(value.as_str()?, false).ok()
            }

            fn must_be(_: $crate::settings::range::Range) -> String {
                let words: Vec<String> = <Self as clap::ValueEnum>::value_variants().iter().map(|value| format!("{:?}", $crate::settings::values::word(value))).collect();
                format!("one of {}", words.join(", "))
            }

            fn schema(_: $crate::settings::range::Range) -> serde_json::Value {
                $crate::settings::values::words_schema::<Self>()
            }

            fn json(&self) -> serde_json::Value {
                $crate::settings::values::word(self).into()
            }

            fn parser(_: $crate::settings::range::Range) -> clap::builder::ValueParser {
                clap::builder::EnumValueParser::<Self>::new().into()
            }
        }
    )*};
}

pub(crate) use readable_words;
