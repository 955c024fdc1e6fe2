//! What is known of a tree: the commands first, then the oracles, then the judge, who decides what no oracle has decided.
//!
//! ```text
//! red command                  red
//! oracle green                 met
//! oracle fails, judge says no  unmet, with the judge's gaps
//! oracle fails, judge says yes disputed: a person decides
//! otherwise                    as the judge says
//! ```

use std::collections::BTreeSet;

use super::Run;
use super::decision::WorkEnd;
use super::evaluation::{Agreed, Contract, Evaluation, Evidence, Judgement, Verdict};
use super::next::open;
use super::oracle::{Light, Probe, Probed, Standing};
use super::spec::Id;
use super::stages::{self, Gate};
use super::step::{Answer, Choice, Step};
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;
use crate::runs::run::StepState;
use crate::suites::transcript::one_line;

/// A longer end of an output is cut in a verdict.
const LONGEST: usize = 400;

/// What is known of a tree after all stages that had to be looked at.
pub(super) enum Judged {
    /// No command lints, builds or tests it.
    Bare,
    /// These stages are newly red.
    Red(Vec<Stage>),
    Whole(Evaluation),
    /// The judge gave no usable answer.
    Unjudged(String),
}

/// What an oracle says about a result.
enum OracleSays<'r> {
    Met(Evidence),
    /// A check of the specification decides its criterion alone.
    Unmet(Box<str>),
    Fails(Probe<'r>, Option<&'r Probed>),
    Undecided,
}

/// What a tree is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Merged work, about which a person may be asked.
    Work,
    /// The same, without a question to a person.
    KnownWork,
    /// What one executor made alone.
    Control,
}

/// Returns what is known of a tree, or the steps that are needed to know it.
pub(super) fn judged(run: &Run, tree: TreeId) -> Result<Judged, Vec<Step>> {
    known(run, tree, Of::Work)
}

/// Returns what is known of a tree without asking a person.
pub(super) fn judged_alone(run: &Run, tree: TreeId) -> Result<Judged, Vec<Step>> {
    known(run, tree, Of::KnownWork)
}

/// Returns what is known of the work of one executor alone, without asking a person.
pub(super) fn judged_control(run: &Run, tree: TreeId) -> Result<Judged, Vec<Step>> {
    known(run, tree, Of::Control)
}

fn known(run: &Run, tree: TreeId, of: Of) -> Result<Judged, Vec<Step>> {
    due(run, stages::all_of(run, tree))?;
    let mut red = Vec::new();
    for stage in Stage::ALL {
        match stages::gate(run, tree, stage)? {
            Gate::Red => red.push(stage),
            Gate::Missing | Gate::Passed | Gate::NotLookedAt => {}
        }
    }
    if !red.is_empty() {
        return Ok(Judged::Red(red));
    }
    if run.commands(tree).is_some_and(<[_]>::is_empty) {
        return Ok(Judged::Bare);
    }
    let Some(contract) = &run.state.contract else { return Ok(Judged::Bare) };
    due(run, run.probes(tree, contract))?;
    let step = Step::Judge { tree, contract: contract.digest(), era: run.state.era };
    let judgement = match run.state_of(&step) {
        StepState::Open => return Err(vec![step]),
        StepState::Answered(Answer::Judged(judgement)) => judgement,
        StepState::GivenUp(failure) => return Ok(Judged::Unjudged(failure.why.clone())),
        StepState::Answered(_) => return Ok(Judged::Unjudged("the answer does not fit the step".to_owned())),
    };
    if of == Of::Work {
        due(run, run.disputes(tree, contract, judgement))?;
    }
    let judgement = complete(run, (tree, of), contract, judgement);
    Ok(Judged::Whole(Evaluation::of(judgement, contract, &run.plan.task.rules)))
}

/// Fails with the steps that are open.
fn due(run: &Run, steps: Vec<Step>) -> Result<(), Vec<Step>> {
    let open = open(run, steps);
    if open.is_empty() { Ok(()) } else { Err(open) }
}

/// Adds what oracles say to what the judge said. A criterion whose every task has failed is unmet.
fn complete(run: &Run, (tree, of): (TreeId, Of), contract: &Contract, judged: &Judgement) -> Judgement {
    let has_tasks = of != Of::Control;
    let verdict = |one: &Agreed| {
        let (id, is_disputed) = (one.id.clone(), false);
        let of_judge = judged.criteria.iter().find(|verdict| verdict.id == one.id).cloned();
        let of_judge = of_judge.unwrap_or_else(|| Verdict::unmet(&one.id, "it was not judged"));
        let verdict = match run.oracle_says(tree, &one.id) {
            OracleSays::Met(evidence) => {
                return Verdict { id, is_met: true, is_disputed, evidence: Some(evidence), gaps: Vec::new() };
            }
            OracleSays::Unmet(gap) => return Verdict::unmet(&one.id, &gap),
            OracleSays::Fails(..) if of_judge.is_met => run.settled(tree, of_judge),
            OracleSays::Fails(..) | OracleSays::Undecided => of_judge,
        };
        match run.without_work(&one.id).filter(|_| has_tasks) {
            Some(gap) if verdict.is_met => Verdict { is_met: false, gaps: vec![gap.into()], ..verdict },
            _ => verdict,
        }
    };
    Judgement { criteria: contract.criteria.iter().map(verdict).collect(), ..judged.clone() }
}

