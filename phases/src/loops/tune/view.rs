//! Everything that one can ask of a run: its candidates and rounds, its comparison, its outcome. Derived each time, never
//! stored.

use std::ops::RangeInclusive;

use super::compare::control;
use super::results::ending::{self, RunOutcome};
use super::results::fail_on;
use super::trial::measure::SEARCH;
use super::{Answer, Edit, Ending, FailReason, FailedEdit, Measured, Round, RoundResult, Run, Search, Uses};
use crate::base::ending::Class;
use crate::base::id::CandidateId;
use crate::judging::proof::InterimAnalysis;
use crate::judging::score::Score;
use crate::judging::stop::Series;
use crate::loops::shared;
use crate::runs::proposal::Proposal;
use crate::skills::candidate::{Candidate, Origin};
use crate::skills::edit::{Danger, EditReport};
use crate::skills::target::Place;

/// Consecutive drops at one member of a chain before the search moves to another member.
const DROPS_BEFORE_MOVING_ON: usize = 2;

/// An edit that was made and not kept. The improver sees it, so as not to repeat it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped<'a> {
    pub round: u32,
    pub member: Place,
    /// The candidate and its improver's report; absent if the draft did not pass the gates.
    pub draft: Option<(CandidateId, &'a EditReport)>,
    pub why: String,
}

impl Run {
    pub fn candidate(&self, id: CandidateId) -> Option<&Candidate> {
        self.state.candidates.iter().find(|candidate| candidate.id == id)
    }

    pub fn round_number(&self) -> u32 {
        self.state.rounds.last().map_or(0, |round| round.number)
    }

    /// Returns the original target.
    pub fn start(&self) -> CandidateId {
        self.state.candidates[0].id
    }

    /// Returns the best measured candidate, without dropped ones, of the newest era that has any. On a tie the one with
    /// the best text wins, then the earliest.
    pub fn best(&self) -> Option<(CandidateId, Score)> {
        let newest = self.state.rounds.iter().rev().find(|round| round.score().is_some())?;
        best_of(&self.state.rounds, newest.era)
    }

    /// Returns the best candidate that a round's candidate is compared with.
    pub(super) fn best_before(&self, round: &Round) -> Option<(CandidateId, Score)> {
        let before = self.state.rounds.iter().take_while(|one| one.number < round.number).count();
        best_of(&self.state.rounds[..before], round.era)
    }

    /// Returns the era in which a candidate was last measured, or is being measured.
    pub fn era_of(&self, candidate: CandidateId) -> u32 {
        let mut rounds = self.state.rounds.iter().rev();
        rounds.find(|round| round.candidate == candidate).map_or(self.state.era, |round| round.era)
    }

    /// Returns the candidate that the next edit is based on: the newest kept one, or the best after a drop.
    pub fn head(&self) -> CandidateId {
        let mut head = self.start();
        for (index, round) in self.state.rounds.iter().enumerate() {
            match round.result {
                Some(RoundResult::Kept) => head = round.candidate,
                Some(RoundResult::Dropped(_)) => {
                    head = best_of(&self.state.rounds[..index], round.era).map_or(head, |(best, _)| best);
                }
                None => {}
            }
        }
        head
    }

    /// Returns the newest complete measurement of a candidate.
    pub fn measured(&self, candidate: CandidateId) -> Option<&Measured> {
        self.scored_round(candidate)?.measured.as_ref()
    }

    /// Returns the last round that measured a candidate and has a score.
    pub(super) fn scored_round(&self, candidate: CandidateId) -> Option<&Round> {
        let of_it = self.state.rounds.iter().rev().filter(|round| round.candidate == candidate);
        of_it.into_iter().find(|round| round.score().is_some())
    }

    pub fn series(&self) -> Series {
        let latest = self.state.rounds.last();
        let reached = latest.is_some_and(|round| {
            !matches!(round.result, Some(RoundResult::Dropped(_)))
                && round.score().is_some_and(|score| score >= self.plan.task.rules.threshold)
                && !self.is_unused(round.candidate, &(SEARCH..=SEARCH))
        });
        Series {
            reached,
            scores: self.scores_of_tries(),
            each_from: None,
            contents: self.state.rounds.iter().map(|round| round.candidate.0).collect(),
            failed_in_a_row: self.failed_in_a_row(),
            rounds: self.round_number(),
        }
    }

