//! A request of `reflex`: one step prepared for an agent, with its prompt and the reading of its answer.
//!
//! Every agent of this loop only reads, and answers in words. The artifact is an answer too.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::asking::order::{self, Access, Command, Order, Placement, Question};
use crate::asking::prompt::Faulty;
use crate::base::id::TreeId;
use crate::base::material::{Body, Folders};
use crate::base::role::Role;
use crate::base::vocabulary::Vocabulary as _;
use crate::runs::event::{Failure, FailureKind, Outcome};

use super::answers::{self, Issue, PlanStep, Wanted};
use super::checks::{self, Asked, CheckKind};
use super::criteria::{Level, Rule, RuleId};
use super::forms;
use super::prompts::{
    self, Call, CritiqueBrief, EvaluateBrief, PlanBrief, PrepareBrief, ProduceBrief, ProposeBrief,
    RefineBrief,
};
use super::state::{Line, Note};
use super::step::{Answer, Step};
use super::task::Bounds;
use super::verdict::{RuleResult, Verdict};
use super::{Plan, Reflex, Run};

/// The workspace folders of the artifact, which is at the root, and of the project's description of itself.
const ARTIFACT: &str = "";
const CONTEXT: &str = "context";

#[derive(Clone, Debug)]
pub struct AgentRequest {
    order: Order,
    step: Step,
    iteration: u32,
    level: Level,
    plan: Arc<Plan>,
    retry: Option<Failure>,
    brief: Brief,
}

/// The way to read an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// As data, by the order.
    Data,
    /// The artifact itself: a page to store.
    Page,
}

/// The parts that only the run knows.
#[derive(Clone, Debug)]
enum Brief {
    Propose { bounds: Bounds },
    Plan { events: Vec<String>, failures: Vec<RuleResult> },
    Produce { steps: Vec<PlanStep> },
    Prepare { steps: Vec<PlanStep> },
    Check,
    Judge { asked: Vec<(RuleId, Vec<String>)> },
    Critique { missed: Vec<RuleResult> },
    Refine { issues: Vec<Issue> },
}

impl AgentRequest {
    pub(super) fn of(run: &Run, step: &Step) -> Option<Self> {
        let (state, mut command) = (&run.state, None);
        let (brief, artifact) = match step {
            Step::Propose => (Brief::Propose { bounds: run.plan.task.setup.proposals? }, None),
            Step::Plan { .. } => (plan(run), None),
            Step::Produce { from, .. } => (Brief::Produce { steps: state.plan.clone() }, *from),
            Step::Prepare { .. } => (Brief::Prepare { steps: state.plan.clone() }, None),
            Step::Check { artifact, check } => {
                command = Some(checking(run, *check)?);
                (Brief::Check, Some(*artifact))
            }
            Step::Judge { artifact, level, category, .. } => {
                (judge(run, *artifact, *level, category), Some(*artifact))
            }
            Step::Critique { artifact, .. } => (critique(run), Some(*artifact)),
            Step::Refine { artifact, .. } => {
                (Brief::Refine { issues: state.issues.clone() }, Some(*artifact))
            }
            Step::Agree | Step::Allow { .. } | Step::Match { .. } => return None,
        };
        // Only a command has no role of its own, and it needs no agent.
        let spec = Reflex::spec(&Reflex::role(step).unwrap_or(Role::EVALUATOR))?;
        let order = Order {
            step: order::step_text(step),
            attempt: run.attempts(step),
            role: spec.role.clone(),
            rights: spec.rights,
            placements: placements(run, step, artifact),
            installed: None,
            plugin: None,
            command,
            repository: false,
        };
        Some(Self {
            order,
            step: step.clone(),
            iteration: state.iteration,
            level: state.level,
            plan: Arc::clone(&run.plan),
            retry: run.last_failure(step).cloned(),
            brief,
        })
    }

    pub fn answers(&self) -> Answers {
        match self.brief {
            Brief::Produce { .. } | Brief::Refine { .. } => Answers::Page,
            Brief::Propose { .. }
            | Brief::Plan { .. }
            | Brief::Prepare { .. }
            | Brief::Check
            | Brief::Judge { .. }
            | Brief::Critique { .. } => Answers::Data,
        }
    }

