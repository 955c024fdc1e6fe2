//! The actions of agents in trials: shown to the judge of one trial, and to the improver after all trials.

use crate::base::id::CandidateId;
use crate::judging::contract::CriterionId;
use crate::judging::judgement::Judgement;
use crate::judging::score::Score;
use crate::skills::candidate::Candidate;
use crate::skills::target::Place;

use super::notes;
use crate::loops::tune::compare::panel;
use crate::loops::tune::trial::measure::{self, SEARCH};
use crate::loops::tune::{Answer, Round, Run, Search, Trial};

/// More of them would crowd out what was missed.
const MOST_TRIALS: usize = 3;

/// Returns what the agent did for each member in a trial, as far as it reports it.
pub(crate) fn of_members(run: &Run, candidate: &Candidate, trial: Trial) -> Vec<(Place, Box<str>)> {
    let outcomes = measure::exercised(run, candidate, trial).into_iter().enumerate();
    let digests = outcomes.filter_map(|(place, outcome)| match outcome {
        Answer::Exercised { digest: Some(digest), .. } => Some((Place(place), digest.clone())),
        _ => None,
    });
    digests.collect()
}

/// Returns the scenarios of the search in which one member fell short, the worst first: short of the goal or, if an
/// edit targets only some faults, of those targets.
pub(crate) fn shortest(run: &Run, base: CandidateId, member: Place) -> Vec<usize> {
    let round = run.state.rounds.last();
    let targets = round.and_then(|round| Some((round, round.targets.as_ref()?)));
    let is_short = |scenario: usize, score: Score| match targets {
        None => score < run.plan.task.rules.threshold,
        Some((round, targets)) => {
            round.scenarios.contains(&scenario) && misses(run, round, scenario, targets)
        }
    };
    let scored = notes::judgements(run, base, run.era_of(base))
        .filter_map(|(scenario, judgement)| Some((scenario, score(run, judgement, member)?)));
    let mut short: Vec<(usize, Score)> =
        scored.filter(|(scenario, score)| is_short(*scenario, *score)).collect();
    short.sort_by(|(_, one), (_, other)| one.points().total_cmp(&other.points()));
    short.into_iter().map(|(scenario, _)| scenario).collect()
}

/// Whether a trial missed one of these statements, in the wording of any scenario.
fn misses(run: &Run, round: &Round, scenario: usize, targets: &[CriterionId]) -> bool {
    let task = &run.plan.task;
    let is_target = |id: &CriterionId| {
        targets.contains(id) || targets.iter().any(|target| task.statement(target) == task.statement(id))
    };
    let mut found = panel::findings(run, round.candidate, std::slice::from_ref(&scenario), round.era);
    found.any(|(id, is_met)| !is_met && is_target(id))
}

/// Returns what the agent did for one member in the first of these scenarios.
pub(crate) fn of_trials(
    run: &Run,
    base: CandidateId,
    member: Place,
    scenarios: &[usize],
) -> Vec<(usize, Box<str>)> {
    let Some(candidate) = run.candidate(base) else { return Vec::new() };
    let era = run.era_of(base);
    let digests = scenarios.iter().filter_map(|&scenario| {
        let of_trial = of_members(run, candidate, Trial { scenario, ordinal: SEARCH, era });
        let own = of_trial.into_iter().find(|(place, _)| *place == member);
        own.map(|(_, digest)| (scenario, digest))
    });
    digests.take(MOST_TRIALS).collect()
}

/// Returns the member's own score in a chain, if the judge gave one. A search by single trials also edits a member for
/// what others missed.
fn score(run: &Run, judgement: &Judgement, member: Place) -> Option<Score> {
    let own = judgement.members.get(run.plan.member(member).name.as_str());
    let own = own.filter(|_| run.plan.task.rules.search == Search::Rounds);
    own.unwrap_or(&judgement.whole).scored.composite
}
