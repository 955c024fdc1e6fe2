//! A trial of a scenario with demands: its checks are made, its expectations judged, and both form one judgement.
//!
//! ```text
//! exercised members -> Inspect (a member's checks) -> Check (a program, each) -> Grade (expectations) -> judgement
//! ```

use std::collections::BTreeMap;

use crate::base::id::CandidateId;
use crate::judging::contract::{Contract, Criterion, CriterionId, Dimension, Verdict};
use crate::judging::judgement::{Assessment, Finding, Findings, Judgement, Kind};
use crate::judging::score::Score;
use crate::loops::tune::{Answer, Asked, Run, Seat, Step, StepState, Task, Trial};
use crate::runs::event::Failure;
use crate::skills::target::Place;
use crate::suites::checks::{Check, CheckResult, How};
use crate::suites::demand::{self, Demand};
use crate::suites::scenario::Scenario;

/// The single dimension of a trial's outcome.
const OUTCOME: &str = "outcome";

/// Replaces the evidence if no check or judge gave a verdict on a demand.
const NO_VERDICT: &str = "no verdict was given";

/// The state of one unit.
#[derive(Debug)]
pub enum Unit<'a> {
    Judged(&'a Judgement),
    /// A member's agent did not finish, which may be the skill's fault: the trial scores 0.
    Failed {
        member: Place,
        failure: &'a Failure,
    },
    /// The trial could not be made or judged, through no fault of the skill.
    Missing(&'a Failure),
    Next(Step),
    /// Its last answer came after the measurement no longer asked for it.
    Late,
}

impl<'a> Unit<'a> {
    /// Returns the judgement, if there is one.
    pub fn judgement(&self) -> Option<&'a Judgement> {
        match self {
            Self::Judged(judgement) => Some(judgement),
            Self::Failed { .. } | Self::Missing(_) | Self::Next(_) | Self::Late => None,
        }
    }

    /// Returns the score of the trial, if it has one.
    pub fn score(&self) -> Option<Score> {
        match self {
            Self::Judged(judgement) => judgement.whole.scored.composite,
            Self::Failed { .. } => Some(Score::ZERO),
            Self::Missing(_) | Self::Next(_) | Self::Late => None,
        }
    }
}

/// The state of a trial whose members have all been run.
pub(crate) enum TrialState<'a> {
    Graded(Judgement),
    Open(Unit<'a>),
}

/// The verdict on each demand of a scenario, with its evidence.
type Verdicts = BTreeMap<CriterionId, (Verdict, Box<str>)>;

/// Evaluates a trial as far as there are answers; `outcomes` are those of the members.
pub(crate) fn trial_state<'a>(
    run: &'a Run,
    candidate: CandidateId,
    trial: Trial,
    seat: Seat,
    outcomes: &[&'a Answer],
) -> TrialState<'a> {
    let task = &run.plan.task;
    let scenario = &task.scenarios[trial.scenario];
    let mut verdicts = Verdicts::new();
    for step in machine_steps(task, trial, outcomes) {
        match run.state_of(&step) {
            StepState::Answered(Answer::Checked(results)) => {
                verdicts.extend(results.iter().filter_map(|result| of_machine(scenario, result)));
            }
            StepState::GivenUp(failure) => return TrialState::Open(Unit::Missing(failure)),
            StepState::Answered(_) | StepState::Open => return TrialState::Open(Unit::Next(step)),
        }
    }
    if expectations(scenario).is_none() {
        return TrialState::Graded(judgement(task, scenario, &verdicts, None));
    }
    let step = grade(candidate, trial, Asked::of(seat), outcomes);
    match run.state_of(&step) {
        StepState::Answered(Answer::Judged(judged)) => {
            let findings = judged.whole.findings.iter();
            verdicts.extend(findings.map(|one| (one.criterion.clone(), (one.verdict, one.evidence.into()))));
            TrialState::Graded(judgement(task, scenario, &verdicts, Some(judged)))
        }
        StepState::GivenUp(failure) => TrialState::Open(Unit::Missing(failure)),
        StepState::Answered(_) | StepState::Open => TrialState::Open(Unit::Next(step)),
    }
}

/// Lists immediate checks first, then those that need a program. Skips members without kept evidence.
fn machine_steps(task: &Task, trial: Trial, outcomes: &[&Answer]) -> Vec<Step> {
    let (mut inspections, mut programs) = (Vec::new(), Vec::new());
    for (nth, outcome) in outcomes.iter().enumerate() {
        let (member, Answer::Exercised { kept: Some(kept), .. }) = (Place(nth), outcome) else { continue };
        let checks: Vec<(usize, &Check)> = task.checks_of(trial.scenario, member).collect();
        if checks.iter().any(|(_, check)| !check.is_program()) {
            inspections.push(Step::Inspect { member, trial, kept: *kept });
        }
        programs.extend(checks.into_iter().filter_map(|(demand, check)| {
            let Check::Command { grader, .. } = check else { return None };
            Some(Step::Check { trial, demand, left: kept.left, grader: *grader })
        }));
    }
    inspections.append(&mut programs);
    inspections
}

pub(crate) fn grade(candidate: CandidateId, trial: Trial, asked: Asked, outcomes: &[&Answer]) -> Step {
    let (mut left, mut kept) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        if let Answer::Exercised { artifacts, kept: own, .. } = outcome {
            left.push(*artifacts);
            kept.extend(own.iter().map(|own| own.evidence));
        }
    }
    Step::Grade { candidate, trial, artifacts: left, evidence: kept, asked }
}