    /// Returns the scores that show progress. A round after one that an agent failed measures nothing new, so a missing
    /// rise is not the skill's fault. Scores of another era are not comparable.
    fn scores_of_tries(&self) -> Vec<Score> {
        let rounds = &self.state.rounds;
        let era = rounds.last().map_or(0, |round| round.era);
        let is_try = |at: &usize| *at == 0 || !rounds[at - 1].failed();
        let counts = |at: &usize| rounds[*at].era == era && is_try(at);
        (0..rounds.len()).filter(counts).filter_map(|at| rounds[at].score()).collect()
    }

    /// Returns the count that `max_errors` limits: failed rounds or, in a search by drafts, failed edits.
    pub(super) fn failed_in_a_row(&self) -> u32 {
        let rounds = self.state.rounds.iter().rev().take_while(|round| round.failed()).count();
        let edits = match self.plan.task.rules.search {
            Search::Rounds => 0,
            Search::Draft { .. } => self.failed_edits().count(),
        };
        u32::try_from(rounds.max(edits)).unwrap_or(u32::MAX)
    }

    /// Returns the rounds after the newest draft. They have the same candidate.
    pub(super) fn rounds_since_draft(&self) -> impl Iterator<Item = &Round> {
        let is_draft = |round: &&Round| matches!(round.edit, Some(Edit::Draft { .. }));
        self.state.rounds.iter().rev().take_while(move |round| !is_draft(round))
    }

    /// Returns the failed edits since the last draft, newest first.
    pub(super) fn failed_edits(&self) -> impl Iterator<Item = &FailedEdit> {
        self.rounds_since_draft().flat_map(|round| round.failed_edits.iter().rev())
    }

    /// Returns the number of rounds that brought a new candidate which was kept.
    pub fn accepted(&self) -> usize {
        self.drafted_rounds().filter(|(_, round)| round.result == Some(RoundResult::Kept)).count()
    }

    /// Returns the number of drafts that were dropped, by the gates or by their score.
    pub fn rejected(&self) -> usize {
        self.dropped().len()
    }

    /// Returns the rounds that measured a draft, and its origin.
    fn drafted_rounds(&self) -> impl Iterator<Item = (&Origin, &Round)> {
        self.state.rounds.windows(2).filter_map(|pair| match &pair[0].edit {
            Some(Edit::Draft { origin, .. }) => Some((origin, &pair[1])),
            Some(Edit::Nothing { .. }) | None => None,
        })
    }

