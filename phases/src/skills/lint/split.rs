//! Keeps the body of a skill short by moving sections into references.

use std::ops::Range;

use super::contents::{self, escaped, slug};
use super::edit::Edit;
use super::page::{Heading, Page};
use super::path::{encoded, words};
use super::reading::{Reading, diagnostic, is_markdown, name};
use super::{Diagnostic, File, Rule};
use crate::base::material::Body;

const LINES: usize = 500;
const TOKENS: usize = 5000;

/// A section with fewer lines gets hardly shorter as a link.
const WORTH_MOVING: usize = 12;
/// The maximum number of sections to try.
const MOST: usize = 64;

/// Estimates the tokens of a text: one for four ASCII characters, or for three bytes of anything else.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    (3 * ascii + 4 * (text.len() - ascii)).div_ceil(12)
}

pub(super) fn check(reading: &Reading, out: &mut Vec<Diagnostic>) {
    let Some((file, page)) = reading.main_page() else { return };
    let (lines, tokens) = (page.body().lines().count(), tokens(page.body()));
    if is_long(page.body()) {
        let message = format!(
            "the body has {lines} lines and about {tokens} tokens (characters / 4); aim for under {LINES} and {TOKENS}"
        );
        out.push(diagnostic(Rule::BodyLong, file, page.line(page.body_at), message));
    }
}

fn is_long(body: &str) -> bool {
    body.lines().count() >= LINES || tokens(body) >= TOKENS
}

/// Moves the largest sections into references, one at a time, until the rest is short enough.
pub(super) fn split(reading: &Reading) -> Vec<Edit> {
    let Some((file, page)) = reading.main_page().filter(|(_, page)| is_long(page.body())) else {
        return Vec::new();
    };
    let mut sections = sections(reading, page);
    sections.sort_by_key(|section| std::cmp::Reverse(section.at.len()));
    let mut moved: Vec<(Section, File)> = Vec::new();
    for section in sections.into_iter().take(MOST) {
        let Some(text) = standing_alone(page, &section) else { continue };
        let path = free_path(reading, &moved, section.heading);
        let reference = File { path, body: Body::Text(text), executable: false };
        moved.push((section, reference));
        let made = without(page, &moved);
        if !is_long(&made[page.body_at..]) {
            let edit = Edit::of_text(file, made, moved.len());
            return vec![moved.into_iter().fold(edit, |edit, (_, reference)| edit.with(reference))];
        }
    }
    Vec::new()
}

struct Section<'p> {
    heading: &'p Heading,
    /// Its lines, including the heading.
    at: Range<usize>,
}

/// Returns the sections of the body that can move: no link leaves them and no link leads into them.
fn sections<'p>(reading: &Reading, page: &'p Page) -> Vec<Section<'p>> {
    let headings: Vec<&Heading> = page.headings.iter().filter(|heading| heading.is_outermost).collect();
    let at_level = |level: usize| headings.iter().filter(move |heading| heading.level == level).count();
    let Some(level) = (1..=6).find(|level| at_level(*level) > 1) else { return Vec::new() };
    let mut sections = Vec::new();
    for (number, heading) in headings.iter().enumerate().filter(|(_, heading)| heading.level == level) {
        let next = headings[number + 1..].iter().find(|next| next.level <= level);
        let at = heading.at.start..next.map_or(page.text.len(), |next| next.at.start);
        let section = Section { heading, at };
        if may_move(reading, page, &section) {
            sections.push(section);
        }
    }
    sections
}

fn may_move(reading: &Reading, page: &Page, Section { heading, at }: &Section) -> bool {
    let text = &page.text[at.clone()];
    let within = |place: &usize| at.contains(place);
    let inner = || page.headings.iter().filter(|heading| at.contains(&heading.at.start));
    let names_a_page =
        || words(text).any(|(_, word)| is_markdown(word) && !reading.named(name(word)).is_empty());
    let leads_in = |link: &str| {
        link.strip_prefix('#').is_some_and(|to| inner().skip(1).any(|inner| slug(&inner.words) == to))
    };
    text.lines().count() > WORTH_MOVING
        && !heading.words.trim().is_empty()
        && inner().all(|heading| page.text[heading.at.start..].starts_with('#'))
        && !page.bound.iter().any(within)
        && !page.links.iter().any(|link| within(&link.at) || leads_in(&link.to))
        && !names_a_page()
}

/// Returns the section as a file: its heading becomes the title, and the headings below it move up.
fn standing_alone(page: &Page, Section { heading, at }: &Section) -> Option<String> {
    let mut text = String::new();
    let mut done = at.start;
    for inner in page.headings.iter().filter(|inner| inner.is_outermost && at.contains(&inner.at.start)) {
        text.push_str(&page.text[done..inner.at.start]);
        done = inner.at.start + heading.level - 1;
    }
    text.push_str(&page.text[done..at.end]);
    let text = text.trim_end().to_owned() + "\n";
    let made = Page::of(&text, 0);
    if contents::is_lacking(&made) { contents::with_contents(&made) } else { Some(text) }
}

