//! Writing the text: the task, the plan, and the text so far if there is one.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{AgentRequest, artifact, context, page, steps};
use crate::asking::prompt::Faulty;
use crate::base::id::TreeId;
use crate::base::material::Folders;
use crate::loops::reflex::Reflex;
use crate::loops::reflex::answers::PlanStep;
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProduceBrief {
    /// The existing artifact.
    pub from: Option<TreeId>,
    pub steps: Vec<PlanStep>,
}

impl Brief<Reflex> for ProduceBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let seed = &request.code;
        let values = json!({
            "context": context(seed, folders),
            "plan": steps(seed, &self.steps).unwrap_or_else(|| "(none)".to_owned()),
            "artifact": artifact(seed, folders),
        });
        Ok(page("produce", request, values))
    }
}
