//! The model's answers to the pages of `reflex`. For the model a text meets a rule if a section is named after the
//! rule.

use serde_json::{Value, json};

use super::Turn;
use super::pages::{bound, code, fenced, listed};

const PROPOSE: &str = "# Propose rules for a text";
const PLAN: &str = "# Plan the work on one text";
const PRODUCE: &str = "# Write one text";
const PREPARE: &str = "# Prepare checks for a text";
const JUDGE: &str = "# Judge one text";
const CRITIQUE: &str = "# Say how to fix a text";
const REFINE: &str = "# Fix one text";

/// The text of every section, found nowhere else.
pub(crate) const TOLD: &str = "It is told here";
/// The judge's comment on a rule that is not met.
pub(crate) const MISSING: &str = "no section of that name";

/// Derives an answer from the words of a page.
type Answer = fn(&str) -> String;

/// Returns the model's turn, or `None` if the page is not one of `reflex`.
pub(super) fn turn(words: &str) -> Option<Turn> {
    let pages: [(&str, Answer); 7] = [
        (PROPOSE, propose),
        (PLAN, plan),
        (PRODUCE, produce),
        (PREPARE, prepare),
        (JUDGE, judge),
        (CRITIQUE, critique),
        (REFINE, refine),
    ];
    let (_, answer) = pages.iter().find(|(head, _)| words.contains(head))?;
    Some(Turn::Text(answer(words)))
}

/// Returns whether the answer is the text itself.
pub(super) fn is_for_text(words: &str) -> bool {
    [PRODUCE, REFINE].iter().any(|head| words.contains(head))
}

/// Returns the parts of the request that must arrive before this one is answered, which proves that both ran in
/// parallel.
pub(super) fn beside(body: &str) -> Option<[&'static str; 2]> {
    let is = |parts: [&str; 2]| parts.iter().all(|part| body.contains(part));
    let pairs = [
        ([PRODUCE, "level A"], [PREPARE, "level A"]),
        ([JUDGE, "1. a.correctness."], [JUDGE, "1. a.completeness."]),
    ];
    pairs.into_iter().find_map(|(one, other)| match (is(one), is(other)) {
        (true, _) => Some(other),
        (_, true) => Some(one),
        _ => None,
    })
}

/// Proposes only what the template demands.
fn propose(words: &str) -> String {
    bound(words, "rules", std::iter::empty::<Value>()).to_string()
}

/// Omits the last rule of a level.
fn plan(words: &str) -> String {
    let rules = listed(words, "rules");
    let kept = rules.split_last().map_or(&[][..], |(_, kept)| kept);
    let step = |rule: &&str| json!({ "step": format!("Write `{rule}`."), "rule_id": rule });
    bound(words, "plan", kept.iter().map(step)).to_string()
}

fn produce(words: &str) -> String {
    let lines = fenced(words, "plan").lines();
    let rules = lines.filter_map(|line| line.trim().strip_prefix("For ")?.strip_suffix('.'));
    format!("# Rooms\n{}", rules.map(section).collect::<String>())
}

fn section(rule: &str) -> String {
    format!("\n## {rule}\n\n{TOLD}.\n")
}

/// Prepares one check of each kind; at level A one is a shell at first, which no schema forbids.
fn prepare(words: &str) -> String {
    let again = words.contains("## Once more");
    let check = |(nth, rule): (usize, &&str)| match nth {
        1 if rule.starts_with("a.") && !again => {
            let argv = ["sh", "-c", "grep -q schemas artifact.md"];
            json!({ "rule_id": rule, "type": "executable", "argv": argv, "exit": 0, "expected": "found" })
        }
        1 => {
            let argv = ["grep", "-q", &format!("## {rule}"), "artifact.md"];
            json!({ "rule_id": rule, "type": "executable", "argv": argv, "exit": 0, "expected": "found" })
        }
        3 => {
            json!({ "rule_id": rule, "type": "content", "search": format!("^## {rule}$"), "expected": "present" })
        }
        _ => json!({ "rule_id": rule, "type": "judge", "question": format!("Is there `{rule}`?") }),
    };
    bound(words, "checks", listed(words, "rules").iter().enumerate().map(check)).to_string()
}

fn judge(words: &str) -> String {
    let text = fenced(words, "artifact.md");
    let verdict = |rule: &&str| {
        let heading = format!("## {rule}");
        let is_there = text.lines().any(|line| line == heading);
        let (verdict, evidence) = if is_there { ("pass", heading.as_str()) } else { ("fail", MISSING) };
        json!({ "id": rule, "verdict": verdict, "evidence": evidence })
    };
    let criteria: Vec<Value> = listed(words, "rules").iter().map(verdict).collect();
    json!({ "verdict_of": code(words, "verdict_of"), "criteria": criteria }).to_string()
}

fn critique(words: &str) -> String {
    let issue = |rule: &&str| {
        json!({
            "rule_id": rule, "section": rule, "problem": MISSING, "fix_instruction": "Add it.",
            "expected_effect": "It is there.",
        })
    };
    bound(words, "issues", listed(words, "not met").iter().map(issue)).to_string()
}

fn refine(words: &str) -> String {
    let more = listed(words, "issues").into_iter().map(section);
    format!("{}{}", fenced(words, "artifact.md"), more.collect::<String>())
}
