//! Translates the lines of a rule file from git's syntax to the matcher's.
//!
//! git matches bytes and the matcher matches text: here each byte becomes the character with its number, in rules and
//! in paths.

use std::borrow::Cow;

/// Matches any byte except a slash. A byte above 127 becomes a character of two bytes, the first of which is also the
/// first byte of one of these two characters.
const ANY: &str = "{[\u{1}-.0-\u{7f}],[\u{80}\u{c0}]?}";

/// Converts a path for the matcher.
pub(super) fn letters(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.into(),
        Ok(_) | Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(),
    }
}

/// Converts a line for the matcher; `None` if the line is a comment, or a rule that matches nothing in git.
pub(super) fn rule(line: &[u8]) -> Option<String> {
    let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
    let line = without_blanks(line.strip_suffix(b"\r").unwrap_or(line));
    if line.starts_with(b"#") {
        return None;
    }
    let (mark, line) = line.strip_prefix(b"!").map_or(("", line), |line| ("!", line));
    let (end, line) = line.strip_suffix(b"/").map_or(("", line), |line| ("/", line));
    if line.is_empty() || line.starts_with(b"\\/") {
        return None;
    }
    let mut text = String::with_capacity(line.len() + 8);
    let mut rest = line;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'*' | b'/' => text.push(char::from(first)),
            b'?' => text.push_str(ANY),
            b'[' => rest = one_of(&mut text, Class::read(rest)?)?,
            b'\\' => {
                let (&escaped, after) = rest.split_first()?;
                rest = after;
                push_plain(&mut text, escaped);
            }
            plain => push_plain(&mut text, plain),
        }
    }
    // A slash in a class never matches, but still makes the rule a path rule.
    let is_path = line.contains(&b'/') && !text.contains('/');
    Some(format!("{mark}{}{text}{end}", if is_path { "/" } else { "" }))
}

/// Removes trailing blanks that are not escaped by a backslash.
fn without_blanks(line: &[u8]) -> &[u8] {
    let (mut at, mut end) = (0, 0);
    while let Some(&byte) = line.get(at) {
        at += if byte == b'\\' { 2 } else { 1 };
        if byte != b' ' {
            end = at.min(line.len());
        }
    }
    &line[..end]
}

/// Puts white space in braces, because the matcher drops it at the end of a line.
fn push_plain(text: &mut String, byte: u8) {
    match char::from(byte) {
        '/' => text.push('/'),
        space if space.is_whitespace() => text.extend(['{', space, '}']),
        letter if letter.is_ascii_punctuation() => text.extend(['\\', letter]),
        letter => text.push(letter),
    }
}

struct Class<'a> {
    bytes: [bool; 256],
    /// The text after the class.
    rest: &'a [u8],
}

impl<'a> Class<'a> {
    /// Reads a class after its bracket by the rules of git's `wildmatch`; `None` if it is not closed.
    fn read(text: &'a [u8]) -> Option<Self> {
        let inside = text.strip_prefix(b"!").or_else(|| text.strip_prefix(b"^"));
        let (is_negated, mut rest) = (inside.is_some(), inside.unwrap_or(text));
        let mut bytes = [false; 256];
        let mut before = None;
        let mut is_first = true;
        loop {
            let (&first, after) = rest.split_first()?;
            rest = after;
            match first {
                b']' if !is_first => break,
                b'\\' => {
                    let (&escaped, after) = rest.split_first()?;
                    (before, rest) = (Some(escaped), after);
                    bytes[usize::from(escaped)] = true;
                }
                b'-' if before.is_some() && rest.first().is_some_and(|&next| next != b']') => {
                    let rest_of = rest.strip_prefix(b"\\").unwrap_or(rest);
                    let (&last, after) = rest_of.split_first()?;
                    let from = before.take().expect("it was looked at above");
                    (from..=last).for_each(|byte| bytes[usize::from(byte)] = true);
                    rest = after;
                }
                b'[' if rest.starts_with(b":") => {
                    let named = &rest[1..];
                    let end = named.iter().position(|&byte| byte == b']')?;
                    if let Some(name) = named[..end].strip_suffix(b":") {
                        let is_in = kind(name)?;
                        (0..=127).filter(is_in).for_each(|byte| bytes[usize::from(byte)] = true);
                        (before, rest) = (None, &named[end + 1..]);
                    } else {
                        bytes[usize::from(b'[')] = true;
                        before = Some(b'[');
                    }
                }
                plain => {
                    bytes[usize::from(plain)] = true;
                    before = Some(plain);
                }
            }
            is_first = false;
        }
        bytes = bytes.map(|is_in| is_in != is_negated);
        (bytes[0], bytes[usize::from(b'/')]) = (false, false);
        Some(Self { bytes, rest })
    }
}

/// Returns the test for a class name, such as `digit` of `[[:digit:]]`.
fn kind(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

/// Adds the characters of a class, with special characters of the matcher as separate choices; `None` if there are
/// none.
fn one_of<'a>(text: &mut String, Class { bytes, rest }: Class<'a>) -> Option<&'a [u8]> {
    let has_meaning = |byte: u8| matches!(byte, b']' | b'-' | b'!' | b'^') || byte > 127;
    let (alone, plain): (Vec<u8>, Vec<u8>) =
        (1..=255_u8).filter(|&byte| bytes[usize::from(byte)]).partition(|&byte| has_meaning(byte));
    let mut choices = Vec::new();
    if !plain.is_empty() {
        let runs = plain.chunk_by(|one, next| one + 1 == *next);
        let run = |run: &[u8]| match run {
            [first, .., last] => format!("{}-{}", char::from(*first), char::from(*last)),
            _ => run.iter().map(|&byte| char::from(byte)).collect(),
        };
        choices.push(format!("[{}]", runs.map(run).collect::<String>()));
    }
    choices.extend(alone.into_iter().map(|byte| {
        let mut choice = String::new();
        push_plain(&mut choice, byte);
        choice
    }));
    if choices.is_empty() {
        return None;
    }
    text.extend(["{", &choices.join(","), "}"]);
    Some(rest)
}
