//! Finds the files that the text leads to, and the number of files on the way.
//!
//! Any word that names a file counts, in prose, code and scripts alike: a file is reported as an orphan only if nothing
//! leads to it.

use std::collections::{HashMap, HashSet};

use super::path::{decoded, folder_of, resolved, words};
use super::reading::{Reading, diagnostic, extension, is_expected, is_markdown, is_template, is_tool, name};
use super::{Diagnostic, File, Rule};
use crate::base::material::Body;

pub(super) fn check(reading: &Reading, out: &mut Vec<Diagnostic>) {
    let Some(main) = reading.main.filter(|main| reading.text(*main).is_some()) else { return };
    let mut walk = Walk::new(reading);
    walk.start(main);
    // Tools read these files without instructions, and also the files that they name.
    for (at, _, _) in reading.texts().filter(|(_, file, _)| is_tool(&file.path)) {
        walk.start(at);
    }
    // Pages for people need not be named. They come last: another page that names the same file counts.
    for (at, page, _) in reading.pages() {
        if is_expected(&page.path) || is_note(&page.path) {
            walk.reach(main, at);
        }
    }
    walk.start(main);
    let ways = walk.ways;
    for (at, file) in reading.files.files().iter().enumerate() {
        match ways[at] {
            None if !is_expected(&file.path) && !is_note(&file.path) && !is_shown(reading, file) => {
                out.push(diagnostic(Rule::FileOrphan, file, None, "the skill never mentions this file"));
            }
            // A template is used only by the step that names it.
            Some(Way { over: Some(over), depth, .. })
                if depth > 1
                    && is_markdown(&file.path)
                    && !is_expected(&file.path)
                    && !is_form(&file.path) =>
            {
                let over = &reading.file(over).path;
                // A page for people names files for people too, except the ones that agents look for.
                let is_for_people = is_expected(over) && !file.path.starts_with("reference");
                if is_markdown(over) && !is_for_people {
                    let message = format!("only {over} mentions this file, not SKILL.md");
                    out.push(diagnostic(Rule::ReferenceNested, file, None, message));
                }
            }
            _ => {}
        }
    }
}

/// Returns true if a page is to be filled in. `references/templates.md` is a page about templates.
fn is_form(path: &str) -> bool {
    let stem = name(path).split('.').next().unwrap_or_default();
    is_template(folder_of(path)) || stem.to_lowercase().ends_with("template")
}

/// Returns true if a page beside `SKILL.md` has its name in capitals, as pages for people do: agents do not look there
/// for it.
fn is_note(path: &str) -> bool {
    let stem = path.split('.').next().unwrap_or_default();
    is_markdown(path)
        && !path.contains('/')
        && stem.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '-' | '_'))
}

/// Returns true if a file is an image or similar that a page for people shows.
fn is_shown(reading: &Reading, file: &File) -> bool {
    let mut pages = reading.pages().filter(|(_, page, _)| is_expected(&page.path));
    !matches!(file.body, Body::Text(_)) && pages.any(|(_, _, page)| page.text.contains(name(&file.path)))
}

/// Returns every file with the number of steps that lead to it, in reading order.
pub(super) fn ways(reading: &Reading, main: usize) -> Vec<(usize, Option<usize>)> {
    let mut walk = Walk::new(reading);
    walk.start(main);
    let mut ways: Vec<_> = walk.ways.into_iter().enumerate().collect();
    ways.sort_by_key(|(_, way)| way.map_or(usize::MAX, |way| way.nth));
    ways.into_iter().map(|(at, way)| (at, way.map(|way| way.depth))).collect()
}

/// The shortest way to a file.
#[derive(Clone, Copy)]
struct Way {
    depth: usize,
    /// The number of files found before it.
    nth: usize,
    /// The file that names it.
    over: Option<usize>,
}

/// Shorter prefixes of names match too many words.
const SHORTEST_START: usize = 4;

