//! The built-in evaluator: verdicts from lint's diagnostics and from the exit of the scenario's command.
//!
//! The formula is published in `docs/offline.md`: an error among a criterion's diagnostics is a `fail`, a warning a
//! `partial`. Without either, a criterion that structure can answer is a `pass`, and any other `unverified`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Judged;
use crate::judging::contract::{Contract, CriterionId, Verdict};
use crate::judging::judgement;
use crate::judging::score::{Scored, score};
use crate::skills::lint::{self, Diagnostic, Files, Fix, Rule, Severity};

/// The exit of the scenario's command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub command: Vec<String>,
    /// None if a signal ended it.
    pub exit: Option<i32>,
}

/// The criteria that pass without diagnostics. For all others no diagnostics only means that nothing was checked.
const ANSWERED: [&str; 5] = [
    "clarity.purpose",
    "completeness.parts",
    "correctness.agreement",
    "efficiency.redundancy",
    "efficiency.context",
];

/// The criterion that the exit code of the scenario's command answers.
const SUCCESS: &str = "effectiveness.success";

/// Evaluates members by their files and by the exit of their command. Returns the answer of an evaluator.
pub fn judge(verdict_of: &str, contract: &Contract, members: &[(Judged, Files, Option<Ran>)]) -> Value {
    let inspected: Vec<Inspection> = members.iter().map(Inspection::at).collect();
    let mut criteria = entries(contract, None, &inspected);
    if inspected.len() > 1 {
        for member in &inspected {
            criteria.extend(entries(contract, Some(member.name), std::slice::from_ref(member)));
        }
    }
    json!({
        "verdict_of": verdict_of,
        "criteria": criteria,
        "weaknesses": weaknesses(&inspected),
        "suggestions": suggestions(&inspected),
    })
}

/// Returns the score that a skill has by its diagnostics alone.
pub(super) fn structural(contract: &Contract, files: &Files) -> Scored {
    let inspected = [Inspection { name: "", diagnostics: lint::lint(files), ran: None }];
    let found: Vec<_> = contract.criteria.iter().map(|one| (&one.id, verdict(&one.id, &inspected))).collect();
    let findings = found.iter().map(|(criterion, (verdict, evidence))| judgement::Finding {
        criterion,
        verdict: *verdict,
        evidence,
    });
    score(contract, &findings.collect())
}

/// A member, with everything seen of it.
struct Inspection<'a> {
    name: &'a str,
    diagnostics: Vec<Diagnostic>,
    ran: Option<&'a Ran>,
}

impl<'a> Inspection<'a> {
    fn at((judged, files, ran): &'a (Judged, Files, Option<Ran>)) -> Self {
        Self { name: &judged.skill.name, diagnostics: lint::lint(files), ran: ran.as_ref() }
    }
}

