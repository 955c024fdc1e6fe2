//! The judges of a final comparison, and the test of whether to trust them.
//!
//! ```text
//! a look's trials are judged -> anchors of the first judge -> close scenarios to the others -> their anchors -> the look
//! ```
//!
//! An anchor is a trial that a judge is asked about again, late, with two more statements: one known to be true, and
//! one known to be false. A judge that is wrong about those, or contradicts its earlier verdicts, is asked about more
//! trials, and dismissed if it fails those too: bad luck with a few makes no bad judge. No judge knows which version it
//! judges, and closeness does not depend on which version is ahead, so all this favours neither.

use super::control;
use crate::base::id::CandidateId;
use crate::judging::agreement;
use crate::judging::contract::{CriterionId, Verdict};
use crate::judging::judgement::{Finding, Judgement, Kind, VerdictShape};
use crate::judging::score::{self, Score};
use crate::loops::tune::anchor::Tally;
use crate::loops::tune::trial::graded;
use crate::loops::tune::trial::measure::{self, Measure, SEARCH, Unit};
use crate::loops::tune::{Answer, Asked, Decision, Next, Pair, Run, Seat, Step, StepState, Trial};
use crate::skills::offline;

/// The versions are close on a scenario if their scores differ by at most the worth of one statement in three.
const CLOSE: f64 = 34.0;
/// The number of a look's trials that each asked judge judges again. If only the challenger is tried, all are judged
/// again.
pub(crate) const ANCHORS: usize = 3;
/// The number for a judge that has failed those.
pub(crate) const MOST_ANCHORS: usize = 9;
/// How often each trial is judged again if the search tests while it edits.
pub(crate) const ANCHORS_OF_TESTS: usize = 2;

/// The state of the judges during a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The judge whose judgement counts where the others were not asked.
    pub(crate) first: Seat,
    dismissed: Vec<(Seat, Tally)>,
    /// The scenarios that all judge, in the order in which they were found to be close.
    pub close: Vec<usize>,
    /// The number of close scenarios after each look.
    heard: Vec<usize>,
    /// The measurements of those scenarios by each of the other judges.
    measures: Vec<Measure>,
}

impl Panel {
    fn is_dismissed(&self, seat: Seat) -> bool {
        self.dismissed.iter().any(|(one, _)| *one == seat)
    }

    /// Whether all judges are asked about a trial.
    fn is_asked(&self, trial: Trial) -> bool {
        trial.ordinal > SEARCH && self.close.contains(&trial.scenario)
    }

    /// Returns the trials that a judge was asked about in a comparison.
    fn measure_of<'a>(&'a self, run: &'a Run, seat: Seat) -> Option<&'a Measure> {
        let compared = Some(&run.state.measure).filter(|_| run.state.challenger.is_some());
        self.measures.iter().chain(compared).find(|measure| measure.seat() == seat)
    }

    /// Returns the measurements by judges other than the first.
    pub(crate) fn measures_mut(&mut self) -> &mut Vec<Measure> {
        &mut self.measures
    }

    /// Dismisses a judge. Returns whether there is a new first judge, who has to judge everything again.
    pub(crate) fn dismiss(
        &mut self,
        seat: Seat,
        tally: Tally,
        mut seats: impl Iterator<Item = Seat>,
    ) -> bool {
        self.dismissed.push((seat, tally));
        self.measures.retain(|measure| measure.seat() != seat);
        if seat != self.first {
            return false;
        }
        let next = seats.find(|seat| !self.is_dismissed(*seat));
        self.first = next.unwrap_or(seat);
        self.begin_anew();
        true
    }

    /// Forgets which scenarios were close, but not which judges were dismissed.
    pub(crate) fn begin_anew(&mut self) {
        let dismissed = std::mem::take(&mut self.dismissed);
        *self = Self { first: self.first, dismissed, ..Self::default() };
    }

