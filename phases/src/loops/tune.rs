//! The tune loop, after skill-iter-tune: measure, keep or drop, improve, measure again; at the end compare, and ship.
//!
//! ```text
//! open round -> measure -> scored -> keep | drop -> stop? -> focus (chain) -> improve -> draft -> open round ...
//! stop -> compare head, best and start on fresh trials -> ship -> ask? -> promote -> close
//! ```
//!
//! Round 1 measures the untouched target. The search is loose: a draft goes on from the newest valid candidate, and
//! is dropped only when it falls far below the best. The end is strict: nothing ships that has not beaten the start.

mod activity;
mod decision;
pub mod ending;
mod graded;
pub mod measure;
pub mod notes;
mod request;
mod state;
pub mod state_file;
mod step;
mod task;
pub mod trials;
mod uses;
mod view;

use std::collections::HashSet;

use crate::event::{self, FailureKind};
use crate::id::{CandidateId, TreeId};
use crate::loops::{Loop, MostCalls};
use crate::plan::{self, LoopKind};
use crate::role::{Rights, Role, RoleSpec};
use crate::run;
use crate::scenario::Scenario;
use crate::score::Score;
use crate::stop::{self, Reason};
use crate::target::Place;
use crate::vocabulary::Vocabulary;

pub use crate::delivery::Uses;
pub use decision::{Answer, Decision, Ending, Measured, Shipment, Verdict, Why};
pub use request::{INPUT, Request, SKILL, WORKSPACE};
pub use state::{Edit, Round, Standing, State};
pub use step::{Choice, Hold, Kept, Step, Trial};
pub use task::{Apply, Rules, Suite, Task};
pub use view::Dropped;

/// The loop, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tune {}

pub type Plan = plan::Plan<Tune>;
pub type Run = run::Run<Tune>;
pub type Record = event::Record<Tune>;
pub type Event = event::Event<Tune>;
pub type Done = event::Done<Tune>;
pub type FailedCall = run::FailedCall<Tune>;
pub type Next<'a> = super::Next<'a, Tune>;
pub type Outcome = event::Outcome<Answer>;
pub type StepState<'a> = run::StepState<'a, Answer>;

/// Drops in a row at one member of a chain after which another one is worked on.
const DROPS_BEFORE_MOVING_ON: usize = 2;

impl Vocabulary for Tune {
    type Task = Task;
    type Step = Step;
    type Answer = Answer;
    type Decision = Decision;

    const ROLES: &'static [RoleSpec] = &[
        RoleSpec { role: Role::EXECUTOR, rights: Rights::Work, is_measure: true },
        RoleSpec { role: Role::EVALUATOR, rights: Rights::Read, is_measure: true },
        RoleSpec { role: Role::IMPROVER, rights: Rights::Edit, is_measure: false },
    ];

    fn role(step: &Step) -> Option<Role> {
        step.role()
    }
}

impl Loop for Tune {
    const KIND: LoopKind = LoopKind::Tune;

    type Request = Request;

    fn next(run: &Run) -> Next<'_> {
        if run.state.closed.is_some() {
            return Next::End;
        }
        if run.state.stopped.is_some() {
            return finish(run);
        }
        match run.state.rounds.last() {
            None => Next::Decide(Decision::Open { round: 1, candidate: run.start() }),
            Some(round) => search(run, round),
        }
    }

    fn request(run: &Run, step: &Step) -> Option<Request> {
        Request::of(run, step)
    }

    fn trees(answer: &Answer) -> Vec<TreeId> {
        answer.trees()
    }

    fn run_trees(run: &Run) -> Vec<TreeId> {
        let brought = run.plan.task.scenarios.iter().flat_map(Scenario::trees);
        let candidates = run.state.candidates.iter().flat_map(|candidate| candidate.trees.iter().copied());
        candidates.chain(brought).collect()
    }

    fn usd(plan: &Plan) -> Option<f64> {
        plan.task.rules.budget.usd
    }

    fn most_calls(plan: &Plan) -> MostCalls {
        most_calls(plan)
    }
}