    /// Reads an answer that is data.
    pub fn read(&self, answer: &str) -> Outcome<Answer> {
        let (nonce, rules) = (self.nonce(), &self.plan.task.rules);
        let read = match &self.brief {
            Brief::Propose { bounds } => {
                let task = &self.plan.task;
                let (known, weights) = (task.criteria.rules.as_slice(), task.setup.weights);
                let wanted = Wanted { known, weights, bounds: *bounds };
                answers::proposal(answer, &nonce, wanted).map(Answer::Proposed)
            }
            Brief::Plan { .. } => {
                answers::plan(answer, &nonce, &self.active(), &self.steps()).map(Answer::Planned)
            }
            Brief::Prepare { .. } => {
                let ask = checks::Ask { nonce: &nonce, rules: &self.own(), most: rules.checks_per_rule };
                checks::read(answer, &ask).map(Answer::Prepared)
            }
            Brief::Judge { asked } => answers::judged(answer, &self.asked(asked), &nonce).map(Answer::Judged),
            Brief::Critique { missed } => {
                let missed: Vec<_> = missed.iter().collect();
                answers::critique(answer, &nonce, &missed, rules.most_issues).map(Answer::Criticised)
            }
            Brief::Produce { .. } | Brief::Refine { .. } | Brief::Check => {
                return Err(off_schema(&"this step expects no JSON"));
            }
        };
        read.map_err(|why| off_schema(&why))
    }

    /// Reads an answer that is the artifact.
    pub fn page(&self, answer: &str) -> Result<String, Failure> {
        answers::artifact(answer).map_err(|why| off_schema(&why))
    }

    /// Returns the artifact that this one is made from.
    pub fn previous(&self) -> Option<TreeId> {
        match self.step {
            Step::Produce { from, .. } => from,
            Step::Refine { artifact, .. } => Some(artifact),
            _ => None,
        }
    }

    /// Returns the issues that a refinement should fix.
    pub fn issues(&self) -> &[Issue] {
        match &self.brief {
            Brief::Refine { issues } => issues,
            _ => &[],
        }
    }

    fn nonce(&self) -> String {
        // The text of another agent, besides the artifact.
        let steps = match &self.brief {
            Brief::Prepare { steps } | Brief::Produce { steps } => steps.as_slice(),
            Brief::Propose { .. }
            | Brief::Plan { .. }
            | Brief::Check
            | Brief::Judge { .. }
            | Brief::Critique { .. }
            | Brief::Refine { .. } => &[],
        };
        let steps = serde_json::to_string(steps).expect("data has a JSON text");
        self.order.code(b"answer", &[&steps], self.plan.seed)
    }

    fn active(&self) -> Vec<&Rule> {
        self.plan.task.criteria.active(self.level).collect()
    }

    /// Returns the rules of the level alone that need checks.
    fn own(&self) -> Vec<&Rule> {
        self.plan.task.criteria.unchecked(self.level).collect()
    }

    fn steps(&self) -> RangeInclusive<usize> {
        let bounds = self.plan.task.rules.plan_steps;
        bounds.least..=bounds.most
    }

    fn asked<'a>(&'a self, asked: &'a [(RuleId, Vec<String>)]) -> Vec<Asked<'a>> {
        let rule = |id: &RuleId| self.plan.task.criteria.rule(id);
        let each = asked.iter().filter_map(|(id, questions)| {
            Some(Asked { rule: rule(id)?, questions: questions.iter().map(String::as_str).collect() })
        });
        each.collect()
    }
}

impl AsRef<Order> for AgentRequest {
    fn as_ref(&self) -> &Order {
        &self.order
    }
}

impl Question for AgentRequest {
    fn prompt(&self, folders: &Folders) -> Result<String, Faulty> {
        Ok(self.prompt_text(folders))
    }

    /// Returns the schema of the answer. A page has none.
    fn schema(&self) -> Option<String> {
        let rules = &self.plan.task.rules;
        let form = match &self.brief {
            Brief::Propose { bounds } => forms::proposal(*bounds),
            Brief::Plan { .. } => forms::plan(&self.active(), &self.steps()),
            Brief::Prepare { .. } => forms::checks(&self.own(), rules.checks_per_rule),
            Brief::Judge { asked } => forms::verdicts(&self.asked(asked), &self.nonce()),
            Brief::Critique { missed } => {
                forms::critique(&missed.iter().collect::<Vec<_>>(), rules.most_issues)
            }
            Brief::Produce { .. } | Brief::Refine { .. } | Brief::Check => return None,
        };
        Some(form.to_string())
    }
}

