//! Keys: those that agents were given, and what `lint` takes for one. What agents say is stored and shown without them,
//! and an edit adds none.

mod given;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lint;

pub use given::{of_arguments, of_environment, of_named, without_keys_in_arguments};

/// The keys that somebody was given.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<String>);

/// What stands in the place of a key.
pub const HIDDEN: &str = "[hidden]";

/// A shorter value is a word that occurs by itself.
const SHORTEST: usize = 6;
/// So is a shorter one that is made of letters alone, or of digits alone.
const SHORTEST_PLAIN: usize = 10;

impl Keys {
    pub fn new(given: impl IntoIterator<Item = String>) -> Self {
        let given = given.into_iter().map(|key| key.trim().to_owned());
        let mut keys: Vec<String> = given.filter(|key| !occurs_by_itself(key)).collect();
        // The longest first: another key may be a part of it.
        keys.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        keys.dedup();
        Self(keys)
    }

    /// The text without keys. It may be large: without a key in it, it is not copied.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for form in self.forms() {
            if text.contains(&form) {
                text = text.replace(&form, HIDDEN).into();
            }
        }
        if lint::likely_keys(&text).is_empty() { text } else { lint::without_keys(&text, HIDDEN).into() }
    }

    /// A value without keys in its texts; an error where nothing of its type is left.
    pub fn hide_in<T: Serialize + DeserializeOwned>(&self, value: T) -> Result<T, serde_json::Error> {
        let mut said = serde_json::to_value(&value)?;
        if self.clean(&mut said) { serde_json::from_value(said) } else { Ok(value) }
    }

    /// All keys in a text, each with the place where it begins, in their order.
    pub fn find<'t>(&self, text: &'t str) -> Vec<(usize, &'t str)> {
        let given = self.forms().flat_map(|form| text.match_indices(&form).collect::<Vec<_>>());
        let mut found: Vec<_> = given.chain(lint::likely_keys(text)).collect();
        found.sort_unstable();
        found
    }

    /// Hides the keys; false where there are none.
    fn clean(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let Cow::Owned(clean) = self.hide(text) else { return false };
                *text = clean;
                true
            }
            Value::Array(values) => values.iter_mut().fold(false, |any, value| self.clean(value) | any),
            Value::Object(fields) => {
                let names = |name: &String| Some((name.clone(), self.other_name(name)?));
                let renamed: Vec<(String, String)> = fields.keys().filter_map(names).collect();
                for (name, clean) in &renamed {
                    let value = fields.remove(name).expect("the name was there");
                    fields.insert(clean.clone(), value);
                }
                fields.values_mut().fold(!renamed.is_empty(), |any, value| self.clean(value) | any)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn other_name(&self, name: &str) -> Option<String> {
        match self.hide(name) {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(clean),
        }
    }

    /// Each key as it is, and as it stands in JSON, where a quote has a backslash.
    fn forms(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|key| {
            let quoted = serde_json::to_string(key).expect("a text has a JSON text");
            let escaped = quoted[1..quoted.len() - 1].to_owned();
            std::iter::once(key.clone()).chain((escaped != *key).then_some(escaped))
        })
    }
}

fn occurs_by_itself(key: &str) -> bool {
    let is_plain = key.chars().all(char::is_alphabetic) || key.bytes().all(|byte| byte.is_ascii_digit());
    key.len() < if is_plain { SHORTEST_PLAIN } else { SHORTEST }
}
