//! A measurement: some candidates on every scenario, in one canonical order.
//!
//! A unit is one candidate on one scenario, once: its members in order, then the judge, or the checks and the judge of
//! the scenario's demands. The order of the units comes from the run's seed, scenario by scenario with the contestants
//! side by side, so the same answers give the same run in whichever order they arrive. If trials are scored by their
//! outcome, the text of a candidate is judged once, last.

mod executed;
mod scores;

pub use super::graded::Unit;
use super::graded::{self, TrialState};
use crate::base::id::{CandidateId, Digest};
use crate::judging::judgement::Judgement;
use crate::loops::tune::{
    Answer, Asked, Decision, Measured, Next, Plan, Run, Search, Seat, Step, StepState, Trial,
};
use crate::skills::target::Place;

pub use executed::{Execution, artifacts, executions, exercised, left_out, starting};
use executed::{NO_RESULT, Start, executed_next, exercise, start, tree_of};
pub(crate) use executed::{unused_in, was_set_up};
use scores::{scored, summarise};

/// The ordinal of the trials of the search. The trials of the final comparison follow it.
pub const SEARCH: u32 = 0;

/// The most trials of a scenario that a setting can ask for.
const MOST_TRIALS: u32 = 100;

/// Fresh trials of each version on a scenario on which the winner lost much.
pub(crate) const RETRIALS: u32 = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measure {
    pub contestants: Vec<CandidateId>,
    /// The version that is tried on each scenario in the place of the only contestant; empty if it is tried itself.
    versions: Vec<CandidateId>,
    first_ordinal: u32,
    ordinals: u32,
    era: u32,
    order: Vec<usize>,
    /// The numbers of scenarios after which there is a look before the end.
    interim_rows: Vec<usize>,
    /// The contestant that begins each block: both are tried side by side, and neither is always first.
    first: Vec<usize>,
    /// The position of each scenario in the order, if it is included.
    rows: Vec<Option<usize>>,
    /// Whether each unit is judged or given up. The texts follow the units of all trials.
    done: Vec<bool>,
    /// The number of leading units that are done.
    settled: usize,
    /// The judge of the trials.
    seat: Seat,
}

impl Measure {
    /// Measures one candidate, once on every scenario of the search. Without a search no text is judged: the
    /// candidate is tried on all scenarios, as often as the run says.
    pub fn round(plan: &Plan, candidate: CandidateId, scenarios: &[usize], era: u32) -> Self {
        if let Some(trials) = plan.task.aim.trials() {
            return Self::over(plan, canonical_order(plan), vec![candidate], (SEARCH, trials), era);
        }
        if plan.task.rules.search != Search::Rounds || plan.task.regraded().is_some() {
            // Texts that are tried only once are not worth a judgement.
            return Self::over(plan, scenarios.to_vec(), vec![candidate], (SEARCH, 1), era);
        }
        let round = Self::over(plan, searched(plan), vec![candidate], (SEARCH, 1), era);
        if plan.task.has_demands() { round.with_texts() } else { round }
    }

    /// Measures the contestants of the final comparison, on fresh trials.
    pub fn fresh(run: &Run, compared: Vec<usize>, contestants: Vec<CandidateId>) -> Self {
        let trials = (SEARCH + 1, run.confirm());
        let interim_rows = run.interim_analyses().into_iter().map(|analysis| analysis.pairs).collect();
        Self { interim_rows, ..Self::over(&run.plan, compared, contestants, trials, run.state.era) }
    }

    /// Takes first trials of one version on each scenario for those of the challenger.
    pub(crate) fn of_tests(
        run: &Run,
        challenger: CandidateId,
        scenarios: Vec<usize>,
        versions: Vec<CandidateId>,
    ) -> Self {
        let measure = Self::over(&run.plan, scenarios, vec![challenger], (SEARCH, 1), run.state.era);
        Self { versions, ..measure }
    }

