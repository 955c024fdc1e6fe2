//! The criteria for the artifact: rules of two levels, from a template, the task and a person.
//!
//! Criteria are data and are frozen once they are agreed to. `verdict` computes a score from the verdicts on them.

mod guess;
mod rule;
mod templates;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::id::{ContractId, Digest};
use crate::judging::score::Score;

pub use crate::judging::rules::{RuleId, Severity, Weights};
pub use rule::{CATEGORIES, Rule};

/// The frozen rules of a run, and the threshold of each level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criteria {
    pub name: Box<str>,
    pub version: u32,
    pub thresholds: Thresholds,
    pub rules: Vec<Rule>,
}

/// Raised when the text of a template changes.
const VERSION: u32 = 1;

impl Criteria {
    pub fn of(template: Template, weights: Weights, thresholds: Thresholds) -> Self {
        let rules = template.rules().iter().map(|text| text.rule(weights)).collect();
        Self { name: template.as_str().into(), version: VERSION, thresholds, rules }
    }

    /// Returns the hash of everything that agents see and that the score is computed from.
    pub fn id(&self) -> ContractId {
        let json = serde_json::to_vec(self).expect("plain strings and numbers always serialise");
        ContractId(Digest::of(&json))
    }

    pub fn rule(&self, id: &RuleId) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == *id)
    }

    /// Returns the rules that count at a level: those of A at A, all at B.
    pub fn active(&self, level: Level) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.level <= level)
    }

    /// Returns the rules that a level adds.
    pub fn at(&self, level: Level) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.level == level)
    }

    /// Returns the rules of a level that came without a check of their own.
    pub fn unchecked(&self, level: Level) -> impl Iterator<Item = &Rule> {
        self.at(level).filter(|rule| rule.command.is_none())
    }

    /// Adds a rule. It replaces the rule with its id, or comes after the others of its level.
    pub fn set(&mut self, rule: Rule) {
        match self.rules.iter_mut().find(|known| known.id == rule.id) {
            Some(known) => *known = rule,
            None => self.rules.push(rule),
        }
        self.rules.sort_by_key(|rule| rule.level);
    }

    /// Returns the reason why these rules cannot judge anything, if there is one.
    pub fn fault(&self) -> Option<&'static str> {
        match self.rules.len() {
            0 => Some("there is no rule"),
            many if many > MOST_RULES => Some("there are more than 60 rules"),
            _ if self.rules.iter().all(|rule| rule.weight == 0) => Some("no rule has a weight above 0"),
            _ => None,
        }
    }
}

/// Neither a person nor a judge would read more rules than this.
const MOST_RULES: usize = 60;

/// The two stages of an artifact: what it must do, then how well.
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

/// The minimum score for passing each level.
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

/// A kind of text with eight rules made for it. Other kinds have only the rules of their task.
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

    /// Returns the default thresholds. Those for prose are a little lower.
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
