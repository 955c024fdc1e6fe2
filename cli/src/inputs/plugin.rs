//! The plugin that a skill belongs to, and which of its files trials get: those that the skill's pages name.
//!
//! Agents that load a plugin set `${CLAUDE_PLUGIN_ROOT}` to its folder. Its hooks, MCP servers, commands and other
//! skills act by themselves, so they are never placed; a note names them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{Entry, Manifest, Node, Objects, RelPath};
use skilltune_phases::base::id::{BlobId, Digest, TreeId};
use skilltune_phases::skills::target::{Member, PLUGIN_ROOT, Plugin};

use crate::terminal::complaint::{Complaint, ours};
use crate::text::plain::one_line;

/// The file that makes a folder a plugin.
pub(super) const MANIFEST: &str = ".claude-plugin/plugin.json";
/// Folders that act by themselves or are not part of the skill. Hidden files (settings, keys, `.git`) are never placed
/// either.
const NEVER: [&str; 4] = ["agents", "commands", "hooks", SKILLS];
const SKILLS: &str = "skills";

/// The limits for a plugin's placed files, and for the part of a page that is searched for names.
const MOST_FILES: usize = 64;
const MOST_BYTES: u64 = 4 << 20;
const MOST_OF_PAGE: u64 = 1 << 20;
/// The most names in a note.
const MOST_NAMED: usize = 12;

