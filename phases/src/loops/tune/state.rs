//! The state of a run of `tune`: the fold of its decisions. What follows from it is decided in `tune`.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::candidate::{Candidate, Origin};
use crate::contract::CriterionId;
use crate::event::{Failure, FailureKind};
use crate::id::CandidateId;
use crate::judgement::Judgement;
use crate::run::{Change, Fold};
use crate::score::Score;
use crate::stop::Reason;
use crate::target::Place;

use super::measure::{Graded, Measure};
use super::{Answer, Decision, Ending, Measured, Plan, Run, Shipment, Step, Trial, Tune, Why};

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub candidates: Vec<Candidate>,
    pub rounds: Vec<Round>,
    /// What is being measured: the newest round's candidate, or the contestants of the final comparison.
    pub measure: Measure,
    /// What has come of the trials of scenarios that demand something.
    pub graded: HashMap<(CandidateId, Trial), Judgement>,
    /// That of all trials from here on.
    pub era: u32,
    pub focus: Option<Place>,
    pub stopped: Option<Reason>,
    pub shipment: Option<Shipment>,
    pub closed: Option<Ending>,
    /// Those of the contract, held once for all judgements.
    criteria: Arc<[CriterionId]>,
}

/// One round: a measurement, and the edit that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    pub number: u32,
    pub candidate: CandidateId,
    /// That of its trials.
    pub era: u32,
    pub started_at: Timestamp,
    pub scored_at: Option<Timestamp>,
    pub measured: Option<Measured>,
    pub standing: Option<Standing>,
    pub edit: Option<Edit>,
    /// The members at which an edit came to nothing.
    pub tried: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    Kept,
    Dropped(Why),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A candidate, and how this round's improver came to it: the same content may have been drafted before.
    Draft {
        candidate: CandidateId,
        origin: Origin,
    },
    Nothing {
        member: Place,
        failure: Failure,
    },
}

impl State {
    fn begin(plan: &Plan) -> Self {
        Self {
            candidates: vec![plan.start()],
            rounds: Vec::new(),
            measure: Measure::default(),
            graded: HashMap::new(),
            era: 0,
            focus: None,
            stopped: None,
            shipment: None,
            closed: None,
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

/// A step is tried once, and once more, in each round and in the final comparison.
pub(super) const TRIES: u32 = 2;

impl Fold for Tune {
    type State = State;
    /// A new round, or the final comparison.
    type Stage = (usize, bool);

    fn begin(plan: &Plan, _: Timestamp) -> State {
        State::begin(plan)
    }

    fn fold(run: &mut Run, change: &Change<'_, Self>, at: Timestamp) {
        match *change {
            Change::Decided(decision) => decided(run, decision, at),
            Change::Ended(Step::Review { .. }) => in_measure(run, Measure::look_at_reviews),
            Change::Ended(Step::SetUp { .. }) => in_measure(run, Measure::look),
            Change::Remeasure => remeasure(run),
            Change::Ended(step) => {
                if let Some(trial) = step.trial() {
                    in_measure(run, |measure, run| measure.look_at_trial(run, trial));
                }
            }
            Change::Resumed => {}
        }
    }

    /// Ten thousand judgements share one list of criteria.
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

    fn tries(_: &Run) -> u32 {
        TRIES
    }
}

fn decided(run: &mut Run, decision: &Decision, at: Timestamp) {
    let state = &mut run.state;
    match decision {
        Decision::Open { round, candidate } => {
            state.rounds.push(Round::open(*round, *candidate, state.era, at));
            let measure = Measure::round(&run.plan, *candidate, state.era);
            set_measure(run, measure);
        }
        Decision::Scored(measured) => state.in_round(|round| {
            round.measured = Some(measured.clone());
            round.scored_at = Some(at);
        }),
        Decision::Keep(_) => state.in_round(|round| round.standing = Some(Standing::Kept)),
        Decision::Drop { why, .. } => {
            state.in_round(|round| round.standing = Some(Standing::Dropped(why.clone())));
        }
        Decision::Focus(place) => state.focus = Some(*place),
        Decision::Draft(candidate) => state.draft(candidate),
        Decision::NoDraft { member, failure } => state.in_round(|round| {
            round.edit = Some(Edit::Nothing { member: *member, failure: failure.clone() });
            round.tried.push(*member);
        }),
        Decision::Stop(reason) => state.stopped = Some(*reason),
        Decision::Compare(contestants) => {
            let measure = Measure::fresh(&run.plan, contestants.clone(), state.era);
            set_measure(run, measure);
        }
        Decision::Ship(shipment) => state.shipment = Some(shipment.clone()),
        Decision::Close(ending) => {
            state.closed = Some(*ending);
            run.closed_at = Some(at);
        }
    }
}

/// What is being measured is measured anew.
fn remeasure(run: &mut Run) {
    let state = &mut run.state;
    state.era += 1;
    let measure = match (state.stopped, state.rounds.last_mut()) {
        (None, Some(round)) if round.measured.is_none() => {
            round.era = state.era;
            Measure::round(&run.plan, round.candidate, state.era)
        }
        (Some(_), _) if state.measure.contestants.len() > 1 => {
            Measure::fresh(&run.plan, state.measure.contestants.clone(), state.era)
        }
        _ => return,
    };
    set_measure(run, measure);
}

fn set_measure(run: &mut Run, measure: Measure) {
    run.state.measure = measure;
    in_measure(run, Measure::look);
}

fn in_measure(run: &mut Run, look: impl FnOnce(&mut Measure, &Run) -> Graded) {
    let mut measure = std::mem::take(&mut run.state.measure);
    let graded = look(&mut measure, run);
    run.state.measure = measure;
    run.state.graded.extend(graded);
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
            standing: None,
            edit: None,
            tried: Vec::new(),
        }
    }

    pub fn score(&self) -> Option<Score> {
        self.measured.as_ref().and_then(|measured| measured.score)
    }

    /// A round fails when an agent failed it. An idea that came to nothing is no failure.
    pub fn failed(&self) -> bool {
        let unmeasured = self.measured.as_ref().is_some_and(|measured| measured.score.is_none());
        let unedited = match &self.edit {
            Some(Edit::Nothing { failure, .. }) => failure.kind != FailureKind::Gate,
            Some(Edit::Draft { .. }) | None => false,
        };
        unmeasured || unedited
    }
}
