//! The tune loop, after skill-iter-tune: measure, keep or drop, improve, measure again; at the end compare, and ship.
//!
//! ```text
//! open round -> measure -> scored -> keep | drop -> stop? -> focus (chain) -> improve -> draft -> open round ...
//! stop -> the best against the start, on fresh trials -> ship -> ask? -> promote -> close
//! ```
//!
//! Round 1 measures the untouched target. The search is loose: a draft is based on the newest valid candidate, and is
//! dropped only when it falls far below the best. The end is strict: `comparison`. A run that compares two versions
//! consists of this end alone.

mod activity;
pub mod anchor;
mod apart;
mod basis;
pub mod beliefs;
pub mod calibration;
mod comparison;
mod credit;
mod danger;
mod decision;
pub mod drafting;
pub mod ending;
mod expected;
pub mod explanation;
mod fail_on;
mod faults;
mod graded;
mod known;
pub mod measure;
pub mod notes;
pub mod panel;
pub mod price;
pub mod proposing;
pub mod regrade;
mod request;
mod shown;
mod state;
pub mod state_file;
mod step;
mod suspects;
mod task;
pub mod trials;
pub mod turns;
pub mod unaided;
mod uses;
mod view;

use crate::base::id::{CandidateId, TreeId};
use crate::base::role::{Rights, Role, RoleSpec};
use crate::base::vocabulary::Vocabulary;
use crate::judging::score::Score;
use crate::judging::stop::{self, Reason};
use crate::loops::{Expected, Loop, MostCalls};
use crate::runs::event::{self, FailureKind};
use crate::runs::plan::{self, LoopKind};
use crate::runs::run;
use crate::skills::target::Place;
use crate::suites::scenario::Scenario;

pub use crate::base::delivery::Uses;
pub use basis::Basis;
pub use decision::{Answer, Apart, Decision, Ending, Measured, Pair, Shipment, Verdict, Why};
pub use fail_on::FailReason;
pub use request::{INPUT, Request, SKILL, WORKSPACE};
pub use state::{Edit, FailedEdit, Round, Standing, State};
pub use step::{Asked, Choice, Hold, Improver, Kept, Seat, Step, Trial};
pub use task::{Aim, Apply, FailOn, LeftOut, Regraded, Rules, Search, Sides, Suite, Task};
pub use view::Dropped;

/// The tune loop, as a type.
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

/// Consecutive drops at one member of a chain before the search moves to another member.
const DROPS_BEFORE_MOVING_ON: usize = 2;

impl Vocabulary for Tune {
    type Task = Task;
    type Step = Step;
    type Answer = Answer;
    type Decision = Decision;

    const ROLES: &'static [RoleSpec] = &[
        RoleSpec::new(Role::EXECUTOR, Rights::Work, true),
        RoleSpec::new(Role::EVALUATOR, Rights::Read, true),
        RoleSpec::new(Role::IMPROVER, Rights::Edit, false),
        RoleSpec::optional(Role::SECOND_IMPROVER, Rights::Edit, false),
        RoleSpec::optional(Role::SECOND_EVALUATOR, Rights::Read, true),
        RoleSpec::optional(Role::THIRD_EVALUATOR, Rights::Read, true),
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
            return comparison::finish(run);
        }
        match (&run.plan.task.aim, run.state.rounds.last()) {
            (Aim::Compare(_), round) => {
                regrade::control(run, round).unwrap_or_else(|| comparison::finish(run))
            }
            (Aim::Improve | Aim::Try { .. } | Aim::Calibrate { .. }, None) => Next::Decide(first_round(run)),
            (Aim::Improve, Some(round)) => match run.plan.task.rules.search {
                Search::Rounds => search(run, round),
                Search::Draft { .. } => drafting::search(run, round),
            },
            (Aim::Try { .. } | Aim::Calibrate { .. }, Some(round)) => try_once(run, round),
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
        let plugins =
            run.plan.task.target.members.iter().filter_map(|member| Some(member.plugin.as_ref()?.tree));
        candidates.chain(brought).chain(plugins).collect()
    }

    fn most_calls(plan: &Plan) -> MostCalls {
        most_calls(plan)
    }

    fn expected_calls(plan: &Plan) -> Option<Expected> {
        expected::of(plan)
    }

    fn callable(plan: &Plan) -> Vec<&'static RoleSpec> {
        let is_called = |role: &Role| Self::most_calls(plan).get(role).is_some_and(|most| *most > 0);
        let all = Self::ROLES.iter();
        all.filter(|spec| plan.task.regraded().is_none() || is_called(&spec.role)).collect()
    }
}

