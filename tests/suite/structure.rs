//! The structure of our own sources, read from their text: no two rooms need each other, and no file is too long.
//!
//! A room is a module with everything below it. `just structure` prints the rooms, their levels and sizes.

mod dialect;
mod rooms;
mod sizes;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

static CRATES: LazyLock<[(&str, Crate); 5]> = LazyLock::new(|| {
    ["phases/proof", "phases", "orchestrator", "cli", "benches/research"]
        .map(|name| (name, Crate::read(name)))
});

/// A module's name from the root of its crate; the root itself has no words.
type Name = Vec<String>;

/// A word, `::` or a sign; strings are empty, and comments are left out.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

#[derive(Default)]
struct Module {
    /// What `use` gives another name to, or the same one.
    names: BTreeMap<String, Name>,
    /// Every path in it, `use` and inline, and where it stands.
    paths: Vec<(String, Name)>,
}

/// The sources of one crate by their paths, and what is read from them.
#[derive(Default)]
struct Crate {
    sources: BTreeMap<String, String>,
    modules: BTreeMap<Name, Module>,
    /// By file: lines of code, without tests.
    code: BTreeMap<String, usize>,
    functions: Vec<(usize, String)>,
}

/// By parent: which of its children need which, and the lines that say so.
type Needs = BTreeMap<Name, BTreeMap<(String, String), BTreeSet<String>>>;

