//! The inputs and results of a trial's executors, as far as they were run, and how they used a candidate's installed
//! skills.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::SEARCH;
use crate::base::delivery::{SkillUse, Uses};
use crate::base::id::{CandidateId, TreeId};
use crate::loops::tune::trial::graded::Unit;
use crate::loops::tune::{Answer, Plan, Run, Step, StepState, Trial};
use crate::runs::event::{Failure, FailureKind};
use crate::skills::candidate::Candidate;
use crate::skills::target::Place;
use crate::suites::scenario::Scenario;

/// The failure of a trial that was not made and will not be.
pub(super) static NO_RESULT: LazyLock<Failure> =
    LazyLock::new(|| Failure::new(FailureKind::Empty, "there is no stored result of this trial"));

/// Returns the next step of an executor, or a missing unit if the run uses stored trials.
pub(super) fn executed_next(run: &Run, step: Step) -> Unit<'_> {
    if run.plan.task.regraded().is_some() { Unit::Missing(&NO_RESULT) } else { Unit::Next(step) }
}

pub(super) fn exercise(
    plan: &Plan,
    member: Place,
    skill: TreeId,
    trial: Trial,
    input: Option<TreeId>,
) -> Step {
    let (trial, graded) = (plan.task.executed(trial), plan.task.is_graded(trial.scenario));
    Step::Exercise { member, skill, trial, input, graded }
}

/// The state of a scenario's workspace.
pub(super) enum Start<'a> {
    Ready(Option<TreeId>),
    Missing(&'a Failure),
    Next(Step),
}

pub(super) fn start(run: &Run, scenario: usize) -> Start<'_> {
    let definition = &run.plan.task.scenarios[scenario];
    if definition.setup.is_none() {
        return Start::Ready(definition.files);
    }
    let step = set_up(definition, scenario);
    match run.state_of(&step) {
        StepState::Answered(Answer::SetUp { tree }) => Start::Ready(Some(*tree)),
        StepState::GivenUp(failure) => Start::Missing(failure),
        StepState::Answered(_) | StepState::Open => Start::Next(step),
    }
}

/// Returns why a scenario is left out: its set-up left its answers, so no trial would show anything.
pub fn left_out(run: &Run, scenario: usize) -> Option<&Failure> {
    match start(run, scenario) {
        Start::Missing(failure) => Some(failure).filter(|failure| failure.kind == FailureKind::Gate),
        Start::Ready(_) | Start::Next(_) => None,
    }
}

fn set_up(definition: &Scenario, scenario: usize) -> Step {
    Step::SetUp { scenario, files: definition.files }
}

/// Returns the answer to the set-up of a scenario, if it has one that did not fail.
pub(crate) fn was_set_up(run: &Run, scenario: usize) -> Option<(Step, &Answer)> {
    let definition = run.plan.task.scenarios.get(scenario).filter(|one| one.setup.is_some())?;
    let step = set_up(definition, scenario);
    match run.state_of(&step) {
        StepState::Answered(answer @ Answer::SetUp { .. }) => Some((step, answer)),
        StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
    }
}

/// Returns the initial workspace of a scenario's executor, if it is known.
pub fn starting(run: &Run, scenario: usize) -> Option<TreeId> {
    match start(run, scenario) {
        Start::Ready(tree) => tree,
        Start::Missing(_) | Start::Next(_) => None,
    }
}

/// Returns the artifacts of a candidate's members on one trial, as far as they were run.
pub fn artifacts(run: &Run, candidate: &Candidate, trial: Trial) -> Vec<TreeId> {
    let trees = exercised(run, candidate, trial).into_iter().filter_map(tree_of);
    trees.collect()
}

/// Returns the outcomes of a candidate's members on one trial, as far as they were run.
pub fn exercised<'a>(run: &'a Run, candidate: &Candidate, trial: Trial) -> Vec<&'a Answer> {
    executions(run, candidate, trial).into_iter().filter_map(|(_, outcome)| outcome.ok()).collect()
}

/// The step of a member, and its outcome.
pub type Execution<'a> = (Step, Result<&'a Answer, &'a Failure>);

/// Returns the same with the steps. A failure that counts as its member's result comes last.
pub fn executions<'a>(run: &'a Run, candidate: &Candidate, trial: Trial) -> Vec<Execution<'a>> {
    let (mut ended, mut input) = (Vec::new(), starting(run, trial.scenario));
    for (place, &skill) in candidate.trees.iter().enumerate() {
        let step = exercise(&run.plan, Place(place), skill, trial, input);
        match run.state_of(&step) {
            StepState::Answered(outcome @ Answer::Exercised { artifacts, .. }) => {
                input = Some(*artifacts);
                ended.push((step, Ok(outcome)));
            }
            StepState::GivenUp(failure) if failure.kind.is_scored() => {
                ended.push((step, Err(failure)));
                break;
            }
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => break,
        }
    }
    ended
}

pub(super) fn tree_of(outcome: &Answer) -> Option<TreeId> {
    let Answer::Exercised { artifacts, .. } = outcome else { return None };
    Some(*artifacts)
}

impl Uses {
    /// Counts the uses of all members, or of one, on the trials with these ordinals.
    pub fn of(
        run: &Run,
        candidate: CandidateId,
        member: Option<Place>,
        ordinals: RangeInclusive<u32>,
    ) -> Self {
        // Uses by an earlier agent do not count.
        let era = |ordinal| if ordinal == SEARCH { run.era_of(candidate) } else { run.state.era };
        let trials = (0..run.plan.task.scenarios.len()).flat_map(|scenario| {
            ordinals.clone().map(move |ordinal| Trial { scenario, ordinal, era: era(ordinal) })
        });
        Self::in_trials(run, trials.map(|trial| (candidate, trial)), member)
    }

    /// Counts the same on these trials.
    pub(crate) fn in_trials(
        run: &Run,
        trials: impl Iterator<Item = (CandidateId, Trial)>,
        member: Option<Place>,
    ) -> Self {
        let mut uses = Self::default();
        for (candidate, trial) in trials {
            let members = run.candidate(candidate).map(|known| exercised(run, known, trial));
            for (place, answer) in members.into_iter().flatten().enumerate() {
                if let Answer::Exercised { skill: Some(skill), .. } = answer
                    && member.is_none_or(|member| member.0 == place)
                {
                    uses.count(*skill);
                }
            }
        }
        uses
    }
}

/// Returns the members that were not used in a trial. Unknown for an agent that does not report it.
pub(crate) fn unused_in(run: &Run, candidate: &Candidate, trial: Trial) -> Vec<Place> {
    let outcomes = exercised(run, candidate, trial).into_iter().enumerate();
    let unused = outcomes.filter(|(_, outcome)| match outcome {
        Answer::Exercised { skill, .. } => skill.is_some_and(|skill| skill != SkillUse::Used),
        _ => false,
    });
    unused.map(|(place, _)| Place(place)).collect()
}
