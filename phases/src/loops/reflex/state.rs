//! The state of a run of `reflex`: the fold of its decisions, and its history as the original tool writes it.

use std::sync::Arc;

use jiff::Timestamp;

use crate::base::role::RoleSpec;
use crate::judging::score::Score;
use crate::runs::run::{Change, Fold, StepState};

use super::answers::{Issue, PlanStep};
use super::checks::Check;
use super::criteria::Level;
use super::decision::{Decision, Phase, Stop};
use super::original::short;
use super::step::{Artifact, Step};
use super::verdict::Evaluation;
use super::{Plan, Reflex, Run};

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub iteration: u32,
    pub level: Level,
    /// The current phase, or the one that the run stopped in.
    pub phase: Option<Phase>,
    /// The last completed work.
    pub done: Done,
    /// The last completed phase.
    pub completed: Option<Phase>,
    /// The last iteration dropped its artifact or could not refine it, so the next one plans and writes anew.
    pub anew: bool,
    pub plan: Vec<PlanStep>,
    /// The frozen checks of the rules; those of level B follow those of level A.
    pub checks: Vec<Check>,
    /// The highest level with prepared checks.
    pub prepared: Option<Level>,
    /// The current artifact.
    pub artifact: Option<Artifact>,
    /// All artifacts that were ever written.
    pub artifacts: Vec<Artifact>,
    pub judged: Vec<Judged>,
    /// The era of all verdicts from now on.
    pub era: u32,
    pub issues: Vec<Issue>,
    pub stop: Option<Stop>,
    pub clock: Clock,
    pub story: Vec<Line>,
    /// The number of phases begun so far.
    entered: u32,
}

/// The last completed work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Nothing,
    Phase(Phase),
    Switch,
    Advance,
}

/// An artifact and its evaluation at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub iteration: u32,
    pub artifact: Artifact,
    pub evaluation: Evaluation,
    /// The era of its verdicts.
    pub era: u32,
    /// It was worse than the best before it, and the run does not continue from it.
    pub dropped: bool,
    /// The plan by which it was written.
    pub plan: Vec<PlanStep>,
    /// The changes to make in it, if it was criticised.
    pub issues: Vec<Issue>,
}

/// The time of the completed phases. An interrupted phase has taken none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    pub completed_ms: u64,
    /// The time when the current phase began, or began again.
    pub since: Option<Timestamp>,
}

/// One event, as in the original's history.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub at: Timestamp,
    pub iteration: u32,
    pub level: Level,
    pub phase: Phase,
    pub note: Note,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    RunStarted,
    PlanCreated { steps: usize },
    ArtifactCreated { hash: String },
    ChecksPrepared { checks: usize },
    EvaluationDone { score: Option<Score>, passed: bool },
    CritiqueDone { issues: usize },
    RefinementDone { previous: String, is_changed: bool },
    PhaseSwitched { to: Level },
    IterationAdvanced,
    PhaseError { why: String },
    Stopped(Stop),
}

impl Clock {
    pub fn seconds(self) -> u64 {
        self.completed_ms / 1000
    }

    fn stop(&mut self, at: Timestamp) {
        let since = self.since.take().unwrap_or(at);
        // A clock that was set back counts as no time.
        self.completed_ms += u64::try_from(at.duration_since(since).as_millis()).unwrap_or(0);
    }
}

impl State {
    fn begin(at: Timestamp) -> Self {
        let mut state = Self {
            iteration: 1,
            level: Level::A,
            phase: None,
            done: Done::Nothing,
            completed: None,
            anew: false,
            plan: Vec::new(),
            checks: Vec::new(),
            prepared: None,
            artifact: None,
            artifacts: Vec::new(),
            judged: Vec::new(),
            era: 0,
            issues: Vec::new(),
            stop: None,
            clock: Clock::default(),
            story: Vec::new(),
            entered: 0,
        };
        state.tell(at, Phase::Plan, Note::RunStarted);
        state
    }