impl Crate {
    fn read(folder: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(folder).join("src");
        let files = walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap);
        let rust = files.filter(|file| file.path().extension().is_some_and(|end| end == "rs"));
        Self::of(rust.map(|file| {
            let name = file.path().strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(file.path()).unwrap())
        }))
    }

    fn of(sources: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut read = Self { sources: sources.into_iter().collect(), ..Self::default() };
        for root in ["lib.rs", "main.rs"].map(String::from) {
            if read.sources.contains_key(&root) {
                read.file(root, Vec::new());
            }
        }
        read
    }

    /// Reads a file, and those of the modules that it declares outside of tests.
    fn file(&mut self, file: String, name: Name) {
        let source = self.sources[&file].clone();
        let tokens = without_tests(&tokens(&source));
        let lines: BTreeSet<_> = tokens.iter().map(|token| token.line).collect();
        self.modules.entry(name.clone()).or_default();
        let mut inside = vec![(0, name)];
        let (mut depth, mut at) = (0, 0);
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
        while at < tokens.len() {
            let module = inside.last().expect("the file's own module is never left").1.clone();
            let site = format!("{file}:{}", tokens[at].line);
            match (text(at), text(at + 2)) {
                ("{", _) => depth += 1,
                ("}", _) => {
                    depth -= 1;
                    inside.retain(|(opened, _)| *opened <= depth);
                }
                ("mod", ";") => {
                    let child = [&module[..], &[text(at + 1).to_owned()]].concat();
                    let path = child.join("/");
                    let files = [format!("{path}.rs"), format!("{path}/mod.rs")];
                    let found = files.into_iter().find(|file| self.sources.contains_key(file));
                    self.file(found.unwrap_or_else(|| panic!("{site}: no file of `{path}`")), child);
                }
                ("mod", "{") => {
                    let child = [&module[..], &[text(at + 1).to_owned()]].concat();
                    self.modules.entry(child.clone()).or_default();
                    inside.push((depth + 1, child));
                }
                ("use", _) if text(at + 1) != "<" => {
                    at += 1;
                    self.import(&tokens, &mut at, &module, &site, Vec::new());
                    continue;
                }
                ("fn", _) if is_word(text(at + 1)) => {
                    let length = tokens[end_of_item(&tokens, at)].line + 1 - tokens[at].line;
                    self.functions.push((length, format!("{site} {}", text(at + 1))));
                }
                (word, _) if is_word(word) && text(at + 1) == "::" => {
                    let mut path = vec![word.to_owned()];
                    while text(at + 1) == "::" && is_word(text(at + 2)) {
                        path.push(text(at + 2).to_owned());
                        at += 2;
                    }
                    self.modules.entry(module).or_default().paths.push((site, path));
                }
                _ => {}
            }
            at += 1;
        }
        self.code.insert(file, lines.len());
    }

    /// One branch of a `use`, up to the sign that ends it.
    fn import(&mut self, tokens: &[Token], at: &mut usize, module: &Name, site: &str, mut path: Name) {
        let mut name = None;
        while let Some(token) = tokens.get(*at) {
            match token.text {
                "{" => {
                    while tokens[*at].text != "}" {
                        *at += 1;
                        self.import(tokens, at, module, site, path.clone());
                    }
                    *at += 1;
                    return;
                }
                "as" => {
                    *at += 1;
                    name = Some(tokens[*at].text.to_owned());
                }
                "," | "}" | ";" => break,
                "::" => {}
                word => path.push(word.to_owned()),
            }
            *at += 1;
        }
        let here = self.modules.entry(module.clone()).or_default();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(last) = path.last() {
            here.names.insert(name.unwrap_or_else(|| last.clone()), path.clone());
            here.paths.push((site.to_owned(), path));
        }
    }

    /// The module that has what a path means in a module, past every import that passes it on; none for other crates.
    fn resolve(&self, from: &Name, path: &[String], passed: usize) -> Option<Name> {
        let mut at = if path.first()? == "crate" { Vec::new() } else { from.clone() };
        for (index, word) in path.iter().enumerate() {
            let child = [&at[..], std::slice::from_ref(word)].concat();
            match word.as_str() {
                "crate" | "self" => {}
                "super" => _ = at.pop(),
                _ if self.modules.contains_key(&child) => at = child,
                _ => {
                    let imported = self.modules[&at].names.get(word).filter(|_| passed < 9);
                    let rest = &path[index + 1..];
                    let passed_on =
                        imported.and_then(|to| self.resolve(&at, &[&to[..], rest].concat(), passed + 1));
                    return passed_on.or_else(|| (index > 0).then_some(at));
                }
            }
        }
        Some(at)
    }

    fn needs(&self) -> Needs {
        let mut needs = Needs::new();
        for (from, module) in &self.modules {
            for (site, path) in &module.paths {
                let Some(to) = self.resolve(from, path, 0) else { continue };
                // What goes on from an imported name needs nothing that the import does not say already.
                if path.len() > 1 && self.resolve(from, &path[..1], 0).as_ref() == Some(&to) {
                    continue;
                }
                let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                // A module and those below it are one room.
                if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                    let parent = needs.entry(from[..common].to_vec()).or_default();
                    let line = format!("{site} `{}`", path.join("::"));
                    parent.entry((a.clone(), b.clone())).or_default().insert(line);
                }
            }
        }
        needs
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    static PIECES: LazyLock<Regex> = LazyLock::new(|| {
        let comment = r"//[^\n]*|/\*.*?\*/|\s+";
        let string = r###"b?r"[^"]*"|b?r#".*?"#|b?r##".*?"##|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'"###;
        Regex::new(&format!(r"(?s)(?:{comment})|({string})|(\w+|::|.)")).expect("it is well formed")
    });
    let (mut tokens, mut line) = (Vec::new(), 1);
    for piece in PIECES.captures_iter(source) {
        let lines = line..=line + piece[0].matches('\n').count();
        line = *lines.end();
        match (piece.get(1), piece.get(2)) {
            (None, Some(word)) => tokens.push(Token { text: word.as_str(), line }),
            (Some(_), _) => tokens.extend(lines.map(|line| Token { text: "", line })),
            (None, None) => {}
        }
    }
    tokens
}

/// Leaves out each item under `#[cfg(test)]`.
fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let is_test =
            tokens[at..].iter().map(|token| token.text).take(7).eq(["#", "[", "cfg", "(", "test", ")", "]"]);
        if is_test {
            at = end_of_item(tokens, at + 7) + 1;
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// Where the `;` or `}` is that ends an item; else what comes before the end of all that it is in.
fn end_of_item(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        match (depth, token.text) {
            (..0, _) => return at - 1,
            (0, ";" | "}") => return at,
            _ => {}
        }
    }
    tokens.len() - 1
}

/// The rooms of one parent, and what each needs.
type Level = BTreeMap<String, BTreeSet<String>>;

fn level(edges: &BTreeMap<(String, String), BTreeSet<String>>) -> Level {
    let mut level = Level::new();
    for (from, to) in edges.keys() {
        level.entry(to.clone()).or_default();
        level.entry(from.clone()).or_default().insert(to.clone());
    }
    level
}

/// Everything that a room needs, and all that this needs in turn.
fn reached<'a>(level: &'a Level, room: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<_> = level[room].iter().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next.as_str()) {
            open.extend(&level[next]);
        }
    }
    reached
}

