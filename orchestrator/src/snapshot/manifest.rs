//! A folder as a list of entries, each with its kind, its mode and the hash of its bytes.
//!
//! Every manifest is valid: sorted, complete and inside its root. It may come from a hostile source, so only text that
//! is exactly what we would write is parsed.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use skilltune_phases::base::id::BlobId;

use super::path::RelPath;

/// The entry at a path; the mode keeps all twelve bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    File { blob: BlobId, size: u64, mode: u32 },
    Folder { mode: u32 },
    Link { target: Vec<u8> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: RelPath,
    pub node: Node,
}

/// All entries of a folder, sorted by the bytes of their paths, without the root itself. Clones share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub(super) entries: Arc<[Entry]>,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ManifestError {
    #[error("not a manifest of a known version")]
    Version,
    #[error("line {0} is not an entry")]
    Line(usize),
    #[error("not in canonical form")]
    NotCanonical,
    #[error("duplicate entry {0}")]
    Duplicate(RelPath),
    #[error("{0} is not in a listed folder")]
    Orphan(RelPath),
    #[error("{0} is a reserved name")]
    Reserved(RelPath),
    #[error("{0} has an invalid mode")]
    Mode(RelPath),
    #[error("{0} has an invalid symlink target")]
    Target(RelPath),
}

impl Node {
    pub const MODE_BITS: u32 = 0o7777;
    /// The permissions of owner, group and others, without the set-id and sticky bits.
    pub const RIGHTS: u32 = 0o777;

    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } | Self::Folder { mode } => Some(*mode),
            Self::Link { .. } => None,
        }
    }

    /// Returns the node with read and write permission for its owner.
    fn unlocked(&self) -> Self {
        match self {
            Self::File { mode, .. } => self.with_mode(mode & Self::RIGHTS | 0o600),
            Self::Folder { mode } => self.with_mode(mode & Self::RIGHTS | 0o700),
            Self::Link { .. } => self.clone(),
        }
    }

    /// Returns the node without set-id and sticky bits, as in copies of ours.
    fn copied(&self) -> Self {
        self.mode().map_or_else(|| self.clone(), |mode| self.with_mode(mode & Self::RIGHTS))
    }

    /// Returns the node after an edit of a copy of `before`. Read and write permissions stay as before, however the
    /// agent wrote the file; the execute permission is part of the edit.
    fn edited_from(&self, before: &Self) -> Self {
        match (self, before) {
            (Self::File { mode, .. }, Self::File { mode: before, .. }) => {
                let was_run = before & 0o100 == mode & 0o100;
                self.with_mode(if was_run { *before } else { runnable(before & !0o111, *mode) })
            }
            (Self::Folder { .. }, Self::Folder { mode: before }) => self.with_mode(*before),
            (Self::File { .. } | Self::Folder { .. } | Self::Link { .. }, _) => self.clone(),
        }
    }

    /// Returns the node as a new entry beside a page with this mode: no more people may read or write it.
    fn beside(&self, page: u32) -> Self {
        let rights = page & 0o666 | 0o600;
        match self {
            Self::File { mode, .. } => self.with_mode(runnable(rights, *mode)),
            Self::Folder { .. } => self.with_mode(runnable(rights, 0o100)),
            Self::Link { .. } => self.clone(),
        }
    }

    fn with_mode(&self, mode: u32) -> Self {
        match self {
            Self::File { blob, size, .. } => Self::File { blob: *blob, size: *size, mode },
            Self::Folder { .. } => Self::Folder { mode },
            Self::Link { target } => Self::Link { target: target.clone() },
        }
    }

    pub fn same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Returns true if the nodes are equal except for the mode.
    pub fn same_content(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { blob, .. }, Self::File { blob: other, .. }) => blob == other,
            (Self::Folder { .. }, Self::Folder { .. }) => true,
            (Self::Link { target }, Self::Link { target: other }) => target == other,
            (Self::File { .. } | Self::Folder { .. } | Self::Link { .. }, _) => false,
        }
    }

    /// Returns true for a file that git stores as executable.
    pub(crate) fn is_program(&self) -> bool {
        matches!(self, Self::File { mode, .. } if mode & 0o100 != 0)
    }
}

