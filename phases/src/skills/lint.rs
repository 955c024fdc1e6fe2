//! Finds problems in a skill's files, and fixes some of them.
//!
//! ```text
//! Files --> Reading (every Markdown file read once) --> diagnostics     (front, page, links, reach, text, secret)
//!   ^                                              \--> edits of a rule (fix)
//!   +------------- those that fix it and make nothing else worse --+
//! ```
//!
//! A skill that no agent could load is checked as far as it is readable: the diagnostics then say why it does not load.

mod contents;
mod edit;
mod example;
mod fix;
mod front;
mod links;
mod listing;
mod outline;
mod page;
mod path;
mod prose;
mod reach;
mod reading;
mod route;
mod rule;
mod secret;
mod spec;
mod split;
#[cfg(test)]
mod tests;
mod text;
mod together;

use std::collections::{BTreeMap, BTreeSet};

use crate::base::material::Body;

pub use fix::{Fixed, Offer, Reach, Repair, Suggestion, fix_all, fix_rule, offers, suggestion};
pub use front::LISTED;
pub use links::leaving;
pub use listing::{BUDGET, Listing};
pub use outline::{Code, Outline, code, is_script, outline};
pub use path::decoded;
pub(crate) use path::resolved;
pub use reading::{is_markdown, is_sample};
pub use route::{Route, Stage, Stop, route};
pub use rule::{Fix, Rule, Severity};
pub use secret::{likely_keys, without_keys};
pub use spec::spec;
pub use split::tokens;
pub use together::together;

use reading::Reading;

/// The files of a skill's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    folder: String,
    all: Vec<File>,
    /// The paths that leave the folder, from there, but not the plugin that is installed with it.
    plugin: BTreeMap<String, PluginPath>,
    /// Folders whose files are left out.
    left_out: BTreeSet<String>,
}

/// Where a path leads in the plugin of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginPath {
    /// To another skill, or to a file of it.
    OtherSkill,
    /// To a file or a folder that all skills of the plugin share.
    Shared,
    Missing,
}

/// A file and its path within the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub body: Body,
    pub executable: bool,
}

impl File {
    /// Returns the content if it is text and small enough to be checked.
    pub fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            Body::Large { .. } | Body::Binary { .. } | Body::Link { .. } => None,
        }
    }
}

/// One problem and its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    pub path: String,
    /// Counted from one; a diagnostic about a whole file has none.
    pub line: Option<usize>,
    pub rule: Rule,
    pub message: String,
}

impl Files {
    /// Creates the files of a folder with this name; the last of several files with the same path is kept.
    pub fn new(folder: impl Into<String>, files: impl IntoIterator<Item = File>) -> Self {
        let mut sorted = Self { folder: folder.into(), ..Self::default() };
        let mut files: Vec<File> = files.into_iter().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.reverse();
        files.dedup_by(|earlier, later| earlier.path == later.path);
        files.reverse();
        sorted.all = files;
        sorted
    }

    /// Adds where the paths lead that [`leaving`] returns. Those that leave the plugin too must be left out.
    #[must_use]
    pub fn in_plugin(self, paths: impl IntoIterator<Item = (String, PluginPath)>) -> Self {
        Self { plugin: paths.into_iter().collect(), ..self }
    }

    /// Adds folders whose files are left out: anything may exist there.
    #[must_use]
    pub fn without(self, folders: impl IntoIterator<Item = String>) -> Self {
        Self { left_out: folders.into_iter().collect(), ..self }
    }

    /// Returns the folder's name.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns the files, sorted by path.
    pub fn files(&self) -> &[File] {
        &self.all
    }

    pub fn get(&self, path: &str) -> Option<&File> {
        self.at(path).ok().map(|at| &self.all[at])
    }

    /// Replaces the files with the same paths, and adds the others.
    fn put(&mut self, files: impl IntoIterator<Item = File>) {
        for file in files {
            match self.at(&file.path) {
                Ok(at) => self.all[at] = file,
                Err(at) => self.all.insert(at, file),
            }
        }
    }

    fn at(&self, path: &str) -> Result<usize, usize> {
        self.all.binary_search_by(|file| file.path.as_str().cmp(path))
    }
}

/// Returns all diagnostics by path, line and rule.
pub fn lint(files: &Files) -> Vec<Diagnostic> {
    let reading = Reading::of(files);
    let mut diagnostics = Vec::new();
    front::check(&reading, &mut diagnostics);
    links::check(&reading, &mut diagnostics);
    reach::check(&reading, &mut diagnostics);
    text::check(&reading, &mut diagnostics);
    prose::check(&reading, &mut diagnostics);
    contents::check(&reading, &mut diagnostics);
    split::check(&reading, &mut diagnostics);
    secret::check(&reading, &mut diagnostics);
    diagnostics.sort();
    diagnostics.dedup();
    diagnostics
}
