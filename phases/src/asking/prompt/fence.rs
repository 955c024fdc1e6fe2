//! Fences around untrusted text, and lists of files in fences.

use std::fmt::Write as _;

use serde::Serialize;

use crate::base::id::Digest;
use crate::base::material::{Body, Folder, Material};

/// Encloses a text between markers that do not occur in it.
///
/// The marker is a hash of seed, label and content, so the author of the content cannot know it. If the content has it
/// anyway, the next one is used.
pub fn fence(seed: &str, label: &str, content: &str) -> String {
    let label = plain(label);
    let code = code(seed, &label, content);
    let end = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    format!("<<<BEGIN {code} {label}>>>\n{content}{end}<<<END {code}>>>")
}

fn code(seed: &str, label: &str, content: &str) -> String {
    let nth = |count: u64| {
        let parts = [seed.as_bytes(), label.as_bytes(), content.as_bytes(), &count.to_le_bytes()];
        Digest::of_parts(parts).hex()[..16].to_owned()
    };
    let mut codes = (0..).map(nth);
    codes.find(|code| !content.contains(code)).expect("no text contains all codes")
}

/// Reduces a name to one line that can neither end a fence nor leave a code span.
pub(crate) fn plain(name: &str) -> String {
    let odd = |c: char| c.is_control() || matches!(c, '<' | '>' | '`' | '\u{2028}' | '\u{2029}');
    let name: String = name.chars().take(400).map(|c| if odd(c) { '?' } else { c }).collect();
    if name.trim().is_empty() { "(no name)".to_owned() } else { name }
}

/// Returns all files of a folder: the texts that fit in fences, the others by name.
pub(crate) fn files(seed: &str, folder: &Folder) -> String {
    let folder = folder.fitted(|_| false);
    let shown: Vec<_> = folder.files.iter().map(|file| material(seed, &folder.at, file)).collect();
    if shown.is_empty() { "(no files)".to_owned() } else { shown.join("\n\n") }
}

/// Returns one file of the folder at this path.
pub(super) fn material(seed: &str, at: &str, file: &Material) -> String {
    shown(seed, &format!("{at}/{}", file.path), &file.body)
}

/// Returns one file under the path at which an agent finds it.
pub(crate) fn shown(seed: &str, path: &str, body: &Body) -> String {
    let path = plain(path);
    match body {
        Body::Text(text) => fence(seed, &path, text),
        Body::Large { bytes } => format!("`{path}`: {bytes} bytes, not shown here; read it where it is."),
        Body::Binary { bytes } => format!("`{path}`: {bytes} bytes, not text."),
        Body::Link { target } => format!("`{path}`: a symbolic link to `{}`.", plain(target)),
    }
}

/// Returns a numbered list of texts in one fence.
pub(crate) fn numbered(seed: &str, label: &str, texts: impl IntoIterator<Item = String>) -> String {
    let mut list = String::new();
    for (at, text) in texts.into_iter().enumerate() {
        writeln!(list, "{}. {}", at + 1, text.trim().replace('\n', "\n   "))
            .expect("a string can always grow");
    }
    fence(seed, label, &list)
}

/// The agent's own report of a trial as a digest, for a judge or an improver.
#[derive(Serialize)]
pub(super) struct Activity {
    /// A member of a chain, or a scenario.
    name: String,
    digest: String,
}

pub(super) fn activity(seed: &str, name: &str, digest: &str) -> Activity {
    Activity { name: plain(name), digest: fence(seed, &format!("what the agent did: {name}"), digest) }
}
