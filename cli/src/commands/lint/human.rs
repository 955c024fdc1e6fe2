//! Formats diagnostics as text: grouped by skill, each rule explained once.

use std::collections::HashSet;

use skilltune_phases::skills::lint::{BUDGET, Diagnostic, Fix, Rule, Severity};

use crate::commands::lint::report::{Linted, Report, Shelf};
use crate::terminal::style::Style;
use crate::text::figures::{count, grouped};
use crate::text::plain;
use crate::text::width::{shortened, wrapped};

pub fn text(report: &Report, width: usize, style: Style) -> String {
    let mut output = ReportText { report, lines: Vec::new(), width, style, explained: HashSet::new() };
    let has_lines = |skill: &&Linted| !skill.diagnostics.is_empty() || !skill.done.is_empty();
    for skill in report.skills.iter().filter(has_lines) {
        output.skill(skill);
    }
    for shelf in report.shelves.iter().filter(|shelf| shelf.is_named || shelf.diagnostic.is_some()) {
        output.shelf(shelf);
    }
    output.lines.extend(wrapped(&summary(report), width, "  "));
    output.lines.join("\n")
}

/// Returns one line with the numbers of problems and fixes.
pub fn summary(report: &Report) -> String {
    let skills = report.skills.iter().filter(|skill| skill.is_skill).count();
    let counts = Severity::ALL.map(|severity| (report.count(severity), severity.as_str()));
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts.map(|(number, word)| count(number, word)).collect();
    let found = match counts.as_slice() {
        [] if skills == 0 => "nothing checked".to_owned(),
        [] => "no problems found".to_owned(),
        counts => counts.join(", "),
    };
    let done: usize = report.skills.iter().flat_map(|skill| &skill.done).map(|repair| repair.count).sum();
    // Without it, a fix that found nothing to do would look like a check.
    let is_said = done > 0 || (report.is_fixed && skills > 0 && !counts.is_empty());
    let fixed = if is_said { format!("; {} fixed", count(done, "problem")) } else { String::new() };
    let fixable = report.fixable();
    let safe = if fixable == 0 { String::new() } else { format!("; {fixable} fixable with --fix") };
    let open = report.suggestions();
    let asked = if open == 0 { String::new() } else { format!("; {open} fixable with --fix=all") };
    format!("{}: {found}{fixed}{safe}{asked}", count(skills, "skill"))
}

struct ReportText<'r> {
    report: &'r Report,
    lines: Vec<String>,
    width: usize,
    style: Style,
    explained: HashSet<Rule>,
}

impl ReportText<'_> {
    fn skill(&mut self, skill: &Linted) {
        self.headline(&skill.shown);
        for repair in &skill.done {
            let places = count(repair.count, "place");
            let line = format!("fixed {}: {}, {places}", plain::one_line(&repair.path), repair.rule);
            self.hanging("  ", &line, Style::green);
        }
        for diagnostic in &skill.diagnostics {
            self.diagnostic(diagnostic, skill.fix(diagnostic));
        }
        self.lines.push(String::new());
    }

    fn shelf(&mut self, held: &Shelf) {
        self.headline(&held.shown);
        let (skills, characters) =
            (count(held.listing.skills, "skill"), grouped(held.listing.characters as u64));
        let line = format!(
            "descriptions of {skills}: {characters} of the {} characters that an agent reads at start",
            grouped(BUDGET as u64)
        );
        self.hanging("  ", &line, |_, line| line.to_owned());
        if let Some(diagnostic) = &held.diagnostic {
            self.diagnostic(&Diagnostic { path: "listing".to_owned(), ..diagnostic.clone() }, Fix::ByHand);
        }
        self.lines.push(String::new());
    }

    fn headline(&mut self, shown: &str) {
        let shown = shortened(&plain::one_line(shown), self.width);
        self.lines.push(self.style.bold(&shown));
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, fix: Fix) {
        let Diagnostic { path, line, rule, message } = diagnostic;
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = format!("{}{line}:", plain::one_line(path));
        let severity = rule.severity();
        let said = format!("{place} {severity} {rule}: {}{}", plain::one_line(message), self.label(fix));
        // Only the severity is coloured; it follows the place in the first line.
        self.hanging("  ", &said, |style, text| {
            let word = severity.as_str();
            text.strip_prefix(&format!("{place} {word}"))
                .map_or_else(|| text.to_owned(), |rest| format!("{place} {}{rest}", painted(style, severity)))
        });
        if self.explained.insert(*rule) {
            self.hanging("      ", &format!("{} {}", rule.why(), rule.how()), Style::dim);
        }
    }

    fn label(&self, fix: Fix) -> &'static str {
        match fix {
            Fix::Safe if !self.report.is_fixed => " [--fix]",
            Fix::Suggested => " [suggestion]",
            Fix::Safe | Fix::ByHand => "",
        }
    }

    /// Writes a paragraph with a hanging indent.
    fn hanging(&mut self, indent: &str, text: &str, paint: impl Fn(Style, &str) -> String) {
        let room = self.width.saturating_sub(indent.len()).max(1);
        let below = if indent.len() < 4 { "    " } else { "" };
        for line in wrapped(text, room, below) {
            self.lines.push(format!("{indent}{}", paint(self.style, &line)));
        }
    }
}

