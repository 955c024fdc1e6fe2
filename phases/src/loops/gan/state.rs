//! The state of a run of `gan`: the fold of its decisions.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::answers::Notes;
use super::contract::Contract;
use super::course::{Answered, Choice, Focus, Round, Rounds};
use super::decision::{Decision, End};
use super::inspect::{Inspection, MachineResult, ScenarioResult};
use super::negotiation::{Negotiation, Round as Exchange};
use super::step::{Answer, Reading, Step};
use super::{Gan, Plan, Run};
use crate::base::id::{Digest, TreeId};
use crate::base::role::RoleSpec;
use crate::runs::run::{Change, Fold, StepState};

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub negotiation: Option<Negotiation>,
    /// Each contract replaces the one before it.
    pub contracts: Vec<Contract>,
    pub sprints: Vec<Sprint>,
    pub course: Rounds,
    /// The artifact that is judged next.
    pub judging: Option<TreeId>,
    /// The era of all verdicts from now on.
    pub era: u32,
    pub end: Option<End>,
    pub ended_at: Option<Timestamp>,
}

/// One build, and its focus.
#[derive(Clone, Debug, PartialEq)]
pub struct Sprint {
    pub number: u32,
    pub begun: Timestamp,
    pub from: TreeId,
    pub focus: Focus,
    /// The hash of the contract that it was built for.
    pub contract: Digest,
    pub artifact: Option<TreeId>,
}

impl Fold for Gan {
    type State = State;
    /// No step is the same in two stages.
    type Stage = ();

    fn roles(_: &Plan) -> Vec<RoleSpec> {
        Self::ROLES.to_vec()
    }

    fn begin(_: &Plan, _: Timestamp) -> State {
        State {
            negotiation: None,
            contracts: Vec::new(),
            sprints: Vec::new(),
            course: Rounds::default(),
            judging: None,
            era: 0,
            end: None,
            ended_at: None,
        }
    }

    fn closes(decision: &Decision) -> bool {
        matches!(decision, Decision::Close)
    }

    fn fold(run: &mut Run, change: &Change<'_, Self>, at: Timestamp) {
        match change {
            Change::Decided(decision) => decided(run, decision, at),
            Change::Remeasure => run.state.era += 1,
            Change::Ended(_) | Change::Resumed => {}
        }
    }

    fn round(run: &Run) -> u32 {
        run.state.sprints.last().map_or(0, |sprint| sprint.number)
    }

    fn stage(_: &Run) {}

    fn tries(run: &Run) -> u32 {
        run.plan.task.retries + 1
    }
}

fn decided(run: &mut Run, decision: &Decision, at: Timestamp) {
    let state = &mut run.state;
    match decision {
        Decision::Drafted(draft) => {
            state.negotiation = Some(Negotiation { draft: draft.clone(), rounds: Vec::new() });
        }
        Decision::Proposed(proposals) => {
            let exchange = Exchange { proposals: proposals.clone(), rulings: Vec::new() };
            state.negotiation.iter_mut().for_each(|talk| talk.rounds.push(exchange.clone()));
        }
        Decision::Ruled(rulings) => {
            let newest = state.negotiation.as_mut().and_then(|talk| talk.rounds.last_mut());
            if let Some(round) = newest {
                round.rulings.clone_from(rulings);
            }
        }
        Decision::Agreed(contract) => state.contracts.push(contract.as_ref().clone()),
        Decision::Sprint { number, from, focus } => {
            let contract = state.contract().map_or(Digest::of(&[]), Contract::hash);
            let (number, from, focus) = (*number, *from, focus.as_ref().clone());
            state.sprints.push(Sprint { number, begun: at, from, focus, contract, artifact: None });
        }
        Decision::Built { artifact } => {
            state.judging = Some(*artifact);
            state.sprints.iter_mut().next_back().into_iter().for_each(|last| last.artifact = Some(*artifact));
        }
        Decision::Again { artifact } => state.judging = Some(*artifact),
        Decision::Judged { artifact, reading, evaluation, wanted } => {
            let (era, evaluation) = (state.era, evaluation.as_ref().clone());
            match reading {
                Reading::First => {
                    state.judging = None;
                    let sprints = u32::try_from(state.sprints.len()).unwrap_or(u32::MAX);
                    let (artifact, wanted) = (*artifact, wanted.clone());
                    let round = Round { sprints, artifact, era, first: evaluation, second: None, wanted };
                    state.course.rounds.push(round);
                }
                Reading::Second => {
                    if let Some(round) = state.course.rounds.last_mut() {
                        round.second = Some(evaluation);
                    }
                }
            }
        }
        Decision::Answered { hold, choice, by } => {
            if let Choice::Amend { changes } = choice
                && let Some(Ok(amended)) = state.contract().map(|contract| contract.amended(changes))
            {
                state.contracts.push(amended);
            }
            let (after, choice) = (state.course.rounds.len(), choice.clone());
            state.course.answers.push(Answered { after, hold: *hold, choice, by: *by });
        }
        Decision::Ended(end) => (state.end, state.ended_at) = (Some(end.clone()), Some(at)),
        Decision::Close => {}
    }
}