    /// Returns every edit that was made and not kept, oldest first.
    pub fn dropped(&self) -> Vec<Dropped<'_>> {
        let by_gate = self.state.rounds.iter().flat_map(|round| {
            let refused = round.failed_edits.iter().filter(|edit| edit.is_refused());
            refused.map(|FailedEdit { member, failure, .. }| Dropped {
                round: round.number,
                member: *member,
                draft: None,
                why: failure.why.clone(),
            })
        });
        let by_score = self.drafted_rounds().filter_map(|(origin, round)| {
            let Some(RoundResult::Dropped(why)) = &round.result else { return None };
            let draft = Some((round.candidate, &origin.report));
            Some(Dropped { round: round.number, member: origin.member, draft, why: why.to_string() })
        });
        let mut dropped: Vec<_> = by_gate.chain(by_score).collect();
        dropped.sort_by_key(|one| one.round);
        dropped
    }

    /// Whether edits of this member keep failing.
    pub(super) fn is_tired(&self, place: Place) -> bool {
        self.drops_in_a_row(place) >= DROPS_BEFORE_MOVING_ON
    }

    /// Returns the number of consecutive dropped edits of this member.
    pub fn drops_in_a_row(&self, place: Place) -> usize {
        let mut drops = 0;
        for (nth, round) in self.state.rounds.iter().enumerate() {
            let refused = |edit: &&FailedEdit| edit.member == place && edit.is_refused();
            drops += round.failed_edits.iter().filter(refused).count();
            let Some(Edit::Draft { origin, .. }) = &round.edit else { continue };
            if origin.member == place {
                match self.state.rounds.get(nth + 1).and_then(|next| next.result.as_ref()) {
                    Some(RoundResult::Kept) => drops = 0,
                    Some(RoundResult::Dropped(_)) => drops += 1,
                    None => {}
                }
            }
        }
        drops
    }

    /// Returns the edits that led from the start to a candidate, the last one first, each with the version that it made.
    pub fn lineage(&self, candidate: CandidateId) -> impl Iterator<Item = (CandidateId, &Origin)> {
        let edit = move |id: CandidateId| Some((id, self.candidate(id)?.origin.as_ref()?));
        // A journal written by someone else may contain a cycle.
        let most = self.state.candidates.len();
        std::iter::successors(edit(candidate), move |(_, origin)| edit(origin.parent)).take(most)
    }

    /// Returns the dangers of all edits that led from the start to a candidate, by member, path and line. A danger that
    /// a later edit removed is still included.
    pub fn dangers(&self, candidate: CandidateId) -> Vec<(Place, &Danger)> {
        let dangers = self
            .lineage(candidate)
            .flat_map(|(_, origin)| origin.dangers.iter().map(move |danger| (origin.member, danger)));
        let mut found: Vec<_> = dangers.collect();
        found.sort();
        found.dedup();
        found
    }

    /// Whether a person must see the champion's dangers before it replaces anything.
    pub fn needs_a_person(&self) -> bool {
        let champion = self.state.shipment.as_ref().map(|shipment| shipment.champion);
        champion.is_some_and(|champion| !self.dangers(champion).is_empty())
    }

    /// Whether the skill of a candidate, or of some member of a chain, was used in none of these trials. Then nothing
    /// shows its effect.
    pub fn is_unused(&self, candidate: CandidateId, ordinals: &RangeInclusive<u32>) -> bool {
        self.plan.places().any(|place| self.member_is_unused(candidate, place, ordinals))
    }

    /// Whether a changed member of the challenger was used in none of the trials of the final comparison.
    pub(crate) fn change_is_unused(&self, candidate: CandidateId) -> bool {
        let trees = |id| self.candidate(id).map(|candidate| candidate.trees.as_slice()).unwrap_or_default();
        let (start, now) = (trees(self.start()), trees(candidate));
        let changed = self.plan.places().filter(|place| start.get(place.0) != now.get(place.0));
        changed.into_iter().any(|place| self.deciding_uses(candidate, place).is_unused())
    }

    fn member_is_unused(
        &self,
        candidate: CandidateId,
        member: Place,
        ordinals: &RangeInclusive<u32>,
    ) -> bool {
        Uses::of(self, candidate, Some(member), ordinals.clone()).is_unused()
    }

    /// Counts the uses of a member in the trials of one side of the final comparison.
    fn deciding_uses(&self, candidate: CandidateId, member: Place) -> Uses {
        let measure = &self.state.measure;
        if measure.is_of_tests() && self.state.challenger == Some(candidate) {
            return Uses::in_trials(self, measure.units(measure.scenarios().len()), Some(member));
        }
        Uses::of(self, candidate, Some(member), SEARCH + 1..=SEARCH + self.confirm())
    }

    /// Returns how often each version is tried on each scenario of the final comparison.
    pub fn confirm(&self) -> u32 {
        let of_part = self.state.trials.unwrap_or(self.plan.task.rules.confirm);
        of_part.saturating_mul(self.state.extensions.parts())
    }

    /// Returns the versions that get fresh trials: both, or only the challenger.
    pub(crate) fn contestants(&self) -> Vec<CandidateId> {
        let start = std::iter::once(self.start()).filter(|_| control::trials(self).is_none());
        start.chain(self.state.challenger).collect()
    }

    /// Returns the looks at the final comparison, or at its newest extension. Samples that are not pairs get only one,
    /// and so do pairs that earlier looks have seen.
    pub fn interim_analyses(&self) -> Vec<InterimAnalysis> {
        let pairs = control::compared(self).len();
        let analyses = self.plan.analyses_of(pairs);
        let has_one = self.state.extensions.parts() > 1 || control::trials(self).is_some();
        if has_one { vec![InterimAnalysis { pairs, alpha: self.plan.task.rules.alpha() }] } else { analyses }
    }

    /// Returns the commit of the champion, or why it failed, if one was requested.
    pub fn proposed(&self) -> Option<Result<&Proposal, &str>> {
        match self.handed_over()? {
            Answer::Proposed(proposal) => Some(Ok(proposal)),
            Answer::NotProposed { why } => Some(Err(why)),
            _ => None,
        }
    }

    pub fn class(&self) -> Class {
        ending::class(self)
    }

    pub fn outcome(&self) -> RunOutcome {
        match self.state.closed {
            None if self.held => RunOutcome::Held,
            None => RunOutcome::Paused,
            Some(Ending::Applied) => RunOutcome::Improved,
            Some(Ending::Kept) => RunOutcome::Kept,
            Some(Ending::Conflict) => RunOutcome::Conflict,
            Some(Ending::Proposed) => RunOutcome::Proposed,
            Some(Ending::Exercised) => RunOutcome::Exercised,
            Some(Ending::Compared) => RunOutcome::Compared,
            Some(Ending::Unchanged) if self.class() == Class::Unjudged => RunOutcome::Unjudged,
            Some(Ending::Unchanged) => RunOutcome::Unchanged,
        }
    }

    /// Returns the start's score, from the final comparison if there was one, so that it can be compared with the
    /// champion's.
    pub fn initial_score(&self) -> Option<Score> {
        self.compared_score(self.start()).or_else(|| self.search_score(self.start()))
    }

    /// Returns the champion's score; before the end, the best so far.
    pub fn final_score(&self) -> Option<Score> {
        let Some(shipment) = &self.state.shipment else { return self.best().map(|(_, score)| score) };
        self.compared_score(shipment.champion).or_else(|| self.search_score(shipment.champion))
    }

    /// Whether the champion was unused in all its trials: those of the comparison or, without one, of the search.
    pub(super) fn champion_is_unused(&self) -> bool {
        let Some(shipment) = &self.state.shipment else { return false };
        if !shipment.is_compared() {
            return self.is_unused(shipment.champion, &(SEARCH..=SEARCH));
        }
        self.plan.places().any(|place| self.deciding_uses(shipment.champion, place).is_unused())
    }

    /// Returns the score of a candidate in the search.
    pub fn search_score(&self, candidate: CandidateId) -> Option<Score> {
        self.measured(candidate).and_then(|measured| measured.score)
    }

    fn compared_score(&self, candidate: CandidateId) -> Option<Score> {
        let scores = &self.state.shipment.as_ref()?.scores;
        scores.iter().find(|(id, _)| *id == candidate).and_then(|(_, score)| *score)
    }

    /// Returns the reasons why a finished run fails its pipeline. Empty if it passes or nothing is required.
    pub fn fail_reasons(&self) -> Vec<FailReason> {
        fail_on::reasons(self)
    }

    /// Returns the score of the remaining version on trials that no search has seen. The score of the built-in judge is
    /// always confirmed: it is the same each time.
    pub fn confirmed_score(&self) -> Option<Score> {
        let shipment = self.state.shipment.as_ref()?;
        if !shipment.is_compared() && !self.plan.is_structural() {
            return None;
        }
        self.final_score()
    }
}

fn best_of(rounds: &[Round], era: u32) -> Option<(CandidateId, Score)> {
    let is_dropped = |round: &Round| matches!(round.result, Some(RoundResult::Dropped(_)));
    let series =
        rounds.iter().filter(|round| round.era == era && round.score().is_some() && !is_dropped(round));
    let rank = |round: &&Round| round.measured.as_ref().map(|measured| (measured.score, measured.quality));
    let best = shared::rounds::best(series, rank)?;
    Some((best.candidate, best.score()?))
}
