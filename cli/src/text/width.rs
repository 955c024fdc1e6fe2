//! Fits lines to a terminal: measures, shortens and wraps text.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const GAP: &str = "…";

/// Returns the number of columns of a text.
pub fn columns(text: &str) -> usize {
    text.width()
}

fn wide(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Shortens a text to this many columns by cutting its middle: the ends of a name say most.
pub fn shortened(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let Some(room) = most.checked_sub(1) else { return String::new() };
    let head = taken(text.chars(), room.div_ceil(2));
    let tail: Vec<char> = taken(text.chars().rev(), room / 2);
    head.into_iter().chain(GAP.chars()).chain(tail.into_iter().rev()).collect()
}

/// Shortens a text to this many columns by cutting its end.
pub fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let Some(room) = most.checked_sub(1) else { return String::new() };
    taken(text.chars(), room).into_iter().chain(GAP.chars()).collect()
}

fn taken(chars: impl Iterator<Item = char>, room: usize) -> Vec<char> {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += wide(*c);
            used <= room
        })
        .collect()
}

/// Puts a name between two texts and shortens only the name.
pub fn around(before: &str, name: &str, after: &str, most: usize) -> String {
    let fixed = columns(before) + columns(after);
    let name = shortened(name, most.saturating_sub(fixed).max(LEAST));
    cut(&format!("{before}{name}{after}"), most)
}

/// A shorter part of a name says nothing.
const LEAST: usize = 7;

/// Wraps words into lines and shortens the middle of a word longer than a line.
pub fn wrapped(text: &str, most: usize, indent: &str) -> Vec<String> {
    let fit = |line: String| {
        let word = line.trim_start();
        let lead = &line[..line.len() - word.len()];
        format!("{lead}{}", shortened(word, most.saturating_sub(columns(lead))))
    };
    set(text.split_whitespace(), most, indent)
        .into_iter()
        .map(|line| if columns(&line) > most { fit(line) } else { line })
        .collect()
}

/// Wraps words into lines, but keeps a longer word whole on its own line: users copy paths and commands.
pub fn flowed(text: &str, most: usize, indent: &str) -> Vec<String> {
    set(unbroken(text).into_iter(), most, indent)
}

/// Wraps the lines that are too wide; a line that begins with a space has its own layout.
pub fn fitted(text: &str, most: usize) -> String {
    let fit = |line: &str| {
        let stays = columns(line) <= most || line.starts_with(' ');
        if stays { vec![line.to_owned()] } else { flowed(line, most, "  ") }
    };
    text.split('\n').flat_map(fit).collect::<Vec<_>>().join("\n")
}

/// Splits a text into words; text between two backticks is one word.
fn unbroken(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('`').and_then(|inside| inside.find('`')).map_or(0, |at| at + 2);
        let end = rest[quoted..].find(char::is_whitespace).map_or(rest.len(), |at| quoted + at);
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    words
}

fn set<'a>(words: impl Iterator<Item = &'a str>, most: usize, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(shortened("write-a-haiku", 13), "write-a-haiku");
        assert_eq!(shortened("write-a-haiku", 8), "writ…iku");
        assert_eq!(shortened("写一首俳句", 7), "写…句");
        assert_eq!([shortened("abc", 1), shortened("abc", 0)], ["…", ""]);
    }

    #[test]
    fn the_name_gives_way_to_what_stands_around_it() {
        assert_eq!(around("tune ", "write-a-haiku", ": 3 rounds", 24), "tune writ…aiku: 3 rounds");
        assert_eq!(around("a long beginning ", "name", " and end", 20), "a long beginning na…");
    }

    #[test]
    fn a_text_keeps_its_lines_and_what_is_laid_out_in_it() {
        let text = "hint: it looks like this:\n\n    command = [\"program\", \"argument\"]\nso";
        let expected = "hint: it looks\n  like this:\n\n    command = [\"program\", \"argument\"]\nso";
        assert_eq!(fitted(text, 15), expected);
        assert_eq!(fitted(text, 80), text);
    }

    #[test]
    fn words_are_wrapped_and_the_longest_shortened() {
        assert_eq!(
            wrapped("report /very/long/path of a run", 12, "  "),
            ["report", "  /very…path", "  of a run"]
        );
        assert_eq!(
            flowed("report /very/long/path of a run", 12, "  "),
            ["report", "  /very/long/path", "  of a run"]
        );
        assert_eq!(
            flowed("run `skilltune diff` or `not closed", 12, "  "),
            ["run", "  `skilltune diff`", "  or `not", "  closed"]
        );
        assert!(wrapped("", 10, "").is_empty() && flowed("", 10, "").is_empty());
    }
}
