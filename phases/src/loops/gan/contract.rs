//! The contract that builder and evaluator have agreed on: everything that is scored.
//!
//! It is frozen and identified by its hash. A change is an amendment: it has a new hash and starts a new series of
//! scores.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::test_scenario::TestScenario;
use crate::base::id::Digest;
use crate::judging::contract::{CriterionId, DimensionId};
use crate::judging::score::Score;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    pub dimensions: Vec<Dimension>,
    pub criteria: Vec<Criterion>,
    pub anti_patterns: Vec<AntiPattern>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_scenarios: Vec<TestScenario>,
    /// The levels that single dimensions must reach, however high the score is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pass_conditions: BTreeMap<DimensionId, Score>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    pub id: CriterionId,
    pub dimension: DimensionId,
    pub criterion: Box<str>,
    /// A way to check it.
    pub verification: Box<str>,
    #[serde(default)]
    pub must_pass: bool,
    #[serde(default = "one")]
    pub weight: u32,
    /// The machine check that decides it, if it can be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    #[serde(default)]
    pub origin: Origin,
}

fn one() -> u32 {
    1
}

/// One aspect of what is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    pub id: DimensionId,
    pub name: Box<str>,
    /// Relative to the weights of all dimensions.
    pub weight: u32,
    /// Descriptions of the levels .25, .50, .75 and 1.00. A judge cites one of them.
    pub anchors: [Box<str>; 4],
}

/// A fault that limits its dimension to a partial level, however good the rest is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AntiPattern {
    pub id: CriterionId,
    pub dimension: DimensionId,
    pub pattern: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

/// A machine check of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The given texts are present and unchanged.
    Copy,
    /// Each heading of the brief is a section.
    Sections,
    /// Colours and type match the given tokens.
    Tokens,
    /// Spacing is on the scale of the given tokens.
    Spacing,
    /// Each image that is not decoration has a text alternative.
    AltTexts,
    /// No link, button or form leads nowhere.
    Interactions,
    /// Nothing overflows at a width of 375 pixels.
    Narrow,
    Contrast,
    /// There are no serious or critical accessibility violations.
    Accessibility,
    /// There are no errors in the console.
    Console,
    /// The colours and cards of a page without a design of its own.
    GenericStyle,
    GenericIcons,
}

impl Check {
    /// Whether the check needs a browser. The source alone decides the others.
    pub fn is_of_browser(self) -> bool {
        !matches!(self, Self::Tokens | Self::Spacing | Self::GenericStyle | Self::GenericIcons)
    }

    /// Whether a reader has to see the content: the source shows only what is missing.
    pub fn is_of_sight(self) -> bool {
        matches!(self, Self::Copy | Self::Sections)
    }
}

/// The origin of a criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Required of everything, and not negotiable.
    Profile,
    Negotiated,
    /// Added by a person who changed the contract of a running run.
    #[default]
    Amended,
}

/// One change of a contract.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Add(Criterion),
    Drop { criterion: CriterionId },
    Reword { criterion: CriterionId, text: Box<str>, verification: Box<str> },
    MustPass { criterion: CriterionId, must: bool },
    PassCondition { dimension: DimensionId, minimum: Score },
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Faulty {
    #[error("the contract has no dimension")]
    Empty,
    #[error("the weight of the dimension {0} is 0")]
    Weightless(DimensionId),
    #[error("the dimension {0} has no criterion with a weight above 0")]
    Unasked(DimensionId),
    #[error("{0} occurs twice")]
    Twice(Box<str>),
    #[error("{criterion} belongs to {dimension}, which is not a dimension of the contract")]
    Astray { criterion: CriterionId, dimension: DimensionId },
    #[error("{0} is empty, or does not say how to verify it")]
    Silent(CriterionId),
    #[error("the weight of {0} is above {MOST_WEIGHT}")]
    TooHeavy(Box<str>),
    #[error("there are more than {MOST} criteria")]
    TooMany,
    #[error("unknown criterion {0}")]
    Unknown(CriterionId),
    #[error("a pass condition names {0}, which is not a dimension of the contract")]
    NoDimension(DimensionId),
    #[error("the test scenario {id}: {why}")]
    Untestable { id: CriterionId, why: Box<str> },
    #[error("nothing is changed")]
    Unchanged,
}

/// The maximum number of criteria. A judge does not read more with care.
pub const MOST: usize = 60;
const MOST_SCENARIOS: usize = 20;
const MOST_WEIGHT: u32 = 100;
/// Each dimension reaches this level, so a pass condition of it requires nothing.
const LOWEST_LEVEL: f64 = 25.0;

