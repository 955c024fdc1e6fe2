//! The folders that may change: one skill, or a chain of skills.

use serde::{Deserialize, Serialize};

use crate::base::id::TreeId;
use crate::base::name::Name;

/// The folders that may change, in the order in which they run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    pub mode: Mode,
    pub members: Vec<Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Single,
    Chain,
}

/// One skill of the target, as the run found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub name: Name,
    /// The real path of the skill's folder.
    pub path: String,
    pub start: TreeId,
    /// The Markdown files of the skill, relative, as the original lists them.
    pub files: Vec<String>,
    /// Whether it has programs of its own, which only an agent with a shell can run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_scripts: bool,
    /// The size of its `SKILL.md` in bytes, if that is too long for a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_long: Option<u64>,
    /// Paths in its folder that are not part of the skill, such as its suite. Neither agents nor edits reach them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Symlinks that lead out of its folder, as text: agents do not get them, and edits do not change them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_outside: Vec<String>,
    /// The plugin to which it belongs, if its pages name files of that plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<Plugin>,
}

/// The part of a skill's plugin that trials get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plugin {
    /// The files that the skill names, as the run found them.
    pub tree: TreeId,
    /// The skill's own folder within the plugin's folder. Trials have the version under trial there.
    pub skill: String,
    /// Files that are never placed, although the plugin has them or the skill names them.
    pub left_out: Vec<String>,
}

/// The variable by which agents and pages name the folder of a plugin.
pub const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";

/// Returns a page with the plugin's folder replaced by its path.
pub fn with_plugin_root(page: &str, root: &str) -> String {
    page.replace(&format!("${{{PLUGIN_ROOT}}}"), root)
}

/// A member's position in the chain, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(pub usize);
