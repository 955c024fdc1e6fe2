//! The state of a run of `tune`: the fold of its decisions. The code in `tune` decides what follows from it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use crate::base::id::CandidateId;
use crate::base::role::RoleSpec;
use crate::judging::contract::CriterionId;
use crate::judging::judgement::Judgement;
use crate::judging::score::Score;
use crate::judging::stop::Reason;
use crate::runs::event::{Failure, FailureKind};
use crate::runs::run::{Change, Fold};
use crate::skills::candidate::{Candidate, Origin};
use crate::skills::target::Place;

use super::compare::control;
use super::compare::extension::Extensions;
use super::compare::panel::{self, Panel};
use super::decision::Visible;
use super::evidence::beliefs::Beliefs;
use super::evidence::credit;
use super::evidence::faults::{Fault, Faults};
use super::known;
use super::trial::measure::{Graded, Measure};
use super::{
    Answer, Decision, Ending, Event, Improver, Measured, Plan, Run, Search, Seat, Shipment, Sides, Step,
    StepState, StoredTest, Trial, Tune, Why,
};

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub candidates: Vec<Candidate>,
    pub rounds: Vec<Round>,
    /// The current measurement: of the newest round's candidate, or of the contestants of the final comparison.
    pub measure: Measure,
    /// The number of looks at it that were not conclusive.
    pub inconclusive_analyses: usize,
    pub retrial: Option<Retrial>,
    /// The challenger of the start in the final comparison, once that has begun.
    pub challenger: Option<CandidateId>,
    /// The trials of each version there, if different from the rules.
    pub trials: Option<u32>,
    pub extensions: Extensions,
    /// The judges of the final comparison.
    pub panel: Panel,
    /// The judgements of trials of scenarios with demands.
    pub graded: HashMap<(CandidateId, Trial, Seat), Judgement>,
    /// The era of all trials from here on.
    pub era: u32,
    pub focus: Option<Place>,
    pub stopped: Option<Reason>,
    pub shipment: Option<Shipment>,
    pub shipped_at: Option<Timestamp>,
    /// Used by a search that edits after each trial.
    pub beliefs: Beliefs,
    pub faults: Faults,
    /// Used by a run that calibrates.
    pub visible: Option<Visible>,
    pub closed: Option<Ending>,
    /// The scenarios in whose trials an agent opened a forbidden path: see [`Answer::Exercised`].
    pub opened: BTreeSet<(usize, Box<str>)>,
    /// The criteria of the contract, shared by all judgements.
    criteria: Arc<[CriterionId]>,
}

/// The retry of scenarios on which a winner lost much.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrial {
    pub measure: Measure,
    pub won: Shipment,
}

/// One round: a measurement, and the edit that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    pub number: u32,
    pub candidate: CandidateId,
    /// The era of its trials.
    pub era: u32,
    pub started_at: Timestamp,
    pub scored_at: Option<Timestamp>,
    pub measured: Option<Measured>,
    pub result: Option<RoundResult>,
    pub edit: Option<Edit>,
    /// The failed edits, oldest first. In a search by drafts another one follows in the same round.
    pub failed_edits: Vec<FailedEdit>,
    /// The scenarios on which its candidate is tried.
    pub scenarios: Vec<usize>,
    /// The improver that makes its edit, if there are several.
    pub turn: Option<Improver>,
    /// The faults that its edit must fix, if it targets only some.
    pub targets: Option<Vec<CriterionId>>,
    /// The statements that failed in its trials, for a search that edits after each.
    pub faults: Vec<Fault>,
    /// The member of a chain that is edited because of them.
    pub member: Option<Place>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RoundResult {
    Kept,
    Dropped(Why),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A candidate, and how this round's improver made it: the same content may have been drafted before.
    Draft {
        candidate: CandidateId,
        origin: Origin,
    },
    Nothing {
        member: Place,
        failure: Failure,
    },
}

/// A failed edit: its improver, member and target faults.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedEdit {
    pub member: Place,
    pub by: Improver,
    pub targets: Vec<CriterionId>,
    pub failure: Failure,
}

impl FailedEdit {
    /// Whether the improver made an edit that is not valid. Any other failed edit is a failure of the improver.
    pub(super) fn is_refused(&self) -> bool {
        self.failure.kind == FailureKind::Gate
    }
}

