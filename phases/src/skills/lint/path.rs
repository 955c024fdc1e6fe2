//! Paths as written in texts: relative to their file, with slashes.

/// Resolves a relative path from the skill's folder; returns `None` if it leaves that folder.
pub(crate) fn resolved(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Resolves a relative path from the skill's folder; one that leaves that folder begins with `..`.
pub(super) fn seen_from_skill(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the relative path from a folder to a path.
pub(super) fn relative(folder: &str, path: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').collect();
    let shared = from.iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| "..");
    up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// Decodes sequences such as `%20`; keeps the path unchanged if the result is not valid text.
pub fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| byte == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        let code = code.filter(|hex| !hex.starts_with('+')).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// Encodes a path as a link destination, where spaces, brackets and some other characters would end it.
pub(super) fn encoded(path: &str) -> String {
    let ends =
        |c: char| c.is_ascii_control() || matches!(c, ' ' | '(' | ')' | '<' | '>' | '%' | '#' | '?' | '\\');
    let written = |c: char| if ends(c) { format!("%{:02X}", u32::from(c)) } else { c.to_string() };
    path.chars().map(written).collect()
}

/// Returns the words of a text that could be paths, and their places; a full stop ends a sentence.
///
/// Every byte of every skill passes here more than once: ASCII uses a table, and only other characters are decoded.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].bytes().take_while(|byte| byte.is_ascii() && !is_part(*byte)).count();
            let end = end_of_word(text, start);
            if end == start {
                // The text has ended, or the next character is a non-ASCII one that is not a letter.
                at = start + text[start..].chars().next()?.len_utf8();
                continue;
            }
            at = end;
            let stops = text[start..end].bytes().rev().take_while(|byte| *byte == b'.').count();
            if stops < end - start {
                return Some((start, &text[start..end - stops]));
            }
        }
    })
}

fn end_of_word(text: &str, start: usize) -> usize {
    let mut end = start;
    loop {
        end += text[end..].bytes().take_while(|byte| is_part(*byte)).count();
        match text[end..].chars().next() {
            Some(c) if !c.is_ascii() && c.is_alphanumeric() => end += c.len_utf8(),
            _ => return end,
        }
    }
}

fn is_part(byte: u8) -> bool {
    const PARTS: [bool; 256] = {
        let mut parts = [false; 256];
        let mut byte = 0_u8;
        while byte < 128 {
            parts[byte as usize] =
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'~' | b'\\');
            byte += 1;
        }
        parts
    };
    PARTS[usize::from(byte)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_followed_and_may_not_leave() {
        assert_eq!(resolved("", "./a//b.md").as_deref(), Some("a/b.md"));
        assert_eq!(resolved("references", "../a.md").as_deref(), Some("a.md"));
        assert_eq!(resolved("references", "../../a.md"), None);
        assert_eq!(resolved("a", "../../a/b"), None, "out and in again is out");
        for (folder, path, wanted) in [
            ("", "../b/./c.md", "../b/c.md"),
            ("references", "../../b/c.md", "../b/c.md"),
            ("", "../../x/../y", "../../y"),
            ("references", "../a.md", "a.md"),
        ] {
            assert_eq!(seen_from_skill(folder, path), wanted);
        }
    }

    #[test]
    fn what_is_encoded_is_read_as_it_was() {
        assert_eq!(encoded("a b(1)%.md"), "a%20b%281%29%25.md");
        assert_eq!([decoded("a%20b"), decoded("100%"), decoded("%+1%zz%ff")], ["a b", "100%", "%+1%zz%ff"]);
    }

    #[test]
    fn paths_are_found_among_other_words() {
        let words: Vec<_> =
            words("See (a/b.md).\nRun `./c-d.py --x=~/e`: 见 f/").map(|(_, word)| word).collect();
        assert_eq!(words, ["See", "a/b.md", "Run", "./c-d.py", "--x", "~/e", "见", "f/"]);
        assert_eq!(super::words("（é.md）。").collect::<Vec<_>>(), [(3, "é.md")]);
        assert_eq!(super::words(" ... 。").count(), 0);
    }

    proptest! {
        #[test]
        fn the_way_from_one_place_to_another_leads_there(
            folder in "([a-c]/){0,3}[a-c]|", path in "([a-c]/){0,3}[a-c]( x)?"
        ) {
            prop_assert_eq!(resolved(&folder, &relative(&folder, &path)), Some(path.clone()));
            prop_assert_eq!(decoded(&encoded(&path)), path);
        }
    }
}
