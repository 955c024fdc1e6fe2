//! The state machine: decides what comes next, as a function of the run alone.

use std::collections::BTreeSet;

use crate::base::id::TreeId;
use crate::base::role::Role;
use crate::judging::stop;
use crate::loops::MostCalls;
use crate::runs::event::{Failure, FailureKind};
use crate::runs::run::StepState;

use super::checks::{self, CheckKind, CheckResult};
use super::criteria::{CATEGORIES, Level, Rule};
use super::decision::{Decision, Phase, Reason, Status, Stop};
use super::sections::Changed;
use super::state::Done;
use super::step::{Answer, Artifact, Step};
use super::verdict::{self, RuleResult};
use super::{Next, Plan, Run};

pub(super) fn next(run: &Run) -> Next<'_> {
    if run.closed_at.is_some() {
        return Next::End;
    }
    if run.state.stop.is_some() {
        return Next::Decide(Decision::Close);
    }
    match run.state.phase {
        Some(phase) => carry_on(run, phase),
        None => follow(run),
    }
}

/// Returns the next decision of a run that a person stops: it keeps the answers so far, then ends. A success stays one.
pub(super) fn stop(run: &Run, reason: Option<&str>) -> Option<Decision> {
    let is_success = |stop: &Stop| stop.reason.status() == Status::Completed;
    let kept = match next(run) {
        Next::End => return None,
        Next::Do(_) => None,
        Next::Decide(Decision::Stop(stop)) => is_success(&stop).then_some(Decision::Stop(stop)),
        Next::Decide(decision @ (Decision::Close | Decision::Agreed(_))) => Some(decision),
        Next::Decide(decision) => run.state.phase.map(|_| decision),
    };
    let ended = || Decision::Stop(Stop { reason: Reason::UserStop, note: reason.map(str::to_owned) });
    Some(kept.or_else(|| written_alone(run)).unwrap_or_else(ended))
}

/// Keeps the new text of a phase that ends without its checks, because it is already paid for.
fn written_alone(run: &Run) -> Option<Decision> {
    let state = &run.state;
    let has_no_checks = state.phase == Some(Phase::ProducePrepare) && state.prepared.is_none();
    match run.state_of(&Step::Produce { iteration: state.iteration, from: None }) {
        StepState::Answered(Answer::Written(artifact))
            if has_no_checks && state.artifact.as_ref() != Some(&**artifact) =>
        {
            Some(Decision::Produced { artifact: artifact.clone(), checks: None })
        }
        StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
    }
}

/// Returns what follows the last completed work.
fn follow(run: &Run) -> Next<'_> {
    let state = &run.state;
    match state.done {
        Done::Nothing if run.plan.task.confirmed.is_none() => agree(run),
        Done::Nothing => enter(run, Phase::Plan),
        Done::Advance if state.anew => enter(run, Phase::Plan),
        Done::Phase(Phase::Plan) => enter(run, Phase::ProducePrepare),
        Done::Switch if state.prepared < Some(state.level) => enter(run, Phase::Prepare),
        Done::Phase(Phase::ProducePrepare | Phase::Prepare) | Done::Switch | Done::Advance => evaluate(run),
        Done::Phase(Phase::Evaluate) => judge(run),
        Done::Phase(Phase::Critique) => enter(run, Phase::Refine),
        Done::Phase(Phase::Refine) => Next::Decide(Decision::Advance(state.iteration + 1)),
    }
}

/// Has rules proposed for the task if requested, then asks for agreement to the result.
fn agree(run: &Run) -> Next<'_> {
    let asked = run.plan.task.setup.proposals.map(|_| run.state_of(&Step::Propose));
    match (asked, run.state_of(&Step::Agree)) {
        (Some(StepState::Open), _) => take([Step::Propose]),
        (Some(StepState::GivenUp(failure)), _) => failed(&failure.why),
        (_, StepState::Answered(Answer::Agreed(terms))) => Next::Decide(Decision::Agreed(terms.clone())),
        _ => take([Step::Agree]),
    }
}

/// Begins a phase, unless the time of the run is used up.
fn enter(run: &Run, phase: Phase) -> Next<'_> {
    if !is_over_time(run) {
        return Next::Decide(Decision::Enter(phase));
    }
    stop_for(if settled(run, true) { Reason::NoMajorIssues } else { Reason::BudgetExceeded })
}

