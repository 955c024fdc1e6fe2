//! The folders of one call: what is prepared before an agent starts, and what is read afterwards.
//!
//! Each stage leaves its result in a file, so a killed run resumes after the last complete stage: the reply, the
//! guardian's record of a call that answered, or nothing.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use jiff::Timestamp;
use skilltune_phases::asking::order::{Access, Order, Placement, Planted, with_codes};
use skilltune_phases::base::id::CallKey;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::skills::target::with_plugin_root;
use skilltune_phases::suites::transcript::Transcript;

use super::{EngineError, Services};
use crate::disk::atomic::Durability;
use crate::disk::{DiskError, Folder, SafePath};
use crate::process::{Ended, How};
use crate::snapshot::{self, Entry, Manifest, Node, ObjectError, Objects, RelPath};

const SPACE: &str = "space";
const TEMP: &str = "tmp";
const PROMPT: &str = "prompt.md";
const SCHEMA: &str = "schema.json";
/// The mode of a folder that gets a file.
const OPEN: u32 = 0o755;

#[derive(Debug)]
pub(super) struct CallDir {
    /// In the run's folder: `prompt.md`, `stdout`, `stderr`, `transcript.jsonl`, `reply.json`.
    record: SafePath,
    /// Outside of the project: the workspace and the temporary folder.
    work: SafePath,
    name: String,
}

/// A call's folders, newly made and open.
pub(super) struct Fresh {
    record: Folder,
    pub(super) space: Folder,
}

impl CallDir {
    pub(super) fn of(services: &Services, key: CallKey) -> Self {
        let name = key.short();
        Self { record: services.folder.call(key), work: services.work.join(&name), name }
    }

    pub(super) fn space(&self) -> SafePath {
        self.work.join(SPACE)
    }

    pub(super) fn space_path(&self) -> PathBuf {
        self.space().path().to_owned()
    }

    pub(super) fn temp_path(&self) -> PathBuf {
        self.temp().path().to_owned()
    }

    pub(super) fn temp(&self) -> SafePath {
        self.work.join(TEMP)
    }

    /// Returns the folder of the workspace and the temporary folder, with nothing else in it.
    pub(super) fn work_path(&self) -> PathBuf {
        self.work.path().to_owned()
    }

