//! The files of a run. All of them follow from its journal and the store, and can be written again at any time.

use skilltune_phases::base::id::TreeId;
use skilltune_phases::runs::run::Run;

use super::{EngineError, Extent, LoopEngine};
use crate::disk::SafePath;
use crate::disk::atomic::{Durability, TEMP_PREFIX};
use crate::snapshot::{self, Objects};
use crate::store::RunFolder;

/// Writes the files of a run. The state comes last: if it is up to date, so is everything else.
pub fn publish<L: LoopEngine>(
    objects: &Objects,
    folder: &RunFolder,
    run: &Run<L>,
    extent: Extent,
    write_pages: impl FnOnce() -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    L::project(objects, folder, run, extent)?;
    write_pages()?;
    Ok(folder.state().replace(L::state(run).as_bytes(), Durability::Order)?)
}

/// Whether the files of a run exist and match its journal. The state of a loop need not change when a run closes; its
/// report, written just before, does.
pub fn is_published<L: LoopEngine>(folder: &RunFolder, run: &Run<L>) -> bool {
    let has_report = run.closed_at.is_none() || folder.report_json().is_file();
    has_report && folder.state().holds(L::state(run).as_bytes()) && L::is_projected(run)
}

/// Fills a folder under a temporary name first, so that a folder with the final name is complete.
pub(super) fn place_tree(
    objects: &Objects,
    tree: TreeId,
    place: &SafePath,
    name: &str,
) -> Result<(), EngineError> {
    if place.join(name).exists() {
        return Ok(());
    }
    let half = place.join(format!("{TEMP_PREFIX}half"));
    snapshot::fill(&half.fresh()?, objects, &objects.manifest(tree)?)?;
    Ok(half.rename(name)?)
}