/// Returns the file or symlink at a path: git stores no folders.
pub(super) fn leaf(node: Option<&Node>) -> Option<&Node> {
    node.filter(|node| !node.is_folder())
}

/// Returns true if git would store the same. Of modes, only the owner's execute permission counts.
pub(super) fn same_in_git(one: Option<&Node>, other: Option<&Node>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.same_content(other) && one.is_program() == other.is_program(),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Returns the permissions, plus execution for everyone who may read if `mode` lets the owner execute the file.
fn runnable(rights: u32, mode: u32) -> u32 {
    if mode & 0o100 == 0 { rights } else { rights | (rights & 0o444) >> 2 }
}

const FOLDER_MODE: u32 = 0o755;

impl Manifest {
    pub fn new(mut entries: Vec<Entry>) -> Result<Self, ManifestError> {
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let manifest = Self { entries: entries.into() };
        manifest.check()?;
        Ok(manifest)
    }

    /// Returns a manifest of these files and their folders. If two are at one path, or one is below another, the first
    /// one is kept.
    pub fn of_files(files: impl IntoIterator<Item = (RelPath, Node)>) -> Self {
        let mut nodes = BTreeMap::new();
        for (path, node) in files {
            let above: Vec<RelPath> = path.lineage().filter(|above| *above != path).collect();
            let is_file = |path: &RelPath| nodes.get(path).is_some_and(|node: &Node| !node.is_folder());
            if nodes.contains_key(&path) || above.iter().any(is_file) {
                continue;
            }
            for above in above {
                nodes.entry(above).or_insert(Node::Folder { mode: FOLDER_MODE });
            }
            nodes.insert(path, node);
        }
        Self { entries: nodes.into_iter().map(|(path, node)| Entry { path, node }).collect() }
    }

    /// Returns this manifest with the other's entries that do not collide with it.
    pub(crate) fn over(&self, other: &Self) -> Self {
        let entries = self.entries.iter().chain(other.entries.iter()).cloned();
        Self::of_files(entries.map(|Entry { path, node }| (path, node)))
    }

    /// Returns some of its files, each at a new path. Missing files are left out.
    pub(crate) fn picked(&self, files: impl IntoIterator<Item = (RelPath, RelPath)>) -> Self {
        let node = |path: &RelPath| self.get(path).filter(|node| !node.is_folder()).cloned();
        Self::of_files(files.into_iter().filter_map(|(path, at)| Some((at, node(&path)?))))
    }

    /// Returns the manifest with read and write permission for its owner everywhere.
    pub(crate) fn unlocked(&self) -> Self {
        self.with_nodes(|entry| entry.node.unlocked())
    }

    /// Returns the manifest as it is written into a workspace.
    pub(crate) fn copied(&self) -> Self {
        self.with_nodes(|entry| entry.node.copied())
    }

    /// Returns an agent's edit of a copy of `base` with the modes of the files in `base`: an editor that rewrites files
    /// must neither expose private files nor add a set-id bit. New entries get their permissions from a page of `base`,
    /// if one is named.
    pub(crate) fn edited_from(&self, base: &Self, page: Option<&RelPath>) -> Self {
        let page = page.map(|page| base.get(page).and_then(Node::mode).unwrap_or(0o644));
        self.with_nodes(|Entry { path, node }| match (base.get(path), page) {
            (Some(before), _) if before.same_kind(node) => node.edited_from(before),
            (_, Some(page)) => node.beside(page),
            (_, None) => node.copied(),
        })
    }

    /// Returns an edit of `base` without the changes of others: where `is_theirs` holds for a path and what it has now,
    /// `base` decides. A folder that an entry needs stays.
    pub(crate) fn without_theirs(
        &self,
        base: &Self,
        is_theirs: impl Fn(&RelPath, Option<&Node>) -> bool,
    ) -> Result<Self, ManifestError> {
        let entry = |(path, before, now): (&RelPath, Option<&Node>, Option<&Node>)| {
            let node = if is_theirs(path, now) { before } else { now }?;
            Some(Entry { path: path.clone(), node: node.clone() })
        };
        let mut kept: Vec<Entry> = base.beside(self).filter_map(entry).collect();
        let needed: HashSet<RelPath> = kept.iter().flat_map(|entry| entry.path.lineage()).collect();
        let is_gone = |path: &RelPath| kept.binary_search_by(|entry| entry.path.cmp(path)).is_err();
        let all = self.entries.iter().chain(base.entries.iter());
        let folders =
            all.filter(|one| one.node.is_folder() && needed.contains(&one.path) && is_gone(&one.path));
        let folders: Vec<Entry> = folders.cloned().collect();
        kept.extend(folders);
        Self::new(kept)
    }

    /// Returns the entries that are new or changed since `before`, and their folders.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let is_new = |entry: &&Entry| match before.get(&entry.path) {
            None => true,
            Some(node) => !entry.node.is_folder() && *node != entry.node,
        };
        let new: HashSet<RelPath> =
            self.entries.iter().filter(is_new).flat_map(|entry| entry.path.lineage()).collect();
        let kept = self.entries.iter().filter(|entry| new.contains(&entry.path));
        Self { entries: kept.cloned().collect() }
    }

    /// Splits the manifest: the entries that are not at or below these paths, and those that are.
    pub(crate) fn split(&self, paths: &[RelPath]) -> (Self, Self) {
        if paths.is_empty() {
            return (self.clone(), Self::default());
        }
        let (hidden, shown): (Vec<_>, Vec<_>) = self
            .entries
            .iter()
            .cloned()
            .partition(|entry| paths.iter().any(|path| entry.path.is_within(path)));
        (Self { entries: shown.into() }, Self { entries: hidden.into() })
    }

    /// Returns this manifest with the other's entries, none of which it has itself, and with the folders of `base` that
    /// they need.
    pub(crate) fn joined(&self, other: &Self, base: &Self) -> Result<Self, ManifestError> {
        let needed: BTreeSet<RelPath> = other.entries.iter().flat_map(|entry| entry.path.lineage()).collect();
        let is_gone = |entry: &&Entry| needed.contains(&entry.path) && self.get(&entry.path).is_none();
        let folders = base.entries.iter().filter(is_gone);
        Self::new(self.entries.iter().chain(other.entries.iter()).chain(folders).cloned().collect())
    }

    /// Returns the manifest with this file at its top, replacing any entry of that name.
    pub(crate) fn with_file(&self, name: &str, blob: BlobId, size: u64) -> Self {
        let path = RelPath::parse(name.as_bytes()).expect("a plain name is a path");
        let others = self.entries.iter().filter(|entry| entry.path.lineage().all(|above| above != path));
        let file = Entry { path: path.clone(), node: Node::File { blob, size, mode: 0o644 } };
        let entries = others.cloned().chain([file]).collect();
        Self::new(entries).expect("a file at the top stands in no folder and beside no other of its name")
    }

    fn with_nodes(&self, node: impl Fn(&Entry) -> Node) -> Self {
        let entry = |entry: &Entry| Entry { path: entry.path.clone(), node: node(entry) };
        Self { entries: self.entries.iter().map(entry).collect() }
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the number of bytes of all entries, with their paths on the heap.
    pub(super) fn size_in_memory(&self) -> usize {
        /// What an allocation costs besides its bytes.
        const ALLOCATION: usize = 16;
        let paths = self.entries.iter().map(|entry| entry.path.as_bytes().len() + ALLOCATION);
        size_of_val(&*self.entries) + paths.sum::<usize>()
    }

    pub fn get(&self, path: &RelPath) -> Option<&Node> {
        self.at(path.as_bytes())
    }

    /// Returns every path of either manifest, sorted, with its node in each.
    pub(super) fn beside<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a RelPath, Option<&'a Node>, Option<&'a Node>)> {
        let (mut ours, mut theirs) = (self.entries.iter().peekable(), other.entries.iter().peekable());
        std::iter::from_fn(move || {
            let order = match (ours.peek(), theirs.peek()) {
                (Some(one), Some(other)) => one.path.cmp(&other.path),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let one = ours.next_if(|_| order.is_le());
            let other = theirs.next_if(|_| order.is_ge());
            Some((&one.or(other)?.path, one.map(|entry| &entry.node), other.map(|entry| &entry.node)))
        })
    }

    /// Returns every path where git would store different files or symlinks, with what each manifest has there.
    pub(crate) fn differing_in_git<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a RelPath, Option<&'a Node>, Option<&'a Node>)> {
        let leaves = self.beside(other).map(|(path, ours, theirs)| (path, leaf(ours), leaf(theirs)));
        leaves.filter(|(_, ours, theirs)| !same_in_git(*ours, *theirs))
    }

    pub(super) fn check(&self) -> Result<(), ManifestError> {
        for pair in self.entries.windows(2) {
            match pair[0].path.cmp(&pair[1].path) {
                Ordering::Less => {}
                Ordering::Equal => return Err(ManifestError::Duplicate(pair[1].path.clone())),
                Ordering::Greater => return Err(ManifestError::NotCanonical),
            }
        }
        // Siblings share their folder: it is looked up once for them all.
        let mut folder = None;
        for entry in self.entries() {
            check_entry(entry)?;
            let parent = entry.path.parent_bytes();
            if parent != folder && !parent.is_none_or(|path| self.at(path).is_some_and(Node::is_folder)) {
                return Err(ManifestError::Orphan(entry.path.clone()));
            }
            folder = parent;
        }
        Ok(())
    }

    fn at(&self, path: &[u8]) -> Option<&Node> {
        let at = self.entries.binary_search_by(|entry| entry.path.as_bytes().cmp(path)).ok()?;
        Some(&self.entries[at].node)
    }
}

