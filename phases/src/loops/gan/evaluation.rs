//! The evaluation of an artifact under a contract. Every number here is computed from verdicts. A level that a judge
//! claims is kept and shown, but never counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::contract::{AntiPattern, Contract, Criterion};
use super::rules::Rules;
use crate::base::answer::says_something;
use crate::base::id::Digest;
use crate::judging::contract::{CriterionId, DimensionId};
use crate::judging::score::Score;

/// The verdict on one criterion, and who gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub criterion: CriterionId,
    pub verdict: Verdict,
    pub evidence: Box<str>,
    /// A judge's suggestion for making it pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<str>>,
    pub by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Passed,
    Failed,
    /// It could not be checked, or the verdict has no evidence.
    Unverified,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Machine,
    Judge,
}

/// The level that a judge would give a dimension, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub dimension: DimensionId,
    pub level: Score,
    pub why: Box<str>,
}

/// All verdicts of machines and a judge on an artifact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawVerdicts {
    pub findings: Vec<Finding>,
    pub patterns: Vec<PatternHit>,
    pub claims: Vec<Claim>,
    /// The findings on the extra items of a focus.
    pub extra: Vec<Finding>,
}

/// An anti-pattern found in the artifact, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternHit {
    pub pattern: CriterionId,
    pub evidence: Box<str>,
    pub by: By,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The hash of the contract that it was made under.
    pub contract: Digest,
    /// One finding for each criterion of the contract, in its order.
    pub findings: Vec<Finding>,
    pub patterns: Vec<PatternHit>,
    pub dimensions: Vec<Dimension>,
    /// The mean level of the dimensions, by weight. It is compared with the threshold.
    pub score: Score,
    /// The passed weight as a share of all weight. It measures progress.
    pub share: Score,
    /// Criteria that had passed in the artifact it was built from, but no longer pass.
    pub fallen: Vec<CriterionId>,
    /// Shown, and never counted.
    pub extra: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dimension {
    pub id: DimensionId,
    pub share: Score,
    pub level: Score,
    /// The anti-patterns that keep it from a higher level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capped_by: Vec<CriterionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Score>,
}

/// The reason why an artifact has not passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    MustPass {
        criterion: CriterionId,
        verdict: Verdict,
    },
    Fallen {
        criterion: CriterionId,
    },
    BelowMinimum {
        dimension: DimensionId,
        level: Score,
        minimum: Score,
    },
    BelowThreshold {
        score: Score,
        threshold: Score,
    },
    /// It would have passed, but a strict run must judge more rounds than this.
    TooEarly {
        rounds: u32,
        least: u32,
    },
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MustPass { criterion, verdict: Verdict::Unverified } => {
                write!(f, "{criterion} must pass, but was not verified")
            }
            Self::MustPass { criterion, .. } => write!(f, "{criterion} must pass, but failed"),
            Self::Fallen { criterion } => write!(f, "{criterion} passed before, but no longer does"),
            Self::BelowMinimum { dimension, level, minimum } => {
                write!(f, "{dimension} is at {}, but must reach {}", level.typed(), minimum.typed())
            }
            Self::BelowThreshold { score, threshold } => {
                write!(f, "the score is {}, but must reach {}", score.typed(), threshold.typed())
            }
            Self::TooEarly { least, .. } => write!(f, "a strict run judges at least {least} rounds"),
        }
    }
}

