//! The bytes of files: line endings, trailing spaces, byte order marks, file modes.

use std::ops::Range;

use super::edit::Edit;
use super::page::Page;
use super::path::{folder_of, resolved, words};
use super::reading::{BOM, Reading, diagnostic, extension, is_markdown, is_script, name};
use super::{Diagnostic, File, Rule};
use crate::base::material::Body;

pub(super) fn check(reading: &Reading, out: &mut Vec<Diagnostic>) {
    for (_, file, text) in reading.texts() {
        if has_mark(file, text) {
            out.push(diagnostic(Rule::ByteOrderMark, file, 1, "the file starts with a byte order mark"));
        }
        if has_returns(file, text) {
            let message = "lines end with CR or CRLF";
            out.push(diagnostic(Rule::LineEndings, file, 1, message));
        }
    }
    for file in unexecutable(reading) {
        out.push(diagnostic(Rule::ScriptMode, file, 1, "the script is not executable"));
    }
    for (_, file, page) in reading.pages() {
        let blanks = blanks(page);
        if let Some(first) = blanks.first() {
            let count = blanks.len();
            let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
            let message = format!("trailing spaces on {lines}");
            out.push(diagnostic(Rule::TrailingBlanks, file, page.line(first.start), message));
        }
    }
    for file in reading.files.files() {
        if let Body::Large { bytes } = file.body {
            let message = format!("the file is too large: {bytes} bytes");
            out.push(diagnostic(Rule::FileUnread, file, None, message));
        }
    }
}

fn has_mark(file: &File, text: &str) -> bool {
    text.starts_with(BOM) && (is_markdown(&file.path) || is_script(file, text))
}

/// Returns true if a file must not have carriage returns but does. Data may have them, and so may a script whose
/// interpreter line has none.
fn has_returns(file: &File, text: &str) -> bool {
    let first = || text.split('\n').next().unwrap_or_default();
    if is_markdown(&file.path) {
        text.contains('\r')
    } else {
        is_script(file, text) && first().ends_with('\r')
    }
}

/// Returns the white space at the ends of lines, except in code and except for hard line breaks.
fn blanks(page: &Page) -> Vec<Range<usize>> {
    let mut blanks = Vec::new();
    let mut start = page.body_at;
    for line in page.body().split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let words = content.trim_end_matches([' ', '\t']);
        let breaks = !words.is_empty() && content.ends_with("  ");
        let place = start + words.len()..start + content.len();
        let is_free = || !page.is_code(start) && !page.is_code(place.start) && !page.is_literal(place.start);
        if !place.is_empty() && !breaks && is_free() {
            blanks.push(place);
        }
        start += line.len();
    }
    blanks
}

pub(super) fn without_marks(reading: &Reading) -> Vec<Edit> {
    let marked = reading.texts().filter(|(_, file, text)| has_mark(file, text));
    marked.map(|(_, file, text)| Edit::of_text(file, text.trim_start_matches(BOM).to_owned(), 1)).collect()
}

pub(super) fn with_line_feeds(reading: &Reading) -> Vec<Edit> {
    let returned = reading.texts().filter(|(_, file, text)| has_returns(file, text));
    let edit = |(_, file, text): (usize, &File, &str)| {
        let count = text.matches('\r').count();
        let fed = text.replace("\r\n", "\n");
        // In Markdown a lone carriage return ends a line too.
        Edit::of_text(file, if is_markdown(&file.path) { fed.replace('\r', "\n") } else { fed }, count)
    };
    returned.map(edit).collect()
}

pub(super) fn without_blanks(reading: &Reading) -> Vec<Edit> {
    let edit = |(_, file, page): (usize, &File, &Page)| {
        let places = blanks(page).into_iter().map(|place| (place, String::new()));
        Edit::of_places(file, page.text, places.collect())
    };
    reading.pages().filter_map(edit).collect()
}

pub(super) fn executable(reading: &Reading) -> Vec<Edit> {
    unexecutable(reading).map(Edit::executable).collect()
}

