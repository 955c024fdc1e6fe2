//! Keys: those given to agents, and those that `lint` recognizes. Agent output is stored and shown without them, and an
//! edit adds none.

mod given;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::skills::lint;

pub use given::{of_arguments, of_environment, of_named, without_keys_in_arguments};

/// The known keys of a user.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<String>);

/// The text that replaces a key.
pub const HIDDEN: &str = "[hidden]";

/// A shorter value is likely an ordinary word.
const SHORTEST: usize = 6;
/// The same limit for a value of only letters, or only digits.
const SHORTEST_PLAIN: usize = 10;

impl Keys {
    pub fn new(given: impl IntoIterator<Item = String>) -> Self {
        let given = given.into_iter().map(|key| key.trim().to_owned());
        let mut keys: Vec<String> = given.filter(|key| !occurs_by_itself(key)).collect();
        // The longest first, because another key may be a part of it.
        keys.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        keys.dedup();
        Self(keys)
    }

    /// Returns the text without keys. The text may be large, so it is only copied if it has a key.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for form in self.forms() {
            if text.contains(&form) {
                text = text.replace(&form, HIDDEN).into();
            }
        }
        if lint::likely_keys(&text).is_empty() { text } else { lint::without_keys(&text, HIDDEN).into() }
    }

    /// Returns a value without keys in its texts. Fails if the result is no longer of its type.
    pub fn hide_in<T: Serialize + DeserializeOwned>(&self, value: T) -> Result<T, serde_json::Error> {
        let mut said = serde_json::to_value(&value)?;
        if self.clean(&mut said) { serde_json::from_value(said) } else { Ok(value) }
    }

    /// Returns all keys in a text and their positions, in order.
    pub fn find<'t>(&self, text: &'t str) -> Vec<(usize, &'t str)> {
        let given = self.forms().flat_map(|form| text.match_indices(&form).collect::<Vec<_>>());
        let mut found: Vec<_> = given.chain(lint::likely_keys(text)).collect();
        found.sort_unstable();
        found
    }

    /// Hides the keys. Returns whether there were any.
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

    /// Returns each key as it is, and escaped as in JSON.
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
