//! The Markdown of a specification, read line by line, and written in its canonical form.
//!
//! ```text
//! ## Goal                      a heading of any level begins a section; those of deeper levels belong to it
//! ## Acceptance criteria
//! - A1 (critical): text        an id has a digit, or is bold: `- **login**: text`
//!   more text
//!   check: ["cargo", "test"]
//!   from: FILE:LINE
//! ```
//!
//! A backslash before a line that would be a heading, a fence, `check:` or `from:` makes it text, as does one in `<\!--`.

use std::fmt::Write as _;
use std::mem;
use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Options, Parser, Tag};
use regex::Regex;
use serde_json::Value;

use super::{
    Criterion, Draft, Entry, Fault, Place, Source, Specification, command, is_id, not_an_id, source, word_end,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Goal,
    Constraints,
    Criteria,
    Vocabulary,
}

#[derive(Debug, Default)]
struct Reader {
    draft: Draft,
    section: Option<Section>,
    /// The level of the heading of the section.
    level: usize,
    item: Option<Item>,
    /// The open fence outside of items, and its line.
    fence: Option<(u64, Fence)>,
    is_after_blank: bool,
}

/// The item of a list that is being read.
#[derive(Debug)]
struct Item {
    section: Section,
    /// The indentation of its mark.
    column: usize,
    /// The indentation of its text.
    inner: usize,
    entry: Entry,
    fence: Option<Fence>,
}

/// Reads a text without invisible characters.
pub(super) fn read(text: &str) -> Result<Draft, Fault> {
    let mut reader = Reader::default();
    for (number, line) in seen(text)? {
        reader.line(number, &line)?;
    }
    reader.close();
    match reader.fence {
        Some((line, _)) => {
            Err(Place::Line(line).fault("the code that begins here has no end: close its fence"))
        }
        None => Ok(reader.draft),
    }
}

impl Reader {
    fn line(&mut self, number: u64, line: &str) -> Result<(), Fault> {
        let is_blank = line.trim().is_empty();
        let was_blank = mem::replace(&mut self.is_after_blank, is_blank);
        if let Some((from, fence)) = self.fence {
            self.fence = after(Some(fence), line).map(|fence| (from, fence));
            self.add_to_goal(number, line);
            return Ok(());
        }
        let (heading, fence) = (heading(line), opened(line));
        if let Some(item) = &mut self.item {
            let begins = heading.is_some() || fence.is_some() || marker(line).is_some();
            let is_wrapped = !was_blank && item.fence.is_none() && !begins;
            let is_inside = line.starts_with('\t') || indent(line) >= item.column + 2;
            if is_blank || is_inside || is_wrapped {
                return item.push(number, line);
            }
        }
        self.close();
        self.fence = fence.map(|fence| (number, fence));
        match (heading, self.section) {
            (Some((level, title)), now) => {
                let named = section(title);
                if named.is_some() || now.is_none() || level <= self.level {
                    (self.section, self.level) = (named, level);
                    self.add_to_goal(number, "");
                } else {
                    self.add_to_goal(number, line);
                }
            }
            (None, Some(Section::Goal)) => self.add_to_goal(number, &unescaped(line)),
            (None, Some(section)) => self.item = Item::begun(number, section, line)?,
            (None, None) => {}
        }
        Ok(())
    }

    /// Adds a line to the goal, in its section.
    fn add_to_goal(&mut self, number: u64, line: &str) {
        if self.section == Some(Section::Goal) {
            let (_, goal) = self.draft.goal.get_or_insert_with(|| (Place::Line(number), String::new()));
            goal.extend([line, "\n"]);
        }
    }

