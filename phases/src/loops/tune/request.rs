//! A request of `tune`: one step made ready for an agent, with its prompt and the reading of a verdict.

use std::sync::Arc;

use super::activity;
use super::measure::{self, SEARCH};
use super::notes::{self, Notes};
use super::uses;
use super::{Answer, Plan, Run, Step, Trial, Tune, Uses};
use crate::candidate::Candidate;
use crate::contract::CriterionId;
use crate::delivery::Delivery;
use crate::event::{Failure, FailureKind, Outcome};
use crate::id::{CandidateId, TreeId};
use crate::judgement::{self, Ask, Findings, Suggestion};
use crate::material::{Body, Folder, Folders, Named};
use crate::offline::{self, Judged, Task};
use crate::order::{self, Access, Command, Installed, Order, Placement, Question};
use crate::prompt::{EvaluateBrief, ExecuteBrief, Faulty, ImproveBrief, Neighbour, TaskBrief, Tried};
use crate::role::{Rights, Role};
use crate::scenario::Tools;
use crate::skill;
use crate::target::Place;
use crate::vocabulary::Vocabulary as _;

/// The folder of a workspace in which an upstream member's artifacts stand.
pub const INPUT: &str = "input";
/// The workspace itself, and where a judge finds what it held at first.
pub const WORKSPACE: &str = "";
const START: &str = "start";
/// The folder of a workspace in which the skills stand.
pub const SKILL: &str = "skill";

#[derive(Clone, Debug)]
pub struct Request {
    order: Order,
    plan: Arc<Plan>,
    retry: Option<Failure>,
    brief: Brief,
}

/// What only the run knows.
#[derive(Clone, Debug)]
enum Brief {
    SetUp,
    Execute { member: Place, trial: Trial },
    Evaluate { trial: Trial, unused: Vec<Place>, activity: Vec<(Place, Box<str>)> },
    Improve(Box<Improving>),
}

#[derive(Clone, Debug)]
struct Improving {
    member: Place,
    unmet: Findings,
    met: Vec<CriterionId>,
    suggestions: Vec<Suggestion>,
    tried: Vec<Tried>,
    /// The neighbours in the chain.
    before: Option<Place>,
    after: Option<Place>,
    uses: Uses,
    /// Of the trials that fell short: the scenario, and what the agent did.
    activity: Vec<(usize, Box<str>)>,
}

impl Request {
    /// Makes a step ready. Only steps that an agent answers can be requested.
    pub fn of(run: &Run, step: &Step) -> Option<Self> {
        let (mut command, mut repository) = (None, false);
        let (brief, placements) = match step {
            Step::SetUp { scenario, files } => {
                let scenario = &run.plan.task.scenarios[*scenario];
                command = Some(set_up(&run.plan, scenario.setup.clone()?));
                (Brief::SetUp, begin_with(*files))
            }
            Step::Exercise { member, skill, trial, input } => {
                repository = member.0 == 0 && run.plan.task.scenarios[trial.scenario].git;
                execute(run, *member, *skill, *trial, *input)
            }
            Step::Judge { candidate, trial, artifacts } => {
                let candidate = run.candidate(*candidate)?;
                let unused = uses::unused_in(run, candidate, *trial);
                let start = measure::starting(run, trial.scenario);
                let placements = evaluate(&run.plan, &candidate.trees, artifacts, start);
                let activity = activity::of_members(run, candidate, *trial);
                (Brief::Evaluate { trial: *trial, unused, activity }, placements)
            }
            Step::Improve { base, member, .. } => improve(run, *base, *member)?,
            Step::Ask(_) | Step::Promote { .. } => return None,
        };
        // Only a set-up has no role of its own, and no agent is asked for it.
        let spec = Tune::spec(&step.role().unwrap_or(Role::EXECUTOR))?;
        let order = Order {
            step: order::step_text(step),
            attempt: run.attempts(step),
            role: spec.role.clone(),
            rights: rights(&run.plan, &brief, spec.rights),
            placements,
            installed: installed(&run.plan, &brief),
            command,
            repository,
        };
        Some(Self { order, plan: Arc::clone(&run.plan), retry: run.last_failure(step).cloned(), brief })
    }

    /// Whether what is left is worked on, or was made from what another member left.
    pub fn is_of_chain(&self) -> bool {
        self.plan.is_chain()
    }

    /// Reads an evaluator's answer.
    pub fn judge(&self, answer: &str) -> Outcome<Answer> {
        let (nonce, members) = (self.nonce(), self.members());
        match judgement::read(answer, &self.ask(&nonce, &members)) {
            Ok(judgement) => {
                let judgement = judgement.without_effect_of(&self.unused(), &self.plan.task.contract);
                Ok(Answer::Judged(Box::new(judgement)))
            }
            Err(why) => Err(Failure::new(FailureKind::OffSchema, why.to_string())),
        }
    }

