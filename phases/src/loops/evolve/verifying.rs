//! A result is looked at again, without any agent: its commands and its oracles run on the project before and after the
//! change, and the words of its receipts are compared with what is seen now.

use super::decision::Ending;
use super::next::{all, ended, open};
use super::oracle;
use super::receipt::Word;
use super::spec::Id;
use super::stages::{self, Gate};
use super::step::Step;
use super::task::Verify;
use super::{Next, Run};
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;

pub(super) fn next<'r>(run: &'r Run, verify: &Verify) -> Next<'r> {
    // Somebody else may have written the commands: none runs before a person allows all of them.
    match run.may_run(run.plan.task.checks, &Step::Allow) {
        None => return Next::one(Step::Allow),
        Some(false) => {
            return ended(Ending::Incomplete, Some("the commands of the receipts may not run"));
        }
        Some(true) => {}
    }
    let mut steps = oracle::due(run);
    if steps.is_empty() {
        let probe = |id: &Id| {
            Some(Step::Probe { criterion: id.clone(), go: run.stands(id)?.probe()?.go, tree: verify.result })
        };
        let known = run.plan.task.spec.criteria.iter();
        steps.extend(known.filter_map(|one| probe(&one.id)));
    }
    steps.extend([run.base(), verify.result].into_iter().flat_map(|tree| stages::all_of(run, tree)));
    let steps = open(run, steps);
    if !steps.is_empty() {
        return all(steps);
    }
    if !run.has_repeated_any(verify.result) {
        return ended(Ending::Incomplete, Some("no command of the receipts could run"));
    }
    let is_other = run.repeated().iter().any(|(_, before, now)| before != now);
    let is_repeated = !is_other && run.lost_stages().is_empty();
    ended(if is_repeated { Ending::Repeated } else { Ending::NotRepeated }, None)
}

impl Run {
    /// Returns each criterion of a verified result, with the word of its receipt and the word that it deserves now.
    pub fn repeated(&self) -> Vec<(Id, Word, Word)> {
        let Some(verify) = &self.plan.task.verify else { return Vec::new() };
        let now = |id: &Id| {
            let standing = self.stands(id);
            let Some(go) = standing.as_ref().and_then(|standing| Some(standing.probe()?.go)) else {
                // No machine tells it now.
                return Word::Judged;
            };
            self.word_of_machine(id, go, verify.result).unwrap_or(Word::NotMet)
        };
        // What an agent or a person said then cannot be repeated, even if the oracle runs.
        let word = |(id, before): &(Id, Word)| {
            let now = if before.is_of_machine() { now(id) } else { *before };
            (id.clone(), *before, now)
        };
        verify.words.iter().map(word).collect()
    }

    /// Returns the commands that are newly red with a verified result, or that passed with it then and do not now.
    pub fn lost_stages(&self) -> Vec<Stage> {
        let Some(verify) = &self.plan.task.verify else { return Vec::new() };
        let has_passed = |stage: Stage| {
            verify.commands.iter().any(|receipt| receipt.stage == stage && receipt.after == Some(0))
        };
        let exit = |stage: Stage| self.ran(verify.result, stage).and_then(|(_, end)| end?.exit);
        let is_red = |stage: Stage| self.gate(verify.result, stage) == Some(Gate::Red);
        let is_lost = |stage: &Stage| is_red(*stage) || has_passed(*stage) && exit(*stage) != Some(0);
        Stage::ALL.into_iter().filter(is_lost).collect()
    }

    /// Whether any command or oracle ran to its end, with the result or without it.
    fn has_repeated_any(&self, result: TreeId) -> bool {
        let trees = [self.base(), result];
        let has_probed = |id: &Id| {
            trees.iter().any(|tree| self.probed(id, 0, *tree).is_some_and(|end| end.exit.is_some()))
        };
        let has_ended = |stage: Stage| {
            let ended = |tree: &TreeId| self.ran(*tree, stage).and_then(|(_, end)| end?.exit);
            trees.iter().any(|tree| ended(tree).is_some())
        };
        let mut criteria = self.plan.task.spec.criteria.iter();
        criteria.any(|one| has_probed(&one.id)) || Stage::ALL.into_iter().any(has_ended)
    }
}

#[cfg(test)]
mod tests;
