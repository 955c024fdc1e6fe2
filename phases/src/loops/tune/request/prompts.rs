//! The prompts of the requests of `tune`.

use super::placing::{ARTIFACTS, EVIDENCE, NEIGHBOURS, PASSED, PRODUCED};
use super::{AgentRequest, INPUT, Improving, SKILL, START, placing};
use crate::asking::prompt::{
    EvaluateBrief, ExecuteBrief, Faulty, GradeBrief, ImproveBrief, Neighbour, TaskBrief, TextBrief,
};
use crate::base::material::{Body, Folder, Folders, Named};
use crate::judging::contract::Contract;
use crate::loops::tune::{Trial, anchor};
use crate::runs::event::FailureKind;
use crate::skills::skill;
use crate::skills::target::{self, Place};
use crate::suites::scenario::Scenario;

impl AgentRequest {
    /// Returns a member's folder of this kind, if the workspace has one.
    fn named<'a>(&'a self, folders: &'a Folders, path: &str, member: Place) -> Option<Named<'a>> {
        let name = self.name(member);
        folders.find(&format!("{path}/{name}")).map(|folder| Named { name, folder })
    }

    /// Returns the skill that an executor carries out or an improver edits.
    fn skill<'a>(&'a self, folders: &'a Folders, member: Place) -> Named<'a> {
        let at = placing::skill_path(&self.plan, member, &self.brief);
        Named { name: self.name(member), folder: folders.placed(&at) }
    }

    pub(super) fn execute_prompt(
        &self,
        member: Place,
        trial: Trial,
        folders: &Folders,
    ) -> Result<String, Faulty> {
        let skill = self.skill(folders, member);
        let folder = self.order.plugin.as_ref().map(|root| with_plugin_root(skill.folder, root));
        let skill = Named { folder: folder.as_ref().unwrap_or(skill.folder), ..skill };
        let upstream = folders.find(INPUT).zip(member.0.checked_sub(1));
        let breach = self.retry.as_ref().filter(|failure| failure.kind == FailureKind::Breach);
        let breach = breach.map(|failure| failure.why.as_str());
        self.plan.task.prompts.execute(&ExecuteBrief {
            skill,
            position: (member.0 + 1, self.plan.task.target.members.len()),
            scenario: &self.plan.task.scenarios[trial.scenario],
            upstream: upstream.map(|(folder, before)| Named { name: self.name(Place(before)), folder }),
            simplified: self.retry.is_some() && breach.is_none(),
            breach,
            seed: &self.code,
        })
    }

    /// Returns the task prompt. For an installed skill, the prompt says nothing of it, or its name.
    pub(super) fn task_prompt(&self, member: Place, calls: bool, trial: Trial) -> Result<String, Faulty> {
        self.plan.task.prompts.task(&TaskBrief {
            call: calls.then(|| self.name(member)),
            scenario: &self.plan.task.scenarios[trial.scenario],
            input: self.input(),
            position: (member.0 + 1, self.plan.task.target.members.len()),
        })
    }

    pub(super) fn evaluate_prompt(
        &self,
        trial: Trial,
        contract: &Contract,
        activity: &[(Place, Box<str>)],
        folders: &Folders,
    ) -> Result<String, Faulty> {
        let artifacts = self.all_named(folders, ARTIFACTS);
        self.plan.task.prompts.evaluate(&EvaluateBrief {
            skills: &self.all_named(folders, SKILL),
            scenario: &self.plan.task.scenarios[trial.scenario],
            start: folders.find(START),
            artifacts: &artifacts,
            contract: &self.worded(contract, &artifacts),
            unused: &self.unused(),
            activity: &self.by_name(activity),
            nonce: &self.code,
            retry_error: self.retry_error(),
            seed: &self.code,
        })
    }