fn first_round(run: &Run) -> Decision {
    let scenarios = match run.plan.task.aim {
        Aim::Improve if run.plan.task.rules.search != Search::Rounds => drafting::first(&run.plan),
        Aim::Improve | Aim::Try { .. } | Aim::Calibrate { .. } | Aim::Compare(_) => Vec::new(),
    };
    Decision::Open { round: 1, candidate: run.start(), scenarios }
}

fn search<'a>(run: &'a Run, round: &'a Round) -> Next<'a> {
    let Some(measured) = &round.measured else { return measure(run, round) };
    if let (Some(score), None) = (measured.score, &round.standing) {
        return Next::Decide(standing(run, round, score));
    }
    if let Some(reason) = stop::judge(&run.plan.task.rules.limits(), &run.series()) {
        return Next::Decide(Decision::Stop(reason));
    }
    let open = |candidate| {
        Next::Decide(Decision::Open { round: round.number + 1, candidate, scenarios: Vec::new() })
    };
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

/// Measures the target once, without improving or comparing anything.
fn try_once<'a>(run: &'a Run, round: &Round) -> Next<'a> {
    match &round.measured {
        None => measure(run, round),
        Some(_) if run.state.visible.is_none() && matches!(run.plan.task.aim, Aim::Calibrate { .. }) => {
            Next::Decide(Decision::Calibrate(Box::new(calibration::visible(run))))
        }
        Some(_) => Next::Decide(Decision::Close(Ending::Tried)),
    }
}

fn measure<'a>(run: &'a Run, round: &Round) -> Next<'a> {
    if run.state.measure.is_settled() {
        return Next::Decide(Decision::Scored(run.state.measure.summary(run, round.candidate, |_| true)));
    }
    Next::Do(Box::new(run.state.measure.steps(run)))
}

/// Drops a draft that falls by more than `regress` below the best of the earlier rounds, in its score or, if trials
/// alone make the score, in its text.
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
        StepState::Answered(_) | StepState::Open => Next::Do(Box::new(std::iter::once(step))),
    }
}

/// Returns the member with the lowest score. Members whose edits keep failing, or failed in this round, come last.
fn weakest(run: &Run, base: CandidateId, round: &Round) -> Place {
    let scores = run.measured(base).map(|measured| measured.members.as_slice()).unwrap_or_default();
    let score = |place: &Place| scores.get(place.0).copied().flatten().map_or(f64::INFINITY, Score::points);
    let lowest =
        |places: &mut dyn Iterator<Item = Place>| places.min_by(|a, b| score(a).total_cmp(&score(b)));
    let tired = |place: &Place| is_tired(run, *place);
    let places = || run.plan.places().filter(|place| !round.has_failed_at(*place));
    lowest(&mut places().filter(|place| !tired(place)))
        .or_else(|| lowest(&mut places()))
        .or_else(|| lowest(&mut run.plan.places()))
        .expect("a target has members")
}

/// Whether edits of this member keep failing.
fn is_tired(run: &Run, place: Place) -> bool {
    run.drops_in_a_row(place) >= DROPS_BEFORE_MOVING_ON
}

/// Returns the most calls that a run can make: every step tried twice, every draft tried on all scenarios.
fn most_calls(plan: &Plan) -> MostCalls {
    match &plan.task.aim {
        Aim::Improve => most_calls_of_search(plan),
        Aim::Try { trials } | Aim::Calibrate { trials } => unaided::most_calls(plan, *trials),
        Aim::Compare(_) => most_calls_of_comparison(plan),
    }
}

