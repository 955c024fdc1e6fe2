//! A skill's files with the data that the rules need, read once for all rules.

use std::collections::{HashMap, HashSet};

use super::page::Page;
use super::path::folder_of;
use super::{Diagnostic, File, Files, Rule};
use crate::base::material::Body;
use crate::skills::skill::{self, SkillError};

#[derive(Debug)]
pub(super) struct Reading<'a> {
    pub files: &'a Files,
    /// The index of `SKILL.md`, or of one in lower case.
    pub main: Option<usize>,
    /// The page of each Markdown file.
    pages: Vec<Option<Page<'a>>>,
    by_name: HashMap<&'a str, Vec<usize>>,
    /// The same with names in lower case.
    by_small_name: HashMap<String, Vec<usize>>,
    folders: HashSet<&'a str>,
}

pub(super) const MAIN: &str = "SKILL.md";
pub(super) const BOM: char = '\u{feff}';

impl<'a> Reading<'a> {
    pub(super) fn of(files: &'a Files) -> Self {
        let main = Self::main_of(files);
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut folders = HashSet::new();
        for (at, file) in files.files().iter().enumerate() {
            by_name.entry(name(&file.path)).or_default().push(at);
            folders.extend(file.path.match_indices('/').map(|(slash, _)| &file.path[..slash]));
        }
        let mut by_small_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (name, files) in &by_name {
            by_small_name.entry(name.to_lowercase()).or_default().extend(files);
        }
        let page = |(at, file): (usize, &'a File)| {
            let text = file.text().filter(|_| is_markdown(&file.path))?;
            Some(Page::of(text, body_at(text, main == Some(at))))
        };
        let pages = files.files().iter().enumerate().map(page).collect();
        Self { files, main, pages, by_name, by_small_name, folders }
    }

    pub(super) fn main_of(files: &Files) -> Option<usize> {
        files.at(MAIN).or_else(|_| files.at(&MAIN.to_lowercase())).ok()
    }

    pub(super) fn file(&self, at: usize) -> &'a File {
        &self.files.files()[at]
    }

    pub(super) fn text(&self, at: usize) -> Option<&'a str> {
        self.file(at).text()
    }

    /// Returns the path and text of every text file.
    pub(super) fn texts(&self) -> impl Iterator<Item = (usize, &'a File, &'a str)> {
        let files = self.files.files().iter().enumerate();
        files.filter_map(|(at, file)| Some((at, file, file.text()?)))
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = (usize, &'a File, &Page<'a>)> {
        let pages = self.pages.iter().enumerate();
        pages.filter_map(|(at, page)| Some((at, self.file(at), page.as_ref()?)))
    }

    pub(super) fn page(&self, at: usize) -> Option<&Page<'a>> {
        self.pages[at].as_ref()
    }

    /// Returns `SKILL.md` as Markdown.
    pub(super) fn main_page(&self) -> Option<(&'a File, &Page<'a>)> {
        let main = self.main?;
        Some((self.file(main), self.page(main)?))
    }

    /// Returns the files with this name in any folder.
    pub(super) fn named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the files with this path or, if there are none, with this name, ignoring case.
    pub(super) fn alike(&self, path: &str) -> Vec<usize> {
        let small = path.to_lowercase();
        let alike = self.by_small_name.get(name(&small)).map_or(&[][..], Vec::as_slice);
        let is_there = |at: &&usize| self.file(**at).path.to_lowercase() == small;
        let there: Vec<usize> = alike.iter().filter(is_there).copied().collect();
        if there.is_empty() { alike.to_vec() } else { there }
    }

    /// Returns the pages that instruct the agent. Links and paths on other pages belong to another document: a
    /// template, an example, or a page for people and their tools.
    pub(super) fn instructions(&self) -> impl Iterator<Item = (&'a File, &Page<'a>)> {
        let pages =
            self.pages().filter(move |(at, file, _)| self.main == Some(*at) || !is_sample(&file.path));
        pages.map(|(_, file, page)| (file, page))
    }

    /// Returns true if a page belongs to the skill's output or is read by its scripts; its text must then stay
    /// unchanged.
    pub(super) fn is_material(&self, path: &str) -> bool {
        const SLOTS: [&str; 3] = ["{{", "{%", "<%"];
        if self.main.is_some_and(|main| self.file(main).path == path) || !is_markdown(path) {
            return false;
        }
        let has_slots = || {
            let text = self.files.get(path).and_then(File::text).unwrap_or_default();
            SLOTS.iter().any(|slot| text.contains(slot))
        };
        let mut programs = self.texts().filter(|(_, file, _)| !is_markdown(&file.path));
        is_template(path) || has_slots() || programs.any(|(_, _, text)| text.contains(name(path)))
    }

    /// Returns the files with this name in any case, if no file has exactly this name.
    pub(super) fn named_alike(&self, name: &str) -> &[usize] {
        match self.named(name) {
            [] => self.by_small_name.get(&name.to_lowercase()).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&'a str, &[usize])> {
        self.by_name.iter().map(|(name, files)| (*name, files.as_slice()))
    }

    pub(super) fn is_folder(&self, path: &str) -> bool {
        self.folders.contains(path)
    }

    /// Returns true if the path exists; anything may exist below a symlink, and in a folder that was left out.
    pub(super) fn exists(&self, path: &str) -> bool {
        let is_link =
            |path: &str| self.files.get(path).is_some_and(|file| matches!(file.body, Body::Link { .. }));
        let is_unknown = |path: &str| is_link(path) || self.files.left_out.contains(path);
        let above = path.match_indices('/').map(|(slash, _)| &path[..slash]);
        path.is_empty()
            || self.files.at(path).is_ok()
            || self.is_folder(path)
            || above.chain([path]).any(is_unknown)
    }
}

