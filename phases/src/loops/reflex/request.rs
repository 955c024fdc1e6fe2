//! A request of `reflex`: one step prepared for an agent, with its prompt and the reading of its answer.
//!
//! Every agent of this loop only reads, and answers in words. The artifact is an answer too.

use crate::asking::order::{self, Access, Command, Order, Placement};
use crate::base::id::TreeId;
use crate::base::role::Role;
use crate::base::vocabulary::Vocabulary as _;
use crate::loops::shared::request::off_schema;
use crate::runs::event::Failure;
use crate::runs::run::Fold as _;

use super::answers::{self, Issue};
use super::briefs::{
    CONTEXT, CallKind, CritiqueBrief, EvaluateBrief, PlanBrief, PrepareBrief, ProduceBrief, ProposeBrief,
    ROOT, RefineBrief, ReflexBrief,
};
use super::checks::CheckKind;
use super::step::Step;
use super::{AgentRequest, Reflex, Run};

/// The way to read an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// As data, by the order.
    Data,
    /// The artifact itself: a page to store.
    Page,
}

impl AgentRequest {
    pub(super) fn of(run: &Run, step: &Step) -> Option<Self> {
        let (state, mut command) = (&run.state, None);
        let steps = || state.plan.clone();
        let (kind, artifact) = match step {
            Step::Propose => {
                (CallKind::Propose(ProposeBrief { bounds: run.plan.task.setup.proposals? }), None)
            }
            Step::Plan { .. } => (CallKind::Plan(PlanBrief::of(run)), None),
            Step::Produce { from, .. } => {
                (CallKind::Produce(ProduceBrief { from: *from, steps: steps() }), *from)
            }
            Step::Prepare { .. } => (CallKind::Prepare(PrepareBrief { steps: steps() }), None),
            Step::Check { artifact, check } => {
                command = Some(checking(run, *check)?);
                (CallKind::Check, Some(*artifact))
            }
            Step::Judge { artifact, level, category, .. } => {
                (CallKind::Judge(EvaluateBrief::of(run, *artifact, *level, category)), Some(*artifact))
            }
            Step::Critique { artifact, .. } => (CallKind::Critique(CritiqueBrief::of(run)), Some(*artifact)),
            &Step::Refine { artifact, .. } => {
                let issues = state.issues.clone();
                (CallKind::Refine(RefineBrief { artifact, issues }), Some(artifact))
            }
            Step::Agree | Step::Allow { .. } | Step::Match { .. } => return None,
        };
        // Only a command has no role of its own, and it needs no agent.
        let spec = Reflex::spec(&run.plan, &Reflex::role(step).unwrap_or(Role::EVALUATOR))?;
        let order = Order {
            command,
            ..Order::new(
                order::step_text(step),
                run.attempts(step),
                (spec.role.clone(), spec.rights),
                placements(run, step, artifact),
            )
        };
        let quote = serde_json::to_string(kind.steps()).expect("data has a JSON text");
        let brief = ReflexBrief { iteration: state.iteration, level: state.level, kind };
        Some(Self::new(run, step, order, &[&quote], brief))
    }

    pub fn answers(&self) -> Answers {
        if self.brief.kind.rewrites().is_some() { Answers::Page } else { Answers::Data }
    }

    /// Reads an answer that is the artifact.
    pub fn page(&self, answer: &str) -> Result<String, Failure> {
        answers::artifact(answer).map_err(|why| off_schema(&why))
    }

    /// Returns the artifact that this one is made from.
    pub fn previous(&self) -> Option<TreeId> {
        self.brief.kind.rewrites()?.0
    }

    /// Returns the issues that a refinement should fix.
    pub fn issues(&self) -> &[Issue] {
        self.brief.kind.rewrites().map_or(&[], |(_, issues)| issues)
    }
}

fn placements(run: &Run, step: &Step, artifact: Option<TreeId>) -> Vec<Placement> {
    let reads_context = !matches!(step, Step::Critique { .. } | Step::Refine { .. } | Step::Check { .. });
    let context = run.plan.task.context.filter(|_| reads_context);
    // The copy of the artifact is not read after the call.
    let artifact = artifact.map(|tree| Placement::new(ROOT, tree, Access::Scratch));
    let context = context.map(|tree| Placement::new(CONTEXT, tree, Access::Fixed));
    artifact.into_iter().chain(context).collect()
}

/// Returns the command of a check.
fn checking(run: &Run, check: usize) -> Option<Command> {
    let CheckKind::Command { argv, exit, .. } = run.state.checks.get(check)?.kind()? else { return None };
    let task = &run.plan.task;
    let command = Command::new(argv.to_vec(), task.rules.check_seconds, task.commands.confined);
    Some(Command { check: Some((check, exit)), ..command })
}
