//! The lines of a file by kind: code, prose, or something else.

use std::ops::Range;

use crate::skills::lint::{self, Code, File};

use super::{names, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A line of a script, or code in a page.
    Code,
    /// A line of a page or of any other file.
    Prose,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Counted from one.
    pub line: usize,
    pub text: String,
    pub kind: Kind,
}

/// Returns the pieces of a file. A line that ends in a backslash continues in the next one, as in a shell.
pub(super) fn of(file: &File, is_script: bool) -> Vec<Piece> {
    let Some(text) = text(file) else { return Vec::new() };
    let code = if is_script { None } else { code(file) };
    let literal = if names::is_rst(&file.path) { literal_lines(text) } else { Vec::new() };
    let mut pieces = Vec::new();
    let (mut at, mut goes_on) = (0, false);
    for (nth, line) in text.split_inclusive('\n').enumerate() {
        let range = at..at + line.len();
        at = range.end;
        let inline = code.as_ref().map(|code| code.within(&range)).unwrap_or_default();
        let kind = match &code {
            Some(_) if literal.get(nth).is_some_and(|is_literal| *is_literal) => Kind::Code,
            Some(code) if !code.is_block(&range) => Kind::Prose,
            None if !is_script => Kind::Prose,
            Some(_) | None => Kind::Code,
        };
        // Inline code is a separate piece.
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

/// Returns the code of a page, which is read as Markdown whatever its extension.
fn code(file: &File) -> Option<Code> {
    let page = || File { path: format!("{}.md", file.path), ..file.clone() };
    lint::code(file).or_else(|| names::is_page(&file.path).then(|| lint::code(&page())).flatten())
}

/// Returns which lines of a reStructuredText page are in a literal block. It may be indented by less than in Markdown.
fn literal_lines(text: &str) -> Vec<bool> {
    let mut opener = None;
    let is_literal = |line: &str| {
        let (rest, is_blank) = (line.trim_start(), line.trim().is_empty());
        let indent = line.len() - rest.len();
        if opener.is_some_and(|opener| is_blank || indent > opener) {
            return !is_blank;
        }
        opener = opens_literal(rest.trim_end()).then_some(indent);
        false
    };
    text.lines().map(is_literal).collect()
}

fn opens_literal(line: &str) -> bool {
    const DIRECTIVES: [&str; 5] = ["code", "sourcecode", "parsed-literal", "prompt", "raw"];
    match line.strip_prefix("..") {
        Some(directive) => DIRECTIVES.iter().any(|name| directive.trim_start().starts_with(name)),
        None => line.ends_with("::"),
    }
}

/// Returns a line with a mark instead of each of these parts.
fn without(text: &str, line: Range<usize>, parts: &[Range<usize>]) -> String {
    let (mut rest, mut at) = (String::new(), line.start);
    for part in parts {
        rest.extend([&text[at..part.start], "`"]);
        at = part.end;
    }
    rest.push_str(&text[at..line.end]);
    rest
}
