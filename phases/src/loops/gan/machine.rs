//! The state machine: decides what comes next, as a function of the run alone.

use super::contract::Contract;
use super::course::{Choice, Ending, NextAction, Question};
use super::decision::{Decision, End};
use super::negotiation::{Negotiation, Turn};
use super::step::{Answer, Reading, Step};
use super::{Apply, Next, Plan, Run, judgement};
use crate::base::id::TreeId;
use crate::base::role::Role;
use crate::loops::MostCalls;
use crate::runs::event::Failure;
use crate::runs::run::StepState;

pub(super) fn next(run: &Run) -> Next<'_> {
    let state = &run.state;
    if run.closed_at.is_some() {
        return Next::End;
    }
    if state.end.is_some() {
        return run.tail().map_or_else(Next::one, |_| Next::Decide(Decision::Close));
    }
    let Some(contract) = state.contract() else { return negotiate(run) };
    if run.has_to_ask_for_commands() {
        return Next::one(Step::Allow);
    }
    if let Some(artifact) = state.judging {
        return judge(run, contract, artifact, Reading::First);
    }
    if let Some(sprint) = state.sprints.last().filter(|sprint| sprint.artifact.is_none()) {
        let step = Step::Build { sprint: sprint.number, from: sprint.from };
        return after(run, step, |answer| match answer {
            Answer::Built { artifact, .. } => Some(Decision::Built { artifact: *artifact }),
            _ => None,
        });
    }
    match state.course.follow(contract, &run.plan.task.rules, state.era) {
        NextAction::Build { sprint, from, focus } => Next::Decide(Decision::Sprint {
            number: sprint,
            from: from.unwrap_or(run.plan.task.start),
            focus: Box::new(focus),
        }),
        NextAction::Judge { artifact } => Next::Decide(Decision::Again { artifact }),
        NextAction::Second { artifact } => judge(run, contract, artifact, Reading::Second),
        NextAction::Question(hold) => ask(run, hold),
        NextAction::End(ending) => ended(run, ending, None),
    }
}

/// Returns the decision that follows from the answer of a step, once it has one. A step that is given up ends the run.
fn after(run: &Run, step: Step, comes_to: impl Fn(&Answer) -> Option<Decision>) -> Next<'_> {
    match run.state_of(&step) {
        StepState::Open => Next::one(step),
        StepState::GivenUp(Failure { why, .. }) => failed(run, why),
        StepState::Answered(answer) => {
            comes_to(answer).map_or_else(|| failed(run, "the answer does not fit the step"), Next::Decide)
        }
    }
}

fn failed<'a>(run: &Run, why: &str) -> Next<'a> {
    ended(run, Ending::Failed, Some(why.to_owned()))
}

fn ended<'a>(run: &Run, ending: Ending, note: Option<String>) -> Next<'a> {
    Next::Decide(Decision::Ended(End { ending, result: run.left_by(ending), note }))
}

/// Lets both sides negotiate a contract, or takes the one that the profile asks for.
fn negotiate(run: &Run) -> Next<'_> {
    let task = &run.plan.task;
    if !task.negotiated {
        return Next::Decide(Decision::Agreed(Box::new(task.asked.clone())));
    }
    let Some(negotiation) = &run.state.negotiation else {
        return after(run, Step::Draft, |answer| match answer {
            Answer::Drafted(draft) => Some(Decision::Drafted(draft.clone())),
            _ => None,
        });
    };
    match negotiation.turn(&task.rules) {
        Turn::Builder { round } => after(run, Step::Propose { round }, |answer| match answer {
            Answer::Proposed(proposals) => Some(Decision::Proposed(proposals.clone())),
            _ => None,
        }),
        Turn::Evaluator { round } => after(run, Step::Rule { round }, |answer| match answer {
            Answer::Ruled(rulings) => Some(Decision::Ruled(rulings.clone())),
            _ => None,
        }),
        Turn::Settled => settle(run, negotiation),
    }
}

fn settle<'a>(run: &Run, negotiation: &Negotiation) -> Next<'a> {
    match negotiation.contract(&run.plan.task.asked) {
        Ok(contract) => Next::Decide(Decision::Agreed(Box::new(contract))),
        Err(foul) => failed(run, &foul.to_string()),
    }
}

