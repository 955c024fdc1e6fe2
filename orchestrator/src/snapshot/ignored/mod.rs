//! The files of a folder that are excluded: those that git ignores and those that `.skilltuneignore` names.
//!
//! ```text
//! .git/info/exclude, .gitignore and .skilltuneignore from the root of the repository down -> levels
//! git's index                                                                            -> tracked paths
//! versions that the folder may hold                                                      -> known paths, more rules
//! ```
//!
//! The innermost matching rule decides, as in git, and `.skilltuneignore` takes precedence over git's rules. A file
//! that git tracks is not ignored by git's rules. A path of a known version is never ignored: what was captured once
//! stays visible, whatever the rules say now. The rule files of a known version count beside those on the disk: an
//! agent's edit of a rule file never uncovers what the rules hid before.

mod level;
mod pattern;
mod repository;
mod tracked;

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Components, Path, PathBuf};

use self::level::{Level, Source, compiled};
use self::repository::Repository;
use super::manifest::{Manifest, Node};
use super::objects::Objects;
use super::path::RelPath;
use crate::disk::{DiskError, Folder, OnDisk as _, SafePath, read_first};

pub use self::repository::git_folders;

/// More than any real rule file.
const LARGEST: u64 = 64 << 10;
/// The total size of all rule files of one walk: compiled, they take a few hundred times as much.
const MOST_BYTES: usize = 512 << 10;

/// The main file of a skill: naming a skill's folder means this file.
const PAGE: &str = "SKILL.md";
const GIT: &str = ".git";

#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error("the ignore rules of {} are too large", .0.display())]
    TooLarge(PathBuf),
    #[error("cannot use the ignore rules in {}", .0.display())]
    Unusable(PathBuf),
    #[error("cannot read the list of tracked files {}", .0.display())]
    Index(PathBuf),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The rules for one folder. They are read during the walk, so ask for siblings one after the other.
#[derive(Debug)]
pub struct IgnoreRules {
    root: Folder,
    /// The folder's path in its repository, with a trailing slash, and the repository.
    prefix: Vec<u8>,
    repository: Option<Repository>,
    /// Whether git's rules apply without a repository: a copy of a project has none of its own.
    is_copy: bool,
    outer: Vec<Level>,
    inner: Vec<Inner>,
    known: HashSet<RelPath>,
    stored: HashMap<Option<RelPath>, Vec<RuleText>>,
    /// Read when the first file is found that git's rules ignore.
    tracked: Option<HashSet<RelPath>>,
    left: usize,
}

#[derive(Debug)]
struct Inner {
    folder: Option<RelPath>,
    level: Level,
    /// The origin of the rules that ignore the folder itself; it was entered for known or tracked files in it.
    named_by: Option<Source>,
}

#[derive(Debug, PartialEq, Eq)]
struct RuleText {
    source: Source,
    bytes: Vec<u8>,
}

impl IgnoreRules {
    /// Returns the rules for a folder in its current state.
    pub fn of(root: &Path) -> Result<Self, RulesError> {
        let real = root.canonicalize().on_disk("open", root)?;
        let repository = Repository::around(&real);
        Self::within(root, &real, repository)
    }

    /// Returns the rules for an edited copy of a project. An agent may have made any repository there, so none is read. A
    /// file of the start is never ignored.
    pub fn of_copy(root: &Path, start: &Manifest) -> Result<Self, RulesError> {
        let real = root.canonicalize().on_disk("open", root)?;
        let mut rules =
            Self { is_copy: true, tracked: Some(HashSet::new()), ..Self::within(root, &real, None)? };
        rules.known.extend(start.entries().iter().map(|entry| entry.path.clone()));
        Ok(rules)
    }

    fn within(root: &Path, real: &Path, repository: Option<Repository>) -> Result<Self, RulesError> {
        let top = repository.as_ref().map_or(real, Repository::root);
        let below = real.strip_prefix(top).expect("a repository is around its folders").to_path_buf();
        let mut rules = Self {
            root: Folder::open(root)?,
            prefix: Vec::new(),
            outer: Vec::new(),
            inner: Vec::new(),
            known: RelPath::below(None, PAGE.as_ref()).into_iter().collect(),
            stored: HashMap::new(),
            tracked: None,
            left: MOST_BYTES,
            repository,
            is_copy: false,
        };
        rules.read_outer(real, &below)?;
        Ok(rules)
    }

