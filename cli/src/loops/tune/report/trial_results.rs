//! How a trial ended and what it cost, for the pages and files that show trials one by one.

use skilltune_orchestrator::checks;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::CandidateId;
use skilltune_phases::judging::judgement::Judgement;
use skilltune_phases::loops::tune::compare::panel;
use skilltune_phases::loops::tune::trial::measure::{self, Execution, Unit};
use skilltune_phases::loops::tune::{Answer, Run, Step, Trial, Tune};
use skilltune_phases::runs::event::Failure;
use skilltune_phases::runs::ledger::EndedCall;
use skilltune_phases::runs::run::FailedCall;
use skilltune_phases::suites::checks::Usage;

use crate::loops::tune::words;

/// The end of a trial of one version.
pub enum TrialEnd<'a> {
    /// Without a score if too little could be verified.
    Judged(&'a Judgement),
    /// The agent did not finish, which counts as a miss.
    Failed(&'a Failure),
    /// The trial could not be made or judged.
    Missing(&'a Failure),
    NotNeeded,
}

pub fn end(run: &Run, candidate: CandidateId, trial: Trial) -> TrialEnd<'_> {
    match panel::unit(run, candidate, trial) {
        Unit::Judged(judgement) => TrialEnd::Judged(judgement),
        Unit::Failed { failure, .. } => TrialEnd::Failed(failure),
        Unit::Missing(failure) => TrialEnd::Missing(failure),
        // A trial that the search gave up counts as open after it.
        Unit::Next(_) | Unit::Late => {
            let last = failed(run, candidate, trial).last();
            last.map_or(TrialEnd::NotNeeded, |failed| TrialEnd::Missing(&failed.failure))
        }
    }
}

/// Returns the failed calls for a trial of this version, the oldest first.
pub fn failed(run: &Run, candidate: CandidateId, trial: Trial) -> impl Iterator<Item = &FailedCall<Tune>> {
    run.errors.iter().filter(move |failed| match &failed.step {
        Step::SetUp { scenario, .. } => *scenario == trial.scenario,
        step => step.trial() == Some(trial) && is_of(run, candidate, step),
    })
}

/// Returns whether a step belongs to a trial of this version, and not to the same trial of another.
pub fn is_of(run: &Run, candidate: CandidateId, step: &Step) -> bool {
    let Some(version) = run.candidate(candidate) else { return false };
    let has_left = |wanted| {
        let outcomes = step.trial().map(|trial| measure::exercised(run, version, trial)).unwrap_or_default();
        outcomes.into_iter().any(|outcome| match outcome {
            Answer::Exercised { kept: Some(kept), .. } => kept.left == wanted,
            _ => false,
        })
    };
    match step {
        Step::Exercise { member, skill, .. } => version.trees.get(member.0) == Some(skill),
        Step::Inspect { kept, .. } => has_left(kept.left),
        Step::Check { left, .. } => has_left(*left),
        Step::Grade { candidate: of, .. } | Step::Judge { candidate: of, .. } => *of == candidate,
        Step::SetUp { .. }
        | Step::JudgeText { .. }
        | Step::Improve { .. }
        | Step::Ask(_)
        | Step::Promote { .. }
        | Step::Propose { .. } => false,
    }
}

/// Returns why a trial failed or is missing, in the words of the agent.
pub fn why(failure: &Failure) -> String {
    format!("{}: {}", words::failure(failure.kind), failure.why)
}

/// Returns the usage that was kept with a member's work. A page must not end a run, so data missing in the store is
/// unknown.
pub fn usage(objects: &Objects, outcome: &Answer) -> Option<Usage> {
    match outcome {
        Answer::Exercised { kept: Some(kept), .. } => checks::usage_of(objects, kept.evidence).ok(),
        _ => None,
    }
}

/// The cost of the executor's calls whose results count, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub usd: Option<f64>,
    pub ms: Option<u64>,
    pub tokens: Option<u64>,
}

impl Cost {
    /// Returns the cost of a trial's members; nothing if none of them was run. Of stored results only what was kept
    /// with them is known.
    pub fn of(run: &Run, objects: &Objects, executions: &[Execution<'_>]) -> Option<Self> {
        let of_member = |(step, outcome): &Execution<'_>| {
            if let Some(EndedCall { spent, .. }) = run.last_call(step).filter(|call| !call.spent.cached) {
                let is_counted = spent.input_tokens.or(spent.output_tokens).is_some();
                return Self {
                    usd: spent.usd,
                    ms: Some(spent.ms),
                    tokens: is_counted.then_some(spent.tokens()),
                };
            }
            let usage = outcome.ok().and_then(|outcome| usage(objects, outcome)).unwrap_or_default();
            Self { usd: None, ms: usage.ms, tokens: usage.tokens }
        };
        executions.iter().map(of_member).reduce(Self::plus)
    }

    /// A sum is unknown if a part is.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let add = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        let usd = self.usd.zip(other.usd).map(|(one, other)| one + other);
        Self { usd, ms: add(self.ms, other.ms), tokens: add(self.tokens, other.tokens) }
    }
}
