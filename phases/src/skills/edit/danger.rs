//! The new abilities that an edit gives to a skill: the lines that a person must review.
//!
//! Only additions count, and removed settings, because those may have forbidden something. An existing command may be
//! moved, indented and quoted differently. Words are compared as a program or an agent reads them (`fold`): invisible
//! characters, lookalike letters, quotes and line continuations make no difference. This only finds what is written
//! down. It cannot know what a script computes, so a changed script is a danger of its own.

mod acting;
mod command;
mod fold;
mod names;
mod permission;
mod pieces;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::answer::capped;
use crate::base::id::BlobId;
use crate::base::material::Body;
use crate::skills::lint::{self, File, Files};

pub use acting::{acts_by_itself, is_git};
use names::{is_media, is_settings};
use pieces::Piece;

/// One addition, and the line that shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Danger {
    pub path: Box<str>,
    /// Counted from one; `None` for a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub class: DangerClass,
    pub shown: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DangerClass {
    /// A key of the front matter that controls what an agent may do.
    Permission,
    /// A file from which agents or tools read settings or hooks.
    Settings,
    /// A new or changed program.
    Script,
    /// A command or an address that uses the network.
    Network,
    /// A command that hides what it runs.
    HiddenCode,
    /// A file with an executable bit.
    Executable,
    /// A file that runs as its owner or group.
    SetId,
    Symlink,
}

impl Danger {
    /// Returns the text, such as `network: SKILL.md:12: curl http://a.dev`. The folder ends with a slash.
    pub fn text(&self, folder: &str) -> String {
        let Self { path, line, class, shown } = self;
        let at = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}: {folder}{path}{at}: {shown}", class.word())
    }
}

impl DangerClass {
    pub const ALL: [Self; 8] = [
        Self::Permission,
        Self::Settings,
        Self::Script,
        Self::Network,
        Self::HiddenCode,
        Self::Executable,
        Self::SetId,
        Self::Symlink,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Settings => "settings",
            Self::Script => "script",
            Self::Network => "network",
            Self::HiddenCode => "hidden code",
            Self::Executable => "executable",
            Self::SetId => "set-id",
            Self::Symlink => "symlink",
        }
    }
}

/// A skill's files, with details that lint does not need.
#[derive(Clone, Debug, Default)]
pub struct Version {
    pub files: Files,
    /// The files with a set-id bit.
    pub set_id: BTreeSet<String>,
    /// The content hash of each file, which tells apart files that are not read as text.
    pub contents: BTreeMap<String, BlobId>,
}

/// Further dangers of one class are only counted.
const MOST_OF_A_CLASS: usize = 20;
const LONGEST_LINE: usize = 160;

/// Returns the dangers that a new version adds, by path and line.
pub fn dangers(before: &Version, after: &Version) -> Vec<Danger> {
    let mut found = Vec::new();
    for file in after.files.files() {
        let old = before.files.get(&file.path);
        let is_same = old.is_some_and(|old| old.body == file.body)
            && before.contents.get(&file.path) == after.contents.get(&file.path);
        if !is_same {
            of_content(old, file, &mut found);
        }
        // An existing script already runs by its interpreter, with or without the bit.
        let was_run = old.is_some_and(|old| old.executable || is_script(old) && is_same);
        if file.executable && !was_run {
            found.push(whole(file, DangerClass::Executable, "is now executable"));
        }
        if after.set_id.contains(&file.path) && !before.set_id.contains(&file.path) {
            found.push(whole(file, DangerClass::SetId, "now runs with the rights of its owner or group"));
        }
    }
    let is_gone = |old: &&File| is_settings(&old.path) && after.files.get(&old.path).is_none();
    let gone = before.files.files().iter().filter(is_gone);
    found.extend(gone.map(|old| whole(old, DangerClass::Settings, "removed")));
    of_lines(&before.files, &after.files, &mut found);
    // If a line has several, the first shows most of it.
    found.sort_by(|one, other| order(one).cmp(&order(other)));
    found.dedup_by(|one, other| order(one) == order(other));
    let mut some: Vec<Danger> =
        DangerClass::ALL.into_iter().flat_map(|class| of_class(class, &found)).collect();
    some.sort_by(|one, other| order(one).cmp(&order(other)));
    some
}

