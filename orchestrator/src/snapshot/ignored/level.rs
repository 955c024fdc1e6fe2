//! The compiled rules of one folder. The syntax is git's.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::pattern;

/// A longer line is not a rule: no path is that long.
const LONGEST_LINE: usize = 4096;

/// The origin of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Git,
    Ours,
}

impl Source {
    /// Returns the name of the file that contains such rules.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Git => ".gitignore",
            Self::Ours => ".skilltuneignore",
        }
    }
}

#[derive(Debug)]
pub(super) struct Level {
    /// The offset where a path below this folder starts in the path from the root of the repository.
    start: usize,
    rules: Vec<(Source, Gitignore)>,
}

impl Level {
    pub(super) fn below(start: usize) -> Self {
        Self { start, rules: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    pub(super) fn add(&mut self, source: Source, rules: Gitignore) {
        if !rules.is_empty() {
            self.rules.push((source, rules));
        }
    }

    /// Returns whether the rules ignore or include the path. If the files of several versions disagree, it is ignored.
    pub(super) fn verdict(&self, source: Source, full: &[u8], is_folder: bool) -> Option<bool> {
        let (mut verdict, path) = (None, pattern::letters(&full[self.start..]));
        for (_, rules) in self.rules.iter().filter(|(of, _)| *of == source) {
            match rules.matched(&*path, is_folder) {
                Match::Ignore(_) => return Some(true),
                Match::Whitelist(_) => verdict = Some(false),
                Match::None => {}
            }
        }
        verdict
    }
}

/// Compiles the rules of a file, skipping invalid lines; `None` if there are too many rules for one matcher.
pub(super) fn compiled(bytes: &[u8]) -> Option<Gitignore> {
    // Paths are relative to this level: they do not include this root.
    let mut builder = GitignoreBuilder::new(".");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| line.len() <= LONGEST_LINE);
    for rule in lines.filter_map(pattern::rule) {
        // An invalid line is skipped, as in git.
        let _ = builder.add_line(None, &rule);
    }
    builder.build().ok()
}
