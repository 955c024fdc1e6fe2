//! One edit that a rule proposes: the change of one file, and other changes that it needs.

use std::ops::Range;

use super::File;
use crate::base::material::Body;

#[derive(Debug)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) count: usize,
    /// The lines of its places; empty if the edit is about the whole file.
    pub(super) lines: Vec<usize>,
    /// The messages of the diagnostics that it fixes on these lines; empty if it fixes all of its rule there.
    pub(super) messages: Vec<String>,
    /// Whether the edit may be made without asking, if its rule agrees.
    pub(super) is_safe: bool,
    /// Files that are new or replace those with the same path.
    pub(super) files: Vec<File>,
}

impl Edit {
    pub(super) fn of_text(file: &File, text: String, count: usize) -> Self {
        let changed = File { body: Body::Text(text), ..file.clone() };
        Self::of(file, count, changed)
    }

    /// Replaces the text at some places that must not overlap; returns `None` if there are none.
    pub(super) fn of_places(
        file: &File,
        text: &str,
        mut places: Vec<(Range<usize>, String)>,
    ) -> Option<Self> {
        places.sort_by_key(|(at, _)| at.start);
        let mut made = String::with_capacity(text.len());
        let (mut done, mut line) = (0, 1);
        let mut lines = Vec::with_capacity(places.len());
        for (at, words) in &places {
            line += text[done..at.start].matches('\n').count();
            lines.push(line);
            line += text[at.clone()].matches('\n').count();
            made.push_str(&text[done..at.start]);
            made.push_str(words);
            done = at.end;
        }
        made.push_str(&text[done..]);
        (!places.is_empty()).then(|| Self { lines, ..Self::of_text(file, made, places.len()) })
    }

    pub(super) fn executable(file: &File) -> Self {
        Self::of(file, 1, File { executable: true, ..file.clone() })
    }

    fn of(file: &File, count: usize, changed: File) -> Self {
        let (lines, messages) = Default::default();
        Self { path: file.path.clone(), count, lines, messages, is_safe: true, files: vec![changed] }
    }

    /// Marks the edit as a suggestion: only a person can decide whether it is right.
    pub(super) fn suggested(self) -> Self {
        Self { is_safe: false, ..self }
    }

    pub(super) fn with(mut self, file: File) -> Self {
        self.files.push(file);
        self
    }
}
