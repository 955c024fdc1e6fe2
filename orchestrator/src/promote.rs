//! The only writer of a target: replaces it with one candidate, all members or none.
//!
//! The intent is written beside the target's lock before anything is changed, so that the next command that takes the
//! lock finds it, from anywhere. After a crash, [`recover`] completes the promotion. If the user has edited a file
//! meanwhile, it undoes the promotion around the edit. The user's changes are never overwritten.
//!
//! Ignored files are neither read nor removed. A folder that the new version lacks but that contains ignored files
//! stays, and then it fits both versions: which one it is depends on the version that was expected.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use skilltune_phases::base::id::TreeId;

use crate::disk::atomic::Durability;
use crate::disk::{DiskError, SafePath};
use crate::snapshot::{
    CaptureError, Entry, IgnoreRules, Indexes, Limits, Manifest, Node, ObjectError, Objects, ReplaceError,
    Replacement,
};
use crate::store::{Holder, LockError, Locks, TargetLock};

#[derive(Debug, thiserror::Error)]
pub enum PromoteError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Objects(#[from] ObjectError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("cannot replace the skill; it is unchanged")]
    Undone(#[source] ReplaceError),
    #[error("cannot replace the skill, and cannot restore it; the next skilltune command on it retries")]
    Pending(#[source] ReplaceError),
    #[error("cannot read the pending promotion {path}", path = path.display())]
    BadIntent { path: PathBuf },
}

/// The change of one skill from its current version to the new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    pub path: PathBuf,
    pub from: TreeId,
    pub to: TreeId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promotion {
    Done,
    /// The target matched neither the old nor the new version; its content is stored.
    Conflict {
        found: Vec<TreeId>,
    },
}

/// A repair that the next command had to make, and made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    pub run: String,
    pub moves: Vec<Move>,
    pub result: Promotion,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Intent {
    format: u32,
    run: String,
    objects: PathBuf,
    moves: Vec<Move>,
}

const INTENT_FORMAT: u32 = 1;
/// Enough for the moves of a very long chain.
const LARGEST_INTENT: u64 = 1 << 20;

/// A folder and the versions that it may hold, the most likely first.
#[derive(Clone, Debug)]
pub struct Expected<'a> {
    pub path: &'a Path,
    pub versions: Vec<TreeId>,
}

/// Captures each folder in its current state: as the first version that matches, otherwise as it is.
pub fn found<'a>(
    objects: &Objects,
    indexes: &Indexes,
    folders: impl IntoIterator<Item = Expected<'a>>,
) -> Result<Vec<TreeId>, PromoteError> {
    folders.into_iter().map(|one| found_at(objects, indexes, &one)).collect()
}

fn found_at(objects: &Objects, indexes: &Indexes, one: &Expected<'_>) -> Result<TreeId, PromoteError> {
    // A version that is missing from the store cannot be matched.
    let versions: Vec<Manifest> =
        one.versions.iter().filter_map(|tree| objects.manifest(*tree).ok()).collect();
    let rules = IgnoreRules::knowing(one.path, objects, &versions).map_err(CaptureError::from)?;
    let seen = indexes.look(objects, one.path, Some(rules), Limits::default())?;
    let held = versions.iter().find(|version| seen.as_in(version) == **version);
    Ok(objects.put_manifest(held.unwrap_or(&seen.manifest))?)
}

impl Move {
    fn expected(&self) -> Expected<'_> {
        Expected { path: &self.path, versions: vec![self.to, self.from] }
    }
}

/// Replaces every member's folder. The lock must cover them all.
pub fn promote(
    locks: &Locks,
    lock: &TargetLock,
    objects: &Objects,
    indexes: &Indexes,
    run: &str,
    moves: &[Move],
) -> Result<Promotion, PromoteError> {
    assert!(
        moves.iter().all(|one| lock.targets().contains(&one.path)),
        "a promotion needs its targets' locks"
    );
    let found = found(objects, indexes, moves.iter().map(Move::expected))?;
    let pairs = || moves.iter().zip(&found);
    if pairs().all(|(one, now)| one.to == *now) {
        return Ok(Promotion::Done);
    }
    if !pairs().all(|(one, now)| one.from == *now || one.to == *now) {
        return Ok(Promotion::Conflict { found });
    }
    objects.place().sync_everything()?;
    let intent = Intent {
        format: INTENT_FORMAT,
        run: run.to_owned(),
        objects: objects.place().path().to_owned(),
        moves: moves.to_vec(),
    };
    declare(locks, &intent)?;
    let result = carry_out(objects, indexes, moves);
    if !matches!(result, Err(PromoteError::Pending(_))) {
        withdraw(locks, moves)?;
    }
    result
}

/// Completes or undoes a killed promotion at any of the locked targets, or inside one.
pub fn recover(
    locks: &Locks,
    lock: &mut TargetLock,
    holder: &Holder,
    indexes: &Indexes,
) -> Result<Vec<Repair>, PromoteError> {
    let mut repairs = Vec::new();
    for target in lock.targets().to_vec() {
        if let Some(intent) = read_intent(&intent_file(locks, &target))? {
            repairs.push(repair(locks, lock, holder, indexes, intent)?);
        }
    }
    for place in locks.places()? {
        // An unreadable intent is reported to the command that locks its own skill.
        let Ok(Some(intent)) = read_intent(&intent_in(&place)) else { continue };
        if intent.moves.iter().any(|one| lock.covers(&one.path)) {
            repairs.push(repair(locks, lock, holder, indexes, intent)?);
        }
    }
    Ok(repairs)
}

