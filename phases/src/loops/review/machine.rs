//! What comes next in a review.

use super::proof::{CommandEnd, Proposal, Verdict};
use super::{Answer, Decision, Files, Next, Run, Step, merge};
use crate::runs::run::StepState;

pub(super) fn next(run: &Run) -> Next<'_> {
    if run.closed_at.is_some() {
        return Next::End;
    }
    let stages: [fn(&Run) -> Vec<Step>; 2] = [scans, |run| open(run, reviews(run))];
    if let Some(steps) = stages.iter().map(|stage| stage(run)).find(|steps| !steps.is_empty()) {
        return all(steps);
    }
    let Some(merged) = &run.state.merged else {
        return Next::Decide(Decision::Merge { groups: merge::groups(&run.reviewed()) });
    };
    let verifications = open(run, (0..merged.len()).map(|finding| Step::Verify { finding }));
    if !verifications.is_empty() {
        return all(verifications);
    }
    if run.proposals().next().is_some() {
        match run.may_run(run.plan.task.commands, &Step::Allow) {
            None => return Next::one(Step::Allow),
            Some(true) => {
                let proofs: Vec<Step> =
                    run.proposals().filter_map(|(finding, _)| proof(run, finding)).collect();
                if !proofs.is_empty() {
                    return all(proofs);
                }
            }
            Some(false) => {}
        }
    }
    Next::Decide(Decision::Close)
}

fn all<'a>(steps: Vec<Step>) -> Next<'a> {
    Next::Do(Box::new(steps.into_iter()))
}

fn open(run: &Run, steps: impl Iterator<Item = Step>) -> Vec<Step> {
    steps.filter(|step| matches!(run.state_of(step), StepState::Open)).collect()
}

/// Returns all reviews of a run, in the order in which their findings count.
pub(super) fn reviews(run: &Run) -> impl Iterator<Item = Step> + use<> {
    let (parts, reviewers) = (run.plan.task.parts.len(), run.plan.task.reviewers.len());
    (0..parts).flat_map(move |part| (0..reviewers).map(move |reviewer| Step::Review { part, reviewer }))
}

/// Returns the open steps of the machines. One that fails runs on the old files too: it may have failed before.
fn scans(run: &Run) -> Vec<Step> {
    let step = |(machine, _)| {
        let of = |on| Step::Scan { machine, on };
        match run.end_of(&of(Files::After)) {
            StepEnd::Open => Some(of(Files::After)),
            StepEnd::Ended(end) if end.failed() && !run.plan.task.is_whole => {
                open(run, [of(Files::Before)].into_iter()).pop()
            }
            StepEnd::Ended(_) | StepEnd::Failed => None,
        }
    };
    run.plan.task.running().filter_map(step).collect()
}

/// Returns the next run of a proposed command: with the change, then without it, then with the suggestion applied.
fn proof(run: &Run, finding: usize) -> Option<Step> {
    let of = |on| Step::Prove { finding, on };
    let with = match run.end_of(&of(Files::After)) {
        StepEnd::Open => return Some(of(Files::After)),
        StepEnd::Ended(end) => end.failed() && end.announced,
        StepEnd::Failed => false,
    };
    if !with {
        return None;
    }
    // In an empty folder nearly every command passes or fails for no reason.
    if !run.plan.task.is_whole {
        match run.end_of(&of(Files::Before)) {
            StepEnd::Open => return Some(of(Files::Before)),
            StepEnd::Ended(end) if end.passed() => return None,
            StepEnd::Ended(_) | StepEnd::Failed => {}
        }
    }
    run.state.merged.as_ref()?.get(finding)?.finding.fixed?;
    matches!(run.end_of(&of(Files::Fixed)), StepEnd::Open).then(|| of(Files::Fixed))
}

/// How far a command of a run is.
#[derive(Clone, Copy, Debug)]
pub(super) enum StepEnd<'a> {
    Open,
    Ended(&'a CommandEnd),
    Failed,
}

impl Run {
    pub(super) fn end_of(&self, step: &Step) -> StepEnd<'_> {
        match self.state_of(step) {
            StepState::Open => StepEnd::Open,
            StepState::Answered(Answer::Ran(end)) => StepEnd::Ended(end),
            StepState::Answered(_) | StepState::GivenUp(_) => StepEnd::Failed,
        }
    }

    /// Returns the commands that may prove a finding, with its number.
    pub fn proposals(&self) -> impl Iterator<Item = (usize, &Proposal)> {
        let merged = self.state.merged.as_ref().map_or(0, Vec::len);
        (0..merged).filter_map(|finding| {
            let StepState::Answered(Answer::Verified(answer)) = self.state_of(&Step::Verify { finding })
            else {
                return None;
            };
            let proposal = answer.proposal.as_ref().filter(|one| one.refused.is_none())?;
            (answer.verdict != Verdict::Refuted).then_some((finding, proposal))
        })
    }
}
