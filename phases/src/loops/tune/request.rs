//! A request of `tune`: one step prepared for an agent, with its prompt and the parser of its verdict.

mod history;
mod improving;
mod placing;
mod prompts;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::results::activity;
use super::trial::graded;
use super::trial::measure;
use super::{Answer, Plan, Run, Step, Trial, Tune, Uses};
use crate::asking::order::{self, Command, Order};
use crate::asking::prompt::{Asked, EarlierChange, Faulty, Missed};
use crate::base::answer::{OffSchema, shape};
use crate::base::delivery::Delivery;
use crate::base::id::Digest;
use crate::base::material::Folders;
use crate::base::name::Name;
use crate::base::role::Role;
use crate::judging::contract::Contract;
use crate::judging::judgement::{self, Ask, Suggestion};
use crate::loops::shared::request::{self, Brief};
use crate::runs::run::Fold as _;
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

pub type AgentRequest = request::AgentRequest<Tune>;

/// The data that only the run has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TuneBrief {
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
    JudgeText {
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

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Improving {
    member: Place,
    unmet: Vec<Missed>,
    met: Vec<Asked>,
    suggestions: Vec<Suggestion>,
    kept_changes: Vec<EarlierChange>,
    failed_changes: Vec<EarlierChange>,
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
                (TuneBrief::SetUp { scenario: *scenario }, placing::begin_with(*files))
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
                (TuneBrief::Check, placing::check(*left, grader))
            }
            Step::Grade { candidate, trial, artifacts, evidence, asked } => {
                let start = measure::starting(run, trial.scenario);
                let contract = graded::expectations(&run.plan.task.scenarios[trial.scenario])?;
                let contract = asked.of_contract(contract);
                let activity = activity::of_members(run, run.candidate(*candidate)?, *trial);
                let placements = placing::grade(&run.plan, artifacts, evidence, start);
                (TuneBrief::Grade { trial: *trial, contract, activity }, placements)
            }
            Step::JudgeText { candidate, .. } => {
                let contract = run.plan.task.contract.only(|criterion| !criterion.of_effect);
                let placements = placing::judge_text(&run.plan, &run.candidate(*candidate)?.trees);
                (TuneBrief::JudgeText { contract }, placements)
            }
            Step::Judge { candidate, trial, artifacts, asked } => {
                let candidate = run.candidate(*candidate)?;
                let unused = measure::unused_in(run, candidate, *trial);
                let start = measure::starting(run, trial.scenario);
                let placements = placing::evaluate(&run.plan, &candidate.trees, artifacts, start);
                let activity = activity::of_members(run, candidate, *trial);
                let contract = asked.of_contract(run.plan.task.asked_of(trial.scenario));
                (TuneBrief::Evaluate { trial: *trial, contract, unused, activity }, placements)
            }
            Step::Improve { base, member, .. } => placing::improve(run, *base, *member)?,
            Step::Inspect { .. } | Step::Ask(_) | Step::Promote { .. } | Step::Propose { .. } => return None,
        };
        // Set-ups and checks have no role, and no agent does them.
        let spec = Tune::spec(&run.plan, &step.role().unwrap_or(Role::EXECUTOR))?;
        let rights = placing::rights(&run.plan, &brief, spec.rights);
        let order = Order {
            installed: placing::installed(&run.plan, &brief),
            plugin: placing::plugin(&run.plan, &brief),
            command,
            repository,
            ..Order::new(step_text(run, step), run.attempts(step), (spec.role.clone(), rights), placements)
        };
        // What the prompt quotes from other agents, besides the files in the workspace.
        let activity = match &brief {
            TuneBrief::Grade { activity, .. } | TuneBrief::Evaluate { activity, .. } => activity.clone(),
            _ => Vec::new(),
        };
        let quotes: Vec<&str> = activity.iter().map(|(_, digest)| &**digest).collect();
        Some(Self::new(run, step, order, &quotes, brief))
    }

    /// Whether more than the artifacts of a trial is kept.
    pub fn is_graded(&self) -> bool {
        let TuneBrief::Execute { trial, .. } = &self.brief else { return false };
        self.plan.task.is_graded(trial.scenario)
    }

    /// Returns the missed statements that an improver sees.
    pub fn missed(&self) -> &[Missed] {
        let TuneBrief::Improve(improving) = &self.brief else { return &[] };
        &improving.unmet
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
        let TuneBrief::SetUp { scenario } = self.brief else { return None };
        let scenarios = &self.plan.task.scenarios;
        Some((AnswerKeys::new(scenarios, ""), &scenarios[scenario].id))
    }

    /// Whether the request is part of a chain, where members work on each other's output.
    pub fn is_of_chain(&self) -> bool {
        self.plan.is_chain()
    }

    /// Returns what a judge is asked. For a trial scored by its outcome, members are not judged one by one: each
    /// statement names its member.
    fn ask<'a>(&'a self, names: &'a [&'a str]) -> Option<Ask<'a>> {
        let (contract, members, at_fault) = match &self.brief {
            TuneBrief::Grade { contract, .. } => (contract, &[][..], names),
            TuneBrief::JudgeText { contract } | TuneBrief::Evaluate { contract, .. } => {
                (contract, names, &[][..])
            }
            TuneBrief::SetUp { .. }
            | TuneBrief::Execute { .. }
            | TuneBrief::Check
            | TuneBrief::Improve(_) => return None,
        };
        let shape = self.plan.roles.of(&self.order.role).verdict;
        Some(Ask { contract, nonce: &self.code, members, at_fault, shape })
    }

    /// Returns the names of the members that were not used in the judged trial.
    fn unused(&self) -> Vec<&str> {
        let TuneBrief::Evaluate { unused, .. } = &self.brief else { return Vec::new() };
        unused.iter().map(|place| self.name(*place)).collect()
    }

    fn members(&self) -> Vec<&str> {
        let members = self.plan.task.target.members.iter();
        members.filter(|_| self.plan.is_chain()).map(|member| member.name.as_str()).collect()
    }

    /// Returns whether the agent can open files of its workspace.
    fn opens_files(&self) -> bool {
        self.plan.roles.of(&self.order.role).opens_files
    }

    fn name(&self, member: Place) -> &str {
        &self.plan.member(member).name
    }

    /// Returns the folder with the output of the previous member, if there is one.
    fn input(&self) -> Option<&'static str> {
        Some(INPUT).filter(|at| self.order.places(at))
    }

    /// Returns the skill in the form for the built-in agent.
    fn offline_skill(&self, member: Place) -> offline::Folder {
        let at = placing::skill_path(&self.plan, member, &self.brief);
        offline::Folder { name: self.name(member).to_owned(), at }
    }
}

