//! A profile: the dimensions of a judgement, the criteria that always apply, and the anti-patterns.
//!
//! `design` is the original's, for pages and sites; `code` is the profile of its evaluator, for programs. A person's
//! own profile is data of the same form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contract::{AntiPattern, Contract, Criterion, Dimension, Faulty, Origin};
use super::test_scenario::TestScenario;
use crate::base::yaml;

const DESIGN: &str = include_str!("profile/design.yaml");
const CODE: &str = include_str!("profile/code.yaml");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub name: Box<str>,
    pub dimensions: Vec<Dimension>,
    /// The criteria for everything that is judged by the profile.
    pub criteria: Vec<Criterion>,
    #[serde(default)]
    pub anti_patterns: Vec<AntiPattern>,
    #[serde(default)]
    pub test_scenarios: Vec<TestScenario>,
}

/// The reason why a text is not a profile.
#[derive(Debug, thiserror::Error)]
pub enum NotAProfile {
    #[error(transparent)]
    Yaml(#[from] yaml::Fault),
    #[error("{0}")]
    Keys(#[from] serde_json::Error),
    #[error("{key}: {why}")]
    Setting { key: Box<str>, why: Box<str> },
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
        let criterion = |own: &Criterion| Criterion { origin: Origin::Profile, ..own.clone() };
        let contract = Contract {
            dimensions: self.dimensions.clone(),
            criteria: self.criteria.iter().map(criterion).collect(),
            anti_patterns: self.anti_patterns.clone(),
            test_scenarios: self.test_scenarios.clone(),
            pass_conditions: BTreeMap::new(),
        };
        contract.checked()
    }
}
