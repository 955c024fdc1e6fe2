//! The order of a text: headings descend step by step, and no paragraph repeats.

use std::collections::HashMap;
use std::ops::Range;

use super::edit::Edit;
use super::page::{Block, Heading, Kind, Page};
use super::reading::{Reading, diagnostic};
use super::{Diagnostic, File, Rule};
use crate::skills::skill;

pub(super) fn check(reading: &Reading, out: &mut Vec<Diagnostic>) {
    // If front matter has no end, the start of the body is unknown.
    if let Some((file, page)) = reading.main_page()
        && skill::front_matter(page.text).is_ok()
        && page.body().trim().is_empty()
    {
        out.push(diagnostic(Rule::BodyEmpty, file, None, "no instructions"));
    }
    for (_, file, page) in reading.pages() {
        for pair in outermost(page).collect::<Vec<_>>().windows(2) {
            let (above, heading) = (pair[0], pair[1]);
            if heading.level > above.level + 1 {
                let message =
                    format!("level {} heading after a level {} heading", heading.level, above.level);
                out.push(diagnostic(Rule::HeadingJump, file, page.line(heading.at.start), message));
            }
        }
        for repeat in repeats(page) {
            let message = format!("duplicate of line {}", page.line(repeat.first));
            out.push(diagnostic(
                Rule::ParagraphRepeated,
                file,
                page.line(page.blocks[repeat.block].at.start),
                message,
            ));
        }
    }
}

fn outermost<'p>(page: &'p Page) -> impl Iterator<Item = &'p Heading> {
    page.headings.iter().filter(|heading| heading.is_outermost)
}

/// Raises every heading that is too deep, and the headings below it.
pub(super) fn levelled(reading: &Reading) -> Vec<Edit> {
    let edit = |(_, file, page): (usize, &File, &Page)| {
        let mut above: Vec<(usize, usize)> = Vec::new();
        let mut places = Vec::new();
        for heading in outermost(page) {
            let kept = above.iter().take_while(|(level, _)| *level < heading.level).count();
            above.truncate(kept);
            let level = above.last().map_or(heading.level, |(_, made)| made + 1);
            above.push((heading.level, level));
            if level != heading.level {
                let at = heading.at.start;
                places.push((at..at + heading.level, "#".repeat(level)));
            }
        }
        Edit::of_places(file, page.text, places)
    };
    reading.pages().filter_map(edit).collect()
}

/// A paragraph that repeats an earlier one.
struct Repeat {
    block: usize,
    first: usize,
    /// Whether no other part begins between the two.
    is_close: bool,
}

/// Shorter repeats are common phrases.
const SHORTEST: usize = 60;
/// A short paragraph in another part may repeat on purpose: the same step, note or label for another case.
const SHORTEST_ELSEWHERE: usize = 240;

/// The maximum distance in blocks. A page without headings is not a single part: in a list of functions, each may
/// describe its arguments in the same words.
const NEAR: usize = 8;

fn repeats(page: &Page) -> Vec<Repeat> {
    let mut seen: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut repeats = Vec::new();
    let mut turned = None;
    for (number, block) in page.blocks.iter().enumerate() {
        let words = page.text[block.at.clone()].trim();
        let long = words.chars().filter(|c| c.is_alphanumeric()).count();
        // Text that ends in a colon belongs to the next block; a line of marks is a form to fill in.
        if block.kind == Kind::Paragraph
            && words.chars().count() >= SHORTEST
            && long > 0
            && !words.ends_with(':')
        {
            match seen.get(words) {
                Some(first) => {
                    let (first_block, first) = *first;
                    let is_near = number - first_block <= NEAR;
                    let is_close = is_near && turned.is_none_or(|turn| turn < first);
                    if is_close || words.chars().count() >= SHORTEST_ELSEWHERE {
                        repeats.push(Repeat { block: number, first, is_close });
                    }
                }
                None => drop(seen.insert(words, (number, block.at.start))),
            }
        }
        if turns(page, block) {
            turned = Some(block.at.start);
        }
    }
    repeats
}

/// Removes the close repeats, except where a removal would leave a block alone or merge its neighbours.
pub(super) fn said_once(reading: &Reading) -> Vec<Edit> {
    let edit = |(_, file, page): (usize, &File, &Page)| {
        let repeats = repeats(page);
        let mut repeats = repeats.iter().peekable();
        let mut before = None;
        let mut places = Vec::new();
        for (number, block) in page.blocks.iter().enumerate() {
            let after = page.blocks.get(number + 1).map(|next| next.kind);
            let repeat = repeats.next_if(|repeat| repeat.block == number);
            if repeat.is_some_and(|repeat| repeat.is_close) && may_go(before, after) {
                places.push((with_blank_lines(page, &block.at), String::new()));
            } else {
                before = Some(block.kind);
            }
        }
        Edit::of_places(file, page.text, places)
    };
    reading.pages().filter_map(edit).collect()
}

