//! The files of a skill for lint, from its folder or from a captured version. Symlinks are not followed.

use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use skilltune_phases::base::id::BlobId;
use skilltune_phases::skills::edit::Version;
use skilltune_phases::skills::lint::{File, Files};

use skilltune_phases::base::material::Body;
use walkdir::WalkDir;

use crate::disk::atomic::TEMP_PREFIX;
use crate::disk::{self, DiskError, OnDisk};
use crate::snapshot::{
    Entry, IgnoreRules, Manifest, Node, ObjectError, Objects, RESERVED, RelPath, RulesError,
};

/// The content of larger files is not read.
const LARGEST: u64 = 1 << 20;
/// Once the texts exceed this total, the content of the others is not read either.
const MOST_BYTES: u64 = 64 << 20;
/// More files than anyone has written by hand.
const MOST_FILES: usize = 20_000;
/// The owner's execute bit.
const RUNS: u32 = 0o100;
/// The set-user-id and set-group-id bits.
const SET_ID: u32 = 0o6000;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{} contains more than {MOST_FILES} files", .0.display())]
    TooMany(PathBuf),
    #[error(transparent)]
    Rules(RulesError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl From<RulesError> for LoadError {
    fn from(error: RulesError) -> Self {
        match error {
            RulesError::Disk(error) => Self::Disk(error),
            RulesError::TooLarge(_) | RulesError::Unusable(_) | RulesError::Index(_) => Self::Rules(error),
        }
    }
}

/// Loads the files below `root` that the user does not ignore, as those of a skill with that name.
pub fn load(root: &Path, name: &str) -> Result<Files, LoadError> {
    load_without(root, name, |_| false)
}

/// Like `load`, but leaves out the files of some folders.
pub fn load_without(
    root: &Path,
    name: &str,
    is_left_out: impl Fn(&Path) -> bool,
) -> Result<Files, LoadError> {
    load_with(root, name, Some(IgnoreRules::of(root)?), is_left_out)
}

/// Loads all files below `root`, a folder of an agent.
pub fn load_all(root: &Path, name: &str) -> Result<Files, LoadError> {
    load_with(root, name, None, |_| false)
}

fn load_with(
    root: &Path,
    name: &str,
    mut rules: Option<IgnoreRules>,
    is_left_out: impl Fn(&Path) -> bool,
) -> Result<Files, LoadError> {
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    let mut left = MOST_BYTES;
    #[expect(clippy::disallowed_methods, reason = "it follows no link below the folder that a person named")]
    let mut entries = WalkDir::new(root).min_depth(1).into_iter();
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            DiskError { op: "read", path, source: error.into() }
        })?;
        if is_ours(&entry) || rules.as_mut().map_or(Ok(false), |rules| is_ignored(rules, root, &entry))? {
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
            continue;
        }
        if entry.file_type().is_dir() && is_left_out(entry.path()) {
            left_out.push(below(root, &entry).to_string_lossy().into_owned());
            entries.skip_current_dir();
            continue;
        }
        files.extend(file(root, &entry, &mut left).on_disk("read", entry.path())?);
        if files.len() > MOST_FILES {
            return Err(LoadError::TooMany(root.to_owned()));
        }
    }
    Ok(Files::new(name, files).without(left_out))
}

fn below<'e>(root: &Path, entry: &'e walkdir::DirEntry) -> &'e Path {
    entry.path().strip_prefix(root).expect("a walk stays below its root")
}

fn is_ours(entry: &walkdir::DirEntry) -> bool {
    let name = entry.file_name();
    let is_reserved = entry.depth() == 1 && RESERVED.iter().any(|reserved| name == *reserved);
    is_reserved || name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes())
}

