//! What a run of `review` was asked to do.

use serde::{Deserialize, Serialize};

use super::finding::{Finding, Severity, Suppression};
use crate::base::id::TreeId;
use crate::loops::shared::persona::Persona;
use crate::suites::checks::Commands;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The change in words, such as `uncommitted changes of /project`.
    pub subject: Box<str>,
    /// The folder that holds the files.
    pub root: Box<str>,
    /// The files before and after the change, and one diff a reviewed file.
    pub trees: Option<Trees>,
    pub changed: Vec<Changed>,
    /// The diffs, in parts that one call reviews.
    pub parts: Vec<Vec<Box<str>>>,
    pub left_out: Vec<LeftOut>,
    /// Paths that agents do not get: a program would read them by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    pub reviewers: Vec<Reviewer>,
    pub machines: Vec<Machine>,
    /// What skilltune found itself before the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<OwnFinding>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Suppression>,
    /// Whether the files are a skill, or a part of one.
    pub is_skill: bool,
    /// Whether the files are reviewed as they are: there is no change, and nothing before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_whole: bool,
    /// What happens with commands that verifiers propose.
    pub commands: Commands,
    pub command_seconds: u64,
    pub rules: Rules,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trees {
    pub before: TreeId,
    pub after: TreeId,
    pub diffs: TreeId,
}

/// The lines of a file that the change touches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    pub path: Box<str>,
    /// First and last lines in the new file.
    pub added: Vec<(u32, u32)>,
    /// First and last lines in the old file.
    pub removed: Vec<(u32, u32)>,
    /// The lines of the new file after which lines were removed and none added.
    pub gaps: Vec<u32>,
    /// The names of its diffs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<Box<str>>,
    /// Whether the change removes the whole file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_removed: bool,
}

/// A changed file that no reviewer gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub path: Box<str>,
    pub why: Box<str>,
}

/// An expert that reviews. Its short name is the first word of the expert's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewer {
    pub short: Box<str>,
    pub expert: Persona,
}

/// A command that looks for faults, or the reason why it does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Such as `test` or `shellcheck`.
    pub name: Box<str>,
    pub argv: Vec<String>,
    /// The severity of what it finds.
    pub severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFinding {
    /// The check that found it, such as `lint` or `keys`.
    pub by: Box<str>,
    pub finding: Finding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// The run fails if a certain finding is at least this bad.
    pub fail_on: Severity,
    /// The percentage of findings that may stay unverified.
    pub unverified: u32,
    /// The number of findings that are shown in full.
    pub most: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Self { fail_on: Severity::High, unverified: 20, most: 5 }
    }
}

impl Task {
    pub fn changed(&self, path: &str) -> Option<&Changed> {
        self.changed.iter().find(|changed| &*changed.path == path)
    }

    /// Returns the machines that run.
    pub fn running(&self) -> impl Iterator<Item = (usize, &Machine)> {
        self.machines.iter().enumerate().filter(|(_, machine)| machine.skipped.is_none())
    }
}
