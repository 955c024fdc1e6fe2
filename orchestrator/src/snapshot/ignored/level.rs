//! The rules of one folder, compiled. The syntax is git's.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::pattern;

/// A longer line is no rule: no path is as long.
const LONGEST_LINE: usize = 4096;

/// Whose rule it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Git,
    Ours,
}

impl Source {
    /// The file that holds such rules.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Git => ".gitignore",
            Self::Ours => ".skilltuneignore",
        }
    }
}

#[derive(Debug)]
pub(super) struct Level {
    /// Where a path below this folder starts, in the path from the root of the repository.
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

    /// Whether the rules ignore the path or say that it counts. Where files of several versions disagree, it is ignored.
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

/// The rules of a file, without the lines that are none; nothing when the rules are too many for one matcher.
pub(super) fn compiled(bytes: &[u8]) -> Option<Gitignore> {
    // From here paths are relative: this root is no part of them.
    let mut builder = GitignoreBuilder::new(".");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| line.len() <= LONGEST_LINE);
    for rule in lines.filter_map(pattern::rule) {
        // A line that is no rule is skipped, as in git.
        let _ = builder.add_line(None, &rule);
    }
    builder.build().ok()
}
