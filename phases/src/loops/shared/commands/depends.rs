//! The files of a project that a command depends on, as far as its words show them.

use std::collections::BTreeSet;

/// Programs, and the files that each of them reads in the folder where it starts.
const READ_BY: [(&[&str], &[&str]); 14] = [
    (
        &["cargo"],
        &[
            ".cargo/config",
            ".cargo/config.toml",
            ".clippy.toml",
            "Cargo.toml",
            "build.rs",
            "clippy.toml",
            "rust-toolchain",
            "rust-toolchain.toml",
        ],
    ),
    (&["npm", "npx", "pnpm", "yarn", "bun"], &["package.json", ".npmrc"]),
    (&["pnpm"], &[".pnpmfile.cjs", "pnpm-workspace.yaml"]),
    (&["yarn"], &[".yarnrc", ".yarnrc.yml"]),
    (&["bun"], &["bunfig.toml"]),
    (&["make", "gmake"], &["GNUmakefile", "Makefile", "makefile"]),
    (&["just"], &["Justfile", "justfile", ".justfile"]),
    (&["pytest", "py.test"], &["conftest.py", "pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"]),
    (&["tox"], &["pyproject.toml", "setup.cfg", "tox.ini"]),
    (&["nox"], &["noxfile.py"]),
    (&["uv"], &["pyproject.toml", "uv.toml"]),
    (&["poetry"], &["poetry.toml", "pyproject.toml"]),
    (&["ruff"], &[".ruff.toml", "pyproject.toml", "ruff.toml"]),
    (&["go"], &["go.mod", "go.work"]),
];

/// Returns the files and folders of a project that a command names, and those that its program reads by itself, in
/// order. Not all of them need to exist: the caller looks for those that a change alters. What such a file loads is not
/// among them.
pub fn names(argv: &[String]) -> Vec<String> {
    // A bare name is a program of the system.
    let program = argv.first().filter(|program| program.contains('/'));
    let words = program.into_iter().chain(argv.iter().skip(1));
    let named = words.flat_map(|word| parts(word)).filter_map(plain_path);
    // A program may start another one: `uv run pytest`.
    let read = argv.iter().flat_map(|word| read_by(word)).map(str::to_owned);
    let all: BTreeSet<String> = named.chain(read).chain(python_modules(argv)).collect();
    all.into_iter().collect()
}

/// Returns the parts of a word that can be a path: all of it unless it is an option, and what follows its first `=`.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let whole = Some(word).filter(|word| !word.starts_with('-'));
    let value = word.split_once('=').map(|(_, value)| value);
    whole.into_iter().chain(value)
}

/// Returns a relative path without `.` and `..`; `None` if it leads out of its folder, or is the folder itself.
pub(in crate::loops::shared) fn plain_path(path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn read_by(word: &str) -> impl Iterator<Item = &'static str> {
    let program = base_name(word);
    let rows = READ_BY.into_iter().filter(move |(programs, _)| programs.contains(&program));
    rows.flat_map(|(_, files)| files.iter().copied())
}

/// Returns the files in which Python looks for the module of `python -m MODULE`, before it looks anywhere else.
fn python_modules(argv: &[String]) -> Vec<String> {
    if !argv.iter().any(|word| base_name(word).starts_with("python")) {
        return Vec::new();
    }
    let modules = argv.windows(2).filter(|pair| pair[0] == "-m");
    let paths = modules.filter_map(|pair| plain_path(&pair[1].replace('.', "/")));
    let files = |path: String| ["", "/__init__", "/__main__"].map(|end| format!("{path}{end}.py"));
    paths.flat_map(files).collect()
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Vec<String> {
        let argv: Vec<String> = command.split(' ').map(str::to_owned).collect();
        names(&argv)
    }

    #[test]
    fn arguments_and_values_of_options_that_can_be_files_of_the_project_are_named() {
        assert_eq!(of("sh ./tools//lint.sh --config=./a/../lint.toml"), ["lint.toml", "tools/lint.sh"]);
        assert_eq!(of("sh a=b"), ["a=b", "b"], "a file can have this name");
        assert_eq!(of("sh -e --quiet - /etc/passwd ../x a/../../b . ./ --out=/tmp/x --x="), [""; 0]);
        assert_eq!(of(""), [""; 0]);
        assert_eq!(names(&[]), [""; 0]);
    }

    #[test]
    fn a_program_is_a_file_of_the_project_only_by_a_path() {
        assert_eq!(of("./lint.sh"), ["lint.sh"]);
        assert_eq!(of("tools/lint"), ["tools/lint"]);
        assert_eq!(of("lint"), [""; 0]);
        assert_eq!(of("/usr/bin/lint"), [""; 0]);
    }

    #[test]
    fn what_a_program_reads_by_itself_is_named_too() {
        let cargo = of("cargo test --workspace");
        for file in ["Cargo.toml", "build.rs", ".cargo/config.toml", "rust-toolchain.toml", "clippy.toml"] {
            assert!(cargo.contains(&file.to_owned()), "{file}: {cargo:?}");
        }
        assert_eq!(of("npm --silent"), [".npmrc", "package.json"]);
        assert_eq!(of("/usr/bin/make"), ["GNUmakefile", "Makefile", "makefile"]);
        assert_eq!(of("gmake"), of("make"));
        assert_eq!(of("go vet ./..."), ["...", "go.mod", "go.work", "vet"]);
        assert_eq!(of("ruff check ."), [".ruff.toml", "check", "pyproject.toml", "ruff.toml"]);
        assert_eq!(of("just"), [".justfile", "Justfile", "justfile"]);
        let pytest = ["conftest.py", "pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"];
        assert_eq!(of("pytest"), pytest);
        assert!(pytest.iter().all(|file| of("uv run pytest").contains(&(*file).to_owned())));
    }

    #[test]
    fn a_module_that_python_runs_can_be_a_file_of_the_project() {
        let pytest = of("python3.12 -m pytest -q");
        for file in ["conftest.py", "pytest.ini", "pytest.py", "pytest/__init__.py", "pytest/__main__.py"] {
            assert!(pytest.contains(&file.to_owned()), "{file}: {pytest:?}");
        }
        assert!(of("python -u -m tools.lint").contains(&"tools/lint.py".to_owned()));
        assert_eq!(of("pytest -m slow").iter().filter(|name| name.starts_with("slow")).count(), 1);
        assert_eq!(of("python3 -m"), [""; 0]);
    }
}