/// Evaluates the verdicts under a contract. `owed` are the criteria that had passed in the artifact this one was built
/// from.
///
/// Verdicts on anything else are ignored. Of two verdicts on one criterion the machine's counts, and of two of the same
/// kind the worse.
pub fn evaluate(
    contract: &Contract,
    raw: &RawVerdicts,
    owed: &BTreeSet<CriterionId>,
    cap: Score,
) -> Evaluation {
    let of_contract = contract.criteria.iter();
    let findings: Vec<Finding> = of_contract.map(|criterion| settled(&criterion.id, &raw.findings)).collect();
    let hits = contract.anti_patterns.iter().filter_map(|pattern| {
        let evident = raw.patterns.iter().filter(|hit| says_something(&hit.evidence));
        evident.filter(|hit| hit.pattern == pattern.id).min_by_key(|hit| hit.by).cloned()
    });
    let patterns: Vec<PatternHit> = hits.collect();
    let verdicts: BTreeMap<&CriterionId, Verdict> =
        findings.iter().map(|finding| (&finding.criterion, finding.verdict)).collect();
    let is_passed = |criterion: &Criterion| verdicts.get(&criterion.id) == Some(&Verdict::Passed);
    let dimensions: Vec<Dimension> = contract
        .dimensions
        .iter()
        .map(|dimension| {
            let of = || contract.of(&dimension.id);
            let all: u32 = of().map(|criterion| criterion.weight).sum();
            let won: u32 = of().filter(|one| is_passed(one)).map(|criterion| criterion.weight).sum();
            let level = level(won, all, of().all(is_passed));
            let is_ours = |pattern: &&AntiPattern| pattern.dimension == dimension.id;
            let ours = contract.anti_patterns.iter().filter(is_ours).map(|pattern| &pattern.id);
            let capped_by: Vec<CriterionId> =
                ours.filter(|id| patterns.iter().any(|hit| hit.pattern == **id)).cloned().collect();
            let claimed = raw.claims.iter().find(|claim| claim.dimension == dimension.id);
            Dimension {
                id: dimension.id.clone(),
                share: share(f64::from(won), f64::from(all)),
                level: if capped_by.is_empty() { level } else { level.min(cap) },
                capped_by,
                claimed: claimed.map(|claim| claim.level),
            }
        })
        .collect();
    let weight =
        |id: &DimensionId| contract.dimension(id).map_or(0.0, |dimension| f64::from(dimension.weight));
    let mean = |of: fn(&Dimension) -> Score| {
        let all: f64 = dimensions.iter().map(|dimension| weight(&dimension.id)).sum();
        share(
            dimensions.iter().map(|dimension| weight(&dimension.id) * of(dimension).points()).sum::<f64>()
                / 100.0,
            all,
        )
    };
    let (score, whole) = (mean(|dimension| dimension.level), mean(|dimension| dimension.share));
    let fell = findings.iter().filter(|finding| finding.verdict != Verdict::Passed);
    let fallen = fell.map(|finding| finding.criterion.clone()).filter(|id| owed.contains(id)).collect();
    let extra = raw.extra.clone();
    Evaluation {
        contract: contract.hash(),
        findings,
        patterns,
        dimensions,
        score,
        share: whole,
        fallen,
        extra,
    }
}

/// Returns the finding that counts. One without evidence is ignored. If a machine could not decide, the judge's counts.
fn settled(id: &CriterionId, found: &[Finding]) -> Finding {
    let evident =
        found.iter().filter(|finding| finding.criterion == *id && says_something(&finding.evidence));
    let rank = |finding: &&Finding| {
        let is_told = finding.verdict != Verdict::Unverified;
        (!is_told, finding.by, finding.verdict != Verdict::Failed)
    };
    let none = || Finding {
        criterion: id.clone(),
        verdict: Verdict::Unverified,
        evidence: "there is no evidence".into(),
        fix: None,
        by: By::Judge,
    };
    evident.min_by_key(rank).cloned().unwrap_or_else(none)
}

/// Returns the level for the passed weight: all of it, three quarters, half, or less.
fn level(won: u32, all: u32, is_whole: bool) -> Score {
    let (won, all) = (u64::from(won), u64::from(all));
    let quarters = if is_whole {
        4
    } else if 4 * won >= 3 * all {
        3
    } else if 2 * won >= all {
        2
    } else {
        1
    };
    Score::new(25.0 * f64::from(quarters)).expect("four quarters are a whole")
}

fn share(part: f64, all: f64) -> Score {
    Score::new((100.0 * part / all).min(100.0)).unwrap_or(Score::ZERO).in_tenths()
}

impl Evaluation {
    /// Returns the criteria that have passed.
    pub fn passed(&self) -> impl Iterator<Item = &CriterionId> {
        self.with(|verdict| verdict == Verdict::Passed)
    }

    pub fn unmet(&self) -> impl Iterator<Item = &CriterionId> {
        self.with(|verdict| verdict != Verdict::Passed)
    }

    fn with(&self, is: fn(Verdict) -> bool) -> impl Iterator<Item = &CriterionId> {
        self.findings.iter().filter(move |finding| is(finding.verdict)).map(|finding| &finding.criterion)
    }

    pub fn dimension(&self, id: &DimensionId) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.id == *id)
    }

    /// Returns everything that keeps it from passing in this round. No average makes up for any of it.
    pub fn blocks(&self, contract: &Contract, rules: &Rules, rounds: u32) -> Vec<Block> {
        let must = self.findings.iter().filter(|finding| finding.verdict != Verdict::Passed);
        let must =
            must.filter(|finding| contract.criterion(&finding.criterion).is_some_and(|one| one.must_pass));
        let must = must.map(|finding| Block::MustPass {
            criterion: finding.criterion.clone(),
            verdict: finding.verdict,
        });
        let fallen = self.fallen.iter().map(|criterion| Block::Fallen { criterion: criterion.clone() });
        let minimums = self.dimensions.iter().filter_map(|dimension| {
            let (level, minimum) = (dimension.level, rules.minimum(contract, &dimension.id)?);
            (level < minimum).then(|| Block::BelowMinimum { dimension: dimension.id.clone(), level, minimum })
        });
        let (score, threshold) = (self.score, rules.threshold);
        let low = (score < threshold).then_some(Block::BelowThreshold { score, threshold });
        let mut blocks: Vec<Block> = must.chain(fallen).chain(minimums).chain(low).collect();
        let least = rules.least_rounds();
        if blocks.is_empty() && rounds < least {
            blocks.push(Block::TooEarly { rounds, least });
        }
        blocks
    }
}
