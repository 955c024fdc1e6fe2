//! The improver's input besides files: what was missed, what must stay met, and earlier attempts.

use std::collections::{BTreeMap, BTreeSet};

use crate::asking::prompt::{Asked, EarlierChange, Missed};
use crate::base::id::CandidateId;
use crate::judging::judgement::{Finding, Suggestion};
use crate::loops::tune::compare::panel;
use crate::loops::tune::results::notes::{self, CriterionResult, Notes};
use crate::loops::tune::search::drafting::PROBABLY_MET;
use crate::loops::tune::search::explanation::{Fault, Recheck};
use crate::loops::tune::{Edit, Round, Run, Search};
use crate::skills::target::Place;

/// Returns the statements that must stay met, and those that were missed.
pub(super) fn met_and_missed(run: &Run, base: CandidateId, member: Place) -> (Vec<Asked>, Vec<Missed>) {
    let task = &run.plan.task;
    let targets = run.state.rounds.last().and_then(|round| round.targets.as_ref());
    // A target of the edit may be a statement about another member's work.
    let own = run.plan.is_chain() && targets.is_none();
    let results = notes::criterion_results(run, base, run.era_of(base), own.then_some(member));
    let (met, missed): (Vec<_>, Vec<_>) = results.into_iter().partition(|result| result.met == result.of);
    let is_target =
        |result: &&CriterionResult<'_>| targets.is_none_or(|all| all.contains(result.worst.criterion));
    let missed = missed.iter().filter(is_target).map(|result| task.missed(result.worst)).collect();
    let met = match task.rules.search {
        Search::Rounds => met.iter().map(|result| task.asked(result.worst.criterion)).collect(),
        Search::Draft { .. } => believed_met(run),
    };
    (met, missed)
}

/// Returns the statements that the edit targets, if it targets only some.
pub(super) fn targets(run: &Run) -> BTreeSet<String> {
    let targets = run.state.rounds.last().and_then(|round| round.targets.as_deref()).unwrap_or_default();
    targets.iter().map(|id| run.plan.task.statement(id)).collect()
}

/// Returns each statement that is probably met, once. A single trial covers few of them and may be wrong.
fn believed_met(run: &Run) -> Vec<Asked> {
    let (task, mut listed) = (&run.plan.task, targets(run));
    let searched = task.scenarios.iter().filter(|scenario| !scenario.held_out);
    let demands = searched.flat_map(|scenario| scenario.demands.iter().map(move |one| (scenario, one)));
    let met = demands.filter(|(_, demand)| {
        let words = demand.words();
        run.state.beliefs.chance(&words) >= PROBABLY_MET && listed.insert(words)
    });
    met.map(|(scenario, demand)| task.asked(&scenario.criterion(demand))).collect()
}

/// Returns the suggestions for this member, and those that name no member.
pub(super) fn suggestions(run: &Run, base: CandidateId, member: Place) -> Vec<Suggestion> {
    let name = run.plan.member(member).name.as_str();
    let ours = |suggestion: &Suggestion| suggestion.member.as_deref().is_none_or(|other| other == name);
    Notes::of(run, base, run.era_of(base)).suggestions.into_iter().filter(ours).collect()
}

/// Returns earlier edits of this member that did not help, oldest first: those that were dropped, and those after which
/// a current target was missed again, which the base may still have.
pub(super) fn failed_changes(run: &Run, base: CandidateId, member: Place) -> Vec<EarlierChange> {
    let dropped = run.dropped().into_iter().filter(|dropped| dropped.member == member).map(|dropped| {
        let summary = dropped.draft.and_then(|(_, report)| report.summary.as_deref());
        // The user sees the number of points; an improver must not work for a number.
        let why = if dropped.draft.is_some() { WORSE } else { &dropped.why };
        (
            dropped.round,
            EarlierChange {
                summary: summary.unwrap_or(SILENT).to_owned(),
                outcome: format!("Dropped: {why}"),
            },
        )
    });
    let mut changes: Vec<(u32, EarlierChange)> = dropped.chain(in_vain(run, base, member)).collect();
    changes.sort_by_key(|(round, _)| *round);
    changes.into_iter().map(|(_, one)| one).collect()
}

pub(super) const SILENT: &str = "a change without a summary";
const WORSE: &str = "the skill did worse with it";

/// Returns the edits for current targets that did not fix them for good.
fn in_vain(run: &Run, base: CandidateId, member: Place) -> Vec<(u32, EarlierChange)> {
    let (rounds, now) = (&run.state.rounds, targets(run));
    let in_base: BTreeSet<u32> = run.lineage(base).map(|(_, origin)| origin.round).collect();
    let by_number: BTreeMap<u32, &Round> = rounds.iter().map(|round| (round.number, round)).collect();
    let vain = rounds.iter().filter_map(|round| {
        let Some(Edit::Draft { origin, .. }) = &round.edit else { return None };
        let faults = round.aims().filter(|fault| now.contains(&fault.statement));
        let rechecks = faults.filter_map(|fault| {
            let recheck = fault.next?;
            Some(describe(
                run,
                fault,
                recheck,
                missed_in(run, by_number.get(&recheck.round)?, &fault.statement),
            ))
        });
        let rechecks: Vec<String> = rechecks.filter(|_| origin.member == member).collect();
        let summary = origin.report.summary.as_deref().unwrap_or(SILENT).to_owned();
        let still = in_base.contains(&round.number).then_some("\nIt is still in the skill.");
        let outcome = rechecks.join("\n") + still.unwrap_or_default();
        (!rechecks.is_empty()).then_some((round.number, EarlierChange { summary, outcome }))
    });
    vain.collect()
}

/// Describes the result for a statement in the improver's wording, which may show less than a user sees.
fn describe(run: &Run, fault: &Fault, recheck: Recheck, missed: Option<Missed>) -> String {
    let Asked { id, question } =
        missed.as_ref().map_or_else(|| run.plan.task.asked(&fault.criterion), |missed| missed.asked.clone());
    let came = match missed {
        _ if recheck.is_met => "It was met in the next trial, and missed again in a later one.".to_owned(),
        Some(missed) => format!("It was missed again in the next trial. Seen: {}", missed.evidence),
        None => "It was missed again in the next trial.".to_owned(),
    };
    format!("{id}: {question}\n{came}")
}

/// Returns the evidence for a statement that was missed in a round.
fn missed_in(run: &Run, round: &Round, statement: &str) -> Option<Missed> {
    let task = &run.plan.task;
    let is_it =
        |one: &Finding<'_>| one.verdict.is_met() == Some(false) && task.statement(one.criterion) == statement;
    panel::all_findings(run, round.candidate, &round.scenarios, round.era)
        .find(is_it)
        .map(|one| task.missed(one))
}
