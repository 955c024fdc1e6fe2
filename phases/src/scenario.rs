//! A task to try a skill on, as the prompts tell it.

use serde::{Deserialize, Serialize};

use crate::checks::Check;
use crate::contract::{CriterionId, Need};
use crate::demand::Demand;
use crate::id::TreeId;
use crate::name::Name;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// It names folders.
    pub id: Name,
    pub description: String,
    #[serde(default)]
    pub requirements: Vec<String>,
    #[serde(default)]
    pub input_args: String,
    #[serde(default)]
    pub success_criteria: String,
    /// What the executor finds in its workspace: a folder of copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<TreeId>,
    /// Files of the skill itself that its task is about. They are placed as the version under trial has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_skill: Vec<SkillFile>,
    /// Prepares the workspace, once for all trials: a program and its arguments, run where the files are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Vec<String>>,
    /// The workspace is a git repository with one commit, and what changed in it is an artifact too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub git: bool,
    /// What the built-in executor runs, with the skill in its workspace: a program and its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// What its executor may use, if not what the run says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Tools>,
    /// What a good result is like: for the judge alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Box<str>>,
    /// Where there are any, they alone make the score of a trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<Demand>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Box<str>>,
    /// It is kept for the final comparison: no search runs it, and no improver sees it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
}

/// A file of the first member, and where its copy is placed in the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFile {
    /// Relative to the skill's folder.
    pub path: String,
    /// Relative to the workspace.
    pub at: String,
}

/// What an executor may use. Who judges or improves never has a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tools {
    /// It reads and writes files.
    Files,
    /// It runs commands, too.
    Shell,
}

impl Scenario {
    /// A scenario of which nothing but the task is told.
    pub fn new(id: Name, description: impl Into<String>) -> Self {
        Self {
            id,
            description: description.into(),
            requirements: Vec::new(),
            input_args: String::new(),
            success_criteria: String::new(),
            files: None,
            of_skill: Vec::new(),
            setup: None,
            git: false,
            command: None,
            tools: None,
            expected: None,
            demands: Vec::new(),
            tags: Vec::new(),
            held_out: false,
        }
    }
}

impl Scenario {
    /// Whether it says what a criterion asks about.
    pub fn tells(&self, need: Need) -> bool {
        match need {
            Need::Requirements => !self.requirements.is_empty(),
            Need::Success => !self.success_criteria.trim().is_empty() || self.command.is_some(),
        }
    }

    /// The same for a trial without any skill: whether one is used is not asked. Nothing, if nothing is asked then.
    pub fn without_skill(&self) -> Option<Self> {
        let is_asked = |demand: &&Demand| !matches!(demand.how.check(), Some(Check::Skill { .. }));
        let demands = self.demands.iter().filter(is_asked);
        let demands: Vec<_> = demands.map(|demand| Demand { member: None, ..demand.clone() }).collect();
        // Neither says what is asked.
        let (tags, held_out) = (Vec::new(), false);
        (!demands.is_empty()).then(|| Self { demands, tags, held_out, ..self.clone() })
    }

    /// The stored trees that it names: files of its starting state, and those that its checks grade with.
    pub fn trees(&self) -> Vec<TreeId> {
        let graders = self.demands.iter().filter_map(|demand| match demand.how.check() {
            Some(Check::Command { grader, .. }) => *grader,
            Some(_) | None => None,
        });
        self.files.into_iter().chain(graders).collect()
    }

    /// Whether an agent is given the same to do, with the same files.
    pub fn has_task_of(&self, other: &Self) -> bool {
        self.description == other.description
            && self.input_args == other.input_args
            && self.files == other.files
            && self.of_skill == other.of_skill
    }

    /// How a judgement of its trials names one of its demands; no criterion of a contract is named so.
    pub fn criterion(&self, demand: &Demand) -> CriterionId {
        CriterionId::new(format!("{}/{}", self.id, demand.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_id_and_a_description_are_needed() {
        let read: Scenario = serde_json::from_str(r#"{"id": "a", "description": "Write a haiku"}"#).unwrap();
        assert_eq!(read, Scenario::new("a".parse().unwrap(), "Write a haiku"));
        assert!(!read.tells(Need::Success) && !read.tells(Need::Requirements));
    }
}