fn painted(style: Style, severity: Severity) -> String {
    match severity {
        Severity::Error => style.red(severity.as_str()),
        Severity::Warning => style.yellow(severity.as_str()),
        Severity::Note => style.cyan(severity.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use skilltune_phases::skills::lint::{Listing, Offer, Repair};

    use super::*;
    use crate::text::width::columns;

    fn report() -> Report {
        let diagnostic = |path: &str, line, rule, message: &str| Diagnostic {
            path: path.to_owned(),
            line,
            rule,
            message: message.to_owned(),
        };
        let diagnostics = vec![
            diagnostic("SKILL.md", Some(2), Rule::NameFolder, "the name is \"a\", the folder's is \"b\""),
            diagnostic(
                "references/a\x1b[2J-very-long-name-of-a-file-indeed.md",
                None,
                Rule::FileOrphan,
                "no text\nnames it",
            ),
        ];
        let done = vec![Repair { rule: Rule::TrailingBlanks, path: "SKILL.md".to_owned(), count: 3 }];
        let offers = vec![Offer {
            rule: Rule::NameFolder,
            path: "SKILL.md".to_owned(),
            lines: Vec::new(),
            messages: Vec::new(),
            is_safe: false,
        }];
        let (name, shown) = ("b".to_owned(), "skills/b".to_owned());
        let skill = Linted { name, shown, is_skill: true, diagnostics, done, offers };
        let listing = Listing { skills: 90, characters: 9000 };
        Report {
            is_fixed: false,
            skills: vec![skill],
            shelves: vec![
                Shelf::new("skills".to_owned(), listing),
                Shelf::new("plugins/a/skills".to_owned(), Listing { skills: 1, characters: 9 }),
            ],
        }
    }

    #[test]
    fn a_narrow_terminal_is_not_overrun() {
        insta::assert_snapshot!(text(&report(), 60, Style::PLAIN), @r#"
        skills/b
          fixed SKILL.md: trailing-blanks, 3 places
          SKILL.md:2: error name-folder: the name is "a", the
              folder's is "b" [suggestion]
              Agents call a skill by its folder's name, and
              validators reject a different name in the front
              matter. Set `name:` to the folder's name, or rename
              the folder.
          references/a␛[2J-very-long-name-of-a-file-indeed.md:
              warning file-orphan: no text names it
              Agents do not open files that the skill never
              mentions. Mention it in `SKILL.md`, or delete it.

        skills
          descriptions of 90 skills: 9,000 of the 8,000 characters
              that an agent reads at start
          listing: warning listing-budget: the descriptions of 90
              skills have 9000 characters; agents list about 8000
              All skills together get about 8,000 characters in the
              agent's list; beyond that it shows only names. Shorten
              the longest descriptions, or remove skills from this
              folder.

        1 skill: 1 error, 2 warnings; 3 problems fixed; 1 fixable
          with --fix=all
        "#);
        for width in [100, 80, 60, 40, 20] {
            for line in text(&report(), width, Style::PLAIN).lines() {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn only_the_level_and_the_headline_are_painted() {
        let vivid = text(&report(), 200, Style::VIVID);
        assert!(vivid.contains("  SKILL.md:2: \x1b[1;31merror\x1b[0m name-folder: the name"), "{vivid}");
        assert!(vivid.starts_with("\x1b[1mskills/b\x1b[0m\n"), "{vivid}");
        assert!(!vivid.contains("\x1b[2J"), "names of files do not drive the terminal");
    }

    #[test]
    fn a_clean_report_says_so() {
        let report = Report {
            skills: vec![Linted { diagnostics: Vec::new(), done: Vec::new(), ..report().skills.remove(0) }],
            ..Report::default()
        };
        assert_eq!(text(&report, 80, Style::PLAIN), "1 skill: no problems found");
    }
}
