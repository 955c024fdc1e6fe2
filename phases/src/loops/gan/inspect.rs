//! What machines tell of an artifact before a judge is asked: from its source alone, and from a browser where there is one.
//!
//! The artifact is the work of an agent, and what was given with the brief may be anybody's: both are data, of any size and form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contract::Check;
use super::evaluation::Verdict;
use super::test_scenario::TestScenario;
use crate::contract::CriterionId;

mod accessible;
mod brief;
mod css;
mod evidence;
mod generic;
mod given;
mod html;
mod interactions;
mod layout;
mod outcome;
mod site;
mod source;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

pub use brief::{sections, texts};
pub use given::NotGiven;
pub use interactions::live;
pub use source::source;

/// What was given with the brief, and has to be found in the artifact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Texts that have to be there unchanged.
    pub copy: Vec<Text>,
    /// Design tokens.
    pub tokens: Vec<Token>,
    /// The sections that the brief asks for.
    pub sections: Vec<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// Its place in the file that it was given in, such as `hero.title`.
    pub at: Box<str>,
    pub text: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Such as `color.brand.primary`.
    pub name: Box<str>,
    /// Such as `#0a5` or `16px`.
    pub value: Box<str>,
}

/// What one check has come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub check: Check,
    /// Unverified: it could not be told by these means, and the evidence says why.
    pub verdict: Verdict,
    /// Where and what, so that somebody can look.
    pub evidence: Box<str>,
    pub by: Means,
}

impl Told {
    pub fn is_unverified(&self) -> bool {
        self.verdict == Verdict::Unverified
    }
}

/// What one scenario came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    pub scenario: CriterionId,
    /// Unverified: it did not run to its end, and the evidence says why.
    pub verdict: Verdict,
    pub evidence: Box<str>,
}

/// The program of a person's own that serves the artifact to the browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// `{port}` in a word is the port to listen on.
    pub argv: Vec<String>,
    /// Of the first page.
    pub path: String,
    /// How long it may take until it answers.
    pub seconds: u64,
}

/// What a browser is to find out, as it reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToLookAt {
    pub given: Given,
    #[serde(default)]
    pub test_scenarios: Vec<TestScenario>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// The system confines the preview to the workspace. What starts it may write elsewhere, for the browser's sandbox.
    #[serde(default)]
    pub confined: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    Browser,
    Source,
}

/// A page as a browser has it once its scripts have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    pub path: String,
    pub html: String,
    /// The attribute on each element that listens to what a user does. On the root it stands for all of the page.
    pub mark: String,
    /// Where its links into its own site lead, by what is written in them. Of one that is not here nobody knows.
    pub links: BTreeMap<String, Lead>,
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lead {
    /// To a page or a file of this path.
    To(String),
    Nowhere,
}

/// All that one look has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    pub told: Vec<Told>,
    /// What became of test scenarios.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// What could not be done, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Box<str>>,
}
