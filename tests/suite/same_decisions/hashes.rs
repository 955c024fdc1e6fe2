//! Replaces hashes that cover a time.
//!
//! The evidence of a trial contains its duration, the judge's step names the evidence, and the call's key covers the
//! step. Each such hash is replaced by a hash of the same content without the times, which is equal in two runs that
//! differ only in times.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;
use skilltune_phases::base::id::Digest;

use crate::scene::listing;

/// The number of hash digits in the name of a call's folder.
pub(super) const SHORT: usize = 12;
const MANIFEST: &str = "skilltune manifest ";

static HASH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[0-9a-f]{64}|\b[0-9a-f]{12}\b").expect("it is a pattern"));
/// Codes that cover everything a judge reads.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    let code = r#"(\\?"(?:verdict_of|answer_to)\\?": ?\\?")[0-9a-f]{12}|(<<<(?:BEGIN|END) )[0-9a-f]{16}|(there is `)[0-9a-f]{12}"#;
    Regex::new(code).expect("it is a pattern")
});
/// A file entry of a manifest. The size of a file that contains a time depends on that time.
static ENTRY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^(file \d+) (\d+) ([0-9a-f]{64})").expect("it is a pattern"));

#[derive(Default)]
pub(super) struct Hashes(HashMap<String, String>);

impl Hashes {
    /// Reads the objects below `.skilltune` and the journals of these runs.
    pub(super) fn read(skilltune: &Path, runs: &[String], plain: impl Fn(&str) -> String) -> Self {
        let mut hashes = Self::default();
        let objects = text_objects(skilltune);
        let (trees, blobs): (Vec<_>, Vec<_>) =
            objects.iter().partition(|(_, text)| text.starts_with(MANIFEST));
        for (hex, text) in blobs {
            let other = plain(text);
            hashes.add(hex, text, &other);
        }
        for (hex, text) in trees {
            let other = hashes.replaced(text);
            hashes.add(hex, text, &other);
        }
        for run in runs {
            let folder = skilltune.join("runs").join(run);
            let journal = fs::read_to_string(folder.join("history.jsonl")).unwrap();
            for line in journal.lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                let done = &line["event"]["done"];
                let Some(call) = done["call"].as_str() else { continue };
                let prompt = folder.join("agents").join(&call[..SHORT]).join("prompt.md");
                // The key of an answer from an older run is already known here.
                let prompt = fs::read_to_string(prompt).unwrap_or_default();
                let step = format!("{} {}\n{prompt}", done["step"], done["attempt"]);
                let other = hashes.replaced(&step);
                if other != step {
                    hashes.add(call, &step, &plain(&other));
                }
            }
        }
        hashes
    }

    fn add(&mut self, hex: &str, covered: &str, instead: &str) {
        if covered != instead {
            let other = Digest::of(instead.as_bytes()).hex();
            self.0.entry(hex[..SHORT].to_owned()).or_insert_with(|| other[..SHORT].to_owned());
            self.0.entry(hex.to_owned()).or_insert(other);
        }
    }

    pub(super) fn replaced(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let entry = |entry: &Captures<'_>| match self.0.get(&entry[3]) {
            Some(other) => format!("{} N {other}", &entry[1]),
            None => entry[0].to_owned(),
        };
        let instead = |hash: &Captures<'_>| self.0.get(&hash[0]).map_or(&hash[0], String::as_str).to_owned();
        let text = ENTRY.replace_all(text, entry);
        CODE.replace_all(&HASH.replace_all(&text, instead), "${1}${2}${3}CODE").into_owned()
    }
}

/// Returns the stored text objects by their hashes.
fn text_objects(skilltune: &Path) -> Vec<(String, String)> {
    let folder = skilltune.join("objects");
    if !folder.is_dir() {
        return Vec::new();
    }
    let text = |(path, _, bytes): (PathBuf, u32, Vec<u8>)| {
        let hex = path.to_str()?.replace('/', "");
        (hex.len() == 64).then_some((hex, String::from_utf8(bytes).ok()?))
    };
    listing(&folder).into_iter().filter_map(text).collect()
}
