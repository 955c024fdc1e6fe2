//! The structure of one file, to distinguish a change of its structure from a change of its words.

use std::ops::Range;

use super::File;
use super::page::Page;
use super::reading::{MAIN, body_at, is_markdown, is_script as names_interpreter};
use crate::skills::skill;

/// A Markdown file in parts that can be compared separately.
#[derive(Debug, PartialEq, Eq)]
pub struct Outline<'a> {
    /// The description of a readable `SKILL.md`.
    pub description: Option<String>,
    pub headings: Vec<(usize, String)>,
    /// Links to files and headings, in order.
    pub links: Vec<String>,
    /// All other words, without white space.
    pub words: Vec<&'a str>,
}

/// Returns the outline; `None` if the file is not Markdown or is too long.
pub fn outline(file: &File) -> Option<Outline<'_>> {
    let text = file.text().filter(|_| is_markdown(&file.path))?;
    let is_main = file.path == MAIN;
    let matter = skill::check(text).ok().filter(|_| is_main);
    let body_at = body_at(text, is_main);
    let page = Page::of(text, body_at);
    // The words of the description are not counted again.
    let mut from = if matter.is_some() { body_at } else { 0 };
    let mut words = Vec::new();
    for heading in &page.headings {
        words.extend(text.get(from..heading.at.start).unwrap_or_default().split_whitespace());
        from = heading.at.end.max(from);
    }
    words.extend(text.get(from..).unwrap_or_default().split_whitespace());
    Some(Outline {
        description: matter.map(|matter| matter.description),
        headings: page.headings.iter().map(|heading| (heading.level, heading.words.clone())).collect(),
        links: page.links.iter().map(|link| link.to.clone()).collect(),
        words,
    })
}

/// The code of a Markdown file, including HTML.
#[derive(Debug)]
pub struct Code {
    blocks: Vec<Range<usize>>,
    inline: Vec<Range<usize>>,
}

/// Returns the code; `None` if the file is not Markdown or is too long.
pub fn code(file: &File) -> Option<Code> {
    let text = file.text().filter(|_| is_markdown(&file.path))?;
    let (blocks, inline) = Page::of(text, body_at(text, file.path == MAIN)).into_code();
    Some(Code { blocks, inline })
}

impl Code {
    /// Returns true if a line is in a code block.
    pub fn is_block(&self, line: &Range<usize>) -> bool {
        let next = self.blocks.partition_point(|block| block.end <= line.start);
        self.blocks.get(next).is_some_and(|block| block.start < line.end)
    }

    /// Returns the code within a line of text.
    pub fn within(&self, line: &Range<usize>) -> Vec<Range<usize>> {
        let next = self.inline.partition_point(|code| code.end <= line.start);
        let parts = self.inline[next..].iter().take_while(|code| code.start < line.end);
        parts.map(|code| code.start.max(line.start)..code.end.min(line.end)).collect()
    }
}

/// Returns true if a file is a script: it is executable, names its interpreter, or is among scripts.
pub fn is_script(file: &File) -> bool {
    let says_so = || file.text().is_some_and(|text| names_interpreter(file, text));
    !is_markdown(&file.path) && (file.executable || file.path.starts_with("scripts/") || says_so())
}
