//! The results of a search by single trials, and the choice of the member of a chain to edit.

use crate::base::id::CandidateId;
use crate::judging::contract::CriterionId;
use crate::loops::tune::Run;
use crate::loops::tune::compare::panel;
use crate::skills::target::Place;

/// The result of one trial of a round for one statement. Beliefs, suspects and faults all follow from these.
pub(crate) struct Shown {
    pub(crate) criterion: CriterionId,
    /// The words of the statement. Several scenarios may share one, with other weights.
    pub(crate) words: String,
    pub(crate) is_met: bool,
    /// For a demand of a chain: the member whose work it is about, and the one that the judge named as at fault.
    pub(crate) about: Option<Place>,
    pub(crate) named: Option<Place>,
}

/// Returns what these trials showed of each statement, as far as anything was verified.
pub(crate) fn shown(run: &Run, candidate: CandidateId, scenarios: &[usize], era: u32) -> Vec<Shown> {
    let (task, is_chain) = (&run.plan.task, run.plan.is_chain());
    let place = |name: &str| task.target.members.iter().position(|member| *member.name == *name).map(Place);
    let each = panel::judgements(run, candidate, scenarios, era).flat_map(|judgement| {
        let named = |id| judgement.at_fault.get(id).and_then(|name| place(name)).filter(|_| is_chain);
        judgement.whole.findings.iter().filter_map(move |one| {
            let about = task.demand(one.criterion).filter(|_| is_chain).map(|demand| task.member_of(demand));
            Some(Shown {
                criterion: one.criterion.clone(),
                words: task.statement(one.criterion),
                is_met: one.verdict.is_met()?,
                about,
                named: named(one.criterion),
            })
        })
    });
    each.collect()
}

/// Returns the member of a chain that is at fault for most of these, by weight and by the chance that each is missed,
/// with the faults that are probably its own. Skips members whose edits keep failing. For a single skill, returns all
/// faults.
pub(crate) fn of_one_member(run: &Run, faults: Vec<CriterionId>) -> (Option<Place>, Vec<CriterionId>) {
    if !run.plan.is_chain() || faults.is_empty() {
        return (None, faults);
    }
    let beliefs = &run.state.beliefs;
    let worth = |place: Place| -> f64 {
        let worth = |id: &CriterionId| {
            let words = run.plan.task.statement(id);
            let weight = run.plan.task.demand(id).map_or(1.0, |demand| f64::from(demand.weight));
            weight * (1.0 - beliefs.chance(&words)) * beliefs.suspects.share(&words, place)
        };
        faults.iter().map(worth).sum()
    };
    // On a tie the last member wins: most statements are about its work.
    let most =
        |places: &mut dyn Iterator<Item = Place>| places.max_by(|a, b| worth(*a).total_cmp(&worth(*b)));
    let untired = || run.plan.places().filter(|place| !run.is_tired(*place));
    let member =
        most(&mut untired().filter(|place| worth(*place) > 0.0)).or_else(|| most(&mut run.plan.places()));
    let shares = |id: &CriterionId| beliefs.shares(&run.plan.task.statement(id));
    let is_its = |id: &&CriterionId| member.is_some_and(|member| is_its(&shares(id), member));
    let its: Vec<CriterionId> = faults.iter().filter(is_its).cloned().collect();
    (member, if its.is_empty() { faults } else { its })
}

/// Whether a member is at least half as likely to be at fault as any other.
pub(crate) fn is_its(shares: &[f64], member: Place) -> bool {
    let most = shares.iter().copied().fold(0.0, f64::max);
    shares.get(member.0).is_some_and(|share| *share >= most / 2.0)
}
