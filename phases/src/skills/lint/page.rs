//! One Markdown file, read once: its headings, links and code.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// A Markdown file. All ranges are bytes of `text`.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub text: &'a str,
    /// The end of the front matter.
    pub body_at: usize,
    pub headings: Vec<Heading>,
    /// All links without `://`; a definition counts once, not each of its uses.
    pub links: Vec<Link>,
    /// Definitions of links, and places that use one: neither can move without the other.
    pub bound: Vec<usize>,
    /// The outermost blocks.
    pub blocks: Vec<Block>,
    /// Code and HTML blocks, fenced or indented, at any depth: their white space must stay.
    pub code: Vec<Range<usize>>,
    /// Code and HTML within a line of text, which may continue over several lines.
    literals: Vec<Range<usize>>,
    line_ends: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Heading {
    pub at: Range<usize>,
    pub level: usize,
    pub words: String,
    pub is_outermost: bool,
}

#[derive(Debug)]
pub(super) struct Link {
    pub at: usize,
    pub to: String,
    /// The place of the destination, if it is written there literally.
    pub place: Option<Range<usize>>,
}

#[derive(Debug)]
pub(super) struct Block {
    pub at: Range<usize>,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Paragraph,
    Heading,
    Other,
}

impl<'a> Page<'a> {
    pub(super) fn of(text: &'a str, body_at: usize) -> Self {
        let line_ends = text.match_indices('\n').map(|(at, _)| at).collect();
        let (headings, links, bound, blocks, code, literals) = Default::default();
        let mut page = Self { text, body_at, headings, links, bound, blocks, code, literals, line_ends };
        page.read();
        page
    }

    pub(super) fn body(&self) -> &'a str {
        &self.text[self.body_at..]
    }

    /// Returns the line of a place, counted from one.
    pub(super) fn line(&self, at: usize) -> usize {
        self.line_ends.partition_point(|end| *end < at) + 1
    }

    /// Returns the end of the line of a place, including its line feed.
    pub(super) fn end_of_line(&self, at: usize) -> usize {
        let next = self.line_ends.partition_point(|end| *end < at);
        self.line_ends.get(next).map_or(self.text.len(), |end| end + 1)
    }

    /// Returns all code blocks, and the code within lines.
    pub(super) fn into_code(self) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
        (self.code, self.literals)
    }

    pub(super) fn is_code(&self, at: usize) -> bool {
        holds(&self.code, at)
    }

    pub(super) fn is_literal(&self, at: usize) -> bool {
        holds(&self.literals, at)
    }

    /// Returns true if a heading has a slot to fill in, as in `# Component: [Component Name]`: the text below it is the
    /// template of a document that is written into a folder of its own.
    pub(super) fn is_form(&self) -> bool {
        self.headings.iter().any(|heading| {
            let slot = heading.words.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            slot.is_some_and(|(slot, _)| slot.starts_with(|c: char| c.is_ascii_uppercase()) && slot.len() > 2)
        })
    }

    fn read(&mut self) {
        let mut events = Parser::new_ext(self.body(), Options::ENABLE_TABLES).into_offset_iter();
        for (_, definition) in events.reference_definitions().iter() {
            let at = self.shifted(definition.span.clone());
            self.bound.push(at.start);
            self.link(&definition.dest, at, definition.span.start);
        }
        let mut walk = Walk::default();
        for (event, range) in events.by_ref() {
            walk.event(self, event, range);
        }
        self.code.sort_by_key(|range| range.start);
        self.literals.sort_by_key(|range| range.start);
        self.links.sort_by_key(|link| link.at);
    }

    fn shifted(&self, range: Range<usize>) -> Range<usize> {
        range.start + self.body_at..range.end + self.body_at
    }

    /// Adds a link. `within` contains the destination among other things; `at` is relative to the body.
    fn link(&mut self, to: &str, within: Range<usize>, at: usize) {
        if to.contains("://") {
            return;
        }
        let here = &self.text[within.clone()];
        let first = here.find(to).filter(|first| !to.is_empty() && here.rfind(to) == Some(*first));
        let place = first.map(|first| within.start + first..within.start + first + to.len());
        self.links.push(Link { at: at + self.body_at, to: to.to_owned(), place });
    }
}

/// Returns true if one of the sorted ranges contains a place.
fn holds(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.contains(&at))
}

/// The open elements while the events of a page are read.
#[derive(Default)]
struct Walk<'a> {
    depth: usize,
    heading: Option<Heading>,
    links: Vec<Open<'a>>,
}

struct Open<'a> {
    kind: LinkType,
    to: pulldown_cmark::CowStr<'a>,
    /// The end of its visible text.
    shown: usize,
}

