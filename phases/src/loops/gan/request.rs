//! A request of `gan`: one step prepared for an agent, with its prompt and the reading of its answer.

use std::sync::Arc;

use super::answers::{self, Asked, Notes};
use super::contract::Contract;
use super::course::{Focus, Round};
use super::evaluation::Evaluation;
use super::inspect::ToLookAt;
use super::judgement;
use super::negotiation::{Negotiation, Proposal};
use super::prompts::{self, BuildBrief, Call, JudgeBrief, Tools};
use super::step::{Answer, Reading, Step};
use super::test_scenario::TestScenario;
use super::{Gan, Plan, Run, forms};
use crate::asking::order::{self, Access, Command, Order, Placement, Question};
use crate::asking::prompt::Faulty;
use crate::base::id::TreeId;
use crate::base::material::Folders;
use crate::base::role::{Rights, Role};
use crate::base::vocabulary::Vocabulary as _;
use crate::runs::event::{Failure, FailureKind, Outcome};
use crate::suites::checks::RunThem;

/// The workspace folders of the artifact, of the files given with the brief, and of the browser's screenshots.
pub const ARTIFACT: &str = "artifact";
pub const GIVEN: &str = "given";
pub const SCREENS: &str = "screens";
/// The folder in which the browser finds the artifact.
pub const SITE: &str = "site";

#[derive(Clone, Debug)]
pub struct AgentRequest {
    order: Order,
    plan: Arc<Plan>,
    retry: Option<Failure>,
    brief: Brief,
}

/// The parts that only the run knows.
#[derive(Clone, Debug)]
enum Brief {
    Draft,
    Propose { contract: Box<Contract>, talk: Negotiation },
    Rule { contract: Box<Contract>, talk: Negotiation },
    Build(Box<Building>),
    Browse,
    Try,
    Judge { contract: Box<Contract>, asked: Box<Asked>, reading: Reading },
}

#[derive(Clone, Debug)]
struct Building {
    contract: Contract,
    focus: Focus,
    /// The evaluation of the files that it continues from.
    found: Option<Evaluation>,
    guidance: Vec<String>,
}

impl AgentRequest {
    pub(super) fn of(run: &Run, step: &Step) -> Option<Self> {
        let (task, state) = (&run.plan.task, &run.state);
        let talked = || {
            let negotiation = state.negotiation.clone()?;
            let contract = negotiation.contract(&task.asked).ok()?;
            Some((Box::new(contract), negotiation))
        };
        let contract = || state.contract().cloned().map(Box::new);
        let brief = match step {
            Step::Draft => Brief::Draft,
            Step::Propose { .. } => talked().map(|(contract, talk)| Brief::Propose { contract, talk })?,
            Step::Rule { .. } => talked().map(|(contract, talk)| Brief::Rule { contract, talk })?,
            Step::Build { from, .. } => Brief::Build(Box::new(building(run, *from)?)),
            Step::Browse { .. } => Brief::Browse,
            Step::Try { .. } => Brief::Try,
            Step::Judge { artifact, reading, .. } => {
                let contract = contract()?;
                let asked = Box::new(judgement::asked(run, &contract, *artifact));
                Brief::Judge { contract, asked, reading: *reading }
            }
            Step::Inspect { .. }
            | Step::Allow
            | Step::Ask { .. }
            | Step::Promote { .. }
            | Step::Commit { .. } => {
                return None;
            }
        };
        let order = Order {
            step: order::step_text(step),
            attempt: run.attempts(step),
            role: Gan::role(step).unwrap_or(Role::EVALUATOR),
            rights: if matches!(step, Step::Build { .. }) { Rights::Edit } else { Rights::Read },
            placements: placements(run, step),
            installed: None,
            plugin: None,
            command: command(run, step),
            repository: false,
        };
        let (plan, retry) = (Arc::clone(&run.plan), run.last_failure(step).cloned());
        Some(Self { order, plan, retry, brief })
    }

    /// Reads an answer that is only data.
    pub fn read(&self, answer: &str) -> Outcome<Answer> {
        let (nonce, task) = (self.nonce(), &self.plan.task);
        let read = match &self.brief {
            Brief::Draft => answers::draft(answer, &nonce, &task.asked).map(Answer::Drafted),
            Brief::Propose { talk, .. } => {
                answers::proposals(answer, &nonce, (&task.asked, talk)).map(Answer::Proposed)
            }
            Brief::Rule { talk, .. } => {
                let so_far = (&task.asked, talk);
                answers::rulings(answer, &nonce, &task.brief.text, so_far).map(Answer::Ruled)
            }
            Brief::Judge { asked, .. } => {
                let judged = answers::verdicts(answer, &nonce, asked);
                judged.map(|verdicts| Answer::Judged(Box::new(verdicts)))
            }
            Brief::Build(_) | Brief::Browse | Brief::Try => {
                return Err(Failure::new(FailureKind::OffSchema, "this step expects no JSON".to_owned()));
            }
        };
        read.map_err(|why| Failure::new(FailureKind::OffSchema, why.to_string()))
    }

    /// Returns the builder's notes on what it built.
    pub fn notes(&self, answer: &str) -> Notes {
        match &self.brief {
            Brief::Build(building) => answers::notes(answer, &self.nonce(), &building.contract),
            _ => Notes::default(),
        }
    }

    /// Returns the tools with which a machine may try an artifact.
    fn tools(&self) -> Tools {
        let task = &self.plan.task;
        Tools { browser: task.browser.is_some(), commands: task.commands.run != RunThem::Never }
    }

