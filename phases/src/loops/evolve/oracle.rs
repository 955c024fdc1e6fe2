//! Oracles: how a machine tells that a criterion is met. The evaluator writes them before the work, from the specification
//! and the unchanged project alone, and no executor sees them. A check of the specification is the oracle of a person.
//!
//! ```text
//! names -> an oracle for each criterion -> may they run? -> probe the unchanged project
//!                                                              red:     ready
//!                                                              green:   already met
//!                                                              neither: mend it once, else a judge decides
//! ```

use std::borrow::Cow;

use super::Run;
use super::spec::{Criterion, Id};
use super::step::{Answer, Step};
use crate::base::id::TreeId;
use crate::runs::run::StepState;

pub use super::evidence::{
    GREEN, Interface, LARGEST, LONGEST_NAME, Light, MOST_FILES, MOST_WORDS, Oracle, Probed, Proposal, RED,
};

/// What the oracle of a criterion says about the unchanged project.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing<'r> {
    /// No oracle tells whether the criterion is met, for this reason.
    Without(Cow<'r, str>),
    AlreadyMet(Probe<'r>),
    Ready(Probe<'r>),
}

/// An oracle, and how it ended on the unchanged project. That of the specification may not have started there.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe<'r> {
    pub oracle: Cow<'r, Oracle>,
    /// How often it was mended.
    pub go: u32,
    pub before: Option<&'r Probed>,
    /// Whether the specification has it.
    pub is_check: bool,
}

impl<'r> Standing<'r> {
    pub fn probe(&self) -> Option<&Probe<'r>> {
        match self {
            Self::Without(_) => None,
            Self::AlreadyMet(probe) | Self::Ready(probe) => Some(probe),
        }
    }
}

/// Returns the steps that are due before the work is planned: oracles are written, a person allows them, and they are
/// tried on the unchanged project.
pub(super) fn due(run: &Run) -> Vec<Step> {
    if run.asks_for_oracles() && matches!(run.state_of(&Step::Interface), StepState::Open) {
        return vec![Step::Interface];
    }
    let mut steps: Vec<Step> = Vec::new();
    for criterion in &run.plan.task.spec.criteria {
        if let Err(step) = standing(run, criterion)
            && !steps.contains(&step)
        {
            steps.push(step);
        }
    }
    steps
}

/// Returns what the oracle of a criterion says about the unchanged project, or the step that is needed to know it.
fn standing<'r>(run: &'r Run, criterion: &Criterion) -> Result<Standing<'r>, Step> {
    if let Some(argv) = &criterion.check {
        return of_check(run, criterion, argv);
    }
    if let Some(oracle) = run.plan.task.verify.as_ref().and_then(|verify| verify.oracle(&criterion.id)) {
        return tried(run, &criterion.id, 0, oracle)
            .map(|tried| tried.unwrap_or_else(|why| Standing::Without(why.into())));
    }
    if !run.asks_for_oracles() {
        return Ok(Standing::Without("no oracle was asked for".into()));
    }
    let mut broken = String::new();
    for go in 0..2 {
        let step = Step::Oracle { criterion: criterion.id.clone(), go };
        let oracle = match run.state_of(&step) {
            StepState::Open => return Err(step),
            StepState::Answered(Answer::Proposed(proposal)) => match &**proposal {
                Proposal::Oracle(oracle) => oracle,
                Proposal::Judge { why } => return Ok(Standing::Without((&**why).into())),
            },
            StepState::Answered(_) => {
                return Ok(Standing::Without("the answer does not fit the step".into()));
            }
            StepState::GivenUp(failure) => {
                let why = format!("no oracle could be written: {}", failure.why);
                return Ok(Standing::Without(why.into()));
            }
        };
        match tried(run, &criterion.id, go, oracle)? {
            Ok(standing) => return Ok(standing),
            Err(why) => broken = why,
        }
    }
    Ok(Standing::Without(broken.into()))
}

/// Returns what an oracle says about the unchanged project, or why it says nothing.
fn tried<'r>(
    run: &'r Run,
    criterion: &Id,
    go: u32,
    oracle: &'r Oracle,
) -> Result<Result<Standing<'r>, String>, Step> {
    match run.may_run(run.plan.task.checks, &Step::Allow) {
        None => return Err(Step::Allow),
        Some(false) => return Ok(Ok(Standing::Without("its oracle may not run".into()))),
        Some(true) => {}
    }
    let step = Step::Probe { criterion: criterion.clone(), go, tree: run.base() };
    let before = match run.state_of(&step) {
        StepState::Open => return Err(step),
        StepState::Answered(Answer::Probed(probed)) => &**probed,
        StepState::Answered(_) => return Ok(Err("the answer does not fit the step".to_owned())),
        StepState::GivenUp(failure) => return Ok(Err(failure.why.clone())),
    };
    let probe = Probe { oracle: Cow::Borrowed(oracle), go, before: Some(before), is_check: false };
    Ok(match before.light {
        Light::Red => Ok(Standing::Ready(probe)),
        Light::Green => Ok(Standing::AlreadyMet(probe)),
        Light::Neither => Err(format!("its oracle failed without an assertion of its own: {}", before.said)),
    })
}

