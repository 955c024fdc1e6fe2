//! A profile: the dimensions of a judgement, the criteria that always apply, and the anti-patterns.
//!
//! `design` is the original's, for pages and sites; `code` is the profile of its evaluator, for programs. A person's
//! own profile is data of the same form.

use serde::{Deserialize, Serialize};

use super::contract::{AntiPattern, Check, Contract, Criterion, Dimension, Faulty, Origin};
use super::test_scenario::TestScenario;
use crate::base::yaml;
use crate::judging::contract::{CriterionId, DimensionId};

const DESIGN: &str = include_str!("profile/design.yaml");
const CODE: &str = include_str!("profile/code.yaml");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub name: Box<str>,
    pub dimensions: Vec<Dimension>,
    pub criteria: Vec<Demand>,
    #[serde(default)]
    pub anti_patterns: Vec<AntiPattern>,
    #[serde(default)]
    pub test_scenarios: Vec<TestScenario>,
}

/// A criterion for everything that is judged by the profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demand {
    pub id: CriterionId,
    pub dimension: DimensionId,
    pub criterion: Box<str>,
    pub verification: Box<str>,
    #[serde(default)]
    pub must_pass: bool,
    #[serde(default = "one")]
    pub weight: u32,
    /// The machine check that decides it, if it can be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

fn one() -> u32 {
    1
}

/// The reason why a text is not a profile.
#[derive(Debug, thiserror::Error)]
pub enum NotAProfile {
    #[error(transparent)]
    Yaml(#[from] yaml::Fault),
    #[error("{0}")]
    Keys(#[from] serde_json::Error),
    #[error(transparent)]
    Faulty(#[from] Faulty),
}

/// Returns the profile for pages and sites.
pub fn design() -> Profile {
    Profile::read(DESIGN).expect("a test reads it")
}

/// Returns the profile for programs.
pub fn code() -> Profile {
    Profile::read(CODE).expect("a test reads it")
}

impl Profile {
    /// Reads a profile, and fails unless it makes a valid contract.
    pub fn read(text: &str) -> Result<Self, NotAProfile> {
        let profile: Self = serde_json::from_value(yaml::value(text)?)?;
        profile.contract()?;
        Ok(profile)
    }

    /// Returns the contract that the profile alone asks for. It is the whole contract if none is negotiated.
    pub fn contract(&self) -> Result<Contract, Faulty> {
        let criterion = |demand: &Demand| Criterion {
            id: demand.id.clone(),
            dimension: demand.dimension.clone(),
            criterion: demand.criterion.clone(),
            verification: demand.verification.clone(),
            must_pass: demand.must_pass,
            weight: demand.weight,
            check: demand.check,
            origin: Origin::Profile,
        };
        let contract = Contract {
            dimensions: self.dimensions.clone(),
            criteria: self.criteria.iter().map(criterion).collect(),
            anti_patterns: self.anti_patterns.clone(),
            test_scenarios: self.test_scenarios.clone(),
        };
        contract.checked()
    }
}