    fn ask<'a>(&'a self, nonce: &'a str, members: &'a [&'a str]) -> Ask<'a> {
        let shape = self.plan.roles.of(&self.order.role).verdict;
        Ask { contract: &self.plan.task.contract, nonce, members, shape }
    }

    fn nonce(&self) -> String {
        self.order.code(b"verdict", self.plan.seed)
    }

    /// The names of the members that were not used in the trial that is judged.
    fn unused(&self) -> Vec<&str> {
        let places = match &self.brief {
            Brief::Evaluate { unused, .. } => unused.as_slice(),
            Brief::SetUp | Brief::Execute { .. } | Brief::Improve(_) => &[],
        };
        places.iter().map(|place| self.name(*place)).collect()
    }

    fn members(&self) -> Vec<&str> {
        let members = self.plan.task.target.members.iter();
        members.filter(|_| self.plan.is_chain()).map(|member| member.name.as_str()).collect()
    }

    fn name(&self, member: Place) -> &str {
        &self.plan.member(member).name
    }

    /// Where the workspace holds what the member before has handed on, if it has.
    fn input(&self) -> Option<&'static str> {
        Some(INPUT).filter(|at| self.order.places(at))
    }

    fn retry_error(&self) -> Option<&str> {
        self.retry.as_ref().map(|failure| failure.why.as_str())
    }

    /// A member's folder of this kind, if the workspace holds one.
    fn named<'a>(&'a self, folders: &'a Folders, path: &str, member: Place) -> Option<Named<'a>> {
        let name = self.name(member);
        folders.find(&format!("{path}/{name}")).map(|folder| Named { name, folder })
    }

    /// The skill that an executor carries out, or an improver edits.
    fn skill<'a>(&'a self, folders: &'a Folders, member: Place) -> Named<'a> {
        let at = skill_path(&self.plan, member, &self.brief);
        Named { name: self.name(member), folder: folders.placed(&at) }
    }

    fn execute_prompt(&self, member: Place, trial: Trial, folders: &Folders) -> Result<String, Faulty> {
        let upstream = folders.find(INPUT).zip(member.0.checked_sub(1));
        let breach = self.retry.as_ref().filter(|failure| failure.kind == FailureKind::Breach);
        let breach = breach.map(|failure| failure.why.as_str());
        self.plan.task.prompts.execute(&ExecuteBrief {
            skill: self.skill(folders, member),
            position: (member.0 + 1, self.plan.task.target.members.len()),
            scenario: &self.plan.task.scenarios[trial.scenario],
            upstream: upstream.map(|(folder, before)| Named { name: self.name(Place(before)), folder }),
            simplified: self.retry.is_some() && breach.is_none(),
            breach,
            seed: &self.nonce(),
        })
    }

    /// Of a skill that is installed its user says nothing, or its name.
    fn task_prompt(&self, member: Place, calls: bool, trial: Trial) -> Result<String, Faulty> {
        self.plan.task.prompts.task(&TaskBrief {
            call: calls.then(|| self.name(member)),
            scenario: &self.plan.task.scenarios[trial.scenario],
            input: self.input(),
            position: (member.0 + 1, self.plan.task.target.members.len()),
        })
    }

