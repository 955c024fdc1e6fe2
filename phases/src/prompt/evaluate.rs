//! What the evaluator is told: these criteria, this skill, what it produced. Never an earlier score, a round, or
//! whether this is the original: the brief has no place for them.

use serde::Serialize;

use super::fence::{files, plain};
use super::{READING, fence, scenario};
use crate::contract::Contract;
use crate::material::Named;
use crate::scenario::Scenario;

#[derive(Clone, Copy, Debug)]
pub struct EvaluateBrief<'a> {
    /// All members in order; more than one makes a chain, of which each member is judged too.
    pub skills: &'a [Named<'a>],
    pub scenario: &'a Scenario,
    /// What each member produced, in the same order.
    pub artifacts: &'a [Named<'a>],
    pub contract: &'a Contract,
    /// The members whose skill the agent did not use in this trial, as far as it tells.
    pub unused: &'a [&'a str],
    /// The code that the answer must bring back.
    pub nonce: &'a str,
    /// Why the answer before this one could not be used.
    pub retry_error: Option<&'a str>,
    pub seed: &'a str,
}

pub(super) fn values<'a>(brief: &EvaluateBrief<'a>) -> Values<'a> {
    let is_chain = brief.skills.len() > 1;
    let entries = brief.contract.criteria.len() * if is_chain { 1 + brief.skills.len() } else { 1 };
    Values {
        reading: READING,
        is_chain,
        skills: parts(brief.seed, brief.skills),
        scenario: scenario(brief.seed, brief.scenario),
        artifacts: parts(brief.seed, brief.artifacts),
        dimensions: dimensions(brief.contract),
        unused: brief.unused.iter().map(|name| plain(name)).collect(),
        of_effect: of_effect(brief.contract),
        entries,
        nonce: brief.nonce,
        retry_error: brief.retry_error.map(|error| fence(brief.seed, "what was wrong", error)),
    }
}

fn parts(seed: &str, members: &[Named<'_>]) -> Vec<Part> {
    let part = |member: &Named<'_>| Part {
        name: plain(member.name),
        at: plain(&member.folder.at),
        files: files(seed, member.folder),
    };
    members.iter().map(part).collect()
}

fn of_effect(contract: &Contract) -> Vec<&str> {
    let criteria = contract.criteria.iter().filter(|criterion| criterion.of_effect);
    criteria.map(|criterion| criterion.id.as_str()).collect()
}

fn dimensions(contract: &Contract) -> Vec<Group<'_>> {
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
    artifacts: Vec<Part>,
    dimensions: Vec<Group<'a>>,
    unused: Vec<String>,
    of_effect: Vec<&'a str>,
    entries: usize,
    nonce: &'a str,
    retry_error: Option<String>,
}

#[derive(Serialize)]
struct Part {
    name: String,
    at: String,
    files: String,
}

#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    questions: Vec<Question<'a>>,
}

#[derive(Serialize)]
struct Question<'a> {
    id: &'a str,
    text: &'a str,
}