    /// Ends the item that is open.
    fn close(&mut self) {
        let Some(Item { section, mut entry, .. }) = self.item.take() else { return };
        match section {
            Section::Constraints => self.draft.constraints.push(entry),
            Section::Goal | Section::Criteria => self.draft.criteria.push(entry),
            Section::Vocabulary => {
                let bold = entry.text.strip_prefix("**").map(|text| text.replacen("**", "", 1));
                let text = bold.unwrap_or(entry.text).trim().to_owned();
                let end = word_end(&text);
                entry.id = end.map(|end| text[..end].to_owned());
                entry.text = end.map_or_else(|| text.clone(), |end| text[end + 1..].to_owned());
                self.draft.terms.push(entry);
            }
        }
    }
}

impl Item {
    /// Begins an item with its first line; none if the line begins no item.
    fn begun(number: u64, section: Section, line: &str) -> Result<Option<Self>, Fault> {
        let Some((length, text)) = marker(line) else { return Ok(None) };
        let mut entry = Entry::new(Place::Line(number));
        let text = if section == Section::Vocabulary { text } else { head(&mut entry, section, text)? };
        let fence = opened(text);
        entry.text = if fence.is_some() { text.to_owned() } else { unescaped(text) };
        let column = indent(line);
        Ok(Some(Self { section, column, inner: column + length + 1, entry, fence }))
    }

    fn push(&mut self, number: u64, line: &str) -> Result<(), Fault> {
        let line = line.strip_prefix('\t').unwrap_or_else(|| &line[indent(line).min(self.inner)..]);
        let before = self.fence;
        self.fence = after(before, line);
        let is_code = before.is_some() || self.fence.is_some();
        let Some((name, value)) = key(line).filter(|_| !is_code) else {
            let text = if is_code { line.to_owned() } else { unescaped(line) };
            self.entry.text.extend(["\n", text.as_str()]);
            return Ok(());
        };
        let place = Place::Line(number);
        if self.section != Section::Criteria {
            let why = format!("only a criterion has a line `{name}:`: write `\\{name}:` for a text");
            return Err(place.fault(why));
        }
        let is_there = if name == CHECK {
            let words: Value = serde_json::from_str(value).unwrap_or_default();
            self.entry.check.replace(command(place, &words)?).is_some()
        } else {
            self.entry.source.replace(source(place, value)?).is_some()
        };
        if is_there { Err(place.fault(format!("a second line `{name}:`: keep one"))) } else { Ok(()) }
    }
}

const CHECK: &str = "check";

/// Returns the name and the value of a line `check:` or `from:`.
fn key(line: &str) -> Option<(&'static str, &str)> {
    let (name, value) = line.trim_start().split_once(':')?;
    let name = [CHECK, "from"].into_iter().find(|key| name.eq_ignore_ascii_case(key))?;
    (value.is_empty() || value.starts_with(char::is_whitespace)).then(|| (name, value.trim()))
}

/// Reads the id and the priority of an item, and returns the text after them.
fn head<'a>(entry: &mut Entry, section: Section, text: &'a str) -> Result<&'a str, Fault> {
    static HEAD: LazyLock<Regex> = LazyLock::new(|| {
        let (id, word) = ("([A-Za-z0-9][A-Za-z0-9._-]{0,63})", r"\(([A-Za-z]+)\)");
        let bold = format!(r"\*\*{id}(?: {word})?(:?)\*\*(?: ?{word})?(:?)");
        let known = r"\(((?i:critical|high|medium|low))\):?";
        pattern(&format!(r"^(?:{bold}|{id}(?: {word}:?|:)|{known})(?:\s+(.*))?$"))
    });
    static NEARLY: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\**(\S+?)\**:? \((?i:critical|high|medium|low)\)|^\**([AK][0-9]+)\b"));

    let unboxed = ["[ ] ", "[x] ", "[X] "].into_iter().find_map(|mark| text.strip_prefix(mark));
    let text = unboxed.unwrap_or(text).trim_start();
    if let Some(found) = HEAD.captures(text) {
        let part = |at: usize| found.get(at).map(|part| part.as_str()).filter(|part| !part.is_empty());
        let id = part(1).or(part(6));
        let priority = part(2).or(part(4)).or(part(7)).or(part(8));
        let is_marked = part(1).is_some() && [priority, part(3), part(5)].iter().any(Option::is_some);
        let has_digit = |id: &str| id.contains(|c: char| c.is_ascii_digit());
        if id.map_or(section == Section::Criteria, |id| is_marked || has_digit(id)) {
            if section == Section::Constraints && priority.is_some() {
                return Err(entry.place.fault("a constraint has no priority, it always holds: delete it"));
            }
            (entry.id, entry.priority) = (id.map(str::to_owned), priority.map(str::to_owned));
            return Ok(part(9).unwrap_or_default());
        }
    }
    if let Some(found) = NEARLY.captures(text) {
        let word = found.get(1).or(found.get(2)).map_or("", |part| part.as_str());
        let line = format!("`{word}` looks like an id: write `**{word}**: text`, or begin with another word");
        return Err(entry.place.fault(if is_id(word) { line } else { not_an_id(word) }));
    }
    Ok(text)
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