/// Whether completed phases have used up the agreed time. That ends a run, as in the original.
fn is_over_time(run: &Run) -> bool {
    run.plan.task.rules.max_seconds.is_some_and(|most| run.state.clock.seconds() >= most)
}

/// Returns the first stop rule that holds, if any. Of the resources, time comes before iterations.
fn rule(run: &Run) -> Option<Reason> {
    match stop::judge(&run.plan.task.rules.limits(), &run.series()) {
        None | Some(stop::Reason::Exhausted) if is_over_time(run) => Some(Reason::BudgetExceeded),
        rule => rule.map(Reason::from),
    }
}

fn stop_for<'a>(reason: Reason) -> Next<'a> {
    Next::Decide(Decision::Stop(reason.into()))
}

/// Asks about commands between two phases, so time spent waiting for a person is not counted. A question without a
/// result allows nothing, and is asked again before the next evaluation.
fn evaluate(run: &Run) -> Next<'_> {
    let unasked =
        |level: &Level| run.proposed_commands(*level).next().is_some() && run.may_check(*level).is_none();
    match Level::ALL.into_iter().filter(|level| *level <= run.state.level).find(unasked) {
        Some(level) if !is_over_time(run) => take([Step::Allow { level }]),
        _ => enter(run, Phase::Evaluate),
    }
}

fn take<'a>(steps: impl IntoIterator<Item = Step, IntoIter: 'a>) -> Next<'a> {
    Next::Do(Box::new(steps.into_iter()))
}

/// Continues the current phase: returns its open steps, or the decision that follows from their answers.
fn carry_on(run: &Run, phase: Phase) -> Next<'_> {
    let (state, level) = (&run.state, run.state.level);
    let tree = state.artifact.as_ref().map(|artifact| artifact.tree);
    let steps = match (phase, tree) {
        (Phase::Plan, _) => vec![Step::Plan { iteration: state.iteration }],
        (Phase::ProducePrepare, from) => {
            // A text that was kept before there are checks is the one of this very step.
            let from = from.filter(|_| state.prepared.is_some());
            let produce = Step::Produce { iteration: state.iteration, from };
            let prepare = state.prepared.is_none().then(|| prepare(run)).flatten();
            [produce].into_iter().chain(prepare).collect()
        }
        (Phase::Prepare, _) => prepare(run).into_iter().collect(),
        (Phase::Evaluate, Some(artifact)) => return look(run, artifact),
        (Phase::Critique, Some(artifact)) => vec![Step::Critique { artifact, level }],
        (Phase::Refine, Some(artifact)) => vec![Step::Refine { artifact, level }],
        (Phase::Evaluate | Phase::Critique | Phase::Refine, None) => Vec::new(),
    };
    match answers(run, &steps) {
        Answers::Open(open) => take(open),
        Answers::GivenUp(failure) => unchanged(run, phase, failure)
            .or_else(|| written_alone(run))
            .map_or_else(|| failed(&failure.why), Next::Decide),
        Answers::Given(outcomes) => {
            decision_for(run, phase, &outcomes).map_or_else(|| failed("no answer"), Next::Decide)
        }
    }
}

/// Returns no step if every rule of the level came with its own check.
fn prepare(run: &Run) -> Option<Step> {
    let level = run.state.level;
    run.plan.task.criteria.unchecked(level).next().map(|_| Step::Prepare { level })
}

/// Keeps the text if a refiner changes nothing even when asked again. This does not end the run: the next iteration
/// writes anew.
fn unchanged(run: &Run, phase: Phase, failure: &Failure) -> Option<Decision> {
    let is_unchanged = phase == Phase::Refine && failure.kind == FailureKind::Gate;
    let artifact = run.state.artifact.clone().filter(|_| is_unchanged)?;
    let artifact = Artifact { changed: Some(Changed::default()), ..artifact };
    Some(Decision::Refined(Box::new(artifact)))
}

/// The state of all steps of a phase. A step that was given up ends the phase only when the others have ended too, so
/// that the same answers give the same run in whatever order they arrive.
enum Answers<'a> {
    Open(Vec<Step>),
    GivenUp(&'a Failure),
    Given(Vec<&'a Answer>),
}

fn answers<'a>(run: &'a Run, steps: &[Step]) -> Answers<'a> {
    let (mut open, mut given, mut given_up) = (Vec::new(), Vec::new(), None);
    for step in steps {
        match run.state_of(step) {
            StepState::Answered(outcome) => given.push(outcome),
            StepState::GivenUp(failure) => given_up = given_up.or(Some(failure)),
            StepState::Open => open.push(step.clone()),
        }
    }
    match given_up {
        _ if !open.is_empty() => Answers::Open(open),
        Some(failure) => Answers::GivenUp(failure),
        None => Answers::Given(given),
    }
}