/// Returns the start of the text after the front matter. In a file other than `SKILL.md`, a rule may look like front
/// matter.
pub(super) fn body_at(text: &str, is_main: bool) -> usize {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    match skill::front_matter(text) {
        Ok(yaml) if is_main || looks_like_fields(yaml) => {
            let closing = yaml.as_ptr() as usize - text.as_ptr() as usize + yaml.len();
            text[closing..].find('\n').map_or(text.len(), |end| closing + end + 1)
        }
        // All of it may be front matter.
        Err(SkillError::NotClosed | SkillError::TooLong) if is_main => text.len(),
        _ => text.len() - bare.len(),
    }
}

fn looks_like_fields(yaml: &str) -> bool {
    yaml.split(':').next().is_some_and(|key| !key.is_empty() && !key.contains([' ', '\n', '#', '*']))
        && yaml.contains(':')
}

pub(super) fn diagnostic(
    rule: Rule,
    file: &File,
    line: impl Into<Option<usize>>,
    message: impl Into<String>,
) -> Diagnostic {
    Diagnostic { path: file.path.clone(), line: line.into(), rule, message: message.into() }
}

pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns true for templates, examples, tests, and pages for people: an agent gets no instructions from them.
pub fn is_sample(path: &str) -> bool {
    is_template(path) || is_example(path) || is_expected(path)
}

fn is_example(path: &str) -> bool {
    let mut folders = folder_of(path).split('/');
    let stem = name(path).split('.').next().unwrap_or_default();
    folders.any(|folder| folder.split(['-', '_']).any(|word| matches!(word, "example" | "examples")))
        // `page-example.md` is an example, and `examples.md` is about examples.
        || stem != "example" && stem.split(['-', '_']).any(|word| word == "example")
}

/// Returns true for files that are for people and their tools, not for the agent.
pub(super) fn is_expected(path: &str) -> bool {
    const PAGES: [&str; 8] =
        ["readme", "license", "licence", "notice", "changelog", "contributing", "authors", "security"];
    // In capitals, as such pages usually are: the origin of a skill, its tests, and its use by people.
    const NOTES: [&str; 17] = [
        "SPEC",
        "EVAL",
        "EVALS",
        "SOURCES",
        "ABOUT",
        "LOG",
        "PLAN",
        "USE",
        "TODO",
        "TASKS",
        "ROADMAP",
        "CREDITS",
        "SUMMARY",
        "HISTORY",
        "INSTALL",
        "INSTALLATION",
        "MIGRATION",
    ];
    const FOLDERS: [&str; 5] = ["evals", "evaluations", "tests", "node_modules", "__pycache__"];
    let small = name(path).to_ascii_lowercase();
    let stem = name(path).split('.').next().unwrap_or_default();
    PAGES.iter().any(|page| small.starts_with(page))
        || stem.split(['-', '_']).any(|word| NOTES.contains(&word))
        || is_tool(path)
        || is_test(&small)
        || folder_of(path).split('/').any(|folder| FOLDERS.contains(&folder) || is_specimen(folder))
        || is_specimen(stem) && !folder_of(path).split('/').any(|folder| folder == "scripts")
        || path.split('/').any(|part| part.starts_with('.'))
}

/// Returns true if a file tests the others: their scripts, or an agent's use of the skill.
fn is_test(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    ["test-", "test_"].iter().any(|start| name.starts_with(start))
        || ["-test", "_test"].iter().any(|end| stem.ends_with(end))
        || [".test.", ".spec."].iter().any(|part| name.contains(part))
        || stem == "conftest"
}

/// Returns true if a file or folder holds sample input or output of a script.
fn is_specimen(stem: &str) -> bool {
    let is_one = |word: &str| {
        matches!(
            word,
            "expected" | "sample" | "samples" | "fixture" | "fixtures" | "mock" | "mocks" | "testdata"
        )
    };
    let mut words = stem.split(['-', '_']);
    words.next().is_some_and(is_one)
        || words.next_back().is_some_and(|last| last == "sample")
        || matches!(stem, "test-data" | "test_data")
}

/// Returns true for files that tools look for by name.
pub(super) fn is_tool(path: &str) -> bool {
    const TOOLS: [&str; 10] = [
        "__init__.py",
        "metadata.json",
        "package.json",
        "package-lock.json",
        "requirements.txt",
        "pyproject.toml",
        "uv.lock",
        "poetry.lock",
        "openai.yaml",
        "openai.yml",
    ];
    TOOLS.contains(&name(path))
}

/// Returns true if the name of a file or folder says that it is a template.
pub(super) fn is_template(path: &str) -> bool {
    const NAMES: [&str; 5] = ["template", "tmpl", "boilerplate", "skeleton", "assets"];
    let small = path.to_lowercase();
    NAMES.iter().any(|name| small.contains(name))
}

pub fn is_markdown(path: &str) -> bool {
    matches!(extension(path), Some("md" | "markdown" | "MD"))
}

pub(super) fn extension(path: &str) -> Option<&str> {
    name(path).rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
}

/// Returns true if a text is a script that names its interpreter.
pub(super) fn is_script(file: &File, text: &str) -> bool {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    !is_markdown(&file.path) && (text.starts_with("#!/") || text.starts_with("#! /"))
}
