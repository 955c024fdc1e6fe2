//! A task to try a skill on, in the form that the prompts use.

use serde::{Deserialize, Serialize};

use crate::base::id::TreeId;
use crate::base::name::Name;
use crate::judging::contract::{CriterionId, Need};
use crate::suites::checks::Check;
use crate::suites::demand::Demand;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Folders are named after it.
    pub id: Name,
    pub description: String,
    #[serde(default)]
    pub requirements: Vec<String>,
    #[serde(default)]
    pub input_args: String,
    #[serde(default)]
    pub success_criteria: String,
    /// The files in the executor's workspace: a folder of copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<TreeId>,
    /// Files of the skill itself that the task is about, copied from the version under trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_skill: Vec<SkillFile>,
    /// Prepares the workspace once for all trials: a program and its arguments, run where the files are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Vec<String>>,
    /// Whether the workspace is a git repository with one commit. If so, the diff is an artifact too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub git: bool,
    /// The program and arguments that the built-in executor runs, with the skill in its workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The executor's tools, if they differ from the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Tools>,
    /// What a good result is like. Only the judge sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Box<str>>,
    /// If there are any demands, they alone make the score of a trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<Demand>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Box<str>>,
    /// Whether it is kept for the final comparison: no search runs it, and no improver sees it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
}

/// A file of the first member, and the place of its copy in the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFile {
    /// Relative to the skill's folder.
    pub path: String,
    /// Relative to the workspace.
    pub at: String,
}

/// The tools of an executor. Judges and improvers never have a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tools {
    /// Reads and writes files.
    Files,
    /// Also runs commands.
    Shell,
}

impl Scenario {
    /// Creates a scenario with only a task.
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
    /// Returns whether the scenario has what a criterion asks about.
    pub fn tells(&self, need: Need) -> bool {
        match need {
            Need::Requirements => !self.requirements.is_empty(),
            Need::Success => !self.success_criteria.trim().is_empty() || self.command.is_some(),
        }
    }

    /// Returns the scenario for a trial without any skill, without checks of skill use, or `None` if no check is left.
    pub fn without_skill(&self) -> Option<Self> {
        let is_asked = |demand: &&Demand| !matches!(demand.how.check(), Some(Check::Skill { .. }));
        let demands = self.demands.iter().filter(is_asked);
        let demands: Vec<_> = demands.map(|demand| Demand { member: None, ..demand.clone() }).collect();
        // Neither changes what is asked.
        let (tags, held_out) = (Vec::new(), false);
        (!demands.is_empty()).then(|| Self { demands, tags, held_out, ..self.clone() })
    }

    /// Returns the stored trees that the scenario names: its starting files, and the graders of its checks.
    pub fn trees(&self) -> Vec<TreeId> {
        let graders = self.demands.iter().filter_map(|demand| match demand.how.check() {
            Some(Check::Command { grader, .. }) => *grader,
            Some(_) | None => None,
        });
        self.files.into_iter().chain(graders).collect()
    }

    /// Returns whether an agent gets the same task with the same files.
    pub fn has_task_of(&self, other: &Self) -> bool {
        self.description == other.description
            && self.input_args == other.input_args
            && self.files == other.files
            && self.of_skill == other.of_skill
    }

    /// Returns the criterion id of a demand in an evaluation. No criterion of a contract has such an id.
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