    /// Retries some of the scenarios.
    pub fn again(run: &Run, scenarios: Vec<usize>, contestants: Vec<CandidateId>) -> Self {
        let trials = (SEARCH + 1 + run.confirm(), RETRIALS);
        Self::over(&run.plan, scenarios, contestants, trials, run.state.era)
    }

    fn over(
        plan: &Plan,
        order: Vec<usize>,
        contestants: Vec<CandidateId>,
        (first_ordinal, ordinals): (u32, u32),
        era: u32,
    ) -> Self {
        // A journal written by someone else may contain any number, even before there is anything to measure.
        let mut rows = vec![None; plan.task.scenarios.len()];
        let is_there = |scenario: &usize| *scenario < rows.len() && !contestants.is_empty();
        let order: Vec<usize> = order.into_iter().filter(is_there).collect();
        let ordinals = ordinals.min(MOST_TRIALS);
        order.iter().enumerate().for_each(|(row, &scenario)| rows[scenario] = Some(row));
        let blocks = order.iter().flat_map(|&scenario| (0..ordinals).map(move |nth| (scenario, nth)));
        let first = blocks
            .map(|(scenario, nth)| coin(plan.seed, (plan.task.number(scenario), nth)) % contestants.len())
            .collect();
        let done = vec![false; order.len() * ordinals as usize * contestants.len()];
        Self {
            contestants,
            versions: Vec::new(),
            first_ordinal,
            ordinals,
            era,
            interim_rows: vec![order.len()],
            order,
            first,
            rows,
            done,
            settled: 0,
            seat: Seat::First,
        }
    }

    #[must_use]
    pub(crate) fn by(self, seat: Seat) -> Self {
        Self { seat, ..self }
    }

    /// Measures some scenarios of a final comparison with another judge.
    pub(crate) fn of(&self, plan: &Plan, scenarios: &[usize], seat: Seat) -> Self {
        let trials = (self.first_ordinal, self.ordinals);
        Self::over(plan, scenarios.to_vec(), self.contestants.clone(), trials, self.era).by(seat)
    }

    pub(crate) fn seat(&self) -> Seat {
        self.seat
    }