    fn evaluate_prompt(
        &self,
        trial: Trial,
        activity: &[(Place, Box<str>)],
        folders: &Folders,
    ) -> Result<String, Faulty> {
        let activity: Vec<_> =
            activity.iter().map(|(place, digest)| (self.name(*place), &**digest)).collect();
        let named = |path| -> Vec<Named<'_>> {
            self.plan.places().filter_map(|place| self.named(folders, path, place)).collect()
        };
        self.plan.task.prompts.evaluate(&EvaluateBrief {
            skills: &named(SKILL),
            scenario: &self.plan.task.scenarios[trial.scenario],
            start: folders.find(START),
            artifacts: &named(ARTIFACTS),
            contract: &self.plan.task.contract,
            unused: &self.unused(),
            activity: &activity,
            nonce: &self.nonce(),
            retry_error: self.retry_error(),
            seed: &self.nonce(),
        })
    }

    fn improve_prompt(&self, improving: &Improving, folders: &Folders) -> Result<String, Faulty> {
        let neighbour = |place: Option<Place>| place.map(|place| self.neighbour(place, folders));
        let (before, after) = (neighbour(improving.before), neighbour(improving.after));
        let scenario = |nth: usize| self.plan.task.scenarios[nth].id.as_str();
        let activity: Vec<_> =
            improving.activity.iter().map(|(nth, digest)| (scenario(*nth), &**digest)).collect();
        self.plan.task.prompts.improve(&ImproveBrief {
            skill: self.skill(folders, improving.member),
            scenarios: &self.plan.task.scenarios,
            contract: &self.plan.task.contract,
            unmet: &improving.unmet,
            met: &improving.met,
            suggestions: &improving.suggestions,
            tried_and_dropped: &improving.tried,
            before: before.as_ref(),
            after: after.as_ref(),
            retry_error: self.retry_error(),
            uses: improving.uses,
            activity: &activity,
            seed: &self.nonce(),
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

    /// The skill as the built-in agent is told of it.
    fn offline_skill(&self, member: Place) -> offline::Folder {
        let at = skill_path(&self.plan, member, &self.brief);
        offline::Folder { name: self.name(member).to_owned(), at }
    }
}

impl AsRef<Order> for Request {
    fn as_ref(&self) -> &Order {
        &self.order
    }
}

impl Question for Request {
    fn prompt(&self, folders: &Folders) -> Result<String, Faulty> {
        match &self.brief {
            Brief::SetUp => Ok(String::new()),
            Brief::Execute { member, trial } => match &self.plan.task.delivery {
                Delivery::Inline => self.execute_prompt(*member, *trial, folders),
                Delivery::Installed { .. } => self.task_prompt(*member, false, *trial),
                Delivery::Slash { .. } => self.task_prompt(*member, true, *trial),
            },
            Brief::Evaluate { trial, activity, .. } => self.evaluate_prompt(*trial, activity, folders),
            Brief::Improve(improving) => self.improve_prompt(improving, folders),
        }
    }

    fn task(&self) -> Option<Task> {
        Some(match &self.brief {
            Brief::SetUp => return None,
            Brief::Execute { member, trial } => Task::Execute {
                skill: self.offline_skill(*member),
                input: self.input().map(str::to_owned),
                command: self.plan.task.scenarios[trial.scenario].command.clone(),
            },
            Brief::Evaluate { .. } => {
                let judged = |place| Judged {
                    skill: self.offline_skill(place),
                    artifacts: Some(path(ARTIFACTS, &self.plan, place)).filter(|at| self.order.places(at)),
                };
                Task::Evaluate {
                    verdict_of: self.nonce(),
                    contract: self.plan.task.contract.clone(),
                    members: self.plan.places().map(judged).collect(),
                }
            }
            Brief::Improve(improving) => Task::Improve {
                skill: self.offline_skill(improving.member),
                contract: self.plan.task.contract.clone(),
                tried: improving.tried.iter().map(|tried| tried.summary.clone()).collect(),
            },
        })
    }

    /// Only verdicts have a form of their own.
    fn schema(&self) -> Option<String> {
        let Brief::Evaluate { .. } = self.brief else { return None };
        let (nonce, members) = (self.nonce(), self.members());
        Some(judgement::schema(&self.ask(&nonce, &members)).to_string())
    }
}

/// Where a workspace holds what is judged, and what an improver reads besides its draft; each with the member's name.
const ARTIFACTS: &str = "artifacts";
const NEIGHBOURS: &str = "neighbours";
const PASSED: &str = "passed";

fn path(folder: &str, plan: &Plan, member: Place) -> String {
    format!("{folder}/{}", plan.member(member).name)
}

/// An executor finds the skill where its program looks for skills, if it is installed.
fn skill_path(plan: &Plan, member: Place, brief: &Brief) -> String {
    let installed = plan.task.delivery.at().filter(|_| matches!(brief, Brief::Execute { .. }));
    path(installed.unwrap_or(SKILL), plan, member)
}

fn installed(plan: &Plan, brief: &Brief) -> Option<Installed> {
    let (Brief::Execute { member, .. }, Some(_)) = (brief, plan.task.delivery.at()) else { return None };
    let name = plan.member(*member).name.to_string();
    let called = matches!(plan.task.delivery, Delivery::Slash { .. });
    Some(Installed { name, at: skill_path(plan, *member, brief), called })
}

/// Only an executor is ever given a shell.
fn rights(plan: &Plan, brief: &Brief, own: Rights) -> Rights {
    match brief {
        Brief::Execute { trial, .. } if plan.task.tools(trial.scenario) == Tools::Shell => Rights::Shell,
        Brief::SetUp | Brief::Execute { .. } | Brief::Evaluate { .. } | Brief::Improve(_) => own,
    }
}

type Made = (Brief, Vec<Placement>);

fn execute(run: &Run, member: Place, skill: TreeId, trial: Trial, input: Option<TreeId>) -> Made {
    let brief = Brief::Execute { member, trial };
    // An installed skill may keep files beside itself, as it does for its users.
    let access = if run.plan.task.delivery.at().is_some() { Access::Scratch } else { Access::Fixed };
    let mut placements = vec![Placement::new(skill_path(&run.plan, member, &brief), skill, access)];
    match member {
        Place(0) => placements.extend(begin_with(input)),
        _ => placements.extend(input.map(|tree| Placement::new(INPUT, tree, Access::Fixed))),
    }
    (brief, placements)
}

/// What a scenario brings stands in the workspace itself, to be worked on.
fn begin_with(files: Option<TreeId>) -> Vec<Placement> {
    files.map(|tree| Placement::new(WORKSPACE, tree, Access::Scratch)).into_iter().collect()
}

fn set_up(plan: &Plan, argv: Vec<String>) -> Command {
    let seconds = plan.roles.of(&Role::EXECUTOR).timeout_seconds;
    Command { argv, seconds, confined: plan.task.confined }
}

fn evaluate(plan: &Plan, skills: &[TreeId], artifacts: &[TreeId], start: Option<TreeId>) -> Vec<Placement> {
    let each = |folder, trees: &[TreeId]| -> Vec<Placement> {
        let members = plan.places().zip(trees);
        members.map(|(place, &tree)| fixed(folder, plan, place, tree)).collect()
    };
    let start = start.map(|tree| Placement::new(START, tree, Access::Fixed)).into_iter().collect();
    [each(SKILL, skills), each(ARTIFACTS, artifacts), start].concat()
}

fn improve(run: &Run, base: CandidateId, member: Place) -> Option<Made> {
    let (candidate, plan) = (run.candidate(base)?, &run.plan);
    let skill = candidate.trees[member.0];
    let mut placements = vec![Placement::new(path(SKILL, plan, member), skill, Access::Draft)];
    let passed = passed_on(run, candidate);
    let before = member.0.checked_sub(1).map(Place);
    let after = Some(Place(member.0 + 1)).filter(|after| after.0 < candidate.trees.len());
    // What comes to this member from the one before it, and what goes from it to the next one.
    for (neighbour, handed) in
        before.map(|place| (place, place)).into_iter().chain(after.map(|place| (place, member)))
    {
        placements.push(fixed(NEIGHBOURS, plan, neighbour, candidate.trees[neighbour.0]));
        placements.extend(passed.get(handed.0).map(|&tree| fixed(PASSED, plan, neighbour, tree)));
    }
    let era = run.era_of(base);
    let standings = notes::standings(run, base, era, plan.is_chain().then_some(member));
    let (met, unmet): (Vec<_>, Vec<_>) =
        standings.into_iter().partition(|standing| standing.met == standing.of);
    let improving = Improving {
        member,
        met: met.into_iter().map(|standing| standing.worst.criterion.clone()).collect(),
        unmet: unmet.into_iter().map(|standing| standing.worst).collect(),
        suggestions: suggestions(run, base, member),
        tried: tried(run, member),
        before,
        after,
        uses: Uses::of(run, base, Some(member), SEARCH..=SEARCH),
        activity: activity::of_worst(run, base, member),
    };
    Some((Brief::Improve(Box::new(improving)), placements))
}

fn fixed(folder: &str, plan: &Plan, member: Place, tree: TreeId) -> Placement {
    Placement::new(path(folder, plan, member), tree, Access::Fixed)
}

/// What each member handed on in the first scenario that was run to its end.
fn passed_on(run: &Run, candidate: &Candidate) -> Vec<TreeId> {
    let era = run.era_of(candidate.id);
    let scenarios = run.state.measure.scenarios().iter();
    let trials = scenarios.map(|&scenario| Trial { scenario, ordinal: SEARCH, era });
    let mut handed = trials.map(|trial| measure::artifacts(run, candidate, trial));
    handed.find(|trees| trees.len() == candidate.trees.len()).unwrap_or_default()
}

/// Suggestions for this member, and those that name none.
fn suggestions(run: &Run, base: CandidateId, member: Place) -> Vec<Suggestion> {
    let name = run.plan.member(member).name.as_str();
    let ours = |suggestion: &Suggestion| suggestion.member.as_deref().is_none_or(|other| other == name);
    Notes::of(run, base, run.era_of(base)).suggestions.into_iter().filter(ours).collect()
}

fn tried(run: &Run, member: Place) -> Vec<Tried> {
    let dropped = run.dropped().into_iter().filter(|dropped| dropped.member == member);
    dropped
        .map(|dropped| {
            let summary = dropped.draft.and_then(|(_, report)| report.summary.as_deref());
            Tried { summary: summary.unwrap_or("a change without a summary").to_owned(), why: dropped.why }
        })
        .collect()
}

fn description(skill: &Folder) -> Option<String> {
    let main = skill.files.iter().find(|file| file.path == "SKILL.md")?;
    let Body::Text(text) = &main.body else { return None };
    skill::check(text).ok().map(|matter| matter.description)
}
