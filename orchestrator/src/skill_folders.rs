//! Finds the skills in a folder: every folder with a `SKILL.md`, at any depth.
//!
//! Skips what the user ignores, version control and installed packages. A skill inside another one counts, unless it is
//! a sample of that one, such as a template or a test. A symlink counts as the folder that it leads to. One that leads
//! out of the project counts only where agents follow it too: in a folder named `skills`, or as one.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use skilltune_phases::skills::lint::is_sample;
use walkdir::WalkDir;

use crate::disk;
use crate::skill_files::is_ignored;
use crate::snapshot::{IgnoreRules, RulesError};

/// The page that makes a folder a skill.
const PAGE: &str = "SKILL.md";
/// The name of folders in which agents look for skills.
const SHELF: &str = "skills";
/// Folders of tools: their skills are copies, or another project's.
const FOREIGN: [&str; 7] = [".git", ".hg", ".jj", ".svn", ".skilltune", "node_modules", "site-packages"];
/// More folders than a project has.
const MOST_FOLDERS: usize = 100_000;

/// A skill that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundSkill {
    /// The folder that it is in, or that the symlink to it is in. None for the searched folder itself.
    pub shelf: Option<PathBuf>,
    /// The real path of its folder.
    pub path: PathBuf,
}

/// The skills in a folder, and the symlinks that lead to no skill.
#[derive(Debug)]
pub struct Found {
    /// The skills, by shelf and path. A skill that several symlinks lead to is on several shelves.
    pub skills: Vec<FoundSkill>,
    /// The broken symlinks in folders named `skills`, by path. Those inside a skill are files of that skill.
    pub broken: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("{} contains more than {MOST_FOLDERS} folders", .0.display())]
    TooMany(PathBuf),
    #[error(transparent)]
    Rules(#[from] RulesError),
}

/// Finds the skills in a folder.
///
/// The folder's path must be real, and so must that of the project around it. Without a project, every symlink counts.
pub fn skills_in(folder: &Path, project: Option<&Path>) -> Result<Found, SearchError> {
    let next = vec![FoundSkill { shelf: None, path: folder.to_owned() }];
    let (found, broken, seen) = Default::default();
    let mut search = Search { folder, project, found, broken, seen, next };
    while let Some(start) = search.next.pop() {
        search.walk(start)?;
    }
    let skills: HashSet<&Path> = search.found.iter().map(|skill| skill.path.as_path()).collect();
    let samples = samples(&skills);
    let counts = |skill: &&FoundSkill| !samples.contains(skill.path.as_path());
    let is_free = |link: &&PathBuf| !link.ancestors().any(|above| skills.contains(above));
    Ok(Found {
        broken: search.broken.iter().filter(is_free).cloned().collect(),
        skills: search.found.iter().filter(counts).cloned().collect(),
    })
}

/// Returns the nearest skill above a file, which may be missing.
pub fn skill_of(file: &Path) -> Option<PathBuf> {
    let folder = file.ancestors().skip(1).find_map(|above| above.canonicalize().ok())?;
    let mut skills = lineage(&folder);
    skills.retain(|folder| is_skill(folder));
    let own = skills.iter().enumerate().find(|(at, skill)| {
        let mut outer = skills[at + 1..].iter();
        !outer.any(|outer| is_sample_of(outer, skill))
    });
    own.map(|(_, skill)| (*skill).to_owned())
}

/// Returns a folder and those above it, up to the root of its repository.
pub fn lineage(folder: &Path) -> Vec<&Path> {
    let mut lineage = Vec::new();
    for above in folder.ancestors() {
        lineage.push(above);
        if above.join(".git").exists() {
            break;
        }
    }
    lineage
}

/// Returns true if a folder has the page of a skill.
fn is_skill(folder: &Path) -> bool {
    let names = disk::names(folder).unwrap_or_default();
    names.iter().any(|name| is_page(&folder.join(name)))
}

/// Returns true for the page of a skill. A name in small letters also means other things, such as a page about a skill.
fn is_page(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let is_shelved = || path.ancestors().nth(2).is_some_and(is_shelf);
    let is_named =
        name == PAGE || name.eq_ignore_ascii_case(PAGE) && (is_shelved() || has_front_matter(path));
    is_named && !path.is_dir()
}

fn has_front_matter(path: &Path) -> bool {
    let start = disk::open(path).and_then(|file| disk::read_first(&file, 3));
    start.is_ok_and(|start| start == b"---")
}

fn is_shelf(folder: &Path) -> bool {
    folder.file_name() == Some(OsStr::new(SHELF))
}

