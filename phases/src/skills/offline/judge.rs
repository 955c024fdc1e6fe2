//! The built-in evaluator: verdicts from lint's findings and from the exit of the scenario's command.
//!
//! The formula is published in `docs/offline.md`: an error among a criterion's findings is a `fail`, a warning a
//! `partial`. Without either, a criterion that structure can answer is a `pass`, and any other `unverified`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::task::Judged;
use crate::judging::contract::{Contract, CriterionId, Verdict};
use crate::judging::judgement;
use crate::judging::score::{Scored, score};
use crate::skills::lint::{self, Files, Finding, Fix, Rule, Severity};

/// The exit of the scenario's command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub command: Vec<String>,
    /// None if a signal ended it.
    pub exit: Option<i32>,
}

/// The criteria that pass without findings. For all others no findings only means that nothing was checked.
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

/// Returns the score that a skill has by its findings alone.
pub(super) fn structural(contract: &Contract, files: &Files) -> Scored {
    let inspected = [Inspection { name: "", findings: lint::lint(files), ran: None }];
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
    findings: Vec<Finding>,
    ran: Option<&'a Ran>,
}

impl<'a> Inspection<'a> {
    fn at((judged, files, ran): &'a (Judged, Files, Option<Ran>)) -> Self {
        Self { name: &judged.skill.name, findings: lint::lint(files), ran: ran.as_ref() }
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
    let of = |finding: &&Finding| finding.rule.criterion() == Some(id.as_str());
    let found =
        inspected.iter().flat_map(|one| one.findings.iter().filter(of).map(|finding| (one.name, finding)));
    let mut found: Vec<_> = found.filter(|(_, finding)| finding.rule.severity() != Severity::Note).collect();
    found.sort_by_key(|(_, finding)| finding.rule.severity());
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

/// Returns the most important findings, and the number of the others.
fn evidence(found: &[(&str, &Finding)]) -> String {
    const SHOWN: usize = 3;
    let mut shown: Vec<String> = found.iter().take(SHOWN).map(|(_, finding)| place(finding)).collect();
    if found.len() > SHOWN {
        shown.push(format!("and {} more", found.len() - SHOWN));
    }
    shown.join("; ")
}

fn place(finding: &Finding) -> String {
    let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}: {} ({})", finding.path, finding.message, finding.rule)
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
    let findings = inspected.iter().flat_map(|one| &one.findings);
    let mut findings: Vec<_> = findings.filter(|finding| finding.rule.severity() != Severity::Note).collect();
    findings.sort_by_key(|finding| finding.rule.severity());
    findings.into_iter().take(MOST).map(place).collect()
}

/// Returns a suggestion for each broken rule that lint cannot fix.
fn suggestions(inspected: &[Inspection<'_>]) -> Vec<Value> {
    const MOST: usize = 5;
    let mut suggestions = Vec::new();
    for member in inspected {
        for rule in Rule::ALL.iter().filter(|rule| rule.fix() == Fix::ByHand) {
            let Some(first) = member.findings.iter().find(|finding| finding.rule == *rule) else { continue };
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