fn decision_for(run: &Run, phase: Phase, outcomes: &[&Answer]) -> Option<Decision> {
    Some(match (phase, outcomes) {
        (Phase::Plan, [Answer::Planned(steps)]) => Decision::Planned(steps.clone()),
        (Phase::ProducePrepare, [Answer::Written(artifact)]) => {
            let checks = run.state.prepared.is_none().then(Vec::new);
            Decision::Produced { artifact: artifact.clone(), checks }
        }
        (Phase::ProducePrepare, [Answer::Written(artifact), Answer::Prepared(checks)]) => {
            Decision::Produced { artifact: artifact.clone(), checks: Some(checks.clone()) }
        }
        (Phase::Prepare, []) => Decision::Prepared(Vec::new()),
        (Phase::Prepare, [Answer::Prepared(checks)]) => Decision::Prepared(checks.clone()),
        (Phase::Critique, [Answer::Criticised(issues)]) => Decision::Criticised(issues.clone()),
        (Phase::Refine, [Answer::Written(artifact)]) => Decision::Refined(artifact.clone()),
        _ => return None,
    })
}

fn failed<'a>(why: &str) -> Next<'a> {
    Next::Decide(Decision::Stop(Stop { reason: Reason::PhaseError, note: Some(why.to_owned()) }))
}

/// Evaluates the artifact: machines first, then the judge for what they leave open, then the score.
fn look(run: &Run, artifact: TreeId) -> Next<'_> {
    let machines = run.machine_steps(artifact);
    let machine_results = match answers(run, &machines) {
        Answers::Open(open) => return take(open),
        Answers::GivenUp(failure) => return failed(&failure.why),
        Answers::Given(outcomes) => check_results(&outcomes),
    };
    let steps = run.judge_steps(artifact, &machine_results);
    let judged: Vec<RuleResult> = match answers(run, &steps) {
        Answers::Open(open) => return take(open),
        Answers::GivenUp(failure) => return failed(&failure.why),
        Answers::Given(outcomes) => outcomes.into_iter().flat_map(results).cloned().collect(),
    };
    let (criteria, level) = (&run.plan.task.criteria, run.state.level);
    let rules: Vec<&Rule> = criteria.active(level).collect();
    let results = checks::combined(&rules, &run.state.checks, &machine_results, &judged);
    Next::Decide(Decision::Evaluated(Box::new(verdict::evaluate(criteria, level, &results))))
}

fn check_results(outcomes: &[&Answer]) -> Vec<CheckResult> {
    let each = outcomes.iter().flat_map(|outcome| match outcome {
        Answer::Checked(results) => results.as_slice(),
        _ => &[],
    });
    each.cloned().collect()
}

fn results(outcome: &Answer) -> &[RuleResult] {
    match outcome {
        Answer::Judged(results) => results,
        _ => &[],
    }
}

impl Run {
    /// Returns the commands among the checks of a level, with their places.
    pub fn commands(&self, level: Level) -> impl Iterator<Item = (usize, &[String])> {
        let rule_is_of = move |id| self.plan.task.criteria.rule(id).is_some_and(|rule| rule.level == level);
        let checks = self.state.checks.iter().enumerate().filter(move |(_, check)| rule_is_of(&check.rule));
        checks.filter_map(|(at, check)| match check.kind()? {
            CheckKind::Command { argv, .. } => Some((at, argv)),
            CheckKind::Pattern { .. } | CheckKind::Question(_) => None,
        })
    }

    /// Returns those commands that an agent made up. A rule that came with a command has no other check.
    pub fn proposed_commands(&self, level: Level) -> impl Iterator<Item = (usize, &[String])> {
        self.commands(level).filter(|(at, _)| !self.is_given(*at))
    }

    fn is_given(&self, check: usize) -> bool {
        let rule = self.state.checks.get(check).and_then(|check| self.plan.task.criteria.rule(&check.rule));
        rule.is_some_and(|rule| rule.command.is_some())
    }

    fn may_check(&self, level: Level) -> Option<bool> {
        self.may_run(self.plan.task.commands, &Step::Allow { level })
    }