    pub(crate) fn is_other(&self, seat: Seat) -> bool {
        seat != self.first && !self.is_dismissed(seat)
    }

    pub(crate) fn consult(
        &mut self,
        scenarios: impl Iterator<Item = usize>,
        others: &[Seat],
        make: impl Fn(&[usize], Seat) -> Measure,
    ) {
        self.close.extend(scenarios);
        self.heard.push(self.close.len());
        self.measures = others.iter().map(|seat| make(&self.close, *seat)).collect();
    }
}

/// Returns what must happen before a look, once its trials are judged.
pub(crate) fn hear(run: &Run) -> Option<Next<'_>> {
    if !run.plan.basis().is_tested() {
        return None;
    }
    let panel = &run.state.panel;
    if panel.heard.len() <= run.state.inconclusive_analyses {
        if let Some(next) = test(run, &run.state.measure) {
            return Some(next);
        }
        seated(run).nth(1)?;
        return Some(Next::Decide(Decision::Consult { scenarios: newly_close(run) }));
    }
    if panel.measures.iter().any(|measure| !measure.is_settled()) {
        return Some(Next::Do(Box::new(panel.measures.iter().flat_map(|measure| measure.steps(run)))));
    }
    panel.measures.iter().find_map(|measure| test(run, measure))
}

/// Returns the judges of a run that have not been dismissed.
pub fn seated(run: &Run) -> impl Iterator<Item = Seat> + '_ {
    seats(run).filter(|seat| !run.state.panel.is_dismissed(*seat))
}

/// Returns the judges that the run began with.
pub fn seats(run: &Run) -> impl Iterator<Item = Seat> + '_ {
    Seat::ALL.into_iter().filter(|seat| run.plan.roles.get(&seat.role()).is_some())
}

fn newly_close(run: &Run) -> Vec<usize> {
    let rows = run.interim_analyses()[run.state.inconclusive_analyses].pairs;
    let is_close = |pair: &Pair| pair.difference() != 0.0 && pair.difference().abs() <= CLOSE;
    let is_new = |scenario: &usize| !run.state.panel.close.contains(scenario);
    let close = pairs(run, &run.state.measure, rows).into_iter().filter(is_close).map(|pair| pair.scenario);
    close.filter(|scenario| run.plan.task.is_judged(*scenario)).filter(is_new).collect()
}

/// Asks the open anchors of a judge, and dismisses a judge that has failed them.
fn test<'a>(run: &'a Run, measure: &Measure) -> Option<Next<'a>> {
    let seat = measure.seat();
    match tally(run, measure) {
        Err(open) => Some(Next::Do(Box::new(open.into_iter()))),
        Ok(tally) if tally.is_failed() => Some(Next::Decide(Decision::Dismiss { seat, tally })),
        Ok(_) => None,
    }
}

/// Returns a judge's record at all looks so far, or the anchors that are still open.
fn tally(run: &Run, measure: &Measure) -> Result<Tally, Vec<Step>> {
    let seat = measure.seat();
    let cast = run.plan.roles.of(&seat.role());
    // The built-in judge has no statements, and the original's judges give only numbers.
    if cast.agent == offline::NAME || cast.verdict != VerdictShape::Evidenced {
        return Ok(Tally::default());
    }
    let mut sum = Tally::default();
    for (anchor, rows) in anchored_rows(run, measure).into_iter().enumerate() {
        let first = anchored(run, measure, rows, ANCHORS);
        sum = sum.plus(answered(run, seat, anchor, &first)?);
        if sum.is_failed() {
            let mut more = anchored(run, measure, rows, MOST_ANCHORS);
            more.retain(|unit| !first.contains(unit));
            sum = sum.plus(answered(run, seat, anchor, &more)?);
        }
    }
    Ok(sum)
}