fn most_calls_of_search(plan: &Plan) -> MostCalls {
    let is_edit = |role: &Role| plan.improvers().any(|by| by.role() == *role);
    // In a search by drafts, another edit follows a failed one without a trial.
    let edits = |role: &Role| match plan.task.rules.search {
        Search::Draft { .. } if is_edit(role) => u64::from(plan.task.rules.max_errors),
        Search::Draft { .. } | Search::Rounds => 1,
    };
    let calls = calls_of_search(plan);
    calls.iter().map(|(role, calls)| (role.clone(), u64::from(state::TRIES) * edits(role) * calls)).collect()
}

/// Returns the calls of a search in which no call fails.
fn calls_of_search(plan: &Plan) -> MostCalls {
    let rounds = u64::from(plan.task.rules.max_iterations);
    let searched = measure::searched(plan);
    let in_rounds = |among: &dyn Fn(usize) -> bool| match drafting::trials(plan) {
        Some(trials) => number(trials),
        None => rounds * number(searched.iter().filter(|&&scenario| among(scenario)).count()),
    };
    let is_reviewed = plan.task.has_demands() && plan.task.rules.search == Search::Rounds;
    let reviews = if is_reviewed { rounds } else { 0 };
    let members = number(plan.task.target.members.len());
    let edits = if plan.repeats_itself() { members } else { 1 };
    let executed = (in_rounds(&|_| true) + most_fresh_trials(plan, &|_| true)) * members;
    let judged = in_rounds(&|scenario| plan.task.is_judged(scenario)) + reviews;
    let executor = (Role::EXECUTOR, executed);
    let most = turns::most(plan, rounds.saturating_sub(1));
    let improvers = plan.improvers().map(|by| (by.role(), edits * most));
    let of_panel = judges_of_comparison(plan).map(|(role, calls)| {
        let own = if role == Role::EVALUATOR { judged } else { 0 };
        (role, own + calls)
    });
    std::iter::once(executor).chain(of_panel).chain(improvers).collect()
}

fn most_calls_of_comparison(plan: &Plan) -> MostCalls {
    let tries = u64::from(state::TRIES);
    let trials = if plan.task.regraded().is_some() { 0 } else { most_fresh_trials(plan, &|_| true) };
    let executor = (Role::EXECUTOR, trials);
    let all = std::iter::once(executor).chain(judges_of_comparison(plan));
    // Stored trials need no executor.
    let all = all.filter(|(role, _)| plan.task.regraded().is_none() || *role != Role::EXECUTOR);
    all.map(|(role, calls)| (role, tries * calls)).collect()
}

/// Counts calls for the worst case: every judge judges every trial, because all are close or the judge before it was
/// dismissed, and each has its anchors.
fn judges_of_comparison(plan: &Plan) -> impl Iterator<Item = (Role, u64)> {
    let stored = plan.task.regraded().map(|of| u64::from(of.judged));
    let judged = stored.unwrap_or_else(|| most_fresh_trials(plan, &|scenario| plan.task.is_judged(scenario)));
    let anchors = most_anchors(plan, judged);
    let roles = Seat::ALL.into_iter().map(Seat::role).filter(|role| plan.roles.get(role).is_some());
    roles.map(move |role| (role, judged + anchors))
}

/// Returns the most anchors of a judge who judges this many trials of a comparison.
fn most_anchors(plan: &Plan, judged: u64) -> u64 {
    if judged == 0 || !plan.basis().is_tested() {
        return 0;
    }
    let of_looks = number(plan.looks().len() * panel::ANCHORS);
    let of_all = match plan.task.regraded() {
        Some(of) if of.apart => judged,
        None if plan.task.runs().is_some_and(|(_, alone)| alone) => {
            judged + number(drafting::first(plan).len())
        }
        Some(_) | None => 0,
    };
    of_looks.max(of_all)
}

/// Counts the trials of the final comparison. At worst every scenario falls and is retried.
fn most_fresh_trials(plan: &Plan, among: &dyn Fn(usize) -> bool) -> u64 {
    let compared = measure::compared(plan).into_iter().filter(|&scenario| among(scenario)).count();
    let again = if plan.basis().is_tested() { measure::RETRIALS } else { 0 };
    let trials = CONTESTANTS * u64::from(plan.task.rules.confirm + again);
    trials * number(compared)
}

/// The start and the champion of the search.
const CONTESTANTS: u64 = 2;

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
