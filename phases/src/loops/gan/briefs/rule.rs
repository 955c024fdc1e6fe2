//! Ruling on the builder's proposals.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AgentRequest, conditions, criteria, page, proposal_text};
use crate::asking::prompt::{Faulty, numbered};
use crate::base::answer::OffSchema;
use crate::base::material::Folders;
use crate::loops::gan::contract::Contract;
use crate::loops::gan::negotiation::{Negotiation, Proposal};
use crate::loops::gan::{Answer, Gan, answers};
use crate::loops::shared::form::{bound, list, object, text};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RuleBrief {
    pub contract: Contract,
    pub talk: Negotiation,
}

impl RuleBrief {
    /// Returns the newest proposals with their reasons, which the builder wrote.
    pub(crate) fn proposals(&self) -> &[Proposal] {
        self.talk.rounds.last().map_or(&[], |round| &round.proposals)
    }
}

impl Brief<Gan> for RuleBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let values = json!({
            "contract": criteria(&request.code, &self.contract),
            "conditions": conditions(&request.code, &self.contract),
            "proposals": numbered(&request.code, "proposals", self.proposals().iter().map(proposal_text)),
        });
        Ok(page("rule", request, folders, values))
    }

    fn form(&self, _: &AgentRequest) -> Option<Value> {
        let ruling = object(&json!({
            "proposal": { "type": "integer" },
            "accepted": { "type": "boolean" },
            "cites": text(),
            "why": text(),
        }));
        let number = self.proposals().len();
        Some(bound("rulings", &list(&(number..=number), &ruling)))
    }

    fn check(&self, request: &AgentRequest, answer: &Answer) -> Result<(), OffSchema> {
        let Answer::Ruled(rulings) = answer else { return Ok(()) };
        let task = &request.plan.task;
        Ok(self.talk.clone().rule(&task.asked, &task.brief.text, rulings.clone())?)
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let (task, code) = (&request.plan.task, &request.code);
        answers::rulings(answer, code, &task.brief.text, (&task.asked, &self.talk)).map(Answer::Ruled)
    }
}