/// Returns the first dangers of a class, and the number of the others.
fn of_class(class: DangerClass, found: &[Danger]) -> Vec<Danger> {
    let all: Vec<&Danger> = found.iter().filter(|danger| danger.class == class).collect();
    let mut shown: Vec<Danger> = all.iter().take(MOST_OF_A_CLASS).copied().cloned().collect();
    if let Some(next) = all.get(MOST_OF_A_CLASS) {
        let more = format!("and {} more", all.len() - MOST_OF_A_CLASS);
        shown.push(Danger { shown: more.into(), ..(*next).clone() });
    }
    shown
}

fn order(danger: &Danger) -> (&str, Option<usize>, DangerClass) {
    (&danger.path, danger.line, danger.class)
}

/// Finds the dangers of a new or changed file.
fn of_content(old: Option<&File>, new: &File, found: &mut Vec<Danger>) {
    if let Body::Link { target } = &new.body {
        found.push(whole(new, DangerClass::Symlink, &format!("symlink to {target}")));
    } else if is_script(new) {
        found.push(first_line(old, new, DangerClass::Script));
    } else if text(new).is_none() && !is_media(&new.path) {
        found.push(whole(new, DangerClass::HiddenCode, "is too large or not text, so it cannot be checked"));
    }
    if is_settings(&new.path) {
        found.push(first_line(old, new, DangerClass::Settings));
    }
    let text = |file: &File| text(file).unwrap_or_default().to_owned();
    let old = old.map(text).unwrap_or_default();
    for (line, shown) in permission::widened(&old, &text(new)) {
        found.push(danger(new, Some(line), DangerClass::Permission, &shown));
    }
}

/// Finds commands and addresses that no line of the version before has.
fn of_lines(before: &Files, after: &Files, found: &mut Vec<Danger>) {
    let hits = |files: &Files| -> Vec<(String, DangerClass, String, usize, String)> {
        let in_file = |file: &File| {
            let pieces = pieces::of(file, is_script(file));
            let in_piece = |Piece { line, text, kind }: Piece| {
                let hits = command::hits(&text, kind).into_iter();
                let path = file.path.clone();
                hits.map(move |(class, key)| (path.clone(), class, key, line, text.clone()))
                    .collect::<Vec<_>>()
            };
            pieces.into_iter().flat_map(in_piece).collect::<Vec<_>>()
        };
        files.files().iter().flat_map(in_file).collect()
    };
    let known: BTreeSet<_> = hits(before).into_iter().map(|(_, class, key, ..)| (class, key)).collect();
    for (path, class, key, line, text) in hits(after) {
        if !known.contains(&(class, key)) {
            found.push(Danger { path: path.into(), line: Some(line), class, shown: shown(&text) });
        }
    }
}

fn whole(file: &File, class: DangerClass, shown: &str) -> Danger {
    danger(file, None, class, shown)
}

/// Returns the first line that the version before does not have.
fn first_line(old: Option<&File>, new: &File, class: DangerClass) -> Danger {
    let known: BTreeSet<&str> = old.and_then(text).unwrap_or_default().lines().map(str::trim).collect();
    let mut lines = text(new).unwrap_or_default().lines().enumerate();
    let is_new = |line: &str| !line.trim().is_empty() && !known.contains(line.trim());
    match lines.find(|(_, line)| is_new(line)) {
        Some((at, line)) => danger(new, Some(at + 1), class, line),
        None if old.is_some() => whole(new, class, "changed"),
        None => whole(new, class, "added"),
    }
}

fn danger(file: &File, line: Option<usize>, class: DangerClass, text: &str) -> Danger {
    Danger { path: file.path.as_str().into(), line, class, shown: shown(text) }
}

fn shown(text: &str) -> Box<str> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    capped(&lint::without_keys(&line, "[secret]"), LONGEST_LINE).into()
}

fn text(file: &File) -> Option<&str> {
    match &file.body {
        Body::Text(text) => Some(text),
        Body::Large { .. } | Body::Binary { .. } | Body::Link { .. } => None,
    }
}

/// Returns whether a file is a program, by its folder, its bit, its first line or its name.
fn is_script(file: &File) -> bool {
    lint::is_script(file) || names::is_program(&file.path)
}

#[cfg(test)]
mod tests;