/// Runs machine checks first, then asks a judge about what they leave open. If the browser fails, the others decide.
fn judge<'a>(run: &'a Run, contract: &Contract, artifact: TreeId, reading: Reading) -> Next<'a> {
    let browse = run.plan.task.browser.is_some().then_some(Step::Browse { artifact });
    let may_run = run.may_run(run.plan.task.commands, &Step::Allow) == Some(true);
    let tests = contract.test_scenarios.iter().filter(|test| may_run && test.command().is_some());
    let tries = tests.map(|test| Step::Try { artifact, scenario: test.id.clone() });
    let machines = std::iter::once(Step::Inspect { artifact }).chain(browse).chain(tries);
    let open: Vec<Step> = machines.filter(|step| run.state_of(step) == StepState::Open).collect();
    if !open.is_empty() {
        return Next::Do(Box::new(open.into_iter()));
    }
    let (sprint, era) = (run.state.sprints.len(), run.state.era);
    let step = Step::Judge { artifact, sprint, contract: contract.hash(), reading, era };
    after(run, step, |answer| match answer {
        Answer::Judged(verdicts) => {
            let evaluation = Box::new(judgement::evaluation(run, artifact, reading, verdicts));
            let wanted = verdicts.wanted.clone();
            Some(Decision::Judged { artifact, reading, evaluation, wanted })
        }
        _ => None,
    })
}

fn ask(run: &Run, hold: Question) -> Next<'_> {
    let step = Step::Ask { hold, after: run.state.course.rounds.len() };
    after(run, step, |answer| match answer {
        Answer::Chosen { choice, by } if run.may_choose(hold, choice) => {
            Some(Decision::Answered { hold, choice: choice.clone(), by: *by })
        }
        _ => None,
    })
}

/// Returns the step that promotes or proposes the result. Only a result that has passed, or that a person has accepted,
/// goes into a person's folder or repository.
pub(super) fn tail(run: &Run) -> Vec<Step> {
    let is_taken = |end: &End| matches!(end.ending, Ending::Reached | Ending::Forced | Ending::Accepted);
    let (task, is_taken) = (&run.plan.task, run.state.end.as_ref().is_some_and(is_taken));
    match (run.result().filter(|_| is_taken && task.into.is_some()), task.apply) {
        (None, _) | (_, Apply::Never) => Vec::new(),
        (Some(artifact), Apply::Auto) => vec![Step::Promote { artifact }],
        (Some(artifact), Apply::Propose(form)) => vec![Step::Commit { artifact, form }],
    }
}

impl Run {
    /// Returns the commands of test scenarios, to show to a person.
    pub fn commands(&self) -> impl Iterator<Item = &[String]> {
        let contract = self.state.contract().into_iter();
        contract.flat_map(|contract| &contract.test_scenarios).filter_map(|test| test.command())
    }

    /// Whether the next step is to ask a person if they may run.
    pub fn has_to_ask_for_commands(&self) -> bool {
        self.may_run(self.plan.task.commands, &Step::Allow).is_none() && self.commands().next().is_some()
    }

    /// Whether this choice answers the question and can be carried out.
    pub fn may_choose(&self, hold: Question, choice: &Choice) -> bool {
        let Some(contract) = self.state.contract() else { return false };
        let can_be_done = match choice {
            Choice::Refocus { dimension } => contract.dimension(dimension).is_some(),
            Choice::Amend { changes } => contract.amended(changes).is_ok(),
            Choice::Guide { text } => !text.trim().is_empty(),
            Choice::Force | Choice::Accept | Choice::Stop | Choice::Abort => true,
        };
        can_be_done && hold.allows(choice)
    }

    /// Returns the choice when no person answers.
    pub fn unattended(&self, hold: Question) -> Choice {
        let (state, task) = (&self.state, &self.plan.task);
        let contract = state.contract().unwrap_or(&task.asked);
        let tried = state.sprints.last().map(|sprint| &sprint.focus.priority);
        state.course.unattended(hold, (contract, &task.rules, state.era), tried)
    }
}

/// Returns the maximum number of calls of a run in which no person asks for more: every step with all its retries, and
/// every round judged twice if a pass is.
pub(super) fn most_calls(plan: &Plan) -> MostCalls {
    let (task, rules) = (&plan.task, &plan.task.rules);
    let tries = u64::from(task.retries) + 1;
    let rounds = u64::from(rules.max_rounds.max(1));
    let talks = if task.negotiated { u64::try_from(rules.negotiation_rounds).unwrap_or(u64::MAX) } else { 0 };
    let readings = if rules.judge_twice { 2 } else { 1 };
    let evaluator = readings * rounds + talks + u64::from(task.negotiated);
    MostCalls::from([
        (Role::BUILDER, tries.saturating_mul(rounds + talks)),
        (Role::EVALUATOR, tries.saturating_mul(evaluator)),
    ])
}
