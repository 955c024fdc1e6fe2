//! Keys: those given to agents, and those that `lint` recognizes. Agent output is stored and shown without them, and an
//! edit adds none.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::skills::lint;

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

/// Returns the keys of an environment, by the names of their variables, and the passwords in addresses.
pub fn of_environment(env: &BTreeMap<String, String>) -> Vec<String> {
    let keys = env.iter().filter(|(name, _)| names_key(name)).map(|(_, value)| value.as_str());
    let passwords = env.values().filter_map(|value| password(value));
    keys.chain(passwords).map(str::to_owned).collect()
}

/// Returns the values of these variables that look like keys, whatever the variables' names.
pub fn of_named<'a>(names: impl Iterator<Item = &'a str>, env: &BTreeMap<String, String>) -> Vec<String> {
    names.filter_map(|name| env.get(name)).filter(|value| is_mixed(value)).cloned().collect()
}

/// Returns the keys among the arguments of a command.
pub fn of_arguments(command: &[String]) -> Vec<String> {
    (0..command.len()).filter_map(|at| key_at(command, at)).map(str::to_owned).collect()
}

/// Returns the arguments of a command with the keys removed.
pub fn without_keys_in_arguments(command: &[String]) -> Vec<String> {
    let clean = |(at, argument): (usize, &String)| {
        let text = key_at(command, at).map_or_else(|| argument.clone(), |key| argument.replace(key, HIDDEN));
        lint::without_keys(&text, HIDDEN)
    };
    command.iter().enumerate().map(clean).collect()
}

/// Returns the key in an argument: `--api-key=KEY`, `KEY` after `--token`, `Authorization: Bearer KEY`, or the password
/// in an address.
fn key_at(command: &[String], at: usize) -> Option<&str> {
    let argument = command[at].as_str();
    let before = at.checked_sub(1).map(|before| command[before].as_str());
    let is_option = |word: &str| word.starts_with('-') && !word.contains(['=', ':']);
    let is_behind =
        before.is_some_and(|word| is_option(word) && is_option_for_key(word)) && !argument.starts_with('-');
    let named = argument.split_once(['=', ':']).filter(|(name, _)| is_option_for_key(name));
    let named = named.map(|(_, value)| value);
    let value = named.or_else(|| is_behind.then_some(argument));
    // A header has its scheme before the key.
    let key = value.and_then(|value| value.split_whitespace().next_back()).filter(|value| is_secret(value));
    key.or_else(|| password(argument))
}

/// Numbers, paths and placeholders are not keys.
fn is_secret(value: &str) -> bool {
    !value.bytes().all(|byte| byte.is_ascii_digit()) && !value.starts_with(['/', '.', '~', '{'])
}

const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "AUTHORIZATION"];

fn names_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // The value of such a variable is a path.
    let is_path = name.ends_with("_CREDENTIALS");
    !is_path && WORDS.iter().any(|word| name.contains(word))
}

/// Returns whether an option names a key. More options look similar: `--tokenizer` and `--keymap` do not count.
fn is_option_for_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| WORDS.iter().any(|word| part.ends_with(word)))
}

/// Returns the password of `http://user:password@host`.
fn password(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (user, _) = rest.split('/').next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password).filter(|password| !password.is_empty())
}

/// Returns whether letters and digits alternate in a word, as in a random text. Names of models, regions and machines
/// do not look like that; paths and addresses are not keys.
fn is_mixed(value: &str) -> bool {
    const SHORTEST_WORD: usize = 6;
    const CHANGES: usize = 2;
    const LONGEST_VERSION: usize = 10;
    let changes = |word: &str| {
        let digits: Vec<bool> = word.bytes().map(|byte| byte.is_ascii_digit()).collect();
        digits.windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    // For example, `v1beta1`.
    let is_version = |word: &str| {
        let number = word.strip_prefix('v').filter(|_| word.len() < LONGEST_VERSION);
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut words = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !is_version(word));
    let is_place =
        value.starts_with(['/', '.', '~']) || value.contains("://") || value.contains(char::is_whitespace);
    !is_place && words.any(|word| word.len() >= SHORTEST_WORD && changes(word) >= CHANGES)
}