impl State {
    fn begin(plan: &Plan) -> Self {
        // A journal written by someone else may list more trees.
        let trees =
            |sides: &Sides| sides.trees.iter().copied().take(plan.task.target.members.len()).collect();
        let given = plan.task.aim.sides().map(|sides| Candidate::original(trees(sides)));
        let tests = plan.task.regraded().into_iter().flat_map(|of| &of.tests);
        let tested = tests.map(StoredTest::version);
        Self {
            candidates: std::iter::once(plan.start()).chain(given).chain(tested).collect(),
            rounds: Vec::new(),
            measure: Measure::default(),
            inconclusive_analyses: 0,
            retrial: None,
            challenger: None,
            trials: None,
            extensions: Extensions::default(),
            panel: Panel::default(),
            graded: HashMap::new(),
            era: plan.task.regraded().map_or(0, |of| of.era),
            focus: None,
            stopped: None,
            shipment: None,
            shipped_at: None,
            beliefs: Beliefs::default(),
            faults: Faults::default(),
            visible: None,
            closed: None,
            opened: BTreeSet::new(),
            criteria: plan.task.contract.criteria.iter().map(|criterion| criterion.id.clone()).collect(),
        }
    }

    fn draft(&mut self, candidate: &Candidate) {
        if !self.candidates.iter().any(|known| known.id == candidate.id) {
            self.candidates.push(candidate.clone());
        }
        if let Some(origin) = candidate.origin.clone() {
            self.in_round(|round| round.edit = Some(Edit::Draft { candidate: candidate.id, origin }));
        }
    }

    fn in_round(&mut self, change: impl FnOnce(&mut Round)) {
        if let Some(round) = self.rounds.last_mut() {
            change(round);
        }
    }
}

/// Each step is tried at most twice, in each round and in the final comparison.
pub(super) const TRIES: u32 = 2;

impl Fold for Tune {
    type State = State;
    /// A new round, or the final comparison.
    type Stage = (usize, bool);

    fn roles(_: &Plan) -> Vec<RoleSpec> {
        Self::ROLES.to_vec()
    }

    fn begin(plan: &Plan, _: Timestamp) -> State {
        State::begin(plan)
    }

    fn knows(plan: &Plan, event: &Event) -> bool {
        known::knows(plan, event)
    }

    fn closes(decision: &Decision) -> bool {
        matches!(decision, Decision::Close(_))
    }

    fn fold(run: &mut Run, change: &Change<'_, Self>, at: Timestamp) {
        match *change {
            Change::Decided(decision) => decided(run, decision, at),
            Change::Ended(Step::JudgeText { .. }) => in_measures(run, Measure::check_texts),
            Change::Ended(Step::SetUp { .. }) => in_measures(run, Measure::check),
            Change::Remeasure => remeasure(run),
            Change::Ended(step) => {
                if let Some(trial) = step.trial() {
                    note_opened(run, step, trial);
                    in_measures(run, |measure, run| measure.check_trial(run, trial));
                }
            }
            Change::Resumed => {}
        }
    }

    /// Shares one list of criteria among all judgements, of which there can be ten thousand.
    fn compact(state: &State, mut answer: Answer) -> Answer {
        if let Answer::Judged(judgement) = &mut answer {
            judgement.share(&state.criteria);
        }
        answer
    }

    fn round(run: &Run) -> u32 {
        run.round_number()
    }

    fn stage(run: &Run) -> (usize, bool) {
        (run.state.rounds.len(), run.state.stopped.is_some())
    }

    fn is_result(step: &Step, failure: &Failure) -> bool {
        matches!(step, Step::Exercise { .. }) && failure.kind.is_scored()
    }

    fn tries(_: &Run) -> u32 {
        TRIES
    }
}

fn note_opened(run: &mut Run, step: &Step, trial: Trial) {
    if let StepState::Answered(Answer::Exercised { opened: Some(path), .. }) = run.state_of(step) {
        let opened = (trial.scenario, path.clone());
        run.state.opened.insert(opened);
    }
}

