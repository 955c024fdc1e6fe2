//! Reads an evaluator's answer: its verdicts, their evidence, and its suggestions.
//!
//! The score is always computed here from the answer; a model's own number is only its claim. The answer must repeat
//! the code (nonce) of the request, so that a verdict quoted from an artifact or from another scenario is never taken
//! for this one. The original's shape has numbers only and no code: it is accepted only from an agent whose settings
//! say that it answers so, and is marked `Claimed`.

mod claims;
mod evidence;
mod schema;
mod suggestion;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::answer::{self, Object, OffSchema};
use crate::judging::contract::{Contract, CriterionId, Verdict};
use crate::judging::score::{Score, Scored, compose, score};

pub use crate::judging::findings::{Finding, Findings};
pub use schema::schema;
pub use suggestion::{Priority, Suggestion};

/// The parts of a request that reading its answer needs.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub contract: &'a Contract,
    /// Never empty, and unknown to the authors of the judged files.
    pub nonce: &'a str,
    /// The names of the chain's members, empty for a single skill.
    pub members: &'a [&'a str],
    /// For a chain that is not judged member by member: the names that may be blamed for a missed criterion.
    pub at_fault: &'a [&'a str],
    pub shape: VerdictShape,
}

/// The shape in which an evaluator gives its verdicts, set in its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictShape {
    /// Verdicts with evidence and the code of the request.
    #[default]
    Evidenced,
    /// Numbers alone are accepted, as in the original. Without a code, text the agent quotes can pass for a verdict.
    Original,
}

impl VerdictShape {
    pub const ALL: [Self; 2] = [Self::Evidenced, Self::Original];

    pub fn word(self) -> &'static str {
        match self {
            Self::Evidenced => "evidenced",
            Self::Original => "original",
        }
    }

    pub fn is_evidenced(&self) -> bool {
        *self == Self::Evidenced
    }
}

/// One evaluator's answer, read, checked and scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub kind: Kind,
    pub whole: Assessment,
    /// The assessments by member name; empty for a single skill.
    pub members: BTreeMap<String, Assessment>,
    pub strengths: Vec<Box<str>>,
    pub weaknesses: Vec<Box<str>>,
    pub suggestions: Vec<Suggestion>,
    /// The model's own number. No decision depends on it.
    pub claim: Option<Score>,
    /// For a chain: the member that must change for each missed criterion, if the judge names one. It may be wrong.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at_fault: BTreeMap<CriterionId, Box<str>>,
}

/// The basis of an evaluation's scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Verdicts with quotes.
    Evidenced,
    /// Numbers that the model made up per dimension.
    Claimed,
}

/// The verdicts on the whole target or on one member, with their score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// The findings in the order of the contract; empty if the evaluation is only claimed.
    pub findings: Findings,
    pub scored: Scored,
}

impl Judgement {
    /// Shares the lists of criteria with other evaluations that have the same.
    pub(crate) fn share(&mut self, criteria: &Arc<[CriterionId]>) {
        let all = std::iter::once(&mut self.whole).chain(self.members.values_mut());
        all.for_each(|assessment| assessment.findings.share(criteria));
    }

    /// Removes the verdicts on the effect of the members that a trial did not use, and of the whole with them. The result
    /// is then the agent's own work, even if the judge credited the skill.
    #[must_use]
    pub(crate) fn without_effect_of(mut self, unused: &[&str], contract: &Contract) -> Self {
        if !unused.is_empty() {
            let members = self.members.iter_mut().filter(|(name, _)| unused.contains(&name.as_str()));
            let all = std::iter::once(&mut self.whole).chain(members.map(|(_, member)| member));
            all.for_each(|assessment| assessment.forget_effect(self.kind, contract));
        }
        self
    }
}

/// What replaces the evidence of a verdict on the effect of a skill that was not used.
const UNUSED: &str = "the skill was not used in this trial";

impl Assessment {
    fn forget_effect(&mut self, kind: Kind, contract: &Contract) {
        match kind {
            Kind::Evidenced => {
                let is_of_effect = |id| contract.criterion(id).is_some_and(|criterion| criterion.of_effect);
                let forgotten = self.findings.iter().map(|finding| {
                    if is_of_effect(finding.criterion) {
                        Finding { verdict: Verdict::Unverified, evidence: UNUSED, ..finding }
                    } else {
                        finding
                    }
                });
                let findings: Findings = forgotten.collect();
                self.scored = score(contract, &findings);
                self.findings = findings;
            }
            // A single number for a member cannot be split into dimensions.
            Kind::Claimed if self.scored.dimensions.is_empty() => {}
            Kind::Claimed => {
                let mut dimensions = self.scored.dimensions.clone();
                for (id, score) in &mut dimensions {
                    let mut criteria = contract.criteria_of(id).peekable();
                    let is_of_effect = criteria.peek().is_some() && criteria.all(|one| one.of_effect);
                    *score = score.filter(|_| !is_of_effect);
                }
                self.scored = compose(contract, dimensions);
            }
        }
    }
}

/// The key under which an answer repeats the code of its request.
const CODE: &str = "verdict_of";

/// Reads an evaluator's answer.
pub fn read(text: &str, ask: &Ask<'_>) -> Result<Judgement, OffSchema> {
    let objects = answer::objects(text)?;
    let is_verdict = |object: &Object| object.contains_key("criteria") || object.contains_key(CODE);
    let (verdicts, others): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_verdict);
    let some_verdict = !verdicts.is_empty();
    let ours = |object: &Object| object.get(CODE).and_then(|code| code.as_str()) == Some(ask.nonce);
    let ours: Vec<_> = verdicts.into_iter().filter(ours).collect();
    if !ours.is_empty() {
        return answer::readable(ours, |object| evidence::read(object, ask));
    }
    if some_verdict {
        return Err(OffSchema::Forged(CODE));
    }
    let claims: Vec<_> = others.into_iter().filter(|object| object.contains_key("dimensions")).collect();
    match ask.shape {
        VerdictShape::Evidenced if claims.is_empty() => Err(OffSchema::Absent),
        VerdictShape::Evidenced => Err(OffSchema::Forged(CODE)),
        // An evaluator that tried to send the code but garbled its JSON may still quote numbers of others.
        VerdictShape::Original if text.contains(ask.nonce) => Err(OffSchema::Absent),
        VerdictShape::Original => claims::read(answer::only(claims)?, ask),
    }
}

/// Reads what accompanies the verdicts. Odd or missing parts never make an answer unusable.
fn remarks(object: &mut Object, ask: &Ask<'_>) -> Remarks {
    let line = |value: &serde_json::Value| answer::words(Some(value), 600);
    Remarks {
        strengths: answer::lenient(object, "strengths", line),
        weaknesses: answer::lenient(object, "weaknesses", line),
        suggestions: answer::lenient(object, "suggestions", |value| suggestion::read(value, ask.members)),
    }
}

struct Remarks {
    strengths: Vec<Box<str>>,
    weaknesses: Vec<Box<str>>,
    suggestions: Vec<Suggestion>,
}

fn claim(object: &Object, key: &str) -> Option<Score> {
    object.get(key).and_then(serde_json::Value::as_f64).and_then(Score::new)
}

#[cfg(test)]
mod tests;