impl<'a> Walk<'a> {
    fn event(&mut self, page: &mut Page<'a>, event: Event<'a>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(page, tag, range),
            Event::End(end) => self.end(page, end, range),
            Event::Text(words) => self.words(&words, range),
            Event::Code(words) => {
                page.literals.push(page.shifted(range.clone()));
                self.words(&words, range);
            }
            Event::InlineHtml(_) => {
                page.literals.push(page.shifted(range.clone()));
                self.words("", range);
            }
            Event::SoftBreak | Event::HardBreak => self.words(" ", range),
            Event::Rule if self.depth == 0 => {
                page.blocks.push(Block { at: page.shifted(range), kind: Kind::Other });
            }
            _ => self.words("", range),
        }
    }

    fn start(&mut self, page: &mut Page<'a>, tag: Tag<'a>, range: Range<usize>) {
        let at = page.shifted(range.clone());
        if self.depth == 0 {
            let kind = match tag {
                Tag::Paragraph => Kind::Paragraph,
                Tag::Heading { .. } => Kind::Heading,
                _ => Kind::Other,
            };
            page.blocks.push(Block { at: at.clone(), kind });
        }
        let is_outermost = self.depth == 0;
        self.depth += 1;
        match tag {
            Tag::Heading { level, .. } => {
                let words = String::new();
                self.heading = Some(Heading { at, level: level as usize, words, is_outermost });
            }
            Tag::CodeBlock(_) | Tag::HtmlBlock => page.code.push(at),
            Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. } => {
                self.links.push(Open { kind: link_type, to: dest_url, shown: range.start });
            }
            _ => {}
        }
    }

    fn end(&mut self, page: &mut Page<'a>, end: TagEnd, range: Range<usize>) {
        self.depth -= 1;
        match end {
            TagEnd::Heading(_) => page.headings.extend(self.heading.take()),
            TagEnd::Link | TagEnd::Image => {
                let Some(link) = self.links.pop() else { return };
                match link.kind {
                    LinkType::Inline => {
                        let within = page.shifted(link.shown.min(range.end)..range.end);
                        page.link(&link.to, within, range.start);
                    }
                    LinkType::Autolink | LinkType::Email => {}
                    _ => page.bound.push(range.start + page.body_at),
                }
            }
            _ => {}
        }
        self.words("", range);
    }

    fn words(&mut self, words: &str, range: Range<usize>) {
        if let Some(heading) = &mut self.heading {
            heading.words.push_str(words);
        }
        if let Some(link) = self.links.last_mut() {
            link.shown = range.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<(usize, String, Option<&str>)> {
        let page = Page::of(text, 0);
        let links = page.links.iter();
        links
            .map(|link| (page.line(link.at), link.to.clone(), link.place.clone().map(|place| &text[place])))
            .collect()
    }

    #[test]
    fn a_link_knows_where_its_destination_stands() {
        let text =
            "[a](a.md) ![i](<b c.png> \"t\")\n[a.md](a.md)\n[![x](x.png)](y.md)\n\n[r]\n\n[r]: r.md 'r'\n";
        assert_eq!(
            links(text),
            [
                (1, "a.md".into(), Some("a.md")),
                (1, "b c.png".into(), Some("b c.png")),
                (2, "a.md".into(), Some("a.md")),
                (3, "y.md".into(), Some("y.md")),
                (3, "x.png".into(), Some("x.png")),
                (7, "r.md".into(), Some("r.md")),
            ]
        );
        assert_eq!(
            links("[a](a\\_b.md)"),
            [(1, "a_b.md".into(), None)],
            "an escaped one stands there otherwise"
        );
    }

    #[test]
    fn what_stands_in_code_is_no_link_and_no_heading() {
        let text =
            "```\n# no\n[a](b.md)\n```\n\n    # no\n\n`[a](b.md)`\n\n<div>\n# no\n</div>\n\n# Yes `b`\n";
        let page = Page::of(text, 0);
        assert!(page.links.is_empty());
        let headings: Vec<_> =
            page.headings.iter().map(|h| (page.line(h.at.start), h.words.as_str())).collect();
        assert_eq!(headings, [(14, "Yes b")]);
        let code: Vec<_> = (1..=14).filter(|line| page.is_code(start(text, *line))).collect();
        assert_eq!(code, [1, 2, 3, 4, 6, 10, 11, 12]);
    }

    fn start(text: &str, line: usize) -> usize {
        let line = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        // An indented block begins after its indentation.
        line + text[line..].len() - text[line..].trim_start_matches(' ').len()
    }

    #[test]
    fn only_outermost_blocks_are_blocks() {
        let page = Page::of("front\n# A\n\ntext\nmore\n\n- item\n\n  text\n\n---\n> # B\n", 6);
        let kinds: Vec<_> = page.blocks.iter().map(|block| (page.line(block.at.start), block.kind)).collect();
        assert_eq!(
            kinds,
            [
                (2, Kind::Heading),
                (4, Kind::Paragraph),
                (7, Kind::Other),
                (11, Kind::Other),
                (12, Kind::Other)
            ]
        );
        assert_eq!(page.headings.iter().map(|h| h.is_outermost).collect::<Vec<_>>(), [true, false]);
    }
}
