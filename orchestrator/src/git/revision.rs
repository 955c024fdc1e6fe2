//! A folder at a git revision, read without a checkout: no hook, no filter and no pager runs, and nothing is fetched or
//! written.
//!
//! ```text
//! git ls-tree -r -z -l REV:PATH --> entries --> git cat-file --batch --> contents --> Files
//! ```
//!
//! The repository may be hostile: git's output is checked, and sizes and counts are bounded.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;

use skilltune_phases::base::id::{BlobId, Digest, TreeId};

use super::runner::{Command, Git, GitError};
use super::tree::{self, Mode};
use crate::skill_files::load_from;
use crate::snapshot::{Entry, Manifest, ManifestError, Node, ObjectError, Objects, RelPath};

/// The revision and the folder to read.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Anything that git resolves: a commit, a branch, a tag.
    pub revision: String,
    /// The folder's path from the root of the repository.
    pub folder: String,
}

/// The files of the folder, in memory.
#[derive(Clone, Debug)]
pub struct Files {
    manifest: Manifest,
    contents: Vec<Vec<u8>>,
}

#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    #[error("git cannot read it: {0}")]
    Git(GitError),
    #[error("{0:?} holds a submodule, whose files the repository does not have")]
    Submodule(String),
    #[error("it has more than {MOST_FILES} files or {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    #[error("cannot parse the output of git")]
    Garbled,
    #[error("it cannot be stored as a folder")]
    Manifest(#[from] ManifestError),
}

impl From<GitError> for RevisionError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::TooLarge => Self::TooLarge,
            error => Self::Git(error),
        }
    }
}

/// More than any skill has.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 64 << 20;
/// The size of the list of that many files.
const LIST_BYTES: u64 = 16 << 20;
/// The bytes that git writes before and after each content.
const FRAME: u64 = 128;

impl Revision {
    pub fn read(&self, git: &Git<'_>) -> Result<Files, RevisionError> {
        let tree = format!("{}:{}", self.revision, self.folder);
        let list = Command::new(["ls-tree", "--full-tree", "-r", "-z", "-l", &tree]).most(LIST_BYTES);
        let listed = listed(&git.run(list)?)?;
        let asked: String = listed.iter().flat_map(|one| [one.object.as_str(), "\n"]).collect();
        let size = listed.iter().map(|one| one.size + FRAME).sum();
        let batch = git.run(Command::new(["cat-file", "--batch"]).input(asked).most(size))?;
        files(&listed, &batch)
    }
}

/// An entry of `git ls-tree`.
struct Listed {
    path: RelPath,
    kind: ListedKind,
    object: String,
    size: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ListedKind {
    File { mode: u32 },
    Link,
}

fn listed(list: &[u8]) -> Result<Vec<Listed>, RevisionError> {
    let all = tree::entries(list).map(entry).collect::<Result<Vec<_>, _>>()?;
    let bytes = all.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.size));
    if all.len() > MOST_FILES || bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
        return Err(RevisionError::TooLarge);
    }
    // Like a capture of a folder on the disk.
    Ok(all.into_iter().filter(|one| !one.path.is_reserved()).collect())
}

fn entry(entry: Option<tree::Listed<'_>>) -> Result<Listed, RevisionError> {
    let tree::Listed { path, blob, size } = entry.ok_or(RevisionError::Garbled)?;
    let kind = match blob.mode {
        Mode::Link => ListedKind::Link,
        Mode::Submodule => return Err(RevisionError::Submodule(String::from_utf8_lossy(path).into_owned())),
        Mode::Program => ListedKind::File { mode: 0o755 },
        Mode::File => ListedKind::File { mode: 0o644 },
    };
    let path = RelPath::parse(path).map_err(|_| RevisionError::Garbled)?;
    Ok(Listed { path, kind, object: blob.id, size: size.ok_or(RevisionError::Garbled)? })
}

/// Parses the contents, in the order of the request: `ID blob SIZE\n`, the bytes, `\n`.
fn files(listed: &[Listed], batch: &[u8]) -> Result<Files, RevisionError> {
    let (mut rest, mut contents, mut entries) = (batch, Vec::new(), Vec::new());
    for one in listed {
        let header = format!("{} blob {}\n", one.object, one.size);
        let size = usize::try_from(one.size).map_err(|_| RevisionError::TooLarge)?;
        let after = rest.strip_prefix(header.as_bytes()).ok_or(RevisionError::Garbled)?;
        let (content, after) = after.split_at_checked(size).ok_or(RevisionError::Garbled)?;
        rest = after.strip_prefix(b"\n").ok_or(RevisionError::Garbled)?;
        let node = match one.kind {
            ListedKind::Link => Node::Link { target: content.to_vec() },
            ListedKind::File { mode } => {
                contents.push(content.to_vec());
                Node::File { blob: BlobId(Digest::of(content)), size: one.size, mode }
            }
        };
        entries.push(Entry { path: one.path.clone(), node });
    }
    let folders: BTreeSet<RelPath> = listed
        .iter()
        .filter_map(|one| one.path.parent())
        .flat_map(|parent| parent.lineage().collect::<Vec<_>>())
        .collect();
    let folder = |path| Entry { path, node: Node::Folder { mode: 0o755 } };
    entries.extend(folders.into_iter().map(folder));
    Ok(Files { manifest: Manifest::new(entries)?, contents })
}

