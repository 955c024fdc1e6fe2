//! Whether a change may weaken the tests: it changes settings of what checks the code, adds lines that silence a check, or
//! removes tests.
//!
//! Each is a danger that a person looks at. Nothing here judges its direction. The files are hostile: they are read in linear
//! time, and no parser of TOML reads them, because it recurses as deep as its text does.

mod languages;
mod settings;

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::suites::checks::quote_message;

/// A changed file, as its diff shows it.
#[derive(Clone, Debug)]
pub struct ChangedFile<'a> {
    pub path: &'a str,
    /// None if the file is new, or no text.
    pub before: Option<&'a str>,
    /// None if the file is deleted, or no text.
    pub after: Option<&'a str>,
    /// Lines with their numbers in the new file.
    pub added: Vec<(u32, &'a str)>,
}

/// A danger to the tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weakening {
    pub path: Box<str>,
    /// In the new file.
    pub line: Option<u32>,
    /// What the change does: "adds `#[ignore]`".
    pub what: Box<str>,
}

/// If there are more, the last one says how many.
const MOST: usize = 100;

/// Returns the dangers of a change in the order of its files.
pub fn weakenings(files: &[ChangedFile<'_>]) -> Vec<Weakening> {
    let mut found = Found::default();
    for (file, removed) in files.iter().zip(removed_tests(files)) {
        for what in settings::changed(file) {
            found.push(file, None, &format!("changes {what}"));
        }
        if let Some(language) = languages::of(file.path) {
            for (line, text) in &file.added {
                for form in language.silencers(text) {
                    found.push(file, Some(*line), &format!("adds `{form}`"));
                }
            }
        }
        for what in removed {
            found.push(file, None, &format!("removes {what}"));
        }
    }
    found.finish()
}

#[derive(Default)]
struct Found {
    weakenings: Vec<Weakening>,
    more: usize,
}

impl Found {
    fn push(&mut self, file: &ChangedFile<'_>, line: Option<u32>, what: &str) {
        if self.weakenings.len() == MOST {
            self.more += 1;
            return;
        }
        let what = quote_message(what).into();
        self.weakenings.push(Weakening { path: file.path.into(), line, what });
    }

    fn finish(mut self) -> Vec<Weakening> {
        if self.more > 0
            && let Some(last) = self.weakenings.last_mut()
        {
            last.line = None;
            last.what = format!("has {} more dangers, with those of later files", self.more + 1).into();
        }
        self.weakenings
    }
}

/// Returns the removed tests of each file. A test that has moved to another changed file is not removed.
fn removed_tests(files: &[ChangedFile<'_>]) -> Vec<Vec<String>> {
    let names = |file: &ChangedFile<'_>, text: Option<&str>| {
        languages::of(file.path).zip(text).map_or_else(Vec::new, |(language, text)| language.tests(text))
    };
    let tests: Vec<_> =
        files.iter().map(|file| (names(file, file.before), names(file, file.after))).collect();
    let mut gained: BTreeMap<&str, i64> = BTreeMap::new();
    for (before, after) in &tests {
        for name in before {
            *gained.entry(name).or_default() -= 1;
        }
        for name in after {
            *gained.entry(name).or_default() += 1;
        }
    }
    let now: HashSet<&str> = files.iter().filter_map(|file| file.after).collect();
    let removed = files.iter().zip(&tests).map(|(file, (before, after))| {
        let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
        for name in after {
            *kept.entry(name).or_default() += 1;
        }
        let mut removed = Vec::new();
        for name in before {
            match (kept.get_mut(name.as_str()), gained.get_mut(name.as_str())) {
                (Some(count), _) if *count > 0 => *count -= 1,
                (_, Some(count)) if *count < 0 => {
                    *count += 1;
                    removed.push(format!("the test `{name}`"));
                }
                _ => {}
            }
        }
        // Without a known test, its text decides whether it has moved.
        let is_lost = |text: &str| !text.trim().is_empty() && !now.contains(text);
        let is_deleted = file.after.is_none() && file.before.is_some_and(is_lost);
        if is_deleted && before.is_empty() && is_test_file(file.path) {
            removed.push("this test file".to_owned());
        }
        removed
    });
    removed.collect()
}

/// Returns whether a file belongs to the tests by its path.
pub(super) fn is_test_file(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.split(['/', '.', '_', '-']).any(|word| matches!(word, "test" | "tests" | "spec" | "specs"))
}

#[cfg(test)]
mod tests;
