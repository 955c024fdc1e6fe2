//! Long references must begin with a list of their contents.

use super::edit::Edit;
use super::page::{Heading, Page};
use super::reading::{Reading, diagnostic, is_expected};
use super::{Diagnostic, File, Rule};

/// An agent that reads the head of a file sees about this many lines.
pub(super) const LONG: usize = 100;
/// Fewer sections need no list.
const FEWEST: usize = 3;

pub(super) fn check(reading: &Reading, out: &mut Vec<Diagnostic>) {
    for (file, page) in lacking(reading) {
        let lines = page.text.lines().count();
        let message = format!("the file has {lines} lines and no table of contents");
        out.push(diagnostic(Rule::ContentsMissing, file, 1, message));
    }
}

pub(super) fn added(reading: &Reading) -> Vec<Edit> {
    let edit = |(file, page): (&File, &Page)| Some(Edit::of_text(file, with_contents(page)?, 1));
    lacking(reading).filter_map(edit).collect()
}

fn lacking<'r, 'a>(reading: &'r Reading<'a>) -> impl Iterator<Item = (&'a File, &'r Page<'a>)> {
    let references =
        reading.pages().filter(|(at, file, _)| reading.main != Some(*at) && !is_expected(&file.path));
    references.filter(|(_, _, page)| is_lacking(page)).map(|(_, file, page)| (file, page))
}

pub(super) fn is_lacking(page: &Page) -> bool {
    page.text.lines().count() > LONG && !has_contents(page)
}

fn has_contents(page: &Page) -> bool {
    const TITLES: [&str; 6] = ["contents", "table of contents", "toc", "sections", "目录", "目次"];
    let is_titled =
        page.headings.iter().any(|heading| TITLES.contains(&heading.words.trim().to_lowercase().as_str()));
    is_titled || page.links.iter().filter(|link| link.to.starts_with('#')).count() >= FEWEST
}

/// Adds a list of sections below the title of a page; returns `None` if the page has no heading that is the only title,
/// or has headings to fill in.
pub(super) fn with_contents(page: &Page) -> Option<String> {
    let title = page.headings.first().filter(|first| first.is_outermost && first.level == 1);
    let is_other_title = |heading: &Heading| heading.level == 1;
    let is_open = |heading: &Heading| ["{{", "{%", "<%"].iter().any(|slot| heading.words.contains(slot));
    let below = &page.headings[usize::from(title.is_some())..];
    if below.iter().any(is_other_title) || page.headings.iter().any(is_open) {
        return None;
    }
    let slugs = slugs(page.headings.iter().map(|heading| heading.words.as_str()));
    let sections: Vec<_> = page.headings.iter().zip(slugs).skip(usize::from(title.is_some())).collect();
    let top = sections.iter().map(|(heading, _)| heading.level).min()?;
    let of = |deepest: usize| sections.iter().filter(move |(heading, _)| heading.level <= deepest);
    let deepest = if of(top).count() < FEWEST { top + 1 } else { top };
    if of(deepest).count() < FEWEST {
        return None;
    }
    let entry = |(heading, slug): &(&Heading, String)| {
        format!("{}- [{}](#{slug})\n", "  ".repeat(heading.level - top), escaped(&heading.words))
    };
    let entries: String = of(deepest).map(entry).collect();
    let at = title.map_or(page.body_at, |title| page.end_of_line(title.at.end.saturating_sub(1)));
    let (before, after) = page.text.split_at(at);
    let lead = match before {
        "" => "",
        _ if before.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let level = "#".repeat(top);
    Some([before, lead, &level, " Contents\n\n", &entries, "\n", after.trim_start_matches('\n')].concat())
}

/// Returns the anchors of headings.
pub(super) fn slugs<'w>(headings: impl Iterator<Item = &'w str>) -> Vec<String> {
    let mut taken = std::collections::HashMap::<String, usize>::new();
    // The heading of the list itself comes before any other heading with its name.
    taken.insert("contents".to_owned(), 1);
    let number = |words: &str| {
        let slug = slug(words);
        let count = taken.entry(slug.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
    };
    headings.map(number).collect()
}

pub(super) fn slug(words: &str) -> String {
    let kept = words.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

pub(super) fn escaped(words: &str) -> String {
    let mut text = String::new();
    for c in words.trim().chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '|') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::fix_rule;
    use super::super::tests::{found, skill};
    use super::*;

    fn filler(lines: usize) -> String {
        let line = |line| format!("Line {line}.\n");
        (0..lines).map(line).collect()
    }

    #[test]
    fn a_long_reference_gets_a_list_of_its_sections_once() {
        let text = format!(
            "# Title\nIntro.\n\n## First `x_y`\n\n## Second\n\n### Deep\n\n## Second\n{}",
            filler(100)
        );
        let files = skill("Read a.md, b.md.\n").with("a.md", &text).with("b.md", &filler(101));
        assert_eq!(
            found(&files, Rule::ContentsMissing),
            [
                "a.md:1: the file has 110 lines and no table of contents",
                "b.md:1: the file has 101 lines and no table of contents"
            ]
        );
        let fixed = fix_rule(&files, Rule::ContentsMissing);
        assert!(fixed.text("a.md").starts_with(
            "# Title\n\n## Contents\n\n- [First x\\_y](#first-x_y)\n- [Second](#second)\n- [Second](#second-1)\n\nIntro.\n"
        ));
        assert_eq!(fixed.text("b.md"), filler(101), "nothing is invented for a text without sections");
        assert!(fix_rule(&fixed.files, Rule::ContentsMissing).done.is_empty());
    }

    #[test]
    fn a_list_that_is_there_is_enough_and_so_is_a_short_file() {
        let listed = format!("# T\n- [a](#a)\n- [b](#b)\n- [c](#c)\n{}", filler(100));
        let titled = format!("# T\n## Table of Contents\nA, B\n{}", filler(100));
        let files = skill("")
            .with("a.md", &listed)
            .with("b.md", &titled)
            .with("c.md", &filler(100))
            .with("README.md", &filler(200));
        assert!(found(&files, Rule::ContentsMissing).is_empty());
    }
}
