//! An evaluation: lint, build and test first. Where one is newly red, nothing else is judged. Then the checks of the
//! criteria, and a judge for what no machine could decide.

use std::collections::BTreeSet;

use super::Run;
use super::decision::WorkEnd;
use super::evaluation::{Agreed, Contract, Evaluation, Evidence, Judgement, Verdict};
use super::next::open;
use super::spec::Id;
use super::stages::{self, Gate};
use super::step::{Answer, Step};
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;
use crate::runs::run::StepState;
use crate::suites::checks::CheckResult;

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

/// Returns what is known of a tree, or the steps that are needed to know it.
pub(super) fn judged(run: &Run, tree: TreeId) -> Result<Judged, Vec<Step>> {
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
    due(run, checks(run, tree, contract))?;
    let step = Step::Judge { tree, contract: contract.digest(), era: run.state.era };
    Ok(match run.state_of(&step) {
        StepState::Open => return Err(vec![step]),
        StepState::Answered(Answer::Judged(judgement)) => {
            let judgement = complete(run, tree, contract, judgement);
            Judged::Whole(Evaluation::of(judgement, contract, &run.plan.task.rules))
        }
        StepState::GivenUp(failure) => Judged::Unjudged(failure.why.clone()),
        StepState::Answered(_) => Judged::Unjudged("the answer does not fit the step".to_owned()),
    })
}

/// Fails with the steps that are open.
fn due(run: &Run, steps: Vec<Step>) -> Result<(), Vec<Step>> {
    let open = open(run, steps);
    if open.is_empty() { Ok(()) } else { Err(open) }
}

/// Returns the steps that check criteria by machine, or the question whether they may run.
fn checks(run: &Run, tree: TreeId, contract: &Contract) -> Vec<Step> {
    let mut checked = contract.criteria.iter().filter(|one| one.check.is_some()).peekable();
    if checked.peek().is_none() {
        return Vec::new();
    }
    match run.may_run(run.plan.task.checks, &Step::Allow) {
        None => vec![Step::Allow],
        Some(true) => checked.map(|one| Step::Check { tree, criterion: one.id.clone() }).collect(),
        Some(false) => Vec::new(),
    }
}

/// Adds the results of checks to what the judge said. A criterion whose every task has failed is unmet.
fn complete(run: &Run, tree: TreeId, contract: &Contract, judged: &Judgement) -> Judgement {
    let of = |one: &Agreed| {
        let verdict = run
            .checked(tree, one)
            .or_else(|| judged.criteria.iter().find(|verdict| verdict.id == one.id).cloned());
        let verdict = verdict.unwrap_or_else(|| Verdict {
            id: one.id.clone(),
            is_met: false,
            evidence: None,
            gaps: vec!["it was not judged".into()],
        });
        match run.without_work(&one.id) {
            Some(gap) if verdict.is_met && one.check.is_none() => {
                Verdict { is_met: false, gaps: vec![gap.into()], ..verdict }
            }
            _ => verdict,
        }
    };
    Judgement { criteria: contract.criteria.iter().map(of).collect(), ..judged.clone() }
}

impl Run {
    /// Returns the verdict of a criterion's check, once it ran. One that did not run to its end does not hold.
    fn checked(&self, tree: TreeId, one: &Agreed) -> Option<Verdict> {
        let argv = one.check.as_ref()?.join(" ");
        let quote = |details: &str| {
            let path = format!("output of {argv}").into();
            Some(Evidence { path, line: None, quote: details.into() })
        };
        let cut_off =
            |why: &str| -> Box<str> { format!("its check `{argv}` did not run to its end: {why}").into() };
        let step = Step::Check { tree, criterion: one.id.clone() };
        let (evidence, gap): (Option<Evidence>, Option<Box<str>>) = match self.state_of(&step) {
            StepState::Answered(Answer::Checked(CheckResult { met, details, .. })) => match met {
                Some(true) => (quote(details), None),
                Some(false) => (quote(details), Some(details.clone())),
                None => (None, Some(cut_off(details))),
            },
            StepState::GivenUp(failure) => (None, Some(cut_off(&failure.why))),
            StepState::Answered(_) | StepState::Open => return None,
        };
        let (is_met, gaps) = (gap.is_none(), gap.into_iter().collect());
        Some(Verdict { id: one.id.clone(), is_met, evidence, gaps })
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

    /// Returns the criteria that no check has decided on a tree: a judge is asked about them.
    pub fn asked(&self, tree: TreeId, contract: &Contract) -> Vec<Agreed> {
        contract.criteria.iter().filter(|one| self.checked(tree, one).is_none()).cloned().collect()
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
