//! The names of a task, a run and an artifact in the files of the original loop.

use std::fmt;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The name of a task and of its folder: 3 to 64 of `a` to `z`, digits and hyphens, so that it is never a path, an
/// option or hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias(String);

const SHORTEST: usize = 3;
const LONGEST: usize = 64;
/// Names that we make must also be easy to type.
const HANDY: usize = 40;
/// A task may be pages long, so its name is made from its beginning.
const LOOKED_AT: usize = 400;

impl Alias {
    /// Makes a name from the task's words. If they are not enough (another script, hardly a letter), a hash is added.
    pub fn of(task: &str) -> Self {
        let slug = Slug::of(task);
        if !slug.lost && slug.text.len() >= SHORTEST {
            return Self(slug.text);
        }
        let hash = artifact_hash(task.as_bytes());
        let hash = short(&hash);
        let head = cut(&slug.text, HANDY - hash.len() - 1);
        Self(format!("{}-{hash}", if head.is_empty() { "task" } else { head }))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let is_ours = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (SHORTEST..=LONGEST).contains(&text.len()) && text.bytes().all(is_ours);
        (fits && !text.starts_with('-') && !text.ends_with('-')).then(|| Self(text.to_owned()))
    }

    /// Returns the alias in the id of a run, `alias-yyyyMMdd-HHmmss`.
    pub fn of_run(run_id: &str) -> Option<Self> {
        let (rest, time) = run_id.rsplit_once('-')?;
        let (alias, day) = rest.rsplit_once('-')?;
        let digits =
            |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
        Self::parse(alias).filter(|_| digits(day, 8) && digits(time, 6))
    }

    /// Returns another name for the same task, for when the first is taken.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Self {
        let tail = format!("-{number}");
        Self(format!("{}{tail}", cut(&self.0, LONGEST - tail.len())))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Returns the name of a run that began at this time.
pub fn run_id(alias: &Alias, began: Timestamp) -> String {
    format!("{alias}-{}", began.strftime("%Y%m%d-%H%M%S"))
}

/// Returns the SHA-256 of an artifact, in hex digits.
pub fn artifact_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Returns the first eight digits of a hash, by which people and the original name artifacts.
pub fn short(hash: &str) -> &str {
    hash.get(..8).unwrap_or(hash)
}

/// As many whole words as fit, in letters without their accents.
struct Slug {
    text: String,
    /// Whether the task has letters that are missing here.
    lost: bool,
}

impl Slug {
    fn of(task: &str) -> Self {
        let (mut words, mut lost) = (String::new(), false);
        for char in task.chars().take(LOOKED_AT).nfkd().flat_map(char::to_lowercase) {
            match char {
                'a'..='z' | '0'..='9' => words.push(char),
                '\'' | '’' => {}
                _ if is_combining_mark(char) => {}
                _ => {
                    lost |= char.is_alphanumeric();
                    words.push(' ');
                }
            }
        }
        let mut text = String::new();
        for word in words.split_ascii_whitespace() {
            if text.is_empty() {
                text.push_str(cut(word, HANDY));
            } else if text.len() + 1 + word.len() <= HANDY {
                text = text + "-" + word;
            } else {
                break;
            }
        }
        Self { text, lost }
    }
}

/// Returns the beginning of a slug, without a hyphen at its end.
fn cut(slug: &str, most: usize) -> &str {
    slug.get(..most).unwrap_or(slug).trim_end_matches('-')
}

#[cfg(test)]
mod tests;