    /// Returns the trials on the first scenarios, in order.
    pub(crate) fn units(&self, rows: usize) -> impl Iterator<Item = (CandidateId, Trial)> + '_ {
        (0..self.units_of(rows.min(self.order.len()))).filter_map(|index| self.place(index))
    }

    fn with_texts(mut self) -> Self {
        self.done.extend(vec![false; self.contestants.len()]);
        self
    }

    /// Returns the number of units that are trials.
    fn trial_units(&self) -> usize {
        self.units_of(self.order.len())
    }

    pub fn is_settled(&self) -> bool {
        self.settled == self.len()
    }

    pub fn settled(&self) -> usize {
        self.settled
    }

    pub fn len(&self) -> usize {
        self.done.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of looks that have all their trials.
    pub(crate) fn analyses_ready(&self) -> usize {
        self.interim_rows.iter().take_while(|&&rows| self.units_of(rows) <= self.settled).count()
    }

    fn units_of(&self, rows: usize) -> usize {
        rows * self.ordinals as usize * self.contestants.len()
    }

    /// Returns the steps that can be taken now, in canonical order: at most one per unit, and none that the next look
    /// does not need.
    pub fn steps<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = Step> + 'a {
        let next = self.interim_rows.get(self.analyses_ready()).filter(|rows| **rows < self.order.len());
        let end = next.map_or(self.len(), |rows| self.units_of(*rows));
        let open = (self.settled..end).filter(|&index| !self.done[index]);
        open.filter_map(|index| match self.unit(run, index) {
            Unit::Next(step) => Some(step),
            Unit::Judged(_) | Unit::Failed { .. } | Unit::Missing(_) | Unit::Late => None,
        })
    }

    /// Checks all units, as many may have been answered before the measurement began. The state keeps the graded
    /// results.
    #[must_use]
    pub(crate) fn check(&mut self, run: &Run) -> Graded {
        self.check_units(run, 0..self.len())
    }

    #[must_use]
    pub(crate) fn check_texts(&mut self, run: &Run) -> Graded {
        self.check_units(run, self.trial_units()..self.len())
    }

    /// Checks only the units that an answer about this trial can settle, so that each answer costs the same.
    #[must_use]
    pub(crate) fn check_trial(&mut self, run: &Run, trial: Trial) -> Graded {
        let nth = trial.ordinal.checked_sub(self.first_ordinal).filter(|nth| *nth < self.ordinals);
        let nth = nth.filter(|_| trial.era == self.era);
        let row = self.rows.get(trial.scenario).copied().flatten();
        let (Some(nth), Some(row)) = (nth, row) else { return Graded::new() };
        let first = (row * self.ordinals as usize + nth as usize) * self.contestants.len();
        self.check_units(run, first..first + self.contestants.len())
    }

    fn check_units(&mut self, run: &Run, units: std::ops::Range<usize>) -> Graded {
        let mut graded = Graded::new();
        for index in units {
            if self.done[index] {
                continue;
            }
            match self.trial_state(run, index) {
                TrialState::Open(Unit::Next(_)) => {}
                TrialState::Open(_) => self.done[index] = true,
                TrialState::Graded(judgement) => {
                    let (candidate, trial) = self.place(index).expect("only trials are graded");
                    graded.push(((candidate, trial, self.seat), judgement));
                    self.done[index] = true;
                }
            }
        }
        self.settled += self.done[self.settled..].iter().take_while(|done| **done).count();
        graded
    }

    /// Summarizes the judged units of one contestant, without scenarios for which `among` is false.
    pub fn summary(&self, run: &Run, candidate: CandidateId, among: impl Fn(usize) -> bool) -> Measured {
        let trials = self.trials().filter(|trial| among(trial.scenario));
        let scored = trials.filter_map(|trial| scored(run, candidate, trial, self.seat)).collect::<Vec<_>>();
        let text = text_judgement(run, candidate, self.era).filter(|_| run.plan.task.has_demands());
        summarise(&run.plan, &scored, text, self.rows(run, self.order.len()) * self.ordinals as usize)
    }

    /// Returns how many of the first scenarios are tried. A scenario whose set-up left its answers is skipped.
    pub(crate) fn rows(&self, run: &Run, rows: usize) -> usize {
        self.order.iter().take(rows).filter(|scenario| left_out(run, **scenario).is_none()).count()
    }

    /// Returns how many of a contestant's trials on the first scenarios have a score.
    pub(crate) fn scored_of(&self, run: &Run, candidate: CandidateId, rows: usize) -> usize {
        let trials = self.order.iter().take(rows).flat_map(|&scenario| self.trials_of(scenario));
        let is_scored =
            |trial: &Trial| scored(run, self.version(candidate, trial.scenario), *trial, self.seat).is_some();
        trials.filter(is_scored).count()
    }

    /// Returns the version that a contestant's trial on a scenario has tried.
    pub(crate) fn version(&self, contestant: CandidateId, scenario: usize) -> CandidateId {
        let row = self.rows.get(scenario).copied().flatten();
        row.and_then(|row| self.versions.get(row)).copied().unwrap_or(contestant)
    }

    /// Whether each of its trials has tried a version of its own.
    pub fn is_of_tests(&self) -> bool {
        !self.versions.is_empty()
    }

    pub fn scenarios(&self) -> &[usize] {
        &self.order
    }

    pub(crate) fn era(&self) -> u32 {
        self.era
    }

    fn trials(&self) -> impl Iterator<Item = Trial> + '_ {
        self.order.iter().flat_map(|&scenario| self.trials_of(scenario))
    }

    pub(crate) fn trials_of(&self, scenario: usize) -> impl Iterator<Item = Trial> + '_ {
        (0..self.ordinals).map(move |nth| self.trial(scenario, nth))
    }

    fn unit<'a>(&self, run: &'a Run, index: usize) -> Unit<'a> {
        match self.place(index) {
            Some((candidate, trial)) => unit_by(run, candidate, trial, self.seat),
            None => text_unit(run, self.contestants[index - self.trial_units()], self.era),
        }
    }

    fn trial_state<'a>(&self, run: &'a Run, index: usize) -> TrialState<'a> {
        match self.place(index) {
            Some((candidate, trial)) => trial_state(run, candidate, trial, self.seat),
            None => TrialState::Open(self.unit(run, index)),
        }
    }

    /// Returns the candidate and trial of a unit, or `None` for a text.
    fn place(&self, index: usize) -> Option<(CandidateId, Trial)> {
        let (block, column) = (index / self.contestants.len(), index % self.contestants.len());
        let scenario =
            *self.order.get(block / self.ordinals as usize).filter(|_| index < self.trial_units())?;
        let nth = u32::try_from(block % self.ordinals as usize).unwrap_or(u32::MAX);
        let contestant = self.contestants[(self.first[block] + column) % self.contestants.len()];
        Some((self.version(contestant, scenario), self.trial(scenario, nth)))
    }

    fn trial(&self, scenario: usize, nth: u32) -> Trial {
        Trial { scenario, ordinal: self.first_ordinal + nth, era: self.era }
    }

    /// Returns the number of trials of each contestant on a scenario.
    pub fn trials_each(&self) -> u32 {
        self.ordinals
    }
}

