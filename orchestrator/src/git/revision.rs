//! A folder at a git revision, read without a checkout: no hook, no filter and no pager runs, and nothing is fetched or
//! written.
//!
//! ```text
//! git ls-tree -r -z -l REV:PATH --> entries --> git cat-file --batch --> contents --> Files
//! ```
//!
//! The repository may be hostile: git's output is checked, and sizes and counts are bounded.

use std::collections::HashMap;
use std::convert::Infallible;

use skilltune_phases::base::id::{BlobId, Digest, TreeId};

use super::listed::{Content, Kind, Listed, RevisionError, listed, read_all, run_list, with_folders};
use super::runner::Git;
use crate::skill_files::load_from;
use crate::snapshot::{Entry, Manifest, Node, ObjectError, Objects, RelPath};

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

impl Revision {
    pub fn read(&self, git: &Git<'_>) -> Result<Files, RevisionError> {
        let tree = format!("{}:{}", self.revision, self.folder);
        let listed = listed(&run_list(git, &tree)?)?.whole()?;
        let mut all = Vec::new();
        read_all(git, &listed, |one, bytes| {
            all.push((one.clone(), bytes));
            Ok::<_, RevisionError>(())
        })?;
        files(all)
    }
}

fn files(all: Vec<(Listed, Vec<u8>)>) -> Result<Files, RevisionError> {
    let (mut entries, mut contents) = (Vec::new(), Vec::new());
    for (Listed { path, kind, .. }, bytes) in all {
        let content = Content { bytes, kind };
        entries.push(Entry { path, node: content.node() });
        if let Kind::File { .. } = kind {
            contents.push(content.bytes);
        }
    }
    Ok(Files { manifest: with_folders(entries)?, contents })
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
    use super::super::listed::{MOST_BYTES, MOST_FILES, content};
    use super::*;

    const ID: &str = "5716ca5987cbf97d6bb54920bea6adde242d87e6";

    fn line(mode: &str, size: &str, path: &[u8]) -> Vec<u8> {
        [format!("{mode} blob {ID} {size}\t").as_bytes(), path, b"\0"].concat()
    }

    fn parse(list: &[u8], batch: &[u8]) -> Result<Files, String> {
        let read = || {
            let listed = listed(list)?.whole()?;
            let mut rest = batch;
            let content = |one: Listed| content(&one, &mut rest).map(|bytes| (one, bytes));
            files(listed.into_iter().map(content).collect::<Result<_, _>>()?)
        };
        read().map_err(|error: RevisionError| error.to_string())
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
