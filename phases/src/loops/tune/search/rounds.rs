//! A search by rounds: measures a candidate, keeps or drops it, and edits the newest valid one.

use super::turns;
use crate::base::id::CandidateId;
use crate::judging::score::Score;
use crate::judging::stop::{self, Reason};
use crate::loops::tune::trial::measure;
use crate::loops::tune::{Answer, Decision, Edit, Next, Round, Run, Step, StepState, Why};
use crate::runs::event::FailureKind;
use crate::skills::target::Place;

pub(crate) fn search<'a>(run: &'a Run, round: &'a Round) -> Next<'a> {
    let Some(measured) = &round.measured else { return measure::next(run, round.candidate) };
    if let (Some(score), None) = (measured.score, &round.result) {
        return Next::Decide(keep_or_drop(run, round, score));
    }
    if let Some(reason) = stop::judge(&run.plan.task.rules.limits(), &run.series()) {
        return Next::Decide(Decision::Stop(reason));
    }
    let open = |candidate| measure::open(run, candidate, Vec::new());
    match &round.edit {
        Some(Edit::Draft { candidate, .. }) => open(*candidate),
        Some(Edit::Nothing { failure, .. })
            if run.plan.repeats_itself() && failure.kind == FailureKind::Gate =>
        {
            if run.plan.places().all(|place| round.has_failed_at(place)) {
                Next::Decide(Decision::Stop(Reason::Finished))
            } else {
                improve(run, round)
            }
        }
        Some(Edit::Nothing { .. }) => open(run.head()),
        None if measured.score.is_none() => open(round.candidate),
        None => improve(run, round),
    }
}

/// Drops a draft that falls by more than `regress` below the best of the earlier rounds, in its score or, if trials
/// alone make the score, in its text.
fn keep_or_drop(run: &Run, round: &Round, score: Score) -> Decision {
    let candidate = round.candidate;
    let Some((best, highest)) = run.best_before(round) else { return Decision::Keep(candidate) };
    let quality = |id| run.measured(id).and_then(|measured| measured.quality);
    let below = |best: Score, own: Score| {
        Some(best.points() - own.points()).filter(|by| *by > run.plan.task.rules.regress)
    };
    if let Some(by) = below(highest, score) {
        return Decision::Drop { candidate, why: Why::Regressed { by } };
    }
    match quality(best).zip(quality(candidate)).and_then(|(best, own)| below(best, own)) {
        Some(by) => Decision::Drop { candidate, why: Why::WorseText { by } },
        None => Decision::Keep(candidate),
    }
}

pub(crate) fn improve<'a>(run: &'a Run, round: &Round) -> Next<'a> {
    let base = run.head();
    let member = round.member.unwrap_or_else(|| weakest(run, base, round));
    if run.plan.is_chain() && run.state.focus != Some(member) {
        return Next::Decide(Decision::Focus(member));
    }
    if round.turn.is_none() && run.plan.improvers().count() > 1 {
        return Next::Decide(Decision::Turn(turns::next(run)));
    }
    let failed = round.failed_edits.len();
    let step = Step::Improve { round: round.number, base, member, by: round.by(), failed };
    match run.state_of(&step) {
        StepState::Answered(Answer::Improved { tree, report, kinds, dangers }) => {
            let base = run.candidate(base).expect("the head is a candidate of the run");
            let made = (report.as_ref().clone(), kinds.clone(), dangers.clone());
            let draft = base.edited(round.number, member, *tree, made);
            Next::Decide(Decision::Draft(Box::new(draft)))
        }
        StepState::GivenUp(failure) => Next::Decide(Decision::NoDraft { member, failure: failure.clone() }),
        StepState::Answered(_) | StepState::Open => Next::one(step),
    }
}

/// Returns the member with the lowest score. Members whose edits keep failing, or failed in this round, come last.
pub(crate) fn weakest(run: &Run, base: CandidateId, round: &Round) -> Place {
    let scores = run.measured(base).map(|measured| measured.members.as_slice()).unwrap_or_default();
    let score = |place: &Place| scores.get(place.0).copied().flatten().map_or(f64::INFINITY, Score::points);
    let lowest =
        |places: &mut dyn Iterator<Item = Place>| places.min_by(|a, b| score(a).total_cmp(&score(b)));
    let tired = |place: &Place| run.is_tired(*place);
    let places = || run.plan.places().filter(|place| !round.has_failed_at(*place));
    lowest(&mut places().filter(|place| !tired(place)))
        .or_else(|| lowest(&mut places()))
        .or_else(|| lowest(&mut run.plan.places()))
        .expect("a target has members")
}
