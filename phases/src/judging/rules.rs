//! Verdicts on weighted rules: the severity of a rule, its result, and the resulting score.
//!
//! No number of a model is used. An unverified rule counts neither for nor against.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::judging::contract::text_ids;
use crate::judging::score::Score;

text_ids! {
    /// The name of a rule by level, category and subject, such as `a.correctness.endpoints`.
    RuleId;
}

/// The severity of a rule that is not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A level cannot be passed without it.
    Fail,
    Warn,
    Info,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Info => "info",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The weight of a rule by its severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weights {
    pub fail: u32,
    pub warn: u32,
    pub info: u32,
}

impl Weights {
    pub fn of(self, severity: Severity) -> u32 {
        match severity {
            Severity::Fail => self.fail,
            Severity::Warn => self.warn,
            Severity::Info => self.info,
        }
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self { fail: 2, warn: 1, info: 0 }
    }
}

/// The verdict on one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    /// A rule that must hold was missed.
    Fail,
    /// A rule that should hold was missed.
    Warn,
    /// The rule could not be checked.
    Unverified,
}

impl Verdict {
    pub const ALL: [Self; 4] = [Self::Pass, Self::Fail, Self::Warn, Self::Unverified];

    /// Returns the verdict on a rule of this severity that is met, missed, or could not be checked.
    pub fn at(severity: Severity, met: Option<bool>) -> Self {
        match (met, severity) {
            (Some(true), _) => Self::Pass,
            (Some(false), Severity::Fail) => Self::Fail,
            (Some(false), Severity::Warn | Severity::Info) => Self::Warn,
            (None, _) => Self::Unverified,
        }
    }

    /// Returns whether the rule is met, if it could be checked.
    pub fn met(self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Fail | Self::Warn => Some(false),
            Self::Unverified => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Unverified => "unverified",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The source of the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Pattern,
    Command,
    Judge,
}

/// The verdict on one rule, and its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleResult {
    pub rule: RuleId,
    pub verdict: Verdict,
    pub details: Box<str>,
    pub by: By,
}

impl RuleResult {
    /// Returns the worst of several results of one rule, or unverified if there are none.
    pub(crate) fn settled(rule: &RuleId, severity: Severity, results: &[Self]) -> Self {
        let ours = results.iter().filter(|result| result.rule == *rule);
        let worst = ours.min_by_key(|result| match result.verdict.met() {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        });
        let Some(worst) = worst else {
            let details = "No result was given.".into();
            return Self { rule: rule.clone(), verdict: Verdict::Unverified, details, by: By::Judge };
        };
        Self { verdict: Verdict::at(severity, worst.verdict.met()), ..worst.clone() }
    }
}

/// The weights of some rules, summed by result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weighed {
    all: u64,
    verified: u64,
    passed: u64,
}

impl Weighed {
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            verified: self.verified + other.verified,
            passed: self.passed + other.passed,
        }
    }

    /// Returns whether less than half of the weight is verified.
    pub(crate) fn is_unclear(self) -> bool {
        2 * self.verified < self.all
    }

    /// Returns passed weight divided by verified weight, in tenths of a point; full if no rule has weight, and absent
    /// if too little is verified.
    #[expect(clippy::cast_precision_loss, reason = "weights are small; beyond 2^53 a score is still one")]
    pub(crate) fn score(self) -> Option<Score> {
        match self.all {
            0 => Some(Score::FULL),
            _ if self.is_unclear() => None,
            _ => {
                let score = Score::new((100.0 * self.passed as f64 / self.verified as f64).min(100.0));
                score.map(Score::in_tenths)
            }
        }
    }
}

impl FromIterator<(u32, Verdict)> for Weighed {
    fn from_iter<I: IntoIterator<Item = (u32, Verdict)>>(rules: I) -> Self {
        rules.into_iter().fold(Self::default(), |sum, (weight, verdict)| {
            let weight_if = |counts: bool| if counts { u64::from(weight) } else { 0 };
            sum.with(Self {
                all: weight_if(true),
                verified: weight_if(verdict != Verdict::Unverified),
                passed: weight_if(verdict == Verdict::Pass),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rules: &[(u32, Verdict)]) -> Option<f64> {
        rules.iter().copied().collect::<Weighed>().score().map(Score::points)
    }

    #[test]
    fn too_little_verified_weight_gives_no_score_and_no_weight_a_full_one() {
        use Verdict::{Fail, Pass, Unverified};
        assert_eq!(points(&[]), Some(100.0));
        assert_eq!(points(&[(0, Fail)]), Some(100.0));
        assert_eq!(points(&[(1, Unverified)]), None);
        assert_eq!(points(&[(1, Pass), (2, Unverified)]), None);
        assert_eq!(points(&[(1, Pass), (1, Fail), (2, Unverified)]), Some(50.0));
    }
}