fn search<'a>(run: &'a Run, round: &'a Round) -> Next<'a> {
    let Some(measured) = &round.measured else { return measure(run, round) };
    if let (Some(score), None) = (measured.score, &round.standing) {
        return Next::Decide(standing(run, round, score));
    }
    if let Some(reason) = stop::judge(&run.plan.task.rules.limits(), &run.series()) {
        return Next::Decide(Decision::Stop(reason));
    }
    let open = |candidate| Next::Decide(Decision::Open { round: round.number + 1, candidate });
    match &round.edit {
        Some(Edit::Draft { candidate, .. }) => open(*candidate),
        Some(Edit::Nothing { failure, .. })
            if run.plan.repeats_itself() && failure.kind == FailureKind::Gate =>
        {
            let is_tried = |place| round.tried.contains(&place);
            if run.plan.places().all(is_tried) {
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

fn measure<'a>(run: &'a Run, round: &Round) -> Next<'a> {
    if run.state.measure.is_settled() {
        return Next::Decide(Decision::Scored(run.state.measure.summary(run, round.candidate, |_| true)));
    }
    Next::Do(Box::new(run.state.measure.steps(run)))
}

/// A draft is dropped when it falls by more than `regress` below the best of the rounds before it, by what comes of its trials
/// or, where these alone make the score, by its text.
fn standing(run: &Run, round: &Round, score: Score) -> Decision {
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

fn improve<'a>(run: &'a Run, round: &Round) -> Next<'a> {
    let base = run.head();
    let member = weakest(run, base, round);
    if run.plan.is_chain() && run.state.focus != Some(member) {
        return Next::Decide(Decision::Focus(member));
    }
    let step = Step::Improve { round: round.number, base, member };
    match run.state_of(&step) {
        StepState::Answered(Answer::Improved { tree, report }) => {
            let base = run.candidate(base).expect("the head is a candidate of the run");
            let draft = base.edited(round.number, member, *tree, report.as_ref().clone());
            Next::Decide(Decision::Draft(Box::new(draft)))
        }
        StepState::GivenUp(failure) => Next::Decide(Decision::NoDraft { member, failure: failure.clone() }),
        StepState::Answered(_) | StepState::Open => Next::Do(Box::new(std::iter::once(step))),
    }
}

/// The member with the lowest score, those aside at which edits keep coming to nothing, or came to nothing in this round.
fn weakest(run: &Run, base: CandidateId, round: &Round) -> Place {
    let scores = run.measured(base).map(|measured| measured.members.as_slice()).unwrap_or_default();
    let score = |place: &Place| scores.get(place.0).copied().flatten().map_or(f64::INFINITY, Score::points);
    let lowest =
        |places: &mut dyn Iterator<Item = Place>| places.min_by(|a, b| score(a).total_cmp(&score(b)));
    let tired = |place: &Place| run.drops_in_a_row(*place) >= DROPS_BEFORE_MOVING_ON;
    let places = || run.plan.places().filter(|place| !round.tried.contains(place));
    lowest(&mut places().filter(|place| !tired(place)))
        .or_else(|| lowest(&mut places()))
        .expect("a target has members")
}

fn finish(run: &Run) -> Next<'_> {
    let Some(shipment) = &run.state.shipment else { return compare(run) };
    let champion = shipment.champion;
    if champion == run.start() {
        return Next::Decide(Decision::Close(Ending::Unchanged));
    }
    let promote = Step::Promote { from: run.start(), to: champion };
    match run.plan.task.apply {
        Apply::Never => Next::Decide(Decision::Close(Ending::Kept)),
        Apply::Auto => ship(run, promote),
        Apply::Ask => {
            let ask = Step::Ask(Hold::Apply { champion });
            match run.state_of(&ask) {
                StepState::Answered(Answer::Chosen(Choice::Apply)) => ship(run, promote),
                StepState::Answered(_) => Next::Decide(Decision::Close(Ending::Kept)),
                StepState::GivenUp(_) | StepState::Open => Next::Do(Box::new(std::iter::once(ask))),
            }
        }
    }
}

fn ship(run: &Run, promote: Step) -> Next<'_> {
    match run.state_of(&promote) {
        StepState::Answered(Answer::Conflict { .. }) => Next::Decide(Decision::Close(Ending::Conflict)),
        StepState::Answered(_) => Next::Decide(Decision::Close(Ending::Applied)),
        StepState::GivenUp(_) | StepState::Open => Next::Do(Box::new(std::iter::once(promote))),
    }
}

fn compare(run: &Run) -> Next<'_> {
    let contestants = contestants(run);
    if contestants.len() < 2 {
        return Next::Decide(Decision::Ship(unchallenged(run)));
    }
    let eras: HashSet<u32> =
        contestants.iter().filter_map(|&id| run.scored_round(id)).map(|round| round.era).collect();
    if run.plan.task.rules.confirm == 0 && eras.len() <= 1 {
        let scores = contestants.iter().map(|&id| (id, run.measured(id).and_then(|measured| measured.score)));
        return Next::Decide(Decision::Ship(verdict(run, scores.collect(), 0)));
    }
    if run.state.measure.contestants != contestants {
        return Next::Decide(Decision::Compare(contestants));
    }
    if !run.state.measure.is_settled() {
        return Next::Do(Box::new(run.state.measure.steps(run)));
    }
    Next::Decide(Decision::Ship(fresh_verdict(run)))
}

