//! The lines of a file, and what each is: code to be run, prose, or something else.

use std::ops::Range;

use crate::lint::{self, File};

use super::text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of a script, or code in a page.
    Code,
    /// Of a page or of any other file.
    Prose,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Counted from one.
    pub line: usize,
    pub text: String,
    pub kind: Kind,
}

/// A line that ends in a backslash goes on in the next one, as a shell takes it.
pub(super) fn of(file: &File, is_script: bool) -> Vec<Piece> {
    let Some(text) = text(file) else { return Vec::new() };
    let code = if is_script { None } else { lint::code(file) };
    let mut pieces = Vec::new();
    let (mut at, mut goes_on) = (0, false);
    for (nth, line) in text.split_inclusive('\n').enumerate() {
        let range = at..at + line.len();
        at = range.end;
        let inline = code.as_ref().map(|code| code.within(&range)).unwrap_or_default();
        let kind = match &code {
            Some(code) if !code.is_block(&range) => Kind::Prose,
            None if !is_script => Kind::Prose,
            Some(_) | None => Kind::Code,
        };
        // Code within the line is a piece of its own.
        let prose =
            if kind == Kind::Prose { without(text, at - line.len()..at, &inline) } else { line.to_owned() };
        let content = prose.trim_end_matches(['\n', '\r']);
        let is_continued = content.ends_with('\\');
        let content = content.strip_suffix('\\').unwrap_or(content);
        match pieces.last_mut().filter(|last: &&mut Piece| goes_on && last.kind == kind) {
            Some(last) => last.text.push_str(content),
            None => pieces.push(Piece { line: nth + 1, text: content.to_owned(), kind }),
        }
        goes_on = is_continued;
        if kind == Kind::Prose {
            let literal = |range: Range<usize>| {
                let text = text[range].trim_matches('`').trim().to_owned();
                Piece { line: nth + 1, text, kind: Kind::Code }
            };
            pieces.extend(inline.into_iter().map(literal));
        }
    }
    pieces
}

/// A line with a mark in the place of each of these parts of it.
fn without(text: &str, line: Range<usize>, parts: &[Range<usize>]) -> String {
    let (mut rest, mut at) = (String::new(), line.start);
    for part in parts {
        rest.extend([&text[at..part.start], "`"]);
        at = part.end;
    }
    rest.push_str(&text[at..line.end]);
    rest
}
