//! Checks that the given texts and sections are on the pages.

use super::Text;
use super::evidence::{Places, short};
use super::html::{HtmlPage, NodeKind};
use super::outcome::CheckOutcome;
use super::site::Site;

/// Marks the beginning or end of an inline element. No text contains it.
const EDGE: char = '\u{e000}';
const EDGE_TEXT: &str = "\u{e000}";

/// The maximum number of elements with the same end to look through.
const MOST_ENDS: usize = 50;

/// Fails if a given text is on no page. The source does not show whether a reader sees a text; a browser or a judge
/// decides that.
pub(super) fn copy(site: &Site<'_>, copy: &[Text]) -> CheckOutcome {
    if copy.is_empty() {
        return CheckOutcome::unverified("no texts were given");
    }
    let pages: Vec<String> = site.pages.iter().map(page_text).collect();
    let mut missing = Places::default();
    for Text { at, text } in copy {
        let wanted = normal(text);
        if !pages.iter().any(|page| holds(page, &wanted)) {
            missing.add(&format!("{at}: “{}”", short(text, 100)));
        }
    }
    found(site, &missing, "not on any page:", "texts")
}

/// Missing items are a fault, unless a script can write them. Present items never pass, because a style may hide them.
fn found(site: &Site<'_>, missing: &Places, fault: &str, what: &str) -> CheckOutcome {
    match site.doubt() {
        Some(doubt) if !missing.is_empty() => {
            CheckOutcome::unverified(format!("not in the source: {}; {doubt}", missing.text()))
        }
        Some(doubt) => CheckOutcome::unverified(doubt),
        None if !missing.is_empty() => {
            CheckOutcome { evidence: format!("{fault} {}", missing.text()), ..CheckOutcome::failed(missing) }
        }
        None => {
            CheckOutcome::unverified(format!("a browser is needed: styles may hide {what} of the source"))
        }
    }
}

/// Fails if a heading of the brief is neither a heading of a page nor a label or id of a section of it.
pub(super) fn sections(site: &Site<'_>, sections: &[Box<str>]) -> CheckOutcome {
    if sections.is_empty() {
        return CheckOutcome::unverified("the brief has no headings");
    }
    let names: Vec<String> = site.pages.iter().flat_map(names).collect();
    let mut missing = Places::default();
    for section in sections {
        let wanted = words(section);
        if !names.iter().any(|name| holds(name, &wanted)) {
            missing.add(&format!("“{}”", short(section, 100)));
        }
    }
    found(site, &missing, "no section", "sections")
}

/// Returns the names of the sections of a page, as words.
fn names(page: &HtmlPage<'_>) -> Vec<String> {
    const SECTIONS: [&str; 9] =
        ["section", "article", "aside", "header", "footer", "main", "nav", "form", "div"];
    let shown = page.elements().filter(|(at, _)| !page.nodes[*at].is_hidden);
    let names = shown.flat_map(|(at, name)| {
        let is_heading = matches!(name.as_bytes(), [b'h', b'1'..=b'6']);
        let is_section = SECTIONS.contains(&name);
        let of = |is: bool, key: &str| page.attribute(at, key).filter(|_| is).map(words);
        let heading = is_heading.then(|| words(&page.beginning(at)));
        let landmark = matches!(name, "header" | "footer" | "nav").then(|| name.to_owned());
        [heading, of(is_section, "aria-label"), of(is_section || is_heading, "id"), landmark]
    });
    names.flatten().collect()
}

/// Returns the text of a page, white space normalised.
fn page_text(page: &HtmlPage<'_>) -> String {
    let mut all = String::new();
    for (node, read) in page.nodes.iter().enumerate().filter(|(_, read)| !read.is_hidden) {
        match &read.kind {
            NodeKind::Text(text) => all.push_str(text),
            NodeKind::Element { name, .. } => {
                for text in spoken(page, node, name) {
                    all.extend([" \n", text, " \n"]);
                }
                all.push_str(if is_inline(name) { EDGE_TEXT } else { " " });
            }
            NodeKind::Document => {}
        }
        // A block that ends with this node separates the words.
        let ended = page.up(node).skip(1).take_while(|up| page.nodes[*up].end == node + 1);
        let mut ended = ended.take(MOST_ENDS).peekable();
        if ended.peek().is_some() {
            all.push_str(if ended.any(|up| !is_inline(page.name(up))) { " " } else { EDGE_TEXT });
        }
    }
    normal(&all)
}

/// Returns the texts that a page shows and that are attributes.
fn spoken<'p>(page: &'p HtmlPage<'_>, at: usize, name: &str) -> impl Iterator<Item = &'p str> {
    let kind = page.attribute(at, "type").unwrap_or_default();
    let is_button = name == "input" && ["submit", "button", "reset"].contains(&kind);
    let keys = [("alt", name == "img" || name == "input"), ("placeholder", true), ("value", is_button)];
    keys.into_iter().filter(|(_, is)| *is).filter_map(move |(key, _)| page.attribute(at, key))
}

fn is_inline(name: &str) -> bool {
    const INLINE: [&str; 26] = [
        "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
        "kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "u", "wbr",
    ];
    INLINE.contains(&name)
}

fn normal(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Returns the words of a name in lower case, without punctuation.
fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Whether a text contains another one that neither begins nor ends within a word.
fn holds(text: &str, wanted: &str) -> bool {
    let (first, last) = (wanted.chars().next(), wanted.chars().next_back());
    let parts = |a: Option<char>, b: Option<char>| !(a.is_some_and(is_of_word) && b.is_some_and(is_of_word));
    let places = text.char_indices().filter(|(_, c)| Some(*c) == first);
    let mut ends = places.filter(|(at, _)| parts(text[..*at].chars().next_back(), first));
    ends.any(|(at, _)| after(&text[at..], wanted).is_some_and(|rest| parts(last, rest.chars().next())))
}

/// Returns the rest of a text that begins so. At the edge of an element, words may be apart or together: a style
/// decides that.
fn after<'t>(text: &'t str, wanted: &str) -> Option<&'t str> {
    wanted.chars().try_fold(text, |text, c| {
        let rest = text.trim_start_matches(if c == ' ' { &[' ', EDGE][..] } else { &[EDGE] });
        if c == ' ' { (rest.len() < text.len()).then_some(rest) } else { rest.strip_prefix(c) }
    })
}

/// Whether it is a letter or a digit. Scripts without spaces between words have no whole words.
fn is_of_word(c: char) -> bool {
    let is_unspaced = matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3134f}');
    c.is_alphanumeric() && !is_unspaced
}
