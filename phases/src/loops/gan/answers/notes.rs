//! Reads a builder's notes on what it has built. They are shown to people and never scored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LONGEST;
use crate::base::answer::{self, Object};
use crate::judging::contract::CriterionId;
use crate::loops::gan::contract::Contract;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    pub notes: Box<str>,
    pub claims: Vec<Claim>,
}

/// A criterion that the builder claims to have met, and where to see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub criterion: CriterionId,
    pub evidence: Box<str>,
}

const LONGEST_NOTES: usize = 4000;

/// Reads the notes. The files are the answer, so unreadable notes are not an error. A claim without evidence is
/// dropped.
pub fn notes(text: &str, nonce: &str, contract: &Contract) -> Notes {
    let read = answer::coded(text, nonce, "notes", |mut object: Object| {
        let notes = answer::words(object.get("notes"), LONGEST_NOTES).unwrap_or_default();
        let claims = answer::lenient(&mut object, "claims", |value| claim(value, contract));
        Ok(Notes { notes, claims })
    });
    read.unwrap_or_else(|_| Notes { notes: answer::capped(text, LONGEST_NOTES).into(), claims: Vec::new() })
}

fn claim(value: &Value, contract: &Contract) -> Option<Claim> {
    let criterion = CriterionId::new(value.get("criterion")?.as_str()?);
    let evidence = answer::words(value.get("evidence"), LONGEST)?;
    contract.criterion(&criterion).map(|_| Claim { criterion, evidence })
}
