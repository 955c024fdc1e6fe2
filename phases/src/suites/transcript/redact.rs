//! Redacts a transcript before it is stored: keys, control characters, and texts that are too long.

use super::{Call, Event, MOST_FILES, Transcript};
use crate::skills::keys::Keys;

/// The texts that must not be stored as they are.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    pub keys: Keys,
    /// The workspace's paths. Paths below them are made relative, as in the prompts.
    pub workspace: Vec<String>,
}

const MOST_OF_TEXT: usize = 2_000;
const MOST_OF_ARGUMENTS: usize = 500;
const MOST_OF_NAME: usize = 200;

impl Transcript {
    #[must_use]
    pub fn redacted(mut self, redaction: &Redaction) -> Self {
        for event in &mut self.events {
            redaction.apply(event);
        }
        self
    }
}

impl Event {
    /// Returns whether none of its texts was shortened. A shortened text is longer than any that is kept in full.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Text { text } => is_at_most(text, MOST_OF_TEXT),
            Self::Call(call) => call.is_whole(),
            Self::Result(result) => is_at_most(&result.output, MOST_OF_TEXT),
            Self::End(_) => true,
        }
    }
}

impl Call {
    pub fn is_whole(&self) -> bool {
        is_at_most(&self.arguments, MOST_OF_ARGUMENTS)
            && self.command.as_ref().is_none_or(|command| is_at_most(command, MOST_OF_TEXT))
            && self.files.len() < MOST_FILES
            && self.files.iter().all(|file| is_at_most(file, MOST_OF_NAME))
    }
}

fn is_at_most(text: &str, most: usize) -> bool {
    text.chars().nth(most).is_none()
}

impl Redaction {
    fn apply(&self, event: &mut Event) {
        let shorten = |text: &mut String, most| *text = shortened(&self.clean(text), most);
        match event {
            Event::Text { text } => shorten(text, MOST_OF_TEXT),
            Event::Call(call) => {
                shorten(&mut call.id, MOST_OF_NAME);
                shorten(&mut call.tool, MOST_OF_NAME);
                shorten(&mut call.arguments, MOST_OF_ARGUMENTS);
                if let Some(command) = &mut call.command {
                    shorten(command, MOST_OF_TEXT);
                }
                call.files.truncate(MOST_FILES);
                call.files.iter_mut().for_each(|file| shorten(file, MOST_OF_NAME));
            }
            Event::Result(result) => {
                shorten(&mut result.id, MOST_OF_NAME);
                shorten(&mut result.output, MOST_OF_TEXT);
            }
            Event::End(_) => {}
        }
    }

    /// Returns a text without keys. Removes control characters first, because one in the middle of a key would hide it.
    pub fn clean(&self, text: &str) -> String {
        let text: String = text.chars().filter(|&char| is_plain(char)).collect();
        let mut text = self.keys.hide(&text).into_owned();
        for path in self.workspace.iter().filter(|path| path.len() > 1) {
            text = text.replace(&format!("{path}/"), "").replace(path.as_str(), ".");
        }
        text
    }
}

/// Returns whether it is neither a control character nor changes how others are shown.
pub(crate) fn is_plain(char: char) -> bool {
    let is_invisible = matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    matches!(char, '\n' | '\t') || !(char.is_control() || is_invisible)
}

/// Keeps the beginning and the end, because errors come last.
fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (head, tail) = (most / 2, most - most / 2);
    let at = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    format!("{} [... {} characters ...] {}", &text[..at(head)], count - most, &text[at(count - tail)..])
}