fn repair(
    locks: &Locks,
    lock: &mut TargetLock,
    holder: &Holder,
    indexes: &Indexes,
    intent: Intent,
) -> Result<Repair, PromoteError> {
    let paths = intent.moves.iter().map(|one| one.path.clone());
    let others: Vec<_> = paths.filter(|path| !lock.covers(path)).collect();
    lock.join(locks.acquire(&others, holder)?);
    let objects = Objects::at(intent.objects.as_path());
    let result = carry_out(&objects, indexes, &intent.moves)?;
    withdraw(locks, &intent.moves)?;
    Ok(Repair { run: intent.run, moves: intent.moves, result })
}

fn carry_out(objects: &Objects, indexes: &Indexes, moves: &[Move]) -> Result<Promotion, PromoteError> {
    let Err(error) = moves.iter().try_for_each(|one| replace(objects, one)) else {
        return Ok(Promotion::Done);
    };
    let undone = moves.iter().try_for_each(|one| put_back(objects, indexes, one));
    match (error, undone) {
        (StepError::Replace(ReplaceError::Edited { .. }), Ok(())) => {
            Ok(Promotion::Conflict { found: found(objects, indexes, moves.iter().map(Move::expected))? })
        }
        (StepError::Replace(error), Ok(())) => Err(PromoteError::Undone(error)),
        (StepError::Replace(error), Err(_)) => Err(PromoteError::Pending(error)),
        (StepError::Other(error), _) => Err(error),
    }
}

#[derive(Debug)]
enum StepError {
    Replace(ReplaceError),
    Other(PromoteError),
}

impl<E: Into<PromoteError>> From<E> for StepError {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

fn replace(objects: &Objects, one: &Move) -> Result<(), StepError> {
    let (from, to) = (objects.manifest(one.from)?, objects.manifest(one.to)?);
    Replacement::plan(&from, &to).apply(objects, &one.path).map_err(StepError::Replace)?;
    Ok(())
}

/// Restores `from`, except where the user has edits of their own.
fn put_back(objects: &Objects, indexes: &Indexes, one: &Move) -> Result<(), StepError> {
    let (from, to) = (objects.manifest(one.from)?, objects.manifest(one.to)?);
    let rules = IgnoreRules::knowing(&one.path, objects, [&from, &to]).map_err(CaptureError::from)?;
    let now = indexes.scan(&one.path, Some(rules), Limits::default())?.as_in(&from);
    let around = around_edits(&from, &to, &now);
    Replacement::plan(&now, &around).apply(objects, &one.path).map_err(StepError::Replace)?;
    Ok(())
}

/// Returns `from`, but keeps every current entry that is neither in `from` nor in `to`, with its parent folders.
fn around_edits(from: &Manifest, to: &Manifest, now: &Manifest) -> Manifest {
    let mut wanted: std::collections::BTreeMap<_, Node> =
        from.entries().iter().map(|entry| (entry.path.clone(), entry.node.clone())).collect();
    let edited = now.entries().iter().filter(|entry| {
        let ours = |manifest: &Manifest| manifest.get(&entry.path) == Some(&entry.node);
        !ours(from) && !ours(to)
    });
    for entry in edited {
        for path in entry.path.lineage() {
            if let Some(node) = now.get(&path) {
                wanted.insert(path, node.clone());
            }
        }
    }
    let entries = wanted.into_iter().map(|(path, node)| Entry { path, node }).collect();
    // If an edit does not fit into the old version, everything stays as it is: the user's edit has priority.
    Manifest::new(entries).unwrap_or_else(|_| now.clone())
}

fn intent_file(locks: &Locks, target: &Path) -> SafePath {
    intent_in(&locks.place(target))
}

fn intent_in(place: &SafePath) -> SafePath {
    place.join("pending.json")
}

fn declare(locks: &Locks, intent: &Intent) -> Result<(), PromoteError> {
    let text = serde_json::to_vec_pretty(intent).expect("an intent has a JSON text");
    for one in &intent.moves {
        intent_file(locks, &one.path).replace(&text, Durability::Barrier)?;
    }
    Ok(())
}

fn withdraw(locks: &Locks, moves: &[Move]) -> Result<(), PromoteError> {
    for one in moves {
        crate::crash::point("promotion: before the intent goes");
        intent_file(locks, &one.path).remove()?;
    }
    Ok(())
}

fn read_intent(path: &SafePath) -> Result<Option<Intent>, PromoteError> {
    let Some(text) = path.read(LARGEST_INTENT)? else { return Ok(None) };
    let intent: Option<Intent> = serde_json::from_slice(&text).ok();
    let known = intent.filter(|intent| intent.format <= INTENT_FORMAT);
    known.map(Some).ok_or_else(|| PromoteError::BadIntent { path: path.path().to_owned() })
}

#[cfg(test)]
mod tests;