/// Returns the files of the skill's plugin for its trials, or none if its pages name no plugin. Stores them if there is
/// a store.
pub fn of(skill: &Path, member: &Member, store: Option<&Objects>) -> Result<Option<Plugin>, Complaint> {
    let Some(root) = skill.ancestors().skip(1).find(|above| SafePath::below(above, MANIFEST).is_file())
    else {
        return Ok(None);
    };
    let Some(own) = skill.strip_prefix(root).ok().and_then(Path::to_str) else { return Ok(None) };
    let read = |page: &String| SafePath::below(skill, page).read(MOST_OF_PAGE).ok().flatten();
    let pages =
        member.files.iter().filter_map(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let pages: Vec<String> = pages.filter(|page| page.contains(PLUGIN_ROOT)).collect();
    if pages.is_empty() {
        return Ok(None);
    }
    let names: BTreeSet<String> = pages.iter().flat_map(|page| named(page)).collect();
    let (mut files, mut left_out) = (Files::default(), standing(root, own));
    for name in names.into_iter().filter_map(|name| RelPath::parse(name.as_bytes()).ok()) {
        let path = name.as_path();
        let is_never = path.iter().any(is_hidden) || NEVER.iter().any(|never| path.starts_with(never));
        // Trials get the skill's own folder from the version on trial.
        if path.starts_with(own) {
            continue;
        }
        if is_never {
            left_out.extend(path.to_str().map(str::to_owned));
        } else {
            files.take(root, path).map_err(|why| too_much(skill, why))?;
        }
    }
    let left_out = left_out.into_iter().take(MOST_NAMED).map(|path| one_line(&path)).collect();
    Ok(Some(Plugin { tree: files.tree(store)?, skill: own.to_owned(), left_out }))
}

/// Returns the paths below the plugin's root that a page names.
fn named(page: &str) -> impl Iterator<Item = String> + '_ {
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    page.split(PLUGIN_ROOT).skip(1).filter_map(move |rest| {
        let rest = rest.strip_prefix('}').unwrap_or(rest);
        let rest = rest.strip_prefix('"').unwrap_or(rest).strip_prefix('/')?;
        let end = rest.find(|c| !is_of_path(c)).unwrap_or(rest.len());
        Some(rest[..end].trim_end_matches(['.', '/']).to_owned())
    })
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Returns the parts of the plugin that trials never get.
fn standing(root: &Path, own: &str) -> BTreeSet<String> {
    let acting = [".mcp.json", "agents", "commands", "hooks"];
    let others = SafePath::below(root, SKILLS).names().unwrap_or_default();
    let others = others.iter().filter_map(|name| Some(format!("{SKILLS}/{}", name.to_str()?)));
    let names =
        acting.iter().filter(|name| SafePath::below(root, name).exists()).map(|name| (*name).to_owned());
    names.chain(others.filter(|other| !Path::new(own).starts_with(other))).collect()
}

fn too_much(skill: &Path, why: TooMuch) -> Complaint {
    match why {
        TooMuch::Files => Complaint::input(format!(
            "the pages of {} refer to more than {MOST_FILES} files or {} MiB of its plugin",
            skill.display(),
            MOST_BYTES >> 20
        ))
        .hint("name only the files that the skill needs, not their folder"),
        TooMuch::Unreadable(path) => {
            Complaint::input(format!("cannot read {}", path.display())).hint("check its permissions")
        }
    }
}

enum TooMuch {
    Files,
    Unreadable(PathBuf),
}

/// The placed files, with their modes.
#[derive(Default)]
struct Files {
    all: BTreeMap<PathBuf, (Vec<u8>, u32)>,
    bytes: u64,
    /// The number of files and folders that were visited.
    seen: usize,
}

impl Files {
    /// Adds a file, or all files of a folder. Skips symlinks and missing files.
    fn take(&mut self, root: &Path, path: &Path) -> Result<(), TooMuch> {
        self.seen += 1;
        if self.seen > 2 * MOST_FILES {
            return Err(TooMuch::Files);
        }
        let place = SafePath::below(root, path);
        if place.is_folder() {
            let names = place.names().map_err(|_| TooMuch::Unreadable(place.path().to_owned()))?;
            let mut shown = names.iter().filter(|name| !is_hidden(name));
            return shown.try_for_each(|name| self.take(root, &path.join(name)));
        }
        let unreadable = || TooMuch::Unreadable(place.path().to_owned());
        let Ok(Some(file)) = place.open() else { return Ok(()) };
        let meta = file.metadata().map_err(|_| unreadable())?;
        let mut bytes = Vec::new();
        let left = MOST_BYTES - self.bytes;
        file.take(left + 1).read_to_end(&mut bytes).map_err(|_| unreadable())?;
        self.bytes += bytes.len() as u64;
        self.all.insert(path.to_owned(), (bytes, meta.permissions().mode() & 0o777));
        if self.bytes > MOST_BYTES || self.all.len() > MOST_FILES {
            return Err(TooMuch::Files);
        }
        Ok(())
    }

    fn tree(&self, store: Option<&Objects>) -> Result<TreeId, Complaint> {
        let mut nodes: BTreeMap<PathBuf, Node> = BTreeMap::new();
        for (path, (bytes, mode)) in &self.all {
            let blob = match store {
                Some(objects) => objects.put(bytes).map_err(ours)?,
                None => BlobId(Digest::of(bytes)),
            };
            for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
                nodes.insert(above.to_owned(), Node::Folder { mode: 0o755 });
            }
            nodes.insert(path.clone(), Node::File { blob, size: bytes.len() as u64, mode: *mode });
        }
        let entry = |(path, node): (PathBuf, Node)| {
            let path = RelPath::parse(path.as_os_str().as_encoded_bytes()).ok()?;
            Some(Entry { path, node })
        };
        let manifest = Manifest::new(nodes.into_iter().filter_map(entry).collect()).map_err(ours)?;
        store.map_or_else(|| Ok(manifest.tree()), |objects| objects.put_manifest(&manifest).map_err(ours))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn member(files: &[&str]) -> Member {
        Member {
            name: "writer".parse().unwrap(),
            path: "/writer".into(),
            start: TreeId::EMPTY,
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            has_scripts: false,
            too_long: None,
            hidden: Vec::new(),
            links_outside: Vec::new(),
            plugin: None,
        }
    }

    /// Creates a plugin with this page as its skill, and these files below its root.
    fn plugin(page: &str, files: &[&str]) -> TempDir {
        let root = TempDir::new().unwrap();
        for path in [&[MANIFEST, "skills/writer/scripts/own.py", "skills/other/SKILL.md"][..], files].concat()
        {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
        }
        fs::write(root.path().join("skills/writer/SKILL.md"), page).unwrap();
        root
    }

    fn found(root: &TempDir) -> Option<(Vec<String>, Plugin)> {
        let store = TempDir::new().unwrap();
        let objects = Objects::at(store.path());
        let skill = root.path().join("skills/writer");
        let shown = of(&skill, &member(&["SKILL.md"]), None).unwrap();
        let kept = of(&skill, &member(&["SKILL.md"]), Some(&objects)).unwrap();
        assert_eq!(shown, kept, "stored or not");
        let kept = kept?;
        let entries = objects.manifest(kept.tree).unwrap();
        let files = entries.entries().iter().filter(|entry| !matches!(entry.node, Node::Folder { .. }));
        Some((files.map(|entry| entry.path.to_string()).collect(), kept))
    }

    #[test]
    fn the_files_that_a_skill_names_come_along_and_nothing_that_acts_by_itself() {
        let page = "Run `python ${CLAUDE_PLUGIN_ROOT}/scripts/a.py x`, \"${CLAUDE_PLUGIN_ROOT}\"/lib, $CLAUDE_PLUGIN_ROOT/hooks/h.sh,\n\
            ${CLAUDE_PLUGIN_ROOT}/skills/writer/scripts/own.py and ${CLAUDE_PLUGIN_ROOT}/.env, ${CLAUDE_PLUGIN_ROOT}/../out.sh.";
        let files = [
            "scripts/a.py",
            "scripts/b.py",
            "lib/deep/c.py",
            "lib/.key",
            "hooks/h.sh",
            "commands/go.md",
            ".mcp.json",
            ".env",
        ];
        let root = plugin(page, &files);
        symlink("/etc/passwd", root.path().join("lib/link")).unwrap();
        let (files, plugin) = found(&root).unwrap();
        assert_eq!(files, ["lib/deep/c.py", "scripts/a.py"]);
        assert_eq!(plugin.skill, "skills/writer");
        assert_eq!(plugin.left_out, [".env", ".mcp.json", "commands", "hooks", "hooks/h.sh", "skills/other"]);
    }

    #[test]
    fn a_skill_that_names_no_plugin_or_has_none_brings_nothing() {
        assert_eq!(found(&plugin("Write.", &["scripts/a.py"])), None);
        let root = plugin("Run ${CLAUDE_PLUGIN_ROOT}/scripts/a.py.", &["scripts/a.py"]);
        fs::remove_file(root.path().join(MANIFEST)).unwrap();
        assert_eq!(found(&root), None);
    }

    #[test]
    fn too_many_files_and_too_much_of_them_are_refused() {
        let many: Vec<String> = (0..=MOST_FILES).map(|nth| format!("lib/{nth}.py")).collect();
        let root =
            plugin("See ${CLAUDE_PLUGIN_ROOT}/lib.", &many.iter().map(String::as_str).collect::<Vec<_>>());
        let skill = root.path().join("skills/writer");
        assert!(of(&skill, &member(&["SKILL.md"]), None).unwrap_err().what.contains("more than 64 files"));
        let root = plugin("See ${CLAUDE_PLUGIN_ROOT}/lib/a.bin.", &["lib/a.bin"]);
        let file = fs::File::create(root.path().join("lib/a.bin")).unwrap();
        file.set_len(1 << 40).unwrap();
        let skill = root.path().join("skills/writer");
        assert!(of(&skill, &member(&["SKILL.md"]), None).is_err());
    }
}