fn decided(run: &mut Run, decision: &Decision, at: Timestamp) {
    // A journal written by someone else may contain any candidate.
    if let Decision::Open { candidate, .. } | Decision::Compare { challenger: candidate, .. } = decision
        && run.candidate(*candidate).is_none()
    {
        return;
    }
    let state = &mut run.state;
    match decision {
        Decision::Open { round, candidate, scenarios } => {
            // A new judge measures stored trials before they are compared again.
            state.challenger = None;
            let measure = Measure::round(&run.plan, *candidate, scenarios, state.era);
            let scenarios = measure.scenarios().to_vec();
            state.rounds.push(Round { scenarios, ..Round::open(*round, *candidate, state.era, at) });
            set_measure(run, measure);
        }
        Decision::Scored(measured) => {
            state.in_round(|round| {
                round.measured = Some(measured.clone());
                round.scored_at = Some(at);
            });
            learn(run);
        }
        Decision::Calibrate(visible) => state.visible = Some((**visible).clone()),
        Decision::Keep(_) => state.in_round(|round| round.result = Some(RoundResult::Kept)),
        Decision::Drop { why, .. } => {
            state.in_round(|round| round.result = Some(RoundResult::Dropped(why.clone())));
        }
        Decision::Target { criteria, member } => {
            let member = member.filter(|place| place.0 < run.plan.task.target.members.len());
            target(state, criteria, member);
        }
        Decision::Focus(place) => state.focus = Some(*place),
        // A journal written by someone else may contain an improver that the run does not have.
        Decision::Turn(by) if run.plan.roles.get(&by.role()).is_some() => {
            state.in_round(|round| round.turn = Some(*by));
        }
        Decision::Turn(_) => {}
        Decision::Draft(candidate) => {
            state.draft(candidate);
            expect(run);
        }
        Decision::NoDraft { member, failure } => state.in_round(|round| {
            round.edit = Some(Edit::Nothing { member: *member, failure: failure.clone() });
            round.failed_edits.push(FailedEdit {
                member: *member,
                by: round.by(),
                targets: round.targets.clone().unwrap_or_default(),
                failure: failure.clone(),
            });
        }),
        Decision::Stop(reason) => state.stopped = Some(*reason),
        Decision::Compare { challenger, trials } => {
            (state.challenger, state.trials) = (Some(*challenger), *trials);
            compare(run);
        }
        Decision::LookAgain { .. } if state.shipment.is_none() => state.inconclusive_analyses += 1,
        Decision::LookAgain { .. } => {
            if run.reopen() {
                judge_all(run);
            }
        }
        Decision::Dismiss { seat, tally } => {
            let mut panel = std::mem::take(&mut state.panel);
            let begins_anew = panel.dismiss(*seat, *tally, panel::seats(run));
            run.state.panel = panel;
            if begins_anew {
                let inconclusive_analyses = run.state.inconclusive_analyses;
                judge_all(run);
                run.state.inconclusive_analyses = inconclusive_analyses;
            }
        }
        Decision::Consult { scenarios } => {
            let mut panel = std::mem::take(&mut state.panel);
            let others: Vec<Seat> = panel::seats(run).filter(|seat| panel.is_other(*seat)).collect();
            let all = run.plan.task.scenarios.len();
            let close = scenarios.iter().copied().filter(|scenario| *scenario < all);
            panel.consult(close, &others, |close, seat| run.state.measure.of(&run.plan, close, seat));
            run.state.panel = panel;
            in_measures(run, Measure::check);
        }
        Decision::Retry { scenarios, won } => {
            let both = std::iter::once(run.start()).chain(run.state.challenger).collect();
            let measure = Measure::again(run, scenarios.clone(), both).by(run.state.panel.first);
            run.state.retrial = Some(Retrial { measure, won: won.clone() });
            in_measures(run, Measure::check);
        }
        Decision::Ship(shipment) => {
            (state.shipment, state.shipped_at) = (Some(shipment.clone()), Some(at));
        }
        Decision::Close(ending) => state.closed = Some(*ending),
    }
}

/// Updates the beliefs with the trials of the newest round, in a search that edits after each trial.
fn learn(run: &mut Run) {
    let Some(round) = run.state.rounds.last() else { return };
    if run.plan.task.rules.search == Search::Rounds {
        return;
    }
    let (place, number, era) = (run.state.rounds.len() - 1, round.number, round.era);
    let shown = credit::shown(run, round.candidate, &round.scenarios, era);
    let State { beliefs, faults, rounds, .. } = &mut run.state;
    beliefs.observe(era, &shown);
    let (own, followed) = faults.observe((place, number, era), shown, beliefs);
    for (round, fault, recheck) in followed {
        rounds[round].faults[fault].next = Some(recheck);
    }
    rounds[place].faults = own;
}

