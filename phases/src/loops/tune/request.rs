//! A request of `tune`: one step prepared for an agent, with its prompt and the parser of its verdict.

mod improving;
mod placing;
mod prompts;

use std::sync::Arc;

use super::results::activity;
use super::trial::graded;
use super::trial::measure;
use super::trial::uses;
use super::{Answer, Plan, Run, Step, Trial, Tune, Uses};
use crate::asking::order::{self, Command, Order, Question};
use crate::asking::prompt::{Asked, FailedChange, Faulty, Missed};
use crate::base::delivery::Delivery;
use crate::base::id::Digest;
use crate::base::material::Folders;
use crate::base::name::Name;
use crate::base::role::Role;
use crate::base::vocabulary::Vocabulary as _;
use crate::judging::contract::Contract;
use crate::judging::judgement::{self, Ask, Suggestion};
use crate::runs::event::{Failure, FailureKind, Outcome};
use crate::skills::offline::{self, Judged, Task};
use crate::skills::target::Place;
use crate::suites::checks::Check;
use crate::suites::leak::{AnswerKeys, Secrets};

/// The folder of a workspace with an upstream member's artifacts.
pub const INPUT: &str = "input";
/// The workspace itself, and the folder where a judge finds its initial content.
pub const WORKSPACE: &str = "";
const START: &str = "start";
/// The folder of a workspace that holds the skills.
pub const SKILL: &str = "skill";

#[derive(Clone, Debug)]
pub struct AgentRequest {
    order: Order,
    plan: Arc<Plan>,
    retry: Option<Failure>,
    brief: Brief,
}

/// The data that only the run has.
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
    Check,
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
    failed_changes: Vec<FailedChange>,
    /// The neighbours in the chain.
    before: Option<Place>,
    after: Option<Place>,
    uses: Uses,
    /// The trials that did not finish: the scenario and the reason.
    unfinished: Vec<(usize, String)>,
    /// The trials that fell short: the scenario, and what the agent did.
    activity: Vec<(usize, Box<str>)>,
    /// The scenario of the worst trial. The workspace holds the member's output of that trial.
    worst: Option<usize>,
}

/// Returns the step as it enters the key of its call. A winner may be the start of the next run, and its lucky trials
/// must not be reused there, so the trials of a comparison have separate keys.
fn step_text(run: &Run, step: &Step) -> String {
    let text = order::step_text(&step.numbered(|scenario| run.plan.task.number(scenario)));
    let is_search = step.trial().is_none_or(|trial| trial.ordinal == measure::SEARCH);
    if is_search { text } else { format!("{text} against {}", run.start().0.hex()) }
}

/// A check that takes longer is not worth its result.
const CHECK_SECONDS: u64 = 300;

