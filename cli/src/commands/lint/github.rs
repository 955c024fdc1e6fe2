//! Formats diagnostics as GitHub Actions annotations.

use skilltune_phases::skills::lint::{Diagnostic, Severity};

use crate::commands::lint::report::Report;

pub fn text(report: &Report) -> String {
    let own = report.skills.iter().flat_map(|skill| {
        skill.diagnostics.iter().map(|diagnostic| command(&skill.path(&diagnostic.path), diagnostic))
    });
    let shelves = report.shelves.iter().filter_map(|shelf| shelf.diagnostic.as_ref());
    own.chain(shelves.map(|diagnostic| command(&diagnostic.path, diagnostic))).collect::<Vec<_>>().join("\n")
}

fn command(path: &str, diagnostic: &Diagnostic) -> String {
    let Diagnostic { line, rule, message, .. } = diagnostic;
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
