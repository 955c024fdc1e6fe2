//! Criticising: the artifact, and the rules that it does not meet.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AgentRequest, artifact_or_empty, page};
use crate::asking::prompt::{Faulty, numbered};
use crate::base::answer::OffSchema;
use crate::base::material::Folders;
use crate::loops::reflex::criteria::Criteria;
use crate::loops::reflex::sections::PREAMBLE;
use crate::loops::reflex::verdict::{RuleResult, Verdict};
use crate::loops::reflex::{Answer, Reflex, Run, answers, forms};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CritiqueBrief {
    pub missed: Vec<RuleResult>,
}

impl CritiqueBrief {
    /// Takes what is not met and what could not be checked: that too may be fixed in the text.
    pub(crate) fn of(run: &Run) -> Self {
        let results = run.state.judged.last().map_or(&[][..], |judged| &judged.evaluation.results);
        let missed = results.iter().filter(|result| result.verdict != Verdict::Pass);
        Self { missed: missed.cloned().collect() }
    }

    fn missed(&self) -> Vec<&RuleResult> {
        self.missed.iter().collect()
    }
}

impl Brief<Reflex> for CritiqueBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let (seed, task) = (request.code.as_str(), &request.plan.task);
        let mut missed = self.missed();
        missed.sort_by_key(|result| result.verdict != Verdict::Fail);
        let missed = missed.into_iter().map(|result| text(&task.criteria, result));
        let values = json!({
            "artifact": artifact_or_empty(seed, folders),
            "missed": numbered(seed, "not met", missed),
            "most": task.rules.most_issues.min(self.missed.len()),
            "preamble": PREAMBLE,
        });
        Ok(page("critique", request, values))
    }

    fn form(&self, request: &AgentRequest) -> Option<Value> {
        Some(forms::critique(&self.missed(), request.plan.task.rules.most_issues))
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let most = request.plan.task.rules.most_issues;
        answers::critique(answer, &request.code, &self.missed(), most).map(Answer::Criticised)
    }
}

fn text(criteria: &Criteria, result: &RuleResult) -> String {
    let description = criteria.rule(&result.rule).map_or("", |rule| &rule.description);
    format!("{} ({}): {description}\nSeen: {}", result.rule, result.verdict, result.details)
}
