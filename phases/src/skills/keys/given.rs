//! Finds keys in environment variables and in arguments.

use std::collections::BTreeMap;

use super::HIDDEN;
use crate::skills::lint;

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