    fn machine_steps(&self, artifact: TreeId) -> Vec<Step> {
        let levels = Level::ALL.into_iter().filter(|level| *level <= self.state.level);
        let commands = levels.flat_map(|level| {
            let all = self.may_check(level) == Some(true);
            self.commands(level).filter(move |(at, _)| all || self.is_given(*at))
        });
        let runs = commands.map(|(check, _)| Step::Check { artifact, check });
        let matches = Step::Match { artifact, checks: self.state.checks.len() };
        std::iter::once(matches).chain(runs).collect()
    }

    /// Returns one judge step for each category and level. They run side by side, and never twice for the same
    /// artifact.
    fn judge_steps(&self, artifact: TreeId, results: &[CheckResult]) -> Vec<Step> {
        let rules: Vec<&Rule> = self.plan.task.criteria.active(self.state.level).collect();
        let asked = checks::asked(&rules, &self.state.checks, results);
        let groups: BTreeSet<(Level, String)> =
            asked.iter().map(|asked| (asked.rule.level, asked.rule.category().to_owned())).collect();
        let era = self.state.era;
        let judge = |(level, category)| Step::Judge { artifact, level, category, era };
        groups.into_iter().map(judge).collect()
    }

    /// Returns the results of the machines for an artifact so far.
    pub(super) fn check_results(&self, artifact: TreeId) -> Vec<CheckResult> {
        let given = self.machine_steps(artifact).into_iter().filter_map(|step| match self.state_of(&step) {
            StepState::Answered(Answer::Checked(results)) => Some(results.clone()),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        });
        given.flatten().collect()
    }
}

/// Decides after an evaluation whether the run ends, and if not, how it continues.
fn judge(run: &Run) -> Next<'_> {
    let state = &run.state;
    let Some(last) = state.judged.last() else { return failed("nothing was judged") };
    if last.evaluation.passed {
        return match state.level {
            Level::A => Next::Decide(Decision::Switch(Level::B)),
            Level::B => stop_for(Reason::ThresholdReached),
        };
    }
    let rule = rule(run);
    if settled(run, rule.is_some()) {
        return stop_for(Reason::NoMajorIssues);
    }
    if let Some(reason) = rule {
        return stop_for(reason);
    }
    if state.anew {
        return Next::Decide(Decision::Advance(state.iteration + 1));
    }
    match run.better_than_last() {
        Some(best) => {
            let (hash, best) = (last.artifact.hash.clone(), best.artifact.hash.clone());
            Next::Decide(Decision::Drop { hash, best })
        }
        None => enter(run, Phase::Critique),
    }
}

/// Whether the best artifact of level B is accepted although it has warnings. The threshold must have had its chance:
/// enough refinements have been judged, or there is no room for another one. Only the best counts, because a run leaves
/// that one.
fn settled(run: &Run, is_over: bool) -> bool {
    let judged = run.state.judged.iter().filter(|judged| judged.evaluation.level == Level::B).count();
    let chances = usize::try_from(run.plan.task.rules.settle).unwrap_or(usize::MAX);
    let best = run.best().filter(|best| best.evaluation.level == Level::B);
    let is_sound =
        best.is_some_and(|best| verdict::no_major_issues(&run.plan.task.criteria, &best.evaluation));
    is_sound && (is_over || judged > chances)
}

/// Returns the maximum number of calls of a run: every step with all its retries, every iteration at level B.
pub(super) fn most_calls(plan: &Plan) -> MostCalls {
    let rules = &plan.task.rules;
    // The limit is checked after an evaluation, so there is always a first one.
    let (tries, rounds) = (u64::from(rules.retries) + 1, u64::from(rules.max_iterations.max(1)));
    let known = plan.task.criteria.rules.iter().map(|rule| (rule.level, rule.category()));
    let proposals = plan.task.setup.proposals.filter(|_| plan.task.confirmed.is_none());
    let might = CATEGORIES.into_iter().flat_map(|category| Level::ALL.map(|level| (level, category)));
    let groups: BTreeSet<(Level, &str)> = known.chain(might.filter(|_| proposals.is_some())).collect();
    let groups = u64::try_from(groups.len()).unwrap_or(u64::MAX);
    let prepared = 2 + u64::from(proposals.is_some());
    MostCalls::from([
        (Role::EXECUTOR, tries * 2 * rounds),
        (Role::EVALUATOR, tries * (prepared + groups * rounds)),
        (Role::IMPROVER, tries * 2 * (rounds - 1)),
    ])
}