/// Returns the scripts that start a command of the skill but are not executable.
fn unexecutable<'a>(reading: &Reading<'a>) -> impl Iterator<Item = &'a File> {
    let scripts = reading.texts().filter(|(_, file, text)| is_script(file, text) && !file.executable);
    scripts.map(|(_, file, _)| file).filter(|file| is_run_directly(reading, file))
}

/// Returns true if a page or a shell script of the skill has a command that begins with the script's path.
fn is_run_directly(reading: &Reading, script: &File) -> bool {
    // If another line shows how to run a script, an instruction to run it means that way.
    let is_told_how = std::cell::LazyCell::new(|| is_run_by_another(reading, script));
    reading.texts().any(|(at, file, text)| {
        let names = words(text).filter(|(_, word)| {
            word.ends_with(name(&script.path)) && means(word, folder_of(&file.path), &script.path)
        });
        { names }.any(|(word_at, word)| {
            let (before, after) = (&text[..word_at], &text[word_at + word.len()..]);
            // `scripts/count.py:12` is a line of the script.
            begins_command(before)
                && !after.starts_with(':')
                && match reading.page(at) {
                    Some(page) if page.is_code(word_at) => !is_listed(before, after),
                    // A path alone only names the script, unless the words before it say to run it.
                    Some(page) => {
                        page.is_literal(word_at)
                            && (!after.starts_with('`') || says_run(before) && !*is_told_how)
                    }
                    None => is_shell(file, text) && !is_listed(before, after),
                }
        })
    })
}

