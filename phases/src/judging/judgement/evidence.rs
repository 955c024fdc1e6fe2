//! The requested shape: one verdict with evidence per criterion.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Ask, Assessment, Finding, Findings, Judgement, Kind, Remarks, claim, remarks};
use crate::base::answer::{self, Mismatch, Object, OffSchema};
use crate::judging::contract::{CriterionId, Verdict};
use crate::judging::score::score;

const LONGEST_EVIDENCE: usize = 600;

#[derive(Deserialize)]
struct Entry {
    id: String,
    #[serde(default)]
    member: Option<String>,
    verdict: Verdict,
    evidence: String,
    #[serde(default)]
    at_fault: Option<serde_json::Value>,
}

/// The entries by subject: a member or the whole, and a criterion.
type Answers = BTreeMap<(String, String), Vec<Entry>>;

const WHOLE: &str = "";

pub(super) fn read(mut object: Object, ask: &Ask<'_>) -> Result<Judgement, OffSchema> {
    let (mut answers, mut at_fault) = (Answers::new(), BTreeMap::new());
    for mut entry in answer::entries::<Entry>(&mut object, "criteria")? {
        let named = entry.at_fault.take().filter(|_| entry.verdict.is_met() == Some(false));
        if let Some(name) =
            named.as_ref().and_then(|name| name.as_str()).filter(|name| ask.at_fault.contains(name))
        {
            at_fault.insert(CriterionId::from(entry.id.as_str()), name.into());
        }
        let about = (entry.member.take().unwrap_or_default(), std::mem::take(&mut entry.id));
        answers.entry(about).or_default().push(entry);
    }
    let mut odd = Mismatch::default();
    let whole = assess(WHOLE, &mut answers, ask, &mut odd);
    let members =
        ask.members.iter().map(|name| ((*name).to_owned(), assess(name, &mut answers, ask, &mut odd)));
    let members = members.collect();
    odd.unknown.extend(answers.keys().map(|(member, id)| slot(member, id)));
    odd.into_result()?;
    let Remarks { strengths, weaknesses, suggestions } = remarks(&mut object, ask);
    let claim = claim(&object, "claimed_score");
    Ok(Judgement {
        kind: Kind::Evidenced,
        whole,
        members,
        strengths,
        weaknesses,
        suggestions,
        claim,
        at_fault,
    })
}

/// Takes the answers about one member, or about the whole, from all answers.
fn assess(member: &str, answers: &mut Answers, ask: &Ask<'_>, odd: &mut Mismatch) -> Assessment {
    let mut weighed = Vec::with_capacity(ask.contract.criteria.len());
    for criterion in &ask.contract.criteria {
        let id = criterion.id.as_str();
        let entries = answers.remove(&(member.to_owned(), id.to_owned())).unwrap_or_default();
        match entries.as_slice() {
            [] => odd.missing.push(slot(member, id)),
            [entry] => {
                let (verdict, evidence) = weigh(entry);
                weighed.push((&criterion.id, verdict, evidence));
            }
            _ => odd.double.push(slot(member, id)),
        }
    }
    let weighed = weighed.iter();
    let findings: Findings =
        weighed.map(|&(criterion, verdict, ref evidence)| Finding { criterion, verdict, evidence }).collect();
    let scored = score(ask.contract, &findings);
    Assessment { findings, scored }
}

/// Downgrades praise without evidence to unverified. A fail may have nothing to quote.
fn weigh(entry: &Entry) -> (Verdict, String) {
    let evidence = answer::capped(&entry.evidence, LONGEST_EVIDENCE);
    let verdict = match entry.verdict {
        Verdict::Pass | Verdict::Partial if !answer::says_something(&evidence) => Verdict::Unverified,
        verdict => verdict,
    };
    (verdict, evidence)
}

fn slot(member: &str, id: &str) -> String {
    if member == WHOLE { id.to_owned() } else { format!("{id} of member {member}") }
}
