//! A measurement: some candidates on every scenario, in one canonical order.
//!
//! A unit is one candidate on one scenario, once: its members in order, then the judge, or the checks and the judge of what a
//! scenario demands. The units are gone through in an order that comes from the run's seed, scenario by scenario and the
//! contestants side by side, so that the same answers give the same run whatever order they arrived in. Where trials are
//! scored by what comes of them, the text of a candidate is reviewed once, last.

pub use super::graded::Unit;
use super::graded::{self, Stand};
use super::{Answer, Measured, Plan, Run, Step, StepState, Trial};
use crate::candidate::Candidate;
use crate::contract::DimensionId;
use crate::event::Failure;
use crate::id::{CandidateId, Digest, TreeId};
use crate::judgement::{Assessment, Judgement, Kind};
use crate::score::{self, Score};
use crate::target::Place;

/// The ordinal of the trials made while searching; those of the final comparison follow it.
pub const SEARCH: u32 = 0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measure {
    pub contestants: Vec<CandidateId>,
    first_ordinal: u32,
    ordinals: u32,
    era: u32,
    order: Vec<usize>,
    /// Where in the order each scenario stands, if it is in it.
    rows: Vec<Option<usize>>,
    /// Which units are judged or given up; after those of all trials come the reviews.
    done: Vec<bool>,
    /// How many leading units are.
    settled: usize,
}

impl Measure {
    /// One candidate, once on every scenario of the search.
    pub fn round(plan: &Plan, candidate: CandidateId, era: u32) -> Self {
        let round = Self::over(plan, searched(plan), vec![candidate], (SEARCH, 1), era);
        if plan.task.has_demands() { round.with_reviews() } else { round }
    }

    /// The contestants of the final comparison, on trials of their own.
    pub fn fresh(plan: &Plan, contestants: Vec<CandidateId>, era: u32) -> Self {
        // Where none are wanted, this is asked for only because the scores of the search cannot be compared.
        let trials = (SEARCH + 1, plan.task.rules.confirm.max(1));
        Self::over(plan, compared(plan), contestants, trials, era)
    }

    fn over(
        plan: &Plan,
        order: Vec<usize>,
        contestants: Vec<CandidateId>,
        (first_ordinal, ordinals): (u32, u32),
        era: u32,
    ) -> Self {
        let mut rows = vec![None; plan.task.scenarios.len()];
        order.iter().enumerate().for_each(|(row, &scenario)| rows[scenario] = Some(row));
        let done = vec![false; order.len() * ordinals as usize * contestants.len()];
        Self { contestants, first_ordinal, ordinals, era, order, rows, done, settled: 0 }
    }

    fn with_reviews(mut self) -> Self {
        self.done.extend(vec![false; self.contestants.len()]);
        self
    }

    /// How many of the units are trials.
    fn tried(&self) -> usize {
        self.order.len() * self.ordinals as usize * self.contestants.len()
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

    /// The steps that can be taken now, in canonical order; at most one a unit.
    pub fn steps<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = Step> + 'a {
        let open = (self.settled..self.len()).filter(|&index| !self.done[index]);
        open.filter_map(|index| match self.unit(run, index) {
            Unit::Next(step) => Some(step),
            Unit::Judged(_) | Unit::Missing(_) | Unit::Late => None,
        })
    }

    /// Looks at all units: much may have been answered before the measurement began. What it grades is for the state.
    #[must_use]
    pub(crate) fn look(&mut self, run: &Run) -> Graded {
        self.look_at(run, 0..self.len())
    }

    #[must_use]
    pub(crate) fn look_at_reviews(&mut self, run: &Run) -> Graded {
        self.look_at(run, self.tried()..self.len())
    }

    /// Looks at the units that an answer about this trial can have settled, so that each answer costs the same.
    #[must_use]
    pub(crate) fn look_at_trial(&mut self, run: &Run, trial: Trial) -> Graded {
        let nth = trial.ordinal.checked_sub(self.first_ordinal).filter(|nth| *nth < self.ordinals);
        let nth = nth.filter(|_| trial.era == self.era);
        let row = self.rows.get(trial.scenario).copied().flatten();
        let (Some(nth), Some(row)) = (nth, row) else { return Graded::new() };
        let first = (row * self.ordinals as usize + nth as usize) * self.contestants.len();
        self.look_at(run, first..first + self.contestants.len())
    }

