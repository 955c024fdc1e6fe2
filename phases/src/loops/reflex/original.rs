//! How the files of the original loop name a task, a run and an artifact.

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
/// Those that we make are also to be typed.
const HANDY: usize = 40;
/// A task may be pages long; its name is made of how it begins.
const LOOKED_AT: usize = 400;

impl Alias {
    /// A name made of the task's words. What they leave untold (another script, hardly a letter) a hash tells apart.
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

    /// That of `alias-yyyyMMdd-HHmmss`.
    pub fn of_run(run_id: &str) -> Option<Self> {
        let (rest, time) = run_id.rsplit_once('-')?;
        let (alias, day) = rest.rsplit_once('-')?;
        let digits =
            |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
        Self::parse(alias).filter(|_| digits(day, 8) && digits(time, 6))
    }

    /// Another name for the same task, when the first is taken.
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

/// The name of a run that began then.
pub fn run_id(alias: &Alias, began: Timestamp) -> String {
    format!("{alias}-{}", began.strftime("%Y%m%d-%H%M%S"))
}

/// The SHA-256 of an artifact, in hex digits.
pub fn artifact_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Its first eight digits: how people and the original tell artifacts apart.
pub fn short(hash: &str) -> &str {
    hash.get(..8).unwrap_or(hash)
}

/// As many whole words as are handy, of letters without their accents.
struct Slug {
    text: String,
    /// Letters stood in the task that do not stand in it.
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

/// The beginning of a slug; it does not end in a hyphen.
fn cut(slug: &str, most: usize) -> &str {
    slug.get(..most).unwrap_or(slug).trim_end_matches('-')
}

#[cfg(test)]
mod tests;
