//! The contract that a tree is judged by, and the numbers that follow from the verdicts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::spec::{Constraint, Id, Priority};
use super::task::Rules;
use crate::base::id::Digest;

/// The frozen questions of a judgement. Only an amendment changes them, and the statements never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// The statements of the goal, each a quote of it.
    pub statements: Vec<Box<str>>,
    pub constraints: Vec<Constraint>,
    pub criteria: Vec<Agreed>,
    /// Raised by an approved change of an original criterion: scores before and after are not compared.
    pub series: u32,
}

/// A criterion with its priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    pub id: Id,
    pub text: Box<str>,
    pub priority: Priority,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Vec<String>>,
    /// Whether the specification has it. The others were added during the run.
    pub is_original: bool,
}

/// The answer of the evaluator, after its evidence was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub criteria: Vec<Verdict>,
    pub constraints: Vec<Verdict>,
    /// One for each statement of the goal, in their order.
    pub statements: Vec<StatementVerdict>,
    pub recommendations: Vec<Box<str>>,
}

/// Whether a criterion or a constraint holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub id: Id,
    pub is_met: bool,
    /// Whether its oracle fails although the evaluator finds it met, and no person has decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_disputed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementVerdict {
    pub holds: Holds,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    Yes,
    No,
    NotShown,
}

/// Text that was found in the tree, or in the output of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The file, or `output of test`.
    pub path: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub quote: Box<str>,
}

/// The result of a judged tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub judgement: Judgement,
    /// The share of the original criteria that is met, by weight. The series of a run has this one.
    pub score: f64,
    /// The share of all criteria.
    pub score_of_all: f64,
    /// The share of the goal's statements that hold.
    pub alignment: f64,
    pub is_done: bool,
}

impl Contract {
    pub fn digest(&self) -> Digest {
        Digest::of(&serde_json::to_vec(self).expect("a contract has a JSON text"))
    }

    pub fn criterion(&self, id: &str) -> Option<&Agreed> {
        self.criteria.iter().find(|one| &*one.id == id)
    }

    /// Whether a criterion or a constraint has this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.criterion(id).is_some() || self.constraints.iter().any(|one| &*one.id == id)
    }
}

impl Verdict {
    pub(super) fn unmet(id: &Id, gap: &str) -> Self {
        Self { id: id.clone(), is_met: false, is_disputed: false, evidence: None, gaps: vec![gap.into()] }
    }

    /// Returns the id with what is missing, on one line.
    pub fn missing(&self) -> String {
        format!("{}: {}", self.id, self.gaps.join("; "))
    }
}

impl Evaluation {
    /// Computes the numbers. Only met criteria, and statements that hold, count.
    pub(super) fn of(judgement: Judgement, contract: &Contract, rules: &Rules) -> Self {
        let met: BTreeSet<&Id> =
            judgement.criteria.iter().filter(|one| one.is_met).map(|one| &one.id).collect();
        let share = |counts: fn(&Agreed) -> bool| {
            let all = contract.criteria.iter().filter(|one| counts(one));
            part(all.map(|one| (one.priority.weight(), met.contains(&one.id))))
        };
        let (score, score_of_all) = (share(|one| one.is_original), share(|_| true));
        let holding = judgement.statements.iter().map(|one| (1, one.holds == Holds::Yes));
        let alignment = part(holding);
        let mut critical = contract.criteria.iter().filter(|one| one.priority == Priority::Critical);
        let is_done = score >= rules.score
            && score_of_all >= rules.score
            && alignment >= rules.alignment
            && critical.all(|one| met.contains(&one.id))
            && judgement.constraints.iter().all(|one| one.is_met)
            && judgement.statements.iter().all(|one| one.holds != Holds::No);
        Self { judgement, score, score_of_all, alignment, is_done }
    }

    pub fn unmet(&self) -> impl Iterator<Item = &Verdict> {
        self.judgement.criteria.iter().filter(|one| !one.is_met)
    }

