//! Finds what a refinement has changed, section by section, and whether an issue asked for it.
//!
//! A section is the text from one heading to the next, of whatever level. It is identified by its heading and those
//! above it, so a new section before it does not make it a different one.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};

use super::answers::Issue;

/// The name of the part before the first heading.
pub const PREAMBLE: &str = "(before the first heading)";

/// The changed sections, by their headings: those of the newer text first, then those that are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    pub sections: Vec<String>,
    /// The changed sections that no issue names, directly or by a heading above them.
    pub unasked: Vec<String>,
}

/// Compares two versions of an artifact. An issue that names no section asks for the whole.
pub fn changed(before: &str, after: &str, issues: &[Issue]) -> Changed {
    let (old, new) = (split(before), split(after));
    let known = |sections: &[Section]| -> HashMap<Place, String> {
        sections.iter().map(|section| (section.place.clone(), section.text.clone())).collect()
    };
    let (olds, news) = (known(&old), known(&new));
    let differs = |section: &&Section| olds.get(&section.place) != Some(&section.text);
    let is_gone = |section: &&Section| !news.contains_key(&section.place);
    let all: Vec<_> = new.iter().filter(differs).chain(old.iter().filter(is_gone)).collect();
    let unasked = all.iter().filter(|section| !issues.iter().any(|issue| asks_for(issue, section)));
    Changed {
        unasked: unasked.map(|section| section.title.clone()).collect(),
        sections: all.iter().map(|section| section.title.clone()).collect(),
    }
}

/// The number of lines that only one of two texts has. Repeated lines count each time; a moved line does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    pub added: usize,
    pub removed: usize,
}

pub fn lines_changed(before: &str, after: &str) -> Lines {
    let mut balance = BTreeMap::<&str, isize>::new();
    for line in before.lines() {
        *balance.entry(line).or_default() -= 1;
    }
    for line in after.lines() {
        *balance.entry(line).or_default() += 1;
    }
    let sum = |sign: isize| {
        balance.values().filter(|count| count.signum() == sign).map(|count| count.unsigned_abs()).sum()
    };
    Lines { added: sum(1), removed: sum(-1) }
}

struct Section {
    title: String,
    place: Place,
    text: String,
}

/// The headings down to a section, and its number among sections with the same headings.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    path: Vec<String>,
    nth: usize,
}

/// Whether an issue names a section. A critic may use its heading alone, or together with those above it.
fn asks_for(issue: &Issue, section: &Section) -> bool {
    if issue.section.trim().is_empty() {
        return true;
    }
    let (asked, path) = (key(&issue.section), &section.place.path);
    let ends_with_one = |end: usize| (0..end).any(|begin| path[begin..end].concat() == asked);
    (1..=path.len()).any(ends_with_one)
}

/// Returns a heading without its marks, case and blanks, which critics do not repeat exactly.
fn key(title: &str) -> String {
    let letters: String =
        title.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if letters.is_empty() { title.trim().to_owned() } else { letters }
}

fn split(text: &str) -> Vec<Section> {
    let headings = headings(text);
    let first = headings.first().map_or(text.len(), |heading| heading.at);
    let mut sections = Vec::new();
    if !text[..first].trim().is_empty() {
        let place = Place { path: vec![key(PREAMBLE)], nth: 0 };
        sections.push(Section { title: PREAMBLE.to_owned(), place, text: lines(&text[..first]) });
    }
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut counts = HashMap::<Vec<String>, usize>::new();
    for (at, heading) in headings.iter().enumerate() {
        let end = headings.get(at + 1).map_or(text.len(), |next| next.at);
        path.retain(|(level, _)| *level < heading.level);
        path.push((heading.level, key(&heading.words)));
        let path: Vec<_> = path.iter().map(|(_, key)| key.clone()).collect();
        let count = counts.entry(path.clone()).or_default();
        let place = Place { path, nth: *count };
        *count += 1;
        sections.push(Section { title: heading.words.clone(), place, text: lines(&text[heading.at..end]) });
    }
    sections
}