/// Returns a judge's record in these anchors, or those that are still open.
fn answered(
    run: &Run,
    seat: Seat,
    analysis: usize,
    anchors: &[(CandidateId, Trial)],
) -> Result<Tally, Vec<Step>> {
    let (mut sum, mut open) = (Tally::default(), Vec::new());
    for &(candidate, trial) in anchors {
        let step = |anchor| judging(run, candidate, trial, Asked { seat, anchor });
        let (Some(plain), Some(anchor)) = (step(None), step(Some(analysis))) else { continue };
        let StepState::Answered(Answer::Judged(first)) = run.state_of(&plain) else {
            sum = sum.plus(Tally::SILENT);
            continue;
        };
        match run.state_of(&anchor) {
            StepState::Answered(Answer::Judged(second)) => sum = sum.plus(Tally::of(first, second)),
            StepState::GivenUp(_) => sum = sum.plus(Tally::SILENT),
            StepState::Answered(_) | StepState::Open => open.push(anchor),
        }
    }
    if open.is_empty() { Ok(sum) } else { Err(open) }
}

/// Returns the rows that a judge is asked about again: at each look or, of tests, several times at the only one.
fn anchored_rows(run: &Run, measure: &Measure) -> Vec<usize> {
    if measure.is_of_tests() {
        return vec![measure.scenarios().len(); ANCHORS_OF_TESTS];
    }
    if measure.seat() != run.state.panel.first {
        return run.state.panel.heard.clone();
    }
    run.interim_analyses()
        .into_iter()
        .take(run.state.inconclusive_analyses + 1)
        .map(|analysis| analysis.pairs)
        .collect()
}

/// Selects this many trials evenly from the first to the last of a look, or all if only the challenger is tried. If the
/// judge was not asked about one, takes the next.
fn anchored(run: &Run, measure: &Measure, rows: usize, most: usize) -> Vec<(CandidateId, Trial)> {
    let fresh = measure.units(rows);
    let control = control::trials(run);
    let is_unpaired = control.is_some();
    let of_start = control.into_iter().flatten().map(|trial| (run.start(), trial));
    let units: Vec<(CandidateId, Trial)> = of_start.chain(fresh).collect();
    let most = if is_unpaired { units.len() } else { most.min(units.len()) };
    let mut anchored: Vec<(CandidateId, Trial)> = Vec::new();
    for nth in 0..most {
        let from = nth * (units.len() - 1) / (most - 1).max(1);
        let was_asked = |(candidate, trial): &(CandidateId, Trial)| {
            judging(run, *candidate, *trial, Asked::of(measure.seat())).is_some_and(|step| {
                match run.state_of(&step) {
                    StepState::Answered(Answer::Judged(judgement)) => judgement.kind == Kind::Evidenced,
                    StepState::GivenUp(_) => true,
                    StepState::Answered(_) | StepState::Open => false,
                }
            })
        };
        let is_new = |unit: &&(CandidateId, Trial)| !anchored.contains(unit);
        let next = units[from..].iter().chain(&units[..from]).filter(is_new).find(|unit| was_asked(unit));
        anchored.extend(next.copied());
    }
    anchored
}

/// Returns the step that judges a trial whose members have all been run, or `None` if no judge is asked.
fn judging(run: &Run, candidate: CandidateId, trial: Trial, asked: Asked) -> Option<Step> {
    let of_run = run.candidate(candidate)?;
    let outcomes = measure::exercised(run, of_run, trial);
    let is_whole = outcomes.len() == of_run.trees.len() && run.plan.task.is_judged(trial.scenario);
    is_whole.then(|| measure::judging(&run.plan, candidate, trial, asked, &outcomes))
}

/// Returns the state of a candidate's trial: the next step, or the judgement that counts.
pub fn unit(run: &Run, candidate: CandidateId, trial: Trial) -> Unit<'_> {
    let first = if trial.ordinal == SEARCH { Seat::First } else { run.state.panel.first };
    match middle(run, candidate, trial) {
        Some(judgement) => Unit::Judged(judgement),
        None => measure::unit_by(run, candidate, trial, first),
    }
}