    /// Whether only a person's decision on disputed criteria is missing: no further work helps.
    pub(super) fn waits_for_a_person(&self, contract: &Contract, rules: &Rules) -> bool {
        let mut judgement = self.judgement.clone();
        let disputed = judgement.criteria.iter_mut().filter(|one| one.is_disputed);
        let count = disputed.map(|one| one.is_met = true).count();
        !self.is_done && count > 0 && Self::of(judgement, contract, rules).is_done
    }

    /// Returns the verdicts on constraints that do not hold.
    pub fn broken(&self) -> impl Iterator<Item = &Verdict> {
        self.judgement.constraints.iter().filter(|one| !one.is_met)
    }
}

/// Returns the share of the weight that counts. All of nothing counts.
fn part(all: impl Iterator<Item = (u32, bool)>) -> f64 {
    let (mut whole, mut counting) = (0, 0);
    for (weight, counts) in all {
        whole += weight;
        counting += if counts { weight } else { 0 };
    }
    if whole == 0 { 1.0 } else { f64::from(counting) / f64::from(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract() -> Contract {
        let criterion = |id: &str, priority, is_original| Agreed {
            id: id.into(),
            text: "text".into(),
            priority,
            check: None,
            is_original,
        };
        Contract {
            statements: vec!["it runs".into(), "it is fast".into()],
            constraints: vec![Constraint { id: "K1".into(), text: "no network".into() }],
            criteria: vec![
                criterion("A1", Priority::Critical, true),
                criterion("A2", Priority::Low, true),
                criterion("A3", Priority::High, false),
            ],
            series: 0,
        }
    }

    /// Judges: the met criteria, whether the constraint holds, the statements.
    fn judged(met: &[&str], holds: bool, statements: [Holds; 2]) -> Evaluation {
        let verdict = |id: &str, is_met| Verdict {
            id: id.into(),
            is_met,
            is_disputed: false,
            evidence: None,
            gaps: Vec::new(),
        };
        let judgement = Judgement {
            criteria: ["A1", "A2", "A3"].map(|id| verdict(id, met.contains(&id))).into(),
            constraints: vec![verdict("K1", holds)],
            statements: statements.map(|holds| StatementVerdict { holds, evidence: None }).into(),
            recommendations: Vec::new(),
        };
        let rules = Rules { score: 0.8, alignment: 0.5, ..Rules::default() };
        Evaluation::of(judgement, &contract(), &rules)
    }

    #[test]
    fn a_result_is_done_only_if_every_condition_holds() {
        use Holds::{No, NotShown, Yes};
        let all = ["A1", "A2", "A3"];
        for (evaluation, score, of_all, is_done) in [
            (judged(&all, true, [Yes, Yes]), 1.0, 1.0, true),
            (judged(&["A1", "A3"], true, [Yes, NotShown]), 0.8, 0.875, true),
            (judged(&["A1", "A2"], true, [Yes, Yes]), 1.0, 0.625, false),
            (judged(&["A2", "A3"], true, [Yes, Yes]), 0.2, 0.5, false),
            (judged(&all, false, [Yes, Yes]), 1.0, 1.0, false),
            (judged(&all, true, [Yes, No]), 1.0, 1.0, false),
            (judged(&all, true, [NotShown, NotShown]), 1.0, 1.0, false),
        ] {
            assert_eq!(
                (evaluation.score, evaluation.score_of_all, evaluation.is_done),
                (score, of_all, is_done)
            );
        }
    }

    #[test]
    fn a_critical_criterion_is_needed_whatever_the_score_is() {
        let rules = Rules { score: 0.1, alignment: 0.0, ..Rules::default() };
        let judgement = judged(&["A2", "A3"], true, [Holds::Yes, Holds::Yes]).judgement;
        assert!(!Evaluation::of(judgement, &contract(), &rules).is_done);
    }
}
