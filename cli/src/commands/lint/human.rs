//! Findings for people: grouped by skill, each rule explained where it is met first.

use std::collections::HashSet;

use skilltune_phases::lint::{BUDGET, Finding, Mend, Rule, Severity};

use super::report::{Linted, Report, Shelf};
use crate::progress::width::{shortened, wrapped};
use crate::report::figures::{count, grouped};
use crate::report::plain;
use crate::style::Style;

pub(super) fn text(report: &Report, width: usize, style: Style) -> String {
    let mut told = Told { report, lines: Vec::new(), width, style, explained: HashSet::new() };
    for skill in report.skills.iter().filter(|skill| !skill.findings.is_empty() || !skill.done.is_empty()) {
        told.skill(skill);
    }
    for shelf in &report.shelves {
        told.shelf(shelf);
    }
    told.lines.extend(wrapped(&summary(report), width, "  "));
    told.lines.join("\n")
}

/// All that was found and done, in one line.
pub(super) fn summary(report: &Report) -> String {
    let skills = count(report.skills.len(), "skill");
    let counts = Severity::ALL.map(|severity| (report.count(severity), severity.as_str()));
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts.map(|(number, word)| count(number, word)).collect();
    let found = if counts.is_empty() { "nothing wrong".to_owned() } else { counts.join(", ") };
    let done: usize = report.skills.iter().flat_map(|skill| &skill.done).map(|repair| repair.count).sum();
    let mended = if done == 0 { String::new() } else { format!("; mended {}", count(done, "place")) };
    let mendable = |mend: Mend| report.findings().filter(|finding| report.mend(finding.rule) == mend).count();
    let hint = match (mendable(Mend::Keeps), mendable(Mend::Moves)) {
        (0, 0) => String::new(),
        (keeps, 0) => format!("; --fix may mend {keeps}"),
        (0, moves) => format!("; --fix=all may mend {moves}"),
        (keeps, moves) => format!("; --fix may mend {keeps}, --fix=all {} in all", keeps + moves),
    };
    format!("{skills}: {found}{mended}{hint}")
}

struct Told<'r> {
    report: &'r Report,
    lines: Vec<String>,
    width: usize,
    style: Style,
    explained: HashSet<Rule>,
}

impl Told<'_> {
    fn skill(&mut self, skill: &Linted) {
        self.headline(&skill.shown);
        for repair in &skill.done {
            let places = count(repair.count, "place");
            let line = format!("mended {}: {}, {places}", plain::one_line(&repair.path), repair.rule);
            self.hanging("  ", &line, Style::green);
        }
        for finding in &skill.findings {
            self.finding(finding);
        }
        self.lines.push(String::new());
    }

    fn shelf(&mut self, held: &Shelf) {
        self.headline(&held.shown);
        let (skills, characters) =
            (count(held.listing.skills, "skill"), grouped(held.listing.characters as u64));
        let line = format!(
            "{skills} in the listing with {characters} of about {} characters",
            grouped(BUDGET as u64)
        );
        self.hanging("  ", &line, |_, line| line.to_owned());
        if let Some(finding) = &held.finding {
            self.finding(&Finding { path: "listing".to_owned(), ..finding.clone() });
        }
        self.lines.push(String::new());
    }

    fn headline(&mut self, shown: &str) {
        let shown = shortened(&plain::one_line(shown), self.width);
        self.lines.push(self.style.bold(&shown));
    }

    fn finding(&mut self, finding: &Finding) {
        let Finding { path, line, rule, message } = finding;
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = format!("{}{line}:", plain::one_line(path));
        let severity = rule.severity();
        let said = format!("{place} {severity} {rule}: {}", plain::one_line(message));
        // The word is painted where it stands: in the first line, behind the place.
        self.hanging("  ", &said, |style, text| {
            let word = severity.as_str();
            text.strip_prefix(&format!("{place} {word}"))
                .map_or_else(|| text.to_owned(), |rest| format!("{place} {}{rest}", painted(style, severity)))
        });
        if self.explained.insert(*rule) {
            let mend = match self.report.mend(*rule) {
                Mend::Keeps => " [--fix]",
                Mend::Moves => " [--fix=all]",
                Mend::ByHand => "",
            };
            self.hanging("      ", &format!("{} {}{mend}", rule.why(), rule.how()), |style, text| {
                style.dim(text)
            });
        }
    }

    /// A paragraph whose lines all stand to the right of its beginning.
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
