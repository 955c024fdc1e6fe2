//! Reading JSON that a model or a hand has written: what can be read is, and of the rest it is told where it stands.

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::fraction::Fraction;
use super::words::{Vocabulary, Word};
use crate::answer::capped;

/// Something that stands in a file and is not what belongs there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("`{field}` cannot be read: {found}")]
pub struct Doubt {
    /// Such as `criteria.rules[2].severity`.
    pub field: String,
    pub found: String,
}

/// Why nothing of a file can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it is no JSON: {0}")]
    NotJson(String),
    #[error("it is JSON, but no object")]
    NotAnObject,
    #[error("it names no run")]
    NoRun,
}

/// More doubts than anybody reads.
const MOST_DOUBTS: usize = 100;
const EXCERPT: usize = 120;

/// An object whose fields are taken one by one.
pub(super) struct Fields<'a> {
    object: &'a Map<String, Value>,
    at: String,
    doubts: &'a mut Vec<Doubt>,
}

/// The one object that a file holds.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    match serde_json::from_str(text(bytes).trim()) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Unreadable::NotAnObject),
        Err(error) => Err(Unreadable::NotJson(error.to_string())),
    }
}

/// A file's text without the mark that some editors put before it.
pub(super) fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

impl<'a> Fields<'a> {
    pub(super) fn of(object: &'a Map<String, Value>, doubts: &'a mut Vec<Doubt>) -> Self {
        Self { object, at: String::new(), doubts }
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.take(key, |value| value.as_str().map(str::to_owned))
    }

    /// Anything, as text.
    pub(super) fn words(&mut self, key: &str) -> Option<String> {
        self.take(key, |value| Some(words(value)))
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.take(key, Value::as_bool)
    }

    /// A whole number that was written as one: `"4"` and 4.5 are none.
    pub(super) fn count<T: TryFrom<u64>>(&mut self, key: &str) -> Option<T> {
        self.take(key, |value| T::try_from(value.as_u64()?).ok())
    }

    pub(super) fn positive(&mut self, key: &str) -> Option<u64> {
        self.take(key, |value| value.as_u64().filter(|number| *number > 0))
    }

    pub(super) fn fraction(&mut self, key: &str) -> Option<Fraction> {
        self.take(key, |value| Fraction::new(value.as_f64()?))
    }

    pub(super) fn time(&mut self, key: &str) -> Option<Timestamp> {
        self.take(key, |value| value.as_str()?.trim().parse().ok())
    }

    /// A word of the list and no other.
    pub(super) fn known<T: Vocabulary>(&mut self, key: &str) -> Option<T> {
        self.take(key, |value| T::of(value.as_str()?))
    }

    pub(super) fn word<T: Vocabulary>(&mut self, key: &str) -> Option<Word<T>> {
        self.take(key, |value| value.as_str().map(Word::of))
    }

    pub(super) fn map(&mut self, key: &str) -> Option<Map<String, Value>> {
        self.take(key, |value| value.as_object().cloned())
    }

    /// An object in it; `None` of `read` says that something is missing without which it says nothing.
    pub(super) fn within<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Option<T> {
        let at = self.path(key);
        self.inner(at, self.object.get(key)?, read)
    }

    /// A list of objects in it; those that say nothing are left out.
    pub(super) fn each<T>(
        &mut self,
        key: &str,
        read: impl Fn(&mut Fields<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let list: &'a Vec<Value> = self.list(key)?;
        let at = self.path(key);
        let entries = list.iter().enumerate();
        Some(
            entries.filter_map(|(place, entry)| self.inner(format!("{at}[{place}]"), entry, &read)).collect(),
        )
    }

    /// A list of texts in it.
    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        Some(self.list(key)?.iter().map(words).collect())
    }

    /// The known ones of a list of words.
    pub(super) fn all_known<T: Vocabulary>(&mut self, key: &str) -> Option<Vec<T>> {
        self.take(key, |value| value.as_array()?.iter().map(|word| T::of(word.as_str()?)).collect())
    }

    /// The list itself where an object was due, as some write it.
    pub(super) fn is_list(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(Value::is_array)
    }

    fn list(&mut self, key: &str) -> Option<&'a Vec<Value>> {
        self.take(key, Value::as_array)
    }

    fn inner<T>(
        &mut self,
        at: String,
        value: &Value,
        read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Option<T> {
        let object = match value {
            Value::Null => return None,
            value => value.as_object(),
        };
        let read =
            object.and_then(|object| read(&mut Fields { object, at: at.clone(), doubts: &mut *self.doubts }));
        if read.is_none() {
            self.doubt(at, value);
        }
        read
    }

    /// Nothing where nothing or `null` stands; a doubt where something else than `read` takes does.
    fn take<T>(&mut self, key: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Option<T> {
        let value = self.object.get(key).filter(|value| !value.is_null())?;
        let read = read(value);
        if read.is_none() {
            self.doubt(self.path(key), value);
        }
        read
    }

    fn doubt(&mut self, field: String, value: &Value) {
        if self.doubts.len() < MOST_DOUBTS {
            self.doubts.push(Doubt { field, found: capped(&value.to_string(), EXCERPT) });
        }
    }

    fn path(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}.{key}", self.at) }
    }
}

/// A text as it is, anything else as JSON.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Times in these files are of whole seconds.
pub(super) fn seconds<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&time.strftime("%Y-%m-%dT%H:%M:%SZ"))
}