impl Run {
    /// Returns the steps that try oracles on a tree, and on the unchanged project if that has changed.
    fn probes(&self, tree: TreeId, contract: &Contract) -> Vec<Step> {
        let mut steps = Vec::new();
        for one in &contract.criteria {
            match self.standing(&one.id) {
                Err(step) => steps.push(step),
                Ok(Standing::Ready(probe) | Standing::AlreadyMet(probe)) => {
                    steps.push(Step::Probe { criterion: one.id.clone(), go: probe.go, tree });
                }
                Ok(Standing::Without(_)) => {}
            }
        }
        if steps.contains(&Step::Allow) { vec![Step::Allow] } else { steps }
    }

    /// Returns what an oracle says about a tree. One that could not run to its end there fails: it did on the project.
    fn oracle_says(&self, tree: TreeId, criterion: &str) -> OracleSays<'_> {
        let Some(Standing::Ready(probe) | Standing::AlreadyMet(probe)) = self.stands(criterion) else {
            return OracleSays::Undecided;
        };
        let step = Step::Probe { criterion: criterion.into(), go: probe.go, tree };
        let argv = probe.oracle.argv.join(" ");
        let end = match self.state_of(&step) {
            StepState::Open => return OracleSays::Undecided,
            StepState::GivenUp(failure) if probe.is_check => {
                return OracleSays::Unmet(cut_off(&argv, &failure.why));
            }
            StepState::Answered(Answer::Probed(end)) => Some(&**end),
            StepState::GivenUp(_) | StepState::Answered(_) => None,
        };
        match end {
            Some(end) if end.light == Light::Green => {
                let path = format!("output of {argv}").into();
                OracleSays::Met(Evidence { path, line: None, quote: one_line(&end.said, LONGEST).into() })
            }
            Some(end) if probe.is_check && (end.light == Light::Red || end.exit == Some(0)) => {
                OracleSays::Unmet(one_line(&end.said, LONGEST).into())
            }
            Some(end) if probe.is_check => OracleSays::Unmet(cut_off(&argv, &one_line(&end.said, LONGEST))),
            Some(end) if end.is_undecided() => OracleSays::Undecided,
            end => OracleSays::Fails(probe, end),
        }
    }

    /// Returns the oracle of a criterion that fails on a tree, and how it ended there. A person's check is not among them.
    pub(super) fn failing(&self, tree: TreeId, criterion: &str) -> Option<(Probe<'_>, &str)> {
        match self.oracle_says(tree, criterion) {
            OracleSays::Fails(probe, end) => {
                Some((probe, end.map_or("it did not run to its end", |end| &*end.said)))
            }
            OracleSays::Met(_) | OracleSays::Unmet(_) | OracleSays::Undecided => None,
        }
    }

    /// Returns the questions about criteria that the judge finds met although their oracles fail.
    fn disputes(&self, tree: TreeId, contract: &Contract, judged: &Judgement) -> Vec<Step> {
        let is_met = |id: &Id| judged.criteria.iter().any(|one| one.id == *id && one.is_met);
        let disputed = contract.criteria.iter().filter(|one| is_met(&one.id));
        let disputed = disputed.filter(|one| self.failing(tree, &one.id).is_some());
        disputed.map(|one| Step::Settle { tree, criterion: one.id.clone() }).collect()
    }

    /// Returns the verdict on a disputed criterion.
    fn settled(&self, tree: TreeId, judged: Verdict) -> Verdict {
        let step = Step::Settle { tree, criterion: judged.id.clone() };
        match self.state_of(&step) {
            StepState::Answered(Answer::Chosen(Choice::Holds)) => judged,
            StepState::Answered(Answer::Chosen(Choice::Fails)) => {
                Verdict::unmet(&judged.id, "its oracle fails, and a person agrees with the oracle")
            }
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => Verdict {
                is_met: false,
                is_disputed: true,
                gaps: vec!["its oracle fails, and the evaluator finds it met: a person has to decide".into()],
                ..judged
            },
        }
    }

    /// Returns how many criteria of the result have a check that did not run: the evaluator has judged them instead.
    pub fn unchecked(&self) -> usize {
        let may_run = self.may_run(self.plan.task.checks, &Step::Allow);
        if may_run != Some(false) || self.evaluation().is_none() {
            return 0;
        }
        let criteria = self.state.contract.iter().flat_map(|contract| &contract.criteria);
        criteria.filter(|one| one.check.is_some()).count()
    }

    /// Returns the criteria that no oracle has decided on a tree: a judge is asked about them.
    pub fn asked(&self, tree: TreeId, contract: &Contract) -> Vec<Agreed> {
        let is_open = |one: &&Agreed| {
            matches!(self.oracle_says(tree, &one.id), OracleSays::Fails(..) | OracleSays::Undecided)
        };
        contract.criteria.iter().filter(is_open).cloned().collect()
    }

    /// Returns why nothing was done for a criterion, if all of its tasks failed or were skipped.
    fn without_work(&self, criterion: &str) -> Option<String> {
        let plan = self.state.plan.as_ref()?;
        let tasks: BTreeSet<&Id> = plan
            .tasks
            .iter()
            .filter(|item| item.covers.iter().any(|id| &**id == criterion))
            .map(|item| &item.id)
            .collect();
        let has_none = |task: &&Id| {
            matches!(self.state.ends.get(*task), Some(WorkEnd::Failed(_) | WorkEnd::Skipped))
                && !self.state.merged.iter().any(|work| work.task == **task)
        };
        let is_without = !tasks.is_empty() && tasks.iter().all(has_none);
        let names: Vec<&str> = tasks.iter().map(|id| &***id).collect();
        is_without.then(|| format!("nothing was done for it: {} failed or was skipped", names.join(", ")))
    }
}

fn cut_off(argv: &str, why: &str) -> Box<str> {
    format!("its check `{argv}` did not run to its end: {why}").into()
}
