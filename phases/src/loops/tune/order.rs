//! An order: one step made ready for an agent. What stands in its workspace, its prompt, and how its answer is read.
//!
//! An order owns all it needs, so that it can be carried out apart from the run. No file is opened here: whoever
//! carries it out loads the folders that its placements name.

use std::sync::Arc;

use super::measure::{self, SEARCH};
use super::notes::{self, Notes};
use super::uses;
use super::{Outcome, Plan, Run, Step, Trial, Tune, Uses};
use crate::candidate::Candidate;
use crate::contract::CriterionId;
use crate::delivery::Delivery;
use crate::event::{Failure, FailureKind};
use crate::id::{CandidateId, TreeId};
use crate::judgement::{self, Ask, Findings, Suggestion};
use crate::material::{Body, Folder, Named};
use crate::offline::{self, Judged, Task};
use crate::order::{self, Installed, Placement};
use crate::prompt::{EvaluateBrief, ExecuteBrief, Faulty, ImproveBrief, Neighbour, TaskBrief, Tried};
use crate::role::Role;
use crate::skill;
use crate::target::Place;

/// The folder of a workspace in which an upstream member's artifacts stand.
pub const INPUT: &str = "input";
/// The folder of a workspace in which the skills stand.
pub const SKILL: &str = "skill";

#[derive(Clone, Debug)]
pub struct Order {
    step: Step,
    attempt: u32,
    placements: Vec<Placement>,
    plan: Arc<Plan>,
    retry: Option<Failure>,
    brief: Brief,
}

/// What only the run knows.
#[derive(Clone, Debug)]
enum Brief {
    Execute { member: Place, trial: Trial, upstream: bool },
    Evaluate { trial: Trial, unused: Vec<Place> },
    Improve(Box<Improving>),
}

#[derive(Clone, Debug)]
struct Improving {
    member: Place,
    unmet: Findings,
    met: Vec<CriterionId>,
    suggestions: Vec<Suggestion>,
    tried: Vec<Tried>,
    before: Option<Near>,
    after: Option<Near>,
    uses: Uses,
}

/// A neighbour in the chain: which placements hold its skill, and what passes between the two.
#[derive(Clone, Copy, Debug)]
struct Near {
    place: Place,
    skill: usize,
    passed: Option<usize>,
}

impl Order {
    /// Makes a step ready. Only steps that an agent answers can be ordered.
    pub fn of(run: &Run, step: &Step) -> Option<Self> {
        let (brief, placements) = match step {
            Step::Exercise { member, skill, trial, input } => execute(run, *member, *skill, *trial, *input),
            Step::Judge { candidate, trial, artifacts } => {
                let candidate = run.candidate(*candidate)?;
                let unused = uses::unused_in(run, candidate, *trial);
                (Brief::Evaluate { trial: *trial, unused }, evaluate(run, &candidate.trees, artifacts))
            }
            Step::Improve { base, member, .. } => improve(run, *base, *member)?,
            Step::Ask(_) | Step::Promote { .. } => return None,
        };
        Some(Self {
            step: step.clone(),
            attempt: run.attempts(step),
            placements,
            plan: Arc::clone(&run.plan),
            retry: run.last_failure(step).cloned(),
            brief,
        })
    }

    fn skill(&self, member: Place, placement: usize) -> offline::Folder {
        let name = self.plan.member(member).name.clone();
        offline::Folder { name: name.to_string(), at: self.placements[placement].at.clone() }
    }

    /// Reads an evaluator's answer.
    pub fn judge(&self, answer: &str) -> Outcome {
        let (nonce, members) = (self.nonce(), self.members());
        match judgement::read(answer, &self.ask(&nonce, &members)) {
            Ok(judgement) => {
                let judgement = judgement.without_effect_of(&self.unused(), &self.plan.task.contract);
                Outcome::Judged(Box::new(judgement))
            }
            Err(why) => Outcome::Failed(Failure::new(FailureKind::OffSchema, why.to_string())),
        }
    }

