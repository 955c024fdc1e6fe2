//! One setting: a value with its origin and range, and its parsers for TOML and for a flag.

use std::str::FromStr as _;

use clap::ArgMatches;
use clap::builder::ValueParser;
use serde_json::Value as Json;
use skilltune_orchestrator::agent::Wrap;
use skilltune_orchestrator::snapshot::{RESERVED, RelPath};
use skilltune_phases::base::window::Percent;
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::Score;
use toml::de::DeValue;

use crate::settings::origin::Origin;
use crate::settings::range::{ANY, Range};
use crate::settings::values::{AgentSpec, IsolationName, Panel, UnpricedName, ViaName, WrapWords};

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

readable_words!(IsolationName, UnpricedName, ViaName);

impl Readable for AgentSpec {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        value.as_str()?.parse().ok()
    }

    fn must_be(_: Range) -> String {
        "the name of an agent, or \"NAME:MODEL\"".to_owned()
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

    fn json(&self) -> Json {
        self.as_path().display().to_string().into()
    }
}

impl<T: Readable> Readable for Option<T> {
    fn read(value: &DeValue<'_>, range: Range) -> Option<Self> {
        T::read(value, range).map(Some)
    }

    fn must_be(range: Range) -> String {
        T::must_be(range)
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