/// Returns the judgement of a trial, if there is one.
pub fn judgement(run: &Run, candidate: CandidateId, trial: Trial) -> Option<&Judgement> {
    unit(run, candidate, trial).judgement()
}

/// Whether a trial needs no more work.
pub(crate) fn is_settled(run: &Run, candidate: CandidateId, trial: Trial) -> bool {
    !matches!(unit(run, candidate, trial), Unit::Next(_) | Unit::Late)
}

/// Returns the results of the search's trials for each statement, as far as anything was verified.
pub(crate) fn findings<'a>(
    run: &'a Run,
    candidate: CandidateId,
    scenarios: &'a [usize],
    era: u32,
) -> impl Iterator<Item = (&'a CriterionId, bool)> {
    let found = all_findings(run, candidate, scenarios, era);
    found.filter_map(|one| Some((one.criterion, one.verdict.is_met()?)))
}

/// Returns the same with verdict and evidence.
pub(crate) fn all_findings<'a>(
    run: &'a Run,
    candidate: CandidateId,
    scenarios: &'a [usize],
    era: u32,
) -> impl Iterator<Item = Finding<'a>> {
    judgements(run, candidate, scenarios, era).flat_map(|judgement| judgement.whole.findings.iter())
}

/// Returns the judgements of the search's trials, if there are any.
pub(crate) fn judgements<'a>(
    run: &'a Run,
    candidate: CandidateId,
    scenarios: &'a [usize],
    era: u32,
) -> impl Iterator<Item = &'a Judgement> {
    let trials = scenarios.iter().map(move |&scenario| Trial { scenario, ordinal: SEARCH, era });
    trials.filter_map(move |trial| judgement(run, candidate, trial))
}

/// Returns the score of a trial, if it has one.
pub fn score_of(run: &Run, candidate: CandidateId, trial: Trial) -> Option<Score> {
    unit(run, candidate, trial).score()
}

/// Returns the score of a trial: the mean of its first judgement and of those as an anchor.
pub(crate) fn mean_score(run: &Run, candidate: CandidateId, trial: Trial) -> Option<Score> {
    let first = unit(run, candidate, trial);
    let again = |anchor| {
        let step = judging(run, candidate, trial, Asked { anchor: Some(anchor), ..Asked::default() })?;
        let StepState::Answered(Answer::Judged(again)) = run.state_of(&step) else { return None };
        graded::judged_again(&run.plan.task, trial.scenario, first.judgement()?, again)
    };
    let again = (0..ANCHORS_OF_TESTS).filter_map(again);
    score::mean(&first.score().into_iter().chain(again).collect::<Vec<_>>())
}

/// Returns the mean scores of both contestants on each of the first scenarios, over the trials with scores for both.
pub fn pairs(run: &Run, measure: &Measure, rows: usize) -> Vec<Pair> {
    let both = |scenario: usize| -> Option<Pair> {
        let (of_start, of_challenger): (Vec<Score>, Vec<Score>) = scored(run, measure, scenario).unzip();
        Some(Pair { scenario, start: score::mean(&of_start)?, challenger: score::mean(&of_challenger)? })
    };
    measure.scenarios().iter().take(rows).filter_map(|&scenario| both(scenario)).collect()
}

/// Returns by how many points the challenger is ahead in each trial of each pair.
pub(crate) fn differences(run: &Run, measure: &Measure) -> Vec<Vec<f64>> {
    let lead = |(start, challenger): (Score, Score)| challenger.points() - start.points();
    let of_pair = |&scenario: &usize| scored(run, measure, scenario).map(lead).collect();
    measure.scenarios().iter().map(of_pair).filter(|pair: &Vec<f64>| !pair.is_empty()).collect()
}