/// The judgements of trials whose demands all have answers.
pub(crate) type Graded = Vec<((CandidateId, Trial, Seat), Judgement)>;

/// Returns the state of a candidate's trial for one judge: the next step or the judgement.
pub(crate) fn unit_by(run: &Run, candidate: CandidateId, trial: Trial, seat: Seat) -> Unit<'_> {
    if let Some(judgement) = run.state.graded.get(&(candidate, trial, seat)) {
        return Unit::Judged(judgement);
    }
    match trial_state(run, candidate, trial, seat) {
        TrialState::Open(unit) => unit,
        TrialState::Graded(_) => Unit::Late,
    }
}

pub(crate) fn judged_by(run: &Run, candidate: CandidateId, trial: Trial, seat: Seat) -> Option<&Judgement> {
    unit_by(run, candidate, trial, seat).judgement()
}

fn trial_state(run: &Run, candidate: CandidateId, trial: Trial, seat: Seat) -> TrialState<'_> {
    // A journal written by someone else may measure a missing candidate.
    let Some(known) = run.candidate(candidate) else { return TrialState::Open(Unit::Missing(&NO_RESULT)) };
    let mut outcomes: Vec<&Answer> = Vec::with_capacity(known.trees.len());
    let start = match start(run, trial.scenario) {
        Start::Ready(start) => start,
        Start::Missing(failure) => return TrialState::Open(Unit::Missing(failure)),
        Start::Next(step) => return TrialState::Open(executed_next(run, step)),
    };
    for (place, &skill) in known.trees.iter().enumerate() {
        let input = outcomes.last().copied().and_then(tree_of).or(start);
        let step = exercise(&run.plan, Place(place), skill, trial, input);
        match run.state_of(&step) {
            StepState::Answered(outcome @ Answer::Exercised { .. }) => outcomes.push(outcome),
            StepState::GivenUp(failure) if failure.kind.is_scored() => {
                return TrialState::Open(Unit::Failed { member: Place(place), failure });
            }
            StepState::GivenUp(failure) => return TrialState::Open(Unit::Missing(failure)),
            StepState::Answered(_) | StepState::Open => return TrialState::Open(executed_next(run, step)),
        }
    }
    if run.plan.task.is_graded(trial.scenario) {
        return graded::trial_state(run, candidate, trial, seat, &outcomes);
    }
    TrialState::Open(judged(run, judging(&run.plan, candidate, trial, Asked::of(seat), &outcomes)))
}

