//! Refining: the artifact, and the issues to fix in it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{AgentRequest, artifact_or_empty, page};
use crate::asking::prompt::{Faulty, numbered};
use crate::base::id::TreeId;
use crate::base::material::Folders;
use crate::loops::reflex::Reflex;
use crate::loops::reflex::answers::Issue;
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RefineBrief {
    pub artifact: TreeId,
    pub issues: Vec<Issue>,
}

impl Brief<Reflex> for RefineBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let seed = &request.code;
        let values = json!({
            "artifact": artifact_or_empty(seed, folders),
            "issues": numbered(seed, "issues", self.issues.iter().map(text)),
        });
        Ok(page("refine", request, values))
    }
}

fn text(issue: &Issue) -> String {
    let Issue { rule, section, problem, fix_instruction, expected_effect } = issue;
    let section = if section.is_empty() { "the whole text" } else { section };
    format!("{rule}\nWhere: {section}\nProblem: {problem}\nDo: {fix_instruction}\nThen: {expected_effect}")
}
