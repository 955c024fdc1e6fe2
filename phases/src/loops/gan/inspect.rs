//! Machine checks of an artifact before a judge is asked: from its source alone, and from a browser if there is one.
//!
//! The artifact is the work of an agent, and the files given with the brief may come from anyone: both are data, of any
//! size and form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contract::Check;
use super::evaluation::Verdict;
use super::test_scenario::TestScenario;
use crate::judging::contract::CriterionId;

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

/// The texts, tokens and sections given with the brief, which must be in the artifact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Texts that must be present unchanged.
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
    /// The name, such as `color.brand.primary`.
    pub name: Box<str>,
    /// The value, such as `#0a5` or `16px`.
    pub value: Box<str>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineResult {
    pub check: Check,
    /// Unverified if it cannot be decided by these means; the evidence says why.
    pub verdict: Verdict,
    /// The place and the finding, so that a person can look.
    pub evidence: Box<str>,
    pub by: Means,
}

impl MachineResult {
    pub fn is_unverified(&self) -> bool {
        self.verdict == Verdict::Unverified
    }
}

/// The result of one test scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioResult {
    pub scenario: CriterionId,
    /// Unverified if it did not run to its end; the evidence says why.
    pub verdict: Verdict,
    pub evidence: Box<str>,
}

/// A person's own program that serves the artifact to the browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// `{port}` in a word is the port to listen on.
    pub argv: Vec<String>,
    /// The path of the first page.
    pub path: String,
    /// The maximum time until it answers.
    pub seconds: u64,
}

/// The task of a browser, in the form that it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToLookAt {
    pub given: Given,
    #[serde(default)]
    pub test_scenarios: Vec<TestScenario>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// The system confines the preview to the workspace. The process that starts it may write elsewhere, for the
    /// browser's sandbox.
    #[serde(default)]
    pub confined: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    Browser,
    Source,
}

/// A page in a browser after its scripts have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    pub path: String,
    pub html: String,
    /// The attribute on each element that listens to user actions. On the root it means the whole page.
    pub mark: String,
    /// The targets of its links into its own site, by the link as written. A link that is missing here has an unknown
    /// target.
    pub links: BTreeMap<String, Lead>,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lead {
    /// A page or a file of this path.
    To(String),
    Nowhere,
}

/// All results of one inspection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    #[serde(rename = "told")]
    pub checks: Vec<MachineResult>,
    /// The results of test scenarios.
    #[serde(rename = "tried", default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioResult>,
    /// Everything that could not be done, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Box<str>>,
}
