//! Removes the verdicts on effect if a trial did not use the skill. The result is then the agent's own work, even if
//! the judge credited the skill.

use super::{Assessment, Finding, Findings, Judgement, Kind};
use crate::judging::contract::{Contract, Verdict};
use crate::judging::score::{compose, score};

const EVIDENCE: &str = "the skill was not used in this trial";

impl Judgement {
    /// Removes the verdicts on the effect of the unused members, and of the whole with them.
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

impl Assessment {
    fn forget_effect(&mut self, kind: Kind, contract: &Contract) {
        match kind {
            Kind::Evidenced => {
                let is_of_effect = |id| contract.criterion(id).is_some_and(|criterion| criterion.of_effect);
                let forgotten = self.findings.iter().map(|finding| {
                    if is_of_effect(finding.criterion) {
                        Finding { verdict: Verdict::Unverified, evidence: EVIDENCE, ..finding }
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