    fn look_at(&mut self, run: &Run, units: std::ops::Range<usize>) -> Graded {
        let mut graded = Graded::new();
        for index in units {
            if self.done[index] {
                continue;
            }
            match self.stand(run, index) {
                Stand::Open(Unit::Next(_)) => {}
                Stand::Open(Unit::Judged(_) | Unit::Missing(_) | Unit::Late) => self.done[index] = true,
                Stand::Graded(judgement) => {
                    let (candidate, trial) = self.place(index).expect("only trials are graded");
                    graded.push(((candidate, trial), judgement));
                    self.done[index] = true;
                }
            }
        }
        self.settled += self.done[self.settled..].iter().take_while(|done| **done).count();
        graded
    }

    /// What the judged units say of one contestant; scenarios for which `among` is false are left out.
    pub fn summary(&self, run: &Run, candidate: CandidateId, among: impl Fn(usize) -> bool) -> Measured {
        let judgements: Vec<_> = self
            .trials()
            .filter(|trial| among(trial.scenario))
            .filter_map(|trial| judged(run, candidate, trial))
            .collect();
        let review = reviewed(run, candidate, self.era).filter(|_| run.plan.task.has_demands());
        summarise(&run.plan, &judgements, review, self.order.len() * self.ordinals as usize)
    }

    /// Whether every contestant has a score on every one of this scenario's trials.
    pub fn paired(&self, run: &Run, scenario: usize) -> bool {
        self.contestants.iter().all(|&candidate| {
            self.trials()
                .filter(|trial| trial.scenario == scenario)
                .all(|trial| judged(run, candidate, trial).is_some())
        })
    }

    pub fn scenarios(&self) -> &[usize] {
        &self.order
    }

    fn trials(&self) -> impl Iterator<Item = Trial> + '_ {
        self.order
            .iter()
            .flat_map(move |&scenario| (0..self.ordinals).map(move |nth| self.trial(scenario, nth)))
    }

    fn unit<'a>(&self, run: &'a Run, index: usize) -> Unit<'a> {
        match self.place(index) {
            Some((candidate, trial)) => unit(run, candidate, trial),
            None => review(run, self.contestants[index - self.tried()], self.era),
        }
    }

    fn stand<'a>(&self, run: &'a Run, index: usize) -> Stand<'a> {
        match self.place(index) {
            Some((candidate, trial)) => stand(run, candidate, trial),
            None => Stand::Open(self.unit(run, index)),
        }
    }

    /// Whose trial a unit is; none, if it is a review.
    fn place(&self, index: usize) -> Option<(CandidateId, Trial)> {
        let (row, column) = (index / self.contestants.len(), index % self.contestants.len());
        let scenario = *self.order.get(row / self.ordinals as usize).filter(|_| index < self.tried())?;
        let nth = u32::try_from(row % self.ordinals as usize).unwrap_or(u32::MAX);
        Some((self.contestants[column], self.trial(scenario, nth)))
    }

    fn trial(&self, scenario: usize, nth: u32) -> Trial {
        Trial { scenario, ordinal: self.first_ordinal + nth, era: self.era }
    }

    /// How many trials each contestant has on a scenario.
    pub fn trials_each(&self) -> u32 {
        self.ordinals
    }
}

/// What trials have come to whose demands are all answered.
pub(crate) type Graded = Vec<((CandidateId, Trial), Judgement)>;

/// Where a candidate stands on one trial: what is to be done next, or the judgement.
pub fn unit(run: &Run, candidate: CandidateId, trial: Trial) -> Unit<'_> {
    if let Some(judgement) = run.state.graded.get(&(candidate, trial)) {
        return Unit::Judged(judgement);
    }
    match stand(run, candidate, trial) {
        Stand::Open(unit) => unit,
        Stand::Graded(_) => Unit::Late,
    }
}

