//! `review.sarif`: the certain findings in SARIF 2.1.0, the form in which code scanning reads them.
//!
//! Each reviewer has a category of its own, and all machines share one: an upload replaces only its own category.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::finding::{Finding, Place, Severity, Side};
use super::view::{Entry, Grade};
use super::{Run, words};
use crate::base::json;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The category of all machines.
const MACHINES: &str = "machines";

pub fn sarif(run: &Run) -> String {
    let certain: Vec<Entry<'_>> =
        run.entries().into_iter().filter(|entry| entry.grade.is_certain()).collect();
    let mut names: Vec<&str> = Vec::new();
    for reviewer in &run.plan.task.reviewers {
        if !names.contains(&&*reviewer.short) {
            names.push(&reviewer.short);
        }
    }
    let of_reviewer = |name: &&str| {
        let is_own = |entry: &&Entry<'_>| entry.grade != Grade::Machine && rule(entry) == *name;
        let is_whole = run.failed_reviews().iter().all(|(short, _, _)| short != name);
        category(run, name, is_whole, &certain.iter().filter(is_own).collect::<Vec<_>>())
    };
    let found: Vec<&Entry<'_>> = certain.iter().filter(|entry| entry.grade == Grade::Machine).collect();
    let runs = names.iter().map(of_reviewer).chain([category(run, MACHINES, true, &found)]);
    json::page(&json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": runs.collect::<Vec<_>>() }))
}

/// Returns the reviewer that reported a finding first, or the machine.
fn rule<'a>(entry: &'a Entry<'_>) -> &'a str {
    entry.by.first().map_or("", |by| &**by)
}

fn category(run: &Run, name: &str, is_whole: bool, entries: &[&Entry<'_>]) -> Value {
    let mut rules: Vec<(&str, &str)> = Vec::new();
    if name != MACHINES {
        rules.push((name, level(Severity::Medium)));
    }
    for entry in entries {
        if rules.iter().all(|(id, _)| *id != rule(entry)) {
            rules.push((rule(entry), level(entry.severity())));
        }
    }
    let rules = rules.iter().map(|(id, level)| {
        json!({
            "id": id,
            "shortDescription": { "text": format!("Found by {id}") },
            "defaultConfiguration": { "level": level },
        })
    });
    let mut times: HashMap<&str, u32> = HashMap::new();
    let mut results = Vec::new();
    for entry in entries {
        let nth = times.entry(&entry.fingerprint).or_default();
        *nth += 1;
        // Code scanning takes two results with the same fingerprint for one.
        let again = if *nth > 1 { format!(":{nth}") } else { String::new() };
        results.push(result(run, entry, &format!("{}{again}", entry.fingerprint)));
    }
    let driver = json!({
        "name": "skilltune", "version": run.plan.program, "rules": rules.collect::<Vec<_>>(),
    });
    json!({
        "tool": { "driver": driver },
        "automationDetails": { "id": format!("skilltune/{}/", uri(name)) },
        "invocations": [{ "executionSuccessful": is_whole && run.closed_at.is_some() }],
        "results": results,
    })
}

fn result(run: &Run, entry: &Entry<'_>, fingerprint: &str) -> Value {
    let mut result = json!({
        "ruleId": rule(entry),
        "level": level(entry.severity()),
        "rank": rank(entry.grade),
        "message": { "text": message(&entry.finding) },
        "locations": locations(run, entry),
        "partialFingerprints": { "skilltune/v1": fingerprint },
        "baselineState": if entry.is_older { "unchanged" } else { "new" },
        "properties": {
            "grade": entry.grade,
            "severity": entry.severity(),
            "by": entry.by,
            "verdict": entry.verification.map(|answer| answer.verdict),
            "why": entry.verification.map(|answer| words::plain(&answer.why)),
            "proof": entry.proof.map(|proof| &proof.proposal.argv),
        },
    });
    if let Some(reason) = entry.suppressed {
        let reason = words::plain(reason);
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
    }
    result
}

/// Returns the text of a result. Readers of SARIF would take `[text](address)` for a link.
fn message(Finding { title, what, suggestion, .. }: &Finding) -> String {
    let mut text = format!("{title}\n\n{what}");
    if !suggestion.is_empty() {
        text = format!("{text}\n\nSuggestion: {suggestion}");
    }
    words::plain(&text).replace("](", "] (")
}

/// Returns the place of a finding. Code scanning refuses a result without one: a command that fails without naming a
/// place is shown at the first changed file.
fn locations(run: &Run, entry: &Entry<'_>) -> Value {
    let place = entry.finding.place.as_ref();
    let first = || run.plan.task.changed.first().map(|changed| &*changed.path);
    let Some(path) = place.map(|place| &*place.path).or_else(first) else { return json!([]) };
    let mut location = json!({ "artifactLocation": { "uri": uri(path), "uriBaseId": "%SRCROOT%" } });
    // Lines of the old file are others in the new one.
    if let Some(place) = place.filter(|place| place.side != Side::Old) {
        location["region"] = region(place);
    }
    json!([{ "physicalLocation": location }])
}

fn region(Place { lines: (first, last), quote, .. }: &Place) -> Value {
    let first = (*first).max(1);
    let mut region = json!({ "startLine": first, "endLine": first.max(*last) });
    if !quote.is_empty() {
        region["snippet"] = json!({ "text": words::plain(quote) });
    }
    region
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}

fn rank(grade: Grade) -> u32 {
    match grade {
        Grade::Proved => 100,
        Grade::Machine => 95,
        Grade::Confirmed => 80,
        Grade::Uncertain | Grade::NotVerified | Grade::Refuted => 0,
    }
}

/// Returns a path as a relative address: all but plain characters and slashes is written as its bytes.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let written =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(written).collect()
}