    pub(super) fn improve_prompt(&self, improving: &Improving, folders: &Folders) -> Result<String, Faulty> {
        let neighbour = |place: Option<Place>| place.map(|place| self.neighbour(place, folders));
        let (before, after) = (neighbour(improving.before), neighbour(improving.after));
        let all = &self.plan.task.scenarios;
        let scenario = |nth: usize| all[nth].id.as_str();
        let activity: Vec<_> =
            improving.activity.iter().map(|(nth, digest)| (scenario(*nth), &**digest)).collect();
        let unfinished: Vec<_> =
            improving.unfinished.iter().map(|(nth, why)| (scenario(*nth), why.as_str())).collect();
        let searched: Vec<&Scenario> = all.iter().filter(|scenario| !scenario.held_out).collect();
        let produced = self.named(folders, PRODUCED, improving.member);
        self.plan.task.prompts.improve(&ImproveBrief {
            skill: self.skill(folders, improving.member),
            opens_files: self.opens_files(),
            by_outcome: self.plan.task.has_demands(),
            scenarios: &searched,
            produced: produced.zip(improving.worst.map(scenario)),
            unmet: &improving.unmet,
            unfinished: &unfinished,
            met: &improving.met,
            suggestions: &improving.suggestions,
            kept: &improving.kept_changes,
            tried: &improving.failed_changes,
            before: before.as_ref(),
            after: after.as_ref(),
            retry_error: self.retry_error(),
            uses: improving.uses,
            activity: &activity,
            seed: &self.code,
        })
    }

    fn neighbour(&self, place: Place, folders: &Folders) -> Neighbour {
        let skill = self.named(folders, NEIGHBOURS, place);
        let passed = self.named(folders, PASSED, place);
        let files = passed.iter().flat_map(|passed| &passed.folder.files);
        Neighbour {
            name: self.name(place).to_owned(),
            description: skill.and_then(|skill| description(skill.folder)).unwrap_or_default(),
            files: files.map(|file| file.path.clone()).collect(),
        }
    }

    pub(super) fn grade_prompt(
        &self,
        trial: Trial,
        contract: &Contract,
        activity: &[(Place, Box<str>)],
        folders: &Folders,
    ) -> String {
        let artifacts = self.all_named(folders, ARTIFACTS);
        let brief = GradeBrief {
            scenario: &self.plan.task.scenarios[trial.scenario],
            start: folders.find(START),
            artifacts: &artifacts,
            evidence: &self.all_named(folders, EVIDENCE),
            contract: &self.worded(contract, &artifacts),
            activity: &self.by_name(activity),
            nonce: &self.code,
            retry_error: self.retry_error(),
            seed: &self.code,
        };
        brief.prompt()
    }

    /// Fills in the text of an anchor's statements, which are about the produced files.
    fn worded(&self, contract: &Contract, artifacts: &[Named<'_>]) -> Contract {
        let files = artifacts.iter().flat_map(|member| &member.folder.files);
        let files: Vec<&str> = files.map(|file| file.path.as_str()).collect();
        anchor::worded(contract, &files, &self.order.code(b"absent", &[], self.plan.seed))
    }

    pub(super) fn judge_text_prompt(&self, contract: &Contract, folders: &Folders) -> String {
        let brief = TextBrief {
            skills: &self.all_named(folders, SKILL),
            opens_files: self.opens_files(),
            contract,
            nonce: &self.code,
            retry_error: self.retry_error(),
            seed: &self.code,
        };
        brief.prompt()
    }

    fn all_named<'a>(&'a self, folders: &'a Folders, path: &str) -> Vec<Named<'a>> {
        self.plan.places().filter_map(|place| self.named(folders, path, place)).collect()
    }

    fn by_name<'a>(&'a self, activity: &'a [(Place, Box<str>)]) -> Vec<(&'a str, &'a str)> {
        activity.iter().map(|(place, digest)| (self.name(*place), &**digest)).collect()
    }
}

/// Returns the folder, with the plugin's root replaced in its texts.
fn with_plugin_root(skill: &Folder, root: &str) -> Folder {
    let mut skill = skill.clone();
    for file in &mut skill.files {
        if let Body::Text(text) = &mut file.body {
            *text = target::with_plugin_root(text, root);
        }
    }
    skill
}

fn description(skill: &Folder) -> Option<String> {
    let main = skill.files.iter().find(|file| file.path == "SKILL.md")?;
    let Body::Text(text) = &main.body else { return None };
    skill::check(text).ok().map(|matter| matter.description)
}
