//! Planning an iteration: the task, the rules that count, and their results so far.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AgentRequest, context, page, rules};
use crate::asking::prompt::{Faulty, fence, numbered};
use crate::base::answer::OffSchema;
use crate::base::material::Folders;
use crate::loops::reflex::criteria::Rule;
use crate::loops::reflex::state::{Line, Note};
use crate::loops::reflex::verdict::RuleResult;
use crate::loops::reflex::{Answer, Reflex, Run, answers, forms};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlanBrief {
    /// The last events of the run, one per line.
    pub events: Vec<String>,
    /// The rules that were not met when the artifact was last judged.
    pub failures: Vec<RuleResult>,
}

impl PlanBrief {
    /// Leaves out answers that could not be used: they are not news for a planner, and their order of arrival would
    /// show.
    pub(crate) fn of(run: &Run) -> Self {
        let is_news = |line: &&Line| !matches!(line.note, Note::PhaseError { .. });
        let story = run.state.story.iter().rev().filter(is_news);
        let mut events: Vec<_> =
            story.take(run.plan.task.rules.latest_events).map(|line| line.note.words()).collect();
        events.reverse();
        // The plan is for this artifact, which is not the last judged one if that was dropped.
        let failures = run.at_hand().map(|judged| judged.evaluation.missed().cloned().collect());
        Self { events, failures: failures.unwrap_or_default() }
    }
}

impl Brief<Reflex> for PlanBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let (seed, steps) = (request.code.as_str(), steps(request));
        let failures = self.failures.iter();
        let failures =
            failures.map(|failure| format!("{} ({}): {}", failure.rule, failure.verdict, failure.details));
        let values = json!({
            "context": context(seed, folders),
            "rules": rules(seed, &active(request)),
            "events": (!self.events.is_empty()).then(|| fence(seed, "events", &self.events.join("\n"))),
            "failures": (!self.failures.is_empty()).then(|| numbered(seed, "not met", failures)),
            "least": steps.start(),
            "most": steps.end(),
        });
        Ok(page("plan", request, values))
    }

    fn form(&self, request: &AgentRequest) -> Option<Value> {
        Some(forms::plan(&active(request), &steps(request)))
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        answers::plan(answer, &request.code, &active(request), &steps(request)).map(Answer::Planned)
    }
}

/// Returns the rules that count at the level.
fn active(request: &AgentRequest) -> Vec<&Rule> {
    request.plan.task.criteria.active(request.brief.level).collect()
}

fn steps(request: &AgentRequest) -> RangeInclusive<usize> {
    let bounds = request.plan.task.rules.plan_steps;
    bounds.least..=bounds.most
}