    /// Returns the name of the call among those of its run.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn prompt_path(&self) -> PathBuf {
        self.record.join(PROMPT).path().to_owned()
    }

    pub(super) fn schema_path(&self) -> PathBuf {
        self.record.join(SCHEMA).path().to_owned()
    }

    pub(super) fn stdout(&self) -> SafePath {
        self.record.join("stdout")
    }

    pub(super) fn stderr(&self) -> SafePath {
        self.record.join("stderr")
    }

    /// Returns the path of a file next to the call's own, for commands that run before it.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.file(name).path().to_owned()
    }

    /// Returns a file next to the call's own.
    pub(super) fn file(&self, name: &str) -> SafePath {
        self.record.join(name)
    }

    /// Returns the record of the draft after the setup command.
    pub(super) fn after_setup(&self) -> SafePath {
        self.file("setup.manifest")
    }

    /// Not beside the workspace: an unconfined agent could replace the folder that it is in.
    fn ended(&self) -> SafePath {
        self.record.join("ended.json")
    }

    pub(super) fn ended_path(&self) -> PathBuf {
        self.ended().path().to_owned()
    }

    /// Returns the guardian's record of a call that ended, if its workspace still exists.
    pub(super) fn recorded_end(&self) -> Result<Option<Ended>, EngineError> {
        if !self.space().is_folder() {
            return Ok(None);
        }
        Ok(Ended::recorded(&self.ended_path())?.filter(|ended| ended.how.is_answer()))
    }

    /// Returns the time at which the call ended, from its record: it may be read much later.
    pub(super) fn ended_at(&self) -> Timestamp {
        let written = fs::metadata(self.ended_path()).and_then(|meta| meta.modified()).ok();
        written.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(Timestamp::now)
    }

    /// Recreates the folders, so that nothing of an earlier attempt is in them.
    pub(super) fn fresh(&self) -> Result<Fresh, DiskError> {
        let (record, work) = (self.record.fresh()?, self.work.fresh()?);
        let space = work.make_child(SPACE.as_ref())?;
        work.make_child(TEMP.as_ref())?;
        Ok(Fresh { record, space })
    }

    /// Writes the prompt of a call that another machine makes, in place of what an earlier attempt left.
    pub(super) fn note(&self, prompt: Option<&str>) -> Result<(), DiskError> {
        let record = self.record.fresh()?;
        prompt.map_or(Ok(()), |prompt| record.write_new(PROMPT.as_ref(), prompt.as_bytes()))
    }

    /// Writes the transcript. An agent that reported nothing has none.
    pub(super) fn write_transcript(&self, transcript: &Transcript) -> Result<(), DiskError> {
        if transcript.is_empty() {
            return Ok(());
        }
        self.record.join("transcript.jsonl").replace(transcript.lines().as_bytes(), Durability::Order)
    }

    /// Places files of a person, for their owner alone. A path of the project's own stays as it is.
    pub(super) fn bring(&self, objects: &Objects, brought: &Placement) -> Result<(), EngineError> {
        let root = self.space().join(&brought.at);
        for Entry { path, node } in objects.manifest(brought.tree)?.entries() {
            let above = path.parent().map_or_else(|| root.clone(), |parent| root.join(parent.as_path()));
            let place = root.join(path.as_path());
            if !above.is_folder() || place.exists() {
                continue;
            }
            match node {
                Node::Folder { .. } => place.make()?,
                Node::File { blob, .. } => place.create_private(&objects.read(*blob)?)?,
                Node::Link { .. } => {}
            }
        }
        Ok(())
    }

    /// Puts files over those of the workspace, whatever is at their paths, with codes in place of words. If that is not
    /// possible, because a program has locked a folder, returns why.
    pub(super) fn plant(
        &self,
        objects: &Objects,
        planted: &[Planted],
    ) -> Result<Option<(How, Failure)>, EngineError> {
        for Planted { tree, words } in planted {
            for Entry { path, node } in objects.manifest(*tree)?.entries() {
                let bytes = match node {
                    Node::Folder { .. } => None,
                    Node::File { blob, .. } => Some(coded(objects.read(*blob)?, words)),
                    Node::Link { .. } => continue,
                };
                if let Err(error) = self.plant_one(path, bytes.as_deref()) {
                    let why = format!("cannot place {path}: {error}");
                    return Ok(Some((How::Exited(1), Failure::new(FailureKind::Crashed, why))));
                }
            }
        }
        Ok(None)
    }

    /// Writes a file, or makes a folder, at a path whose parent is there.
    fn plant_one(&self, path: &RelPath, bytes: Option<&[u8]>) -> Result<(), DiskError> {
        let place = self.space().join(path.as_path());
        let above = path.parent().map_or_else(|| self.space(), |above| self.space().join(above.as_path()));
        if let Some(folder) = above.folder()? {
            folder.set_mode(OPEN)?;
        }
        match bytes {
            None if place.is_folder() => Ok(()),
            None => {
                place.remove()?;
                place.make()
            }
            Some(bytes) => {
                place.remove()?;
                place.replace(bytes, Durability::Order)
            }
        }
    }

    /// Removes the workspace, the temporary folder, and the record of the end, which is read only with them. What was
    /// asked and answered stays.
    pub(super) fn clear(&self) -> Result<(), DiskError> {
        self.work.remove()?;
        self.ended().remove()
    }
}

/// Returns a file with codes in place of words, if it is a text.
fn coded(bytes: Vec<u8>, words: &[(Box<str>, String)]) -> Vec<u8> {
    let text = String::from_utf8(bytes);
    text.map_or_else(FromUtf8Error::into_bytes, |text| with_codes(&text, words).into_bytes())
}

/// Returns the files of a placement that the prompt mentions: all but the hidden ones.
pub(super) fn shown(objects: &Objects, placement: &Placement) -> Result<Manifest, ObjectError> {
    Ok(picked(&objects.manifest(placement.tree)?.split(&hidden(placement)).0, placement))
}

/// Returns the files of a placement that are put into the workspace.
pub(super) fn placed(objects: &Objects, placement: &Placement) -> Result<Manifest, ObjectError> {
    let whole = objects.manifest(placement.tree)?;
    Ok(picked(&whole.split(&withheld(&whole, placement)).0, placement))
}

