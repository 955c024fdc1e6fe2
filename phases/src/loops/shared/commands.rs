//! The commands that lint, build and test a project: those that its manifests suggest, and the files that a command
//! depends on.
//!
//! Manifests may be hostile. They are read by their lines where possible: a parser of TOML recurses as deep as its text
//! does. A manifest that is too large, or that has none of the lines or keys of its kind, suggests nothing.

mod depends;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use depends::names;
pub(super) use depends::plain_path;

/// What a command does for a project, in the order in which the commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Lint,
    Build,
    Test,
}

/// A command that a manifest suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub stage: Stage,
    pub argv: Vec<String>,
    /// The manifest, such as `Cargo.toml`.
    pub file: &'static str,
}

/// Returns the text of a file at the root of a project by its name; of a folder, an empty text.
type Files<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A larger manifest suggests nothing.
const LARGEST: usize = 1 << 20;

/// Returns at most one command for each stage, from the first kind of project that has one. `files` returns the text of a
/// file at the project's root by its name, and an empty text for a folder.
pub fn found(files: &dyn Fn(&str) -> Option<String>) -> Vec<Found> {
    let all = [cargo(files), node(files), python(files), go(files), make(files)].concat();
    let first = |stage: Stage| all.iter().find(|found| found.stage == stage).cloned();
    Stage::ALL.into_iter().filter_map(first).collect()
}

impl Stage {
    pub const ALL: [Self; 3] = [Self::Lint, Self::Build, Self::Test];

    pub fn word(self) -> &'static str {
        match self {
            Self::Lint => "lint",
            Self::Build => "build",
            Self::Test => "test",
        }
    }
}

impl Found {
    fn new(stage: Stage, argv: &[&str], file: &'static str) -> Self {
        Self { stage, argv: argv.iter().map(|&word| word.to_owned()).collect(), file }
    }
}

/// The names that [`found`] asks for, besides the folder `tests`.
pub const MANIFESTS: [&str; 15] = [
    "Cargo.toml",
    "package.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "requirements.txt",
    "ruff.toml",
    ".ruff.toml",
    "pytest.ini",
    "go.mod",
    "GNUmakefile",
    "makefile",
    "Makefile",
];

/// A project that denies warnings says so in its own manifest, so the command does not.
fn cargo(files: Files<'_>) -> Vec<Found> {
    const FILE: &str = "Cargo.toml";
    let is_project = |text: String| has_header(&text, "package") || has_header(&text, "workspace");
    if !manifest(files, FILE).is_some_and(is_project) {
        return Vec::new();
    }
    vec![
        Found::new(Stage::Lint, &["cargo", "clippy", "--workspace", "--all-targets"], FILE),
        Found::new(Stage::Build, &["cargo", "build", "--workspace", "--all-targets"], FILE),
        Found::new(Stage::Test, &["cargo", "test", "--workspace"], FILE),
    ]
}

fn node(files: Files<'_>) -> Vec<Found> {
    const FILE: &str = "package.json";
    let text = manifest(files, FILE).unwrap_or_default();
    let package: Value = serde_json::from_str(&text).unwrap_or_default();
    let has_script = |stage: &Stage| package["scripts"][stage.word()].as_str().is_some_and(is_script);
    let program = node_program(files);
    let found = |stage: Stage| Found::new(stage, &[program, "run", "--silent", stage.word()], FILE);
    Stage::ALL.into_iter().filter(has_script).map(found).collect()
}

/// Returns whether a script does anything. `npm init` writes a test that always fails.
fn is_script(script: &str) -> bool {
    !script.trim().is_empty() && !script.contains("Error: no test specified")
}

fn node_program(files: Files<'_>) -> &'static str {
    if files("pnpm-lock.yaml").is_some() {
        "pnpm"
    } else if files("yarn.lock").is_some() {
        "yarn"
    } else {
        "npm"
    }
}

/// Python has no build, and no linter or test runner of its own: a project must show which one it uses.
fn python(files: Files<'_>) -> Vec<Found> {
    const PYPROJECT: &str = "pyproject.toml";
    const SETUP: &str = "setup.cfg";
    let pyproject = manifest(files, PYPROJECT).unwrap_or_default();
    let setup = manifest(files, SETUP).unwrap_or_default();
    let has = |name: &'static str| files(name).map(|_| name);
    let tool = |name: &str| has_header(&pyproject, name).then_some(PYPROJECT);

    let ruff = tool("tool.ruff").or_else(|| has("ruff.toml")).or_else(|| has(".ruff.toml"));
    let lint = ruff.map(|file| Found::new(Stage::Lint, &["ruff", "check", "."], file));

    let configured = has("pytest.ini").or_else(|| tool("tool.pytest"));
    let configured = configured.or_else(|| has_header(&setup, "tool:pytest").then_some(SETUP));
    let described = [PYPROJECT, SETUP, "setup.py", "requirements.txt"].into_iter().find_map(has);
    let pytest = configured.or_else(|| described.filter(|_| files("tests").is_some()));
    let test = pytest.map(|file| Found::new(Stage::Test, &["python3", "-m", "pytest", "-q"], file));

    lint.into_iter().chain(test).collect()
}

fn go(files: Files<'_>) -> Vec<Found> {
    const FILE: &str = "go.mod";
    let is_module = |text: String| text.lines().any(|line| line.starts_with("module "));
    if !manifest(files, FILE).is_some_and(is_module) {
        return Vec::new();
    }
    let found = |stage: Stage, word: &str| Found::new(stage, &["go", word, "./..."], FILE);
    vec![found(Stage::Lint, "vet"), found(Stage::Build, "build"), found(Stage::Test, "test")]
}

/// The names that `make` looks for, in its order.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

fn make(files: Files<'_>) -> Vec<Found> {
    let first = MAKEFILES.into_iter().find_map(|name| Some((name, manifest(files, name)?)));
    let Some((file, text)) = first else { return Vec::new() };
    let has_rule = |stage: &Stage| text.lines().any(|line| is_rule(line, stage.word()));
    let found = |stage: Stage| Found::new(stage, &["make", stage.word()], file);
    Stage::ALL.into_iter().filter(has_rule).map(found).collect()
}

/// Returns whether a line begins a rule for this target. `test := x` and `test ::= x` set a variable.
fn is_rule(line: &str, target: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else { return false };
    let is_variable = rest.trim_start_matches(':').starts_with('=');
    let is_outside = !line.starts_with(|first: char| first.is_whitespace() || first == '#');
    is_outside && !is_variable && targets.split_whitespace().any(|name| name == target)
}

fn manifest(files: Files<'_>, name: &str) -> Option<String> {
    files(name).filter(|text| text.len() <= LARGEST)
}

/// Returns whether a text has the table `[name]`, or one below it.
fn has_header(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let rest = line.trim_start().strip_prefix('[').and_then(|line| line.trim_start().strip_prefix(name));
        rest.is_some_and(|rest| rest.trim_start().starts_with([']', '.']))
    })
}

#[cfg(test)]
mod tests;
