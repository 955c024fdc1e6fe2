//! Compares our verdicts on front matter with those of the public reference validator, which `record.py` recorded.

use std::collections::BTreeMap;

use serde::Deserialize;
use skilltune_phases::skills::skill::strict::{Fault, strict};

const CASES: &str = include_str!("../../../fixtures/frontmatter/cases.jsonl");

#[derive(Deserialize)]
struct Case {
    group: String,
    folder: String,
    skill_md: String,
    accepted: bool,
    errors: Vec<String>,
    #[serde(rename = "apart")]
    disagreement: Option<String>,
}

#[derive(Default)]
struct Row {
    accept: usize,
    refuse: usize,
    stricter: usize,
    laxer: usize,
    other_words: usize,
}

#[test]
fn we_judge_as_the_reference_validator_does_but_for_the_forms_that_are_listed() {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let cases = cases();
    for case in &cases {
        let ours = strict(&case.skill_md, &case.folder);
        let row = rows.entry(&case.group).or_default();
        match (case.accepted, ours.is_empty()) {
            (true, true) => row.accept += 1,
            (false, false) => row.refuse += 1,
            (true, false) => row.stricter += 1,
            (false, true) => row.laxer += 1,
        }
        row.other_words += usize::from(!case.accepted && !same_words(&case.errors, &ours));
        let agreed = case.accepted == ours.is_empty();
        assert_eq!(agreed, case.disagreement.is_none(), "{:?} in {}: {ours:?}", case.skill_md, case.folder);
    }
    insta::assert_snapshot!(table(&rows), @"
              both accept  both refuse  we alone refuse  we alone accept  other words
    hostile            47           82               12                0            0
    nearly             71          197                0                0            1
    valid             108            0                0                0            0
    ");
}

#[test]
fn each_form_in_which_we_are_stricter_has_its_reason() {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let cases = cases();
    for reason in cases.iter().filter_map(|case| case.disagreement.as_deref()) {
        *reasons.entry(reason).or_default() += 1;
    }
    let counted: Vec<_> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    insta::assert_snapshot!(counted.join("\n"), @"
    2 a block text whose sign stands in the column of its key: no YAML
    7 a break of old (NEL, LS, PS) that stands where YAML has white space
    1 a byte order mark inside of the text: no YAML
    1 half of a surrogate pair: no text of ours can hold it
    1 more than 64 KiB: no agent needs that, and we read no more
    ");
}

/// Reads the cases. The first line names the recording tools.
fn cases() -> Vec<Case> {
    CASES.lines().skip(1).map(|line| serde_json::from_str(line).expect("a line is a case")).collect()
}

/// If the reference ends with an exception, any text matches.
fn same_words(theirs: &[String], ours: &[Fault]) -> bool {
    let mut ours: Vec<_> = ours.iter().map(class).collect();
    ours.sort_unstable();
    ours.dedup();
    theirs == ["crash"] || theirs == ours
}

fn class(fault: &Fault) -> String {
    match fault {
        Fault::NotYaml { .. } | Fault::Refused { .. } => "yaml".to_owned(),
        Fault::Missing(field) | Fault::NoText { field, .. } | Fault::TooLong { field, .. } => {
            format!("{} {field}", fault.rule())
        }
        _ => fault.rule().to_owned(),
    }
}

fn table(rows: &BTreeMap<&str, Row>) -> String {
    let mut lines =
        vec!["          both accept  both refuse  we alone refuse  we alone accept  other words".to_owned()];
    lines.extend(rows.iter().map(|(group, row)| {
        let Row { accept, refuse, stricter, laxer, other_words } = row;
        format!("{group:<8} {accept:>12} {refuse:>12} {stricter:>16} {laxer:>16} {other_words:>12}")
    }));
    lines.join("\n")
}