impl AgentRequest {
    /// Prepares a step. Returns `None` for steps that no agent answers.
    pub fn of(run: &Run, step: &Step) -> Option<Self> {
        // Stored trials are judged, and never made again.
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
                let check = Some((*demand, *exit));
                command = Some(Command { check, ..program(&run.plan, argv, &at) });
                let grader = grader.map(|tree| (at.as_str(), tree));
                (Brief::Check, placing::check(*left, grader))
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
        // Set-ups and checks have no role, and no agent does them.
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

    /// Returns the missed statements that an improver sees.
    pub fn missed(&self) -> &[Missed] {
        match &self.brief {
            Brief::Improve(improving) => &improving.unmet,
            Brief::SetUp { .. }
            | Brief::Execute { .. }
            | Brief::Check
            | Brief::Grade { .. }
            | Brief::Review { .. }
            | Brief::Evaluate { .. } => &[],
        }
    }

    /// Returns the secrets that a draft must not contain.
    pub fn secrets(&self) -> Secrets {
        Secrets::of(&self.plan.task.scenarios)
    }

    /// Returns the paths that a trial must not open: the suite, and the users' own folders of the skills.
    pub fn off_limits(&self) -> impl Iterator<Item = &str> {
        let suite = self.plan.task.suite.iter().map(|suite| suite.path.as_str());
        let members = self.plan.task.target.members.iter().map(|member| member.path.as_str());
        suite.chain(members).filter(|path| !path.is_empty())
    }

    /// Returns what the workspace of a set-up must not contain, and the scenario of the set-up.
    pub fn answer_keys(&self) -> Option<(AnswerKeys, &Name)> {
        let Brief::SetUp { scenario } = self.brief else { return None };
        let scenarios = &self.plan.task.scenarios;
        Some((AnswerKeys::new(scenarios, ""), &scenarios[scenario].id))
    }

    /// Whether the request is part of a chain, where members work on each other's output.
    pub fn is_of_chain(&self) -> bool {
        self.plan.is_chain()
    }

    /// Parses an evaluator's answer.
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

    /// Returns what a judge is asked. For a trial scored by its outcome, members are not judged one by one: each
    /// statement names its member.
    fn ask<'a>(&'a self, nonce: &'a str, names: &'a [&'a str]) -> Option<Ask<'a>> {
        let (contract, members, at_fault) = match &self.brief {
            Brief::Grade { contract, .. } => (contract, &[][..], names),
            Brief::Review { contract } | Brief::Evaluate { contract, .. } => (contract, names, &[][..]),
            Brief::SetUp { .. } | Brief::Execute { .. } | Brief::Check | Brief::Improve(_) => {
                return None;
            }
        };
        let shape = self.plan.roles.of(&self.order.role).verdict;
        Some(Ask { contract, nonce, members, at_fault, shape })
    }

    fn nonce(&self) -> String {
        self.order.code(b"verdict", &self.quotes_of_agents(), self.plan.seed)
    }

    /// Returns what the prompt quotes from other agents, besides the files in the workspace.
    fn quotes_of_agents(&self) -> Vec<&str> {
        let activity = match &self.brief {
            Brief::Grade { activity, .. } | Brief::Evaluate { activity, .. } => activity.as_slice(),
            Brief::SetUp { .. }
            | Brief::Execute { .. }
            | Brief::Check
            | Brief::Review { .. }
            | Brief::Improve(_) => &[],
        };
        activity.iter().map(|(_, digest)| &**digest).collect()
    }

    /// Returns the names of the members that were not used in the judged trial.
    fn unused(&self) -> Vec<&str> {
        let places = match &self.brief {
            Brief::Evaluate { unused, .. } => unused.as_slice(),
            Brief::SetUp { .. }
            | Brief::Execute { .. }
            | Brief::Check
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

    /// Returns the folder with the output of the previous member, if there is one.
    fn input(&self) -> Option<&'static str> {
        Some(INPUT).filter(|at| self.order.places(at))
    }

    fn retry_error(&self) -> Option<&str> {
        self.retry.as_ref().map(|failure| failure.why.as_str())
    }

    /// Returns the skill in the form for the built-in agent.
    fn offline_skill(&self, member: Place) -> offline::Folder {
        let at = placing::skill_path(&self.plan, member, &self.brief);
        offline::Folder { name: self.name(member).to_owned(), at }
    }
}

impl AsRef<Order> for AgentRequest {
    fn as_ref(&self) -> &Order {
        &self.order
    }
}

impl Question for AgentRequest {
    fn prompt(&self, folders: &Folders) -> Result<String, Faulty> {
        match &self.brief {
            Brief::SetUp { .. } | Brief::Check => Ok(String::new()),
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
            Brief::SetUp { .. } | Brief::Check => return None,
            Brief::Execute { member, trial, .. } => Task::Execute {
                skill: self.offline_skill(*member),
                input: self.input().map(str::to_owned),
                command: self.plan.task.scenarios[trial.scenario].command.clone(),
            },
            // The built-in agent cannot judge statements, but is asked anyway: what it does not know stays unverified.
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
                tried: improving.failed_changes.iter().map(|change| change.summary.clone()).collect(),
            },
        })
    }

    /// Returns the schema of the answer. Only verdicts have one.
    fn schema(&self) -> Option<String> {
        let (nonce, members) = (self.nonce(), self.members());
        self.ask(&nonce, &members).map(|ask| judgement::schema(&ask).to_string())
    }
}

/// Replaces `{grader}` in arguments by the folder with the files of a check.
fn program(plan: &Plan, argv: &[String], grader: &str) -> Command {
    let argv = argv.iter().map(|word| word.replace("{grader}", grader)).collect();
    let seconds = plan.roles.of(&Role::EXECUTOR).timeout_seconds.min(CHECK_SECONDS);
    Command::new(argv, seconds, plan.task.confined)
}