impl State {
    /// Returns the contract in force, once there is one.
    pub fn contract(&self) -> Option<&Contract> {
        self.contracts.last()
    }

    /// Returns the newest sprint that has made this artifact.
    pub fn sprint_of(&self, artifact: TreeId) -> Option<&Sprint> {
        self.sprints.iter().rev().find(|sprint| sprint.artifact == Some(artifact))
    }

    /// Returns all guidance that a person has given the builder.
    pub fn guidance(&self) -> impl Iterator<Item = &str> {
        self.course.answers.iter().filter_map(|answered| match &answered.choice {
            Choice::Guide { text } => Some(&**text),
            _ => None,
        })
    }
}

impl Run {
    /// Returns the builder's notes on a sprint.
    pub fn notes(&self, sprint: &Sprint) -> Option<&Notes> {
        match self.state_of(&Step::Build { sprint: sprint.number, from: sprint.from }) {
            StepState::Answered(Answer::Built { notes, .. }) => Some(notes),
            _ => None,
        }
    }

    /// Returns the machine results for an artifact so far: for each check the result of the best means.
    pub fn check_results(&self, artifact: TreeId) -> Vec<MachineResult> {
        let mut best: Vec<MachineResult> = Vec::new();
        for result in self.inspections(artifact).flat_map(|(inspection, _)| &inspection.checks) {
            match best.iter_mut().find(|known| known.check == result.check) {
                None => best.push(result.clone()),
                Some(known) => {
                    // A browser outranks the source, and a decided result outranks an undecided one. Only a browser can
                    // decide whether a reader sees a text.
                    let rank = |result: &MachineResult| {
                        (result.is_unverified() && !result.check.is_of_sight(), result.by)
                    };
                    if rank(result) < rank(known) {
                        *known = result.clone();
                    }
                }
            }
        }
        best.sort_by_key(|result| result.check);
        best
    }

    /// Returns the results of the test scenarios so far.
    pub fn scenario_results(&self, artifact: TreeId) -> Vec<ScenarioResult> {
        self.inspections(artifact).flat_map(|(inspection, _)| inspection.scenarios.iter().cloned()).collect()
    }

    /// Returns the screenshots of a browser.
    pub fn screens(&self, artifact: TreeId) -> Option<TreeId> {
        self.inspections(artifact).find_map(|(_, screens)| screens)
    }

    /// Returns what kept the machines from checking more.
    pub fn limits(&self, artifact: TreeId) -> impl Iterator<Item = &str> {
        self.inspections(artifact).flat_map(|(inspection, _)| inspection.notes.iter().map(AsRef::as_ref))
    }

    fn inspections(&self, artifact: TreeId) -> impl Iterator<Item = (&Inspection, Option<TreeId>)> {
        // Includes test scenarios of earlier contracts, because the reports of their time show them.
        let tests: BTreeSet<_> =
            self.state.contracts.iter().flat_map(|one| &one.test_scenarios).map(|test| &test.id).collect();
        let tries = tests.into_iter().map(move |test| Step::Try { artifact, scenario: test.clone() });
        let inspections = [Step::Inspect { artifact }, Step::Browse { artifact }];
        inspections.into_iter().chain(tries).filter_map(|step| match self.state_of(&step) {
            StepState::Answered(Answer::Inspected { inspection, screens }) => Some((&**inspection, *screens)),
            _ => None,
        })
    }
}