/// Returns true if a block begins another part: a heading, or a paragraph like one.
fn turns(page: &Page, block: &Block) -> bool {
    let words = page.text[block.at.clone()].trim();
    let leads = words.starts_with("**") || words.starts_with("__");
    match block.kind {
        Kind::Heading => true,
        Kind::Paragraph => leads || words.trim_end_matches(['*', '_']).ends_with(':'),
        Kind::Other => false,
    }
}

fn may_go(before: Option<Kind>, after: Option<Kind>) -> bool {
    match (before, after) {
        (Some(Kind::Paragraph), None | Some(Kind::Paragraph | Kind::Heading))
        | (Some(Kind::Heading), Some(Kind::Paragraph)) => true,
        (None | Some(Kind::Paragraph | Kind::Heading | Kind::Other), _) => false,
    }
}

/// Returns the lines of a block and the empty lines below it.
fn with_blank_lines(page: &Page, at: &Range<usize>) -> Range<usize> {
    let start = page.text[..at.start].rfind('\n').map_or(0, |end| end + 1);
    let mut end = page.end_of_line(at.start + page.text[at.clone()].trim_end().len().saturating_sub(1));
    while end < page.text.len() {
        let next = page.end_of_line(end);
        if !page.text[end..next].trim().is_empty() {
            break;
        }
        end = next;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, skill};
    use super::super::{Reach, fix_all, fix_rule};
    use super::*;

    const LONG: &str = "A paragraph that is long enough to be noticed when it is said again.";

    #[test]
    fn a_skill_without_instructions_is_told() {
        for body in ["", "\n \n"] {
            assert_eq!(found(&skill(body), Rule::BodyEmpty), ["SKILL.md: no instructions"]);
        }
        assert!(found(&skill("x"), Rule::BodyEmpty).is_empty());
    }

    #[test]
    fn headings_descend_step_by_step() {
        let files =
            skill("# A\n\n### B ###\n\n#### C\n\n## D\n\nE\n---\n\n> # F\n> ### G\n\n```\n#### H\n```\n");
        assert_eq!(found(&files, Rule::HeadingJump), ["SKILL.md:7: level 3 heading after a level 1 heading"]);
        let fixed = fix_rule(&files, Rule::HeadingJump);
        assert!(
            fixed.text("SKILL.md").ends_with(
                "# A\n\n## B ###\n\n### C\n\n## D\n\nE\n---\n\n> # F\n> ### G\n\n```\n#### H\n```\n"
            )
        );
    }

    fn without_repeats(body: &str) -> String {
        let fixed = fix_all(&skill(body).with("a.md", ""), Reach::All);
        fixed.text("SKILL.md").split_once("---\n").unwrap().1.split_once("---\n").unwrap().1.to_owned()
    }

    #[test]
    fn a_paragraph_said_again_goes_with_its_blank_line() {
        let body =
            format!("# A\n\n{LONG}\n\nText.\n\n  {LONG}\n\n\n{LONG}\n\nMore.\n\n[r]: a.md\n\n{LONG}\n");
        assert_eq!(found(&skill(&body), Rule::ParagraphRepeated).len(), 3);
        assert_eq!(without_repeats(&body), format!("# A\n\n{LONG}\n\nText.\n\nMore.\n\n[r]: a.md\n\n"));
    }

    #[test]
    fn a_paragraph_stays_where_it_may_be_meant_again() {
        for turn in
            ["## B\n\nText.", "**Otherwise**", "**If not:** go on.", "In other cases:", "- x", "```\nx\n```"]
        {
            let body = format!("{LONG}\n\n{turn}\n\n{LONG}\n\nText.\n");
            assert_eq!(without_repeats(&body), body, "{turn}");
        }
        for turn in ["## B", "**Otherwise**", "In other cases:"] {
            let repeats = |said: &str| {
                found(&skill(&format!("{said}\n\n{turn}\n\n{said}\n")), Rule::ParagraphRepeated).len()
            };
            assert_eq!(
                [repeats(LONG), repeats(&LONG.repeat(4))],
                [0, 1],
                "{turn}: the same step, and a page pasted twice"
            );
        }
        let label = "**Needs:** a file with a name, a folder to put it in, and some more of that.";
        let form = "\\_".repeat(60);
        for said in [label, &form] {
            let body = format!("## A\n\n{said}\n\n{said}\n\n## B\n\n{said}\n");
            assert!(found(&skill(&body), Rule::ParagraphRepeated).is_empty(), "{said}");
        }
        let page_with_blocks =
            |blocks: usize| format!("## A\n\n{LONG}\n\n{}{LONG}\n", "Text.\n\n".repeat(blocks));
        let repeats = |body: &str| found(&skill(body), Rule::ParagraphRepeated).len();
        assert_eq!([repeats(&page_with_blocks(NEAR - 1)), repeats(&page_with_blocks(NEAR))], [1, 0]);
        for alone in ["- x\n", "## B\n\nText.\n", "> x\n"] {
            let body = format!("## A\n\n{LONG}\n\nText.\n\n{LONG}\n\n{alone}");
            assert_eq!(without_repeats(&body) == body, !alone.starts_with('#'), "{alone}");
        }
    }
}
