//! The folders that may change: one skill, or a chain of skills.

use serde::{Deserialize, Serialize};

use crate::id::TreeId;
use crate::name::Name;

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

/// One skill of the target, as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub name: Name,
    /// The real path of the skill's folder.
    pub path: String,
    pub start: TreeId,
    /// The Markdown files of the skill, relative, as the original lists them.
    pub files: Vec<String>,
    /// Whether it brings programs of its own, which only an agent with a shell can run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_scripts: bool,
    /// Paths in its folder that are no part of the skill, such as its suite: no agent sees them, and no edit reaches them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Symlinks that lead out of its folder, as text: agents do not get them, and no edit changes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_outside: Vec<String>,
    /// Where its pages name files of the plugin that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<Plugin>,
}

/// What trials hold of the plugin of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plugin {
    /// The files that the skill names, as they were found.
    pub tree: TreeId,
    /// The skill's own folder below that of the plugin: there, trials have the version that is tried.
    pub skill: String,
    /// What is never placed, though the plugin has it or the skill names it.
    pub left_out: Vec<String>,
}

/// The variable by which agents and pages name the folder of a plugin.
pub const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";

/// A page that names the folder of its plugin, as it reads where that folder stands there.
pub fn with_plugin_root(page: &str, root: &str) -> String {
    page.replace(&format!("${{{PLUGIN_ROOT}}}"), root)
}

/// A member's place in the chain, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(pub usize);
