//! A request of `tune`: one step made ready for an agent, with its prompt and the reading of a verdict.

mod improving;
mod placing;
mod prompts;

use std::sync::Arc;

use super::{Answer, Plan, Run, Step, Trial, Tune, Uses, activity, graded, measure, uses};
use crate::checks::Check;
use crate::contract::Contract;
use crate::delivery::Delivery;
use crate::event::{Failure, FailureKind, Outcome};
use crate::id::Digest;
use crate::judgement::{self, Ask, Suggestion};
use crate::leak::{AnswerKeys, Secrets};
use crate::material::Folders;
use crate::name::Name;
use crate::offline::{self, Judged, Task};
use crate::order::{self, Command, Order, Question};
use crate::prompt::{Asked, Faulty, Missed, Tried};
use crate::role::Role;
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
    SetUp {
        scenario: usize,
    },
    /// Without a delivery there is no skill.
    Execute {
        member: Place,
        trial: Trial,
        delivery: Option<Delivery>,
    },
    Check {
        demand: usize,
        exit: i32,
    },
    Grade {
        trial: Trial,
        contract: Contract,
        activity: Vec<(Place, Box<str>)>,
    },
    Review {
        contract: Contract,
    },
    Evaluate {
        trial: Trial,
        contract: Contract,
        unused: Vec<Place>,
        activity: Vec<(Place, Box<str>)>,
    },
    Improve(Box<Improving>),
}

#[derive(Clone, Debug)]
struct Improving {
    member: Place,
    unmet: Vec<Missed>,
    met: Vec<Asked>,
    suggestions: Vec<Suggestion>,
    tried: Vec<Tried>,
    /// The neighbours in the chain.
    before: Option<Place>,
    after: Option<Place>,
    uses: Uses,
    /// Of the trials that came to no end: the scenario, and why.
    unfinished: Vec<(usize, String)>,
    /// Of the trials that fell short: the scenario, and what the agent did.
    activity: Vec<(usize, Box<str>)>,
    /// The scenario of the worst trial, of which the workspace holds what the member left.
    worst: Option<usize>,
}

/// The step as it goes into the key of its call. A winner's lucky trials must not stand in for those of the start that it is in
/// the next run, so those of a comparison are its own.
fn step_text(run: &Run, step: &Step) -> String {
    let text = order::step_text(&step.numbered(|scenario| run.plan.task.number(scenario)));
    let is_search = step.trial().is_none_or(|trial| trial.ordinal == measure::SEARCH);
    if is_search { text } else { format!("{text} against {}", run.start().0.hex()) }
}

/// A check that takes longer is not worth its result.
const CHECK_SECONDS: u64 = 300;

impl Request {
    /// Makes a step ready. Only steps that an agent answers can be requested.
    pub fn of(run: &Run, step: &Step) -> Option<Self> {
        // What is stored is judged, and never made again.
        if run.plan.task.regraded().is_some() && matches!(step, Step::SetUp { .. } | Step::Exercise { .. }) {
            return None;
        }
        let (mut command, mut repository) = (None, false);
        let (brief, placements) = match step {
            Step::SetUp { scenario, files } => {
                let setup = run.plan.task.scenarios[*scenario].setup.clone()?;
                command = Some(placing::set_up(&run.plan, setup));
                (Brief::SetUp { scenario: *scenario }, placing::begin_with(*files))
            }
            Step::Exercise { member, skill, trial, input, graded: _ } => {
                repository = member.0 == 0 && run.plan.task.scenarios[trial.scenario].git;
                placing::execute(run, *member, *skill, *trial, *input)
            }
            Step::Check { trial, demand, left, grader } => {
                let how = &run.plan.task.scenarios[trial.scenario].demands.get(*demand)?.how;
                let Check::Command { argv, exit, .. } = how.check()? else { return None };
                let at = format!(".grader-{}", Digest::of(order::step_text(step).as_bytes()).short());
                command = Some(program(&run.plan, argv, &at));
                let grader = grader.map(|tree| (at.as_str(), tree));
                (Brief::Check { demand: *demand, exit: *exit }, placing::check(*left, grader))
            }
            Step::Grade { candidate, trial, artifacts, evidence, asked } => {
                let start = measure::starting(run, trial.scenario);
                let contract = graded::expectations(&run.plan.task.scenarios[trial.scenario])?;
                let contract = asked.of_contract(contract);
                let activity = activity::of_members(run, run.candidate(*candidate)?, *trial);
                let placements = placing::grade(&run.plan, artifacts, evidence, start);
                (Brief::Grade { trial: *trial, contract, activity }, placements)
            }
            Step::Review { candidate, .. } => {
                let contract = run.plan.task.contract.only(|criterion| !criterion.of_effect);
                let placements = placing::review(&run.plan, &run.candidate(*candidate)?.trees);
                (Brief::Review { contract }, placements)
            }
            Step::Judge { candidate, trial, artifacts, asked } => {
                let candidate = run.candidate(*candidate)?;
                let unused = uses::unused_in(run, candidate, *trial);
                let start = measure::starting(run, trial.scenario);
                let placements = placing::evaluate(&run.plan, &candidate.trees, artifacts, start);
                let activity = activity::of_members(run, candidate, *trial);
                let contract = asked.of_contract(run.plan.task.asked_of(trial.scenario));
                (Brief::Evaluate { trial: *trial, contract, unused, activity }, placements)
            }
            Step::Improve { base, member, .. } => placing::improve(run, *base, *member)?,
            Step::Inspect { .. } | Step::Ask(_) | Step::Promote { .. } | Step::Propose { .. } => return None,
        };
        // Set-ups and checks have no role of their own, and no agent is asked for them.
        let spec = Tune::spec(&step.role().unwrap_or(Role::EXECUTOR))?;
        let order = Order {
            step: step_text(run, step),
            attempt: run.attempts(step),
            role: spec.role.clone(),
            rights: placing::rights(&run.plan, &brief, spec.rights),
            placements,
            installed: placing::installed(&run.plan, &brief),
            plugin: placing::plugin(&run.plan, &brief),
            command,
            repository,
        };
        Some(Self { order, plan: Arc::clone(&run.plan), retry: run.last_failure(step).cloned(), brief })
    }

