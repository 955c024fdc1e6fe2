//! The outcome of a check of the source.

use super::evidence::Places;
use super::site::Site;
use crate::loops::gan::evaluation::Verdict;

#[derive(Debug)]
pub(super) struct CheckOutcome {
    pub verdict: Verdict,
    pub evidence: String,
}

impl CheckOutcome {
    pub(super) fn passed(evidence: impl Into<String>) -> Self {
        Self { verdict: Verdict::Passed, evidence: evidence.into() }
    }

    pub(super) fn failed(places: &Places) -> Self {
        Self { verdict: Verdict::Failed, evidence: places.text() }
    }

    pub(super) fn unverified(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Unverified, evidence: why.into() }
    }

    /// Fails if there are faults; passes only if the source shows the whole page.
    pub(super) fn of(faults: &Places, site: &Site<'_>, passed: &str) -> Self {
        match site.doubt() {
            _ if !faults.is_empty() => Self::failed(faults),
            Some(doubt) => Self::unverified(doubt),
            None => Self::passed(passed),
        }
    }
}
