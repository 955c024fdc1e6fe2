//! Proposing changes to a draft, by the builder.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AgentRequest, conditions, criteria, criterion_form, page, proposal_text};
use crate::asking::prompt::{Faulty, numbered};
use crate::base::answer::OffSchema;
use crate::base::material::Folders;
use crate::loops::gan::answers::{self, MOST_PROPOSALS, MOST_WEIGHT};
use crate::loops::gan::contract::Contract;
use crate::loops::gan::negotiation::{Negotiation, Round};
use crate::loops::gan::{Answer, Gan};
use crate::loops::shared::form::{bound, list, one_of, text};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProposeBrief {
    pub contract: Contract,
    pub talk: Negotiation,
}

impl Brief<Gan> for ProposeBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let seed = &request.code;
        let declined = self.talk.rounds.last().map(|Round { proposals, rulings }| {
            let declined = proposals.iter().zip(rulings).filter(|(_, ruling)| !ruling.is_accepted);
            let texts = declined.map(|(proposal, ruling)| {
                format!(
                    "{}\nDeclined, by these words of the brief: “{}”. {}",
                    proposal_text(proposal),
                    ruling.cites,
                    ruling.why
                )
            });
            numbered(seed, "proposals", texts)
        });
        let values = json!({
            "contract": criteria(seed, &self.contract),
            "conditions": conditions(seed, &self.contract),
            "declined": declined,
            "most": MOST_PROPOSALS,
            "most_weight": MOST_WEIGHT,
        });
        Ok(page("propose", request, folders, values))
    }

    /// An agent that is held to a schema fills in all parts, including those that a change does not need.
    fn form(&self, request: &AgentRequest) -> Option<Value> {
        let change = json!({
            "change": one_of(["add", "drop", "reword", "must_pass", "pass_condition"]),
            "minimum": { "type": "number", "enum": answers::LEVELS },
            "why": text(),
        });
        let proposal = criterion_form(&request.plan.task.asked, change);
        Some(bound("proposals", &list(&(0..=MOST_PROPOSALS), &proposal)))
    }

    fn check(&self, request: &AgentRequest, answer: &Answer) -> Result<(), OffSchema> {
        let Answer::Proposed(proposals) = answer else { return Ok(()) };
        Ok(self.talk.clone().propose(&request.plan.task.asked, proposals.clone())?)
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let so_far = (&request.plan.task.asked, &self.talk);
        answers::proposals(answer, &request.code, so_far).map(Answer::Proposed)
    }
}