    /// Returns the rules for a folder that may hold one of these versions.
    pub fn knowing<'a>(
        root: &Path,
        objects: &Objects,
        versions: impl IntoIterator<Item = &'a Manifest>,
    ) -> Result<Self, RulesError> {
        let mut rules = Self::of(root)?;
        // The version contains what git tracked when it was captured.
        rules.tracked = Some(HashSet::new());
        for entry in versions.into_iter().flat_map(Manifest::entries) {
            rules.learn_rules(objects, &entry.path, &entry.node);
            rules.known.insert(entry.path.clone());
        }
        Ok(rules)
    }

    /// Returns true if the entry is ignored. Must not be called for entries in an ignored folder.
    pub fn ignores(&mut self, path: &RelPath, is_folder: bool) -> Result<bool, RulesError> {
        let reached = self.inner.last().map(|inner| inner.folder.as_ref().map(RelPath::as_bytes));
        if reached != Some(path.parent_bytes()) {
            self.reach(path.parent().as_ref())?;
        }
        if self.known.contains(path) {
            return Ok(false);
        }
        if path.name() == GIT {
            return Ok(true);
        }
        let innermost = self.inner.last().and_then(|inner| inner.named_by);
        match innermost.or_else(|| self.named_by(path, is_folder)) {
            None => Ok(false),
            Some(Source::Ours) => Ok(true),
            Some(Source::Git) => Ok(!self.tracked()?.contains(path)),
        }
    }

    /// Returns the origin of the rule that ignores the path, if any.
    fn named_by(&self, path: &RelPath, is_folder: bool) -> Option<Source> {
        if self.inner.iter().map(|inner| &inner.level).chain(&self.outer).all(Level::is_empty) {
            return None;
        }
        let full = [&self.prefix, path.as_bytes()].concat();
        self.named(&full, is_folder)
    }

    fn named(&self, full: &[u8], is_folder: bool) -> Option<Source> {
        for source in [Source::Ours, Source::Git] {
            let inner = self.inner.iter().rev().map(|inner| &inner.level);
            let mut levels = inner.chain(self.outer.iter().rev());
            match levels.find_map(|level| level.verdict(source, full, is_folder)) {
                Some(true) => return Some(source),
                Some(false) => return None,
                None => {}
            }
        }
        None
    }

    /// Reads the rules of the parent folders. If they ignore the skill's own page, they do not apply in the skill's
    /// folder: a user who tunes the skill wants everything in it. If they ignore only a parent folder, their other
    /// rules still apply.
    fn read_outer(&mut self, real: &Path, below: &Path) -> Result<(), RulesError> {
        if let Some(exclude) = self.repository.as_ref().and_then(Repository::exclude) {
            let level = self.level(0, real, vec![RuleText { source: Source::Git, bytes: exclude }])?;
            self.outer.push(level);
        }
        let mut folder = real.ancestors().nth(below.iter().count()).expect("as many names").to_path_buf();
        for name in below {
            let texts = self.texts_on_disk(&SafePath::from(folder.as_path()));
            let level = self.level(self.prefix.len(), &folder, texts)?;
            self.outer.push(level);
            folder.push(name);
            self.prefix.extend_from_slice(name.as_bytes());
            self.prefix.push(b'/');
        }
        if self.named(&[&self.prefix, PAGE.as_bytes()].concat(), false).is_some() {
            self.outer.clear();
        }
        Ok(())
    }

    /// Sets the levels to this folder and its parents.
    fn reach(&mut self, folder: Option<&RelPath>) -> Result<(), RulesError> {
        // The levels are those of the last folder and of all above it, so names in common are levels in common.
        let kept = self.inner.last().map_or(0, |last| {
            let both = names(last.folder.as_ref()).zip(names(folder));
            1 + both.take_while(|(one, other)| one == other).count()
        });
        self.inner.truncate(kept);
        let way = std::iter::once(None).chain(folder.into_iter().flat_map(RelPath::lineage).map(Some));
        for folder in way.skip(kept).collect::<Vec<_>>() {
            let above = self.inner.last().and_then(|inner| inner.named_by);
            let named_by = above.or_else(|| folder.as_ref().and_then(|folder| self.named_by(folder, true)));
            let level = self.read_inner(folder.as_ref())?;
            self.inner.push(Inner { folder, level, named_by });
        }
        Ok(())
    }

    fn read_inner(&mut self, folder: Option<&RelPath>) -> Result<Level, RulesError> {
        let below = folder.map_or(Path::new(""), RelPath::as_path);
        let here = self.root.path().join(below);
        let mut texts = Vec::new();
        for &source in self.sources() {
            if let Ok(Some(file)) = self.root.file_below(&below.join(source.file())) {
                let bytes = read_first(&file, LARGEST + 1).on_disk("read", here.join(source.file()))?;
                texts.push(RuleText { source, bytes });
            }
        }
        for stored in self.stored.get(&folder.cloned()).into_iter().flatten() {
            // If a version is on the disk, its rules are the same.
            if self.sources().contains(&stored.source) && !texts.contains(stored) {
                texts.push(RuleText { source: stored.source, bytes: stored.bytes.clone() });
            }
        }
        let start = self.prefix.len() + folder.map_or(0, |folder| folder.as_bytes().len() + 1);
        self.level(start, &here, texts)
    }

    fn texts_on_disk(&self, folder: &SafePath) -> Vec<RuleText> {
        let sources = self.sources().iter();
        // A file that cannot be opened has no rules, as in git; neither does a symlink.
        let opened = sources.filter_map(|&source| Some((source, folder.join(source.file()).open().ok()??)));
        opened
            .filter_map(|(source, file)| {
                Some(RuleText { source, bytes: read_first(&file, LARGEST + 1).ok()? })
            })
            .collect()
    }

    /// Outside a repository, git's rules do not apply.
    fn sources(&self) -> &'static [Source] {
        if self.repository.is_some() || self.is_copy { &[Source::Git, Source::Ours] } else { &[Source::Ours] }
    }

    fn level(&mut self, start: usize, folder: &Path, texts: Vec<RuleText>) -> Result<Level, RulesError> {
        let mut level = Level::below(start);
        for RuleText { source, bytes } in texts {
            let is_large = bytes.len() as u64 > LARGEST;
            let left = self.left.checked_sub(bytes.len()).filter(|_| !is_large);
            self.left = left.ok_or_else(|| RulesError::TooLarge(folder.to_path_buf()))?;
            let rules = compiled(&bytes).ok_or_else(|| RulesError::Unusable(folder.to_path_buf()))?;
            level.add(source, rules);
        }
        Ok(level)
    }

    /// Adds the rules of a version. An unreadable one is skipped, because nothing is lost by that.
    fn learn_rules(&mut self, objects: &Objects, path: &RelPath, node: &Node) {
        let source = [Source::Git, Source::Ours].into_iter().find(|source| path.name() == source.file());
        let (Some(source), Node::File { blob, size, .. }) = (source, node) else { return };
        let Ok(bytes) = (if *size <= LARGEST { objects.read(*blob) } else { return }) else { return };
        let known = self.stored.entry(path.parent()).or_default();
        let text = RuleText { source, bytes };
        if known.contains(&text) {
            return;
        }
        // Half of the limit is reserved for the disk.
        let used: usize = self.stored.values().flatten().map(|text| text.bytes.len()).sum();
        if used + text.bytes.len() <= MOST_BYTES / 2 {
            self.stored.entry(path.parent()).or_default().push(text);
        }
    }

    fn tracked(&mut self) -> Result<&HashSet<RelPath>, RulesError> {
        if self.tracked.is_none() {
            let read =
                self.repository.as_ref().map(|repository| tracked::below(repository.git(), &self.prefix));
            self.tracked = Some(read.transpose()?.unwrap_or_default());
        }
        Ok(self.tracked.as_ref().expect("it was read above"))
    }
}

fn names(folder: Option<&RelPath>) -> Components<'_> {
    folder.map_or(Path::new(""), RelPath::as_path).components()
}

#[cfg(test)]
mod tests;
