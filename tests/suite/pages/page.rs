//! A page: its text, its fences, and the lines outside of them.

use std::fs;
use std::path::{Path, PathBuf};

pub(super) struct Page {
    /// Its path in the repository.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) fences: Vec<Fence>,
    /// Which lines are in no fence.
    is_prose: Vec<bool>,
}

pub(super) struct Fence {
    /// The number of its first line, from 1.
    pub(super) line: usize,
    info: String,
    /// Numbers and lines.
    pub(super) lines: Vec<(usize, String)>,
}

impl Fence {
    pub(super) fn language(&self) -> &str {
        self.info.split(' ').next().unwrap_or_default()
    }
}

impl Page {
    pub(super) fn of(path: &str, text: String) -> Self {
        let mut page = Self { path: path.to_owned(), text, fences: Vec::new(), is_prose: Vec::new() };
        // The marks that close the open fence.
        let mut open: Option<String> = None;
        for (line, number) in page.text.lines().zip(1..) {
            let trimmed = line.trim_start();
            let marks: String = trimmed.chars().take_while(|c| *c == '`').collect();
            let is_mark = marks.len() >= 3;
            page.is_prose.push(open.is_none() && !is_mark);
            match &open {
                None if is_mark => {
                    let info = trimmed[marks.len()..].to_owned();
                    page.fences.push(Fence { line: number, info, lines: Vec::new() });
                    open = Some(marks);
                }
                None => {}
                Some(closing) if is_mark && trimmed.trim_end() == *closing => open = None,
                Some(_) => {
                    let fence = page.fences.last_mut().expect("one is open");
                    fence.lines.push((number, line.to_owned()));
                }
            }
        }
        assert!(open.is_none(), "{path}: a fence is not closed");
        page
    }

    /// Returns the lines outside of fences, with their numbers.
    pub(super) fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().zip(&self.is_prose).zip(1..);
        lines.filter(|((_, is_prose), _)| **is_prose).map(|((line, _), number)| (number, line))
    }
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

pub(super) fn read(path: &str) -> Page {
    Page::of(path, fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// Returns all pages for people.
pub(super) fn pages() -> Vec<Page> {
    let docs = walkdir::WalkDir::new(root().join("docs")).sort_by_file_name().into_iter().map(Result::unwrap);
    let docs = docs.filter(|entry| entry.path().extension().is_some_and(|end| end == "md"));
    let docs = docs.map(|entry| entry.path().strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
    let others = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "packaging/README.md"];
    let others = others.into_iter().filter(|path| root().join(path).exists()).map(str::to_owned);
    others.chain(docs).map(|path| read(&path)).collect()
}
