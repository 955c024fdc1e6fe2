//! Merges the works of several tasks, one after the other, and says of each why it was not accepted.
//!
//! A work that is not accepted leaves the tree as it was, and the next one is merged onto it. No side is ever preferred:
//! a conflict, a loss in the merged tree, and a deleted line of another task go back to the task.

mod blame;

use skilltune_phases::base::id::TreeId;

use super::census::{Loss, census};
use super::merge::{Conflict, Merged, merge};
use super::objects::{ObjectError, Objects};

pub use blame::{Accepted, Deleted, deleted_lines};

/// The work of one task. Tasks are numbers that the caller gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub task: usize,
    /// The tree that it started from.
    pub from: TreeId,
    pub made: TreeId,
    /// The other tasks whose lines it may delete.
    pub replaces: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrated {
    /// One for each work.
    pub works: Vec<WorkResult>,
    /// The tree with all accepted works.
    pub tree: TreeId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkResult {
    /// With the stored tree before and after it.
    Accepted(Accepted),
    Refused(Refusal),
}

/// Why a work was not accepted. No list is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Conflicts(Vec<Conflict>),
    /// It deletes lines that other tasks added.
    Deletes(Vec<Deleted>),
    /// The merged tree is not complete.
    Lost(Vec<Loss>),
}

impl Refusal {
    /// Returns the reason for the agent that does the task again. `name` gives the name of a task.
    pub fn sentence(&self, name: impl Fn(usize) -> String) -> String {
        match self {
            Self::Conflicts(conflicts) => {
                format!("it conflicts with work that was accepted before it: {}", listed_conflicts(conflicts))
            }
            Self::Deletes(files) => {
                let shown = |file: &Deleted| {
                    let tasks: Vec<String> = file.tasks.iter().map(|task| name(*task)).collect();
                    format!("{} ({:?} of {})", file.path, file.line, tasks.join(", "))
                };
                format!("it deletes lines that other tasks added: {}", listed(files, shown))
            }
            Self::Lost(losses) => {
                format!("the merge with it is not complete: {}", listed(losses, Loss::to_string))
            }
        }
    }
}

/// Lists conflicts for people and agents.
pub fn listed_conflicts(conflicts: &[Conflict]) -> String {
    listed(conflicts, |one| format!("{} ({})", one.path, one.kind.sentence()))
}

/// Lists the first ones, and counts the others.
fn listed<T>(all: &[T], shown: impl Fn(&T) -> String) -> String {
    const MOST_LISTED: usize = 20;
    let mut list: Vec<String> = all.iter().take(MOST_LISTED).map(shown).collect();
    if all.len() > MOST_LISTED {
        list.push(format!("and {} more", all.len() - MOST_LISTED));
    }
    list.join(", ")
}

/// Merges the works in their order onto a tree. `earlier` has the works of the run that led to this tree.
pub fn integrate(
    objects: &Objects,
    onto: TreeId,
    works: &[Work],
    earlier: &[Accepted],
) -> Result<Integrated, ObjectError> {
    let mut integration = Integration { objects, onto, chain: earlier.to_vec(), changes: Vec::new() };
    let (mut tree, mut results) = (onto, Vec::new());
    for work in works {
        results.push(match integration.accept(tree, work)? {
            Ok(after) => {
                let accepted = Accepted { task: work.task, before: tree, after };
                integration.chain.push(accepted);
                integration.changes.push((work.from, work.made));
                tree = after;
                WorkResult::Accepted(accepted)
            }
            Err(refusal) => WorkResult::Refused(refusal),
        });
    }
    Ok(Integrated { works: results, tree })
}

struct Integration<'a> {
    objects: &'a Objects,
    onto: TreeId,
    /// The accepted works of the whole run.
    chain: Vec<Accepted>,
    /// The accepted changes since `onto`.
    changes: Vec<(TreeId, TreeId)>,
}

impl Integration<'_> {
    /// Returns the tree with the work.
    fn accept(&self, tree: TreeId, work: &Work) -> Result<Result<TreeId, Refusal>, ObjectError> {
        let merged = match merge(self.objects, work.from, tree, work.made)? {
            Merged::Clean(merged) => merged,
            Merged::Conflicts(conflicts) => return Ok(Err(Refusal::Conflicts(conflicts))),
        };
        let may = |task: usize| task == work.task || work.replaces.contains(&task);
        let deleted = deleted_lines(self.objects, &self.chain, work.from, work.made, &may)?;
        if !deleted.is_empty() {
            return Ok(Err(Refusal::Deletes(deleted)));
        }
        let changes = [self.changes.as_slice(), &[(work.from, work.made)]].concat();
        let losses = census(self.objects, self.onto, &changes, merged)?;
        Ok(if losses.is_empty() { Ok(merged) } else { Err(Refusal::Lost(losses)) })
    }
}

#[cfg(test)]
mod tests;
