//! Judging an artifact. The page has no place for a round, a score or an earlier verdict: it is a function of the brief,
//! the contract and the artifact.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AgentRequest, criterion, item, list, page};
use crate::asking::prompt::{Faulty, files, numbered, plain};
use crate::base::answer::OffSchema;
use crate::base::material::Folders;
use crate::loops::gan::answers::{self, Asked};
use crate::loops::gan::contract::{Contract, Dimension};
use crate::loops::gan::{ARTIFACT, Answer, Gan, Reading, SCREENS};
use crate::loops::shared::form::{self, object, one_of, text};
use crate::loops::shared::request::Brief;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JudgeBrief {
    pub contract: Contract,
    pub asked: Asked,
    pub reading: Reading,
}

impl Brief<Gan> for JudgeBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let Self { contract, asked, reading } = self;
        let (seed, artifact) = (request.code.as_str(), folders.placed(ARTIFACT));
        let screens = folders.find(SCREENS).filter(|folder| !folder.files.is_empty()).map(|folder| {
            let path = |file: &str| format!("`{}`", plain(&format!("{}/{file}", folder.at)));
            folder.files.iter().map(|file| path(&file.path)).collect::<Vec<_>>().join(", ")
        });
        let patterns = asked.patterns.iter().map(|pattern| format!("{}\n{}", pattern.id, pattern.pattern));
        let values = json!({
            "second": *reading == Reading::Second,
            "at": artifact.at,
            "artifact": files(seed, artifact),
            "screens": screens,
            "dimensions": numbered(seed, "dimensions", contract.dimensions.iter().map(dimension)),
            "contract": list(seed, "criteria", asked.criteria.iter().map(criterion)),
            "entries": asked.criteria.len(),
            "most_wanted": asked.most_wanted,
            "patterns": list(seed, "anti-patterns", patterns),
            "extra": list(seed, "besides", asked.extra.iter().map(item)),
        });
        Ok(page("judge", request, folders, values))
    }

    fn form(&self, _: &AgentRequest) -> Option<Value> {
        let asked = &self.asked;
        let verdict = one_of(["passed", "failed", "unverified"]);
        let finding =
            |ids: Value| object(&json!({ "id": ids, "verdict": verdict, "evidence": text(), "fix": text() }));
        let exactly = |number: usize, item: &Value| form::list(&(number..=number), item);
        let level = object(&json!({
            "dimension": one_of(&asked.dimensions),
            "why": text(),
            "level": { "type": "number", "enum": answers::LEVELS },
        }));
        let mut parts = json!({
            "answer_to": text(),
            "criteria": exactly(asked.criteria.len(), &finding(ids(asked.criteria.iter().map(|one| &one.id)))),
            "levels": exactly(asked.dimensions.len(), &level),
        });
        if !asked.patterns.is_empty() {
            let ids = ids(asked.patterns.iter().map(|one| &one.id));
            let sight = object(&json!({ "id": ids, "present": { "type": "boolean" }, "evidence": text() }));
            parts["patterns"] = exactly(asked.patterns.len(), &sight);
        }
        if !asked.extra.is_empty() {
            let ids = ids(asked.extra.iter().map(|one| &one.id));
            parts["extra"] = exactly(asked.extra.len(), &finding(ids));
        }
        let mut form = object(&parts);
        form["properties"]["next"] = form::list(
            &(0..=asked.most_wanted),
            &object(&json!({ "id": text(), "text": text(), "verification": text() })),
        );
        Some(form)
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let verdicts = answers::verdicts(answer, &request.code, &self.asked)?;
        Ok(Answer::Judged(Box::new(verdicts)))
    }
}

fn dimension(dimension: &Dimension) -> String {
    let [quarter, half, solid, full] = &dimension.anchors;
    format!(
        "{} ({})\n0.25: {quarter}\n0.50: {half}\n0.75: {solid}\n1.00: {full}",
        dimension.id, dimension.name
    )
}

/// Allows one of these ids; any text if there are none, because an empty choice allows nothing.
fn ids(ids: impl Iterator<Item = impl serde::Serialize>) -> Value {
    let mut ids = ids.peekable();
    if ids.peek().is_some() { one_of(ids) } else { text() }
}
