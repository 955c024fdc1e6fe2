//! Verdicts on rules, and the score, the pass and the distance that follow from them.
//!
//! Everything here is computed; no number of a model enters. What nobody could tell counts neither for nor against, but
//! stands in the way of a pass where the rule must hold, and too much of it leaves no score at all.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::criteria::{Criteria, Level, Rule, RuleId, Severity};
use crate::score::Score;

/// What became of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    /// Not met, and it must be.
    Fail,
    /// Not met, and it should be.
    Warn,
    /// Nobody could tell.
    Unverified,
}

impl Verdict {
    pub const ALL: [Self; 4] = [Self::Pass, Self::Fail, Self::Warn, Self::Unverified];

    /// The verdict on a rule that is met, is not, or of which nobody could tell.
    pub fn of(rule: &Rule, met: Option<bool>) -> Self {
        match (met, rule.severity) {
            (Some(true), _) => Self::Pass,
            (Some(false), Severity::Fail) => Self::Fail,
            (Some(false), Severity::Warn | Severity::Info) => Self::Warn,
            (None, _) => Self::Unverified,
        }
    }

    /// Whether the rule is met, where that could be told.
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

/// Who has told whether a rule is met, or could not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Pattern,
    Command,
    Judge,
}

/// The verdict on one rule, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleResult {
    pub rule: RuleId,
    pub verdict: Verdict,
    pub details: Box<str>,
    pub by: By,
}

/// The artifact as it stands at one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    pub level: Level,
    /// Absent when the rules that could be told hold less than half of the weight of a level that counts.
    pub score: Option<Score>,
    pub passed: bool,
    /// One for each active rule, in the order of the criteria.
    pub results: Vec<RuleResult>,
}

impl Evaluation {
    /// The rules that are not met.
    pub fn missed(&self) -> impl Iterator<Item = &RuleResult> {
        self.results.iter().filter(|result| result.verdict.met() == Some(false))
    }
}

/// Evaluates a level by the results of its active rules.
///
/// Results of other rules count for nothing, a rule without one is unverified, and of several the worst counts.
pub fn evaluate(criteria: &Criteria, level: Level, results: &[RuleResult]) -> Evaluation {
    let results: Vec<_> = criteria.active(level).map(|rule| settled(rule, results)).collect();
    let score = score(criteria, &results);
    let enough = score.is_some_and(|score| score >= criteria.thresholds.at(level));
    let passed = enough && blocking(criteria, &results).next().is_none();
    Evaluation { level, score, passed, results }
}

/// Whether nothing is open that must hold; an evaluation without a score says nothing of it.
pub fn no_major_issues(criteria: &Criteria, evaluation: &Evaluation) -> bool {
    evaluation.score.is_some() && blocking(criteria, &evaluation.results).next().is_none()
}

/// What is missing for a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distance {
    pub threshold: Score,
    /// How far the score is below the threshold, at least nothing; absent when the score is.
    pub gap: Option<Score>,
    /// Rules that must hold and do not, or of which nobody could tell.
    pub blocking: Vec<RuleId>,
    /// How many of the active rules are met.
    pub passed: usize,
    pub of: usize,
}

impl Distance {
    pub fn of(criteria: &Criteria, evaluation: &Evaluation) -> Self {
        let threshold = criteria.thresholds.at(evaluation.level);
        let below = |score: Score| Score::new((threshold.points() - score.points()).max(0.0));
        let results = &evaluation.results;
        Self {
            threshold,
            gap: evaluation.score.and_then(below),
            blocking: blocking(criteria, results).cloned().collect(),
            passed: results.iter().filter(|result| result.verdict == Verdict::Pass).count(),
            of: results.len(),
        }
    }
}

fn settled(rule: &Rule, results: &[RuleResult]) -> RuleResult {
    let ours = results.iter().filter(|result| result.rule == rule.id);
    let worst = ours.min_by_key(|result| match result.verdict.met() {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    });
    let Some(worst) = worst else {
        let details = "No result was given.".into();
        return RuleResult { rule: rule.id.clone(), verdict: Verdict::Unverified, details, by: By::Judge };
    };
    RuleResult { verdict: Verdict::of(rule, worst.verdict.met()), ..worst.clone() }
}

/// Passed weight of verified weight, unless too little is verified; `results` are those of the active rules.
///
/// Each level must be verified for itself: what is known of A would otherwise pass B when nobody could tell of it.
fn score(criteria: &Criteria, results: &[RuleResult]) -> Option<Score> {
    let [a, b] = Level::ALL.map(|level| Weighed::of(criteria, level, results));
    let passed = a.passed + b.passed;
    match (a.active + b.active, a.verified + b.verified) {
        (0, _) => Some(Score::FULL),
        _ if a.is_unclear() || b.is_unclear() => None,
        (_, verified) => Score::new(share(passed, verified)),
    }
}

/// The weights of one level's own rules.
struct Weighed {
    active: u64,
    verified: u64,
    passed: u64,
}

impl Weighed {
    fn of(criteria: &Criteria, level: Level, results: &[RuleResult]) -> Self {
        let weight = |counts: fn(Verdict) -> bool| -> u64 {
            let counted = results.iter().filter(|result| counts(result.verdict));
            let rules = counted.filter_map(|result| criteria.rule(&result.rule));
            rules.filter(|rule| rule.level == level).map(|rule| u64::from(rule.weight)).sum()
        };
        Self {
            active: weight(|_| true),
            verified: weight(|verdict| verdict != Verdict::Unverified),
            passed: weight(|verdict| verdict == Verdict::Pass),
        }
    }

    fn is_unclear(&self) -> bool {
        2 * self.verified < self.active
    }
}

#[expect(clippy::cast_precision_loss, reason = "weights are small; beyond 2^53 a score is still one")]
fn share(passed: u64, verified: u64) -> f64 {
    (100.0 * passed as f64 / verified as f64).min(100.0)
}

fn blocking<'a>(criteria: &Criteria, results: &'a [RuleResult]) -> impl Iterator<Item = &'a RuleId> {
    let must = |result: &&RuleResult| {
        criteria.rule(&result.rule).is_some_and(|rule| rule.severity == Severity::Fail)
    };
    results.iter().filter(must).filter(|result| result.verdict != Verdict::Pass).map(|result| &result.rule)
}

#[cfg(test)]
mod tests;
