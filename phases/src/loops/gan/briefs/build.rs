//! Building: the contract, the files so far, and what was found in them.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{AgentRequest, conditions, criteria, item, list, page};
use crate::asking::prompt::{Faulty, files, plain};
use crate::base::id::TreeId;
use crate::base::material::Folders;
use crate::loops::gan::contract::Contract;
use crate::loops::gan::course::{Focus, Round};
use crate::loops::gan::evaluation::{Evaluation, Finding, Verdict};
use crate::loops::gan::{ARTIFACT, Gan, Run};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BuildBrief {
    pub contract: Contract,
    pub focus: Focus,
    /// The evaluation of the files that it continues from; none in the first sprint.
    pub found: Option<Evaluation>,
    /// Guidance from a person.
    pub guidance: Vec<String>,
}

impl BuildBrief {
    /// Returns the brief of the current sprint, with the evaluation of the files it continues from if they were judged
    /// under this contract.
    pub(crate) fn of(run: &Run, from: TreeId) -> Option<Self> {
        let state = &run.state;
        let contract = state.contract()?.clone();
        let focus = state.sprints.last()?.focus.clone();
        let hash = contract.hash();
        let judged = run.judged(from).filter(|round| round.era == state.era);
        let found = judged.map(Round::found).filter(|found| found.contract == hash);
        let guidance = state.guidance().map(str::to_owned).collect();
        Some(Self { contract, focus, found, guidance })
    }
}

impl Brief<Gan> for BuildBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let Self { contract, focus, found, guidance } = self;
        let (seed, artifact) = (request.code.as_str(), folders.placed(ARTIFACT));
        let of = |is_passed: bool| {
            let findings = found.iter().flat_map(|found| &found.findings);
            findings.filter(move |finding| (finding.verdict == Verdict::Passed) == is_passed)
        };
        let patterns = found.iter().flat_map(|found| &found.patterns).map(|hit| {
            let pattern = contract.anti_patterns.iter().find(|pattern| pattern.id == hit.pattern);
            let pattern = pattern.map_or("", |pattern| &pattern.pattern);
            format!("{}: {pattern}\nSeen: {}", hit.pattern, hit.evidence)
        });
        let unmet = of(false).map(|finding| missed(contract, finding)).chain(patterns);
        let avoid = contract.anti_patterns.iter().map(|pattern| pattern.pattern.to_string());
        let priority = contract.dimension(&focus.priority).map_or("", |dimension| &dimension.name);
        let values = json!({
            "at": artifact.at,
            "artifact": (!artifact.files.is_empty()).then(|| files(seed, artifact)),
            "contract": criteria(seed, contract),
            "conditions": conditions(seed, contract),
            "avoid": list(seed, "to be avoided", avoid),
            "unmet": list(seed, "what is missed", unmet),
            "met": list(seed, "what is met", of(true).map(|finding| finding.criterion.to_string())),
            "priority": plain(priority),
            "extra": list(seed, "besides", focus.extra.iter().map(item)),
            "guidance": list(seed, "guidance", guidance.iter().cloned()),
        });
        Ok(page("build", request, folders, values))
    }
}

fn missed(contract: &Contract, finding: &Finding) -> String {
    let verdict = if finding.verdict == Verdict::Failed { "failed" } else { "could not be told" };
    let must = contract.criterion(&finding.criterion).is_some_and(|criterion| criterion.must_pass);
    let must = if must { ", must pass" } else { "" };
    let fix = finding.fix.as_deref().map(|fix| format!("\nTo pass: {fix}")).unwrap_or_default();
    format!("{} ({verdict}{must})\nSeen: {}{fix}", finding.criterion, finding.evidence)
}