/// Start, the best of each era, and head, each once. Without a measured start there is nothing to beat.
fn contestants(run: &Run) -> Vec<CandidateId> {
    let mut contestants = vec![run.start()];
    for id in run.best_of_eras().chain([run.head()]) {
        if !contestants.contains(&id) && run.measured(id).is_some() {
            contestants.push(id);
        }
    }
    contestants
}

fn unchallenged(run: &Run) -> Shipment {
    let score = run.measured(run.start()).and_then(|measured| measured.score);
    let verdict = if score.is_some() { Verdict::Unchallenged } else { Verdict::Indecisive };
    Shipment { verdict, champion: run.start(), scores: vec![(run.start(), score)], pairs: 0 }
}

/// All contestants are compared on the scenarios that all of them were judged on.
fn fresh_verdict(run: &Run) -> Shipment {
    let measure = &run.state.measure;
    let paired: HashSet<usize> =
        measure.scenarios().iter().copied().filter(|&scenario| measure.paired(run, scenario)).collect();
    let summary = |id| -> Measured { measure.summary(run, id, |scenario| paired.contains(&scenario)) };
    let scores = measure.contestants.iter().map(|&id| (id, summary(id).score)).collect();
    let trials = paired.len() * measure.trials_each() as usize;
    verdict(run, scores, u32::try_from(trials).unwrap_or(u32::MAX))
}

/// The highest score wins; of equals the earlier contestant, so that a tie leaves the target as it was found, and of two that
/// are better than it the one with the better text. A contestant whose skill was not used has shown nothing, and cannot win.
fn verdict(run: &Run, scores: Vec<(CandidateId, Option<Score>)>, pairs: u32) -> Shipment {
    let known: Option<Vec<(CandidateId, Score)>> =
        scores.iter().map(|(id, score)| score.map(|score| (*id, score))).collect();
    let may_win = |id: &CandidateId| !run.change_is_unused(*id, &run.deciding());
    let (verdict, champion) =
        match known.as_deref().map(|known| (highest(run, known, |_| true), highest(run, known, may_win))) {
            Some((Some(highest), Some(winner))) => match (highest == run.start(), winner == run.start()) {
                (_, false) => (Verdict::Won, winner),
                (true, true) => (Verdict::Lost, winner),
                (false, true) => (Verdict::Unused, winner),
            },
            _ => (Verdict::Indecisive, run.start()),
        };
    Shipment { verdict, champion, scores, pairs }
}

fn highest(
    run: &Run,
    scores: &[(CandidateId, Score)],
    among: impl Fn(&CandidateId) -> bool,
) -> Option<CandidateId> {
    // Texts that were judged in different eras are not compared.
    let quality = |id: CandidateId| {
        let round = run.scored_round(id)?;
        Some((round.era, round.measured.as_ref()?.quality))
    };
    let is_better = |next, best| {
        quality(next).zip(quality(best)).is_some_and(|(next, best)| next.0 == best.0 && next.1 > best.1)
    };
    let is_higher = |next: &(CandidateId, Score), best: &(CandidateId, Score)| {
        let is_better_text = || best.0 != run.start() && is_better(next.0, best.0);
        next.1 > best.1 || (next.1 == best.1 && is_better_text())
    };
    let scores = scores.iter().filter(|(id, _)| among(id));
    scores.reduce(|best, next| if is_higher(next, best) { next } else { best }).map(|(id, _)| *id)
}

/// The most calls that a run can come to: every step tried twice, every draft tried out whole.
fn most_calls(plan: &Plan) -> MostCalls {
    let per = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let rounds = u64::from(plan.task.rules.max_iterations);
    let fresh = CONTESTANTS * u64::from(plan.task.rules.confirm);
    let tries = u64::from(state::TRIES);
    let (searched, compared) = (measure::searched(plan), measure::compared(plan));
    let trials = |among: &dyn Fn(usize) -> bool| {
        let count = |scenarios: &[usize]| per(scenarios.iter().filter(|&&scenario| among(scenario)).count());
        rounds * count(&searched) + fresh * count(&compared)
    };
    let reviews = if plan.task.has_demands() { rounds } else { 0 };
    let members = per(plan.task.target.members.len());
    let edits = if plan.repeats_itself() { members } else { 1 };
    MostCalls::from([
        (Role::EXECUTOR, tries * trials(&|_| true) * members),
        (Role::EVALUATOR, tries * (trials(&|scenario| plan.task.is_judged(scenario)) + reviews)),
        (Role::IMPROVER, tries * edits * rounds.saturating_sub(1)),
    ])
}

/// Start, best and head.
const CONTESTANTS: u64 = 3;
