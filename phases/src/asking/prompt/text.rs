//! The prompt for judging the text of a skill: the criteria and the text, but neither its scenarios nor its output.

use serde::Serialize;

use super::evaluate::{Group, Part, dimensions, parts};
use super::{READING, was_wrong};
use crate::base::material::Named;
use crate::judging::contract::Contract;

#[derive(Clone, Copy, Debug)]
pub struct TextBrief<'a> {
    /// All members in order.
    pub skills: &'a [Named<'a>],
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
        super::render(
            "review",
            Values {
                reading: READING,
                is_chain,
                skills: parts(self.seed, self.skills),
                dimensions: dimensions(self.contract),
                entries: self.contract.criteria.len() * if is_chain { 1 + self.skills.len() } else { 1 },
                nonce: self.nonce,
                retry_error: was_wrong(self.seed, self.retry_error),
            },
        )
    }
}

#[derive(Serialize)]
struct Values<'a> {
    reading: &'static str,
    is_chain: bool,
    skills: Vec<Part>,
    dimensions: Vec<Group<'a>>,
    entries: usize,
    nonce: &'a str,
    retry_error: Option<String>,
}
