//! The judge's prompt for a trial scored by its outcome: the scenario, the output, and statements about it. It leaves
//! out the skill, because a judge who reads the instructions sees them fulfilled everywhere.

use serde::Serialize;

use super::evaluate::{Start, begun};
use super::fence::{Activity, activity, files, plain};
use super::{READING, fence, scenario, was_wrong};
use crate::base::material::{Body, Folder, Named};
use crate::judging::contract::Contract;
use crate::suites::scenario::Scenario;

#[derive(Clone, Copy, Debug)]
pub struct GradeBrief<'a> {
    pub scenario: &'a Scenario,
    /// The workspace before the first agent, unless it was empty.
    pub start: Option<&'a Folder>,
    /// The output of each member, in order, and the stored last message and report of its agent.
    pub artifacts: &'a [Named<'a>],
    pub evidence: &'a [Named<'a>],
    /// The statements.
    pub contract: &'a Contract,
    /// The agent's activity for each member, as far as reported: the member's name, and a digest.
    pub activity: &'a [(&'a str, &'a str)],
    pub nonce: &'a str,
    pub retry_error: Option<&'a str>,
    pub seed: &'a str,
}

/// The file of the evidence that holds the agent's last message, and the one with its report.
const ANSWER: &str = "answer.md";
const TRANSCRIPT: &str = "transcript.jsonl";

impl GradeBrief<'_> {
    pub fn prompt(&self) -> String {
        let criteria = &self.contract.criteria;
        // One line each, so that no text can look like another one.
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let statements: Vec<_> =
            criteria.iter().map(|one| format!("`{}`: {}", one.id, one_line(&one.text))).collect();
        super::render(
            "grade",
            Values {
                reading: READING,
                is_chain: self.artifacts.len() > 1,
                scenario: scenario(self.seed, self.scenario),
                expected: self
                    .scenario
                    .expected
                    .as_deref()
                    .map(|text| fence(self.seed, "a good result", text)),
                start: self.start.map(begun),
                artifacts: self.artifacts.iter().map(|member| self.produced(member)).collect(),
                evidence: self.evidence.iter().filter(|one| has(one.folder, TRANSCRIPT)).map(at).collect(),
                activity: self
                    .activity
                    .iter()
                    .map(|(name, digest)| activity(self.seed, name, digest))
                    .collect(),
                statements: fence(self.seed, "statements", &statements.join("\n")),
                first: criteria.first().map_or("", |criterion| criterion.id.as_str()),
                entries: criteria.len(),
                nonce: self.nonce,
                retry_error: was_wrong(self.seed, self.retry_error),
            },
        )
    }

    fn produced(&self, member: &Named<'_>) -> Produced {
        let said = self.evidence.iter().find(|one| one.name == member.name).and_then(|one| said(one.folder));
        // If the message is the artifact itself, it is already shown.
        let said = said.filter(|_| !has(member.folder, ANSWER));
        Produced {
            name: plain(member.name),
            at: plain(&member.folder.at),
            files: files(self.seed, member.folder),
            said: said.map(|text| fence(self.seed, "last message", text)),
        }
    }
}

fn at(one: &Named<'_>) -> String {
    plain(&one.folder.at)
}

fn has(folder: &Folder, name: &str) -> bool {
    folder.files.iter().any(|file| file.path == name)
}

fn said(evidence: &Folder) -> Option<&str> {
    let file = evidence.files.iter().find(|file| file.path == ANSWER)?;
    match &file.body {
        Body::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        Body::Large { .. } | Body::Binary { .. } | Body::Link { .. } => None,
    }
}

#[derive(Serialize)]
struct Values<'a> {
    reading: &'static str,
    is_chain: bool,
    scenario: String,
    expected: Option<String>,
    start: Option<Start>,
    artifacts: Vec<Produced>,
    evidence: Vec<String>,
    activity: Vec<Activity>,
    statements: String,
    first: &'a str,
    entries: usize,
    nonce: &'a str,
    retry_error: Option<String>,
}

#[derive(Serialize)]
struct Produced {
    name: String,
    at: String,
    files: String,
    said: Option<String>,
}
