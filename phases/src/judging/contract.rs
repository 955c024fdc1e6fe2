//! The contract of a run: weighted dimensions, each with a few fixed criteria.
//!
//! A contract is data and is frozen when a run starts; its hash is part of every verdict's call key. Each loop makes
//! its own (`rubric` holds the one of tune). `score` turns verdicts into numbers.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::id::{ContractId, Digest};

/// The frozen criteria of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    pub dimensions: Vec<Dimension>,
    pub criteria: Vec<Criterion>,
}

impl Contract {
    /// Returns the hash of everything that judges are asked and that scores are computed with.
    pub fn id(&self) -> ContractId {
        let json = serde_json::to_vec(self).expect("plain strings and numbers always serialise");
        ContractId(Digest::of(&json))
    }

    pub fn criterion(&self, id: &CriterionId) -> Option<&Criterion> {
        self.criteria.iter().find(|criterion| criterion.id == *id)
    }

    /// Returns the contract with only the selected criteria, and the dimensions that still have any.
    #[must_use]
    pub fn only(&self, among: impl Fn(&Criterion) -> bool) -> Self {
        let criteria: Vec<_> = self.criteria.iter().filter(|criterion| among(criterion)).cloned().collect();
        let is_asked = |dimension: &&Dimension| criteria.iter().any(|one| one.dimension == dimension.id);
        let dimensions = self.dimensions.iter().filter(is_asked).cloned().collect();
        Self { dimensions, criteria }
    }

    pub fn criteria_of<'a>(&'a self, dimension: &'a DimensionId) -> impl Iterator<Item = &'a Criterion> {
        self.criteria.iter().filter(move |criterion| criterion.dimension == *dimension)
    }
}

/// A named aspect of quality with its share of the composite score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dimension {
    pub id: DimensionId,
    pub name: Box<str>,
    pub weight: f64,
}

/// One question that a judge answers with a verdict and a quote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    pub id: CriterionId,
    pub dimension: DimensionId,
    pub text: Box<str>,
    /// Whether it asks about the effect of the skill. A trial that did not use the skill cannot answer that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_effect: bool,
    /// The part that a scenario must have for this criterion to be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Need>,
}

/// An optional part of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    Requirements,
    /// Success criteria, or a command that decides.
    Success,
}

/// The answer to one criterion; `Unverified` counts neither for nor against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Pass,
    Partial,
    Fail,
    Unverified,
}

impl Verdict {
    pub const ALL: [Self; 4] = [Self::Pass, Self::Partial, Self::Fail, Self::Unverified];

    /// Returns whether the criterion is met in full, or `None` if it is unverified.
    pub fn is_met(self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Partial | Self::Fail => Some(false),
            Self::Unverified => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Partial => "partial",
            Self::Fail => "fail",
            Self::Unverified => "unverified",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

// Shared text: with ten thousand evaluations in memory, each id exists once.
macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self::new(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    )*};
}
pub(crate) use text_ids;

text_ids! {
    /// The name of a criterion within its contract, such as `clarity.steps`.
    CriterionId;
    /// The name of a dimension within its contract, such as `clarity`.
    DimensionId;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::rubric;

    #[test]
    fn the_id_follows_every_word_and_weight() {
        let frozen = rubric::tune();
        assert_eq!(frozen.id(), rubric::tune().id());

        let mut reworded = frozen.clone();
        reworded.criteria[0].text = "Is it nice?".into();
        assert_ne!(frozen.id(), reworded.id());

        let mut reweighted = frozen.clone();
        reweighted.dimensions[0].weight = 0.3;
        assert_ne!(frozen.id(), reweighted.id());
    }

    #[test]
    fn a_contract_survives_its_journal_line() {
        let frozen = rubric::tune();
        let line = serde_json::to_string(&frozen).unwrap();
        let replayed: Contract = serde_json::from_str(&line).unwrap();
        assert_eq!(frozen, replayed);
        assert_eq!(frozen.id(), replayed.id());
    }

    #[test]
    fn a_verdict_is_written_as_it_is_named() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
        }
    }
}