impl Brief<Tune> for TuneBrief {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        match self {
            Self::SetUp { .. } | Self::Check => Ok(String::new()),
            Self::Grade { trial, contract, activity } => {
                Ok(request.grade_prompt(*trial, contract, activity, folders))
            }
            Self::JudgeText { contract } => Ok(request.judge_text_prompt(contract, folders)),
            Self::Execute { member, trial, delivery } => match delivery {
                Some(Delivery::Inline) => request.execute_prompt(*member, *trial, folders),
                Some(Delivery::Installed { .. }) | None => request.task_prompt(*member, false, *trial),
                Some(Delivery::Slash { .. }) => request.task_prompt(*member, true, *trial),
            },
            Self::Evaluate { trial, contract, activity, .. } => {
                request.evaluate_prompt(*trial, contract, activity, folders)
            }
            Self::Improve(improving) => request.improve_prompt(improving, folders),
        }
    }

    /// Only verdicts have a form.
    fn form(&self, request: &AgentRequest) -> Option<Value> {
        request.ask(&request.members()).map(|ask| judgement::schema(&ask))
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let members = request.members();
        let ask = request.ask(&members).ok_or_else(|| shape("this step asks no judge"))?;
        let judgement = judgement::read(answer, &ask)?;
        Ok(Answer::Judged(Box::new(judgement.without_effect_of(&request.unused(), ask.contract))))
    }

    fn task(&self, request: &AgentRequest) -> Option<Task> {
        let (plan, verdict_of) = (&request.plan, request.code.clone());
        Some(match self {
            Self::SetUp { .. } | Self::Check => return None,
            Self::Execute { member, trial, .. } => Task::Execute {
                skill: request.offline_skill(*member),
                input: request.input().map(str::to_owned),
                command: plan.task.scenarios[trial.scenario].command.clone(),
            },
            // The built-in agent cannot judge statements, but is asked anyway: what it does not know stays unverified.
            Self::Grade { contract, .. } => {
                Task::Evaluate { verdict_of, contract: contract.clone(), members: Vec::new() }
            }
            Self::JudgeText { contract } | Self::Evaluate { contract, .. } => {
                let artifacts = |place| placing::path(placing::ARTIFACTS, plan, place);
                let judged = |place| Judged {
                    skill: request.offline_skill(place),
                    artifacts: Some(artifacts(place)).filter(|at| request.order.places(at)),
                };
                let members = plan.places().map(judged).collect();
                Task::Evaluate { verdict_of, contract: contract.clone(), members }
            }
            Self::Improve(improving) => Task::Improve {
                skill: request.offline_skill(improving.member),
                contract: plan.task.contract.clone(),
                tried: improving.failed_changes.iter().map(|change| change.summary.clone()).collect(),
            },
        })
    }
}

/// Replaces `{grader}` in arguments by the folder with the files of a check.
fn program(plan: &Plan, argv: &[String], grader: &str) -> Command {
    let argv = argv.iter().map(|word| word.replace("{grader}", grader)).collect();
    let seconds = plan.roles.of(&Role::EXECUTOR).timeout_seconds.min(CHECK_SECONDS);
    Command::new(argv, seconds, plan.task.confined)
}