/// Returns true if an entry of a walk is ignored. Must not be called for entries in an ignored folder.
pub(crate) fn is_ignored(
    rules: &mut IgnoreRules,
    root: &Path,
    entry: &walkdir::DirEntry,
) -> Result<bool, RulesError> {
    let below = below(root, entry);
    let path = RelPath::parse(below.as_os_str().as_bytes()).expect("a walk gives plain names");
    rules.ignores(&path, entry.file_type().is_dir())
}

fn file(root: &Path, entry: &walkdir::DirEntry, left: &mut u64) -> io::Result<Option<File>> {
    let below = below(root, entry);
    let path = below.to_string_lossy().into_owned();
    let kind = entry.file_type();
    if kind.is_symlink() {
        let target = entry.path().read_link()?.to_string_lossy().into_owned();
        return Ok(Some(File { path, body: Body::Link { target }, executable: false }));
    }
    if !kind.is_file() {
        return Ok(None);
    }
    let mut opened = disk::open(entry.path())?;
    let meta = opened.metadata()?;
    let executable = meta.permissions().mode() & RUNS != 0;
    let bytes = meta.len();
    let body = if bytes > LARGEST.min(*left) {
        Body::Large { bytes }
    } else {
        let mut read = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default() + 1);
        opened.by_ref().take(LARGEST + 1).read_to_end(&mut read)?;
        body(read, below.to_str().is_some(), left)
    };
    Ok(Some(File { path, body, executable }))
}

/// Loads the files of a captured version.
pub fn load_captured(manifest: &Manifest, name: &str, objects: &Objects) -> Result<Files, ObjectError> {
    load_from(manifest, name, |blob| objects.read(blob))
}

/// Loads the files of a captured version with any reader of its bytes.
pub(crate) fn load_from<E>(
    manifest: &Manifest,
    name: &str,
    read: impl Fn(BlobId) -> Result<Vec<u8>, E>,
) -> Result<Files, E> {
    let mut files = Vec::new();
    let mut left = MOST_BYTES;
    for entry in manifest.entries() {
        let path = entry.path.as_path().to_string_lossy().into_owned();
        let (body, mode) = match &entry.node {
            Node::Folder { .. } => continue,
            Node::Link { target } => (Body::Link { target: String::from_utf8_lossy(target).into_owned() }, 0),
            Node::File { size, mode, .. } if *size > LARGEST.min(left) => {
                (Body::Large { bytes: *size }, *mode)
            }
            Node::File { blob, mode, .. } => {
                let is_named = entry.path.as_path().to_str().is_some();
                (body(read(*blob)?, is_named, &mut left), *mode)
            }
        };
        files.push(File { path, body, executable: mode & RUNS != 0 });
    }
    Ok(Files::new(name, files))
}

/// Loads the files of a captured version, including properties that lint does not check.
pub fn load_version(manifest: &Manifest, objects: &Objects) -> Result<Version, ObjectError> {
    let has_set_id = |entry: &&Entry| match entry.node {
        Node::File { mode, .. } => mode & SET_ID != 0,
        Node::Folder { .. } | Node::Link { .. } => false,
    };
    let set_id = manifest.entries().iter().filter(has_set_id);
    let set_id = set_id.map(|entry| entry.path.as_path().to_string_lossy().into_owned()).collect();
    let content = |entry: &Entry| match entry.node {
        Node::File { blob, .. } => Some((entry.path.as_path().to_string_lossy().into_owned(), blob)),
        Node::Folder { .. } | Node::Link { .. } => None,
    };
    let contents = manifest.entries().iter().filter_map(content).collect();
    Ok(Version { files: load_captured(manifest, "", objects)?, set_id, contents })
}

/// A file whose name is not UTF-8 is treated as binary: it could not be written back under that name.
fn body(bytes: Vec<u8>, is_named: bool, left: &mut u64) -> Body {
    let size = bytes.len() as u64;
    *left = left.saturating_sub(size);
    match String::from_utf8(bytes) {
        Ok(text) if is_named && !text.contains('\0') => Body::Text(text),
        _ => Body::Binary { bytes: size },
    }
}