struct Walk<'r, 'a> {
    reading: &'r Reading<'a>,
    ways: Vec<Option<Way>>,
    next: Vec<usize>,
    found: usize,
    /// Names and folders whose files are all reached.
    spent: HashSet<String>,
    /// Programs by the name for imports.
    modules: HashMap<&'a str, Vec<usize>>,
    /// Whether some name is an ordinary word without a dot.
    bare: bool,
    /// Files whose names contain spaces or similar characters, by the longest word in them.
    odd: HashMap<&'a str, Vec<usize>>,
    /// Pages and data by their names without extension, if those are not natural words.
    titles: HashMap<&'a str, Vec<usize>>,
}

impl<'r, 'a> Walk<'r, 'a> {
    fn new(reading: &'r Reading<'a>) -> Self {
        let mut modules: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut odd: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut titles: HashMap<&str, Vec<usize>> = HashMap::new();
        for (name, files) in reading.names() {
            if let Some(stem) = module(name) {
                modules.entry(stem).or_default().extend(files);
            }
            if let Some((stem, _)) =
                name.rsplit_once('.').filter(|(stem, _)| is_titled(name) && is_joined(stem))
            {
                titles.entry(stem).or_default().extend(files);
            }
            if let Some(word) = longest_word(name).filter(|word| *word != name) {
                odd.entry(word).or_default().extend(files);
            }
        }
        let ways = vec![None; reading.files.files().len()];
        let bare = reading.names().any(|(name, _)| !name.contains('.'));
        let (next, spent) = Default::default();
        Self { reading, ways, next, found: 0, spent, modules, bare, odd, titles }
    }

    /// Follows all files that a file names, then the files that those name.
    fn start(&mut self, from: usize) {
        if self.ways[from].is_none() {
            self.ways[from] = Some(Way { depth: 0, nth: self.found, over: None });
            self.found += 1;
        }
        let mut now = vec![from];
        while !now.is_empty() {
            for at in now {
                self.follow(at);
            }
            now = std::mem::take(&mut self.next);
        }
    }

    fn follow(&mut self, at: usize) {
        let Some(text) = self.reading.text(at) else { return };
        let path = &self.reading.file(at).path;
        let own = format!("{}/", self.reading.files.folder());
        for (place, word) in words(text) {
            // A path may start above the skill's folder.
            match word.strip_prefix(&own).filter(|below| self.reading.is_folder(below.trim_end_matches('/')))
            {
                Some(below) => self.path(at, below.trim_end_matches('/')),
                None => self.word(at, folder_of(path), word),
            }
            if word.contains('/') && text[place + word.len()..].starts_with(['*', '{', '<']) {
                self.beginning(at, word.trim_start_matches("./"));
            }
        }
        if let Some(page) = self.reading.page(at) {
            for link in &page.links {
                let to = decoded(link.to.split(['#', '?']).next().unwrap_or_default());
                // A link within the page leads neither to a file nor to its folder.
                if let Some(to) = resolved(folder_of(path), &to).filter(|_| !to.is_empty()) {
                    self.path(at, &to);
                }
            }
        }
    }

    fn word(&mut self, at: usize, folder: &str, word: &str) {
        let is_program = !is_markdown(&self.reading.file(at).path);
        if !is_program && is_joined(word) {
            self.all(at, "title", word, |walk| walk.titles.get(word).map_or(&[], Vec::as_slice));
        }
        if !is_program && word.len() >= SHORTEST_START && word.ends_with('-') && !word.starts_with('-') {
            self.titled(at, word);
        }
        // A shortcut: most words are not names.
        let is_plain = || !word.bytes().any(|byte| matches!(byte, b'.' | b'/'));
        if !self.bare && !is_program && self.odd.is_empty() && is_plain() {
            return;
        }
        let last = name(word);
        // An import may also be in an example.
        if is_program || last.contains('.') {
            let stem = last.rsplit('.').next().unwrap_or(last);
            self.all(at, "import", stem, |walk| walk.modules.get(stem).map_or(&[], Vec::as_slice));
        }
        self.all(at, "word", last, |walk| walk.odd.get(last).map_or(&[], Vec::as_slice));
        match self.reading.named(last) {
            [] if !self.reading.named_alike(last).is_empty() => {
                self.all(at, "alike", last, |walk| walk.reading.named_alike(last));
            }
            // Slashes alone (`// comment`, `a / b`) name no folder in a page; a program joins paths with them.
            [] if word.contains('/')
                && (is_program || !word.bytes().all(|byte| matches!(byte, b'.' | b'/'))) =>
            {
                let folder = [resolved(folder, word), resolved("", word.trim_start_matches('/'))];
                folder
                    .into_iter()
                    .flatten()
                    .filter(|path| !path.is_empty())
                    .for_each(|path| self.path(at, &path));
            }
            [] => {}
            [only] => self.reach(at, *only),
            several => match self.exact(folder, word) {
                Some(file) => self.reach(at, file),
                None => self.all(at, "name", last, |_| several),
            },
        }
    }

