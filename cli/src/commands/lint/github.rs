//! Formats findings as GitHub Actions annotations.

use skilltune_phases::skills::lint::{Finding, Severity};

use crate::commands::lint::report::Report;

pub fn text(report: &Report) -> String {
    let own = report
        .skills
        .iter()
        .flat_map(|skill| skill.findings.iter().map(|finding| command(&skill.path(&finding.path), finding)));
    let shelves = report.shelves.iter().filter_map(|shelf| shelf.finding.as_ref());
    own.chain(shelves.map(|finding| command(&finding.path, finding))).collect::<Vec<_>>().join("\n")
}

fn command(path: &str, finding: &Finding) -> String {
    let Finding { line, rule, message, .. } = finding;
    let word = match rule.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let line = line.map(|line| format!(",line={line}")).unwrap_or_default();
    let said = data(&format!("{message}: {}", rule.how()));
    format!("::{word} file={}{line},title={}::{said}", property(path), property(rule.id()))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
