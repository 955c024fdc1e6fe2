//! The negotiation of a contract: the evaluator drafts, the builder accepts or proposes changes, and the evaluator
//! rules on each proposal by the words of the brief.
//!
//! The criteria of the profile are not negotiable, so a builder cannot talk a must-pass criterion away.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::contract::{Change, Contract, Criterion, Faulty, Origin};
use super::rules::Rules;
use super::test_scenario::TestScenario;
use crate::base::answer::{OffSchema, shape};
use crate::judging::contract::DimensionId;
use crate::judging::score::Score;

/// The negotiation so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Negotiation {
    pub draft: Draft,
    pub rounds: Vec<Round>,
}

/// The evaluator's own criteria, besides the profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub criteria: Vec<Criterion>,
    /// Test scenarios for its own criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_scenarios: Vec<TestScenario>,
    /// The levels that single dimensions must reach.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pass_conditions: BTreeMap<DimensionId, Score>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// If empty, the builder accepts the draft as it is by now.
    pub proposals: Vec<Proposal>,
    /// One ruling for each proposal, in their order.
    pub rulings: Vec<Ruling>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub change: Change,
    pub why: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub is_accepted: bool,
    /// The words of the brief that decide. A single word is not enough.
    pub cites: Box<str>,
    pub why: Box<str>,
}

/// The next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Builder { round: usize },
    Evaluator { round: usize },
    Settled,
}

/// A breach of the negotiation rules.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Foul {
    #[error(transparent)]
    Faulty(#[from] Faulty),
    #[error("{0} belongs to the profile, which is not negotiable")]
    Frozen(Box<str>),
    #[error("proposal {0} gives no reason")]
    Unexplained(usize),
    #[error("{rulings} of {proposals} proposals have a ruling")]
    Miscounted { rulings: usize, proposals: usize },
    #[error("ruling {0} does not quote two consecutive words of the brief")]
    Uncited(usize),
}

impl From<Foul> for OffSchema {
    fn from(foul: Foul) -> Self {
        shape(&foul.to_string())
    }
}

impl Negotiation {
    /// Starts with the evaluator's draft.
    pub fn begin(profile: &Contract, draft: Draft) -> Result<Self, Foul> {
        let begun = Self { draft, rounds: Vec::new() };
        begun.contract(profile)?;
        Ok(begun)
    }

    /// Returns whose turn it is. After the last round the evaluator has the last word.
    pub fn turn(&self, rules: &Rules) -> Turn {
        match self.rounds.last() {
            Some(Round { proposals, .. }) if proposals.is_empty() => Turn::Settled,
            Some(Round { proposals, rulings }) if rulings.len() < proposals.len() => {
                Turn::Evaluator { round: self.rounds.len() }
            }
            _ if self.rounds.len() >= rules.negotiation_rounds => Turn::Settled,
            // All proposals are in the contract, so there is nothing left to negotiate.
            Some(Round { rulings, .. }) if rulings.iter().all(|ruling| ruling.is_accepted) => Turn::Settled,
            _ => Turn::Builder { round: self.rounds.len() + 1 },
        }
    }

    /// Adds the builder's proposals. Each must make a valid contract on its own.
    pub fn propose(&mut self, profile: &Contract, proposals: Vec<Proposal>) -> Result<(), Foul> {
        let now = self.contract(profile)?;
        for (nth, Proposal { change, why }) in (1..).zip(&proposals) {
            if let Some(frozen) = change.criterion().filter(|id| profile.criterion(id).is_some()) {
                return Err(Foul::Frozen(frozen.as_str().into()));
            }
            if why.trim().is_empty() {
                return Err(Foul::Unexplained(nth));
            }
            now.amended(std::slice::from_ref(change))?;
        }
        self.rounds.push(Round { proposals, rulings: Vec::new() });
        Ok(())
    }

    /// Adds the evaluator's rulings on the proposals of the last round. Two that exclude each other are not both
    /// accepted.
    pub fn rule(&mut self, profile: &Contract, brief: &str, rulings: Vec<Ruling>) -> Result<(), Foul> {
        let proposals = self.rounds.last().map_or(0, |round| round.proposals.len());
        if rulings.len() != proposals {
            return Err(Foul::Miscounted { rulings: rulings.len(), proposals });
        }
        let brief = format!(" {} ", plain(brief));
        let is_cited = |ruling: &Ruling| {
            let words = plain(&ruling.cites);
            words.contains(' ') && brief.contains(&format!(" {words} "))
        };
        if let Some(nth) = rulings.iter().position(|ruling| !is_cited(ruling)) {
            return Err(Foul::Uncited(nth + 1));
        }
        let mut ruled = self.clone();
        if let Some(round) = ruled.rounds.last_mut() {
            round.rulings = rulings;
        }
        ruled.contract(profile)?;
        *self = ruled;
        Ok(())
    }

    /// Returns the contract as negotiated so far.
    pub fn contract(&self, profile: &Contract) -> Result<Contract, Foul> {
        let known: BTreeSet<_> = profile.criteria.iter().map(|criterion| &criterion.id).collect();
        let own = self.draft.criteria.iter().cloned().map(|criterion| Criterion {
            origin: Origin::Negotiated,
            check: None,
            ..criterion
        });
        let mut contract = profile.clone();
        contract.criteria.extend(own);
        // A draft must not let criteria of the profile be decided by less than the profile says.
        if let Some(scenario) = self.draft.test_scenarios.iter().find(|one| known.contains(&one.criterion)) {
            return Err(Foul::Frozen(scenario.criterion.as_str().into()));
        }
        contract.test_scenarios.extend(self.draft.test_scenarios.iter().cloned());
        contract.pass_conditions.extend(self.draft.pass_conditions.clone());
        let mut contract = contract.checked()?;
        for Round { proposals, rulings } in &self.rounds {
            let accepted = proposals.iter().zip(rulings).filter(|(_, ruling)| ruling.is_accepted);
            for (Proposal { change, .. }, _) in accepted {
                if let Some(frozen) = change.criterion().filter(|id| known.contains(id)) {
                    return Err(Foul::Frozen(frozen.as_str().into()));
                }
                contract = contract.amended(std::slice::from_ref(change))?;
            }
        }
        Ok(contract)
    }
}

/// Returns the words alone: line breaks, punctuation and case do not matter.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
