//! Planning: the goal's statements, the classes of the criteria, the tasks and their groups, each by one call and checked
//! against the one before. Of a given plan, only tasks are planned again whose files have changed since. The commands of
//! the project run on the unchanged tree meanwhile. Before all that, the setup command shows that it works.

use super::decision::{Decision, Ending};
use super::evaluation::{Agreed, Contract};
use super::next::{all, ended, open};
use super::oracle;
use super::plan::{Classified, Planned};
use super::spec::Criterion;
use super::stages;
use super::step::{Answer, Step};
use super::{Next, Run};
use crate::runs::run::StepState;

/// The steps of planning, in their order.
const STEPS: [Step; 4] = [Step::Split, Step::Classify, Step::Divide { round: 0 }, Step::Group];

pub(super) fn plan(run: &Run) -> Next<'_> {
    if let Some(next) = set_up(run) {
        return next;
    }
    let task = &run.plan.task;
    let mut wanted = STEPS.to_vec();
    if task.plan.is_some() {
        wanted.truncate(1);
        wanted.extend(replan(run));
    }
    let planning = match wanted.iter().find(|step| !matches!(run.state_of(step), StepState::Answered(_))) {
        Some(step) => match run.state_of(step) {
            StepState::GivenUp(failure) => return ended(Ending::Failed, Some(&failure.why)),
            StepState::Open | StepState::Answered(_) => Some(step.clone()),
        },
        None => None,
    };
    let base = if task.plan_only { Vec::new() } else { open(run, stages::all_of(run, run.base())) };
    let oracles = if task.plan_only { Vec::new() } else { oracle::due(run) };
    // The tasks are planned once it is known which names they have to provide, and what is met already.
    let is_early = |step: &Step| matches!(step, Step::Split | Step::Classify);
    let planning = planning.filter(|step| oracles.is_empty() || is_early(step));
    let mut steps: Vec<Step> = planning.into_iter().chain(oracles).chain(base).collect();
    // A person is asked once nothing else is under way.
    if steps.iter().any(|step| *step != Step::Allow) {
        steps.retain(|step| *step != Step::Allow);
    }
    if !steps.is_empty() {
        return all(steps);
    }
    if let Some(fault) = task.plan.as_ref().and_then(|plan| plan.fault(&task.spec.criteria)) {
        return ended(Ending::Failed, Some(&fault));
    }
    match planned(run) {
        Some((plan, contract)) => {
            Next::Decide(Decision::Planned { plan: Box::new(plan), contract: Box::new(contract) })
        }
        None => ended(Ending::Failed, Some("the answers of the planner do not fit together")),
    }
}

/// Runs the setup command before any agent is asked. If it fails on the unchanged project, it fails in every copy.
fn set_up(run: &Run) -> Option<Next<'_>> {
    let task = &run.plan.task;
    let setup = task.setup.as_ref().filter(|_| !task.plan_only)?;
    let step = Step::SetUp { tree: task.start };
    let why = match run.state_of(&step) {
        StepState::Open => return Some(Next::one(step)),
        StepState::Answered(Answer::Ran(end)) if end.exit == Some(0) => return None,
        StepState::Answered(Answer::Ran(end)) => &*end.said,
        StepState::GivenUp(failure) => failure.why.as_str(),
        StepState::Answered(_) => "the answer does not fit the step",
    };
    let why = format!("the setup command `{}` failed on the unchanged project: {why}", setup.join(" "));
    Some(ended(Ending::Incomplete, Some(&why)))
}

fn planned(run: &Run) -> Option<(Planned, Contract)> {
    let task = &run.plan.task;
    let plan = match &task.plan {
        Some(plan) => match replan(run) {
            Some(step) => plan.replaced(&task.outdated, run.tasks_of(&step)?),
            None => plan.clone(),
        },
        None => Planned {
            criteria: run.classified()?,
            tasks: run.divided(0)?,
            groups: run.grouped()?,
            tree: None,
        },
    };
    let plan = Planned { tree: Some(run.base()), ..plan };
    let statements = run.statements()?;
    let criteria = task.spec.criteria.iter().map(|one| agreed(one, &plan.criteria)).collect::<Option<_>>()?;
    let contract = Contract { statements, constraints: task.spec.constraints.clone(), criteria, series: 0 };
    plan.fault(&task.spec.criteria).is_none().then_some((plan, contract))
}

/// Returns the step that plans tasks of a given plan again, if any are outdated.
fn replan(run: &Run) -> Option<Step> {
    let tasks = run.plan.task.outdated.clone();
    (!tasks.is_empty()).then_some(Step::Replan { tasks, tree: run.state.tree })
}

fn agreed(criterion: &Criterion, classified: &[Classified]) -> Option<Agreed> {
    let priority = classified.iter().find(|one| one.id == criterion.id)?.priority;
    let (id, text, check) = (criterion.id.clone(), criterion.text.clone(), criterion.check.clone());
    Some(Agreed { id, text, priority, check, is_original: true })
}

impl Run {
    fn answer(&self, step: &Step) -> Option<&Answer> {
        match self.state_of(step) {
            StepState::Answered(answer) => Some(answer),
            StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    pub(super) fn statements(&self) -> Option<Vec<Box<str>>> {
        match self.answer(&Step::Split)? {
            Answer::Split(statements) => Some(statements.clone()),
            _ => None,
        }
    }

    pub(super) fn classified(&self) -> Option<Vec<Classified>> {
        match self.answer(&Step::Classify)? {
            Answer::Classified(classified) => Some(classified.clone()),
            _ => None,
        }
    }

    /// Returns the tasks that a round of planning made.
    pub(super) fn divided(&self, round: u32) -> Option<Vec<super::plan::Item>> {
        self.tasks_of(&Step::Divide { round }).map(<[_]>::to_vec)
    }

    fn tasks_of(&self, step: &Step) -> Option<&[super::plan::Item]> {
        match self.answer(step)? {
            Answer::Divided(tasks) => Some(tasks),
            _ => None,
        }
    }

    fn grouped(&self) -> Option<Vec<super::plan::Group>> {
        match self.answer(&Step::Group)? {
            Answer::Grouped(groups) => Some(groups.clone()),
            _ => None,
        }
    }
}
