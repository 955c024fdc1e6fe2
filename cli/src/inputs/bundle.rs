//! The folder that is installed together with a skill: its plugin, or the skill that it is a part of.
//!
//! A plugin has a manifest, or a marketplace names its folder.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::skill_folders::lineage;
use skilltune_phases::skills::lint::PluginPath;

use crate::inputs::plugin::MANIFEST;

/// The manifests of other agents.
const OTHERS: [&str; 3] =
    [".codex-plugin/plugin.json", ".cursor-plugin/plugin.json", "gemini-extension.json"];
const MARKETPLACE: &str = ".claude-plugin/marketplace.json";
const MOST_BYTES: u64 = 4 << 20;
/// More plugins than any marketplace has. The folders of all marketplaces stay in memory.
const MOST_PLUGINS: usize = 10_000;
const PAGE: &str = "SKILL.md";

/// The bundles of many skills. Reads each marketplace once.
#[derive(Debug, Default)]
pub struct Bundles {
    /// The folders that the marketplace in a folder names as plugins.
    markets: RefCell<HashMap<PathBuf, HashSet<PathBuf>>>,
}

impl Bundles {
    /// Finds where each path leads that leaves the skill's folder. Skips paths that leave the bundle too.
    pub fn paths(
        &self,
        skill: &Path,
        leaving: impl IntoIterator<Item = String>,
    ) -> Vec<(String, PluginPath)> {
        let Some(root) = self.root(skill) else { return Vec::new() };
        let Ok(own) = skill.strip_prefix(&root) else { return Vec::new() };
        let end = |path: String| {
            let end = end(&root, own, &joined(own, &path)?)?;
            Some((path, end))
        };
        leaving.into_iter().filter_map(end).collect()
    }

    /// Returns the folder of the bundle, if the skill is in one.
    fn root(&self, skill: &Path) -> Option<PathBuf> {
        let above: Vec<&Path> = lineage(skill).into_iter().skip(1).collect();
        let plugin = above.iter().find(|folder| is_plugin(folder)).map(|folder| (*folder).to_owned());
        let market = || above.iter().find_map(|folder| self.listed(folder, skill));
        let outer = || above.iter().rev().find(|folder| has(folder, PAGE)).map(|folder| (*folder).to_owned());
        plugin.or_else(market).or_else(outer)
    }

    /// Returns the innermost folder around the skill that the marketplace in this folder names as a plugin.
    fn listed(&self, folder: &Path, skill: &Path) -> Option<PathBuf> {
        let mut markets = self.markets.borrow_mut();
        let plugins = markets.entry(folder.to_owned()).or_insert_with(|| plugins(folder).unwrap_or_default());
        skill.ancestors().skip(1).find(|above| plugins.contains(*above)).map(Path::to_owned)
    }
}

/// Returns true if the skill is in a plugin that only Claude Code installs.
pub fn is_for_claude_code(skill: &Path) -> bool {
    let lineage = lineage(skill);
    let plugin = lineage.iter().find(|folder| is_plugin(folder));
    plugin.is_some_and(|plugin| !is_for_others(plugin))
}

fn is_plugin(folder: &Path) -> bool {
    has(folder, MANIFEST) || is_for_others(folder)
}

fn is_for_others(folder: &Path) -> bool {
    OTHERS.iter().any(|file| has(folder, file))
}

fn has(folder: &Path, file: &str) -> bool {
    SafePath::below(folder, file).is_file()
}

/// Returns the folders that the marketplace in this folder names as plugins.
fn plugins(folder: &Path) -> Option<HashSet<PathBuf>> {
    let text = SafePath::below(folder, MARKETPLACE).read(MOST_BYTES).ok()??;
    let market: Value = serde_json::from_slice(&text).ok()?;
    let base = market["metadata"]["pluginRoot"].as_str().unwrap_or_default();
    let source = |plugin: &Value| {
        let source = plugin["source"].as_str()?;
        // A path with `./` starts at the marketplace, a name at the folder of its plugins.
        let base = if source.starts_with('.') { "" } else { base };
        let place = Path::new(base).join(source);
        let is_below = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        place.components().all(is_below).then(|| folder.join(place).components().collect::<PathBuf>())
    };
    Some(market["plugins"].as_array()?.iter().take(MOST_PLUGINS).filter_map(source).collect())
}

