//! The part of YAML that the format's reference validator accepts: blocks of text, without types.
//!
//! Every scalar is text. Flow collections, anchors, aliases, tags, tabs outside of quoted or block text, repeated keys
//! and a second document are faults. The size of the text and `DEEPEST` limit the work.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_saphyr::granit_parser::{
    ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle, options,
};

use super::fault::{Construct, Fault, SHOWN};
use crate::base::answer::capped;

/// White space to insert at an offset: YAML needs it, the reference validator does not.
type Patch = (usize, &'static str);

/// Each patch costs one more read of a text of bounded size.
const MOST_PATCHES: usize = 64;

/// The depth at which the reference runs out of stack, within a few levels.
const DEEPEST: usize = 240;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) value: Node,
}

#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    /// A plain `=` or `<<`: YAML once gave these a meaning, and the reference reads neither as text.
    Sign(String),
    List(Vec<Node>),
    Mapping(Vec<Entry>),
}

/// Reads one mapping; its first line is the first line of the file.
pub(super) fn read(yaml: &str) -> Result<Vec<Entry>, Fault> {
    if let Some((at, found)) = yaml.char_indices().find(|(_, c)| !printable(*c)) {
        return Err(Fault::Unprintable { line: line_of(yaml, at), found });
    }
    let mut text = Cow::Borrowed(yaml.strip_prefix('\u{feff}').unwrap_or(yaml));
    for _ in 0..MOST_PATCHES {
        let mut reader = Reader::new(&text);
        let (result, patch) = (reader.root(), reader.patch);
        let Some((at, blanks)) = patch else { return result };
        text.to_mut().insert_str(at, blanks);
    }
    Reader::new(&text).root()
}

fn limits() -> Options {
    options! { block_nesting_limit: DEEPEST, emit_comments: false, emit_unresolved_aliases: true }
}

struct Reader<'a> {
    yaml: &'a str,
    events: Parser<'a, StrInput<'a>>,
    /// The end of the text that has been checked, scalars and gaps.
    seen: usize,
    /// Whether it contained a line `...`.
    ended: bool,
    patch: Option<Patch>,
}

impl<'a> Reader<'a> {
    fn new(yaml: &'a str) -> Self {
        Self {
            yaml,
            events: Parser::new_from_str_with_options(yaml, limits()),
            seen: 0,
            ended: false,
            patch: None,
        }
    }

    fn root(&mut self) -> Result<Vec<Entry>, Fault> {
        let Some(Node::Mapping(entries)) = self.document()? else {
            return Err(Fault::NotMapping);
        };
        self.gap(self.yaml.len())?;
        Ok(entries)
    }

