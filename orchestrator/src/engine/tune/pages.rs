//! What people read of a run: artifacts, the pages of its rounds, the state, the report.
//!
//! All of it follows from the journal and the store, and can be written again at any time.

use skilltune_phases::id::TreeId;
use skilltune_phases::loops::tune::measure::{self, SEARCH};
use skilltune_phases::loops::tune::state_file;
use skilltune_phases::loops::tune::{Edit, Round, Run, Trial};

use super::super::{EngineError, Workshop};
use crate::disk::SafePath;
use crate::disk::atomic::{Durability, TEMP_PREFIX};
use crate::snapshot::{self, ChangeKind, ObjectError, Objects};
use crate::store::RunFolder;

/// The one trial of a round whose artifacts are shown.
const TRIAL: &str = "1";

/// What an edit changed, for its page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// One line a file, such as `M SKILL.md`.
    pub files: Vec<String>,
    pub unified: String,
}

/// How the pages are worded: that is a person's side.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    pub evaluation: fn(&Run, &Round) -> String,
    pub changes: fn(&Run, &Round, &Diff) -> String,
    pub report: fn(&Run) -> String,
    pub report_json: fn(&Run) -> String,
}

/// The newest round's pages and the state: written at the ends of rounds.
pub(super) fn write_round(shop: &Workshop, run: &Run, pages: &Pages) -> Result<(), EngineError> {
    if let Some(round) = run.course.rounds.last() {
        round_pages(&shop.objects, &shop.folder, run, round, pages)?;
    }
    write_state(&shop.folder, run)
}

/// Every page of a run.
pub(super) fn write_all(
    objects: &Objects,
    folder: &RunFolder,
    run: &Run,
    pages: &Pages,
) -> Result<(), EngineError> {
    for round in &run.course.rounds {
        round_pages(objects, folder, run, round, pages)?;
    }
    if run.course.closed.is_some() {
        write(&folder.report(), &(pages.report)(run))?;
        write(&folder.report_json(), &(pages.report_json)(run))?;
    }
    write_state(folder, run)
}

fn write_state(folder: &RunFolder, run: &Run) -> Result<(), EngineError> {
    write(&folder.state(), &state_file::text(run))
}

fn round_pages(
    objects: &Objects,
    folder: &RunFolder,
    run: &Run,
    round: &Round,
    pages: &Pages,
) -> Result<(), EngineError> {
    if round.measured.is_none() {
        return Ok(());
    }
    let place = folder.iteration(round.number);
    place.make_folder()?;
    write(&place.join(format!("iteration-{}-eval.md", round.number)), &(pages.evaluation)(run, round))?;
    artifacts(objects, &place.join("artifacts"), run, round)?;
    if round.edit.is_some() {
        let diff = edit_diff(objects, run, round)?;
        write(
            &place.join(format!("iteration-{}-changes.md", round.number)),
            &(pages.changes)(run, round, &diff),
        )?;
    }
    Ok(())
}

#[track_caller]
fn write(path: &SafePath, text: &str) -> Result<(), EngineError> {
    Ok(path.replace(text.as_bytes(), Durability::Order)?)
}

/// `artifacts/<skill>/<scenario>/<trial>/`, as the trials left them.
fn artifacts(objects: &Objects, place: &SafePath, run: &Run, round: &Round) -> Result<(), EngineError> {
    let Some(candidate) = run.candidate(round.candidate) else { return Ok(()) };
    for &scenario in run.course.measure.scenarios() {
        let trial = Trial { scenario, ordinal: SEARCH, era: round.era };
        let left = measure::artifacts(run, candidate, trial);
        for (member, tree) in run.plan.task.target.members.iter().zip(left) {
            let into = place.join(&*member.name).join(&*run.plan.task.scenarios[scenario].id);
            if !into.join(TRIAL).exists() {
                place_whole(objects, tree, &into)?;
            }
        }
    }
    Ok(())
}

/// Under another name first, so that a folder that is there is whole.
fn place_whole(objects: &Objects, tree: TreeId, into: &SafePath) -> Result<(), EngineError> {
    let half = into.join(format!("{TEMP_PREFIX}half"));
    snapshot::fill(&half.fresh()?, objects, &objects.manifest(tree)?)?;
    Ok(half.rename(TRIAL)?)
}

fn edit_diff(objects: &Objects, run: &Run, round: &Round) -> Result<Diff, ObjectError> {
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

/// What changed from one stored tree to another.
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