/// Returns the skills that an outer one has as samples. The outermost skill decides: a longer path below a skill has all
/// names of a shorter one.
fn samples<'s>(skills: &HashSet<&'s Path>) -> HashSet<&'s Path> {
    let mut sorted: Vec<&Path> = skills.iter().copied().collect();
    sorted.sort_unstable();
    let mut outermost: Option<&Path> = None;
    sorted.retain(|skill| match outermost {
        Some(outer) if skill.starts_with(outer) => is_sample_of(outer, skill),
        _ => {
            outermost = Some(*skill);
            false
        }
    });
    sorted.into_iter().collect()
}

/// Returns true if the outer skill has the inner one as a template, an example or a test.
fn is_sample_of(outer: &Path, inner: &Path) -> bool {
    let Ok(below) = inner.strip_prefix(outer) else { return false };
    // Skills in `.claude/skills` are none, although hidden files usually are.
    let names = below.iter().map(|name| name.to_string_lossy().trim_start_matches('.').to_owned());
    is_sample(&names.chain([PAGE.to_owned()]).collect::<Vec<_>>().join("/"))
}

struct Search<'f> {
    folder: &'f Path,
    project: Option<&'f Path>,
    found: BTreeSet<FoundSkill>,
    broken: BTreeSet<PathBuf>,
    seen: HashSet<PathBuf>,
    /// The folders to search: the first one, and those that symlinks lead to.
    next: Vec<FoundSkill>,
}

