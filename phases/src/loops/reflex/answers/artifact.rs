//! The answer to PRODUCE and REFINE: the artifact itself, as raw Markdown.

use crate::base::answer::{OffSchema, says_something};

// It must fit into the pages of the next phases. Some agents take a million characters.
const LONGEST: usize = 1 << 19;

/// Reads an artifact: trims it, ends it with one line feed, and removes a fence around the whole answer.
pub fn artifact(text: &str) -> Result<String, OffSchema> {
    let text = trimmed(text);
    let text = unwrapped(text).map_or(text, trimmed);
    let what = || "the artifact".into();
    if !says_something(text) {
        return Err(OffSchema::Empty { what: what() });
    }
    if text.chars().count() > LONGEST {
        return Err(OffSchema::Lengthy { what: what(), most: LONGEST });
    }
    Ok(format!("{text}\n"))
}

/// Removes blank lines around the text. The first line keeps its indentation, which may be code.
fn trimmed(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}').trim_end();
    let begin = text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
    &text[text[..begin].rfind('\n').map_or(0, |end| end + 1)..]
}

/// Returns the content of a Markdown fence that begins and ends the text.
///
/// Such a fence may contain others. If those are unbalanced, the first line does not belong to the last one, and
/// nothing is removed.
fn unwrapped(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    let (inner, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
    let fence = Fence::of(first).filter(|fence| matches!(fence.info, "markdown" | "md"))?;
    (Fence::of(last)?.closes(&fence) && is_even(inner)).then_some(inner)
}

/// Whether every open fence is closed.
fn is_even(text: &str) -> bool {
    let mut open: Option<Fence<'_>> = None;
    for fence in text.lines().filter_map(Fence::of) {
        open = match open {
            None => Some(fence),
            Some(outer) if fence.closes(&outer) => None,
            outer => outer,
        };
    }
    open.is_none()
}

/// A line that opens or closes a block of code.
struct Fence<'a> {
    mark: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let marks = line.trim_start_matches(' ');
        let mark = marks.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = marks.trim_start_matches(mark);
        let length = marks.len() - info.len();
        let is_fence = length >= 3 && line.len() - marks.len() <= 3 && !(mark == '`' && info.contains('`'));
        is_fence.then(|| Self { mark, length, info: info.trim() })
    }

    fn closes(&self, outer: &Self) -> bool {
        self.info.is_empty() && self.mark == outer.mark && self.length >= outer.length
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> String {
        artifact(text).unwrap()
    }

    #[test]
    fn an_artifact_is_trimmed_and_ends_with_one_line_feed() {
        assert_eq!(read("\u{feff}\n\n# T\n\ntext  \n\n\n"), "# T\n\ntext\n");
        assert_eq!(read("\n    code\n"), "    code\n");
    }

    #[test]
    fn a_markdown_fence_around_the_whole_answer_is_taken_off() {
        assert_eq!(read("```markdown\n# T\n```"), "# T\n");
        assert_eq!(read("\n~~~md\n\n# T\n~~~~  \n"), "# T\n");
        assert_eq!(read("````markdown\n# T\n```sh\nls\n```\n````"), "# T\n```sh\nls\n```\n");
        assert_eq!(read("```markdown\r\n# T\r\n```"), "# T\n");
    }

    #[test]
    fn blocks_of_code_within_the_fence_stay() {
        let inner = "# T\n```sh\nls\n```\n```\nplain\n```\nend\n";
        assert_eq!(read(&format!("```markdown\n{inner}```")), inner);
    }

    #[test]
    fn a_fence_around_a_part_stays() {
        for text in [
            "```markdown\n# A\n```\nor\n```markdown\n# B\n```\n",
            "Here it is:\n```markdown\n# T\n```\n",
            "```markdown\n# T\n```\nDone.\n",
            "```sh\nls\n```\n",
            "```\nls\n```\n",
            "```markdown\n# T\n~~~\n",
            "````markdown\n# T\n```\n",
        ] {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn an_answer_that_says_nothing_or_never_ends_is_refused() {
        for text in ["", " \n", "---", "```markdown\n```", "```markdown\n\n```"] {
            assert_eq!(artifact(text).unwrap_err().to_string(), "the artifact says nothing", "{text:?}");
        }
        assert!(artifact(&"ä".repeat(LONGEST)).is_ok());
        let refused = artifact(&"ä".repeat(LONGEST + 1)).unwrap_err();
        assert_eq!(refused.to_string(), "the artifact is longer than 524288 characters");
    }

    proptest! {
        #[test]
        fn what_was_read_once_is_read_as_it_is(lines in prop::collection::vec("(```|~~~~|```md|# a| b|)", 0..8)) {
            let text = lines.join("\n");
            if let Ok(once) = artifact(&text) {
                // A fence within a fence belongs to the artifact.
                if Fence::of(once.lines().next().unwrap()).is_none() {
                    prop_assert_eq!(artifact(&once), Ok(once.clone()));
                }
            }
        }
    }
}