    /// Reaches all pages and data whose names begin with a prefix, such as `query-` for a group of rules in the text.
    fn titled(&mut self, at: usize, start: &str) {
        if self.spent.insert(format!("start {start}")) {
            let titles = self.titles.iter().filter(|(title, _)| title.starts_with(start));
            let mut files: Vec<usize> = titles.flat_map(|(_, files)| files.iter().copied()).collect();
            files.sort_unstable();
            for file in files {
                self.reach(at, file);
            }
        }
    }

    /// Finds the exact file of a path among several with the same name, with any prefix before the path.
    fn exact(&self, folder: &str, word: &str) -> Option<usize> {
        let starts = std::iter::once(0).chain(word.match_indices('/').map(|(slash, _)| slash + 1));
        let paths = starts.flat_map(|start| [resolved(folder, &word[start..]), resolved("", &word[start..])]);
        // A bare name is exact only in its own folder.
        let mut paths = paths.take(if word.contains('/') { 16 } else { 1 }).flatten();
        paths.find_map(|path| self.reading.files.at(&path).ok())
    }

    /// Reaches a file, or all files in a folder.
    fn path(&mut self, at: usize, path: &str) {
        if let Ok(file) = self.reading.files.at(path) {
            self.reach(at, file);
        } else if self.reading.is_folder(path) {
            self.beginning(at, &format!("{path}/"));
        }
    }

    /// Reaches all files whose paths have this prefix: those in a folder, or those that match a pattern.
    fn beginning(&mut self, at: usize, path: &str) {
        let files = self.reading.files.files();
        if self.spent.insert(format!("{path}*")) {
            let first = files.partition_point(|file| file.path.as_str() < path);
            let count = files[first..].iter().take_while(|file| file.path.starts_with(path)).count();
            (first..first + count).for_each(|file| self.reach(at, file));
        }
    }

    /// Reaches all files that a word can mean, only once per word: there may be many of both.
    fn all(&mut self, at: usize, how: &str, word: &str, files: impl for<'s> Fn(&'s Self) -> &'s [usize]) {
        if !files(self).is_empty() && self.spent.insert(format!("{how} {word}")) {
            for file in files(self).to_vec() {
                self.reach(at, file);
            }
        }
    }

    fn reach(&mut self, over: usize, file: usize) {
        if self.ways[file].is_none() {
            let depth = self.ways[over].map_or(0, |way| way.depth) + 1;
            self.found += 1;
            self.ways[file] = Some(Way { depth, nth: self.found, over: Some(over) });
            self.next.push(file);
        }
    }
}

/// Returns true if a name has several words and so can mean only its file.
fn is_joined(stem: &str) -> bool {
    stem.trim_matches(['-', '_']).contains(['-', '_'])
}

/// Returns true if a text may name this file without its extension, as in `--chain=plan-and-test`.
fn is_titled(name: &str) -> bool {
    is_markdown(name) || matches!(extension(name), Some("json" | "yaml" | "yml" | "toml"))
}

fn longest_word(name: &str) -> Option<&str> {
    words(name).map(|(_, word)| word).max_by_key(|word| word.len())
}