    fn ask<'a>(&'a self, nonce: &'a str, members: &'a [&'a str]) -> Ask<'a> {
        let shape = self.plan.roles.evaluator.verdict;
        Ask { contract: &self.plan.task.contract, nonce, members, shape }
    }

    fn nonce(&self) -> String {
        order::code(b"verdict", self.plan.seed, &self.step, self.attempt)
    }

    /// The names of the members that were not used in the trial that is judged.
    fn unused(&self) -> Vec<&str> {
        let places = match &self.brief {
            Brief::Evaluate { unused, .. } => unused.as_slice(),
            Brief::Execute { .. } | Brief::Improve(_) => &[],
        };
        places.iter().map(|place| self.plan.member(*place).name.as_str()).collect()
    }

    fn members(&self) -> Vec<&str> {
        let members = self.plan.task.target.members.iter();
        members.filter(|_| self.plan.is_chain()).map(|member| member.name.as_str()).collect()
    }

    fn retry_error(&self) -> Option<&str> {
        self.retry.as_ref().map(|failure| failure.why.as_str())
    }

    /// Folders with the names of the members they belong to, in the order of the chain.
    fn named<'a>(&'a self, folders: &'a [Folder]) -> Vec<Named<'a>> {
        let members = self.plan.task.target.members.iter();
        members.zip(folders).map(|(member, folder)| Named { name: &member.name, folder }).collect()
    }

    fn execute_prompt(
        &self,
        member: Place,
        trial: Trial,
        upstream: bool,
        folders: &[Folder],
    ) -> Result<String, Faulty> {
        let name = |place: usize| self.plan.member(Place(place)).name.as_str();
        let before = member.0.checked_sub(1).filter(|_| upstream);
        let breach = self.retry.as_ref().filter(|failure| failure.kind == FailureKind::Breach);
        let breach = breach.map(|failure| failure.why.as_str());
        self.plan.task.prompts.execute(&ExecuteBrief {
            skill: Named { name: name(member.0), folder: &folders[0] },
            position: (member.0 + 1, self.plan.task.target.members.len()),
            scenario: &self.plan.task.scenarios[trial.scenario],
            upstream: before.map(|before| Named { name: name(before), folder: &folders[1] }),
            simplified: self.retry.is_some() && breach.is_none(),
            breach,
            seed: &self.nonce(),
        })
    }

    /// Of a skill that is installed its user says nothing, or its name.
    fn task_prompt(&self, call: Option<Place>, trial: Trial, upstream: bool) -> Result<String, Faulty> {
        self.plan.task.prompts.task(&TaskBrief {
            call: call.map(|member| self.plan.member(member).name.as_str()),
            scenario: &self.plan.task.scenarios[trial.scenario],
            input: upstream.then_some(INPUT),
            seed: &self.nonce(),
        })
    }

    fn evaluate_prompt(&self, trial: Trial, folders: &[Folder]) -> Result<String, Faulty> {
        let (skills, artifacts) = folders.split_at(self.plan.task.target.members.len());
        self.plan.task.prompts.evaluate(&EvaluateBrief {
            skills: &self.named(skills),
            scenario: &self.plan.task.scenarios[trial.scenario],
            artifacts: &self.named(artifacts),
            contract: &self.plan.task.contract,
            unused: &self.unused(),
            nonce: &self.nonce(),
            retry_error: self.retry_error(),
            seed: &self.nonce(),
        })
    }

    fn improve_prompt(&self, improving: &Improving, folders: &[Folder]) -> Result<String, Faulty> {
        let neighbour = |near: Option<Near>| near.map(|near| self.neighbour(near, folders));
        let (before, after) = (neighbour(improving.before), neighbour(improving.after));
        self.plan.task.prompts.improve(&ImproveBrief {
            skill: Named { name: &self.plan.member(improving.member).name, folder: &folders[0] },
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
            seed: &self.nonce(),
        })
    }

    fn neighbour(&self, near: Near, folders: &[Folder]) -> Neighbour {
        let passed = near.passed.and_then(|index| folders.get(index));
        Neighbour {
            name: self.plan.member(near.place).name.to_string(),
            description: folders.get(near.skill).and_then(description).unwrap_or_default(),
            files: passed
                .into_iter()
                .flat_map(|folder| &folder.files)
                .map(|file| file.path.clone())
                .collect(),
        }
    }
}

impl order::Order<Tune> for Order {
    fn step(&self) -> &Step {
        &self.step
    }

    fn attempt(&self) -> u32 {
        self.attempt
    }

    fn placements(&self) -> &[Placement] {
        &self.placements
    }

    fn role(&self) -> Role {
        match self.brief {
            Brief::Execute { .. } => Role::Executor,
            Brief::Evaluate { .. } => Role::Evaluator,
            Brief::Improve(_) => Role::Improver,
        }
    }

    fn prompt(&self, folders: &[Folder]) -> Result<String, Faulty> {
        match &self.brief {
            Brief::Execute { member, trial, upstream } => match &self.plan.task.delivery {
                Delivery::Inline => self.execute_prompt(*member, *trial, *upstream, folders),
                Delivery::Installed { .. } => self.task_prompt(None, *trial, *upstream),
                Delivery::Slash { .. } => self.task_prompt(Some(*member), *trial, *upstream),
            },
            Brief::Evaluate { trial, .. } => self.evaluate_prompt(*trial, folders),
            Brief::Improve(improving) => self.improve_prompt(improving, folders),
        }
    }

