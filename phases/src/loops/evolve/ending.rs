//! How a run ends, and how its result gets to a person.

use super::decision::{Decision, End, Ending};
use super::evaluate::{Judged, judged};
use super::measuring::measures;
use super::next::{after, all, open};
use super::step::{Answer, Question, Step};
use super::task::Apply;
use super::weakened::Weakening;
use super::{Next, Run};
use crate::base::id::TreeId;
use crate::runs::proposal::Form;
use crate::runs::run::StepState;

/// Ends the run with a result.
pub(super) fn finish(run: &Run, ending: Ending, tree: TreeId) -> Next<'_> {
    finish_because(run, ending, tree, None)
}

/// Ends the run with a result, once it is known whether it weakens tests, and whether it stands without the changes that
/// a person has not committed.
pub(super) fn finish_because<'a>(run: &'a Run, ending: Ending, tree: TreeId, why: Option<&str>) -> Next<'a> {
    let end = |audited: &[Weakening], stand: Stand| {
        let weakened = audited.iter().cloned().chain(run.fewer_tests(tree)).collect();
        let (tree, why) = ((tree != run.base()).then_some(tree), why.map(Into::into));
        let (stands, needs_uncommitted) = (stand == Stand::Alone, stand == Stand::OnUncommitted);
        Next::Decide(Decision::Ended(End { ending, tree, stands, needs_uncommitted, weakened, why }))
    };
    if tree == run.base() {
        return end(&[], Stand::No);
    }
    let stand = match stand(run, tree) {
        Ok(stand) => stand,
        Err(steps) => return all(steps),
    };
    let measures = open(run, measures(run, ending, tree));
    if !measures.is_empty() {
        return all(measures);
    }
    let answered = |answer: &Answer| match answer {
        Answer::Audited(found) => Some(end(found, stand)),
        _ => None,
    };
    after(run, Step::Audit { tree }, answered, |_| end(&[], stand))
}

/// What a result stands on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// Its commands are green on the last commit with the tasks' changes.
    Alone,
    /// They are green only together with what a person has not committed.
    OnUncommitted,
    /// They were not seen to be green.
    No,
}

/// Returns what a result stands on. A branch has HEAD and the tasks' changes, without what a person has not committed: that
/// tree must meet the specification as well if this one does.
fn stand(run: &Run, tree: TreeId) -> Result<Stand, Vec<Step>> {
    let rounds = || run.state.rounds.iter().filter(|round| round.tree == tree);
    let is_done = rounds().any(|round| round.evaluation.as_ref().is_some_and(|one| one.is_done));
    let is_proposed = matches!(run.plan.task.apply, Apply::Propose(_));
    let is_patch = run.plan.task.apply == Apply::Propose(Form::Patch);
    let is_green = rounds().any(|round| round.evaluation.is_some());
    let committed = run.state.base.committed.filter(|onto| *onto != run.base());
    let Some(onto) = committed.filter(|_| is_proposed) else {
        return Ok(if is_green { Stand::Alone } else { Stand::No });
    };
    let step = Step::Transplant { tree, onto };
    match run.state_of(&step) {
        StepState::Open => Err(vec![step]),
        StepState::Answered(Answer::Transplanted(Some(_))) if !is_green => Ok(Stand::No),
        // A patch claims nothing about the tree that it is applied to.
        StepState::Answered(Answer::Transplanted(Some(_))) if is_patch => Ok(Stand::Alone),
        StepState::Answered(Answer::Transplanted(Some(own))) => Ok(match judged(run, *own)? {
            Judged::Whole(evaluation) if evaluation.is_done || !is_done => Stand::Alone,
            Judged::Whole(_) | Judged::Bare | Judged::Red(_) | Judged::Unjudged(_) => Stand::OnUncommitted,
        }),
        StepState::Answered(_) | StepState::GivenUp(_) => Ok(Stand::OnUncommitted),
    }
}

/// Returns the steps that hand over the result. A person first looks at the places that may weaken tests. A result that
/// does not stand alone is a patch: no branch claims to build.
pub(super) fn tail(run: &Run) -> Vec<Step> {
    let Some(end) = &run.state.end else { return Vec::new() };
    let Some(tree) = end.tree else { return Vec::new() };
    let hand_over = match run.plan.task.apply {
        Apply::Tree if end.ending == Ending::Success => promotions(run, tree),
        Apply::Never | Apply::Tree => return Vec::new(),
        Apply::Propose(form) => {
            let form = if end.stands { form } else { Form::Patch };
            // A result that was not judged has no receipts.
            let has_receipts = run.has_evidence() && run.receipts().is_some();
            let file = has_receipts.then_some(Step::File { tree });
            file.into_iter().chain([Step::Commit { tree, form }]).collect()
        }
    };
    let ask = Step::Ask { question: Question::Weakened, round: 0 };
    (!end.weakened.is_empty()).then_some(ask).into_iter().chain(hand_over).collect()
}

/// Returns the steps that put a result into the project's folder. If a person has changed it meanwhile, the result is
/// merged with what was found.
fn promotions(run: &Run, tree: TreeId) -> Vec<Step> {
    let first = Step::Promote { from: run.base(), to: tree };
    let StepState::Answered(Answer::Conflict { found }) = run.state_of(&first) else { return vec![first] };
    let Some(onto) = found.first().copied() else { return vec![first] };
    let merge = Step::Transplant { tree, onto };
    match run.state_of(&merge) {
        StepState::Answered(Answer::Transplanted(Some(to))) => {
            vec![Step::Promote { from: onto, to: *to }]
        }
        StepState::Open => vec![merge],
        StepState::Answered(_) | StepState::GivenUp(_) => vec![first],
    }
}

impl Run {
    /// Returns the tree that the branch has: the result without what a person has not committed. A patch has none.
    pub fn own_tree(&self, tree: TreeId) -> TreeId {
        let has_branch = matches!(self.plan.task.apply, Apply::Propose(form) if form != Form::Patch)
            && self.state.end.as_ref().is_none_or(|end| end.stands);
        let committed = self.state.base.committed.filter(|onto| *onto != self.base());
        let Some(onto) = committed.filter(|_| has_branch) else { return tree };
        match self.state_of(&Step::Transplant { tree, onto }) {
            StepState::Answered(Answer::Transplanted(Some(own))) => *own,
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => tree,
        }
    }

    /// Returns the project that results are compared with.
    pub fn base(&self) -> TreeId {
        self.state.base.tree
    }

    /// Returns the best judged tree, else the last green one, else what was merged.
    pub fn best_tree(&self) -> TreeId {
        let state = &self.state;
        state.best().map(|round| round.tree).or_else(|| state.last_green()).unwrap_or(state.tree)
    }
}