impl Files {
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the bytes of a file at the top.
    pub fn top(&self, name: &str) -> Option<&[u8]> {
        let path = RelPath::parse(name.as_bytes()).ok()?;
        let Some(Node::File { blob, .. }) = self.manifest.get(&path) else { return None };
        self.contents.iter().find(|content| Digest::of(content) == blob.0).map(Vec::as_slice)
    }

    /// Returns the files for lint, as those of a skill with that name.
    pub fn texts(&self, name: &str) -> skilltune_phases::skills::lint::Files {
        let contents: HashMap<Digest, &Vec<u8>> =
            self.contents.iter().map(|content| (Digest::of(content), content)).collect();
        let read = |blob: BlobId| {
            Ok::<_, Infallible>(contents.get(&blob.0).map_or_else(Vec::new, |one| (*one).clone()))
        };
        let Ok(files) = load_from(&self.manifest, name, read);
        files
    }

    pub fn store(&self, objects: &Objects) -> Result<TreeId, ObjectError> {
        for content in &self.contents {
            objects.put(content)?;
        }
        objects.put_manifest(&self.manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "5716ca5987cbf97d6bb54920bea6adde242d87e6";

    fn line(mode: &str, size: &str, path: &[u8]) -> Vec<u8> {
        [format!("{mode} blob {ID} {size}\t").as_bytes(), path, b"\0"].concat()
    }

    fn parse(list: &[u8], batch: &[u8]) -> Result<Files, String> {
        listed(list).and_then(|all| files(&all, batch)).map_err(|error| error.to_string())
    }

    #[test]
    fn files_links_and_their_folders_are_read_as_they_are() {
        let list = [
            line("100644", "      3", b"SKILL.md"),
            line("100755", "      0", b"scripts/deep/run \xff"),
            line("120000", "      8", b"link"),
            line("100644", "      3", b".skilltune/x"),
        ];
        let batch = [
            format!("{ID} blob 3\na\nb\n").into_bytes(),
            format!("{ID} blob 0\n\n").into_bytes(),
            format!("{ID} blob 8\n../../up\n").into_bytes(),
        ];
        let files = parse(&list.concat(), &batch.concat()).unwrap();
        let shown: Vec<String> = files
            .manifest()
            .entries()
            .iter()
            .map(|entry| match &entry.node {
                Node::File { size, mode, .. } => format!("{} {size} {mode:o}", entry.path),
                Node::Folder { mode } => format!("{}/ {mode:o}", entry.path),
                Node::Link { target } => format!("{} -> {}", entry.path, String::from_utf8_lossy(target)),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "SKILL.md 3 644",
                "link -> ../../up",
                "scripts/ 755",
                "scripts/deep/ 755",
                "scripts/deep/run \u{fffd} 0 755"
            ]
        );
        assert_eq!(files.top("SKILL.md"), Some(&b"a\nb"[..]));
        assert_eq!((files.top("link"), files.top("scripts")), (None, None));
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::at(folder.path().join("objects"));
        let tree = files.store(&objects).unwrap();
        assert!(objects.contains_tree(tree) && tree == files.manifest().tree());
    }

    #[test]
    fn what_leads_out_is_too_large_or_is_no_file_is_refused() {
        let refused = |list: &[u8]| parse(list, b"").unwrap_err();
        for path in [&b"../x"[..], b"/etc/x", b"a//b", b""] {
            assert!(refused(&line("100644", "1", path)).contains("cannot parse"), "{path:?}");
        }
        let module = format!("160000 commit {ID}       -\tvendor\0");
        assert!(refused(module.as_bytes()).contains("\"vendor\" holds a submodule"));
        assert!(refused(&line("100644", &MOST_BYTES.to_string(), b"a").repeat(2)).contains("more than"));
        assert!(refused(&line("100644", &u64::MAX.to_string(), b"a").repeat(2)).contains("more than"));
        let many: Vec<u8> =
            (0..=MOST_FILES).flat_map(|nth| line("100644", "0", nth.to_string().as_bytes())).collect();
        assert!(refused(&many).contains("more than"));
        for garbled in [&b"x"[..], b"100644 blob\tx\0", b"100644 blob -- 3\tx\0", b"040000 tree 57 -\tx\0"] {
            assert!(refused(garbled).contains("cannot parse"), "{garbled:?}");
        }
    }

    #[test]
    fn contents_that_are_not_those_that_were_listed_are_refused() {
        let list = line("100644", "3", b"SKILL.md");
        for batch in [
            String::new(),
            format!("{ID} missing\n"),
            format!("{ID} blob 4\nabcd\n"),
            format!("{ID} blob 3\nab"),
            format!("{ID} blob 3\nabcd"),
        ] {
            assert!(parse(&list, batch.as_bytes()).is_err(), "{batch}");
        }
    }
}
