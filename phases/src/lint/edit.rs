//! One edit that a rule proposes: the change of one file, and what it needs besides.

use std::ops::Range;

use super::File;
use crate::material::Body;

#[derive(Debug)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) count: usize,
    /// Those of its places; none when it is about the file.
    pub(super) lines: Vec<usize>,
    /// Whether it may be made without asking, as far as the edit itself can tell.
    pub(super) is_safe: bool,
    /// In the place of those with the same path, or new.
    pub(super) files: Vec<File>,
}

impl Edit {
    pub(super) fn of_text(file: &File, text: String, count: usize) -> Self {
        let changed = File { body: Body::Text(text), ..file.clone() };
        Self { path: file.path.clone(), count, lines: Vec::new(), is_safe: true, files: vec![changed] }
    }

    /// Puts other words at some places, none of which overlap; nothing when there are none.
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
        let files = vec![File { executable: true, ..file.clone() }];
        Self { path: file.path.clone(), count: 1, lines: Vec::new(), is_safe: true, files }
    }

    /// Only a person can tell whether it is right.
    pub(super) fn suggested(self) -> Self {
        Self { is_safe: false, ..self }
    }

    pub(super) fn with(mut self, file: File) -> Self {
        self.files.push(file);
        self
    }
}