fn picked(all: &Manifest, placement: &Placement) -> Manifest {
    if placement.picked.is_empty() {
        return all.clone();
    }
    let path = |text: &str| RelPath::parse(text.as_bytes()).ok();
    all.picked(placement.picked.iter().filter_map(|file| path(&file.path).zip(path(&file.at))))
}

/// Merges everything that is placed or shown at one path of a workspace; the first placement wins.
pub(super) fn all_at(
    objects: &Objects,
    order: &Order,
    at: &str,
    one: fn(&Objects, &Placement) -> Result<Manifest, ObjectError>,
) -> Result<Option<Manifest>, ObjectError> {
    let mut all: Option<Manifest> = None;
    for placement in order.placements.iter().filter(|placement| placement.at == at) {
        let one = one(objects, placement)?;
        all = Some(all.map_or_else(|| one.clone(), |all| all.over(&one)));
    }
    Ok(all)
}

/// Merges everything that is placed at one path of a workspace.
pub(super) fn placed_at(objects: &Objects, order: &Order, at: &str) -> Result<Option<Manifest>, ObjectError> {
    all_at(objects, order, at, placed)
}

/// Returns the paths of a tree that are not placed: hidden ones, and symlinks that lead out of it.
pub(super) fn withheld(whole: &Manifest, placement: &Placement) -> Vec<RelPath> {
    let links = whole.links_outside().filter(|_| !placement.links_outside);
    links.map(|link| link.path.clone()).chain(hidden(placement)).collect()
}

/// Invalid paths hide nothing.
fn hidden(placement: &Placement) -> Vec<RelPath> {
    placement.hidden.iter().filter_map(|path| RelPath::parse(path.as_bytes()).ok()).collect()
}

/// Returns the pages that name the folder of their plugin, with the path that it has in this workspace.
fn plugin_pages(
    objects: &Objects,
    manifest: &Manifest,
    root: &Path,
) -> Result<Vec<(RelPath, String)>, ObjectError> {
    const MOST: u64 = 1 << 20;
    let root = root.to_string_lossy();
    let mut pages = Vec::new();
    for Entry { path, node } in manifest.entries() {
        let is_page =
            path.as_path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
        let Node::File { blob, .. } = node else { continue };
        if !is_page {
            continue;
        }
        let Ok(bytes) = objects.read_at_most(*blob, MOST)? else { continue };
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let read = with_plugin_root(&text, &root);
        if read != text {
            pages.push((path.clone(), read));
        }
    }
    Ok(pages)
}

impl Fresh {
    /// Puts the order's folders into the workspace.
    pub(super) fn place(&self, services: &Services, order: &Order, space: &Path) -> Result<(), EngineError> {
        let mut filled = HashSet::new();
        for placement in order.placements.iter().filter(|placement| filled.insert(&placement.at)) {
            let manifest = placed_at(&services.objects, order, &placement.at)?;
            let mut manifest = manifest.expect("this placement is there");
            if placement.access == Access::Draft {
                // A skill may be read-only, but its copy must be writable.
                manifest = manifest.unlocked();
            }
            let folder = self.space.make_below(Path::new(&placement.at))?;
            let pages = match &order.plugin {
                // A folder that must stay unchanged is placed as it is: the prompt shows its pages.
                Some(root) if placement.access == Access::Scratch => {
                    plugin_pages(&services.objects, &manifest, &space.join(root))?
                }
                Some(_) | None => Vec::new(),
            };
            let names: Vec<RelPath> = pages.iter().map(|(path, _)| path.clone()).collect();
            if !names.is_empty() {
                manifest = manifest.split(&names).0.unlocked();
            }
            snapshot::fill(&folder, &services.objects, &manifest)?;
            for (path, text) in pages {
                let above = path.as_path().parent().unwrap_or(Path::new(""));
                folder.make_below(above)?.write_new(path.name(), text.as_bytes())?;
            }
        }
        Ok(())
    }

    pub(super) fn write_prompt(&self, prompt: &str) -> Result<(), DiskError> {
        self.record.write_new(PROMPT.as_ref(), prompt.as_bytes())
    }

    pub(super) fn write_schema(&self, schema: &str) -> Result<(), DiskError> {
        self.record.write_new(SCHEMA.as_ref(), schema.as_bytes())
    }
}
