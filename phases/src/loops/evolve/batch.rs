//! One batch: tasks are done side by side from one tree, merged in the order of the plan, and built and tested.
//!
//! If a command is newly red, the merged prefixes are bisected, and the work with which it fails is taken back.

use super::decision::{Decision, Due, PassKind, TaskEnd, WorkEnd};
use super::next::{all, open};
use super::spec::Id;
use super::stages::{self, Gate};
use super::state::Begun;
use super::step::{Answer, Drift, Integrated, Integration, Step};
use super::{Next, Run};
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;
use crate::runs::run::StepState;

pub(super) fn next<'a>(run: &'a Run, number: usize, begun: &Begun) -> Next<'a> {
    let works = open(run, begun.batch.tasks.iter().map(|due| work(due, begun)));
    if !works.is_empty() {
        return all(works);
    }
    if begun.batch.tasks.iter().all(|due| run.made(due, begun).is_none()) {
        return integrated(run, (number, begun), begun.batch.from, None);
    }
    let merge = merge(number, begun);
    let integration = match run.state_of(&merge) {
        StepState::Answered(Answer::Merged(integration)) => &**integration,
        StepState::Open => return Next::one(merge),
        StepState::Answered(_) | StepState::GivenUp(_) => {
            return integrated(run, (number, begun), begun.batch.from, None);
        }
    };
    match culprit(run, begun, integration) {
        Err(steps) => all(open(run, steps)),
        Ok(Some((task, why))) => Next::Decide(Decision::TakenBack { batch: number, task, why: why.into() }),
        Ok(None) => {
            let drift = Step::Drift { batch: number };
            match run.state_of(&drift) {
                StepState::Open if run.looks_for_drift(integration) => Next::one(drift),
                _ => integrated(run, (number, begun), integration.tree, Some(integration)),
            }
        }
    }
}

fn work(due: &Due, begun: &Begun) -> Step {
    Step::Work { task: due.task.clone(), go: due.go, from: begun.batch.from }
}

fn merge(batch: usize, begun: &Begun) -> Step {
    let without = begun.taken_back.iter().map(|(task, _)| task.clone()).collect();
    Step::Merge { batch, without }
}

/// Returns the task whose work makes a command fail, with the reason; none if no command is newly red.
fn culprit(run: &Run, begun: &Begun, integration: &Integration) -> Result<Option<(Id, String)>, Vec<Step>> {
    let pass = run.state.passes.get(begun.pass);
    // If a fix leaves a command red, the next evaluation says so.
    if integration.tree == begun.batch.from || pass.is_none_or(|pass| pass.kind == PassKind::Fix) {
        return Ok(None);
    }
    for stage in [Stage::Build, Stage::Test] {
        if !is_red(run, integration.tree, stage)? || is_red(run, begun.batch.from, stage)? {
            continue;
        }
        let merged: Vec<(&Integrated, TreeId)> =
            integration.works.iter().filter_map(|one| Some((one, one.tree?))).collect();
        // The first work of these with which the command fails; all after it fail too, as far as is known.
        let (mut green, mut red) = (0, merged.len());
        while red - green > 1 {
            let middle = green.midpoint(red);
            if is_red(run, merged[middle - 1].1, stage)? { red = middle } else { green = middle }
        }
        let Some((one, tree)) = red.checked_sub(1).and_then(|at| merged.get(at)) else { continue };
        return Ok(Some((one.task.clone(), run.complaint(*tree, stage))));
    }
    Ok(None)
}

fn is_red(run: &Run, tree: TreeId, stage: Stage) -> Result<bool, Vec<Step>> {
    Ok(stages::gate(run, tree, stage)? == Gate::Red)
}

/// Ends a batch. A task whose work was not merged is done once more, then it has failed.
fn integrated<'a>(
    run: &Run,
    (number, begun): (usize, &Begun),
    tree: TreeId,
    integration: Option<&Integration>,
) -> Next<'a> {
    let end = |due: &Due| {
        let merged = integration.and_then(|all| all.works.iter().find(|one| one.task == due.task));
        let taken_back = begun.taken_back.iter().find(|(task, _)| *task == due.task);
        let why: Box<str> = match (merged.and_then(|one| one.tree), merged, taken_back) {
            (Some(tree), ..) => return WorkEnd::Merged(tree),
            (None, _, Some((_, why))) => why.clone(),
            (None, Some(one), None) => one.refused.clone().unwrap_or_default(),
            (None, None, None) => return WorkEnd::Failed(run.failure(&work(due, begun)).into()),
        };
        if due.again.is_some() { WorkEnd::Failed(why) } else { WorkEnd::Again(why) }
    };
    let ends = begun.batch.tasks.iter().map(|due| TaskEnd { task: due.task.clone(), end: end(due) });
    Next::Decide(Decision::Integrated { batch: number, tree, ends: ends.collect() })
}

impl Run {
    /// Returns the tree that a task has made, if it has.
    pub fn made(&self, due: &Due, begun: &Begun) -> Option<TreeId> {
        match self.state_of(&work(due, begun)) {
            StepState::Answered(Answer::Worked { made, .. }) => Some(*made),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    /// Whether the executor of a task could not read the run's own files.
    pub(super) fn was_blind(&self, due: &Due, begun: &Begun) -> bool {
        matches!(self.state_of(&work(due, begun)), StepState::Answered(Answer::Worked { is_blind: true, .. }))
    }

    /// Returns what an executor says of its work.
    pub fn said(&self, due: &Due, begun: &Begun) -> &str {
        match self.state_of(&work(due, begun)) {
            StepState::Answered(Answer::Worked { summary, .. }) => summary,
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => "",
        }
    }

    /// Returns the merge of a batch without the tasks that were taken back, once it is made.
    pub(super) fn integration(&self, batch: usize) -> Option<&Integration> {
        let begun = self.state.batches.get(batch)?;
        match self.state_of(&merge(batch, begun)) {
            StepState::Answered(Answer::Merged(integration)) => Some(integration),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    /// Returns the drift that was found in a batch.
    pub(super) fn drift_in(&self, batch: usize) -> &[Drift] {
        match self.state_of(&Step::Drift { batch }) {
            StepState::Answered(Answer::Drifted(found)) => found,
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => &[],
        }
    }

    fn failure(&self, step: &Step) -> String {
        self.last_failure(step).map_or("it made no change", |failure| &failure.why).to_owned()
    }

    /// Drift is looked for in what a layer of the plan has changed, if the specification has anything to drift from.
    fn looks_for_drift(&self, integration: &Integration) -> bool {
        self.plan.task.rules.looks_for_drift && integration.works.iter().any(|one| one.tree.is_some())
    }

    /// Returns why a command that fails on a tree fails.
    fn complaint(&self, tree: TreeId, stage: Stage) -> String {
        match self.ran(tree, stage) {
            Some((command, end)) => {
                let said = end.map_or("it could not start", |end| &*end.said);
                format!("`{}` fails with this work:\n\n{said}", command.argv.join(" "))
            }
            None => format!("with this work the project has no command to {} it", stage.word()),
        }
    }
}