    fn nonce(&self) -> String {
        // The builder's proposals with their reasons, on which its evaluator rules.
        let proposals = match &self.brief {
            Brief::Rule { talk, .. } => newest(talk),
            Brief::Draft
            | Brief::Propose { .. }
            | Brief::Build(_)
            | Brief::Browse
            | Brief::Try
            | Brief::Judge { .. } => &[],
        };
        let proposals = serde_json::to_string(proposals).expect("data has a JSON text");
        self.order.code(b"answer", &[&proposals], self.plan.seed)
    }
}

impl AsRef<Order> for AgentRequest {
    fn as_ref(&self) -> &Order {
        &self.order
    }
}

impl Question for AgentRequest {
    fn prompt(&self, folders: &Folders) -> Result<String, Faulty> {
        let nonce = self.nonce();
        let call = Call {
            brief: &self.plan.task.brief,
            given: folders.find(GIVEN),
            nonce: &nonce,
            retry_error: self.retry.as_ref().map(|failure| failure.why.as_str()),
        };
        Ok(match &self.brief {
            Brief::Draft => prompts::draft(call, &self.plan.task.asked, self.tools()),
            Brief::Propose { contract, talk } => prompts::propose(call, contract, talk),
            Brief::Rule { contract, talk } => prompts::rule(call, contract, newest(talk)),
            Brief::Build(building) => {
                let Building { contract, focus, found, guidance } = building.as_ref();
                let brief = BuildBrief {
                    contract,
                    priority: &focus.priority,
                    extra: &focus.extra,
                    found: found.as_ref(),
                    guidance: &guidance.iter().map(String::as_str).collect::<Vec<_>>(),
                    artifact: folders.placed(ARTIFACT),
                };
                prompts::build(call, brief)
            }
            Brief::Judge { contract, asked, reading } => {
                let (artifact, screens) = (folders.placed(ARTIFACT), folders.find(SCREENS));
                prompts::judge(call, JudgeBrief { contract, asked, reading: *reading, artifact, screens })
            }
            Brief::Browse | Brief::Try => String::new(),
        })
    }

    /// Returns the schema of the answer. A build has none.
    fn schema(&self) -> Option<String> {
        let profile = &self.plan.task.asked;
        let form = match &self.brief {
            Brief::Draft => forms::draft(profile, self.tools()),
            Brief::Propose { .. } => forms::proposals(profile),
            Brief::Rule { talk, .. } => forms::rulings(newest(talk).len()),
            Brief::Judge { asked, .. } => forms::verdicts(asked),
            Brief::Build(_) | Brief::Browse | Brief::Try => return None,
        };
        Some(form.to_string())
    }
}

fn newest(talk: &Negotiation) -> &[Proposal] {
    talk.rounds.last().map_or(&[], |round| &round.proposals)
}

/// Returns the brief of the current sprint, with the evaluation of the files it continues from if they were judged
/// under this contract.
fn building(run: &Run, from: TreeId) -> Option<Building> {
    let state = &run.state;
    let contract = state.contract()?.clone();
    let focus = state.sprints.last()?.focus.clone();
    let hash = contract.hash();
    let judged = run.judged(from).filter(|round| round.era == state.era);
    let found = judged.map(Round::found).filter(|found| found.contract == hash);
    let guidance = state.guidance().map(str::to_owned).collect();
    Some(Building { contract, focus, found, guidance })
}

fn placements(run: &Run, step: &Step) -> Vec<Placement> {
    let task = &run.plan.task;
    let given = || task.materials.map(|tree| Placement::new(GIVEN, tree, Access::Fixed));
    let own = match step {
        Step::Build { from, .. } => vec![Placement::new(ARTIFACT, *from, Access::Draft)],
        Step::Judge { artifact, .. } => {
            let screens = run.screens(*artifact).map(|tree| Placement::new(SCREENS, tree, Access::Fixed));
            let artifact = Placement::new(ARTIFACT, *artifact, Access::Fixed);
            std::iter::once(artifact).chain(screens).collect()
        }
        Step::Browse { artifact } => return vec![Placement::new(SITE, *artifact, Access::Scratch)],
        Step::Try { artifact, .. } => return vec![Placement::new("", *artifact, Access::Scratch)],
        _ => Vec::new(),
    };
    own.into_iter().chain(given()).collect()
}

/// Returns the command that runs instead of an agent.
fn command(run: &Run, step: &Step) -> Option<Command> {
    let task = &run.plan.task;
    match step {
        Step::Browse { .. } => {
            let browser = task.browser.as_ref()?;
            let tests = &run.state.contract()?.test_scenarios;
            let is_ours = |test: &&TestScenario| test.command().is_none();
            let test_scenarios = tests.iter().filter(is_ours).cloned().collect();
            let (given, preview) = (task.given.clone(), browser.preview.clone());
            let look = ToLookAt { given, test_scenarios, preview, confined: browser.confined };
            let input = Some(serde_json::to_string(&look).expect("data has a JSON text").into());
            let command = Command::new(browser.argv.clone(), browser.seconds, browser.confined);
            Some(Command { input, is_browser: true, ..command })
        }
        Step::Try { scenario, .. } => {
            let test = run.state.contract()?.test_scenarios.iter().find(|test| test.id == *scenario)?;
            let argv = test.command()?.to_vec();
            let command = Command::new(argv, task.command_seconds, task.commands.confined);
            Some(Command { check: Some((0, 0)), ..command })
        }
        _ => None,
    }
}
