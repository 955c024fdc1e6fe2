//! Formats diagnostics as JSON: one object, described in `docs/lint.md`.

use serde_json::{Value, json};
use skilltune_phases::skills::lint::{BUDGET, Diagnostic, Fix, Repair, Severity};

use crate::commands::lint::report::{Linted, Report, Shelf};

/// Raised by incompatible changes.
const FORMAT: u32 = 1;

pub fn object(report: &Report) -> Value {
    let counts = json!({
        "errors": report.count(Severity::Error),
        "warnings": report.count(Severity::Warning),
        "notes": report.count(Severity::Note),
    });
    json!({
        "format": FORMAT,
        "ok": report.is_clean(),
        "counts": counts,
        "skills": report.skills.iter().map(skill).collect::<Vec<_>>(),
        "listings": report.shelves.iter().map(listing).collect::<Vec<_>>(),
    })
}

fn skill(skill: &Linted) -> Value {
    json!({
        "name": skill.name,
        "path": skill.shown,
        "findings": skill.diagnostics.iter().map(|one| diagnostic(one, skill.fix(one))).collect::<Vec<_>>(),
        "fixed": skill.done.iter().map(repair).collect::<Vec<_>>(),
    })
}

fn diagnostic(diagnostic: &Diagnostic, fix: Fix) -> Value {
    let Diagnostic { path, line, rule, message } = diagnostic;
    json!({
        "rule": rule.id(),
        "severity": rule.severity().as_str(),
        "path": path,
        "line": line,
        "message": message,
        "why": rule.why(),
        "how": rule.how(),
        "fix": fix.as_str(),
    })
}

fn repair(repair: &Repair) -> Value {
    json!({ "rule": repair.rule.id(), "path": repair.path, "count": repair.count })
}

fn listing(shelf: &Shelf) -> Value {
    json!({
        "path": shelf.shown,
        "skills": shelf.listing.skills,
        "characters": shelf.listing.characters,
        "budget": BUDGET,
        "finding": shelf.diagnostic.as_ref().map(|one| diagnostic(one, Fix::ByHand)),
    })
}