/// Returns the scores of start and challenger in each trial of a scenario that has scores for both.
fn scored<'a>(
    run: &'a Run,
    measure: &'a Measure,
    scenario: usize,
) -> impl Iterator<Item = (Score, Score)> + 'a {
    let both = <[CandidateId; 2]>::try_from(measure.contestants.as_slice()).ok();
    both.into_iter().flat_map(move |[start, challenger]| {
        measure.trials_of(scenario).filter_map(move |trial| {
            let score = |candidate| score_of(run, candidate, trial);
            score(start).zip(score(challenger))
        })
    })
}

/// Returns the judgement that counts if several judges were asked: the middle one or, of two, the lower one. A judge
/// without a judgement of one version does not count for the other either.
fn middle(run: &Run, candidate: CandidateId, trial: Trial) -> Option<&Judgement> {
    if !run.state.panel.is_asked(trial) || !run.state.measure.contestants.contains(&candidate) {
        return None;
    }
    let mut judged: Vec<&Judgement> =
        heard(run, trial).filter_map(|seat| measure::judged_by(run, candidate, trial, seat)).collect();
    let points = |judgement: &&Judgement| judgement.whole.scored.composite.map_or(-1.0, Score::points);
    judged.sort_by(|one, other| points(one).total_cmp(&points(other)));
    let middle = judged.len().checked_sub(1)? / 2;
    Some(judged[middle])
}

/// Returns the judges who have judged a trial of both versions.
fn heard(run: &Run, trial: Trial) -> impl Iterator<Item = Seat> + '_ {
    let contestants = &run.state.measure.contestants;
    seated(run)
        .filter(move |seat| contestants.iter().all(|id| measure::judged_by(run, *id, trial, *seat).is_some()))
}

/// Returns Krippendorff's alpha over all statements that several judges have judged. `None` if there are none, or if
/// all verdicts are the same.
pub fn agreement(run: &Run) -> Option<f64> {
    let measure = &run.state.measure;
    let trials = run.state.panel.close.iter().flat_map(|&scenario| measure.trials_of(scenario));
    let mut statements = Vec::new();
    for (trial, &candidate) in trials.flat_map(|trial| measure.contestants.iter().map(move |id| (trial, id)))
    {
        let judged: Vec<&Judgement> =
            heard(run, trial).filter_map(|seat| measure::judged_by(run, candidate, trial, seat)).collect();
        let Some(first) = judged.first() else { continue };
        // Automatic checks are the same for all judges.
        let is_judged = |one: &Finding<'_>| {
            let demand = run.plan.task.demand(one.criterion);
            demand.is_none_or(|demand| demand.how.question().is_some())
        };
        for one in first.whole.findings.iter().filter(is_judged) {
            let verdict = |judgement: &&Judgement| {
                let mut findings = judgement.whole.findings.iter();
                findings.find(|other| other.criterion == one.criterion).map(|other| other.verdict)
            };
            statements.push(
                judged.iter().filter_map(verdict).filter(|verdict| *verdict != Verdict::Unverified).collect(),
            );
        }
    }
    agreement::alpha(&statements)
}

/// One judge of a comparison, as shown to users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Juror {
    pub seat: Seat,
    pub tally: Tally,
    pub is_dismissed: bool,
}

/// Returns the judges that a comparison has asked, with their anchors.
pub fn jurors(run: &Run) -> Vec<Juror> {
    if !run.plan.basis().is_tested() {
        return Vec::new();
    }
    let panel = &run.state.panel;
    let asked = |seat: &Seat| panel.is_dismissed(*seat) || panel.measure_of(run, *seat).is_some();
    let juror = |seat| {
        let dismissed = panel.dismissed.iter().find(|(one, _)| *one == seat).map(|(_, tally)| *tally);
        let now = || panel.measure_of(run, seat).and_then(|measure| tally(run, measure).ok());
        Juror { seat, tally: dismissed.or_else(now).unwrap_or_default(), is_dismissed: dismissed.is_some() }
    };
    seats(run).filter(asked).map(juror).collect()
}