impl Search<'_> {
    fn walk(&mut self, start: FoundSkill) -> Result<(), SearchError> {
        let root = start.path.clone();
        if is_skill(&root) {
            self.found.insert(start);
        }
        if !self.enter(&root)? {
            return Ok(());
        }
        let mut rules = IgnoreRules::of(&root)?;
        #[expect(clippy::disallowed_methods, reason = "it follows no link, and reads nothing but names")]
        let mut entries = WalkDir::new(&root).min_depth(1).into_iter();
        while let Some(entry) = entries.next() {
            // Agents cannot load a skill from a folder that cannot be read.
            let Ok(entry) = entry else { continue };
            let path = entry.path();
            if entry.file_type().is_dir() {
                let is_foreign = FOREIGN.iter().any(|name| entry.file_name() == *name);
                if is_foreign || is_ignored(&mut rules, &root, &entry)? || !self.enter(path)? {
                    entries.skip_current_dir();
                }
            } else if entry.depth() > 1 && is_page(path) {
                if !is_ignored(&mut rules, &root, &entry)? {
                    self.add(path);
                }
            } else if entry.path_is_symlink() && !is_ignored(&mut rules, &root, &entry)? {
                self.follow(path);
            }
        }
        Ok(())
    }

    /// Returns false for a folder that was searched before.
    fn enter(&mut self, folder: &Path) -> Result<bool, SearchError> {
        if self.seen.len() >= MOST_FOLDERS {
            return Err(SearchError::TooMany(self.folder.to_owned()));
        }
        Ok(self.seen.insert(folder.to_owned()))
    }

    fn add(&mut self, page: &Path) {
        if let Some(path) = page.parent() {
            self.found.insert(FoundSkill { shelf: path.parent().map(Path::to_owned), path: path.to_owned() });
        }
    }

    fn follow(&mut self, link: &Path) {
        let is_shelved = link.parent().is_some_and(is_shelf);
        let path = match link.canonicalize() {
            Ok(path) => path,
            Err(error) => {
                if error.kind() == ErrorKind::NotFound && is_shelved {
                    self.broken.insert(link.to_owned());
                }
                return;
            }
        };
        let is_outside = self.project.is_some_and(|project| !path.starts_with(project));
        let is_listed = is_shelf(link) || is_shelved;
        // A symlink to a folder around all that is searched would lead everywhere.
        let is_around = self.project.unwrap_or(self.folder).starts_with(&path);
        if path.is_dir() && !is_around && (!is_outside || is_listed) {
            self.next.push(FoundSkill { shelf: link.parent().map(Path::to_owned), path });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    const TEXT: &str = "---\nname: a\n---\n";

    struct World(TempDir);

    impl World {
        /// Creates a folder with a project and these files in it.
        fn new(files: &[&str]) -> Self {
            let world = Self(tempfile::tempdir().unwrap());
            for folder in ["project/.git/objects", "project/.git/refs"] {
                fs::create_dir_all(world.at(folder)).unwrap();
            }
            fs::write(world.at("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
            for file in files {
                world.write(file, TEXT);
            }
            world
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
            fs::write(self.at(path), text).unwrap();
        }

        fn link(&self, path: &str, target: &str) {
            fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
            symlink(target, self.at(path)).unwrap();
        }

        /// Returns what was found in a folder, each skill below its shelf.
        fn found(&self, folder: &str) -> Vec<String> {
            let project = self.at("project");
            let found = skills_in(&self.at(folder), Some(&project)).unwrap();
            let root = self.at("");
            let below = |path: &Path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            let line = |skill: &FoundSkill| match &skill.shelf {
                Some(above) if skill.path.parent() != Some(above.as_path()) => {
                    format!("{} on {}", below(&skill.path), below(above))
                }
                _ => below(&skill.path),
            };
            found.skills.iter().map(line).collect()
        }
    }

    #[test]
    fn skills_of_plugins_and_shelves_are_found_at_any_depth() {
        let world = World::new(&[
            "project/.claude/skills/a/SKILL.md",
            "project/.claude/skills/a/scripts/x.py",
            "project/plugins/p/skills/b/SKILL.md",
            "project/plugins/q/SKILL.md",
            "project/skills/small/skill.md",
            "project/docs/skill.md",
            "project/.git/skills/c/SKILL.md",
            "project/web/node_modules/d/SKILL.md",
            "project/.skilltune/runs/e/SKILL.md",
        ]);
        world.write("project/.github/templates/skill.md", "# A new skill\n");
        assert_eq!(
            world.found("project"),
            [
                "project/docs",
                "project/.claude/skills/a",
                "project/plugins/q",
                "project/plugins/p/skills/b",
                "project/skills/small",
            ]
        );
        assert_eq!(world.found("project/plugins/q"), ["project/plugins/q"]);
        assert_eq!(world.found("project/web"), [""; 0]);
    }

    #[test]
    fn ignored_skills_count_only_if_their_folder_is_named() {
        let world = World::new(&[
            "project/skills/a/SKILL.md",
            "project/.claude/skills/b/SKILL.md",
            "project/fixtures/c/SKILL.md",
            "project/skills/draft/SKILL.md",
        ]);
        world.write("project/.gitignore", ".claude/\nskills/draft/SKILL.md\n");
        world.write("project/.skilltuneignore", "fixtures/\n");
        assert_eq!(world.found("project"), ["project/skills/a"]);
        assert_eq!(world.found("project/.claude/skills"), ["project/.claude/skills/b"]);
    }

    #[test]
    fn a_skill_in_a_skill_counts_unless_it_is_a_sample() {
        let world = World::new(&[
            "project/SKILL.md",
            "project/parts/a/SKILL.md",
            "project/assets/sample-skill/SKILL.md",
            "project/evals/fixtures/b/SKILL.md",
            "project/.agents/skills/c/SKILL.md",
        ]);
        assert_eq!(world.found("project"), ["project", "project/.agents/skills/c", "project/parts/a"]);
        let owner = |file: &str| skill_of(&world.at(file));
        assert_eq!(owner("project/parts/a/gone/x.md"), Some(world.at("project/parts/a")));
        for file in ["SKILL.md", "README.md", "parts/x.md", "evals/fixtures/b/SKILL.md"] {
            assert_eq!(owner(&format!("project/{file}")), Some(world.at("project")), "{file}");
        }
        fs::remove_file(world.at("project/SKILL.md")).unwrap();
        world.write("SKILL.md", TEXT);
        assert_eq!(owner("project/README.md"), None, "the repository ends there");
    }

    #[test]
    fn linked_libraries_count_and_no_symlink_leads_everywhere() {
        let world = World::new(&[
            "project/.agents/skills/a/SKILL.md",
            "library/skills/b/SKILL.md",
            "home/c/SKILL.md",
            "home/.git/HEAD",
        ]);
        world.link("project/.claude/skills/a", "../../.agents/skills/a");
        world.link("project/.claude/skills/library", "../../../library");
        world.link("project/.claude/skills/gone", "nowhere");
        world.link("project/docs/home", "../../home");
        world.link("project/skills", "../home");
        world.link("project/docs/skills/all", "../../../..");
        world.link("project/.agents/skills/a/again", "..");
        assert_eq!(
            world.found("project"),
            [
                "home/c",
                "library/skills/b",
                "project/.agents/skills/a",
                "project/.agents/skills/a on project/.claude/skills",
            ]
        );
        let free = skills_in(&world.at("project/docs"), None).unwrap();
        assert_eq!(free.skills.iter().map(|skill| &skill.path).collect::<Vec<_>>(), [&world.at("home/c")]);
    }

    #[test]
    fn a_broken_symlink_on_a_shelf_is_found_but_one_in_a_skill_is_a_file_of_it() {
        let world = World::new(&["project/.agents/skills/a/SKILL.md", "project/docs/x.md"]);
        for link in
            [".claude/skills/gone", "docs/gone", ".agents/skills/a/skills/gone", "ignored/skills/gone"]
        {
            world.link(&format!("project/{link}"), "nowhere");
        }
        world.write("project/.gitignore", "ignored/\n");
        let found = skills_in(&world.at("project"), None).unwrap();
        assert_eq!(found.broken, [world.at("project/.claude/skills/gone")]);
    }
}
