//! What the artifact is judged by: rules of two levels, from a template, the task and a person.
//!
//! Criteria are data and are frozen once they are agreed to. How verdicts on them become a score is told in `verdict`.

mod guess;
mod rule;
mod templates;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{ContractId, Digest};
use crate::score::Score;

pub use crate::rules::{RuleId, Severity, Weights};
pub use rule::{CATEGORIES, Rule};

/// The frozen rules of a run, and how much of them each level asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criteria {
    pub name: Box<str>,
    pub version: u32,
    pub thresholds: Thresholds,
    pub rules: Vec<Rule>,
}

/// Raised when the words of a template change.
const VERSION: u32 = 1;

impl Criteria {
    pub fn of(template: Template, weights: Weights, thresholds: Thresholds) -> Self {
        let rules = template.rules().iter().map(|text| text.rule(weights)).collect();
        Self { name: template.as_str().into(), version: VERSION, thresholds, rules }
    }

    /// The hash of everything that agents are told and a score is computed with.
    pub fn id(&self) -> ContractId {
        let json = serde_json::to_vec(self).expect("plain strings and numbers always serialise");
        ContractId(Digest::of(&json))
    }

    pub fn rule(&self, id: &RuleId) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == *id)
    }

    /// The rules that count at a level: those of A at A, all at B.
    pub fn active(&self, level: Level) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.level <= level)
    }

    /// The rules that come in with a level.
    pub fn at(&self, level: Level) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.level == level)
    }

    /// Those of them that came without a check of their own.
    pub fn unchecked(&self, level: Level) -> impl Iterator<Item = &Rule> {
        self.at(level).filter(|rule| rule.command.is_none())
    }

    /// Takes in a rule, in the place of the one that has its id, or after the others of its level.
    pub fn set(&mut self, rule: Rule) {
        match self.rules.iter_mut().find(|known| known.id == rule.id) {
            Some(known) => *known = rule,
            None => self.rules.push(rule),
        }
        self.rules.sort_by_key(|rule| rule.level);
    }

    /// What makes these rules unfit to judge anything by, if something does.
    pub fn fault(&self) -> Option<&'static str> {
        match self.rules.len() {
            0 => Some("there is no rule"),
            many if many > MOST_RULES => Some("there are more than 60 rules"),
            _ if self.rules.iter().all(|rule| rule.weight == 0) => Some("no rule weighs anything"),
            _ => None,
        }
    }
}

/// More than these nobody would read, and a judge would not either.
const MOST_RULES: usize = 60;

/// The two stages that one artifact goes through: what it must do, then how well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    A,
    B,
}

impl Level {
    pub const ALL: [Self; 2] = [Self::A, Self::B];
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// The score from which on each level is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thresholds {
    pub a: Score,
    pub b: Score,
}

impl Thresholds {
    pub fn at(self, level: Level) -> Score {
        match level {
            Level::A => self.a,
            Level::B => self.b,
        }
    }
}

/// A kind of text, with eight rules made for it; one of another kind has none but those of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    Api,
    Code,
    Docs,
    Config,
    Other,
}

impl Template {
    pub const ALL: [Self; 5] = [Self::Api, Self::Code, Self::Docs, Self::Config, Self::Other];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Code => "code",
            Self::Docs => "docs",
            Self::Config => "config",
            Self::Other => "other",
        }
    }

    /// Where nobody has said otherwise; prose is judged a little more kindly.
    pub fn thresholds(self) -> Thresholds {
        let (a, b) = match self {
            Self::Docs => (75.0, 85.0),
            Self::Api | Self::Code | Self::Config | Self::Other => (80.0, 90.0),
        };
        let score = |points| Score::new(points).expect("both are from 0 to 100");
        Thresholds { a: score(a), b: score(b) }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests;
