//! Settings of linters, test runners, coverage and CI: whole files, and parts of files that have other purposes too.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ChangedFile;

const LINT: &str = "the settings of the linter";
const TEST: &str = "the settings of the test runner";
const COVERAGE: &str = "the settings of the coverage";
const CI: &str = "the settings of the CI";
const COMMANDS: &str = "the commands that lint, build or test";

/// Names of files, in lower case. `*` is any text, and a name with a `/` belongs to a path; a folder is one of the root.
static FILES: [(&str, &str); 4] = [
    (
        LINT,
        "clippy.toml .clippy.toml .eslintrc* eslint.config.* .eslintignore biome.json* tsconfig*.json ruff.toml .ruff.toml \
         .flake8 .pylintrc pylintrc mypy.ini .mypy.ini .golangci.*",
    ),
    (
        TEST,
        "pytest.ini .pytest.ini conftest.py tox.ini noxfile.py jest.config.* vitest.config.* vitest.workspace.* \
         playwright.config.* karma.conf.* .mocharc* nextest.toml .cargo/config.toml .cargo/config",
    ),
    (COVERAGE, ".coveragerc codecov.y*ml .codecov.y*ml .nycrc* .c8rc*"),
    (
        CI,
        ".github/workflows/ .github/actions/ .circleci/ .gitlab-ci.yml azure-pipelines.yml jenkinsfile .travis.yml",
    ),
];

/// Tables of manifests, and the sections of `setup.cfg`.
static TABLES: [(&str, &str, &[&str]); 7] = [
    ("cargo.toml", LINT, &["lints", "workspace.lints"]),
    ("pyproject.toml", LINT, &["tool.ruff", "tool.mypy", "tool.pylint", "tool.pyright", "tool.flake8"]),
    ("pyproject.toml", TEST, &["tool.pytest", "tool.tox"]),
    ("pyproject.toml", COVERAGE, &["tool.coverage"]),
    ("setup.cfg", LINT, &["flake8", "mypy", "pylint", "pycodestyle"]),
    ("setup.cfg", TEST, &["tool:pytest"]),
    ("setup.cfg", COVERAGE, &["coverage"]),
];

/// Keys of `package.json`.
static KEYS: [(&str, &[&str]); 3] = [
    (LINT, &["eslintConfig", "eslintIgnore"]),
    (TEST, &["jest", "vitest", "mocha", "ava"]),
    (COVERAGE, &["nyc", "c8"]),
];

/// Returns the settings that a change touches.
pub(super) fn changed(file: &ChangedFile<'_>) -> Vec<&'static str> {
    let path = file.path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_listed = |patterns: &str| patterns.split(' ').any(|pattern| is_file(&path, name, pattern));
    let listed = FILES.iter().filter(|(_, patterns)| is_listed(patterns)).map(|(what, _)| *what);
    let before = parts(name, file.before.unwrap_or_default());
    let after = parts(name, file.after.unwrap_or_default());
    let changed = before.into_iter().zip(after).filter(|(before, after)| before != after);
    listed.chain(changed.map(|((what, _), _)| what)).collect()
}

fn is_file(path: &str, name: &str, pattern: &str) -> bool {
    if pattern.ends_with('/') {
        return path.starts_with(pattern);
    }
    if pattern.contains('/') {
        return path.strip_suffix(pattern).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'));
    }
    match pattern.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => name == pattern,
    }
}

/// Returns the settings in a shared file of this name: always the same ones, in the same order.
fn parts(name: &str, text: &str) -> Vec<(&'static str, Value)> {
    match name {
        "package.json" => package(text),
        "makefile" | "gnumakefile" => vec![(COMMANDS, Value::from(rules(text)))],
        _ => {
            let own = TABLES.iter().filter(|(file, ..)| *file == name);
            own.map(|(_, what, names)| (*what, Value::from(tables(text, names)))).collect()
        }
    }
}

