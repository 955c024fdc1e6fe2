//! Reads a judge's verdicts: on each criterion, anti-pattern and extra item that it was asked about, and on no other.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::talk::plain_id;
use super::{LEVELS, LONGEST, level};
use crate::base::answer::{self, Object, OffSchema};
use crate::judging::contract::{CriterionId, DimensionId};
use crate::loops::gan::contract::{AntiPattern, Criterion};
use crate::loops::gan::course::Item;
use crate::loops::gan::evaluation::{By, Claim, Finding, PatternHit, Verdict};

/// An item is a question, not a story.
const LONGEST_ITEM: usize = 200;

/// The questions to a judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub dimensions: Vec<DimensionId>,
    /// Only criteria that no machine has decided.
    pub criteria: Vec<Criterion>,
    pub patterns: Vec<AntiPattern>,
    pub extra: Vec<Item>,
    /// The maximum number of items that it may suggest for the next round.
    pub most_wanted: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    pub findings: Vec<Finding>,
    /// The anti-patterns that the judge found.
    pub patterns: Vec<PatternHit>,
    pub claims: Vec<Claim>,
    pub extra: Vec<Finding>,
    /// Extra items that it suggests for the next round.
    pub wanted: Vec<Item>,
}

/// Reads the verdicts. Claimed levels and suggested items are shown but never counted, so malformed ones are skipped.
pub fn verdicts(text: &str, nonce: &str, asked: &Asked) -> Result<Verdicts, OffSchema> {
    answer::coded(text, nonce, "criteria", |mut answer| {
        let criteria = asked.criteria.iter().map(|criterion| &criterion.id);
        let findings = findings(&mut answer, "criteria", &criteria)?;
        let extra = findings_of_extra(&mut answer, asked)?;
        let patterns = patterns(&mut answer, asked)?;
        let claims = answer::lenient(&mut answer, "levels", |value| claim(value, asked));
        let mut wanted = answer::lenient(&mut answer, "next", item);
        let mut known = BTreeSet::new();
        wanted.retain(|item: &Item| known.insert(item.id.clone()));
        wanted.truncate(asked.most_wanted);
        Ok(Verdicts { findings, patterns, claims, extra, wanted })
    })
}

#[derive(Deserialize)]
struct Entry {
    id: CriterionId,
    verdict: Verdict,
    evidence: String,
    #[serde(default)]
    fix: Option<String>,
}

fn findings_of_extra(answer: &mut Object, asked: &Asked) -> Result<Vec<Finding>, OffSchema> {
    if asked.extra.is_empty() {
        Ok(Vec::new())
    } else {
        findings(answer, "extra", &asked.extra.iter().map(|item| &item.id))
    }
}

fn findings<'a>(
    answer: &mut Object,
    key: &str,
    asked: &(impl Iterator<Item = &'a CriterionId> + Clone),
) -> Result<Vec<Finding>, OffSchema> {
    let entries = answer::entries::<Entry>(answer, key)?;
    answer::exactly(&entries.iter().map(|entry| &entry.id), asked)?;
    let finding = |entry: Entry| Finding {
        criterion: entry.id,
        verdict: entry.verdict,
        evidence: answer::capped(&entry.evidence, LONGEST).into(),
        fix: entry.fix.map(|fix| answer::capped(&fix, LONGEST).into()),
        by: By::Judge,
    };
    Ok(entries.into_iter().map(finding).collect())
}

#[derive(Deserialize)]
struct Sight {
    id: CriterionId,
    present: bool,
    #[serde(default)]
    evidence: String,
}

/// Reads the anti-patterns that the judge found. One without evidence does not count.
fn patterns(answer: &mut Object, asked: &Asked) -> Result<Vec<PatternHit>, OffSchema> {
    if asked.patterns.is_empty() {
        return Ok(Vec::new());
    }
    let entries = answer::entries::<Sight>(answer, "patterns")?;
    let ids = asked.patterns.iter().map(|pattern| &pattern.id);
    answer::exactly(&entries.iter().map(|entry| &entry.id), &ids)?;
    let hits = entries.into_iter().filter(|entry| entry.present).map(|entry| PatternHit {
        pattern: entry.id,
        evidence: answer::capped(&entry.evidence, LONGEST).into(),
        by: By::Judge,
    });
    Ok(hits.filter(|hit| answer::says_something(&hit.evidence)).collect())
}

fn claim(value: &Value, asked: &Asked) -> Option<Claim> {
    let dimension = DimensionId::new(value.get("dimension")?.as_str()?);
    let level = level(value.get("level")?.as_f64()?, &LEVELS)?;
    let why = answer::words(value.get("why"), LONGEST)?;
    let is_asked = asked.dimensions.contains(&dimension);
    is_asked.then_some(Claim { dimension, level, why })
}

/// Reads a suggested item. A later judge must not learn of earlier judgements, so an item that mentions one is dropped.
fn item(value: &Value) -> Option<Item> {
    let words = |key| answer::words(value.get(key), LONGEST_ITEM).filter(|words| !tells(words));
    let id = value.get("id")?.as_str()?;
    let id = plain_id(id).ok().filter(|_| !tells(id))?;
    Some(Item { id, text: words("text")?, verification: words("verification")? })
}

fn tells(text: &str) -> bool {
    const BEGINNINGS: [&str; 8] =
        ["scor", "verdict", "judg", "evaluat", "iterat", "sprint", "rating", "fail"];
    const WORDS: [&str; 5] = ["passed", "points", "rounds", "earlier", "previously"];
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_one =
        |word: &&str| WORDS.contains(word) || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
    // The first word alone is fine: a corner may be round, and a button may lead to the previous picture.
    let are_one = |two: &[&str]| match two {
        ["round", number] => number.starts_with(|c: char| c.is_ascii_digit()),
        ["last" | "previous" | "first" | "second", what] => matches!(*what, "round" | "version" | "time"),
        _ => false,
    };
    words.iter().any(is_one) || words.windows(2).any(are_one)
}
