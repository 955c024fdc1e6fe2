//! Proposing rules: from the task, the project, and the existing rules.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AgentRequest, context, page, rules};
use crate::asking::prompt::{Faulty, fence};
use crate::base::answer::OffSchema;
use crate::base::material::Folders;
use crate::loops::reflex::answers::{self, Wanted};
use crate::loops::reflex::criteria::{CATEGORIES, Rule};
use crate::loops::reflex::task::Bounds;
use crate::loops::reflex::{Answer, Reflex, forms};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProposeBrief {
    pub bounds: Bounds,
}

impl Brief<Reflex> for ProposeBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let (seed, task) = (request.code.as_str(), &request.plan.task);
        let known: Vec<&Rule> = task.criteria.rules.iter().collect();
        let major = Some(task.setup.major.trim()).filter(|major| !major.is_empty());
        let values = json!({
            "context": context(seed, folders),
            "rules": (!known.is_empty()).then(|| rules(seed, &known)),
            "major": major.map(|major| fence(seed, "major", major)),
            "categories": CATEGORIES.map(|category| format!("`{category}`")).join(", "),
            "least": self.bounds.least,
            "most": self.bounds.most,
        });
        Ok(page("propose", request, values))
    }

    fn form(&self, _: &AgentRequest) -> Option<Value> {
        Some(forms::proposal(self.bounds))
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let task = &request.plan.task;
        let (known, weights) = (task.criteria.rules.as_slice(), task.setup.weights);
        let wanted = Wanted { known, weights, bounds: self.bounds };
        answers::proposal(answer, &request.code, wanted).map(Answer::Proposed)
    }
}
