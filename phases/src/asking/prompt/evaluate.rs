//! The evaluator's prompts, for a trial or for a text: the criteria, the skill, its output. Never an earlier score, a
//! round, or whether this is the original: the briefs have no fields for them.

use serde::Serialize;

use super::fence::{Activity, activity, files, plain};
use super::skill_files::skill_files;
use super::{READING, scenario, was_wrong};
use crate::base::material::{Folder, Named};
use crate::judging::contract::Contract;
use crate::suites::scenario::Scenario;

#[derive(Clone, Copy, Debug)]
pub struct EvaluateBrief<'a> {
    /// All members in order. More than one makes a chain, and each of its members is evaluated too.
    pub skills: &'a [Named<'a>],
    pub scenario: &'a Scenario,
    /// The workspace before the first agent, unless it was empty.
    pub start: Option<&'a Folder>,
    /// The output of each member, in the same order.
    pub artifacts: &'a [Named<'a>],
    pub contract: &'a Contract,
    /// The members whose skill the agent did not use in this trial, as far as reported.
    pub unused: &'a [&'a str],
    /// The agent's activity for each member, as far as reported: the member's name, and a digest.
    pub activity: &'a [(&'a str, &'a str)],
    /// The code that the answer must repeat.
    pub nonce: &'a str,
    /// The reason why the previous answer could not be used.
    pub retry_error: Option<&'a str>,
    pub seed: &'a str,
}

pub(super) fn values<'a>(brief: &EvaluateBrief<'a>) -> Values<'a> {
    let is_chain = brief.skills.len() > 1;
    let skill = |skill: &Named<'_>| part(skill, skill_files(brief.seed, skill.folder, false, &[]));
    let made = |made: &Named<'_>| part(made, files(brief.seed, made.folder));
    let entries = brief.contract.criteria.len() * if is_chain { 1 + brief.skills.len() } else { 1 };
    Values {
        reading: READING,
        is_chain,
        skills: brief.skills.iter().map(skill).collect(),
        scenario: scenario(brief.seed, brief.scenario),
        start: brief.start.map(begun),
        artifacts: brief.artifacts.iter().map(made).collect(),
        dimensions: dimensions(brief.contract),
        unused: brief.unused.iter().map(|name| plain(name)).collect(),
        activity: brief.activity.iter().map(|(name, digest)| activity(brief.seed, name, digest)).collect(),
        of_effect: of_effect(brief.contract),
        entries,
        nonce: brief.nonce,
        retry_error: was_wrong(brief.seed, brief.retry_error),
    }
}

/// For judging the text of a skill: the criteria and the text, but neither its scenarios nor its output.
#[derive(Clone, Copy, Debug)]
pub struct TextBrief<'a> {
    /// All members in order.
    pub skills: &'a [Named<'a>],
    /// Whether the judge can open files: then it gets each `SKILL.md`, and a list of the other files if they are long.
    pub opens_files: bool,
    pub contract: &'a Contract,
    /// The code that the answer must repeat.
    pub nonce: &'a str,
    /// The reason why the previous answer could not be used.
    pub retry_error: Option<&'a str>,
    pub seed: &'a str,
}

impl TextBrief<'_> {
    pub fn prompt(&self) -> String {
        let is_chain = self.skills.len() > 1;
        let skill =
            |skill: &Named<'_>| part(skill, skill_files(self.seed, skill.folder, self.opens_files, &[]));
        super::render(
            "review",
            TextValues {
                reading: READING,
                is_chain,
                skills: self.skills.iter().map(skill).collect(),
                dimensions: dimensions(self.contract),
                entries: self.contract.criteria.len() * if is_chain { 1 + self.skills.len() } else { 1 },
                nonce: self.nonce,
                retry_error: was_wrong(self.seed, self.retry_error),
            },
        )
    }
}

pub(super) fn begun(start: &Folder) -> Start {
    Start { at: plain(&start.at), names: names(start) }
}

fn part(member: &Named<'_>, files: String) -> Part {
    Part { name: plain(member.name), at: plain(&member.folder.at), files }
}

fn of_effect(contract: &Contract) -> Vec<&str> {
    let criteria = contract.criteria.iter().filter(|criterion| criterion.of_effect);
    criteria.map(|criterion| criterion.id.as_str()).collect()
}

pub(super) fn dimensions(contract: &Contract) -> Vec<Group<'_>> {
    let questions = |dimension| {
        let criteria = contract.criteria_of(dimension);
        criteria.map(|criterion| Question { id: criterion.id.as_str(), text: &criterion.text }).collect()
    };
    let group = contract.dimensions.iter();
    group.map(|dimension| Group { name: &dimension.name, questions: questions(&dimension.id) }).collect()
}

#[derive(Serialize)]
pub(super) struct Values<'a> {
    reading: &'static str,
    is_chain: bool,
    skills: Vec<Part>,
    scenario: String,
    start: Option<Start>,
    artifacts: Vec<Part>,
    dimensions: Vec<Group<'a>>,
    unused: Vec<String>,
    activity: Vec<Activity>,
    of_effect: Vec<&'a str>,
    entries: usize,
    nonce: &'a str,
    retry_error: Option<String>,
}

#[derive(Serialize)]
struct TextValues<'a> {
    reading: &'static str,
    is_chain: bool,
    skills: Vec<Part>,
    dimensions: Vec<Group<'a>>,
    entries: usize,
    nonce: &'a str,
    retry_error: Option<String>,
}

/// Returns only names: the files belong to the scenario and may be large, so the judge opens what it needs.
fn names(start: &Folder) -> Vec<String> {
    const MOST: usize = 40;
    let names = start.files.iter().take(MOST).map(|file| plain(&file.path));
    let more = start.files.len().saturating_sub(MOST);
    names.chain((more > 0).then(|| format!("{more} more"))).collect()
}

#[derive(Serialize)]
pub(super) struct Start {
    at: String,
    names: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Part {
    name: String,
    at: String,
    files: String,
}

#[derive(Serialize)]
pub(super) struct Group<'a> {
    name: &'a str,
    questions: Vec<Question<'a>>,
}

#[derive(Serialize)]
struct Question<'a> {
    id: &'a str,
    text: &'a str,
}
