//! Preparing checks: the task and the rules to check, but never the artifact: its folder is not placed.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AgentRequest, context, page, rules, steps};
use crate::asking::prompt::Faulty;
use crate::base::answer::OffSchema;
use crate::base::material::Folders;
use crate::loops::reflex::answers::PlanStep;
use crate::loops::reflex::criteria::Rule;
use crate::loops::reflex::{Answer, Reflex, checks, forms};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PrepareBrief {
    /// Empty if checks are made without a plan.
    pub steps: Vec<PlanStep>,
}

impl Brief<Reflex> for PrepareBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let seed = &request.code;
        let values = json!({
            "context": context(seed, folders),
            "plan": steps(seed, &self.steps),
            "rules": rules(seed, &unchecked(request)),
            "most": request.plan.task.rules.checks_per_rule,
        });
        Ok(page("prepare", request, values))
    }

    fn form(&self, request: &AgentRequest) -> Option<Value> {
        Some(forms::checks(&unchecked(request), request.plan.task.rules.checks_per_rule))
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let (rules, most) = (&unchecked(request), request.plan.task.rules.checks_per_rule);
        checks::read(answer, &checks::Ask { nonce: &request.code, rules, most }).map(Answer::Prepared)
    }
}

/// Returns the rules of the level alone that need checks.
fn unchecked(request: &AgentRequest) -> Vec<&Rule> {
    request.plan.task.criteria.unchecked(request.brief.level).collect()
}