fn check_entry(Entry { path, node }: &Entry) -> Result<(), ManifestError> {
    if path.is_reserved() {
        return Err(ManifestError::Reserved(path.clone()));
    }
    if node.mode().is_some_and(|mode| mode & !Node::MODE_BITS != 0) {
        return Err(ManifestError::Mode(path.clone()));
    }
    if matches!(node, Node::Link { target } if target.is_empty() || target.contains(&0)) {
        return Err(ManifestError::Target(path.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use skilltune_phases::base::id::{Digest, TreeId};

    use super::*;

    fn entry(path: &str, node: Node) -> Entry {
        Entry { path: RelPath::parse(path.as_bytes()).unwrap(), node }
    }

    fn file(text: &str) -> Node {
        Node::File { blob: BlobId(Digest::of(text.as_bytes())), size: text.len() as u64, mode: 0o644 }
    }

    #[test]
    fn a_manifest_reads_back_as_it_was_written() {
        let entries = vec![
            entry("d/x", file("x")),
            entry("d", Node::Folder { mode: 0o2755 }),
            entry("d-e", Node::Link { target: b"/a b\\\n\xff".to_vec() }),
        ];
        let manifest = Manifest::new(entries).unwrap();
        assert_eq!(Manifest::parse(&manifest.encode()).unwrap(), manifest);
        let text = String::from_utf8(manifest.encode()).unwrap();
        assert_eq!(text.lines().next(), Some("skilltune manifest 1"));
        assert_eq!(text.lines().nth(2), Some(r"link /a\20b\5c\0a\ff d-e"));
        let hash = Digest::of(b"x");
        assert_eq!(text.lines().nth(3), Some(format!("file 0644 1 {hash} d/x").as_str()));
    }

    #[test]
    fn the_empty_folder_is_the_tree_that_stands_for_no_skill() {
        assert_eq!(Manifest::default().tree(), TreeId::EMPTY);
    }

    fn page() -> RelPath {
        RelPath::parse(b"SKILL.md").unwrap()
    }

    fn modes(manifest: &Manifest) -> Vec<Option<u32>> {
        manifest.entries().iter().map(|entry| entry.node.mode()).collect()
    }

    #[test]
    fn what_was_unlocked_for_an_edit_is_locked_again() {
        let locked = Manifest::new(vec![
            entry("d", Node::Folder { mode: 0o555 }),
            entry("d/x", file("x").with_mode(0o444)),
            entry("free", file("x")),
            entry("link", Node::Link { target: b"d".to_vec() }),
            entry("set-id", file("x").with_mode(0o4755)),
        ])
        .unwrap();
        let unlocked = locked.unlocked();
        assert_eq!(modes(&unlocked), [Some(0o755), Some(0o644), Some(0o644), None, Some(0o755)]);
        assert_eq!(unlocked.edited_from(&locked, Some(&page())), locked);
    }

    #[test]
    fn an_edit_opens_nothing_that_was_private_and_sets_no_id() {
        let base = Manifest::new(vec![
            entry("SKILL.md", file("x").with_mode(0o600)),
            entry("d", Node::Folder { mode: 0o2750 }),
            entry("locked", file("x").with_mode(0o400)),
            entry("run", file("x").with_mode(0o640)),
            entry("still", file("x").with_mode(0o755)),
        ])
        .unwrap();
        let edited = Manifest::new(vec![
            entry("SKILL.md", file("new").with_mode(0o644)),
            entry("d", Node::Folder { mode: 0o777 }),
            entry("locked", file("new").with_mode(0o666)),
            entry("more", Node::Folder { mode: 0o1777 }),
            entry("more/new", file("new").with_mode(0o666)),
            entry("more/script", file("new").with_mode(0o6755)),
            entry("run", file("new").with_mode(0o755)),
            entry("still", file("new").with_mode(0o644)),
        ])
        .unwrap();
        let private = [0o600, 0o2750, 0o400, 0o700, 0o600, 0o700, 0o750, 0o644].map(Some);
        assert_eq!(modes(&edited.edited_from(&base, Some(&page()))), private);
        let as_written = [0o600, 0o2750, 0o400, 0o777, 0o666, 0o755, 0o750, 0o644].map(Some);
        assert_eq!(modes(&edited.edited_from(&base, None)), as_written);
    }

    #[test]
    fn what_we_would_not_have_written_does_not_parse() {
        for (body, why) in [
            ("folder 0755 b\nfolder 0755 a\n", "unsorted"),
            ("folder 0755 a\nfolder 0755 a\n", "twice"),
            ("link x a\nfolder 0755 a/b\n", "below a link"),
            ("folder 0755 a/b\n", "without its folder"),
            ("file 0644 1 0123 a\n", "a short hash"),
            (&format!("file 0644 1 {} a\n", "A".repeat(64)), "a hash in capitals"),
            (&format!("file 0644 1 {} a\n", "g".repeat(64)), "no hash"),
            ("folder 755 a\n", "another spelling"),
            ("folder 0755 \\61\n", "a needless escape"),
            ("folder 0755 a", "no end of line"),
            ("folder 0755 ../a\n", "outside"),
            ("folder 0755 .git\n", "reserved"),
            ("folder 10755 a\n", "too many mode bits"),
            ("link  a\n", "an empty target"),
            ("socket 0755 a\n", "an unknown kind"),
        ] {
            assert!(Manifest::parse(format!("skilltune manifest 1\n{body}").as_bytes()).is_err(), "{why}");
        }
        assert_eq!(Manifest::parse(b"skilltune manifest 2\n"), Err(ManifestError::Version));
        assert_eq!(Manifest::parse(b"skilltune manifest 1\n"), Ok(Manifest::default()));
    }
}
