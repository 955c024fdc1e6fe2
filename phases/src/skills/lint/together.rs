//! Joins the diagnostics of a rule that most files of a skill break at once into one.

use super::contents::LONG;
use super::{Diagnostic, Rule};

/// The most files that are named; more are only counted.
const MOST: usize = 5;

/// Joins the diagnostics of each such rule. A checkout with CRLF says the same about every file.
pub fn together(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    join(&mut diagnostics, Rule::LineEndings, "end lines with CR or CRLF");
    let no_contents = format!("have more than {LONG} lines and no table of contents");
    join(&mut diagnostics, Rule::ContentsMissing, &no_contents);
    diagnostics
}

/// Keeps the first diagnostic of a rule, with what its files have in common.
fn join(diagnostics: &mut Vec<Diagnostic>, rule: Rule, common: &str) {
    let is_one = |diagnostic: &Diagnostic| diagnostic.rule == rule;
    let paths: Vec<String> =
        diagnostics.iter().filter(|one| is_one(one)).map(|one| one.path.clone()).collect();
    let [_, others @ ..] = paths.as_slice() else { return };
    if others.is_empty() {
        return;
    }
    let named = others[..others.len().min(MOST)].join(", ");
    let more = others.len().saturating_sub(MOST);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let mut is_first = true;
    diagnostics.retain(|diagnostic| !is_one(diagnostic) || std::mem::take(&mut is_first));
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| is_one(diagnostic)) {
        diagnostic.message = format!("{} files {common}; also {named}{more}", paths.len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Made, skill};
    use super::*;

    fn messages(files: &Made) -> Vec<String> {
        let joined = together(super::super::lint(files)).into_iter();
        joined.map(|one| format!("{}: {}", one.path, one.message)).collect()
    }

    #[test]
    fn all_long_files_of_a_skill_are_one_diagnostic() {
        let long = "A line.\n".repeat(LONG + 1);
        let files = skill("a.md, b.md and gone/\n").with("a.md", &long).with("b.md", &long);
        assert_eq!(
            messages(&files),
            ["a.md: 2 files have more than 100 lines and no table of contents; also b.md"]
        );
    }

    #[test]
    fn carriage_returns_of_all_files_are_one_diagnostic() {
        let names = ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md", "g.md"];
        let files = names.iter().fold(skill(&names.join(" ")), |files, name| files.with(name, "Text.\r\n"));
        let all = ["a.md: 7 files end lines with CR or CRLF; also b.md, c.md, d.md, e.md, f.md and 1 more"];
        assert_eq!(messages(&files), all);
        let one = skill("Read a.md.\n").with("a.md", "Text.\r\n");
        assert_eq!(messages(&one), ["a.md: lines end with CR or CRLF"]);
    }
}
