//! The findings of one assessment, packed, because a run keeps those of every evaluation until its end.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::judging::contract::{CriterionId, Verdict};

/// One criterion's verdict and its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Finding<'a> {
    pub criterion: &'a CriterionId,
    pub verdict: Verdict,
    pub evidence: &'a str,
}

/// The findings in the order of the contract; empty if the evaluation is only claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    criteria: Arc<[CriterionId]>,
    /// Each verdict with the end of its evidence; the next evidence begins there.
    verdicts: Box<[(Verdict, u32)]>,
    evidence: Box<str>,
}

impl Findings {
    pub fn none() -> Self {
        Self::from_iter([])
    }

    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = Finding<'_>> {
        let mut begin = 0;
        self.criteria.iter().zip(&self.verdicts).map(move |(criterion, &(verdict, end))| {
            let end = end as usize;
            let evidence = &self.evidence[std::mem::replace(&mut begin, end)..end];
            Finding { criterion, verdict, evidence }
        })
    }

    /// Shares its list of criteria with others that have the same.
    pub(crate) fn share(&mut self, criteria: &Arc<[CriterionId]>) {
        if self.criteria == *criteria {
            self.criteria = Arc::clone(criteria);
        }
    }
}

impl<'a> FromIterator<Finding<'a>> for Findings {
    fn from_iter<I: IntoIterator<Item = Finding<'a>>>(found: I) -> Self {
        let (mut criteria, mut verdicts, mut all) = (Vec::new(), Vec::new(), String::new());
        for finding in found {
            all.push_str(finding.evidence);
            let end = u32::try_from(all.len()).expect("an answer is far shorter than four gigabytes");
            criteria.push(finding.criterion.clone());
            verdicts.push((finding.verdict, end));
        }
        Self { criteria: criteria.into(), verdicts: verdicts.into(), evidence: all.into() }
    }
}

impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Findings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Entry {
            criterion: CriterionId,
            verdict: Verdict,
            evidence: String,
        }
        let entries = Vec::<Entry>::deserialize(deserializer)?;
        let findings = entries.iter().map(|entry| Finding {
            criterion: &entry.criterion,
            verdict: entry.verdict,
            evidence: &entry.evidence,
        });
        Ok(findings.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> Findings {
        let (steps, edges) = (CriterionId::from("clarity.steps"), CriterionId::from("completeness.edges"));
        let found = [
            (&steps, Verdict::Pass, "“one”"),
            (&edges, Verdict::Fail, ""),
            (&steps, Verdict::Partial, "two"),
        ];
        found
            .into_iter()
            .map(|(criterion, verdict, evidence)| Finding { criterion, verdict, evidence })
            .collect()
    }

    #[test]
    fn what_was_packed_comes_out_in_order() {
        let findings = findings();
        let unpacked: Vec<_> =
            findings.iter().map(|one| (one.criterion.as_str(), one.verdict, one.evidence)).collect();
        assert_eq!(
            unpacked,
            [
                ("clarity.steps", Verdict::Pass, "“one”"),
                ("completeness.edges", Verdict::Fail, ""),
                ("clarity.steps", Verdict::Partial, "two")
            ]
        );
        assert!(Findings::none().iter().next().is_none());
    }

    #[test]
    fn a_journal_line_holds_them_one_by_one() {
        let text = serde_json::to_string(&findings()).unwrap();
        assert!(
            text.starts_with(r#"[{"criterion":"clarity.steps","verdict":"pass","evidence":"“one”"},"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), findings());
    }

    #[test]
    fn only_the_same_list_is_shared() {
        let (mut findings, other) = (findings(), findings());
        findings.share(&other.criteria);
        assert!(Arc::ptr_eq(&findings.criteria, &other.criteria));
        findings.share(&Findings::none().criteria);
        assert!(Arc::ptr_eq(&findings.criteria, &other.criteria));
    }
}