/// Removes blanks at the ends of lines and of the section: they are not a change.
fn lines(text: &str) -> String {
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

struct Heading {
    at: usize,
    level: usize,
    words: String,
}

/// Returns the headings that are not inside another element, such as a quotation.
fn headings(text: &str) -> Vec<Heading> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut open: Option<Heading> = None;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if let (Tag::Heading { level, .. }, 0) = (tag, depth) {
                    open = Some(Heading {
                        at: line_of(text, &range),
                        level: level as usize,
                        words: String::new(),
                    });
                }
                depth += 1;
            }
            Event::End(end) => {
                depth -= 1;
                if matches!(end, TagEnd::Heading(_)) {
                    found.extend(open.take());
                }
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut open {
                    heading.words.push_str(&words);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns where the line of a heading begins.
fn line_of(text: &str, range: &Range<usize>) -> usize {
    text[..range.start].rfind('\n').map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn issue(section: &str) -> Issue {
        let text = || "x".into();
        Issue {
            rule: "r".into(),
            section: section.into(),
            problem: text(),
            fix_instruction: text(),
            expected_effect: text(),
        }
    }

    fn changed_sections(before: &str, after: &str, asked: &[&str]) -> (Vec<String>, Vec<String>) {
        let issues: Vec<_> = asked.iter().map(|section| issue(section)).collect();
        let Changed { sections, unasked } = changed(before, after, &issues);
        (sections, unasked)
    }

    const BEFORE: &str = "Intro.\n\n# Bookings\n\nAll of it.\n\n## Rooms\n\nOld.\n\n### Errors\n\nNone.\n\n## Guests\n\n```\n# no heading\n```\n\n### Errors\n\n404\n";

    #[test]
    fn the_same_text_has_no_changes_whatever_its_blanks() {
        assert_eq!(changed(BEFORE, BEFORE, &[]), Changed::default());
        let spaced = BEFORE.replace("Old.\n", "Old.  \n\n\n").replace('\n', "\r\n");
        assert_eq!(changed(BEFORE, &spaced, &[]), Changed::default());
    }

    #[test]
    fn a_change_that_an_issue_names_is_asked_for_and_another_is_not() {
        let after = BEFORE.replace("Old.", "New.").replace("no heading", "still none");
        let (sections, unasked) = changed_sections(BEFORE, &after, &["## rooms"]);
        assert_eq!((sections, unasked), (vec!["Rooms".into(), "Guests".into()], vec!["Guests".into()]));
    }

    #[test]
    fn whoever_names_a_heading_names_what_stands_below_it_and_not_what_is_beside() {
        let after = BEFORE.replace("None.", "Some.").replace("404", "404, 409");
        assert_eq!(changed_sections(BEFORE, &after, &["Rooms"]).1, ["Errors"]);
        assert_eq!(changed_sections(BEFORE, &after, &["Rooms > Errors", "Guests / Errors"]).1, [""; 0]);
        assert_eq!(changed_sections(BEFORE, &after, &["Rooms > Errors"]).1.len(), 1);
        assert_eq!(changed_sections(BEFORE, &after, &["# Bookings"]).1, [""; 0]);
    }

    #[test]
    fn an_issue_about_the_whole_leaves_nothing_unasked() {
        let (sections, unasked) = changed_sections(BEFORE, "# Other\n\nAll new.\n", &["Rooms", " "]);
        assert_eq!((sections.len(), unasked.len()), (7, 0));
    }

    #[test]
    fn sections_that_came_and_went_are_changes() {
        let after = BEFORE.replace("## Guests", "## Limits\n\n100 an hour.\n\n## Guests");
        assert_eq!(changed_sections(BEFORE, &after, &[]).0, ["Limits"]);
        assert_eq!(changed_sections(BEFORE, &after, &["**Limits**"]).1, [""; 0]);
        assert_eq!(changed_sections(&after, BEFORE, &[]), (vec!["Limits".into()], vec!["Limits".into()]));
    }

    #[test]
    fn what_stands_before_the_first_heading_has_a_name_of_its_own() {
        let after = BEFORE.replace("Intro.", "Preface.");
        assert_eq!(changed_sections(BEFORE, &after, &["Rooms"]).1, [PREAMBLE]);
        assert_eq!(changed_sections(BEFORE, &after, &[PREAMBLE]).1, [""; 0]);
    }

    #[test]
    fn a_sign_in_code_a_quotation_or_front_matter_makes_no_section() {
        for text in
            ["```\n# a\n```\n", "    # a\n", "> # a\n", "- # a\n", "---\ntitle: a\n---\n\ntext\n", "#a\n"]
        {
            let titles: Vec<_> = split(text).into_iter().map(|section| section.title).collect();
            assert_eq!(titles, [PREAMBLE], "{text}");
        }
        let titles: Vec<_> = split("a `b` *c*\n===\n\n   ## d ##\n").into_iter().map(|s| s.title).collect();
        assert_eq!(titles, ["a b c", "d"]);
    }

    #[test]
    fn of_equal_headings_each_is_compared_with_its_own() {
        let before = "# A\n\n1\n\n# A\n\n2\n";
        assert_eq!(changed_sections(before, "# A\n\n1\n\n# A\n\n3\n", &[]).0, ["A"]);
        assert_eq!(changed_sections(before, "# A\n\n1\n", &[]).0, ["A"]);
    }

    #[test]
    fn lines_are_counted_as_often_as_they_stand_there() {
        let counted = |before: &str, after: &str| {
            let Lines { added, removed } = lines_changed(before, after);
            (added, removed)
        };
        assert_eq!(counted("a\nb\n", "b\na\n"), (0, 0));
        assert_eq!(counted("a\nb\n", "a\nc\nc\n"), (2, 1));
        assert_eq!(counted("a\na\n", "a"), (0, 1));
        assert_eq!(counted("", ""), (0, 0));
    }

    proptest! {
        #[test]
        fn every_change_of_words_is_a_change_of_a_section(
            before in prop::collection::vec("(# a|## b|## b|### c|x|y|```|> # q)", 0..12),
            after in prop::collection::vec("(# a|## b|## b|### c|x|y|```|> # q)", 0..12),
        ) {
            let (before, after) = (before.join("\n\n"), after.join("\n\n"));
            let Changed { sections, unasked } = changed(&before, &after, &[]);
            prop_assert_eq!(&sections, &unasked);
            let Lines { added, removed } = lines_changed(&before, &after);
            prop_assert!(added + removed == 0 || !sections.is_empty());
            prop_assert_eq!(changed(&before, &after, &[issue("")]).unasked, Vec::<String>::new());
        }

        #[test]
        fn any_text_is_split_without_losing_a_word(text in any::<String>()) {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let all: Vec<_> = split(&text).into_iter().map(|section| section.text).collect();
            prop_assert_eq!(words(&all.join("\n")), words(&text));
        }
    }
}