fn stand(run: &Run, candidate: CandidateId, trial: Trial) -> Stand<'_> {
    let trees = &run.candidate(candidate).expect("measured candidates are candidates of the run").trees;
    let mut outcomes: Vec<&Answer> = Vec::with_capacity(trees.len());
    let start = match start(run, trial.scenario) {
        Start::Ready(start) => start,
        Start::Missing(failure) => return Stand::Open(Unit::Missing(failure)),
        Start::Next(step) => return Stand::Open(Unit::Next(step)),
    };
    for (place, &skill) in trees.iter().enumerate() {
        let input = outcomes.last().copied().and_then(tree_of).or(start);
        let step = exercise(&run.plan, Place(place), skill, trial, input);
        match run.state_of(&step) {
            StepState::Answered(outcome @ Answer::Exercised { .. }) => outcomes.push(outcome),
            StepState::GivenUp(failure) => return Stand::Open(Unit::Missing(failure)),
            StepState::Answered(_) | StepState::Open => return Stand::Open(Unit::Next(step)),
        }
    }
    if run.plan.task.is_graded(trial.scenario) {
        return graded::stand(run, candidate, trial, &outcomes);
    }
    let artifacts = outcomes.into_iter().filter_map(tree_of).collect();
    Stand::Open(judging(run, Step::Judge { candidate, trial, artifacts }))
}

fn judging(run: &Run, step: Step) -> Unit<'_> {
    match run.state_of(&step) {
        StepState::Answered(Answer::Judged(judgement)) => Unit::Judged(judgement),
        StepState::GivenUp(failure) => Unit::Missing(failure),
        StepState::Answered(_) | StepState::Open => Unit::Next(step),
    }
}

/// Where the review of a candidate's text stands.
pub fn review(run: &Run, candidate: CandidateId, era: u32) -> Unit<'_> {
    judging(run, Step::Review { candidate, era })
}

/// The judgement of a candidate's text, where there is one.
pub fn reviewed(run: &Run, candidate: CandidateId, era: u32) -> Option<&Judgement> {
    match review(run, candidate, era) {
        Unit::Judged(judgement) => Some(judgement),
        Unit::Missing(_) | Unit::Next(_) | Unit::Late => None,
    }
}

fn exercise(plan: &Plan, member: Place, skill: TreeId, trial: Trial, input: Option<TreeId>) -> Step {
    Step::Exercise { member, skill, trial, input, graded: plan.task.is_graded(trial.scenario) }
}

/// Where the workspace of a scenario stands.
enum Start<'a> {
    Ready(Option<TreeId>),
    Missing(&'a Failure),
    Next(Step),
}

fn start(run: &Run, scenario: usize) -> Start<'_> {
    let told = &run.plan.task.scenarios[scenario];
    if told.setup.is_none() {
        return Start::Ready(told.files);
    }
    let step = Step::SetUp { scenario, files: told.files };
    match run.state_of(&step) {
        StepState::Answered(Answer::SetUp { tree }) => Start::Ready(Some(*tree)),
        StepState::GivenUp(failure) => Start::Missing(failure),
        StepState::Answered(_) | StepState::Open => Start::Next(step),
    }
}

/// What the executor of a scenario finds in its workspace, where that is known.
pub fn starting(run: &Run, scenario: usize) -> Option<TreeId> {
    match start(run, scenario) {
        Start::Ready(tree) => tree,
        Start::Missing(_) | Start::Next(_) => None,
    }
}

/// What a candidate's members left on one trial, as far as they were run.
pub fn artifacts(run: &Run, candidate: &Candidate, trial: Trial) -> Vec<TreeId> {
    let trees = exercised(run, candidate, trial).into_iter().filter_map(tree_of);
    trees.collect()
}