/// Programs that run the file that their argument names.
pub(super) const INTERPRETERS: [&str; 10] =
    ["python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "bun", "tsx"];

/// Returns true if some text runs a script with its interpreter, as in `python3 scripts/count.py`.
fn is_run_by_another(reading: &Reading, script: &File) -> bool {
    reading.texts().any(|(_, _, text)| {
        let mut before = "";
        words(text).any(|(_, word)| {
            let is_run = INTERPRETERS.contains(&before) && name(word) == name(&script.path);
            before = word;
            is_run
        })
    })
}

/// Returns true if a path is in quotes on its own line, as in a list of paths.
fn is_listed(before: &str, after: &str) -> bool {
    let next = after.trim_start_matches(['"', '\'', ',']);
    before.ends_with(['"', '\'']) && (next.is_empty() || next.starts_with('\n'))
}

fn says_run(before: &str) -> bool {
    let last = before.trim_end_matches(['`', '.', '/']).split_whitespace().next_back().unwrap_or_default();
    ["run", "execute", "runs", "running"].contains(&last.to_ascii_lowercase().as_str())
}

fn is_shell(file: &File, text: &str) -> bool {
    extension(&file.path) == Some("sh")
        || is_script(file, text) && text.lines().next().is_some_and(|first| first.ends_with("sh"))
}

/// Returns true if a word means this path, with any variable for the skill's folder before it.
fn means(word: &str, folder: &str, path: &str) -> bool {
    let below = word.strip_suffix(path).is_some_and(|above| above.is_empty() || above.ends_with('/'));
    below || resolved(folder, word).is_some_and(|word| word == path)
}

/// Returns true if the next word starts a command: at the start of a line or code span, or after `$`, `&&`, `;` or
/// similar.
pub(super) fn begins_command(before: &str) -> bool {
    let line = before.rsplit(['\n', '`']).next().unwrap_or_default();
    let word_at = line.rfind(char::is_whitespace).map_or(0, |blank| blank + 1);
    let words = line[..word_at].trim();
    words.is_empty() || words.ends_with(['$', '&', '|', ';', '('])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser};

    use super::super::fix_rule;
    use super::super::tests::{found, skill};
    use super::*;

    #[test]
    fn blanks_go_but_for_those_of_code_and_of_broken_lines() {
        let text = "one \ntwo  \nthree\t\n  \n```\ncode \n```\n\n    code \n\n<pre>\nx \n</pre>\n";
        let files = skill(text).with("a.txt", "x \n").with("b.md", "x \r\ny\r\n");
        let messages = found(&files, Rule::TrailingBlanks);
        assert_eq!(messages, ["SKILL.md:5: trailing spaces on 3 lines", "b.md:1: trailing spaces on 1 line"]);
        let fixed = fix_rule(&files, Rule::TrailingBlanks);
        assert!(
            fixed
                .text("SKILL.md")
                .ends_with("one\ntwo  \nthree\n\n```\ncode \n```\n\n    code \n\n<pre>\nx \n</pre>\n")
        );
        assert_eq!([fixed.text("a.txt"), fixed.text("b.md")], ["x \n", "x\r\ny\r\n"]);
    }

    #[test]
    fn markdown_and_scripts_that_name_their_interpreter_have_line_feeds() {
        let files = skill("a\n")
            .with("a.md", "a\r\nb\rc\n")
            .with("run.sh", "#!/bin/sh\r\necho\r\n")
            .with("data.csv", "a\r\nb\r\n")
            .with("x.bat", "echo\r\n");
        assert_eq!(
            found(&files, Rule::LineEndings),
            ["a.md:1: lines end with CR or CRLF", "run.sh:1: lines end with CR or CRLF"]
        );
        let fixed = fix_rule(&files, Rule::LineEndings);
        assert_eq!([fixed.text("a.md"), fixed.text("run.sh")], ["a\nb\nc\n", "#!/bin/sh\necho\n"]);
        assert_eq!([fixed.text("data.csv"), fixed.text("x.bat")], ["a\r\nb\r\n", "echo\r\n"]);
    }

    #[test]
    fn marks_go_and_scripts_become_executable() {
        let files = skill("Run `./run`, then `python tool.py`; `lib.py` helps.\n")
            .with("a.md", "\u{feff}a\n")
            .with("list.sh", "#!/bin/sh\nALL=(\n  \"tool.py\"\n)\n")
            .with("lib.py", "#!/usr/bin/env python3\n\"\"\"Used by\n`tool.py --x`\"\"\"\n")
            .with("tool.py", "#!/usr/bin/env python3\n")
            .with("run", "\u{feff}#!/bin/sh\n")
            .with("lib.rs", "#![allow(x)]\n")
            .with("data.txt", "\u{feff}x");
        let messages = [Rule::ByteOrderMark, Rule::ScriptMode].map(|rule| found(&files, rule).join(", "));
        assert_eq!(
            messages,
            [
                "a.md:1: the file starts with a byte order mark, run:1: the file starts with a byte order mark",
                "run:1: the script is not executable"
            ]
        );
        let fixed = fix_rule(&files, Rule::ByteOrderMark);
        assert_eq!([fixed.text("a.md"), fixed.text("run")], ["a\n", "#!/bin/sh\n"]);
        let fixed = fix_rule(&files, Rule::ScriptMode);
        assert!(fixed.files.get("run").unwrap().executable && !fixed.files.get("lib.rs").unwrap().executable);
    }

    #[test]
    fn a_script_that_is_told_to_be_run_by_its_program_needs_no_mode() {
        let script = "#!/usr/bin/env python3\n";
        let count = |body: &str| found(&skill(body).with("scripts/a.py", script), Rule::ScriptMode).len();
        assert_eq!(count("It is counted in `scripts/a.py:12-20`.\n"), 0);
        assert_eq!(count("Run `scripts/a.py` on the file.\n"), 1);
        assert_eq!(count("Run `scripts/a.py` on the file.\n\n```\npython3 scripts/a.py x\n```\n"), 0);
        assert_eq!(
            count("Run `scripts/a.py x`, or `python3 scripts/a.py`.\n"),
            1,
            "a command is meant as it stands"
        );
    }

    proptest! {
        #[test]
        fn a_page_without_blanks_reads_as_it_did(text in "([a#>*`<| \t\n-]|  \n|\n\n|```\n|    |<pre>\n|- ){0,40}") {
            let files = skill(&text);
            let fixed = fix_rule(&files, Rule::TrailingBlanks);
            let events = |text: &str| Parser::new_ext(text, Options::ENABLE_TABLES).map(Event::into_static).collect::<Vec<_>>();
            prop_assert_eq!(events(fixed.text("SKILL.md")), events(files.text("SKILL.md")));
        }
    }
}