    /// Whether more than the artifacts of a trial is kept.
    pub fn is_graded(&self) -> bool {
        let Brief::Execute { trial, .. } = &self.brief else { return false };
        self.plan.task.is_graded(trial.scenario)
    }

    /// The check whose program is run, by its place among the demands, and the exit code that meets it.
    pub fn check(&self) -> Option<(usize, i32)> {
        let Brief::Check { demand, exit } = self.brief else { return None };
        Some((demand, exit))
    }

    /// What an improver is told that was missed.
    pub fn missed(&self) -> &[Missed] {
        match &self.brief {
            Brief::Improve(improving) => &improving.unmet,
            Brief::SetUp { .. }
            | Brief::Execute { .. }
            | Brief::Check { .. }
            | Brief::Grade { .. }
            | Brief::Review { .. }
            | Brief::Evaluate { .. } => &[],
        }
    }

    /// What no draft may hold.
    pub fn secrets(&self) -> Secrets {
        Secrets::of(&self.plan.task.scenarios)
    }

    /// Where a trial has no business: the suite, and the users' own folders of the skills.
    pub fn off_limits(&self) -> impl Iterator<Item = &str> {
        let suite = self.plan.task.suite.iter().map(|suite| suite.path.as_str());
        let members = self.plan.task.target.members.iter().map(|member| member.path.as_str());
        suite.chain(members).filter(|path| !path.is_empty())
    }

    /// What no workspace that a set-up prepares may hold, and the scenario that it is for.
    pub fn answer_keys(&self) -> Option<(AnswerKeys, &Name)> {
        let Brief::SetUp { scenario } = self.brief else { return None };
        let scenarios = &self.plan.task.scenarios;
        Some((AnswerKeys::new(scenarios, ""), &scenarios[scenario].id))
    }

    /// Whether what is left is worked on, or was made from what another member left.
    pub fn is_of_chain(&self) -> bool {
        self.plan.is_chain()
    }

    /// Reads an evaluator's answer.
    pub fn judge(&self, answer: &str) -> Outcome<Answer> {
        let (nonce, members) = (self.nonce(), self.members());
        let Some(ask) = self.ask(&nonce, &members) else {
            return Err(Failure::new(FailureKind::UsageError, "this step asks no judge"));
        };
        match judgement::read(answer, &ask) {
            Ok(judgement) => {
                let judgement = judgement.without_effect_of(&self.unused(), ask.contract);
                Ok(Answer::Judged(Box::new(judgement)))
            }
            Err(why) => Err(Failure::new(FailureKind::OffSchema, why.to_string())),
        }
    }

