//! Reads a brief: the sections that it asks for, and the texts of its section `Copy`.

use std::collections::BTreeSet;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{Given, Text};

const MOST_SECTIONS: usize = 100;
const MOST_TEXTS: usize = 1_000;
/// A section with this name holds texts. It is not a section of the result.
const COPY: &str = "copy";
const QUOTES: [(char, char); 6] = [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('„', '“'), ('«', '»')];

/// Returns the headings of a brief: those of the second level, or if it has none, those of the first. A single
/// first-level heading is the title and does not count.
pub fn sections(brief: &str) -> Vec<Box<str>> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for part in parts(brief) {
        match part {
            Part::Heading(HeadingLevel::H1, words) => first.push(words),
            Part::Heading(HeadingLevel::H2, words) => second.push(words),
            Part::Heading(..) | Part::Block { .. } => {}
        }
    }
    let headings = if !second.is_empty() {
        second
    } else if first.len() > 1 {
        first
    } else {
        Vec::new()
    };
    let mut known = BTreeSet::from([COPY.to_owned()]);
    let headings =
        headings.into_iter().filter(|words| !words.is_empty() && known.insert(words.to_lowercase()));
    headings.take(MOST_SECTIONS).map(Into::into).collect()
}

/// Returns the texts of the section `Copy`: each list item, quote, table row and code block, or if it has none of
/// these, each paragraph. A label in front is not part of a text.
pub fn texts(brief: &str) -> Vec<Text> {
    let mut open: Option<HeadingLevel> = None;
    let mut blocks: Vec<(BlockKind, String)> = Vec::new();
    for part in parts(brief) {
        match part {
            Part::Heading(level, words) => {
                let is_copy = level <= HeadingLevel::H2 && words.to_lowercase() == COPY;
                open = if is_copy { Some(level) } else { open.filter(|above| level > *above) };
            }
            Part::Block { kind, words } if open.is_some() => blocks.push((kind, words)),
            Part::Block { .. } => {}
        }
    }
    let is_listed = blocks.iter().any(|(kind, _)| *kind != BlockKind::Prose);
    let blocks = blocks.into_iter().filter(|(kind, _)| !is_listed || *kind != BlockKind::Prose);
    let mut texts: Vec<Text> = Vec::new();
    for (kind, words) in blocks {
        match Given::copy(&words).ok().filter(|_| kind == BlockKind::Json) {
            Some(those) => texts.extend(those),
            None => texts.extend(text(&words, texts.len() + 1)),
        }
    }
    texts.truncate(MOST_TEXTS);
    texts
}

/// Returns a text without its label and its quotation marks. Words that end with a colon only introduce what follows.
fn text(words: &str, nth: usize) -> Option<Text> {
    let (label, text) = labelled(words).unwrap_or_else(|| (nth.to_string(), words.replace(LABEL_END, "")));
    let text = unquoted(&text).unwrap_or(text.trim());
    let is_text = !text.is_empty() && !text.ends_with(':');
    is_text.then(|| Text { at: format!("Copy: {}", label.trim()).into(), text: text.into() })
}

/// Splits a label from its text: `**Label:** text`, `**Label**: text` and `Label: "text"`. `Opening hours: 6 to 14` is
/// a text as a whole.
fn labelled(words: &str) -> Option<(String, String)> {
    let bold = words.split_once(LABEL_END).and_then(|(label, text)| {
        let text = text.replace(LABEL_END, "");
        match label.strip_suffix(':') {
            Some(label) => Some((label.to_owned(), text)),
            None => Some((label.to_owned(), text.trim_start().strip_prefix(':')?.to_owned())),
        }
    });
    bold.or_else(|| {
        let (label, text) = words.split_once(": ")?;
        Some((label.replace(LABEL_END, ""), unquoted(text)?.to_owned()))
    })
}

fn unquoted(words: &str) -> Option<&str> {
    QUOTES.iter().find_map(|(open, close)| {
        let inner = words.trim().strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains([*open, *close])).then_some(inner)
    })
}

/// Follows words in bold type at the beginning of a block. It is removed from the brief.
const LABEL_END: char = '\u{e000}';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Prose,
    Listed,
    Code,
    Json,
}

#[derive(Debug)]
enum Part {
    Heading(HeadingLevel, String),
    Block { kind: BlockKind, words: String },
}

/// Returns the headings and blocks of a brief, white space normalised.
fn parts(brief: &str) -> Vec<Part> {
    let mut reader = Reader::default();
    for event in Parser::new_ext(brief, Options::ENABLE_TABLES) {
        reader.read(event);
    }
    reader.parts
}

#[derive(Default)]
struct Reader {
    /// The kinds of the enclosing lists, quotes, tables and code blocks.
    inside: Vec<BlockKind>,
    words: String,
    /// Whether the block began in bold type.
    is_bold: bool,
    parts: Vec<Part>,
}

impl Reader {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Paragraph) | Event::End(TagEnd::Paragraph) => self.end(),
            Event::End(TagEnd::Heading(level)) => {
                let words = self.taken().replace(LABEL_END, "");
                self.parts.push(Part::Heading(level, words));
            }
            Event::Start(Tag::Item | Tag::BlockQuote(_) | Tag::TableHead | Tag::TableRow) => {
                self.enter(BlockKind::Listed);
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let is_json =
                    matches!(kind, CodeBlockKind::Fenced(name) if name.eq_ignore_ascii_case("json"));
                self.enter(if is_json { BlockKind::Json } else { BlockKind::Code });
            }
            Event::End(TagEnd::TableHead) => {
                self.taken();
                self.inside.pop();
            }
            Event::End(TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::TableRow | TagEnd::CodeBlock) => {
                self.end();
                self.inside.pop();
            }
            Event::Start(Tag::Strong) => self.is_bold = self.words.trim().is_empty(),
            Event::End(TagEnd::Strong) if self.is_bold => self.words.push(LABEL_END),
            // The last cell of a row is the text.
            Event::Start(Tag::TableCell) if !self.words.is_empty() => self.words.extend([':', LABEL_END]),
            Event::Text(text) if self.inside.last() == Some(&BlockKind::Code) => {
                for line in text.lines() {
                    self.say(line);
                    self.end();
                }
            }
            Event::Text(text) | Event::Code(text) => self.say(&text),
            Event::SoftBreak | Event::HardBreak => self.words.push(' '),
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        self.words.extend(text.chars().filter(|sign| *sign != LABEL_END));
    }

    fn enter(&mut self, kind: BlockKind) {
        self.end();
        self.inside.push(kind);
    }

    fn taken(&mut self) -> String {
        self.is_bold = false;
        let words = std::mem::take(&mut self.words);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn end(&mut self) {
        let words = self.taken();
        if !words.is_empty() {
            self.parts
                .push(Part::Block { kind: self.inside.last().copied().unwrap_or(BlockKind::Prose), words });
        }
    }
}