    /// Returns the phase that the original would name as the current step.
    pub fn current(&self) -> Phase {
        match (self.phase, self.done) {
            (Some(phase), _) | (None, Done::Phase(phase)) => phase,
            (None, Done::Nothing) => Phase::Plan,
            (None, Done::Switch) => Phase::Prepare,
            (None, Done::Advance) if self.anew => Phase::Plan,
            (None, Done::Advance) => Phase::Evaluate,
        }
    }

    /// Restarts the clock of the current phase when work resumes or continues after a wait.
    fn begin_again(&mut self, at: Timestamp) {
        self.clock.since = self.clock.since.map(|_| at);
    }

    fn leave(&mut self, phase: Phase, at: Timestamp) {
        self.clock.stop(at);
        (self.phase, self.done, self.completed) = (None, Done::Phase(phase), Some(phase));
    }

    fn tell(&mut self, at: Timestamp, phase: Phase, note: Note) {
        let (iteration, level) = (self.iteration, self.level);
        self.story.push(Line { at, iteration, level, phase, note });
    }

    fn write(&mut self, artifact: &Artifact) {
        self.artifact = Some(artifact.clone());
        if !self.artifacts.iter().any(|known| known.hash == artifact.hash) {
            self.artifacts.push(artifact.clone());
        }
    }

    /// Freezes the prepared checks, and those that came with the rules.
    fn freeze(&mut self, plan: &Plan, checks: &[Check], at: Timestamp, phase: Phase) {
        let before = self.checks.len();
        self.checks.extend_from_slice(checks);
        self.checks.extend(plan.task.criteria.at(self.level).filter_map(Check::given));
        self.prepared = Some(self.level);
        self.tell(at, phase, Note::ChecksPrepared { checks: self.checks.len() - before });
    }
}

impl Fold for Reflex {
    type State = State;
    /// The number of phases begun so far.
    type Stage = u32;

    fn roles(_: &Plan) -> Vec<RoleSpec> {
        Self::ROLES.to_vec()
    }

    fn begin(_: &Plan, at: Timestamp) -> State {
        State::begin(at)
    }

    fn closes(decision: &Decision) -> bool {
        matches!(decision, Decision::Close)
    }

    fn fold(run: &mut Run, change: &Change<'_, Self>, at: Timestamp) {
        match *change {
            Change::Decided(decision) => decided(run, decision, at),
            Change::Ended(step) => ended(run, step),
            Change::Resumed => run.state.begin_again(at),
            Change::Remeasure => run.state.era += 1,
        }
    }

    fn round(run: &Run) -> u32 {
        run.state.iteration
    }

    fn stage(run: &Run) -> u32 {
        run.state.entered
    }

    fn tries(run: &Run) -> u32 {
        run.plan.task.rules.retries + 1
    }
}

fn decided(run: &mut Run, decision: &Decision, at: Timestamp) {
    let state = &mut run.state;
    match decision {
        Decision::Agreed(terms) => Arc::make_mut(&mut run.plan).task.agree(terms),
        Decision::Enter(phase) => {
            (state.phase, state.clock.since) = (Some(*phase), Some(at));
            state.entered += 1;
        }
        Decision::Planned(steps) => {
            state.plan.clone_from(steps);
            state.leave(Phase::Plan, at);
            state.tell(at, Phase::Plan, Note::PlanCreated { steps: steps.len() });
        }
        Decision::Produced { artifact, checks } => {
            state.write(artifact);
            state.anew = false;
            // A run that ends before there are checks keeps the text; its phase is then not complete.
            if checks.is_some() || state.prepared.is_some() {
                state.leave(Phase::ProducePrepare, at);
            }
            state.tell(at, Phase::ProducePrepare, Note::ArtifactCreated { hash: artifact.hash.clone() });
            if let Some(checks) = checks {
                state.freeze(&run.plan, checks, at, Phase::ProducePrepare);
            }
        }
        Decision::Prepared(checks) => {
            state.leave(Phase::Prepare, at);
            state.freeze(&run.plan, checks, at, Phase::Prepare);
        }
        Decision::Evaluated(evaluation) => state.evaluated(evaluation, at),
        Decision::Drop { best, .. } => state.drop_last(best),
        Decision::Criticised(issues) => {
            state.issues.clone_from(issues);
            if let Some(judged) = state.judged.last_mut() {
                judged.issues.clone_from(issues);
            }
            state.leave(Phase::Critique, at);
            state.tell(at, Phase::Critique, Note::CritiqueDone { issues: issues.len() });
        }
        Decision::Refined(artifact) => {
            let previous = state.artifact.as_ref().map_or_else(String::new, |artifact| artifact.hash.clone());
            state.anew = previous == artifact.hash;
            state.write(artifact);
            state.leave(Phase::Refine, at);
            state.tell(at, Phase::Refine, Note::RefinementDone { previous, is_changed: !state.anew });
        }
        Decision::Switch(level) => {
            (state.level, state.done) = (*level, Done::Switch);
            state.tell(at, Phase::Prepare, Note::PhaseSwitched { to: *level });
        }
        Decision::Advance(iteration) => {
            (state.iteration, state.done) = (*iteration, Done::Advance);
            state.tell(at, state.current(), Note::IterationAdvanced);
        }
        Decision::Stop(stop) => {
            let phase = state.current();
            state.stop = Some(stop.clone());
            state.clock.since = None;
            state.tell(at, phase, Note::Stopped(stop.clone()));
        }
        Decision::Close => {}
    }
}

