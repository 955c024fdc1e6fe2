//! The changes of an edit, as its page and `skilltune diff` show them.

use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::{Edit, Round, Run};
use skilltune_phases::skills::edit::{self, Danger};

use crate::skill_files::load_version;
use crate::snapshot::{self, ChangeKind, ObjectError, Objects};

/// The changes of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// One line per file, such as `M SKILL.md`.
    pub files: Vec<String>,
    pub unified: String,
}

/// Returns the changes of a round's edit.
pub fn edit_diff(objects: &Objects, run: &Run, round: &Round) -> Result<Diff, ObjectError> {
    let Some(Edit::Draft { candidate, origin }) = &round.edit else { return Ok(Diff::default()) };
    let (Some(base), Some(draft)) = (run.candidate(origin.parent), run.candidate(*candidate)) else {
        return Ok(Diff::default());
    };
    let mut diff = Diff::default();
    let members = run.plan.task.target.members.iter().zip(base.trees.iter().zip(&draft.trees));
    for (member, (&from, &to)) in members.filter(|(_, (from, to))| from != to) {
        let one = tree_diff(objects, from, to)?;
        let prefix = if run.plan.is_chain() { format!("{}/", member.name) } else { String::new() };
        diff.files.extend(one.files.iter().map(|line| format!("{} {prefix}{}", &line[..1], &line[2..])));
        diff.unified.push_str(&one.unified);
    }
    Ok(diff)
}

/// Returns the additions between two stored trees that a person has to review.
pub fn tree_dangers(objects: &Objects, from: TreeId, to: TreeId) -> Result<Vec<Danger>, ObjectError> {
    let version = |tree| load_version(&objects.manifest(tree)?, objects);
    Ok(edit::dangers(&version(from)?, &version(to)?))
}

/// Returns the changes between two stored trees.
pub fn tree_diff(objects: &Objects, from: TreeId, to: TreeId) -> Result<Diff, ObjectError> {
    let (from, to) = (objects.manifest(from)?, objects.manifest(to)?);
    let letter = |kind| match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Removed => 'D',
        ChangeKind::Modified => 'M',
        ChangeKind::Mode => 'X',
        ChangeKind::Retyped => 'T',
    };
    let changes = snapshot::changes(&from, &to);
    let files = changes.iter().map(|change| format!("{} {}", letter(change.kind), change.path));
    Ok(Diff { files: files.collect(), unified: snapshot::unified(objects, &from, &to)? })
}