impl AgentRequest {
    fn prompt_text(&self, folders: &Folders) -> String {
        let nonce = self.nonce();
        let page = folders.find(ARTIFACT).and_then(|folder| folder.files.first()).map(|file| &file.body);
        let nothing = Body::Text(String::new());
        let (context, artifact) = (folders.find(CONTEXT), page.unwrap_or(&nothing));
        let task = prompts::Task { prompt: &self.plan.task.prompt, ideal: &self.plan.task.ideal };
        let call = self.call(&nonce);
        match &self.brief {
            Brief::Propose { bounds } => prompts::propose(&ProposeBrief {
                call,
                task,
                context,
                criteria: &self.plan.task.criteria,
                major: &self.plan.task.setup.major,
                rules: bounds.least..=bounds.most,
            }),
            Brief::Plan { events, failures } => prompts::plan(&PlanBrief {
                call,
                task,
                context,
                rules: &self.active(),
                events,
                failures: &failures.iter().collect::<Vec<_>>(),
                steps: self.steps(),
            }),
            Brief::Produce { steps } => {
                prompts::produce(&ProduceBrief { call, task, context, plan: steps, artifact: page })
            }
            Brief::Prepare { steps } => prompts::prepare(&PrepareBrief {
                call,
                task,
                context,
                plan: steps,
                rules: &self.own(),
                most: self.plan.task.rules.checks_per_rule,
            }),
            Brief::Judge { asked } => {
                prompts::evaluate(&EvaluateBrief { call, task, context, artifact, asked: &self.asked(asked) })
            }
            Brief::Critique { missed } => prompts::critique(&CritiqueBrief {
                call,
                task: Some(task),
                artifact,
                criteria: &self.plan.task.criteria,
                missed: &missed.iter().collect::<Vec<_>>(),
                most: self.plan.task.rules.most_issues,
            }),
            Brief::Refine { issues } => {
                prompts::refine(&RefineBrief { call, task: Some(task), artifact, issues })
            }
            Brief::Check => String::new(),
        }
    }

    /// Names the task and not its run, so that the same question in another run is the same call.
    fn call<'a>(&'a self, nonce: &'a str) -> Call<'a> {
        Call {
            run: &self.plan.task.alias,
            iteration: (!matches!(self.brief, Brief::Judge { .. } | Brief::Propose { .. }))
                .then_some(self.iteration),
            level: (!matches!(self.brief, Brief::Propose { .. })).then_some(self.level),
            nonce,
            retry_error: self.retry.as_ref().map(|failure| failure.why.as_str()),
            seed: nonce,
        }
    }
}

fn off_schema(why: &dyn std::fmt::Display) -> Failure {
    Failure::new(FailureKind::OffSchema, why.to_string())
}

fn placements(run: &Run, step: &Step, artifact: Option<TreeId>) -> Vec<Placement> {
    let reads_context = !matches!(step, Step::Critique { .. } | Step::Refine { .. } | Step::Check { .. });
    let context = run.plan.task.context.filter(|_| reads_context);
    // The copy of the artifact is not read after the call.
    let artifact = artifact.map(|tree| Placement::new(ARTIFACT, tree, Access::Scratch));
    let context = context.map(|tree| Placement::new(CONTEXT, tree, Access::Fixed));
    artifact.into_iter().chain(context).collect()
}

/// Leaves out answers that could not be used: they are not news for a planner, and their order of arrival would show.
fn plan(run: &Run) -> Brief {
    let is_news = |line: &&Line| !matches!(line.note, Note::PhaseError { .. });
    let story = run.state.story.iter().rev().filter(is_news);
    let mut newest: Vec<_> =
        story.take(run.plan.task.rules.told_events).map(|line| line.note.words()).collect();
    newest.reverse();
    // The plan is for this artifact, which is not the last judged one if that was dropped.
    let failures = run.at_hand().map(|judged| judged.evaluation.missed().cloned().collect());
    Brief::Plan { events: newest, failures: failures.unwrap_or_default() }
}

/// Returns the command of a check.
fn checking(run: &Run, check: usize) -> Option<Command> {
    let CheckKind::Command { argv, exit, .. } = run.state.checks.get(check)?.kind()? else { return None };
    let task = &run.plan.task;
    let command = Command::new(argv.to_vec(), task.rules.check_seconds, task.commands.confined);
    Some(Command { check: Some((check, exit)), ..command })
}

fn judge(run: &Run, artifact: TreeId, level: Level, category: &str) -> Brief {
    let results = run.check_results(artifact);
    let rules: Vec<&Rule> = run.plan.task.criteria.at(level).collect();
    let asked = checks::asked(&rules, &run.state.checks, &results);
    let ours = asked.into_iter().filter(|asked| asked.rule.category() == category);
    let owned = |asked: Asked<'_>| {
        (asked.rule.id.clone(), asked.questions.iter().map(|&question| question.to_owned()).collect())
    };
    Brief::Judge { asked: ours.map(owned).collect() }
}

/// Returns what is not met and what could not be checked: that too may be fixed in the text.
fn critique(run: &Run) -> Brief {
    let results = run.state.judged.last().map_or(&[][..], |judged| &judged.evaluation.results);
    let missed = results.iter().filter(|result| result.verdict != Verdict::Pass);
    Brief::Critique { missed: missed.cloned().collect() }
}