/// Returns the name for imports of a program.
fn module(name: &str) -> Option<&str> {
    const PROGRAMS: [&str; 13] =
        ["py", "js", "mjs", "cjs", "ts", "tsx", "jsx", "rb", "sh", "lua", "pl", "r", "xsd"];
    extension(name).filter(|extension| PROGRAMS.contains(extension))?;
    name.rsplit_once('.').map(|(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, skill};
    use super::*;

    #[test]
    fn a_file_that_nothing_names_is_an_orphan() {
        let files = skill("Read `references/a.md`, or all of assets/icons/.\n")
            .with("references/a.md", "Run ${DIR}/scripts/x.py\n")
            .with("references/b.md", "c.md\n")
            .with("references/c.md", "b.md\n")
            .with("assets/icons/i.svg", "")
            .with("scripts/x.py", "from lib.tools import y\n")
            .with("scripts/lib/tools.py", "")
            .with("README.md", "")
            .with("evals/evals.json", "");
        assert_eq!(
            found(&files, Rule::FileOrphan),
            [
                "references/b.md: the skill never mentions this file",
                "references/c.md: the skill never mentions this file"
            ]
        );
    }

    #[test]
    fn patterns_imports_and_other_letters_lead_to_files() {
        let files =
            skill("Read references/api-*.md and FORMS.md.\n\n```python\nfrom core.easing import ease\n```\n")
                .with("references/api-a.md", "")
                .with("references/other.md", "")
                .with("forms.md", "")
                .with("core/easing.py", "");
        assert_eq!(
            found(&files, Rule::FileOrphan),
            ["references/other.md: the skill never mentions this file"]
        );
    }

    #[test]
    fn a_page_is_named_by_its_title_and_an_icon_by_the_file_of_a_tool() {
        let files = skill("- `avoid-late-joins`: join early\n- `order`: sort late\n")
            .with("rules/avoid-late-joins.md", "Like `keep-order`.\n")
            .with("rules/keep-order.md", "")
            .with("rules/order.md", "")
            .with("rules/README.md", "See keep-order.\n")
            .with("agents/openai.yaml", "icon: assets/icon.svg\n")
            .with("assets/icon.svg", "")
            .with("assets/old.svg", "")
            .with("evaluations/one.json", "{}\n");
        assert_eq!(
            found(&files, Rule::FileOrphan),
            [
                "assets/old.svg: the skill never mentions this file",
                "rules/order.md: the skill never mentions this file"
            ]
        );
        assert_eq!(
            found(&files, Rule::ReferenceNested),
            ["rules/keep-order.md: only rules/avoid-late-joins.md mentions this file, not SKILL.md"]
        );
    }

    #[test]
    fn tests_specimens_and_notes_for_people_are_no_orphans() {
        let expected = [
            "test-pressure-1.md",
            "scripts/test_count.py",
            "scripts/count.test.ts",
            "expected_outputs/count.json",
            "assets/sample_codebase/src/a.py",
            "sample_input.json",
            "examples/costs_sample.csv",
            "DIRECTORY_STRUCTURE.md",
            "SPEC.md",
            "references/CREATION-LOG.md",
        ];
        let files = expected.iter().fold(skill("Text.\n"), |files, path| files.with(path, ""));
        assert!(found(&files, Rule::FileOrphan).is_empty());
        let lost =
            ["references/spec.md", "references/testing.md", "scripts/expect.py", "scripts/sample_size.py"];
        let files = lost.iter().fold(files, |files, path| files.with(path, ""));
        assert_eq!(
            found(&files, Rule::FileOrphan),
            lost.map(|path| format!("{path}: the skill never mentions this file"))
        );
    }

    #[test]
    fn data_is_named_without_its_ending_and_a_template_by_the_step_that_uses_it() {
        let files = skill("`load --chain=plan-and-test`, then references/a.md.\n")
            .with("chains/plan-and-test.json", "{}\n")
            .with("chains/plan-only.json", "{}\n")
            .with("references/a.md", "Fill in templates/page.md, see references/templates.md.\n")
            .with("references/templates.md", "")
            .with("templates/page.md", "");
        assert_eq!(
            found(&files, Rule::FileOrphan),
            ["chains/plan-only.json: the skill never mentions this file"]
        );
        assert_eq!(
            found(&files, Rule::ReferenceNested),
            ["references/templates.md: only references/a.md mentions this file, not SKILL.md"]
        );
    }

    #[test]
    fn beginnings_paths_from_above_and_pictures_for_people_count() {
        let files = skill("Rules begin with `query-` or so; then demo/parts.\n")
            .with("rules/query-joins.md", "")
            .with("rules/lock-order.md", "")
            .with("parts/a/SKILL.md", "")
            .with("README.md", "![it](it.png)\n")
            .binary("it.png")
            .binary("lost.png");
        assert_eq!(
            found(&files, Rule::FileOrphan),
            ["lost.png", "rules/lock-order.md"]
                .map(|path| format!("{path}: the skill never mentions this file"))
        );
    }

    #[test]
    fn what_a_page_for_people_names_is_for_them() {
        for text in ["Keep README.md up to date.\n", "Text.\n"] {
            let files = skill(text)
                .with("README.md", "See demo/script.md, run.sh and references/a.md.\n")
                .with("demo/script.md", "")
                .with("references/a.md", "")
                .with("scripts/run.sh", "");
            assert!(found(&files, Rule::FileOrphan).is_empty());
            let nested = ["references/a.md: only README.md mentions this file, not SKILL.md"];
            assert_eq!(found(&files, Rule::ReferenceNested), nested);
        }
    }

    #[test]
    fn pages_for_people_are_followed_after_all_others() {
        let files = skill("Read rules/a.md.\n")
            .with("LAYOUT.md", "- rules/a.md\n- rules/b.md\n- rules/c.md\n")
            .with("rules/a.md", "Then c.md.\n")
            .with("rules/b.md", "")
            .with("rules/c.md", "");
        assert!(found(&files, Rule::FileOrphan).is_empty());
        let nested = [("b", "LAYOUT.md"), ("c", "rules/a.md")]
            .map(|(page, over)| format!("rules/{page}.md: only {over} mentions this file, not SKILL.md"));
        assert_eq!(found(&files, Rule::ReferenceNested), nested);
    }

    #[test]
    fn odd_names_are_found_by_links_and_by_words() {
        let files = skill("[a](references/my%20notes.md), [b](#b) and \"the plan (1).md\"\n")
            .with("references/my notes.md", "[up](#up)\n")
            .with("references/lost.md", "")
            .with("the plan (1).md", "")
            .with("other (1).md", "");
        let orphans = ["other (1).md", "references/lost.md"]
            .map(|path| format!("{path}: the skill never mentions this file"));
        assert_eq!(found(&files, Rule::FileOrphan), orphans);
    }

    #[test]
    fn a_reference_must_be_named_by_the_main_file() {
        let files = skill("[a](references/a.md) and scripts/x.sh\n")
            .with("references/a.md", "Then [b](b.md), scripts/y.sh.\n")
            .with("references/b.md", "")
            .with("scripts/x.sh", "cat template.md\n")
            .with("scripts/y.sh", "")
            .with("scripts/template.md", "");
        assert_eq!(
            found(&files, Rule::ReferenceNested),
            ["references/b.md: only references/a.md mentions this file, not SKILL.md"]
        );
    }

    #[test]
    fn slashes_alone_name_no_folder_but_a_link_to_one_does() {
        let text = "Read / write, `./`, http://x.org, [out](https://x.org).\n\n```js\n// Twice.\n```\n";
        let files =
            skill("Read references/a.md.\n").with("references/a.md", text).with("references/b.md", "");
        assert_eq!(found(&files, Rule::FileOrphan), ["references/b.md: the skill never mentions this file"]);
        assert!(found(&files, Rule::ReferenceNested).is_empty());
        let files = files.with("references/a.md", "See [the others](./).\n");
        assert!(found(&files, Rule::FileOrphan).is_empty());
    }

    #[test]
    fn of_several_files_with_one_name_the_path_tells_which_is_meant() {
        let files = skill("Read x/index.md.\n").with("x/index.md", "").with("y/index.md", "");
        assert_eq!(found(&files, Rule::FileOrphan), ["y/index.md: the skill never mentions this file"]);
    }
}
