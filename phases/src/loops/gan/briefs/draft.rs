//! Drafting a contract: from the brief and the profile.

use serde_json::{Value, json};

use super::{AgentRequest, criteria, criterion_form, page};
use crate::asking::prompt::Faulty;
use crate::base::answer::OffSchema;
use crate::base::material::Folders;
use crate::loops::gan::answers::{self, MINIMUMS, MOST_CRITERIA, MOST_TESTS, MOST_WEIGHT};
use crate::loops::gan::negotiation::Negotiation;
use crate::loops::gan::test_scenario::{MOST_ACTS, Verb};
use crate::loops::gan::{Answer, Gan};
use crate::loops::shared::form::{list, object, one_of, text};
use crate::loops::shared::request::Brief;
use crate::suites::checks::RunThem;

#[derive(Debug)]
pub(crate) struct DraftBrief;

impl Brief<Gan> for DraftBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let tools = tools(request);
        let values = json!({
            "contract": criteria(&request.code, &request.plan.task.asked),
            "most": MOST_CRITERIA,
            "most_weight": MOST_WEIGHT,
            "browser": tools.contains(&"browser"),
            "commands": tools.contains(&"command"),
            "most_tests": MOST_TESTS,
            "most_steps": MOST_ACTS,
        });
        Ok(page("draft", request, folders, values))
    }

    fn form(&self, request: &AgentRequest) -> Option<Value> {
        let (profile, tools) = (&request.plan.task.asked, tools(request));
        let dimensions = profile.dimensions.iter().map(|dimension| &dimension.id);
        let minimum = json!({ "type": "number", "enum": MINIMUMS });
        let condition = object(&json!({ "dimension": one_of(dimensions), "minimum": minimum }));
        let mut parts = json!({
            "answer_to": text(),
            "criteria": list(&(1..=MOST_CRITERIA), &criterion_form(profile, json!({}))),
            "pass_conditions": list(&(0..=profile.dimensions.len()), &condition),
        });
        if !tools.is_empty() {
            let act = json!({ "act": one_of(Verb::ALL.map(Verb::word)), "on": text(), "text": text() });
            let test = object(&json!({
                "id": text(),
                "criterion": text(),
                "description": text(),
                "tool": one_of(tools),
                "steps": list(&(0..=MOST_ACTS), &object(&act)),
                "argv": { "type": "array", "items": text() },
            }));
            parts["test_scenarios"] = list(&(0..=MOST_TESTS), &test);
        }
        Some(object(&parts))
    }

    fn check(&self, request: &AgentRequest, answer: &Answer) -> Result<(), OffSchema> {
        let Answer::Drafted(draft) = answer else { return Ok(()) };
        Negotiation::begin(&request.plan.task.asked, draft.clone())?;
        Ok(())
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        answers::draft(answer, &request.code, &request.plan.task.asked).map(Answer::Drafted)
    }
}

/// Returns the tools with which a machine may try an artifact.
fn tools(request: &AgentRequest) -> Vec<&'static str> {
    let task = &request.plan.task;
    let commands = task.commands.run != RunThem::Never;
    let all = [("browser", task.browser.is_some()), ("command", commands)];
    all.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
}
