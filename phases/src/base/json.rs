//! JSON for people, in a file or on a terminal: no character in it can drive a terminal, or reverse a line unseen.

use std::borrow::Cow;

use serde::Serialize;

/// Returns a value as JSON on one line.
pub fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain data has a JSON text");
    shown(&text).into_owned()
}

/// Returns a value as a JSON document of several lines.
pub fn page(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("plain data has a JSON text");
    shown(&text).into_owned() + "\n"
}

/// Returns the text of JSON with hidden characters escaped. They can only be inside its strings.
pub fn shown(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.as_bytes().iter().all(is_plain) || !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// Returns whether it is a control character, or changes the direction or the end of a line unseen.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a reader of the text does not see it at all, where an agent reads it. Emoji need joiners (U+200D) and
/// U+FE0F, so those are not among them.
pub fn is_invisible(c: char) -> bool {
    is_hidden(c)
        || matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{3164}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_json_is_hidden_and_its_values_stay() {
        let value = ["a\u{1b}\u{9b}b\u{202e}\x7f\n", "plain \u{e9}"];
        for text in [line(&value), page(&value)] {
            assert!(!text.trim_end().contains(|c: char| is_hidden(c)), "{text}");
            assert_eq!(serde_json::from_str::<[String; 2]>(&text).unwrap(), value);
        }
        assert_eq!(line(&value), "[\"a\\u001b\\u009bb\\u202e\\u007f\\n\",\"plain \u{e9}\"]");
    }
}