    fn document(&mut self) -> Result<Option<Node>, Fault> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_none() => {}
                Event::StreamEnd => return Ok(root),
                Event::DocumentStart(..) => return Err(refused(Construct::SecondDocument, &span)),
                node => root = Some(self.node(node, &span)?),
            }
        }
    }

    fn node(&mut self, event: Event<'_>, span: &Span) -> Result<Node, Fault> {
        if let Some(construct) = disallowed(&event) {
            return Err(refused(construct, span));
        }
        match event {
            Event::Scalar(text, style, ..) => self.scalar(text.into_owned(), style, span),
            Event::SequenceStart(..) => self.list(),
            Event::MappingStart(..) => self.mapping(),
            _ => Err(refused(Construct::SecondDocument, span)),
        }
    }

    fn scalar(&mut self, text: String, style: ScalarStyle, span: &Span) -> Result<Node, Fault> {
        let range = span.byte_range().unwrap_or(self.seen..self.seen);
        self.gap(range.start)?;
        let plain = style == ScalarStyle::Plain;
        if let Some(construct) = misplaced(self.yaml.get(range.clone()).unwrap_or_default(), style) {
            return Err(refused(construct, span));
        }
        self.seen = self.seen.max(range.end);
        // The parser returns `~` for a missing value.
        let text = if plain && range.is_empty() { String::new() } else { text };
        Ok(if plain && matches!(text.as_str(), "=" | "<<") { Node::Sign(text) } else { Node::Text(text) })
    }

    fn list(&mut self) -> Result<Node, Fault> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Node::List(items)),
                (event, span) => items.push(self.node(event, &span)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Node, Fault> {
        let (mut entries, mut keys) = (Vec::new(), HashSet::new());
        let (mut merged, mut column) = (false, None);
        loop {
            let (event, at) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Node::Mapping(entries));
            }
            let key = self.node(event, &at)?;
            let (event, span) = self.next()?;
            let value = self.node(event, &span)?;
            let (line, indent) = (at.start.line(), span.start.col());
            match key {
                Node::List(_) | Node::Mapping(_) => return Err(refused(Construct::CollectionAsKey, &at)),
                Node::Sign(sign) if sign == "<<" => {
                    if std::mem::replace(&mut merged, true) || !can_be_merged(&value) {
                        return Err(refused(Construct::Merge, &at));
                    }
                }
                Node::Text(key) | Node::Sign(key) => {
                    if matches!(value, Node::Mapping(_)) && *column.get_or_insert(indent) != indent {
                        return Err(refused(Construct::UnevenIndent, &span));
                    }
                    if !keys.insert(key.clone()) {
                        return Err(Fault::Repeated { line, key: capped(&key, SHOWN) });
                    }
                    entries.push(Entry { line, key, value });
                }
            }
        }
    }

    /// Checks the text between two scalars: spaces, line feeds, indicators and comments.
    fn gap(&mut self, to: usize) -> Result<(), Fault> {
        let from = self.seen;
        self.seen = to.max(from);
        let mut at = from;
        for line in self.yaml.get(from..to).unwrap_or_default().split_inclusive('\n') {
            let ends = is_end(line);
            // The parser ignores the end of an empty document; the reference does not.
            let of_nothing = ends && (from == 0 || self.ended);
            let fault = if of_nothing { Some((0, Construct::SecondDocument)) } else { blemish(line) };
            if let Some((inside, construct)) = fault {
                return Err(Fault::Refused { line: line_of(self.yaml, at + inside), construct });
            }
            self.ended |= ends;
            at += line.len();
        }
        Ok(())
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Fault> {
        match self.events.next_event() {
            Some(Ok((event, span))) => Ok((event, span)),
            Some(Err(error)) => {
                self.patch = patch(self.yaml, &error);
                Err(not_yaml(&error))
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }
}

fn disallowed(event: &Event<'_>) -> Option<Construct> {
    let (anchor, tagged, flow) = match event {
        Event::Alias(_) | Event::UnresolvedAlias(_) => return Some(Construct::Alias),
        Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some(), false),
        Event::SequenceStart(style, anchor, tag) | Event::MappingStart(style, anchor, tag) => {
            (*anchor, tag.is_some(), *style == StructureStyle::Flow)
        }
        _ => return None,
    };
    let found = [(tagged, Construct::Tag), (anchor != 0, Construct::Anchor), (flow, Construct::Flow)];
    found.into_iter().find_map(|(is, construct)| is.then_some(construct))
}

/// Finds a fault between two scalars: tabs are allowed only in comments, and invisible characters nowhere.
fn blemish(line: &str) -> Option<(usize, Construct)> {
    let code = line.split('#').next()?;
    let tab = code.find('\t').map(|at| (at, Construct::Tab));
    tab.or_else(|| line.find(invisible).map(|at| (at, Construct::Invisible)))
}

/// Returns what the reference refuses inside a scalar, by the style of the scalar.
fn misplaced(source: &str, style: ScalarStyle) -> Option<Construct> {
    match style {
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => None,
        ScalarStyle::Literal | ScalarStyle::Folded => {
            let inside =
                source.split(old_break).skip(1).any(|rest| !rest.is_empty() && !rest.starts_with('\n'));
            inside.then_some(Construct::Invisible)
        }
        ScalarStyle::Plain if source.contains('\t') => Some(Construct::Tab),
        ScalarStyle::Plain => {
            let after_colon = source.split(':').any(|part| part.starts_with(old_break));
            after_colon.then_some(Construct::Invisible)
        }
    }
}

/// Returns a patch for quoted lines without indentation, or for a comment right after a quote; the reference accepts
/// both.
fn patch(yaml: &str, error: &ScanError) -> Option<Patch> {
    const INDENT: &str = "                                ";
    let at = error.marker().byte_offset()?;
    let before = yaml.get(..at)?;
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    match error.kind() {
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::TabInIndentation if !is_end(&yaml[line..]) => {
            Some((line, INDENT))
        }
        ErrorKind::CommentNotSeparated if before.ends_with(['"', '\'']) => Some((at, " ")),
        _ => None,
    }
}

fn is_end(line: &str) -> bool {
    line.strip_prefix("...").is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
}

/// Returns true for old line breaks, half of which the reference still supports.
fn old_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn invisible(c: char) -> bool {
    c == '\u{feff}' || old_break(c)
}

fn can_be_merged(value: &Node) -> bool {
    match value {
        Node::Mapping(_) => true,
        Node::List(items) => items.iter().all(|item| matches!(item, Node::Mapping(_))),
        Node::Text(_) | Node::Sign(_) => false,
    }
}

fn refused(construct: Construct, span: &Span) -> Fault {
    Fault::Refused { line: span.start.line(), construct }
}

fn not_yaml(error: &ScanError) -> Fault {
    Fault::NotYaml { line: error.marker().line(), why: capped(&error.info(), 300).into() }
}

fn line_of(yaml: &str, at: usize) -> usize {
    1 + yaml[..at].matches('\n').count()
}

/// Returns true for characters that YAML allows unescaped.
fn printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}
