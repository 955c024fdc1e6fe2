use std::collections::{BTreeMap, BTreeSet};

use super::contract::{Contract, Criterion, Dimension, Origin};
use super::evaluation::{By, Finding, RawVerdicts, Verdict};
use crate::judging::contract::CriterionId;
use crate::judging::score::Score;

mod answers;
mod conditions;
mod contracts;
mod courses;
mod evaluations;
mod negotiations;
mod prompts;
mod test_scenarios;

fn score(points: f64) -> Score {
    Score::new(points).unwrap()
}

fn id(text: &str) -> CriterionId {
    CriterionId::new(text)
}

fn dimension(id: &str, weight: u32) -> Dimension {
    Dimension {
        id: id.into(),
        name: id.into(),
        weight,
        anchors: ["none", "some", "most", "all"].map(Into::into),
    }
}

fn criterion(id: &str) -> Criterion {
    let (dimension, _) = id.split_once('.').unwrap();
    Criterion {
        id: id.into(),
        dimension: dimension.into(),
        criterion: format!("{id} holds").into(),
        verification: "look".into(),
        must_pass: false,
        weight: 1,
        check: None,
        origin: Origin::Profile,
    }
}

/// Two dimensions of four criteria each: `a` weighs three times as much as `b`.
fn contract() -> Contract {
    let criteria =
        ["a", "b"].iter().flat_map(|side| (1..=4).map(move |nth| criterion(&format!("{side}.{nth}"))));
    let contract = Contract {
        dimensions: vec![dimension("a", 30), dimension("b", 10)],
        criteria: criteria.collect(),
        anti_patterns: Vec::new(),
        test_scenarios: Vec::new(),
        pass_conditions: BTreeMap::new(),
    };
    contract.checked().unwrap()
}

fn finding(criterion: &str, verdict: Verdict, by: By) -> Finding {
    Finding { criterion: id(criterion), verdict, evidence: "index.html: “x”".into(), fix: None, by }
}

/// A judge who finds these criteria passed, and all others failed.
fn raw_verdicts(contract: &Contract, passed: &[&str]) -> RawVerdicts {
    let verdict = |criterion: &Criterion| {
        let is_passed = passed.contains(&criterion.id.as_str());
        if is_passed { Verdict::Passed } else { Verdict::Failed }
    };
    let findings = contract.criteria.iter().map(|one| finding(one.id.as_str(), verdict(one), By::Judge));
    RawVerdicts { findings: findings.collect(), ..RawVerdicts::default() }
}

fn none() -> BTreeSet<CriterionId> {
    BTreeSet::new()
}