impl State {
    fn evaluated(&mut self, evaluation: &Evaluation, at: Timestamp) {
        self.leave(Phase::Evaluate, at);
        let Some(artifact) = self.artifact.clone() else { return };
        let (score, passed) = (evaluation.score, evaluation.passed);
        self.judged.push(Judged {
            iteration: self.iteration,
            artifact,
            evaluation: evaluation.clone(),
            era: self.era,
            dropped: false,
            plan: self.plan.clone(),
            issues: Vec::new(),
        });
        self.tell(at, Phase::Evaluate, Note::EvaluationDone { score, passed });
    }

    fn drop_last(&mut self, best: &str) {
        if let Some(judged) = self.judged.last_mut() {
            judged.dropped = true;
        }
        self.artifact = self.artifacts.iter().find(|artifact| artifact.hash == best).cloned();
        self.anew = true;
    }
}

/// Adds an answer that cannot be used to the history, whether it is retried or not. An unreachable service is not
/// added, and time spent waiting for it is not counted: a run continues after an outage as if there had been none.
fn ended(run: &mut Run, step: &Step) {
    if matches!(run.state_of(step), StepState::Answered(_)) {
        return;
    }
    let Some(call) = run.errors.last() else { return };
    let (why, at) = (call.failure.why.clone(), call.at);
    if call.failure.kind.counts() {
        let phase = run.state.current();
        run.state.tell(at, phase, Note::PhaseError { why });
    } else {
        run.state.begin_again(at);
    }
}

impl Note {
    /// Returns the words that the planner sees.
    pub fn words(&self) -> String {
        match self {
            Self::RunStarted => "the run began".to_owned(),
            Self::PlanCreated { steps } => format!("a plan of {steps} steps was made"),
            Self::ArtifactCreated { hash } => format!("artifact {} was written", short(hash)),
            Self::ChecksPrepared { checks } => format!("{checks} checks were prepared"),
            Self::EvaluationDone { score, passed } => {
                let score =
                    score.map_or_else(|| "no score".to_owned(), |score| format!("score {score} of 100"));
                format!("evaluated: {score}, {}", if *passed { "passed" } else { "not passed" })
            }
            Self::CritiqueDone { issues } => format!("{issues} issues were found"),
            Self::RefinementDone { previous, is_changed: true } => {
                format!("artifact {} was refined", short(previous))
            }
            Self::RefinementDone { previous, is_changed: false } => {
                format!("the refinement of artifact {} changed nothing", short(previous))
            }
            Self::PhaseSwitched { to } => format!("level {to} began"),
            Self::IterationAdvanced => "the next iteration began".to_owned(),
            Self::PhaseError { why } => format!("an answer could not be used: {why}"),
            Self::Stopped(stop) => format!("stopped: {}", stop.reason.word()),
        }
    }
}