/// A check of the specification may also need what only the work makes, so it is ready whatever keeps it from passing.
fn of_check<'r>(run: &'r Run, criterion: &Criterion, argv: &[String]) -> Result<Standing<'r>, Step> {
    match run.may_run(run.plan.task.checks, &Step::Allow) {
        None => return Err(Step::Allow),
        Some(false) => return Ok(Standing::Without("its check may not run".into())),
        Some(true) => {}
    }
    let step = Step::Probe { criterion: criterion.id.clone(), go: 0, tree: run.base() };
    let before = match run.state_of(&step) {
        StepState::Open => return Err(step),
        StepState::Answered(Answer::Probed(probed)) => Some(&**probed),
        StepState::Answered(_) | StepState::GivenUp(_) => None,
    };
    let probe = Probe { oracle: Cow::Owned(Oracle::of_check(argv)), go: 0, before, is_check: true };
    let is_met = before.is_some_and(|before| before.light == Light::Green);
    Ok(if is_met { Standing::AlreadyMet(probe) } else { Standing::Ready(probe) })
}

impl Oracle {
    fn of_check(argv: &[String]) -> Self {
        Self { argv: argv.to_vec(), files: None, uses_names: false, shows: "".into() }
    }
}

impl Run {
    /// Whether the evaluator writes oracles in this run.
    pub fn asks_for_oracles(&self) -> bool {
        self.plan.task.asks_for_oracles()
    }

    /// Returns the names that work has to provide. Without oracles that may run, none are needed.
    pub fn interface(&self) -> Option<&Interface> {
        if let Some(verify) = &self.plan.task.verify {
            return verify.interface.as_ref();
        }
        if self.may_run(self.plan.task.checks, &Step::Allow) == Some(false) {
            return None;
        }
        match self.state_of(&Step::Interface) {
            StepState::Answered(Answer::Interface(interface)) => Some(interface),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    /// Returns the note with the names that work has to provide, if it needs any.
    pub(super) fn names(&self) -> Option<&str> {
        self.interface().map(|interface| &*interface.note).filter(|note| !note.trim().is_empty())
    }

    /// Returns the newest oracle of the evaluator for a criterion.
    pub fn oracle(&self, criterion: &str, go: u32) -> Option<Cow<'_, Oracle>> {
        let task = &self.plan.task;
        let known = task.spec.criteria.iter().find(|one| *one.id == *criterion)?;
        if let Some(argv) = &known.check {
            return Some(Cow::Owned(Oracle::of_check(argv)));
        }
        if let Some(verify) = &task.verify {
            return verify.oracle(criterion).map(Cow::Borrowed);
        }
        match self.state_of(&Step::Oracle { criterion: criterion.into(), go }) {
            StepState::Answered(Answer::Proposed(proposal)) => match &**proposal {
                Proposal::Oracle(oracle) => Some(Cow::Borrowed(oracle)),
                Proposal::Judge { .. } => None,
            },
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    /// Whether the specification has a check for a criterion.
    pub fn is_check(&self, criterion: &str) -> bool {
        self.plan.task.spec.criteria.iter().any(|one| *one.id == *criterion && one.check.is_some())
    }

    /// Returns what the oracle of a criterion says about the unchanged project, or the step that is needed to know it. An
    /// oracle was written for the text that the specification has.
    pub(super) fn standing(&self, criterion: &str) -> Result<Standing<'_>, Step> {
        let mut all = self.plan.task.spec.criteria.iter();
        let known = all.find(|one| *one.id == *criterion);
        let now = self.state.contract.as_ref().and_then(|contract| contract.criterion(criterion));
        match known {
            None => Ok(Standing::Without("it was added during the run".into())),
            Some(known) if now.is_some_and(|now| now.text != known.text) => {
                Ok(Standing::Without("its text was changed during the run".into()))
            }
            Some(known) => standing(self, known),
        }
    }

    /// Returns what the oracle of a criterion says about the unchanged project, once that is known.
    pub fn stands(&self, criterion: &str) -> Option<Standing<'_>> {
        self.standing(criterion).ok()
    }

    /// Returns how an oracle ended on a tree, if it ran to an end.
    pub fn probed(&self, criterion: &str, go: u32, tree: TreeId) -> Option<&Probed> {
        match self.state_of(&Step::Probe { criterion: criterion.into(), go, tree }) {
            StepState::Answered(Answer::Probed(probed)) => Some(probed),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    /// Returns the criteria that the unchanged project meets, as far as oracles tell, each in a line.
    pub(super) fn met_before(&self) -> Vec<String> {
        let criteria = self.plan.task.spec.criteria.iter();
        let is_met = |one: &&Criterion| matches!(self.stands(&one.id), Some(Standing::AlreadyMet(_)));
        criteria.filter(is_met).map(|one| format!("{}: {}", one.id, one.text)).collect()
    }
}
