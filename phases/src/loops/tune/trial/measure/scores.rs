//! The results of trials, in numbers.

use super::{Unit, unit_by};
use crate::base::id::CandidateId;
use crate::judging::contract::DimensionId;
use crate::judging::judgement::{Assessment, Judgement, Kind};
use crate::judging::score::{self, Score};
use crate::loops::tune::{Measured, Plan, Run, Seat, Trial};
use crate::skills::target::Place;

/// Returns the unit of a trial if it has a score.
pub(super) fn scored(run: &Run, candidate: CandidateId, trial: Trial, seat: Seat) -> Option<Unit<'_>> {
    Some(unit_by(run, candidate, trial, seat)).filter(|unit| unit.score().is_some())
}

/// Summarizes scored trials. The judgement of the text covers the dimensions that no trial was asked about.
pub(super) fn summarise(plan: &Plan, scored: &[Unit<'_>], text: Option<&Judgement>, of: usize) -> Measured {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let judgements: Vec<&Judgement> = scored.iter().filter_map(Unit::judgement).collect();
    #[expect(clippy::cast_precision_loss, reason = "numbers of scenarios are far below 2^52")]
    let covered = !scored.is_empty() && scored.len() as f64 >= plan.task.rules.coverage * of as f64;
    Measured {
        score: mean(scored.iter().map(Unit::score)).filter(|_| covered),
        dimensions: plan
            .task
            .contract
            .dimensions
            .iter()
            .map(|one| &one.id)
            .map(|id| mean(judgements.iter().copied().chain(text).map(|one| dimension(&one.whole, id))))
            .collect(),
        members: member_scores(plan, scored, text),
        judged: count(scored.len()),
        failed: count(scored.len() - judgements.len()),
        of: count(of),
        claimed: judgements.iter().any(|judgement| judgement.kind == Kind::Claimed),
        claim: mean(judgements.iter().map(|judgement| judgement.claim)),
        quality: text.and_then(|judgement| judgement.whole.scored.composite),
    }
}

/// Returns each member's score. A member without demands in any scenario is scored by its text.
fn member_scores(plan: &Plan, scored: &[Unit<'_>], text: Option<&Judgement>) -> Vec<Option<Score>> {
    if !plan.is_chain() {
        return Vec::new();
    }
    let score = |judgement: &Judgement, name: &str| judgement.members.get(name)?.scored.composite;
    let of_trial = |trial: &Unit<'_>, place: Place| match trial {
        Unit::Judged(judgement) => score(judgement, &plan.member(place).name),
        Unit::Failed { member, .. } => (*member == place).then_some(Score::ZERO),
        Unit::Missing(_) | Unit::Next(_) | Unit::Late => None,
    };
    let of_trials = |place| mean(scored.iter().map(|trial| of_trial(trial, place)));
    let of_text = |place| text.and_then(|judgement| score(judgement, &plan.member(place).name));
    plan.places().map(|place| of_trials(place).or_else(|| of_text(place))).collect()
}

fn dimension(assessment: &Assessment, id: &DimensionId) -> Option<Score> {
    assessment.scored.dimensions.iter().find(|(known, _)| known == id).and_then(|(_, score)| *score)
}

fn mean(scores: impl Iterator<Item = Option<Score>>) -> Option<Score> {
    score::mean(&scores.flatten().collect::<Vec<_>>())
}
