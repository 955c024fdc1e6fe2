//! Computes verdicts on rules, and from them the score, the pass and the distance.
//!
//! Everything here is computed; no number comes from a model. An unverified rule counts neither for nor against, but it
//! prevents a pass if the rule must hold, and too many of them leave no score.

use serde::{Deserialize, Serialize};

use super::criteria::{Criteria, Level, Rule, RuleId, Severity};
use crate::judging::rules::Weighed;
use crate::judging::score::Score;

pub use crate::judging::rules::{By, RuleResult, Verdict};

impl Verdict {
    /// Returns the verdict on a rule that is met, missed, or could not be checked.
    pub fn of(rule: &Rule, met: Option<bool>) -> Self {
        Self::at(rule.severity, met)
    }
}

/// The result of judging the artifact at one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    pub level: Level,
    /// Absent if the verified rules hold less than half of the weight of an active level.
    pub score: Option<Score>,
    pub passed: bool,
    /// One result for each active rule, in the order of the criteria.
    pub results: Vec<RuleResult>,
}

impl Evaluation {
    /// Returns the rules that are not met.
    pub fn missed(&self) -> impl Iterator<Item = &RuleResult> {
        self.results.iter().filter(|result| result.verdict.met() == Some(false))
    }
}

/// Evaluates a level by the results of its active rules.
///
/// Results of other rules are ignored, a rule without one is unverified, and of several the worst counts.
pub fn evaluate(criteria: &Criteria, level: Level, results: &[RuleResult]) -> Evaluation {
    let results: Vec<_> =
        criteria.active(level).map(|rule| RuleResult::settled(&rule.id, rule.severity, results)).collect();
    let score = score(criteria, &results);
    let enough = score.is_some_and(|score| score >= criteria.thresholds.at(level));
    let passed = enough && blocking(criteria, &results).next().is_none();
    Evaluation { level, score, passed, results }
}

/// Whether every rule that must hold is met; false without a score.
pub fn no_major_issues(criteria: &Criteria, evaluation: &Evaluation) -> bool {
    evaluation.score.is_some() && blocking(criteria, &evaluation.results).next().is_none()
}

/// The distance to a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distance {
    pub threshold: Score,
    /// The difference between the threshold and the score, at least 0; absent if the score is.
    pub gap: Option<Score>,
    /// Rules that must hold, but are missed or unverified.
    pub blocking: Vec<RuleId>,
    /// The number of active rules that are met.
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

/// Returns the score of the active rules from their results.
///
/// Each level must be verified by itself. Otherwise the results of A could pass B with nothing known of B.
fn score(criteria: &Criteria, results: &[RuleResult]) -> Option<Score> {
    let of_level = |level| {
        let rules = results.iter().filter_map(|result| Some((criteria.rule(&result.rule)?, result.verdict)));
        rules.filter(|(rule, _)| rule.level == level).map(|(rule, verdict)| (rule.weight, verdict)).collect()
    };
    let [a, b]: [Weighed; 2] = Level::ALL.map(of_level);
    if a.is_unclear() || b.is_unclear() { None } else { a.with(b).score() }
}

fn blocking<'a>(criteria: &Criteria, results: &'a [RuleResult]) -> impl Iterator<Item = &'a RuleId> {
    let must = |result: &&RuleResult| {
        criteria.rule(&result.rule).is_some_and(|rule| rule.severity == Severity::Fail)
    };
    results.iter().filter(must).filter(|result| result.verdict != Verdict::Pass).map(|result| &result.rule)
}

#[cfg(test)]
mod tests;