/// Each circle of rooms, with the lines that close it.
fn circles(of: &str, needs: &Needs) -> String {
    let mut text = String::new();
    for (parent, edges) in needs {
        let level = level(edges);
        let all: BTreeMap<_, _> = level.keys().map(|room| (room.as_str(), reached(&level, room))).collect();
        let circle = |room: &str| -> BTreeSet<_> {
            all[room].iter().copied().filter(|other| all[other].contains(room)).collect()
        };
        for rooms in
            level.keys().map(|room| circle(room)).filter(|rooms| rooms.len() > 1).collect::<BTreeSet<_>>()
        {
            let parent = [&[of.to_owned()], &parent[..]].concat().join("::");
            writeln!(text, "a circle in `{parent}`: {rooms:?}").unwrap();
            for ((from, to), lines) in edges {
                if rooms.contains(from.as_str()) && rooms.contains(to.as_str()) {
                    let few: Vec<_> = lines.iter().take(4).map(String::as_str).collect();
                    let more = if lines.len() > 4 {
                        format!(", and {} more", lines.len() - 4)
                    } else {
                        String::new()
                    };
                    writeln!(text, "    {from} -> {to}: {}{more}", few.join(", ")).unwrap();
                }
            }
        }
    }
    text
}

#[test]
fn no_two_rooms_need_each_other() {
    let text: String = CRATES.iter().map(|(name, read)| circles(name, &read.needs())).collect();
    assert!(text.is_empty(), "{text}");
}

#[test]
fn circles_are_found_through_every_kind_of_import_and_through_nothing_else() {
    let circles_of = |more: &[(&str, &str)]| {
        let whole = "mod a; mod b; mod c; mod d;";
        let rest = [("lib.rs", whole), ("a.rs", ""), ("b.rs", ""), ("c.rs", ""), ("d.rs", "")];
        let files = rest.iter().chain(more).map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        circles("made", &Crate::of(files).needs())
    };
    let a = ("a.rs", "use crate::b::{self, Thing as Other};");
    for (closes, files) in [
        ("a plain import", vec![("b.rs", "use super::a::X;")]),
        ("nested braces", vec![("b.rs", "use crate::{c::{self}, a::{X, y::{Z}}};")]),
        ("an inline path", vec![("b.rs", "fn f() { crate::a::f(); }")]),
        (
            "a path after an import",
            vec![("b.rs", "use crate::c;\nfn f(x: c::again::X) {}"), ("c.rs", "pub use super::a as again;")],
        ),
        ("a re-export", vec![("b.rs", "use crate::c::X;"), ("c.rs", "pub(crate) use crate::a::X;")]),
        (
            "a re-export of the root",
            vec![("b.rs", "use crate::X;"), ("lib.rs", "mod a; mod b; pub use a::X;")],
        ),
        (
            "a path upwards from a child",
            vec![("b.rs", "mod in_b;"), ("b/in_b.rs", "fn f() { super::super::a::f() }")],
        ),
        ("a glob", vec![("b.rs", "use crate::c::*; type Y = X;"), ("c.rs", "use crate::a::*;")]),
        ("an inline module", vec![("b.rs", "mod inner { use super::super::a; }")]),
        (
            "a room between",
            vec![("b.rs", "use crate::c;"), ("c.rs", "use crate::d;"), ("d.rs", "use crate::a;")],
        ),
        ("code after a test", vec![("b.rs", "#[cfg(test)]\nmod tests { use super::*; }\nuse crate::a;")]),
        (
            "code after a string",
            vec![("b.rs", "const S: (&str, char, char) = (\"\\\"//\", '\"', '\\'');\nuse crate::a;")],
        ),
    ] {
        let found = circles_of(&[&[a], &files[..]].concat());
        assert!(found.starts_with("a circle in `made`: {\"a\", \"b\""), "{closes}: {found:?}");
    }
    for (closes_not, text) in [
        ("a comment", "// use crate::a;\n/* crate::a::f() */"),
        ("a string", "const S: [&str; 2] = [\"crate::a::f()\", r#\"\"; use crate::a;\"#];"),
        (
            "a test",
            "#[cfg(test)]\n#[expect(dead_code)]\nmod tests { use crate::a; fn f() { crate::a::f() } }",
        ),
        ("its own child", "mod inner { use super::X; } use inner::Y;"),
        ("another crate", "use a::X; use other::a; fn f<'a>() { a::f(); }"),
    ] {
        assert_eq!(circles_of(&[a, ("b.rs", text)]), "", "{closes_not}");
    }
}