fn entries(contract: &Contract, member: Option<&str>, inspected: &[Inspection<'_>]) -> Vec<Value> {
    let entry = |id: &CriterionId| {
        let (verdict, evidence) = verdict(id, inspected);
        let mut entry = json!({ "id": id, "verdict": verdict, "evidence": evidence });
        if let Some(member) = member {
            entry["member"] = member.into();
        }
        entry
    };
    contract.criteria.iter().map(|criterion| entry(&criterion.id)).collect()
}

fn verdict(id: &CriterionId, inspected: &[Inspection<'_>]) -> (Verdict, String) {
    if id.as_str() == SUCCESS {
        return by_command(inspected);
    }
    let of = |diagnostic: &&Diagnostic| diagnostic.rule.criterion() == Some(id.as_str());
    let found = inspected
        .iter()
        .flat_map(|one| one.diagnostics.iter().filter(of).map(|diagnostic| (one.name, diagnostic)));
    let mut found: Vec<_> =
        found.filter(|(_, diagnostic)| diagnostic.rule.severity() != Severity::Note).collect();
    found.sort_by_key(|(_, diagnostic)| diagnostic.rule.severity());
    let Some((_, worst)) = found.first() else { return unfound(id) };
    let verdict = if worst.rule.severity() == Severity::Error { Verdict::Fail } else { Verdict::Partial };
    (verdict, evidence(&found))
}

fn unfound(id: &CriterionId) -> (Verdict, String) {
    let rules: Vec<&str> =
        Rule::ALL.iter().filter(|rule| rule.criterion() == Some(id.as_str())).map(|rule| rule.id()).collect();
    let looked_for = if rules.is_empty() { "nothing visible in files".to_owned() } else { rules.join(", ") };
    if ANSWERED.contains(&id.as_str()) {
        (Verdict::Pass, format!("structural: no findings of {looked_for}"))
    } else {
        (Verdict::Unverified, format!("structural: looked for {looked_for}; a judge must check the rest"))
    }
}

/// Returns the most important diagnostics, and the number of the others.
fn evidence(found: &[(&str, &Diagnostic)]) -> String {
    const SHOWN: usize = 3;
    let mut shown: Vec<String> = found.iter().take(SHOWN).map(|(_, diagnostic)| place(diagnostic)).collect();
    if found.len() > SHOWN {
        shown.push(format!("and {} more", found.len() - SHOWN));
    }
    shown.join("; ")
}

fn place(diagnostic: &Diagnostic) -> String {
    let line = diagnostic.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}: {} ({})", diagnostic.path, diagnostic.message, diagnostic.rule)
}

fn by_command(inspected: &[Inspection<'_>]) -> (Verdict, String) {
    let ran: Vec<_> = inspected.iter().filter_map(|one| one.ran).collect();
    if ran.is_empty() {
        return (Verdict::Unverified, "structural: the scenario has no command to run".to_owned());
    }
    let endings = ran.iter().map(|ran| match ran.exit {
        Some(code) => format!("{:?} ended with exit code {code}", ran.command),
        None => format!("{:?} was killed by a signal", ran.command),
    });
    let passed = ran.len() == inspected.len() && ran.iter().all(|ran| ran.exit == Some(0));
    (if passed { Verdict::Pass } else { Verdict::Fail }, endings.collect::<Vec<_>>().join("; "))
}

fn weaknesses(inspected: &[Inspection<'_>]) -> Vec<String> {
    const MOST: usize = 5;
    let diagnostics = inspected.iter().flat_map(|one| &one.diagnostics);
    let mut diagnostics: Vec<_> =
        diagnostics.filter(|diagnostic| diagnostic.rule.severity() != Severity::Note).collect();
    diagnostics.sort_by_key(|diagnostic| diagnostic.rule.severity());
    diagnostics.into_iter().take(MOST).map(place).collect()
}

/// Returns a suggestion for each broken rule that lint cannot fix.
fn suggestions(inspected: &[Inspection<'_>]) -> Vec<Value> {
    const MOST: usize = 5;
    let mut suggestions = Vec::new();
    for member in inspected {
        for rule in Rule::ALL.iter().filter(|rule| rule.fix() == Fix::ByHand) {
            let Some(first) = member.diagnostics.iter().find(|diagnostic| diagnostic.rule == *rule) else {
                continue;
            };
            let mut suggestion = json!({
                "priority": priority(rule.severity()),
                "target_file": first.path,
                "description": format!("{} {}", place(first), rule.how()),
                "rationale": rule.why(),
            });
            if inspected.len() > 1 {
                suggestion["member"] = member.name.into();
            }
            suggestions.push((rule.severity(), suggestion));
        }
    }
    suggestions.sort_by_key(|(severity, _)| *severity);
    suggestions.into_iter().take(MOST).map(|(_, suggestion)| suggestion).collect()
}

/// Returns the table of `docs/offline.md`, line by line.
#[cfg(test)]
pub(super) fn published(contract: &Contract) -> Vec<String> {
    let line = |id: &CriterionId| {
        let rules: Vec<String> = Rule::ALL
            .iter()
            .filter(|rule| rule.criterion() == Some(id.as_str()))
            .map(|rule| format!("`{rule}` ({})", rule.severity()))
            .collect();
        let rules = match rules.as_slice() {
            [] if id.as_str() == SUCCESS => "how the scenario's command ended".to_owned(),
            [] => "nothing".to_owned(),
            rules => rules.join(", "),
        };
        let otherwise = if ANSWERED.contains(&id.as_str()) { "pass" } else { "unverified" };
        format!("| `{id}` | {rules} | {otherwise} |")
    };
    contract.criteria.iter().map(|criterion| line(&criterion.id)).collect()
}

fn priority(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "high",
        Severity::Warning => "medium",
        Severity::Note => "low",
    }
}