/// Returns the length of the mark of an item, and the text after it.
fn marker(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches([' ', '\t']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length = match text[digits..].chars().next()? {
        '-' | '*' | '+' if digits == 0 => 1,
        '.' | ')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let rest = &text[length..];
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (length, rest.trim()))
}

/// Returns the level and the title of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    let is_one =
        indent(line) < 4 && (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_one.then_some((level, title))
}

/// Returns the section of a title, which may have a number, stars or a colon.
fn section(title: &str) -> Option<Section> {
    let is_edge = |c: char| c.is_whitespace() || c.is_ascii_digit() || "#*_:.)".contains(c);
    match title.trim_matches(is_edge).to_lowercase().as_str() {
        "goal" => Some(Section::Goal),
        "constraints" => Some(Section::Constraints),
        "acceptance criteria" | "criteria" => Some(Section::Criteria),
        "vocabulary" | "terms" | "glossary" => Some(Section::Vocabulary),
        _ => None,
    }
}

/// Returns the number of spaces before a text.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The character of the fence that code is in, and its length.
type Fence = (char, usize);

/// Returns the fence that a line opens.
fn opened(line: &str) -> Option<Fence> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// Returns the fence that is open after a line.
fn after(open: Option<Fence>, line: &str) -> Option<Fence> {
    let Some((mark, length)) = open else { return opened(line) };
    let text = line.trim();
    let is_end = text.len() >= length && text.chars().all(|c| c == mark);
    (!is_end).then_some((mark, length))
}

/// Returns whether a reader would not take a line as text without the backslashes before it.
fn is_mark(text: &str) -> bool {
    let text = text.trim_start_matches('\\');
    heading(text).is_some() || text.starts_with("```") || text.starts_with("~~~") || key(text).is_some()
}

fn escaped(line: &str) -> String {
    let (space, text) = line.split_at(line.len() - line.trim_start().len());
    if is_mark(text) { format!("{space}\\{text}") } else { line.to_owned() }
}

fn unescaped(line: &str) -> String {
    let (space, text) = line.split_at(line.len() - line.trim_start().len());
    let bare = text.strip_prefix('\\').filter(|bare| is_mark(bare));
    bare.map_or_else(|| line.to_owned(), |bare| format!("{space}{bare}"))
}

/// Returns the lines that a reader sees, with their numbers: without comments, and without lines that have nothing else.
fn seen(text: &str) -> Result<Vec<(u64, String)>, Fault> {
    static ESCAPED: LazyLock<Regex> = LazyLock::new(|| pattern(r"<(\\*)\\!--"));
    /// No text has it.
    const GAP: char = '\0';
    let (mut rest, mut at) = (String::with_capacity(text.len()), 0);
    for comment in comments(text)? {
        if comment.start >= at {
            rest.push_str(&text[at..comment.start]);
            at = comment.end;
            rest.push(GAP);
            text[comment].matches('\n').for_each(|end| rest.extend([end, "\0"]));
        }
    }
    rest.push_str(&text[at..]);
    let is_seen = |line: &str| !line.contains(GAP) || line.contains(|c: char| c != GAP && !c.is_whitespace());
    let lines = (1..).zip(rest.split('\n')).filter(|&(_, line)| is_seen(line));
    Ok(lines
        .map(|(number, line)| (number, ESCAPED.replace_all(&line.replace(GAP, ""), "<${1}!--").into_owned()))
        .collect())
}

/// Returns where HTML comments are. Code has none: readers see it.
fn comments(text: &str) -> Result<Vec<Range<usize>>, Fault> {
    const START: &str = "<!--";
    const END: &str = "-->";
    let mut found = Vec::new();
    if !text.contains(START) {
        return Ok(found);
    }
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let html = text.get(range.clone()).unwrap_or_default();
        match event {
            Event::InlineHtml(_) if html.starts_with(START) => found.push(range),
            Event::Start(Tag::HtmlBlock) => {
                let mut at = 0;
                while let Some(start) = html[at..].find(START).map(|start| at + start) {
                    let Some(length) = html[start + 2..].find(END) else {
                        let line = text[..range.start + start].matches('\n').count() as u64 + 1;
                        return Err(Place::Line(line).fault("a comment without an end: write `-->`"));
                    };
                    at = start + 2 + length + END.len();
                    found.push(range.start + start..range.start + at);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Writes the canonical form.
pub(super) fn written(of: &Specification) -> String {
    static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"<(\\*)!--"));
    let mut page = "## Goal\n\n".to_owned();
    text_lines(&of.goal).for_each(|line| page.extend([line.as_str(), "\n"]));
    let constraints = of.constraints.iter().map(|one| item(&format!("{}:", label(&one.id)), &one.text));
    let terms = of.vocabulary.iter().map(|one| item("", &format!("{}: {}", one.word, one.meaning)));
    for (title, items) in [
        ("Constraints", constraints.collect::<String>()),
        ("Acceptance criteria", of.criteria.iter().map(criterion).collect()),
        ("Vocabulary", terms.collect()),
    ] {
        if !items.is_empty() {
            page.extend(["\n## ", title, "\n\n", items.as_str()]);
        }
    }
    COMMENT.replace_all(&page, r"<${1}\!--").into_owned()
}

fn criterion(of: &Criterion) -> String {
    let priority = of.priority.map(|priority| format!(" ({})", priority.word())).unwrap_or_default();
    let mut text = item(&format!("{}{priority}:", label(&of.id)), &of.text);
    if let Some(check) = &of.check {
        writeln!(text, "  check: {}", Value::from(check.clone())).expect("a string can always grow");
    }
    if let Some(Source { file, line }) = &of.source {
        writeln!(text, "  from: {file}:{line}").expect("a string can always grow");
    }
    text
}

/// Returns an id as `head` finds it.
fn label(id: &str) -> String {
    if id.contains(|c: char| c.is_ascii_digit()) { id.to_owned() } else { format!("**{id}**") }
}

fn item(label: &str, text: &str) -> String {
    let mut item = format!("- {label}").trim_end().to_owned();
    for (at, line) in text_lines(text).enumerate() {
        let lead = match (at, line.is_empty()) {
            (0, _) if opened(&line).is_none() => " ",
            (1.., true) => "\n",
            _ => "\n  ",
        };
        item.extend([lead, line.as_str()]);
    }
    item + "\n"
}

/// Returns the lines of a text, escaped so that `read` takes each as text. A fence without an end is escaped too.
fn text_lines(text: &str) -> impl Iterator<Item = String> {
    let has_open_end = text.lines().fold(None, after).is_some();
    let mut fence = None;
    text.lines().map(move |line| {
        let before = fence;
        fence = after(fence, line).filter(|_| !has_open_end);
        if before.is_some() || fence.is_some() { line.to_owned() } else { escaped(line) }
    })
}
