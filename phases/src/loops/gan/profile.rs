//! A profile: by which dimensions something is judged, what each of them asks in any case, and what speaks against it.
//!
//! `design` is the original's, for pages and sites, and `code` that of its evaluator for programs. A profile of a person's own is
//! data of the same form.

use serde::{Deserialize, Serialize};

use super::contract::{AntiPattern, Check, Contract, Criterion, Dimension, Faulty, Origin};
use super::test_scenario::TestScenario;
use crate::contract::{CriterionId, DimensionId};
use crate::yaml;

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

/// What a profile asks of everything that is judged by it.
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
    /// The machine check that settles it, where it can be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

fn one() -> u32 {
    1
}

/// What keeps a text from being a profile.
#[derive(Debug, thiserror::Error)]
pub enum NotAProfile {
    #[error(transparent)]
    Yaml(#[from] yaml::Fault),
    #[error("{0}")]
    Keys(#[from] serde_json::Error),
    #[error(transparent)]
    Faulty(#[from] Faulty),
}

/// For pages and sites.
pub fn design() -> Profile {
    Profile::read(DESIGN).expect("a test reads it")
}

/// For programs.
pub fn code() -> Profile {
    Profile::read(CODE).expect("a test reads it")
}

impl Profile {
    /// Reads one that somebody has written, and that makes a contract.
    pub fn read(text: &str) -> Result<Self, NotAProfile> {
        let profile: Self = serde_json::from_value(yaml::value(text)?)?;
        profile.contract()?;
        Ok(profile)
    }

    /// What the profile alone asks for: the whole contract, where none is negotiated.
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