impl Contract {
    /// Returns the contract if it can be scored.
    pub fn checked(self) -> Result<Self, Faulty> {
        if self.dimensions.is_empty() {
            return Err(Faulty::Empty);
        }
        if self.criteria.len() > MOST {
            return Err(Faulty::TooMany);
        }
        unique(self.dimensions.iter().map(|dimension| dimension.id.as_str()))?;
        let of_patterns = self.anti_patterns.iter().map(|pattern| pattern.id.as_str());
        unique(self.criteria.iter().map(|criterion| criterion.id.as_str()).chain(of_patterns))?;
        self.check_scenarios()?;
        for criterion in &self.criteria {
            let is_silent =
                [&criterion.criterion, &criterion.verification].iter().any(|text| text.trim().is_empty());
            if is_silent {
                return Err(Faulty::Silent(criterion.id.clone()));
            }
            if criterion.weight > MOST_WEIGHT {
                return Err(Faulty::TooHeavy(criterion.id.as_str().into()));
            }
        }
        let homes = self.criteria.iter().map(|criterion| (&criterion.id, &criterion.dimension));
        let of_patterns = self.anti_patterns.iter().map(|pattern| (&pattern.id, &pattern.dimension));
        if let Some((criterion, dimension)) =
            homes.chain(of_patterns).find(|(_, home)| self.dimension(home).is_none())
        {
            return Err(Faulty::Astray { criterion: criterion.clone(), dimension: dimension.clone() });
        }
        if let Some(unknown) = self.pass_conditions.keys().find(|id| self.dimension(id).is_none()) {
            return Err(Faulty::NoDimension(unknown.clone()));
        }
        for Dimension { id, weight, .. } in &self.dimensions {
            if *weight == 0 {
                return Err(Faulty::Weightless(id.clone()));
            }
            if *weight > MOST_WEIGHT {
                return Err(Faulty::TooHeavy(id.as_str().into()));
            }
            if self.of(id).all(|criterion| criterion.weight == 0) {
                return Err(Faulty::Unasked(id.clone()));
            }
        }
        Ok(self)
    }

    fn check_scenarios(&self) -> Result<(), Faulty> {
        unique(self.test_scenarios.iter().map(|scenario| scenario.id.as_str()))?;
        let untestable =
            |id: &CriterionId, why: String| Err(Faulty::Untestable { id: id.clone(), why: why.into() });
        for (nth, scenario) in self.test_scenarios.iter().enumerate() {
            if nth >= MOST_SCENARIOS {
                return untestable(&scenario.id, format!("there are more than {MOST_SCENARIOS}"));
            }
            self.criterion(&scenario.criterion).ok_or_else(|| Faulty::Unknown(scenario.criterion.clone()))?;
            if let Some(why) = scenario.fault() {
                return untestable(&scenario.id, why);
            }
        }
        Ok(())
    }

    /// Returns the hash of the contract. It covers every word that is scored.
    pub fn hash(&self) -> Digest {
        Digest::of(&serde_json::to_vec(self).expect("a contract has a JSON text"))
    }

    pub fn dimension(&self, id: &DimensionId) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.id == *id)
    }

    pub fn criterion(&self, id: &CriterionId) -> Option<&Criterion> {
        self.criteria.iter().find(|criterion| criterion.id == *id)
    }

    /// Returns the criteria of a dimension.
    pub fn of(&self, dimension: &DimensionId) -> impl Iterator<Item = &Criterion> {
        self.criteria.iter().filter(move |criterion| criterion.dimension == *dimension)
    }

    /// Returns the test scenarios that decide a criterion.
    pub fn tests_of(&self, criterion: &CriterionId) -> impl Iterator<Item = &TestScenario> {
        self.test_scenarios.iter().filter(move |scenario| scenario.criterion == *criterion)
    }

    /// Returns a new contract with all of these changes, or fails.
    pub fn amended(&self, changes: &[Change]) -> Result<Self, Faulty> {
        let mut amended = self.clone();
        for change in changes {
            amended.change(change)?;
        }
        if amended == *self { Err(Faulty::Unchanged) } else { amended.checked() }
    }

    fn change(&mut self, change: &Change) -> Result<(), Faulty> {
        match change {
            Change::Add(criterion) => self.criteria.push(criterion.clone()),
            Change::Drop { criterion } => {
                self.known(criterion)?;
                self.criteria.retain(|known| known.id != *criterion);
                self.test_scenarios.retain(|scenario| scenario.criterion != *criterion);
            }
            Change::Reword { criterion, text, verification } => {
                let known = self.known(criterion)?;
                (known.criterion, known.verification) = (text.clone(), verification.clone());
                // The machine check and the test scenarios fit the old text only.
                known.check = None;
                self.test_scenarios.retain(|scenario| scenario.criterion != *criterion);
            }
            Change::MustPass { criterion, must } => self.known(criterion)?.must_pass = *must,
            Change::PassCondition { dimension, minimum } if minimum.points() > LOWEST_LEVEL => {
                self.pass_conditions.insert(dimension.clone(), *minimum);
            }
            Change::PassCondition { dimension, .. } => {
                self.pass_conditions.remove(dimension);
            }
        }
        Ok(())
    }

    fn known(&mut self, id: &CriterionId) -> Result<&mut Criterion, Faulty> {
        self.criteria.iter_mut().find(|known| known.id == *id).ok_or_else(|| Faulty::Unknown(id.clone()))
    }
}

impl Change {
    /// Returns the criterion that it is about, if it is about one.
    pub fn criterion(&self) -> Option<&CriterionId> {
        match self {
            Self::Add(criterion) => Some(&criterion.id),
            Self::Drop { criterion } | Self::Reword { criterion, .. } | Self::MustPass { criterion, .. } => {
                Some(criterion)
            }
            Self::PassCondition { .. } => None,
        }
    }
}

fn unique<'a>(ids: impl Iterator<Item = &'a str>) -> Result<(), Faulty> {
    let mut known = BTreeSet::new();
    ids.into_iter().try_for_each(|id| if known.insert(id) { Ok(()) } else { Err(Faulty::Twice(id.into())) })
}