/// Returns whether a script or a target lints, builds or tests: `test`, `pretest`, `test:unit`.
fn is_check(name: &str) -> bool {
    let name = name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name);
    matches!(name.split(':').next(), Some("lint" | "build" | "test"))
}

fn package(text: &str) -> Vec<(&'static str, Value)> {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = package["scripts"].as_object().into_iter().flatten();
    let scripts: BTreeMap<&String, &Value> = scripts.filter(|(name, _)| is_check(name)).collect();
    let script =
        |(name, script): (&String, &Value)| Value::from(vec![Value::from(name.as_str()), script.clone()]);
    let scripts: Vec<Value> = scripts.into_iter().map(script).collect();
    let values = |keys: &[&str]| keys.iter().map(|key| package[*key].clone()).collect::<Vec<Value>>();
    let keys = KEYS.iter().map(|(what, keys)| (*what, Value::from(values(keys))));
    [(COMMANDS, Value::from(scripts))].into_iter().chain(keys).collect()
}

/// Returns the rules of a makefile that lint, build or test. A line without a `:` or a `=` belongs to the rule before it.
fn rules(text: &str) -> String {
    let (mut is_listed, mut is_continued, mut found) = (false, false, String::new());
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let is_inside = is_continued || line.starts_with([' ', '\t']) || !line.contains([':', '=']);
        if !is_inside {
            let (targets, rest) = line.split_once(':').unwrap_or_default();
            let is_variable = rest.trim_start_matches(':').starts_with('=');
            is_listed = !is_variable && targets.split_whitespace().any(is_check);
        }
        is_continued = line.ends_with('\\');
        if is_listed {
            found.extend([line, "\n"]);
        }
    }
    found
}

/// Returns the lines of these tables, wherever they begin: `[a.b]`, `b.c = 1` in `[a]`, or `a = { b = 1 }`.
fn tables(text: &str, names: &[&str]) -> String {
    let (mut is_table, mut is_listed, mut found) = (false, false, String::new());
    // The keys of the current table that are settings.
    let mut keys = names.to_vec();
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(header) = header(line) {
            is_table = is_escaped(&header) || names.iter().any(|name| is_in(&header, name));
            is_listed = is_table;
            keys = names.iter().filter_map(|name| below(name, &header)).collect();
        } else if let Some(key) = key(line) {
            let is_named = |name: &&str| is_in(&key, name) || below(name, &key).is_some();
            is_listed = is_table || is_escaped(&key) || keys.iter().any(is_named);
        }
        // Any other line belongs to the value before it.
        if is_listed {
            found.extend([line, "\n"]);
        }
    }
    found
}

/// Returns the name in `[name]` or `[[name]]`.
fn header(line: &str) -> Option<String> {
    let line = line.split_once('#').map_or(line, |(line, _)| line).trim_end();
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    (!name.contains([',', '='])).then(|| plain(name))
}

fn key(line: &str) -> Option<String> {
    let (key, _) = line.split_once('=')?;
    let is_key = |sign: char| sign.is_alphanumeric() || sign.is_whitespace() || "._-\\\"'".contains(sign);
    let is_whole = key.matches('"').count() % 2 == 0;
    (is_whole && key.chars().all(is_key)).then(|| plain(key))
}

/// Removes quotes, brackets and white space.
fn plain(name: &str) -> String {
    name.chars().filter(|sign| !sign.is_whitespace() && !"[]\"'".contains(*sign)).collect()
}

/// A name with an escape may be any name.
fn is_escaped(name: &str) -> bool {
    name.contains('\\')
}

/// Returns whether a name is this table, or one below it.
fn is_in(name: &str, table: &str) -> bool {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    name.strip_prefix(table).is_some_and(|rest| !rest.starts_with(is_word))
}

/// Returns the rest of a name below a table: `ruff` of `tool.ruff` below `tool`.
fn below<'n>(name: &'n str, table: &str) -> Option<&'n str> {
    name.strip_prefix(table)?.strip_prefix('.')
}
