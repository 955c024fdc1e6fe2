//! A request of `evolve`: one step prepared for an agent, or a command of the project.

use super::briefs::{AdviceBrief, AmendBrief, Call, DivideBrief, DriftBrief, JudgeBrief, WorkBrief};
use super::step::Step;
use super::{AgentRequest, Evolve, PROJECT, Run};
use crate::asking::order::{self, Access, CacheUse, Command, Needs, Order, Placement};
use crate::base::role::{Rights, Role};
use crate::base::vocabulary::Vocabulary as _;

impl AgentRequest {
    pub(super) fn of(run: &Run, step: &Step) -> Option<Self> {
        let task = &run.plan.task;
        let hidden = run.state.hidden();
        let project = |tree| Placement::new(PROJECT, tree, Access::Fixed).hiding(&hidden);
        let scratch = |tree| Placement::work("", tree);
        let (call, placement) = match step {
            Step::Split => (Call::Split, None),
            Step::Classify => (Call::Classify, None),
            Step::Divide { round } => {
                (Call::Divide(Box::new(DivideBrief::of(run, *round)?)), Some(project(run.state.tree)))
            }
            Step::Replan { tasks, tree } => {
                (Call::Divide(Box::new(DivideBrief::again(run, tasks)?)), Some(project(*tree)))
            }
            Step::Group => (Call::Group(run.divided(0)?), None),
            Step::Match => (Call::Advice(Box::new(AdviceBrief::of(run, step)?)), None),
            // The same project for every run of a plan, so that another run finds the answers.
            Step::Advise { .. } | Step::Agree { .. } => {
                (Call::Advice(Box::new(AdviceBrief::of(run, step)?)), Some(project(task.start)))
            }
            Step::Work { from, .. } => {
                let brief = WorkBrief::of(run, step)?;
                let copy = Placement::new(PROJECT, *from, Access::Draft).hiding(&hidden);
                (Call::Work(Box::new(brief)), Some(copy))
            }
            Step::Drift { batch } => {
                let brief = DriftBrief::of(run, *batch)?;
                let tree = brief.tree;
                (Call::Drift(Box::new(brief)), Some(project(tree)))
            }
            Step::Judge { tree, .. } => {
                (Call::Judge(Box::new(JudgeBrief::of(run, *tree)?)), Some(project(*tree)))
            }
            Step::Amend { persona, .. } => {
                (Call::Amend(Box::new(AmendBrief::of(run, *persona)?)), Some(project(run.best_tree())))
            }
            Step::SetUp { tree } | Step::Run { tree, .. } | Step::Check { tree, .. } => {
                (Call::Command, Some(scratch(*tree)))
            }
            Step::Look { .. }
            | Step::Merge { .. }
            | Step::Audit { .. }
            | Step::Transplant { .. }
            | Step::Follow { .. }
            | Step::Allow
            | Step::Ask { .. }
            | Step::Promote { .. }
            | Step::Commit { .. } => return None,
        };
        let role = Evolve::role(step).unwrap_or(Role::EVALUATOR);
        let is_work = matches!(step, Step::Work { .. });
        let is_setup = matches!(step, Step::SetUp { .. });
        let rights = match (is_work, task.has_shell) {
            (true, true) => Rights::Build,
            (true, false) => Rights::Edit,
            (false, _) => Rights::Read,
        };
        let placements = placement.into_iter().collect();
        let order = Order::new(order::step_text(step), run.attempts(step), (role, rights), placements);
        let builds = matches!(call, Call::Command) || is_work && task.has_shell;
        let at = if is_work { PROJECT } else { "" };
        let order = Order {
            command: command(run, step),
            repository: is_work && task.has_shell,
            caches: builds.then(|| cache_use(step)),
            brought: task.brought.filter(|_| builds).map(|tree| Placement::new(at, tree, Access::Scratch)),
            setup: task.setup.clone().filter(|_| builds && !is_setup).map(|argv| of_project(run, argv)),
            ..order
        };
        let quoted = call.quoted();
        Some(Self::new(run, step, order, quoted.as_deref().as_slice(), call))
    }

    /// Returns the folders of the project that are repositories of their own.
    pub fn apart(&self) -> &[String] {
        &self.plan.task.apart
    }

    /// Returns what the call is about.
    pub fn call(&self) -> &Call {
        &self.brief
    }
}

/// No agent and no check of a specification changes what others build with.
fn cache_use(step: &Step) -> CacheUse {
    if matches!(step, Step::SetUp { .. } | Step::Run { .. }) { CacheUse::Replace } else { CacheUse::Copy }
}

/// Returns the command that runs instead of an agent.
fn command(run: &Run, step: &Step) -> Option<Command> {
    match step {
        Step::SetUp { .. } => Some(of_project(run, run.plan.task.setup.clone()?)),
        Step::Run { tree, stage } => {
            let argv = run.commands(*tree)?.iter().find(|one| one.stage == *stage)?.argv.clone();
            Some(of_project(run, argv))
        }
        Step::Check { criterion, .. } => {
            let argv = run.state.contract.as_ref()?.criterion(criterion)?.check.clone()?;
            Some(Command { check: Some((0, 0)), ..of_project(run, argv) })
        }
        _ => None,
    }
}

fn of_project(run: &Run, argv: Vec<String>) -> Command {
    let task = &run.plan.task;
    let command = Command::new(argv, task.command_seconds, task.checks.confined);
    Command { needs: Needs::Toolchains, ..command }
}