    fn task(&self) -> Option<Task> {
        Some(match &self.brief {
            Brief::Execute { member, trial, upstream } => Task::Execute {
                skill: self.skill(*member, 0),
                input: upstream.then(|| INPUT.to_owned()),
                command: self.plan.task.scenarios[trial.scenario].command.clone(),
            },
            Brief::Evaluate { .. } => {
                let (skills, artifacts) = self.placements.split_at(self.plan.task.target.members.len());
                let judged = |(at, place): (usize, Place)| Judged {
                    skill: self.skill(place, at),
                    artifacts: artifacts.get(at).map(|placement| placement.at.clone()),
                };
                Task::Evaluate {
                    verdict_of: self.nonce(),
                    contract: self.plan.task.contract.clone(),
                    members: self.plan.places().take(skills.len()).enumerate().map(judged).collect(),
                }
            }
            Brief::Improve(improving) => Task::Improve {
                skill: self.skill(improving.member, 0),
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

    fn working_copy(&self) -> Option<&Placement> {
        matches!(self.brief, Brief::Improve(_)).then(|| &self.placements[0])
    }

    /// All that it is given, but for an improver's copy, and for an installed
    /// skill, which may keep things beside itself as it does for its users.
    fn left_alone(&self) -> &[Placement] {
        &self.placements[usize::from(self.working_copy().is_some() || self.installed().is_some())..]
    }

    fn installed(&self) -> Option<Installed<'_>> {
        let (Brief::Execute { member, .. }, Some(_)) = (&self.brief, self.plan.task.delivery.at()) else {
            return None;
        };
        let called = matches!(self.plan.task.delivery, Delivery::Slash { .. });
        Some(Installed { name: &self.plan.member(*member).name, at: &self.placements[0].at, called })
    }
}

type Made = (Brief, Vec<Placement>);

fn execute(run: &Run, member: Place, skill: TreeId, trial: Trial, input: Option<TreeId>) -> Made {
    let folder = run.plan.task.delivery.at().unwrap_or(SKILL);
    let at = format!("{folder}/{}", run.plan.member(member).name);
    let mut placements = vec![Placement { at, tree: skill }];
    placements.extend(input.map(|tree| Placement { at: INPUT.into(), tree }));
    (Brief::Execute { member, trial, upstream: input.is_some() }, placements)
}

fn evaluate(run: &Run, skills: &[TreeId], artifacts: &[TreeId]) -> Vec<Placement> {
    let skills = run.plan.places().zip(skills).map(|(place, &tree)| skill_at(run, place, tree));
    let artifacts = run
        .plan
        .places()
        .zip(artifacts)
        .map(|(place, &tree)| Placement { at: format!("artifacts/{}", run.plan.member(place).name), tree });
    skills.chain(artifacts).collect()
}

fn improve(run: &Run, base: CandidateId, member: Place) -> Option<Made> {
    let candidate = run.candidate(base)?;
    let mut placements = vec![skill_at(run, member, candidate.trees[member.0])];
    let passed = passed_on(run, candidate);
    let before = member
        .0
        .checked_sub(1)
        .map(|before| near(run, candidate, Place(before), passed.get(before), &mut placements));
    let follows = member.0 + 1 < candidate.trees.len();
    let after =
        follows.then(|| near(run, candidate, Place(member.0 + 1), passed.get(member.0), &mut placements));
    let era = run.era_of(base);
    let standings = notes::standings(run, base, era, run.plan.is_chain().then_some(member));
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
    };
    Some((Brief::Improve(Box::new(improving)), placements))
}

/// What each member handed on in the first scenario that was run to its end.
fn passed_on(run: &Run, candidate: &Candidate) -> Vec<TreeId> {
    let era = run.era_of(candidate.id);
    let scenarios = run.course.measure.scenarios().iter();
    let trials = scenarios.map(|&scenario| Trial { scenario, ordinal: SEARCH, era });
    let mut handed = trials.map(|trial| measure::artifacts(run, candidate, trial));
    handed.find(|trees| trees.len() == candidate.trees.len()).unwrap_or_default()
}

fn near(
    run: &Run,
    candidate: &Candidate,
    place: Place,
    passed: Option<&TreeId>,
    placements: &mut Vec<Placement>,
) -> Near {
    let name = &run.plan.member(place).name;
    placements.push(Placement { at: format!("neighbours/{name}"), tree: candidate.trees[place.0] });
    let skill = placements.len() - 1;
    let passed = passed.map(|&tree| {
        placements.push(Placement { at: format!("passed/{name}"), tree });
        placements.len() - 1
    });
    Near { place, skill, passed }
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

fn skill_at(run: &Run, place: Place, tree: TreeId) -> Placement {
    Placement { at: format!("{SKILL}/{}", run.plan.member(place).name), tree }
}
