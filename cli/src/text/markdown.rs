//! A Markdown page, and the ways to insert foreign text: as words, as code, in a fence.

use crate::text::plain;

/// A sequence of blocks.
#[derive(Debug)]
pub struct MarkdownPage {
    blocks: Vec<String>,
}

impl MarkdownPage {
    pub fn titled(title: &str) -> Self {
        Self { blocks: vec![format!("# {title}")] }
    }

    pub fn section(&mut self, title: &str) {
        self.blocks.push(format!("## {title}"));
    }

    pub fn subsection(&mut self, title: &str) {
        self.blocks.push(format!("### {title}"));
    }

    pub fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(text.into());
    }

    /// Adds a list with one line per item; further lines of an item are indented.
    pub fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let items: Vec<_> = items.into_iter().map(|item| format!("- {}", indented(&item))).collect();
        self.blocks.push(if items.is_empty() { "None.".to_owned() } else { items.join("\n") });
    }

    pub fn table(&mut self, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
        let mut lines = vec![row(&head), row(&vec!["---".to_owned(); head.len()])];
        lines.extend(rows.into_iter().map(|cells| row(&cells)));
        self.blocks.push(lines.join("\n"));
    }

    pub fn fenced(&mut self, language: &str, text: &str) {
        self.blocks.push(fence(language, text));
    }

    pub fn finish(self) -> String {
        let mut text = self.blocks.join("\n\n");
        text.push('\n');
        text
    }
}

fn indented(item: &str) -> String {
    let mut lines = item.lines();
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        text.push('\n');
        if !line.is_empty() {
            text.push_str("  ");
            text.push_str(line);
        }
    }
    text
}

/// Returns words on one line without active markup, safe in a list and in a table cell.
pub fn words(text: &str) -> String {
    escaped(&plain::one_line(text), true)
}

/// Returns one of our sentences on one line: commands between backticks stay code, and the rest has no active markup. A
/// backtick without another one is a character.
pub fn marked(text: &str) -> String {
    let line = plain::one_line(text);
    let (mut safe, mut rest) = (String::with_capacity(line.len()), line.as_str());
    while let Some((before, after)) = rest.split_once('`')
        && let Some((command, after)) = after.split_once('`')
    {
        let before = escaped(before, safe.is_empty());
        safe.push_str(&before);
        if !command.trim().is_empty() {
            safe.push_str(&code(command));
        }
        rest = after;
    }
    let rest = escaped(rest, safe.is_empty());
    safe + &rest
}

/// Escapes what would be markup. A part of a line opens a block only at the start of the line.
fn escaped(part: &str, is_start: bool) -> String {
    let mut safe = String::with_capacity(part.len());
    let opens_block = part.starts_with(['#', '>', '-', '+', '=', ':']) || starts_numbered(part);
    let number = part.chars().take_while(char::is_ascii_digit).count();
    for (at, c) in part.chars().enumerate() {
        let special = matches!(c, '\\' | '`' | '*' | '<' | '[' | ']' | '|' | '~');
        if special || (is_start && opens_block && at == number) {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

/// Returns true if a line would be read as an item of a numbered list.
fn starts_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(['.', ')'])
}

/// Formats a name or a path as code.
pub fn code(text: &str) -> String {
    let line = plain::one_line(text);
    let ticks = "`".repeat(longest_run(&line) + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{line}{pad}{ticks}")
}

/// Formats code in a table cell, where a bar ends the cell even within code.
pub fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Formats a block that its text cannot end: its fence is longer than any run of backticks within.
pub fn fence(language: &str, text: &str) -> String {
    let text = plain::pictured(text);
    let ticks = "`".repeat(3.max(longest_run(&text) + 1));
    format!("{ticks}{language}\n{}\n{ticks}", text.trim_end_matches('\n'))
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_do_no_markup() {
        assert_eq!(words("a | b\n<img src=x> [l](u) `c` *d*"), r"a \| b \<img src=x> \[l\](u) \`c\` \*d\*");
        assert_eq!(words("# big"), r"\# big");
        assert_eq!(words("12. one"), r"12\. one");
        assert_eq!(words("3 files"), "3 files");
        assert_eq!(words("- x-y"), r"\- x-y");
    }

    #[test]
    fn a_sentence_keeps_its_commands_and_the_spaces_around_them() {
        let text = "no skill (run `a b`, or `c`): see `d`\n";
        assert_eq!(marked(text), "no skill (run `a b`, or `c`): see `d`");
        assert_eq!(marked("`git am`: it is *new* - `x`- y"), r"`git am`: it is \*new\* - `x`- y");
        assert_eq!(marked("- `a`"), r"\- `a`");
        assert_eq!(marked("run `a`, then `b"), r"run `a`, then \`b");
        assert_eq!(marked("an empty `` one"), "an empty  one");
    }

    #[test]
    fn code_holds_backticks_and_cells_hold_bars() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code_cell("a|b"), r"`a\|b`");
    }

    #[test]
    fn a_fence_cannot_be_closed_from_within() {
        assert_eq!(fence("text", "a\n````\nb\n"), "`````text\na\n````\nb\n`````");
    }

    #[test]
    fn further_lines_of_an_item_stand_below_it() {
        let mut page = MarkdownPage::titled("T");
        page.list(["a\nb\n\nc".to_owned()]);
        page.list([]);
        assert_eq!(page.finish(), "# T\n\n- a\n  b\n\n  c\n\nNone.\n");
    }
}
