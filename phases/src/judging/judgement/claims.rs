//! The original's shape: one number per dimension, no criteria and no code.
//!
//! It is accepted only from evaluators that are set to it, so that evaluators made for the original can be used. The
//! composite is computed here by the contract's weights; the one in the answer is only a claim.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Ask, Assessment, Findings, Judgement, Kind, Remarks, claim, remarks};
use crate::base::answer::{self, Mismatch, Object, OffSchema, shape};
use crate::judging::contract::Dimension;
use crate::judging::score::{Score, Scored, compose};

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    score: Score,
}

impl Entry {
    fn is_of(&self, dimension: &Dimension) -> bool {
        match (&self.id, &self.name) {
            (Some(id), _) => id.eq_ignore_ascii_case(dimension.id.as_str()),
            (None, Some(name)) => name.eq_ignore_ascii_case(&dimension.name),
            (None, None) => false,
        }
    }

    fn label(&self) -> String {
        self.id
            .as_ref()
            .or(self.name.as_ref())
            .cloned()
            .unwrap_or_else(|| "a dimension without id".to_owned())
    }
}

pub(super) fn read(mut object: Object, ask: &Ask<'_>) -> Result<Judgement, OffSchema> {
    let entries = answer::entries::<Entry>(&mut object, "dimensions")?;
    let whole = assess(&entries, ask)?;
    let members = members(&object, ask)?;
    let Remarks { strengths, weaknesses, suggestions } = remarks(&mut object, ask);
    let claim = claim(&object, "composite_score");
    Ok(Judgement {
        kind: Kind::Claimed,
        whole,
        members,
        strengths,
        weaknesses,
        suggestions,
        claim,
        at_fault: BTreeMap::new(),
    })
}

fn assess(entries: &[Entry], ask: &Ask<'_>) -> Result<Assessment, OffSchema> {
    let mut odd = Mismatch::default();
    let mut dimensions = Vec::with_capacity(ask.contract.dimensions.len());
    for dimension in &ask.contract.dimensions {
        let mut given = entries.iter().filter(|entry| entry.is_of(dimension));
        match (given.next(), given.next()) {
            (None, _) => odd.missing.push(dimension.id.to_string()),
            (Some(entry), None) => dimensions.push((dimension.id.clone(), Some(entry.score))),
            (Some(_), Some(_)) => odd.double.push(dimension.id.to_string()),
        }
    }
    let known = |entry: &&Entry| ask.contract.dimensions.iter().any(|dimension| entry.is_of(dimension));
    odd.unknown.extend(entries.iter().filter(|entry| !known(entry)).map(Entry::label));
    odd.into_result()?;
    Ok(Assessment { findings: Findings::none(), scored: compose(ask.contract, dimensions) })
}

fn members(object: &Object, ask: &Ask<'_>) -> Result<BTreeMap<String, Assessment>, OffSchema> {
    let numbers = object.get("chain_scores").and_then(Value::as_object);
    let member = |name: &&str| {
        let number = numbers.and_then(|numbers| numbers.get(*name)).and_then(Value::as_f64);
        let composite = number.and_then(Score::new).ok_or_else(|| {
            shape(&format!("`chain_scores` must hold a number from 0 to 100 for the member {name}"))
        })?;
        let scored = Scored { composite: Some(composite), dimensions: Vec::new() };
        Ok(((*name).to_owned(), Assessment { findings: Findings::none(), scored }))
    };
    ask.members.iter().map(member).collect()
}