/// Returns a path of the skill as a path of the bundle; none if it leaves the bundle.
fn joined(own: &Path, path: &str) -> Option<PathBuf> {
    let mut place = own.to_owned();
    for part in path.split('/') {
        match part {
            ".." => place.pop().then_some(())?,
            part => place.push(part),
        }
    }
    Some(place)
}

/// Returns what is at a path of the bundle; none for a path through a symlink.
fn end(root: &Path, own: &Path, place: &Path) -> Option<PluginPath> {
    let is_there = |place: &Path| place.as_os_str().is_empty() || SafePath::below(root, place).exists();
    if !is_there(place) {
        // skilltune does not follow symlinks here.
        let is_behind_link = place.ancestors().skip(1).any(|above| root.join(above).is_symlink());
        return (!is_behind_link).then_some(PluginPath::Missing);
    }
    let skill = place.ancestors().find(|above| SafePath::below(root, above.join(PAGE)).exists());
    let is_other = skill.is_some_and(|skill| !own.starts_with(skill));
    Some(if is_other { PluginPath::OtherSkill } else { PluginPath::Shared })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// Creates a repository with two skills, and with these files.
    fn repository(files: &[(&str, &str)]) -> TempDir {
        let root = TempDir::new().unwrap();
        let skills = ["p/skills/a/SKILL.md", "p/skills/b/SKILL.md", "p/skills/b/x.md", "p/shared/y.md"];
        let skills = skills.map(|path| (path, ""));
        for (path, text) in skills.iter().chain(files) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir(root.path().join(".git")).unwrap();
        root
    }

    fn ends(root: &TempDir) -> Vec<(String, PluginPath)> {
        let leaving = ["../b", "../b/x.md", "../../shared/y.md", "../..", "../gone.md", "../../../z.md"];
        Bundles::default().paths(&root.path().join("p/skills/a"), leaving.map(str::to_owned))
    }

    #[test]
    fn paths_lead_to_other_skills_of_the_plugin_or_to_what_they_share() {
        let marketplace =
            r#"{"plugins": [{"source": {}}, {"source": "../x"}, {"source": "./"}, {"source": "./p"}]}"#;
        let named = r#"{"metadata": {"pluginRoot": "./"}, "plugins": [{"source": "p"}]}"#;
        for (manifest, text) in [
            ("p/.claude-plugin/plugin.json", "{}"),
            ("p/gemini-extension.json", "{}"),
            (".claude-plugin/marketplace.json", marketplace),
            (".claude-plugin/marketplace.json", named),
            ("p/SKILL.md", ""),
        ] {
            let root = repository(&[(manifest, text)]);
            let of = |path: &str, end| (path.to_owned(), end);
            let wanted = [
                of("../b", PluginPath::OtherSkill),
                of("../b/x.md", PluginPath::OtherSkill),
                of("../../shared/y.md", PluginPath::Shared),
                of("../..", PluginPath::Shared),
                of("../gone.md", PluginPath::Missing),
            ];
            assert_eq!(ends(&root), wanted, "{manifest}: {text}");
        }
    }

    #[test]
    fn a_skill_without_a_plugin_has_no_such_paths() {
        for (file, text) in [
            ("README.md", ""),
            (".claude-plugin/marketplace.json", "no JSON"),
            (".claude-plugin/marketplace.json", r#"{"plugins": [{"source": "./q"}, {"source": "/"}, 3]}"#),
        ] {
            assert_eq!(ends(&repository(&[(file, text)])), [], "{text}");
        }
    }

    #[test]
    fn nothing_behind_a_symlink_is_looked_up() {
        let root = repository(&[("p/.claude-plugin/plugin.json", "{}")]);
        symlink("/etc", root.path().join("p/skills/gone.md")).unwrap();
        let skill = root.path().join("p/skills/a");
        let end = |path: &str| Bundles::default().paths(&skill, [path.to_owned()]);
        assert_eq!(end("../gone.md/passwd"), []);
        assert_eq!(end("../gone.md").len(), 1);
    }
}