/// Returns the step that asks a judge about a trial whose members have all been run.
pub(crate) fn judging(
    plan: &Plan,
    candidate: CandidateId,
    trial: Trial,
    asked: Asked,
    outcomes: &[&Answer],
) -> Step {
    if plan.task.is_graded(trial.scenario) {
        return graded::grade(candidate, trial, asked, outcomes);
    }
    let artifacts = outcomes.iter().copied().filter_map(tree_of).collect();
    Step::Judge { candidate, trial, artifacts, asked }
}

fn judged(run: &Run, step: Step) -> Unit<'_> {
    match run.state_of(&step) {
        StepState::Answered(Answer::Judged(judgement)) => Unit::Judged(judgement),
        StepState::GivenUp(failure) => Unit::Missing(failure),
        StepState::Answered(_) | StepState::Open => Unit::Next(step),
    }
}

/// Returns the state of the judgement of a candidate's text.
pub fn text_unit(run: &Run, candidate: CandidateId, era: u32) -> Unit<'_> {
    judged(run, Step::JudgeText { candidate, era })
}

/// Returns the judgement of a candidate's text, if there is one.
pub fn text_judgement(run: &Run, candidate: CandidateId, era: u32) -> Option<&Judgement> {
    text_unit(run, candidate, era).judgement()
}

/// Returns the scenarios on which a search tries its candidates, in the canonical order.
pub fn searched(plan: &Plan) -> Vec<usize> {
    let order = canonical_order(plan);
    order.into_iter().filter(|&scenario| !plan.task.scenarios[scenario].held_out).collect()
}

/// Returns the scenarios on which a search may have tried a candidate: its own, and those of its tests.
pub fn tried(plan: &Plan) -> Vec<usize> {
    let tests = if plan.task.tests() > 0 { planned(plan) } else { Vec::new() };
    searched(plan).into_iter().chain(tests).collect()
}

/// Returns the scenarios that are planned for the final comparison: held-out ones or, if there are none, all.
pub fn planned(plan: &Plan) -> Vec<usize> {
    let held_out = held_out(plan);
    let mut planned = if held_out.is_empty() { canonical_order(plan) } else { held_out };
    planned.truncate(plan.task.most_compared());
    planned
}

/// Returns the held-out scenarios in the canonical order, those first whose faults no earlier run has shown to an
/// improver.
pub(crate) fn held_out(plan: &Plan) -> Vec<usize> {
    let mut held_out = canonical_order(plan);
    held_out.retain(|&scenario| plan.task.scenarios[scenario].held_out);
    held_out.sort_by_key(|scenario| plan.task.seen.contains(scenario));
    held_out
}

/// Returns a number that depends only on the run's seed and a block of trials.
fn coin(seed: u64, (scenario, nth): (usize, u32)) -> usize {
    let parts = [&seed.to_le_bytes()[..], &(scenario as u64).to_le_bytes(), &nth.to_le_bytes()];
    usize::from(Digest::of_parts(parts).as_bytes()[0])
}

/// Returns the scenarios in the order of the run's seed.
fn canonical_order(plan: &Plan) -> Vec<usize> {
    let mut order: Vec<usize> = (0..plan.task.scenarios.len()).collect();
    order.sort_by_cached_key(|&scenario| {
        let number = plan.task.number(scenario) as u64;
        Digest::of_parts([plan.seed.to_le_bytes().as_slice(), number.to_le_bytes().as_slice()])
    });
    order
}

/// Opens a round that measures a candidate, on some scenarios or, if none are named, on all.
pub(crate) fn open(run: &Run, candidate: CandidateId, scenarios: Vec<usize>) -> Next<'_> {
    Next::Decide(Decision::Open { round: run.round_number() + 1, candidate, scenarios })
}

/// Returns the open steps of the round that measures a candidate, or its scores.
pub(crate) fn next(run: &Run, candidate: CandidateId) -> Next<'_> {
    if run.state.measure.is_settled() {
        return Next::Decide(Decision::Scored(run.state.measure.summary(run, candidate, |_| true)));
    }
    Next::Do(Box::new(run.state.measure.steps(run)))
}