fn of_machine(scenario: &Scenario, result: &CheckResult) -> Option<(CriterionId, (Verdict, Box<str>))> {
    let verdict = match result.met {
        Some(true) => Verdict::Pass,
        Some(false) => Verdict::Fail,
        None => Verdict::Unverified,
    };
    let demand = scenario.demands.get(result.check)?;
    Some((scenario.criterion(demand), (verdict, result.details.clone())))
}

/// Returns what a judge is asked about a scenario's expectations, if it has any.
pub(crate) fn expectations(scenario: &Scenario) -> Option<Contract> {
    let criterion = |demand: &Demand| {
        let text = demand.how.question()?;
        let text = match &demand.member {
            Some(member) => format!("(of what {member} produced) {text}").into(),
            None => text.into(),
        };
        let (id, dimension) = (scenario.criterion(demand), OUTCOME.into());
        Some(Criterion { id, dimension, text, of_effect: false, needs: None })
    };
    let criteria: Vec<_> = scenario.demands.iter().filter_map(criterion).collect();
    let outcome = Dimension { id: OUTCOME.into(), name: "Outcome".into(), weight: 1.0 };
    (!criteria.is_empty()).then_some(Contract { dimensions: vec![outcome], criteria })
}

/// Combines one finding for each demand, with the overall score; in a chain also for each member with demands.
fn judgement(task: &Task, scenario: &Scenario, verdicts: &Verdicts, judged: Option<&Judgement>) -> Judgement {
    let assess = |among: &dyn Fn(&Demand) -> bool| {
        let demands: Vec<&Demand> = scenario.demands.iter().filter(|demand| among(demand)).collect();
        let ids: Vec<CriterionId> = demands.iter().map(|demand| scenario.criterion(demand)).collect();
        let found = ids.iter().map(|criterion| match verdicts.get(criterion) {
            Some((verdict, evidence)) => Finding { criterion, verdict: *verdict, evidence },
            None => Finding { criterion, verdict: Verdict::Unverified, evidence: NO_VERDICT },
        });
        let findings: Findings = found.collect();
        let weighed = demands.into_iter().zip(findings.iter().map(|finding| finding.verdict));
        let scored = demand::scored(weighed);
        Assessment { findings, scored }
    };
    let places = (0..task.target.members.len()).map(Place);
    let members = places.filter(|_| task.target.members.len() > 1).filter_map(|place| {
        let is_its = |demand: &Demand| task.member_of(demand) == place;
        let name = task.target.members[place.0].name.to_string();
        scenario.demands.iter().any(is_its).then(|| (name, assess(&is_its)))
    });
    Judgement {
        kind: judged.map_or(Kind::Evidenced, |judged| judged.kind),
        whole: assess(&|_| true),
        members: members.collect(),
        strengths: judged.map(|judged| judged.strengths.clone()).unwrap_or_default(),
        weaknesses: judged.map(|judged| judged.weaknesses.clone()).unwrap_or_default(),
        suggestions: Vec::new(),
        claim: None,
        at_fault: judged.map(|judged| judged.at_fault.clone()).unwrap_or_default(),
    }
}

/// Returns the score of a trial after a second judgement. Automatic checks, and statements that the judge could not
/// verify this time, keep their verdicts. `None` if nothing is demanded.
pub(crate) fn judged_again(
    task: &Task,
    scenario: usize,
    first: &Judgement,
    again: &Judgement,
) -> Option<Score> {
    let scenario = task.scenarios.get(scenario)?;
    let verdicts = scenario.demands.iter().map(|demand| {
        let id = scenario.criterion(demand);
        let of = |judgement: &Judgement| {
            let mut findings = judgement.whole.findings.iter().filter(|one| *one.criterion == id);
            findings.next().map(|one| one.verdict).filter(|verdict| *verdict != Verdict::Unverified)
        };
        (demand, of(again).or_else(|| of(first)).unwrap_or(Verdict::Unverified))
    });
    demand::scored(verdicts).composite
}

impl Task {
    /// Returns the automatic checks of one member's work, with their indexes among the demands of a scenario.
    pub fn checks_of(&self, scenario: usize, member: Place) -> impl Iterator<Item = (usize, &Check)> {
        let demands = self.scenarios[scenario].demands.iter().enumerate();
        demands.filter(move |(_, demand)| self.member_of(demand) == member).filter_map(|(nth, demand)| {
            match &demand.how {
                How::Check(check) => Some((nth, check)),
                How::Question { .. } => None,
            }
        })
    }

    /// Returns the member whose work a demand is about.
    pub fn member_of(&self, demand: &Demand) -> Place {
        let members = &self.target.members;
        let named =
            demand.member.as_ref().and_then(|name| members.iter().position(|member| member.name == *name));
        Place(named.unwrap_or(members.len() - 1))
    }

    /// Whether the trials of a scenario are scored by its demands.
    pub fn is_graded(&self, scenario: usize) -> bool {
        !self.scenarios[scenario].demands.is_empty()
    }

    /// Whether a judge is asked about the trials of a scenario.
    pub fn is_judged(&self, scenario: usize) -> bool {
        !self.is_graded(scenario) || expectations(&self.scenarios[scenario]).is_some()
    }

    /// Whether some scenario has demands, so that its trials are scored by their outcome.
    pub fn has_demands(&self) -> bool {
        (0..self.scenarios.len()).any(|scenario| self.is_graded(scenario))
    }
}
