//! Judging: the task, the artifact, the rules with their questions. The page never contains an earlier verdict or score,
//! nor the weight of a rule: the brief has no place for the one, and the page none for the other.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AgentRequest, artifact_or_empty, context, page};
use crate::asking::prompt::{Faulty, numbered};
use crate::base::answer::OffSchema;
use crate::base::id::TreeId;
use crate::base::material::Folders;
use crate::loops::reflex::checks::{self, Asked};
use crate::loops::reflex::criteria::{Level, Rule, RuleId};
use crate::loops::reflex::{Answer, Reflex, Run, answers, forms};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EvaluateBrief {
    /// The rules, each with its questions.
    pub asked: Vec<(RuleId, Vec<String>)>,
}

impl EvaluateBrief {
    pub(crate) fn of(run: &Run, artifact: TreeId, level: Level, category: &str) -> Self {
        let results = run.check_results(artifact);
        let rules: Vec<&Rule> = run.plan.task.criteria.at(level).collect();
        let asked = checks::asked(&rules, &run.state.checks, &results);
        let ours = asked.into_iter().filter(|asked| asked.rule.category() == category);
        let owned = |asked: Asked<'_>| {
            (asked.rule.id.clone(), asked.questions.iter().map(|&question| question.to_owned()).collect())
        };
        Self { asked: ours.map(owned).collect() }
    }

    fn asked<'a>(&'a self, request: &'a AgentRequest) -> Vec<Asked<'a>> {
        let each = self.asked.iter().filter_map(|(id, questions)| {
            let rule = request.plan.task.criteria.rule(id)?;
            Some(Asked { rule, questions: questions.iter().map(String::as_str).collect() })
        });
        each.collect()
    }
}

impl Brief<Reflex> for EvaluateBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let (seed, asked) = (request.code.as_str(), self.asked(request));
        let values = json!({
            "context": context(seed, folders),
            "artifact": artifact_or_empty(seed, folders),
            "rules": numbered(seed, "rules", asked.iter().map(text)),
            "entries": asked.len(),
        });
        Ok(page("evaluate", request, values))
    }

    fn form(&self, request: &AgentRequest) -> Option<Value> {
        Some(forms::verdicts(&self.asked(request), &request.code))
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        answers::judged(answer, &self.asked(request), &request.code).map(Answer::Judged)
    }
}

fn text(asked: &Asked<'_>) -> String {
    let rule = asked.rule;
    let questions = asked.questions.iter().map(|question| format!("\nQuestion: {question}"));
    let questions: Vec<_> = questions.collect();
    format!("{}\n{}\nHow to tell: {}{}", rule.id, rule.description, rule.check, questions.concat())
}