    /// Of a trial that is scored by its outcome, the members are not judged one by one: each statement names its own.
    fn ask<'a>(&'a self, nonce: &'a str, names: &'a [&'a str]) -> Option<Ask<'a>> {
        let (contract, members, at_fault) = match &self.brief {
            Brief::Grade { contract, .. } => (contract, &[][..], names),
            Brief::Review { contract } | Brief::Evaluate { contract, .. } => (contract, names, &[][..]),
            Brief::SetUp { .. } | Brief::Execute { .. } | Brief::Check { .. } | Brief::Improve(_) => {
                return None;
            }
        };
        let shape = self.plan.roles.of(&self.order.role).verdict;
        Some(Ask { contract, nonce, members, at_fault, shape })
    }

    fn nonce(&self) -> String {
        self.order.code(b"verdict", &self.told_by_agents(), self.plan.seed)
    }

    /// What other agents say in the prompt, beside the files in the workspace.
    fn told_by_agents(&self) -> Vec<&str> {
        let activity = match &self.brief {
            Brief::Grade { activity, .. } | Brief::Evaluate { activity, .. } => activity.as_slice(),
            Brief::SetUp { .. }
            | Brief::Execute { .. }
            | Brief::Check { .. }
            | Brief::Review { .. }
            | Brief::Improve(_) => &[],
        };
        activity.iter().map(|(_, digest)| &**digest).collect()
    }

    /// The names of the members that were not used in the trial that is judged.
    fn unused(&self) -> Vec<&str> {
        let places = match &self.brief {
            Brief::Evaluate { unused, .. } => unused.as_slice(),
            Brief::SetUp { .. }
            | Brief::Execute { .. }
            | Brief::Check { .. }
            | Brief::Grade { .. }
            | Brief::Review { .. }
            | Brief::Improve(_) => &[],
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

    /// The skill as the built-in agent is told of it.
    fn offline_skill(&self, member: Place) -> offline::Folder {
        let at = placing::skill_path(&self.plan, member, &self.brief);
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
            Brief::SetUp { .. } | Brief::Check { .. } => Ok(String::new()),
            Brief::Grade { trial, contract, activity } => {
                Ok(self.grade_prompt(*trial, contract, activity, folders))
            }
            Brief::Review { contract } => Ok(self.review_prompt(contract, folders)),
            Brief::Execute { member, trial, delivery } => match delivery {
                Some(Delivery::Inline) => self.execute_prompt(*member, *trial, folders),
                Some(Delivery::Installed { .. }) | None => self.task_prompt(*member, false, *trial),
                Some(Delivery::Slash { .. }) => self.task_prompt(*member, true, *trial),
            },
            Brief::Evaluate { trial, contract, activity, .. } => {
                self.evaluate_prompt(*trial, contract, activity, folders)
            }
            Brief::Improve(improving) => self.improve_prompt(improving, folders),
        }
    }

    fn task(&self) -> Option<Task> {
        Some(match &self.brief {
            Brief::SetUp { .. } | Brief::Check { .. } => return None,
            Brief::Execute { member, trial, .. } => Task::Execute {
                skill: self.offline_skill(*member),
                input: self.input().map(str::to_owned),
                command: self.plan.task.scenarios[trial.scenario].command.clone(),
            },
            // It has nothing to say of statements, and is asked all the same: what it does not know stays unverified.
            Brief::Grade { contract, .. } => {
                Task::Evaluate { verdict_of: self.nonce(), contract: contract.clone(), members: Vec::new() }
            }
            Brief::Review { contract } | Brief::Evaluate { contract, .. } => {
                let artifacts = |place| placing::path(placing::ARTIFACTS, &self.plan, place);
                let judged = |place| Judged {
                    skill: self.offline_skill(place),
                    artifacts: Some(artifacts(place)).filter(|at| self.order.places(at)),
                };
                Task::Evaluate {
                    verdict_of: self.nonce(),
                    contract: contract.clone(),
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
        let (nonce, members) = (self.nonce(), self.members());
        self.ask(&nonce, &members).map(|ask| judgement::schema(&ask).to_string())
    }
}

/// `{grader}` in an argument is the folder in which the files of a check stand.
fn program(plan: &Plan, argv: &[String], grader: &str) -> Command {
    let argv = argv.iter().map(|word| word.replace("{grader}", grader)).collect();
    let seconds = plan.roles.of(&Role::EXECUTOR).timeout_seconds.min(CHECK_SECONDS);
    Command { argv, input: None, seconds, confined: plan.task.confined, is_browser: false, is_shared: false }
}