fn without(page: &Page, moved: &[(Section, File)]) -> String {
    let mut moved: Vec<_> = moved.iter().collect();
    moved.sort_by_key(|(section, _)| section.at.start);
    let mut text = String::new();
    let mut done = 0;
    for (Section { heading, at }, reference) in moved {
        let title = page.end_of_line(heading.at.end.saturating_sub(1)).min(at.end);
        text.push_str(page.text[done..title].trim_end_matches('\n'));
        let (words, path) = (escaped(&heading.words), encoded(&reference.path));
        text.extend([
            "

See [", &words, "](", &path, ").
",
        ]);
        if at.end < page.text.len() {
            text.push('\n');
        }
        done = at.end;
    }
    text.push_str(&page.text[done..]);
    text
}

/// Returns `references/<the heading>.md`, with a number if that is taken.
fn free_path(reading: &Reading, moved: &[(Section, File)], heading: &Heading) -> String {
    let slug = slug(&heading.words);
    let slug: String = slug.trim_matches(['-', '_']).chars().take(60).collect();
    let slug = if slug.is_empty() { "section".to_owned() } else { slug };
    let names = std::iter::once(slug.clone()).chain((2..).map(|count| format!("{slug}-{count}")));
    let mut paths = names.map(|name| format!("references/{name}.md"));
    let is_free = |path: &String| {
        let is_other = |other: &File| other.path.to_lowercase() != path.to_lowercase();
        !reading.exists(path)
            && reading.files.files().iter().chain(moved.iter().map(|(_, file)| file)).all(is_other)
    };
    paths.find(is_free).expect("there is no last number")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, skill};
    use super::super::{Reach, fix_all, fix_rule};
    use super::*;

    fn section(title: &str, lines: usize) -> String {
        let line = |line| format!("{title} says {line}.\n");
        let lines: String = (0..lines).map(line).collect();
        format!("## {title}\n\n### Inner {title}\n\n{lines}\n")
    }

    #[test]
    fn tokens_are_estimated_from_characters() {
        assert_eq!(
            [tokens(""), tokens("four"), tokens("写"), tokens(&"word ".repeat(4000))],
            [0, 1, 1, 5000]
        );
    }

    #[test]
    fn the_largest_sections_move_until_the_body_is_short() {
        let body = [
            "# Demo\n\nIntro.\n\n",
            &section("Small", 20),
            &section("Große Dinge", 90),
            &section("Large", 400),
        ]
        .concat();
        let files = skill(&body);
        assert_eq!(
            found(&files, Rule::BodyLong),
            [
                "SKILL.md:5: the body has 529 lines and about 2182 tokens (characters / 4); aim for under 500 and 5000"
            ]
        );
        let fixed = fix_all(&files, Reach::All);
        let paths: Vec<_> = fixed.files.files().iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            ["SKILL.md", "references/große-dinge.md"],
            "the largest has too few sections for a list of them"
        );
        assert!(
            fixed
                .text("SKILL.md")
                .contains("\n## Große Dinge\n\nSee [Große Dinge](references/große-dinge.md).\n\n## Large\n")
        );
        assert!(
            fixed
                .text("references/große-dinge.md")
                .starts_with("# Große Dinge\n\n## Inner Große Dinge\n\nGroße Dinge says 0.\n")
        );
        assert!(fix_all(&fixed.files, Reach::All).done.is_empty());
    }

    #[test]
    fn every_line_of_a_split_body_is_somewhere() {
        let body: String = (0..12).map(|number| section(&format!("Part {number}"), 60)).collect();
        let files = skill(&body);
        let fixed = fix_rule(&files, Rule::BodyLong);
        let all: String = fixed.files.files().iter().map(|file| fixed.text(&file.path)).collect();
        for line in body.lines().filter(|line| line.contains("says")) {
            assert_eq!(all.matches(&format!("{line}\n")).count(), 1, "{line}");
        }
        assert!(found(&fixed.files, Rule::BodyLong).is_empty());
    }

    #[test]
    fn sections_that_are_tied_to_others_stay() {
        let tied = [
            "[a](#inner-b)".to_owned(),
            "[a][r]\n\n[r]: x.md".to_owned(),
            "read x.md".to_owned(),
            "[x](scripts/x.py)".to_owned(),
        ];
        for tied in tied {
            let body = [&section("A", 300), &tied, "\n\n", &section("B", 300), &tied, "\n"].concat();
            let files = skill(&body).with("x.md", "").with("scripts/x.py", "");
            assert!(fix_rule(&files, Rule::BodyLong).done.is_empty(), "{tied}");
        }
    }
}
