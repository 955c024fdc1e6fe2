//! Values derived from a run's rounds: its best, its head, its series. Computed each time, never stored.

use super::trial::measure::SEARCH;
use super::{Edit, FailedEdit, Measured, Round, Run, Search, Standing};
use crate::base::id::{CandidateId, Digest};
use crate::judging::score::Score;
use crate::judging::stop::Series;
use crate::skills::candidate::{Candidate, Origin};
use crate::skills::edit::EditReport;
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
            match round.standing {
                Some(Standing::Kept) => head = round.candidate,
                Some(Standing::Dropped(_)) => {
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
        let mut contents: Vec<Digest> = self.state.rounds.iter().map(|round| round.candidate.0).collect();
        contents.dedup();
        let latest = self.state.rounds.last();
        let reached = latest.is_some_and(|round| {
            !matches!(round.standing, Some(Standing::Dropped(_)))
                && round.score().is_some_and(|score| score >= self.plan.task.rules.threshold)
                && !self.is_unused(round.candidate, &(SEARCH..=SEARCH))
        });
        Series {
            reached,
            scores: self.scores_of_tries(),
            contents,
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
        self.drafted_rounds().filter(|(_, round)| round.standing == Some(Standing::Kept)).count()
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
            let Some(Standing::Dropped(why)) = &round.standing else { return None };
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
                match self.state.rounds.get(nth + 1).and_then(|next| next.standing.as_ref()) {
                    Some(Standing::Kept) => drops = 0,
                    Some(Standing::Dropped(_)) => drops += 1,
                    None => {}
                }
            }
        }
        drops
    }
}

fn best_of(rounds: &[Round], era: u32) -> Option<(CandidateId, Score)> {
    let is_dropped = |round: &&Round| matches!(round.standing, Some(Standing::Dropped(_)));
    let of_era = rounds.iter().filter(|round| round.era == era && !is_dropped(round));
    let scored = of_era.filter_map(|round| {
        let measured = round.measured.as_ref()?;
        Some((round.candidate, (measured.score?, measured.quality)))
    });
    let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map(|(candidate, (score, _))| (candidate, score))
}
