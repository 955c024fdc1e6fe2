//! A request of `evolve`: one step prepared for an agent, or a command of the project.

use super::briefs::{
    AdviceBrief, AmendBrief, Call, DivideBrief, DriftBrief, JudgeBrief, ORACLE, OracleBrief, ProbeBrief,
    SpoilBrief, WorkBrief,
};
use super::oracle::{GREEN, RED};
use super::step::Step;
use super::{AgentRequest, EVIDENCE, Evolve, PROJECT, Run};
use crate::asking::order::{self, Access, CacheUse, Command, Needs, Order, Placement, Planted, with_codes};
use crate::base::id::TreeId;
use crate::base::role::{Rights, Role};
use crate::base::vocabulary::Vocabulary as _;

impl AgentRequest {
    pub(super) fn of(run: &Run, step: &Step) -> Option<Self> {
        let task = &run.plan.task;
        let hidden = run.state.hidden();
        let project = |tree| Placement::new(PROJECT, tree, Access::Fixed).hiding(&hidden);
        // No program that work has changed reads the oracles of earlier runs.
        let earlier: Vec<String> = hidden.iter().filter(|path| *path == EVIDENCE).cloned().collect();
        let scratch = |tree| Placement::work("", tree).hiding(&earlier);
        let mut beside = Vec::new();
        let (call, placement) = match step {
            Step::Split => (Call::Split, None),
            Step::Classify => (Call::Classify, None),
            Step::Interface => (Call::Interface, Some(project(run.base()))),
            Step::Oracle { criterion, go } => {
                let earlier = go.checked_sub(1).and_then(|go| run.oracle(criterion, go)?.files);
                beside.extend(earlier.map(|files| Placement::new(ORACLE, files, Access::Fixed)));
                (Call::Oracle(Box::new(OracleBrief::of(run, criterion, *go)?)), Some(project(run.base())))
            }
            Step::Spoil { tree, criterion } => {
                (Call::Spoil(Box::new(SpoilBrief::of(run, criterion)?)), Some(project(*tree)))
            }
            Step::Probe { criterion, tree, .. } => {
                let codes = (!run.is_check(criterion)).then(|| codes(run, step, *tree));
                (Call::Probe(ProbeBrief { codes }), Some(scratch(*tree)))
            }
            Step::Control => {
                let copy = Placement::new(PROJECT, run.base(), Access::Draft).hiding(&hidden);
                (Call::Work(Box::new(WorkBrief::alone(run)?)), Some(copy))
            }
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
                let brief = JudgeBrief::of(run, *tree)?;
                beside.extend(brief.oracles());
                (Call::Judge(Box::new(brief)), Some(project(*tree)))
            }
            Step::Amend { persona, .. } => {
                (Call::Amend(Box::new(AmendBrief::of(run, *persona)?)), Some(project(run.best_tree())))
            }
            Step::SetUp { tree } | Step::Run { tree, .. } => (Call::Command, Some(scratch(*tree))),
            Step::Look { .. }
            | Step::Merge { .. }
            | Step::Audit { .. }
            | Step::Transplant { .. }
            | Step::Follow { .. }
            | Step::Allow
            | Step::Settle { .. }
            | Step::File { .. }
            | Step::Ask { .. }
            | Step::Promote { .. }
            | Step::Commit { .. } => return None,
        };
        let role = Evolve::role(step).unwrap_or(Role::EVALUATOR);
        let is_work = matches!(step, Step::Work { .. } | Step::Control);
        let is_setup = matches!(step, Step::SetUp { .. });
        let rights = match (is_work, task.has_shell) {
            (true, true) => Rights::Build,
            (true, false) => Rights::Edit,
            (false, _) => Rights::Read,
        };
        let placements = placement.into_iter().chain(beside).collect();
        let order = Order::new(order::step_text(step), run.attempts(step), (role, rights), placements);
        let is_command = matches!(call, Call::Command | Call::Probe(_));
        let builds = is_command || is_work && task.has_shell;
        let at = if is_work { PROJECT } else { "" };
        let order = Order {
            command: command(run, step, &call),
            planted: planted(run, step, &call),
            repository: is_work && task.has_shell,
            caches: builds.then(|| cache_use(run, step)),
            brought: task.brought.filter(|_| builds).map(|tree| Placement::new(at, tree, Access::Scratch)),
            setup: task.setup.clone().filter(|_| builds && !is_setup).map(|argv| of_project(run, argv)),
            hides: true,
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

/// No agent and no oracle changes what others build with. What is built before any work is kept apart, and oracles build on
/// that alone: no executor could write it.
fn cache_use(run: &Run, step: &Step) -> CacheUse {
    match step {
        Step::SetUp { .. } => CacheUse::ReplaceFirst,
        Step::Run { tree, .. } if *tree == run.base() => CacheUse::ReplaceFirst,
        Step::Run { .. } => CacheUse::Replace,
        Step::Probe { .. } => CacheUse::CopyFirst,
        _ => CacheUse::Copy,
    }
}

/// Returns the codes that an oracle prints if it fails and if it passes. No program can know them before: they cover the
/// files that it runs on.
fn codes(run: &Run, step: &Step, tree: TreeId) -> [String; 2] {
    let order = Order::new(
        order::step_text(step),
        run.attempts(step),
        (Role::EVALUATOR, Rights::Read),
        vec![Placement::work("", tree)],
    );
    [RED, GREEN].map(|word| order.code(word.as_bytes(), &[], run.plan.seed))
}

/// Returns what replaces the words of an oracle.
fn replaced(call: &Call) -> Vec<(Box<str>, String)> {
    let Call::Probe(ProbeBrief { codes: Some([red, green]) }) = call else { return Vec::new() };
    vec![(RED.into(), red.clone()), (GREEN.into(), green.clone())]
}

/// Returns the files that come over those of a tree: the stub on the unchanged project, and those of the oracle.
fn planted(run: &Run, step: &Step, call: &Call) -> Vec<Planted> {
    let Step::Probe { criterion, go, tree } = step else { return Vec::new() };
    let Some(oracle) = run.oracle(criterion, *go) else { return Vec::new() };
    let stub = run.interface().and_then(|interface| interface.stub);
    let stub = stub.filter(|_| oracle.uses_names && *tree == run.base());
    let files = [stub.map(|tree| (tree, Vec::new())), oracle.files.map(|tree| (tree, replaced(call)))];
    files.into_iter().flatten().map(|(tree, words)| Planted { tree, words }).collect()
}

/// Returns the command that runs instead of an agent.
fn command(run: &Run, step: &Step, call: &Call) -> Option<Command> {
    match step {
        Step::SetUp { .. } => Some(of_project(run, run.plan.task.setup.clone()?)),
        Step::Run { tree, stage } => {
            let argv = run.commands(*tree)?.iter().find(|one| one.stage == *stage)?.argv.clone();
            Some(of_project(run, argv))
        }
        Step::Probe { criterion, go, .. } => {
            let (oracle, words) = (run.oracle(criterion, *go)?, replaced(call));
            let argv = oracle.argv.iter().map(|argument| with_codes(argument, &words));
            Some(of_project(run, argv.collect()))
        }
        _ => None,
    }
}

fn of_project(run: &Run, argv: Vec<String>) -> Command {
    let task = &run.plan.task;
    let command = Command::new(argv, task.command_seconds, task.checks.confined);
    Command { needs: Needs::Toolchains, ..command }
}