/// Sets the faults that the newest round edits next. Includes faults of earlier rounds, and ends a failed edit.
fn target(state: &mut State, criteria: &[CriterionId], member: Option<Place>) {
    let Some((round, before)) = state.rounds.split_last_mut() else { return };
    let is_own = |id: &CriterionId, round: &Round| round.faults.iter().any(|fault| fault.criterion == *id);
    for id in criteria {
        let mut earlier = before.iter().rev().flat_map(|round| &round.faults);
        let earlier = earlier.find(|fault| fault.criterion == *id && !is_own(id, round));
        if let Some(fault) = earlier {
            state.faults.follow(before.len(), round.faults.len(), fault);
            round.faults.push(Fault { next: None, ..fault.clone() });
        }
    }
    (round.targets, round.member) = (Some(criteria.to_vec()), member);
    if matches!(round.edit, Some(Edit::Nothing { .. })) {
        (round.edit, round.turn) = (None, None);
    }
}

/// Updates the beliefs with the expected effect of the newest round's edit.
fn expect(run: &mut Run) {
    if run.plan.task.rules.search == Search::Rounds {
        return;
    }
    let State { beliefs, rounds, .. } = &mut run.state;
    if let Some(round) = rounds.last()
        && let Some(Edit::Draft { origin, .. }) = &round.edit
    {
        let targets = round.targets.iter().flatten().map(|id| run.plan.task.statement(id));
        beliefs.edit(origin.member, &targets.collect::<Vec<_>>());
    }
}

/// Restarts the current measurement.
fn remeasure(run: &mut Run) {
    let state = &mut run.state;
    state.era += 1;
    let measure = match (state.stopped, state.rounds.last_mut()) {
        (None, Some(round)) if round.measured.is_none() => {
            round.era = state.era;
            Measure::round(&run.plan, round.candidate, &round.scenarios, state.era)
        }
        (_, _) if state.challenger.is_some() => return compare(run),
        _ => return,
    };
    set_measure(run, measure);
}

/// Starts a comparison, with all judges of the run.
fn compare(run: &mut Run) {
    run.state.panel = Panel::default();
    run.state.extensions.begin_anew();
    judge_all(run);
}

fn judge_all(run: &mut Run) {
    set_measure(run, control::measure(run));
}

fn set_measure(run: &mut Run, measure: Measure) {
    (run.state.measure, run.state.inconclusive_analyses, run.state.retrial) = (measure, 0, None);
    in_measures(run, Measure::check);
}

fn in_measures(run: &mut Run, check: impl Fn(&mut Measure, &Run) -> Graded) {
    let mut measure = std::mem::take(&mut run.state.measure);
    let graded = check(&mut measure, run);
    run.state.measure = measure;
    run.state.graded.extend(graded);
    let mut others = std::mem::take(run.state.panel.measures_mut());
    for measure in &mut others {
        let graded = check(measure, run);
        run.state.graded.extend(graded);
    }
    *run.state.panel.measures_mut() = others;
    if let Some(mut retrial) = run.state.retrial.take() {
        let graded = check(&mut retrial.measure, run);
        run.state.retrial = Some(retrial);
        run.state.graded.extend(graded);
    }
}

impl Round {
    fn open(number: u32, candidate: CandidateId, era: u32, started_at: Timestamp) -> Self {
        Self {
            number,
            candidate,
            era,
            started_at,
            scored_at: None,
            measured: None,
            result: None,
            edit: None,
            failed_edits: Vec::new(),
            scenarios: Vec::new(),
            turn: None,
            targets: None,
            faults: Vec::new(),
            member: None,
        }
    }

    pub(super) fn has_failed_at(&self, member: Place) -> bool {
        self.failed_edits.iter().any(|edit| edit.member == member)
    }

    /// Returns the improver that makes its edit.
    pub fn by(&self) -> Improver {
        self.turn.unwrap_or_default()
    }

    /// Returns the faults that its edit targets, in the order in which they were chosen.
    pub fn aims(&self) -> impl Iterator<Item = &Fault> {
        let targets = self.targets.iter().flatten();
        targets.filter_map(|id| self.faults.iter().find(|fault| fault.criterion == *id))
    }

    pub fn score(&self) -> Option<Score> {
        self.measured.as_ref().and_then(|measured| measured.score)
    }

    /// Whether an agent failed the round. An edit that the gates refused is not a failure.
    pub fn failed(&self) -> bool {
        let unmeasured = self.measured.as_ref().is_some_and(|measured| measured.score.is_none());
        let unedited = match &self.edit {
            Some(Edit::Nothing { failure, .. }) => failure.kind != FailureKind::Gate,
            Some(Edit::Draft { .. }) | None => false,
        };
        unmeasured || unedited
    }
}