/// What came of a candidate's members on one trial, as far as they were run.
pub fn exercised<'a>(run: &'a Run, candidate: &Candidate, trial: Trial) -> Vec<&'a Answer> {
    let mut outcomes: Vec<&Answer> = Vec::new();
    for (place, &skill) in candidate.trees.iter().enumerate() {
        let input = outcomes.last().copied().and_then(tree_of).or_else(|| starting(run, trial.scenario));
        let step = exercise(&run.plan, Place(place), skill, trial, input);
        let StepState::Answered(outcome @ Answer::Exercised { .. }) = run.state_of(&step) else { break };
        outcomes.push(outcome);
    }
    outcomes
}

fn tree_of(outcome: &Answer) -> Option<TreeId> {
    let Answer::Exercised { artifacts, .. } = outcome else { return None };
    Some(*artifacts)
}

/// A judgement that has a score.
fn judged(run: &Run, candidate: CandidateId, trial: Trial) -> Option<&Judgement> {
    match unit(run, candidate, trial) {
        Unit::Judged(judgement) => judgement.whole.scored.composite.map(|_| judgement),
        Unit::Missing(_) | Unit::Next(_) | Unit::Late => None,
    }
}

/// A review tells of the text what no trial was asked about.
fn summarise(plan: &Plan, judgements: &[&Judgement], review: Option<&Judgement>, of: usize) -> Measured {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let whole = |judgement: &&Judgement| judgement.whole.scored.composite;
    #[expect(clippy::cast_precision_loss, reason = "numbers of scenarios are far below 2^52")]
    let covered = !judgements.is_empty() && judgements.len() as f64 >= plan.task.rules.coverage * of as f64;
    Measured {
        score: mean(judgements.iter().map(whole)).filter(|_| covered),
        dimensions: plan
            .task
            .contract
            .dimensions
            .iter()
            .map(|one| &one.id)
            .map(|id| mean(judgements.iter().copied().chain(review).map(|one| dimension(&one.whole, id))))
            .collect(),
        members: member_scores(plan, judgements, review),
        judged: count(judgements.len()),
        of: count(of),
        claimed: judgements.iter().any(|judgement| judgement.kind == Kind::Claimed),
        claim: mean(judgements.iter().map(|judgement| judgement.claim)),
        quality: review.and_then(|review| review.whole.scored.composite),
    }
}

/// A member of which no scenario demands anything is known by its text.
fn member_scores(plan: &Plan, judgements: &[&Judgement], review: Option<&Judgement>) -> Vec<Option<Score>> {
    if !plan.is_chain() {
        return Vec::new();
    }
    let score = |judgement: &Judgement, name: &str| judgement.members.get(name)?.scored.composite;
    let members = plan.task.target.members.iter().map(|member| &member.name);
    let of_trials = |name| mean(judgements.iter().map(|judgement| score(judgement, name)));
    members.map(|name| of_trials(name).or_else(|| review.and_then(|review| score(review, name)))).collect()
}

fn dimension(assessment: &Assessment, id: &DimensionId) -> Option<Score> {
    assessment.scored.dimensions.iter().find(|(known, _)| known == id).and_then(|(_, score)| *score)
}

fn mean(scores: impl Iterator<Item = Option<Score>>) -> Option<Score> {
    score::mean(&scores.flatten().collect::<Vec<_>>())
}

/// The scenarios that a search tries its candidates on, in the canonical order.
pub fn searched(plan: &Plan) -> Vec<usize> {
    let order = canonical_order(plan);
    order.into_iter().filter(|&scenario| !plan.task.scenarios[scenario].held_out).collect()
}

/// Those that the final comparison rests on: what was held out for it, or, where nothing was, all.
pub fn compared(plan: &Plan) -> Vec<usize> {
    let order = canonical_order(plan);
    let (held_out, searched): (Vec<_>, Vec<_>) =
        order.into_iter().partition(|&scenario| plan.task.scenarios[scenario].held_out);
    if held_out.is_empty() { searched } else { held_out }
}

/// The scenarios in the order of the run's seed.
fn canonical_order(plan: &Plan) -> Vec<usize> {
    let mut order: Vec<usize> = (0..plan.task.scenarios.len()).collect();
    order.sort_by_key(|&scenario| {
        Digest::of_parts([plan.seed.to_le_bytes().as_slice(), (scenario as u64).to_le_bytes().as_slice()])
    });
    order
}
